/* The processes and threads of a job that is watched, and what each thread does at an instant. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "sense/proc/keptfds.h"
#include "sense/speed/threadstart.h"
#include "sense/wait/threadlist.h"

#define SPEEDWATCH_TASKS 65536
#define SPEEDWATCH_PROCESSES 1024
#define SPEEDWATCH_THREADS 8192
/*
 * Sweeps for which a thread is left alone that has not run at all for so long. One that then begins to is seen so late,
 * so a thread that works now and then is looked at each time.
 */
#define SKIP_MOST 4
#define IDLE_NS NS_PER_S
/* Interpreters whose lock is looked for: finding it takes some milliseconds each. */
#define SPEEDWATCH_PYTHONS 128

/* The variables of /proc/PID/environ that limit threads. */
static const char *const variables[] = {
	"OMP_NUM_THREADS",     "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
	"NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",    "BLIS_NUM_THREADS",
};

static uint32_t threads_set(const struct world *w, pid_t pid)
{
	cleanup(freep) char *text = malloc(64 * KIB);
	uint32_t least = 0;
	size_t len;
	if (!text || proc_environ_read(w, pid, text, 64 * KIB, &len) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		struct span value = environ_get((struct span){text, len}, variables[i]);
		uint64_t n;
		if (value.p && span_u64_prefix(value, &n) == 0 && n > 0 && n < 100000 && (least == 0 || n < least))
			least = (uint32_t)n;
	}
	return least;
}

static bool has_thread(const struct speedwatch *s, size_t process, pid_t tid)
{
	for (size_t i = 0; i < s->f->n_threads; i++)
		if (s->f->thread[i].process == process && s->f->thread[i].tid == tid && !s->thread[i].gone)
			return true;
	return false;
}

static int speedwatch_add_thread(struct speedwatch *s, size_t process, pid_t tid)
{
	struct speedfacts *f = s->f;
	const pid_t pid = f->process[process].pid;
	struct threadcost cost;
	struct cpuset_bits allowed;
	if (f->n_threads >= SPEEDWATCH_THREADS) {
		f->cut = true;
		return 0;
	}
	if (threadcost_read(s->w, pid, tid, &cost, &allowed) != 0)
		return 0; /* it has ended by now */
	if (vec_room(&f->thread, &s->thread_cap, f->n_threads + 1) < 0 ||
	    vec_room(&s->thread, &s->own_thread_cap, f->n_threads + 1) < 0)
		return -ENOMEM;
	struct speed_thread t = {.tid = tid, .process = process, .lead = tid == pid};
	t.at = malloc(s->sweep_cap + 1);
	if (!t.at)
		return -ENOMEM;
	memset(t.at, SPEED_AWAY, s->sweep_cap);
	t.at[s->sweep_cap] = '\0';
	TEXT_COPY(t.comm, cost.comm);
	for (size_t i = 0; i < ARRAY_SIZE(allowed.word); i++)
		s->allowed.word[i] |= allowed.word[i];
	s->thread[f->n_threads] = (struct speedwatch_thread){.begin = cost, .last = cost, .schedstat_fd = -1};
	f->thread[f->n_threads++] = t;
	f->process[process].n++;
	return 0;
}

static int threads_add(struct speedwatch *s, size_t process)
{
	cleanup(freep) pid_t *tids = NULL;
	struct proc_stat st;
	size_t n;
	/* What has ended keeps its entry until its parent asks for its status. */
	if (proc_stat_read(s->w, s->f->process[process].pid, &st) == 0 && proc_is_over(&st)) {
		s->process[process].gone = true;
		return 0;
	}
	int r = threads_read(s->w, s->f->process[process].pid, &tids, &n);
	if (r == WORLD_GONE)
		s->process[process].gone = true;
	if (r)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < n; i++) {
		if (has_thread(s, process, tids[i]))
			continue;
		r = speedwatch_add_thread(s, process, tids[i]);
		if (r)
			return r;
	}
	return 0;
}

int speedwatch_new_threads(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++) {
		int r = s->process[i].gone ? 0 : threads_add(s, i);
		if (r)
			return r;
	}
	return 0;
}

static void python_open(struct speedwatch *s, size_t i, size_t *pythons)
{
	static const struct procview_want want = {.natives = NULL};
	struct speed_process *p = &s->f->process[i];
	struct fault f;
	struct procview *view = NULL;
	int r = *pythons < SPEEDWATCH_PYTHONS ? procview_open(s->w, p->pid, &want, &view, &f) : WORLD_ABSENT;
	if (r == WORLD_DENIED) {
		p->denied = true;
		s->f->n_denied++;
	}
	if (r)
		return;
	if (view->has_python) {
		const struct pythread *list;
		size_t n;
		p->python = true;
		/* From 3.12 on each interpreter may have a GIL of its own: known once the threads have been listed. */
		ignore(procview_python_threads(view, &list, &n), "waits for the GIL are then waits for a lock");
		s->process[i].view = view;
		(*pythons)++;
	} else {
		ignore(procview_close(view), "freed");
	}
}

static int speedwatch_add_process(struct speedwatch *s, const struct member *m)
{
	struct speedfacts *f = s->f;
	if (vec_room(&f->process, &s->process_cap, f->n_processes + 1) < 0 ||
	    vec_room(&s->process, &s->own_process_cap, f->n_processes + 1) < 0)
		return -ENOMEM;
	struct speed_process p = {
		.pid = m->task->pid,
		.ppid = m->task->ppid,
		.role = m->who.role,
		.rank = m->who.rank,
		.own_bytes = task_own_bytes(m->task),
		.parent = SIZE_MAX,
	};
	struct proc_status status;
	if (proc_status_read(s->w, p.pid, &status) == 0 && status.has_memory)
		p.own_bytes = status.rss_anon_bytes;
	TEXT_COPY(p.name, proc_known_as(m->task->comm));
	if (threadlibs_read(s->w, p.pid, &p.libs) != 0)
		p.libs = 0;
	p.set_threads = threads_set(s->w, p.pid);
	s->process[f->n_processes] = (struct speedwatch_process){.children_fd = -1};
	struct proc_stat st;
	if (proc_stat_read(s->w, p.pid, &st) == 0)
		s->process[f->n_processes].reaped_begin_ns = st.reaped_ticks * (NS_PER_S / s->w->ticks_per_s);
	s->process[f->n_processes].has_io = iocalls_read(s->w, p.pid, &s->process[f->n_processes].io_begin) == 0;
	f->process[f->n_processes++] = p;
	return 0;
}

/* Main are the ranks; without ranks the first process that does the job's own work. */
static void speedwatch_mains(struct speedfacts *f)
{
	size_t first = SIZE_MAX;
	for (size_t i = 0; i < f->n_processes; i++) {
		struct speed_process *p = &f->process[i];
		for (size_t k = 0; k < f->n_processes; k++)
			if (k != i && f->process[k].pid == p->ppid)
				p->parent = k;
		p->main = p->role == ROLE_MAIN;
		if (p->main && first == SIZE_MAX)
			first = i;
	}
	if (first != SIZE_MAX)
		return;
	for (size_t i = 0; i < f->n_processes; i++)
		if (f->process[i].parent == SIZE_MAX) {
			f->process[i].main = true;
			return;
		}
}

static int members_add(struct speedwatch *s, const struct members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->row[i].task->pid == getpid())
			continue; /* vigil leaves itself out where the job has started it */
		if (s->f->n_processes == SPEEDWATCH_PROCESSES) {
			s->f->cut = true;
			break;
		}
		int r = speedwatch_add_process(s, &m->row[i]);
		if (r)
			return r;
	}
	return 0;
}

int speedwatch_processes(struct speedwatch *s)
{
	cleanup(members_done) struct members m = {.n = 0};
	size_t pythons = 0;
	int r = tasks_init(&s->tasks, SPEEDWATCH_TASKS, -1);
	if (r == 0)
		r = tasks_scan(&s->tasks, s->w);
	if (r == 0)
		r = members_read(s->w, &s->tasks, s->want->members, &m);
	if (r == 0)
		r = members_add(s, &m);
	if (r)
		return r;
	speedwatch_mains(s->f);
	for (size_t i = 0; i < s->f->n_processes; i++) {
		python_open(s, i, &pythons);
		r = threads_add(s, i);
		if (r)
			return r;
	}
	return 0;
}

static int whose(struct speedwatch *s, size_t process)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	struct speed_process *p = &s->f->process[process];
	cleanup(freep) struct threadstart *start = calloc(p->n, sizeof(*start));
	size_t n;
	if (!start)
		return -ENOMEM;
	int r = maps_read(s->w, p->pid, &m);
	if (r)
		return r < 0 ? r : 0;
	p->libs |= threadlibs_of(&m);
	if (p->libs == 0)
		return 0;
	threadstarts_read(s->w, p->pid, &m, start, p->n, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s->f->n_threads; k++)
			if (s->f->thread[k].process == process && s->f->thread[k].tid == start[i].tid)
				s->f->thread[k].lib = start[i].lib;
	return 0;
}

int speedwatch_whose(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++) {
		int r = s->process[i].gone || s->f->process[i].n < 2 ? 0 : whose(s, i);
		if (r)
			return r;
	}
	return 0;
}

#define FUTEX_PRIVATE 128u /* FUTEX_PRIVATE_FLAG */
#define FUTEX_MASK 127u /* the operation without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */

/* glibc's mutex waits with FUTEX_WAIT while its word is 2; condition variables and semaphores with BITSET. */
static char lock_letter(const struct threadwatch_call *t)
{
	const uint64_t op = t->arg[1] & FUTEX_MASK;
	if (t->nr != SYS_futex)
		return SPEED_LOCK;
	return (op == 0 && (uint32_t)t->arg[2] == 2) || op == 6 || op == 13 ? SPEED_MUTEX : SPEED_LOCK;
}

/* Calls that wait until there is room for what they write. */
static bool is_write(int64_t nr)
{
	return nr == SYS_write || nr == SYS_writev || nr == SYS_sendto || nr == SYS_sendmsg || nr == SYS_sendmmsg;
}

static char letter_of(const struct threadwatch_call *t)
{
	static const char letters[] = {
		[WAIT_UNKNOWN] = SPEED_OTHER, [WAIT_RUNNING] = SPEED_RUN,   [WAIT_LOCK] = SPEED_LOCK,
		[WAIT_SLEEP] = SPEED_SLEEP,   [WAIT_POLL] = SPEED_POLL,	    [WAIT_FILE] = SPEED_FILE,
		[WAIT_PIPE] = SPEED_PIPE,     [WAIT_SOCKET] = SPEED_SOCKET, [WAIT_TTY] = SPEED_OTHER,
		[WAIT_CHILD] = SPEED_CHILD,   [WAIT_SIGNAL] = SPEED_OTHER,  [WAIT_DISK] = SPEED_DISK,
		[WAIT_GPU] = SPEED_GPU,	      [WAIT_MEMORY] = SPEED_MEMORY, [WAIT_STOPPED] = SPEED_STOPPED,
		[WAIT_ZOMBIE] = SPEED_AWAY,
	};
	if (t->kind == WAIT_LOCK)
		return lock_letter(t);
	if ((t->kind == WAIT_PIPE || t->kind == WAIT_SOCKET || t->kind == WAIT_TTY) && is_write(t->nr))
		return SPEED_WRITE;
	return (size_t)t->kind < ARRAY_SIZE(letters) ? letters[t->kind] : SPEED_OTHER;
}

/* Counts a futex among the few that a thread waited for most; the rarest makes room. */
static void lock_count(struct speedwatch_thread *t, const struct threadwatch_call *c)
{
	const uint32_t id = (uint32_t)(c->arg[0] >> 2) | 1u;
	size_t rarest = 0;
	for (size_t i = 0; i < ARRAY_SIZE(t->lock); i++) {
		if (t->lock[i] == id) {
			t->lock_n[i]++;
			return;
		}
		if (t->lock_n[i] < t->lock_n[rarest])
			rarest = i;
	}
	t->lock[rarest] = id;
	t->lock_n[rarest] = 1;
	t->lock_shared[rarest] = c->nr == SYS_futex && !(c->arg[1] & FUTEX_PRIVATE);
}

int speedwatch_schedstat(struct speedwatch *s, size_t i)
{
	struct speedwatch_thread *own = &s->thread[i];
	char path[96];
	if (own->schedstat_fd < 0 && keptfds_take()) {
		TEXT_FORMAT(path, "%d/task/%d/schedstat", s->f->process[s->f->thread[i].process].pid,
			    s->f->thread[i].tid);
		own->schedstat_fd = openat(s->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (own->schedstat_fd < 0)
			keptfds_give(1);
	}
	return own->schedstat_fd;
}

/* False also where it cannot be told. */
static bool has_not_run(struct speedwatch *s, size_t i)
{
	struct speedwatch_thread *own = &s->thread[i];
	char text[sizeof(own->schedstat)];
	size_t len;
	if (speedwatch_schedstat(s, i) < 0 || file_read_once(own->schedstat_fd, text, sizeof(text), &len) != 0)
		return false;
	const bool same = len > 0 && strcmp(text, own->schedstat) == 0;
	TEXT_COPY(own->schedstat, text);
	return same;
}

/* What it does, by its own files. The counts are read first: what it does after that is seen as a change. */
static int thread_look_anew(struct speedwatch *s, size_t i)
{
	struct speedwatch_thread *own = &s->thread[i];
	const struct speed_thread *of = &s->f->thread[i];
	struct speedwatch_process *p = &s->process[of->process];
	own->idle_since_ns = s->sweep_ns;
	own->letter = '\0';
	if (!p->watch)
		p->watch = threadwatch_new(s->w, s->f->process[of->process].pid);
	if (!p->watch)
		return -ENOMEM;
	int r = threadwatch_call(p->watch, of->tid, &own->call);
	if (r == WORLD_GONE)
		own->gone = true;
	if (r)
		return r == -ENOMEM ? r : 0;
	own->letter = letter_of(&own->call);
	if ((own->letter == SPEED_LOCK || own->letter == SPEED_MUTEX) && p->view &&
	    procview_waits_for_gil(p->view, own->call.nr, own->call.arg[0]))
		own->letter = SPEED_GIL;
	return 0;
}

static int thread_look(struct speedwatch *s, size_t i)
{
	struct speedwatch_thread *own = &s->thread[i];
	if (own->gone)
		return 0;
	if (own->left > 0) {
		own->left--;
	} else if (has_not_run(s, i) && own->letter && own->letter != SPEED_RUN) {
		own->left = s->sweep_ns - own->idle_since_ns > IDLE_NS ? SKIP_MOST : 0;
	} else {
		int r = thread_look_anew(s, i);
		if (r)
			return r;
	}
	if (!own->letter)
		return 0;
	if ((own->letter == SPEED_LOCK || own->letter == SPEED_MUTEX) && own->call.nr >= 0)
		lock_count(own, &own->call);
	s->f->thread[i].at[s->f->n_sweeps] = own->letter;
	return 0;
}

int speedwatch_sweep(struct speedwatch *s)
{
	struct loadavg load;
	s->sweep_ns = s->w->mono_ns();
	if (loadavg_read(s->w, &load) == 0) {
		s->running += sub_floor(load.running, 1); /* vigil itself runs */
		s->n_running++;
	}
	for (size_t i = 0; i < s->f->n_threads; i++) {
		int r = thread_look(s, i);
		if (r)
			return r;
	}
	speedwatch_asks(s);
	speedwatch_children(s);
	speedwatch_ray(s);
	speedwatch_loader(s);
	s->f->n_sweeps++;
	return 0;
}
