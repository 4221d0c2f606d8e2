#include "agent/stacks/profproc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mask/mask.h"
#include "base/vec.h"
#include "sense/proc/keptfds.h"
#include "sense/wait/threadlist.h"

/* Interval of listing the threads, each time a directory: a new thread is missed for this long at most. */
#define LIST_NS (100 * NS_PER_MS)
/*
 * Interval of checking functions again: a freed function may be shown in place of a new one at its address for this
 * long.
 */
#define RECHECK_NS (100 * NS_PER_MS)
#define AGAIN_NS (200 * NS_PER_MS)
#define AGAIN_MAX_NS (5 * NS_PER_S)
/* The process runs another program than before. */
#define ANEW 100
/* Threads of one process whose schedstat files are kept open; the files of others are opened each time. */
#define KEPT_FDS 512

struct profproc_thread {
	pid_t tid;
	bool has_py;
	struct pythread py;
	bool alive; /* found by the last listing */
	bool has_lane;
	uint32_t lane;
	int sched_fd;
	bool has_sched;
	uint64_t sched[3]; /* run ns, wait ns, number of time slices; unchanged: the thread did not run */
	bool has_last, last_blocked, last_gil;
	bool last_merged, last_approximate, last_native_missing,
		last_incomplete; /* what struct profproc_tally counts */
	enum sample_state last_state;
	uint32_t *last; /* owned: frame ids, innermost first */
	size_t n_last, cap_last;
};

struct idmap_row {
	uint64_t key; /* 0: free */
	uint32_t id;
};

static void thread_done(struct profproc_thread *t)
{
	if (t->sched_fd >= 0)
		keptfds_give(1);
	closep(&t->sched_fd);
	free(t->last);
}

struct profproc *profproc_close(struct profproc *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n_threads; i++)
		thread_done(&t->thread[i]);
	free(t->thread);
	free(t->idmap);
	t->watch = threadwatch_free(t->watch);
	t->view = procview_close(t->view);
	free(t);
	return NULL;
}

int profproc_open(const struct world *w, const struct member *m, const struct procview_want *want, bool threads_apart,
		  struct profproc **ret, struct fault *f)
{
	struct profproc *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	int r = procview_open(w, m->task->pid, want, &t->view, f);
	if (r == 0) {
		t->watch = threadwatch_new(w, t->view->via);
		t->idmap_cap = 1024;
		t->idmap = calloc(t->idmap_cap, sizeof(*t->idmap));
		r = t->watch && t->idmap ? 0 : -ENOMEM;
	}
	if (r) {
		profproc_close(t);
		return r;
	}
	t->threads_apart = threads_apart;
	t->all_threads = t->view->native != NULL;
	t->lane = (struct stack_lane){.pid = m->task->pid, .rank = NO_RANK};
	profproc_name(t, m);
	*ret = t;
	return 0;
}

void profproc_name(struct profproc *t, const struct member *m)
{
	struct stack_lane now = t->lane;
	now.rank = m->who.rank;
	TEXT_COPY(now.role, role_name(m->who.role));
	TEXT_COPY(now.process, m->command[0] ? m->command : m->task->comm);
	if (now.rank == t->lane.rank && strcmp(now.role, t->lane.role) == 0 &&
	    strcmp(now.process, t->lane.process) == 0)
		return;
	t->lane = now;
	for (size_t i = 0; i < t->n_threads; i++)
		t->thread[i].has_lane = false;
}

/* ---- ids of frames ---- */

/* Never 0. Python: from the function's id and the instruction; native: from the address. */
static uint64_t profproc_frame_key(const struct procview_frame *f)
{
	if (f->python)
		return hash_mix(f->py->instr ^ hash_mix((uint64_t)f->py->known->id + 1)) | UINT64_C(1) << 63;
	return (f->native->pc << 1 | f->native->exact) & ~(UINT64_C(1) << 63)
		       ? (f->native->pc << 1 | f->native->exact) & ~(UINT64_C(1) << 63)
		       : 1;
}

static int idmap_grow(struct profproc *t)
{
	size_t cap = t->idmap_cap * 2;
	struct idmap_row *rows = calloc(cap, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->idmap_cap; i++) {
		if (!t->idmap[i].key)
			continue;
		size_t k = hash_mix(t->idmap[i].key) & (cap - 1);
		while (rows[k].key)
			k = (k + 1) & (cap - 1);
		rows[k] = t->idmap[i];
	}
	free(t->idmap);
	t->idmap = rows;
	t->idmap_cap = cap;
	return 0;
}

static int profproc_frame_id(struct profproc *t, struct frametab *frames, const struct procview_frame *f, uint32_t *ret)
{
	uint64_t key = profproc_frame_key(f);
	size_t i = hash_mix(key) & (t->idmap_cap - 1);
	for (; t->idmap[i].key; i = (i + 1) & (t->idmap_cap - 1))
		if (t->idmap[i].key == key) {
			*ret = t->idmap[i].id;
			return 0;
		}
	struct frame text;
	procview_frame_text(t->view, f, false, &text);
	int r = frametab_intern(frames, &text, ret);
	if (r)
		return r;
	t->idmap[i] = (struct idmap_row){key, *ret};
	return ++t->idmap_n * 2 > t->idmap_cap ? idmap_grow(t) : 0;
}

static int note_id(struct frametab *frames, const char *text, uint32_t *ret)
{
	return frametab_intern(frames, &(struct frame){.kind = FRAME_NOTE, .name = text, .file = "", .module = ""},
			       ret);
}

/* ---- threads ---- */

static struct profproc_thread *thread_of(struct profproc *t, pid_t tid)
{
	size_t lo = bisect(t->n_threads, mid, t->thread[mid].tid < tid);
	return lo < t->n_threads && t->thread[lo].tid == tid ? &t->thread[lo] : NULL;
}

/* Makes the list of threads from tids; what is known of a thread moves from the old list. Both are sorted by tid. */
static int threads_take(struct profproc *t, const pid_t *tids, size_t n)
{
	struct profproc_thread *list = calloc(n ? n : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct profproc_thread *old = thread_of(t, tids[i]);
		list[i] = old ? *old : (struct profproc_thread){.tid = tids[i], .sched_fd = -1};
		list[i].has_py = false;
		if (old)
			*old = (struct profproc_thread){.tid = tids[i], .sched_fd = -1};
	}
	for (size_t i = 0; i < t->n_threads; i++)
		thread_done(&t->thread[i]);
	free(t->thread);
	t->thread = list;
	t->n_threads = n;
	return 0;
}

static int threads_list(struct profproc *t, uint64_t now_ns)
{
	cleanup(freep) pid_t *tids = NULL;
	const struct pythread *py = NULL;
	size_t n = 0, n_py = 0;
	int r = threads_read(t->view->w, t->view->pid, &tids, &n);
	if (r == 0)
		r = threads_take(t, tids, n);
	if (r)
		return r;
	t->list_ns = now_ns;
	if (!t->view->stacks)
		return 0;
	if (now_ns - t->recheck_ns >= RECHECK_NS) {
		pycodes_recheck(t->view->codes);
		t->recheck_ns = now_ns;
	}
	r = procview_python_threads(t->view, &py, &n_py);
	t->broken = r == 0 && n_py > 0 ? 0 : t->broken + 1;
	for (size_t i = 0; r == 0 && i < n_py; i++) {
		struct profproc_thread *th = thread_of(t, py[i].tid);
		t->threadless |= py[i].tid == 0 && py[i].interp_id != 0 && t->view->rt.minor < 10;
		if (!th || (th->has_py && py[i].interp_id != 0))
			continue;
		th->has_py = true;
		if (th->py.tstate != py[i].tstate)
			th->has_last = false;
		th->py = py[i];
	}
	return r == WORLD_GONE || r < 0 ? r : 0;
}

static bool sched_parse(struct span text, uint64_t ret[static 3])
{
	struct span word;
	for (size_t i = 0; i < 3; i++)
		if (!span_word(&text, &word) || span_u64(word, &ret[i]) < 0)
			return false;
	return true;
}

/* True: the thread certainly did not run since its last sample. */
static bool stood_still(struct profproc *t, struct profproc_thread *th)
{
	char text[96], path[64];
	uint64_t now[3];
	ssize_t n;
	if (!th->has_last || !th->last_blocked) {
		th->has_sched = false; /* a thread that ran has no counters to compare with */
		return false;
	}
	cleanup(closep) int fd = -1;
	if (th->sched_fd < 0) {
		TEXT_FORMAT(path, "%d/task/%d/schedstat", (int)t->view->pid, (int)th->tid);
		fd = openat(t->view->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return false;
	}
	n = pread(fd >= 0 ? fd : th->sched_fd, text, sizeof(text) - 1, 0);
	if (fd >= 0 && t->n_threads <= KEPT_FDS && keptfds_take())
		th->sched_fd = take_fd(&fd);
	if (n <= 0 || !sched_parse((struct span){text, (size_t)n}, now) || now[2] == 0) {
		th->has_sched = false;
		return false;
	}
	bool same = th->has_sched && memcmp(now, th->sched, sizeof(now)) == 0;
	memcpy(th->sched, now, sizeof(now));
	th->has_sched = true;
	return same;
}

static int profproc_lane(struct profproc *t, struct profproc_thread *th, struct stackset *into)
{
	char path[64];
	size_t len = 0;
	if (th->has_lane)
		return 0;
	struct stack_lane lane = t->lane;
	if (t->threads_apart) {
		lane.tid = th->tid;
		TEXT_FORMAT(path, "%d/task/%d/comm", (int)t->view->pid, (int)th->tid);
		if (file_read_at(t->view->w->proc_fd, path, lane.thread, sizeof(lane.thread), &len) == 0 && len > 0 &&
		    lane.thread[len - 1] == '\n')
			lane.thread[len - 1] = '\0';
		mask_name(lane.thread);
		const char *name = procview_thread_name(t->view, th->has_py ? &th->py : NULL);
		if (name)
			TEXT_COPY(lane.thread, name);
	}
	int r = stackset_lane(into, &lane, &th->lane);
	th->has_lane = r == 0;
	return r;
}

/* ---- one sample ---- */

static bool is_select(int64_t nr)
{
#ifdef SYS_select
	return nr == SYS_select;
#else
	(void)nr;
	return false;
#endif
}

/* Adds a note as the innermost frame: what the thread waits for, or what the interpreter does. */
static int leaf_note(struct frametab *frames, enum wait_kind kind, int64_t nr, uint64_t argument,
		     const struct pystack *py, struct profproc_thread *th)
{
	char text[96];
	if (th->last_state == SAMPLE_GIL_WAIT)
		TEXT_COPY(text, "[waiting for the GIL]");
	else if (th->last_state == SAMPLE_IDLE && kind == WAIT_POLL && argument == 0 &&
		 (nr == SYS_pselect6 || is_select(nr)))
		TEXT_FORMAT(text, "[waiting: sleep, %s]",
			    syscall_name(nr)); /* without a descriptor: time.sleep of CPython up to 3.10 */
	else if (th->last_state == SAMPLE_IDLE && nr >= 0)
		TEXT_FORMAT(text, "[waiting: %s, %s]", wait_kind_name(kind), syscall_name(nr));
	else if (th->last_state == SAMPLE_IDLE)
		TEXT_FORMAT(text, "[waiting: %s]", wait_kind_name(kind));
	else if (py->collecting && (py->gil == PYGIL_HOLDS))
		TEXT_COPY(text, "[garbage collection]");
	else
		return 0;
	return note_id(frames, text, &th->last[th->n_last++]);
}

/* Adds a note that separates the frames of another interpreter from those that called it. */
static int interp_note(struct frametab *frames, uint64_t id, struct profproc_thread *th)
{
	char text[48];
	TEXT_FORMAT(text, "[interpreter %" PRIu64 "]", id);
	return note_id(frames, text, &th->last[th->n_last++]);
}

static int frames_take(struct profproc *t, struct profproc_thread *th, const struct procview_sample *sample,
		       struct stackset *into, enum wait_kind kind, int64_t nr, uint64_t argument)
{
	const struct procview_frame *f;
	struct frametab *frames = stackset_frames(into);
	size_t n = 0;
	bool approximate = false;
	int r = procview_merge(t->view, sample, &f, &n, &approximate);
	if (r == 0)
		r = vec_room(&th->last, &th->cap_last, n + 2 + sample->n_parts);
	if (r)
		return r;
	th->n_last = 0;
	r = leaf_note(frames, kind, nr, argument, &sample->python, th);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = profproc_frame_id(t, frames, &f[i], &th->last[th->n_last++]);
		if (r == 0 && f[i].python && f[i].interp_id && f[i].last_of_interp)
			r = interp_note(frames, f[i].interp_id, th);
	}
	const bool both = sample->native && sample->python.n > 0;
	th->last_native_missing = t->view->stopper && !sample->native;
	th->last_incomplete = procview_is_incomplete(sample);
	th->last_merged = both && !approximate;
	th->last_approximate = both && approximate;
	return r;
}

static enum sample_state state_of(enum wait_kind kind, bool waits_for_gil, const struct pystack *py)
{
	if (kind == WAIT_RUNNING)
		return SAMPLE_RUNNING;
	return py->gil == PYGIL_WAITS || (waits_for_gil && py->gil != PYGIL_HOLDS) ? SAMPLE_GIL_WAIT : SAMPLE_IDLE;
}

/* Takes a new sample of the thread. *ret_show false: there is nothing to count. */
static int sample_again(struct profproc *t, struct profproc_thread *th, struct stackset *into,
			struct profproc_tally *tally, bool *ret_show)
{
	struct procview_sample sample;
	enum wait_kind kind = WAIT_UNKNOWN;
	int64_t nr = -1;
	uint64_t argument = 0;
	*ret_show = false;
	th->has_last = false;
	int r = threadwatch_kind(t->watch, th->tid, &kind, &nr, &argument);
	if (r)
		return r;
	if (kind == WAIT_ZOMBIE)
		return 0;
	r = procview_sample(t->view, th->tid, th->has_py ? &th->py : NULL, procview_still_of(kind, nr), &sample);
	if (r)
		return r;
	if (!t->checked && procview_found_changed(t->view, &sample))
		return ANEW;
	t->checked = true;
	if (sample.python_result == PYSTACK_STALE)
		t->list_ns = 0;
	if (sample.python_result != 0) {
		tally->dropped++;
		return 0;
	}
	if (sample.python.n == 0 && !sample.native)
		return 0;
	bool waits_for_gil = th->has_py && kind == WAIT_LOCK && procview_waits_for_gil(t->view, nr, argument);
	th->last_state = state_of(kind, waits_for_gil, &sample.python);
	th->last_blocked = kind != WAIT_RUNNING;
	th->last_gil = sample.python.gil == PYGIL_HOLDS;
	r = frames_take(t, th, &sample, into, kind, nr, argument);
	*ret_show = th->has_last = r == 0;
	return r;
}

static int thread_sample(struct profproc *t, struct profproc_thread *th, struct stackset *into, uint64_t weight_ns,
			 struct profproc_tally *tally)
{
	bool show = true;
	if (!th->has_py && !t->all_threads)
		return 0;
	int r = 0;
	bool still = stood_still(t, th);
	bool asked = still || t->checked || (th->has_py && procview_ask_changed(t->view));
	if (!asked && procview_changed(t->view))
		return ANEW;
	if (!still)
		r = sample_again(t, th, into, tally, &show);
	if (r || !show)
		return r;
	r = profproc_lane(t, th, into);
	if (r)
		return r;
	tally->samples++;
	tally->native_missing += th->last_native_missing;
	tally->incomplete += th->last_incomplete;
	tally->merged += th->last_merged;
	tally->approximate += th->last_approximate;
	return stackset_add(into, th->lane, th->last, th->n_last, th->last_state, th->last_gil, weight_ns);
}

static void begin_anew(struct profproc *t)
{
	t->broken = 0;
	procview_again(t->view);
	t->all_threads = t->view->native != NULL;
	for (size_t i = 0; i < t->n_threads; i++)
		t->thread[i].has_last = false;
	/* Ids of functions, and addresses, mean something else in the new program. */
	memset(t->idmap, 0, t->idmap_cap * sizeof(*t->idmap));
	t->idmap_n = 0;
	t->list_ns = 0;
}

/* Searches Python again where it may have started late, or was lost, at growing intervals. */
static void python_later(struct profproc *t, uint64_t now_ns)
{
	bool lost = t->broken >= 3;
	if ((!t->view->python_later && !lost) || now_ns < t->again_ns)
		return;
	t->again_wait_ns = MIN(MAX(2 * t->again_wait_ns, AGAIN_NS), AGAIN_MAX_NS);
	t->again_ns = now_ns + t->again_wait_ns;
	begin_anew(t);
}

static void other_program(struct profproc *t, uint64_t now_ns)
{
	t->again_wait_ns = 0;
	t->again_ns = now_ns + AGAIN_NS / 4; /* the program has just started */
	begin_anew(t);
}

static int profproc_round(struct profproc *t, uint64_t now_ns, struct stackset *into, uint64_t weight_ns,
			  struct profproc_tally *tally)
{
	int r = 0;
	t->checked = false;
	if (t->list_ns == 0 || now_ns - t->list_ns >= LIST_NS)
		r = threads_list(t, now_ns);
	for (size_t i = 0; r == 0 && i < t->n_threads; i++) {
		r = thread_sample(t, &t->thread[i], into, weight_ns, tally);
		if (r == WORLD_GONE) { /* The thread has ended. If it was the last one, the next listing fails. */
			t->list_ns = 0;
			t->thread[i].has_last = false;
			r = procview_lost(t->view) ? WORLD_GONE : 0; /* profile opens the process again */
		}
	}
	return r;
}

int profproc_sample(struct profproc *t, struct stackset *into, uint64_t weight_ns, struct profproc_tally *tally)
{
	uint64_t now_ns = t->view->w->mono_ns();
	python_later(t, now_ns);
	int r = profproc_round(t, now_ns, into, weight_ns, tally);
	if (r == ANEW) {
		other_program(t, now_ns);
		r = profproc_round(t, now_ns, into, weight_ns, tally);
	}
	if (r == WORLD_GONE)
		t->gone = true;
	return r == WORLD_GONE || r == ANEW ? 0 : r;
}
