#include "sense/wait/waitfacts.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/proc/proc.h"
#include "sense/wait/fdholders_parts.h"
#include "sense/wait/waitfacts_parts.h"

#define BUDGET_NS (100 * NS_PER_MS)
#define WANTED_MAX 16384
#define THREADS_ALL_MAX 1000000
#define FACTS_MAX 400000
/* Alternatives of one thread. */
#define FACTS_OF_THREAD_MAX 1024
#define HOLDERS_MAX 4000000
#define MOUNTS_TEXT_MAX (1 * MIB)

const char *waitfact_kind_name(enum waitfact_kind k)
{
	static const char *const names[] = {
		[WAITFACT_UNKNOWN] = "unknown",
		[WAITFACT_CLOCK] = "clock",
		[WAITFACT_TCP] = "tcp",
		[WAITFACT_CONNECT] = "connect",
		[WAITFACT_LISTEN] = "listen",
		[WAITFACT_DATAGRAM] = "datagram",
		[WAITFACT_UNIX] = "unix",
		[WAITFACT_PIPE] = "pipe",
		[WAITFACT_FIFO] = "fifo",
		[WAITFACT_EVENTFD] = "eventfd",
		[WAITFACT_CHILD] = "child",
		[WAITFACT_THREAD] = "thread",
		[WAITFACT_LOCK] = "lock",
		[WAITFACT_FUTEX] = "futex",
		[WAITFACT_SHARED] = "shared futex",
		[WAITFACT_FILE_LOCK] = "file lock",
		[WAITFACT_SEMAPHORE] = "semaphore",
		[WAITFACT_MESSAGE] = "message",
		[WAITFACT_SIGNAL] = "signal",
		[WAITFACT_STOPPED] = "stopped",
		[WAITFACT_TRACED] = "traced",
		[WAITFACT_FROZEN] = "frozen",
		[WAITFACT_STORAGE] = "storage",
		[WAITFACT_FUSE] = "fuse",
		[WAITFACT_CHANGE] = "file change",
		[WAITFACT_TERMINAL] = "terminal",
		[WAITFACT_DEVICE] = "device",
		[WAITFACT_OBJECT] = "object",
	};
	return (size_t)k < ARRAY_SIZE(names) ? names[k] : "unknown";
}

void waitfacts_done(struct waitfacts *f)
{
	free(f->process);
	free(f->thread);
	free(f->fact);
	free(f->holder);
	free(f->hand);
	*f = (struct waitfacts){.n_processes = 0};
}

static int process_by_pid(const void *a, const void *b)
{
	const struct waitfact_process *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

const struct waitfact_process *waitfacts_process(const struct waitfacts *f, pid_t pid)
{
	const struct waitfact_process key = {.pid = pid};
	return f->n_processes ? bsearch(&key, f->process, f->n_processes, sizeof(key), process_by_pid) : NULL;
}

const struct waitfact_thread *waitfacts_thread(const struct waitfacts *f, pid_t pid, pid_t tid)
{
	const struct waitfact_process *p = waitfacts_process(f, pid);
	for (uint32_t i = 0; p && i < p->n_threads; i++)
		if (f->thread[p->first_thread + i].tid == tid)
			return &f->thread[p->first_thread + i];
	return NULL;
}

/* ---- what the other files build with ---- */

struct waitfact *waitfact_add(struct waiting *c, enum waitfact_kind kind)
{
	struct waitfacts *f = c->l->f;
	if (c->t->n >= FACTS_OF_THREAD_MAX) {
		c->t->cut = true;
		return NULL;
	}
	if (f->n_facts >= FACTS_MAX) {
		f->cut = c->t->cut = true;
		return NULL;
	}
	if (vec_room(&f->fact, &f->cap_facts, f->n_facts + 1) < 0) {
		c->l->error = -ENOMEM;
		return NULL;
	}
	c->t->n++;
	struct waitfact *new = &f->fact[f->n_facts++];
	*new = (struct waitfact){.kind = kind};
	return new;
}

static void holder_put(struct waitlook *l, struct waitfact *fact, struct waitfact_holder holder)
{
	struct waitfacts *f = l->f;
	if (f->n_holders >= HOLDERS_MAX) {
		f->cut = true;
		return;
	}
	if (vec_room(&f->holder, &f->cap_holders, f->n_holders + 1) < 0) {
		l->error = -ENOMEM;
		return;
	}
	if (fact->n_holders == 0)
		fact->first_holder = (uint32_t)f->n_holders;
	f->holder[f->n_holders++] = holder;
	fact->n_holders++;
}

void waitfact_holder_append(struct waitlook *l, struct waitfact *fact, pid_t pid)
{
	holder_put(l, fact, (struct waitfact_holder){.pid = pid});
}

void waitfact_holder_add(struct waitlook *l, struct waitfact *fact, pid_t pid, pid_t tid)
{
	const struct waitfact_holder *h = l->f->holder;
	for (uint32_t i = 0; i < fact->n_holders; i++)
		if (h[fact->first_holder + i].pid == pid && h[fact->first_holder + i].tid == tid)
			return;
	holder_put(l, fact, (struct waitfact_holder){pid, tid});
}

void waitfact_pend(struct waitlook *l, const struct pend *p)
{
	if (vec_room(&l->pend, &l->cap_pend, l->n_pend + 1) < 0) {
		l->error = -ENOMEM;
		return;
	}
	l->pend[l->n_pend] = *p;
	l->pend[l->n_pend++].fact = (uint32_t)(l->f->n_facts - 1);
}

const char *waiting_wchan(struct waiting *c)
{
	if (!c->wchan_read && c->tw->wchan[0])
		TEXT_COPY(c->wchan, c->tw->wchan);
	else if (!c->wchan_read && task_wchan_read(c->l->w, c->t->pid, c->t->tid, c->wchan, sizeof(c->wchan)) != 0)
		c->wchan[0] = '\0';
	c->wchan_read = true;
	return c->wchan;
}

bool waiting_memory(struct waiting *c, uint64_t addr, void *into, size_t len)
{
	return addr != 0 && remote_read(&c->p->remote, addr, into, len) == 0;
}

pid_t waitproc_outer(struct waitlook *l, struct waitproc *p, pid_t inner)
{
	struct proc_status s;
	if (!p->ns_tried && proc_status_read(l->w, p->kin->pid, &s) == 0)
		p->ns_pid = s.ns_pid;
	p->ns_tried = true;
	if (p->ns_pid == p->kin->pid || p->ns_pid == 0)
		return p->ns_pid ? inner : 0;
	/* In a nested namespace: its threads and children are the numbers that a call of it names. */
	for (size_t i = 0; i < l->kin.n; i++) {
		const struct kin *k = &l->kin.item[i];
		if ((k->ppid == p->kin->pid || k == p->kin) && proc_status_read(l->w, k->pid, &s) == 0 &&
		    s.ns_pid == inner)
			return k->pid;
	}
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	if (threads_read(l->w, p->kin->pid, &tids, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (proc_status_read(l->w, tids[i], &s) == 0 && s.ns_pid == inner)
			return tids[i];
	return 0;
}

const struct maps *waitproc_maps(struct waitlook *l, struct waitproc *p)
{
	if (!p->maps_tried && maps_read(l->w, p->kin->pid, &p->maps) != 0)
		p->maps = (struct maps){.n = 0};
	p->maps_tried = true;
	return p->maps.n ? &p->maps : NULL;
}

struct span waitproc_mounts(struct waitlook *l, struct waitproc *p)
{
	char path[32];
	if (!p->mounts_tried) {
		TEXT_FORMAT(path, "%d/mountinfo", (int)p->kin->pid);
		if (file_slurp(l->w->proc_fd, path, MOUNTS_TEXT_MAX, &p->mounts, &p->mounts_len) != 0)
			p->mounts_len = 0;
	}
	p->mounts_tried = true;
	return (struct span){p->mounts ? p->mounts : "", p->mounts_len};
}

static void waitlook_done(struct waitlook *l)
{
	for (size_t i = 0; i < l->n_procs; i++) {
		fdtable_done(&l->proc[i].fds);
		remote_done(&l->proc[i].remote);
		maps_done(&l->proc[i].maps);
		free(l->proc[i].mounts);
	}
	free(l->proc);
	free(l->mates);
	free(l->pend);
	free(l->locks);
	kinship_done(&l->kin);
	sockpeer_table_done(&l->socks);
	fdsearch_done(&l->search);
}

/* ---- threads ---- */

/* "run_ns wait_ns times": for how long it ran, and how often it was given a processor. */
static void runs_read(const struct world *w, pid_t pid, pid_t tid, struct waitfact_thread *t)
{
	char text[96];
	size_t len;
	struct span rest, word;
	uint64_t part[3];
	if (task_file_read(w, pid, tid, "schedstat", text, sizeof(text), &len) != 0)
		return;
	rest = (struct span){text, len};
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (!span_word(&rest, &word) || span_u64(word, &part[i]) != 0)
			return;
	t->ran_ns = part[0];
	t->runs_so_far = part[2];
}

static void thread_wait(struct waitlook *l, struct waitproc *p, struct waitfact_thread *t, const struct threadwait *tw)
{
	struct waiting c = {.l = l, .p = p, .t = t, .tw = tw};
	t->first = (uint32_t)l->f->n_facts;
	if (!t->runs && !t->ended)
		waiting_read(&c);
	if (t->cut)
		for (uint32_t i = 0; i < t->n; i++)
			l->f->fact[t->first + i].complete = false;
}

static int thread_add(struct waitlook *l, struct waitproc *p, pid_t tid)
{
	struct waitfacts *f = l->f;
	struct threadwait tw;
	const pid_t pid = p->kin->pid;
	struct waitfact_thread t = {.pid = pid, .tid = tid};
	if (f->n_threads >= THREADS_ALL_MAX) {
		f->cut = true;
		return 0;
	}
	if (vec_room(&f->thread, &f->cap_threads, f->n_threads + 1) < 0)
		return -ENOMEM;
	/* Before the wait: a thread that runs in between is seen to at the next look. */
	runs_read(l->w, pid, tid, &t);
	int r = threadwait_read(l->w, pid, tid, &p->remote, false, &tw);
	if (r)
		return r == -ENOMEM ? r : 0; /* ended meanwhile */
	t.start_ticks = tw.start_ticks;
	TEXT_COPY(t.name, tw.comm);
	t.user_ticks = tw.user_ticks;
	t.system_ticks = tw.system_ticks;
	t.wait = tw.kind;
	t.nr = tw.has_syscall ? tw.nr : -1;
	t.arg0 = tw.has_syscall && tw.nr >= 0 ? tw.arg[0] : 0;
	t.sp = tw.has_syscall ? tw.sp : 0;
	t.pc = tw.has_syscall ? tw.pc : 0;
	t.runs = tw.kind == WAIT_RUNNING;
	t.ended = tw.kind == WAIT_ZOMBIE;
	t.readable = tw.has_syscall || t.runs || t.ended;
	thread_wait(l, p, &t, &tw);
	f->thread[f->n_threads++] = t;
	return l->error;
}

/* The column reads 0 for whoever may not look into the process. */
static void exit_read(const struct world *w, const struct kin *k, struct waitfact_process *ret)
{
	const uid_t own = geteuid();
	ret->has_exit =
		k->over && (own == 0 || own == k->uid) && proc_exit_read(w, k->pid, &ret->exit_status) == 0;
}

/* What may wake it without anybody who is seen: handlers of signals, and its timers (/proc/PID/timers lists them). */
static void signals_read(struct waitlook *l, struct waitproc *p, struct waitfact_process *ret)
{
	char path[32], text[512];
	size_t len;
	struct proc_status s;
	if (!p->ns_tried && proc_status_read(l->w, p->kin->pid, &s) == 0) {
		p->ns_pid = s.ns_pid;
		ret->handled = s.handled;
	}
	p->ns_tried = true;
	TEXT_FORMAT(path, "%d/timers", (int)p->kin->pid);
	ret->has_timers = file_read_at(l->w->proc_fd, path, text, sizeof(text), &len) == 0 && len > 0;
}

static int process_read(struct waitlook *l, struct waitproc *p, struct waitfact_process *ret)
{
	const pid_t pid = p->kin->pid;
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	int r = fdtable_read(l->w, pid, p->kin->state == 'Z', &p->fds);
	if (r == -ENOMEM)
		return r;
	p->fds_read = p->kin->listed = r == 0;
	p->kin->denied = r != 0 && r != WORLD_GONE;
	ret->readable = r == 0;
	exit_read(l->w, p->kin, ret);
	signals_read(l, p, ret);
	ret->first_thread = (uint32_t)l->f->n_threads;
	r = threads_read(l->w, pid, &tids, &n);
	if (r)
		return r == -ENOMEM ? r : 0;
	/* The main thread first, whatever its number. */
	for (size_t i = 0; r == 0 && i < n; i++)
		if (tids[i] == pid)
			r = thread_add(l, p, tids[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (tids[i] != pid)
			r = thread_add(l, p, tids[i]);
	ret->n_threads = (uint32_t)l->f->n_threads - ret->first_thread;
	p->kin->denied = p->kin->denied || threads_part_files(l->w, p->kin, tids, n) > 0;
	return r;
}

/* ---- processes ---- */

static void waitfact_process_fill(struct waitfact_process *p, const struct kin *k)
{
	p->pid = k->pid;
	p->ppid = k->ppid;
	p->start_ticks = k->start_ticks;
	p->cpu_ticks = k->cpu_ticks;
	p->state = k->state == 'Z' && !k->over ? 'S' : k->state; /* its other threads live */
	p->wanted = k->wanted;
	TEXT_COPY(p->name, k->comm);
}

/* Children that have begun after all who were asked for: they could not be on the list, and belong to it. */
static size_t young_children_mark(struct waitlook *l, size_t most)
{
	uint64_t newest = 0;
	size_t n = 0;
	for (size_t i = 0; i < l->kin.n; i++)
		newest = l->kin.item[i].wanted ? MAX(newest, l->kin.item[i].start_ticks) : newest;
	for (size_t i = 0; i < l->kin.n && n < most; i++) {
		struct kin *k = &l->kin.item[i];
		const struct kin *parent = kinship_find(&l->kin, k->ppid);
		if (k->wanted || k->start_ticks <= newest || !parent || !parent->wanted)
			continue;
		k->wanted = true;
		n++;
	}
	return n;
}

static int wanted_mark(struct waitlook *l, const pid_t *pids, size_t n)
{
	size_t n_wanted = 0;
	for (size_t i = 0; i < n; i++) {
		struct kin *k = kinship_find(&l->kin, pids[i]);
		if (k && !k->wanted && n_wanted >= WANTED_MAX)
			l->f->cut = true;
		else if (k && !k->wanted) {
			k->wanted = true;
			n_wanted++;
		}
	}
	n_wanted += young_children_mark(l, WANTED_MAX - n_wanted);
	l->proc = calloc(n_wanted + 1, sizeof(*l->proc));
	if (!l->proc)
		return -ENOMEM;
	for (size_t i = 0; i < l->kin.n; i++)
		if (l->kin.item[i].wanted) {
			struct waitproc *p = &l->proc[l->n_procs++];
			p->kin = &l->kin.item[i];
			remote_open(l->w, p->kin->pid, &p->remote);
		}
	return 0;
}

static int wanted_read(struct waitlook *l)
{
	struct waitfacts *f = l->f;
	for (size_t i = 0; i < l->n_procs; i++) {
		if (vec_room(&f->process, &f->cap_processes, f->n_processes + 1) < 0)
			return -ENOMEM;
		struct waitfact_process p = {.pid = l->proc[i].kin->pid};
		int r = process_read(l, &l->proc[i], &p);
		if (r)
			return r;
		waitfact_process_fill(&p, l->proc[i].kin);
		f->process[f->n_processes++] = p;
	}
	return 0;
}

/* Adds the processes that hold something, so that their names are known. */
static int holders_list(struct waitlook *l)
{
	struct waitfacts *f = l->f;
	for (size_t i = 0; i < l->kin.n; i++)
		l->kin.item[i].holds = false;
	for (size_t i = 0; i < f->n_holders; i++) {
		struct kin *k = kinship_find(&l->kin, f->holder[i].pid);
		if (k)
			k->holds = true;
	}
	for (size_t i = 0; i < l->kin.n; i++) {
		const struct kin *k = &l->kin.item[i];
		if (!k->holds || k->wanted)
			continue;
		if (vec_room(&f->process, &f->cap_processes, f->n_processes + 1) < 0)
			return -ENOMEM;
		struct waitfact_process p = {.readable = k->listed};
		waitfact_process_fill(&p, k);
		f->process[f->n_processes++] = p;
	}
	if (f->n_processes)
		qsort(f->process, f->n_processes, sizeof(*f->process), process_by_pid);
	return 0;
}

/* An alternative of a wait that was cut is never complete, and nothing is where processes are missing. */
static void completeness_end(struct waitfacts *f)
{
	for (size_t i = 0; i < f->n_threads; i++)
		for (uint32_t j = 0; j < f->thread[i].n; j++) {
			struct waitfact *a = &f->fact[f->thread[i].first + j];
			a->complete = a->complete && !f->thread[i].cut && !f->cut;
		}
}

int waitfacts_read(const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns, struct waitfacts *ret)
{
	cleanup(waitfacts_done) struct waitfacts f = {.n_processes = 0};
	cleanup(waitlook_done) struct waitlook l = {.w = w, .f = &f};
	const uint64_t begin_ns = w->mono_ns();
	int r = kinship_read(w, &l.kin);
	if (r == 0)
		r = wanted_mark(&l, pids, n);
	if (r == 0)
		r = wanted_read(&l);
	if (r == 0)
		r = waitlook_finish(&l, budget_ns ? budget_ns : BUDGET_NS);
	if (r == 0)
		waitlook_polled(&l);
	if (r == 0)
		r = holders_list(&l);
	if (r == 0)
		r = l.error;
	if (r)
		return r;
	completeness_end(&f);
	f.taken_ns = w->mono_ns();
	f.took_ns = f.taken_ns - begin_ns;
	*ret = f;
	f = (struct waitfacts){.n_processes = 0};
	return 0;
}
