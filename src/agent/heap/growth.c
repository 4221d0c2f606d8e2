#include "agent/heap/growth.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "agent/inspect/procview.h"
#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/native/perffault.h"
#include "sense/proc/proc.h"

#define THREADS_MAX 1024
#define LIST_NS (100 * NS_PER_MS)
#define FRAMES_MAX 512
#define CALLERS_BYTES 2048 /* top of the stack that is compared to see whether the thread has moved on */

/* One process. */
struct watched {
	pid_t pid;
	struct procview *view;
	uint32_t lane;
	bool gone;
	const struct pythread *python; /* borrowed until the next listing */
	size_t n_python;
};

struct growth {
	const struct world *w;
	const struct growth_want *want;
	struct natives *natives;
	struct stackset *set;
	struct watched *watched;
	size_t n_watched;
	/* Threads of all processes; each has an event of its own. */
	struct perffault event[THREADS_MAX];
	struct pollfd poll[THREADS_MAX];
	uint32_t owner[THREADS_MAX]; /* index in watched */
	size_t n;
	size_t refused; /* threads that cannot be followed, since the last listing */
	int first_refused;
	pid_t refused_pid;
	uint64_t page_bytes, approximate;
};

static bool is_followed(const struct growth *g, pid_t tid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->event[i].tid == tid)
			return true;
	return false;
}

static void growth_follow(struct growth *g, uint32_t owner, pid_t tid)
{
	if (g->n == THREADS_MAX || is_followed(g, tid))
		return;
	int r = perffault_open(tid, &g->event[g->n]);
	if (r == 0) {
		g->poll[g->n] = (struct pollfd){.fd = g->event[g->n].ring.fd, .events = POLLIN};
		g->owner[g->n] = owner;
		g->n++;
	} else if (r != WORLD_GONE && g->refused++ == 0) {
		g->first_refused = r;
		g->refused_pid = g->watched[owner].pid;
	}
}

/* Follows new threads of the process. */
static int threads_list(struct growth *g, uint32_t owner)
{
	struct watched *p = &g->watched[owner];
	char path[32];
	uint64_t tid;
	TEXT_FORMAT(path, "%d/task", (int)p->pid);
	int fd = openat(g->w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_folder(fd);
	if (!d)
		return world_condition(-errno);
	for (const struct dirent *e; (e = readdir(d));)
		if (span_u64(span_of(e->d_name), &tid) == 0 && tid <= INT32_MAX)
			growth_follow(g, owner, (pid_t)tid);
	(void)closedir(d);
	p->n_python = 0;
	if (p->view->stacks && pystacks_threads(p->view->stacks, &p->python, &p->n_python) != 0)
		p->n_python = 0;
	return 0;
}

/* Number of processes that still run; 0: all have ended, or *ret has an error. */
static size_t all_list(struct growth *g, int *ret)
{
	size_t running = 0;
	g->refused = 0;
	*ret = 0;
	for (size_t i = 0; i < g->n_watched && *ret == 0; i++) {
		if (g->watched[i].gone)
			continue;
		int r = threads_list(g, (uint32_t)i);
		g->watched[i].gone = r == WORLD_GONE;
		running += r == 0;
		*ret = r == WORLD_GONE ? 0 : r;
	}
	return running;
}

static const struct pythread *python_of(const struct watched *p, pid_t tid)
{
	for (size_t i = 0; i < p->n_python; i++)
		if (p->python[i].tid == tid)
			return &p->python[i];
	return NULL;
}

/*
 * True: the thread has left the function that touched the page, so Python's frames, read after that, are of another
 * moment. It is still there if it runs, or waits at that very place, and the frames of its callers are unchanged.
 */
static bool has_gone_on(const struct growth *g, struct watched *p, const struct perffault_sample *s,
			const struct unwind_trace *trace)
{
	static uint8_t now[CALLERS_BYTES];
	struct threadwait t;
	if (!s->regs.valid || trace->n == 0 || trace->frame[0].cfa < s->stack.sp + sizeof(uint64_t))
		return true;
	size_t from = (size_t)(trace->frame[0].cfa - sizeof(uint64_t) - s->stack.sp); /* slot of its return address */
	if (from >= s->stack.n_bytes)
		return true;
	size_t len = MIN(s->stack.n_bytes - from, sizeof(now));
	if (threadwait_read(g->w, p->pid, s->tid, NULL, false, &t) != 0 ||
	    (t.has_syscall && (t.sp != s->stack.sp || t.pc != trace->frame[0].pc)))
		return true;
	return remote_read(&p->view->remote, s->stack.sp + from, now, len) != 0 ||
	       memcmp(now, s->stack.bytes + from, len) != 0;
}

static int sample_add(struct growth *g, struct watched *p, const struct perffault_sample *s)
{
	static struct unwind_trace trace;
	struct procview_sample sample = {.python_result = 0};
	const struct procview_frame *frames;
	uint32_t ids[FRAMES_MAX];
	size_t n = 0;
	bool approximate = false;
	const struct pythread *python = python_of(p, s->tid);
	/* Python's frames are read first because they change quickly. */
	if (python)
		sample.python_result = pystacks_read(p->view->stacks, python, false, &sample.python);
	sample.has_python = python && sample.python_result == 0;
	if (s->regs.valid) {
		native_unwind(p->view->native, &s->regs, &s->stack, &trace);
		sample.native = &trace;
	}
	bool late = python && (!sample.has_python || has_gone_on(g, p, s, &trace));
	if (late || !sample.has_python)
		sample.python.n = 0;
	sample.has_python &= !late;
	int r = procview_merge(p->view, &sample, &frames, &n, &approximate);
	if (r)
		return r;
	g->approximate += approximate;
	n = MIN(n, (size_t)FRAMES_MAX - 1);
	for (size_t i = 0; i < n && r == 0; i++) {
		struct frame f;
		procview_frame_text(p->view, &frames[i], false, &f);
		r = frametab_intern(stackset_frames(g->set), &f, &ids[i]);
	}
	if (r == 0 && late) {
		const struct frame f = {.kind = FRAME_NOTE, .name = "[Python had gone on]", .file = "", .module = ""};
		r = frametab_intern(stackset_frames(g->set), &f, &ids[n++]);
		stackset_meta(g->set)->shortened++;
	}
	return r ? r : stackset_add(g->set, p->lane, ids, n, SAMPLE_RUNNING, false, PERFFAULT_PERIOD * g->page_bytes);
}

static int growth_drain(struct growth *g)
{
	static struct perffault_sample sample;
	for (size_t i = 0; i < g->n; i++) {
		/* At most 64 samples at once, so that a thread with many faults does not delay the others. */
		for (int k = 0; k < 64 && perffault_next(&g->event[i], &sample); k++) {
			int r = sample_add(g, &g->watched[g->owner[i]], &sample);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Closes events of threads that have ended, after their rings were read. */
static void sweep(struct growth *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->n; i++) {
		if (g->poll[i].revents & (POLLHUP | POLLERR)) {
			stackset_meta(g->set)->dropped += g->event[i].lost;
			perffault_close(&g->event[i]);
			continue;
		}
		g->event[kept] = g->event[i];
		g->owner[kept] = g->owner[i];
		g->poll[kept++] = g->poll[i];
	}
	g->n = kept;
}

static int growth_refuse(const struct growth *g, pid_t pid, int r, struct fault *f)
{
	char text[64];
	size_t len = 0;
	bool known = file_read_at(g->w->proc_fd, "sys/kernel/perf_event_paranoid", text, sizeof(text), &len) == 0;
	if (known)
		span_copy(span_trim((struct span){text, len}), text, sizeof(text));
	if (r == WORLD_ABSENT)
		return fault_set(
			f, r,
			"this kernel (or the container's seccomp filter) has no perf events, which growth is seen by");
	if (r == -ENOMEM)
		return fault_set(f, WORLD_DENIED,
				 "too little memory may be locked for the records of page faults: raise "
				 "kernel.perf_event_mlock_kb "
				 "or 'ulimit -l', or run as root");
	if (r == WORLD_DENIED)
		return fault_set(
			f, r,
			"page faults of process %d may not be watched: that takes CAP_PERFMON, or the same user and "
			"kernel.perf_event_paranoid of at most 2 (it is %s), and no seccomp filter against "
			"perf_event_open",
			(int)pid, known ? text : "not known");
	return fault_set(f, r, "page faults of process %d cannot be watched: %s", (int)pid, strerror(r < 0 ? -r : EIO));
}

static int growth_loop(struct growth *g, struct fault *f)
{
	uint64_t begin_ns = clock_mono_ns(), list_ns = 0, now_ns;
	while ((now_ns = clock_mono_ns()) - begin_ns < g->want->duration_ns && !(g->want->stop && *g->want->stop)) {
		if (now_ns >= list_ns) {
			int r;
			size_t running = all_list(g, &r);
			list_ns = now_ns + LIST_NS;
			if (r)
				return r;
			if (running == 0)
				break;
			if (g->n == 0 && g->refused)
				return growth_refuse(g, g->refused_pid, g->first_refused, f);
		}
		(void)poll(g->poll, (nfds_t)g->n, 20);
		int r = growth_drain(g);
		if (r)
			return r;
		sweep(g);
	}
	struct stackset_meta *m = stackset_meta(g->set);
	for (size_t i = 0; i < g->n; i++)
		m->dropped += g->event[i].lost;
	m->duration_ns = clock_mono_ns() - begin_ns;
	m->approximate = g->approximate;
	m->interrupted = g->want->stop && *g->want->stop;
	return 0;
}

/* Opens a process. WORLD_GONE: it has just ended. */
static int watch(struct growth *g, const struct growth_who *who, struct fault *f)
{
	struct watched *p = &g->watched[g->n_watched];
	struct stack_lane lane = {.pid = who->pid, .rank = who->rank};
	const struct procview_want want = {.natives = g->natives};
	*p = (struct watched){.pid = who->pid};
	int r = procview_open(g->w, who->pid, &want, &p->view, f);
	if (r)
		return r;
	g->n_watched++;
	if (!p->view->native)
		return fault_set(f, WORLD_DENIED,
				 "the memory of process %d may not be read, so its stacks cannot be followed",
				 (int)who->pid);
	TEXT_COPY(lane.role, who->role);
	ignore(proc_command_read(g->w, who->pid, lane.process, sizeof(lane.process)), "nameless then");
	return stackset_lane(g->set, &lane, &p->lane);
}

static int growth_open(struct growth *g, struct fault *f)
{
	const struct growth_want *want = g->want;
	int r = 0;
	g->natives = natives_new();
	g->set = stackset_new();
	g->watched = calloc(want->n_who + 1, sizeof(*g->watched));
	if (!g->natives || !g->set || !g->watched)
		return fault_set(f, -ENOMEM, "no memory for the recording");
	for (size_t i = 0; i < want->n_who; i++) {
		r = watch(g, &want->who[i], f);
		if (r && r != WORLD_GONE)
			return r;
	}
	if (g->n_watched == 0)
		return r ? r : fault_set(f, WORLD_GONE, "no process that runs is left");
	struct stackset_meta *m = stackset_meta(g->set);
	m->unit = STACK_BYTES;
	m->period_bytes = PERFFAULT_PERIOD * g->page_bytes;
	m->start_unix_ms = g->w->unix_ms();
	m->native = true;
	TEXT_COPY(m->title, "growth of resident memory");
	host_name(m->node, sizeof(m->node));
	return 0;
}

int growth_record(const struct world *w, const struct growth_want *want, struct stackset **ret, struct fault *f)
{
	static struct growth growth; /* static because it is large: 1024 threads */
	struct growth *g = &growth;
	*g = (struct growth){.w = w, .want = want, .page_bytes = w->page_bytes};
	int r = growth_open(g, f);
	if (r == 0)
		r = growth_loop(g, f);
	for (size_t i = 0; i < g->n; i++)
		perffault_close(&g->event[i]);
	for (size_t i = 0; i < g->n_watched; i++)
		procview_close(g->watched[i].view);
	free(g->watched);
	g->natives = natives_free(g->natives);
	if (r == 0)
		*ret = take(&g->set);
	g->set = stackset_free(g->set);
	return r;
}
