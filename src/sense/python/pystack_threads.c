#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/python/pystack_parts.h"

static void *remote_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)addr; // NOLINT(performance-no-int-to-ptr): theirs, not ours
}

#define THREADS_MAX 100000
#define INTERPS_MAX 1024
#define LIST_TRIES 3
/*
 * Offset of the tid in struct pthread of glibc 2.36 on x86-64; checked against the kernel's list, searched for if
 * wrong.
 */
#define GLIBC_TID_OFFSET 720
#define PTHREAD_BYTES 1024
#define BATCH 256

/* ---- other interpreters ---- */

/*
 * A thread that runs code of another interpreter has a thread state for each. Up to 3.12 an interpreter usually has one
 * state, created with it by the thread that made it, and every thread that runs the interpreter uses that state: its
 * ids are those of its maker. In 3.10 to 3.12 the state points into the C stack. The thread of an address there is the
 * one whose struct pthread is nearest above, because the C library puts it at the upper end of a stack; the main
 * thread's stack is above all of them.
 */
static void host_by_stack(struct pystacks *s, size_t index)
{
	const struct pyoffsets *o = &s->rt->off;
	struct pythread *t = &s->threads[index];
	uint64_t address = 0, nearest = UINT64_MAX;
	t->tid = 0;
	t->c_stack = 0;
	/* An idle state points into itself. */
	if (remote_u64(s->r, t->tstate + o->thread.c_stack, &address) != 0 || address - t->tstate < o->thread.size)
		return;
	t->c_stack = address;
	t->tid = s->r->pid;
	for (size_t i = 0; i < s->n_threads; i++) {
		if (s->threads[i].interp_id || s->listed[i].thread_id <= address || s->listed[i].thread_id >= nearest)
			continue;
		nearest = s->listed[i].thread_id;
		t->tid = s->threads[i].tid;
	}
	/* A thread that was never in the main interpreter. */
	if (s->listed[index].thread_id > address && s->listed[index].thread_id < nearest)
		t->tid = 0;
}

static void hosts_by_stack(struct pystacks *s)
{
	for (size_t i = 0; s->n_interps > 1 && s->rt->off.thread.c_stack != PYOFF_NONE && i < s->n_threads; i++)
		if (s->threads[i].interp_id)
			host_by_stack(s, i);
}

/* The only thread of the main interpreter; 0: there are several. */
static pid_t only_thread(const struct pystacks *s)
{
	pid_t tid = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->n_threads; i++) {
		if (s->threads[i].interp_id)
			continue;
		tid = s->threads[i].tid;
		n++;
	}
	return n == 1 ? tid : 0;
}

/* ---- checking the list ---- */

/* Memory ranges, and the words in them that must be unchanged. */
struct check {
	struct pystacks *s;
	struct iovec from[BATCH];
	char bytes[BATCH * LISTED_BYTES_MAX];
	size_t n, len;
	int32_t what[BATCH]; /* for a thread its index; else -1 - 4 * interpreter - word */
};

static bool word_same(struct pystacks *s, struct interp *in, int word, uint64_t now)
{
	switch (word) {
	case 0:
		return now == in->next;
	case 1:
		return now == in->threads_head;
	case 2: /* copies of bytecode were made: cached ones may belong to other code now */
		if (now != in->tlbc_generation && s->tlbc)
			memset(s->tlbc, 0, TLBC_SLOTS * sizeof(*s->tlbc));
		in->tlbc_generation = now;
		return true;
	default: /* code objects were freed: their addresses may belong to others */
		if (now != in->code_generation)
			pycodes_recheck(s->codes);
		in->code_generation = now;
		return true;
	}
}

static bool thread_same(const struct pystacks *s, const struct listed *l, const char *bytes)
{
	const struct pyoffsets *o = &s->rt->off;
	const char *t = bytes - s->listed_lo;
	return load_u64(t + o->thread.next) == l->next && load_u64(t + o->thread.thread_id) == l->thread_id &&
	       load_u64(t + o->thread.interp) == s->interps[l->interp].addr &&
	       (o->thread.native_thread_id == PYOFF_NONE ||
		(int64_t)load_u64(t + o->thread.native_thread_id) == l->native_id);
}

static bool check_flush(struct check *c)
{
	struct iovec into = {c->bytes, c->len};
	size_t got = 0;
	if (c->n == 0)
		return true;
	if (remote_readv(c->s->r, &into, 1, c->from, c->n, &got) != 0 || got != c->len)
		return false;
	const char *at = c->bytes;
	bool same = true;
	for (size_t i = 0; i < c->n && same; at += c->from[i].iov_len, i++) {
		if (c->what[i] >= 0) {
			same = thread_same(c->s, &c->s->listed[c->what[i]], at);
			continue;
		}
		int32_t word = -1 - c->what[i];
		same = word_same(c->s, &c->s->interps[word / 4], word % 4, load_u64(at));
	}
	c->n = c->len = 0;
	return same;
}

static bool check_add(struct check *c, uint64_t addr, size_t len, int32_t what)
{
	if (c->n == BATCH && !check_flush(c))
		return false;
	c->from[c->n] = (struct iovec){remote_ptr(addr), len};
	c->what[c->n++] = what;
	c->len += len;
	return true;
}

bool threads_same(struct pystacks *s)
{
	const struct pyoffsets *o = &s->rt->off;
	if (s->n_threads == 0)
		return false;
	cleanup(freep) struct check *c = malloc(sizeof(*c));
	if (!c)
		return false;
	c->s = s;
	c->n = c->len = 0;
	bool ok = true;
	for (size_t i = 0; i < s->n_interps && ok; i++) {
		const uint64_t words[4] = {o->interp.next, o->interp.threads_head, o->interp.tlbc_generation,
					   o->interp.code_generation};
		for (int k = 0; k < 4 && ok; k++)
			if (words[k] != PYOFF_NONE)
				ok = check_add(c, s->interps[i].addr + words[k], 8, -1 - ((int32_t)i * 4 + k));
	}
	for (size_t i = 0; i < s->n_threads && ok; i++)
		ok = check_add(c, s->threads[i].tstate + s->listed_lo, s->listed_hi - s->listed_lo, (int32_t)i);
	uint64_t head;
	ok = ok && check_flush(c) && remote_u64(s->r, s->rt->runtime + o->runtime.interpreters_head, &head) == 0 &&
	     head == s->interps[0].addr;
	if (ok)
		hosts_by_stack(s);
	return ok;
}

/* ---- listing ---- */

static int thread_add(struct pystacks *s, uint64_t tstate, const struct listed *l)
{
	if (s->n_threads == s->cap_threads) {
		size_t cap = s->cap_threads ? s->cap_threads * 2 : 16;
		struct pythread *threads = realloc(s->threads, cap * sizeof(*threads));
		if (!threads)
			return -ENOMEM;
		s->threads = threads;
		struct listed *listed = realloc(s->listed, cap * sizeof(*listed));
		if (!listed)
			return -ENOMEM;
		s->listed = listed;
		s->cap_threads = cap;
	}
	s->listed[s->n_threads] = *l;
	s->threads[s->n_threads++] = (struct pythread){.tstate = tstate,
							  .interp_id = s->interps[l->interp].id,
							  .interp = s->interps[l->interp].addr,
							  .thread_id = l->thread_id};
	return 0;
}

/* Brent's cycle detection: an earlier address is kept, and replaced at each power of two. */
struct circle {
	uint64_t earlier;
	size_t steps, next;
};

static bool circle_step(struct circle *c, uint64_t addr)
{
	if (addr == c->earlier)
		return true;
	if (c->steps++ == c->next) {
		c->earlier = addr;
		c->next = c->next * 2 + 1;
	}
	return false;
}

static int interp_threads(struct pystacks *s, size_t index)
{
	const struct pyoffsets *o = &s->rt->off;
	char bytes[LISTED_BYTES_MAX];
	struct circle circle = {};
	uint64_t before = 0;
	for (uint64_t addr = s->interps[index].threads_head; addr;) {
		if (circle_step(&circle, addr) || s->n_threads == THREADS_MAX)
			return REMOTE_FAULT;
		int e = remote_read(s->r, addr + s->listed_lo, bytes, s->listed_hi - s->listed_lo);
		if (e)
			return e;
		const char *t = bytes - s->listed_lo;
		/* A state that is being removed leads into memory that is already free. */
		if (load_u64(t + o->thread.interp) != s->interps[index].addr || load_u64(t + o->thread.prev) != before)
			return REMOTE_FAULT;
		struct listed l = {.next = load_u64(t + o->thread.next),
				   .thread_id = load_u64(t + o->thread.thread_id),
				   .interp = (uint32_t)index};
		if (o->thread.native_thread_id != PYOFF_NONE)
			l.native_id = (int64_t)load_u64(t + o->thread.native_thread_id);
		e = thread_add(s, addr, &l);
		if (e)
			return e;
		before = addr;
		addr = l.next;
	}
	return 0;
}

static int interp_word(struct pystacks *s, uint64_t addr, uint64_t offset, uint64_t *ret)
{
	*ret = 0;
	return offset == PYOFF_NONE ? 0 : remote_u64(s->r, addr + offset, ret);
}

static int interp_read(struct pystacks *s, uint64_t addr, struct interp *ret)
{
	const struct pyoffsets *o = &s->rt->off;
	*ret = (struct interp){.addr = addr};
	int e = interp_word(s, addr, o->interp.next, &ret->next);
	if (e == 0)
		e = interp_word(s, addr, o->interp.id, &ret->id);
	if (e == 0)
		e = interp_word(s, addr, o->interp.threads_head, &ret->threads_head);
	if (e == 0)
		e = interp_word(s, addr, o->interp.gil, &ret->gil);
	if (e == 0)
		e = interp_word(s, addr, o->interp.tlbc_generation, &ret->tlbc_generation);
	if (e == 0)
		e = interp_word(s, addr, o->interp.code_generation, &ret->code_generation);
	return e;
}

static int list_once(struct pystacks *s)
{
	struct circle circle = {};
	uint64_t addr;
	s->n_threads = s->n_interps = 0;
	int e = remote_u64(s->r, s->rt->runtime + s->rt->off.runtime.interpreters_head, &addr);
	if (e)
		return e;
	while (addr) {
		if (circle_step(&circle, addr) || s->n_interps == INTERPS_MAX)
			return REMOTE_FAULT;
		struct interp *more = realloc(s->interps, (s->n_interps + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->interps = more;
		e = interp_read(s, addr, &s->interps[s->n_interps]);
		if (e)
			return e;
		s->n_interps++;
		e = interp_threads(s, s->n_interps - 1);
		if (e)
			return e;
		addr = s->interps[s->n_interps - 1].next;
	}
	return s->n_threads ? 0 : PYRT_NOT_YET;
}

/* ---- kernel thread ids ---- */

struct kernel_task {
	pid_t inner, outer; /* inner: as the process numbers it; outer: as our /proc does */
	bool taken;
};

struct kernel_tasks {
	struct kernel_task *items; /* sorted by inner */
	size_t n;
};

static void kernel_tasks_done(struct kernel_tasks *k)
{
	free(k->items);
}

/* Reads the last number of "NSpid:"; true if there are others. */
static bool inner_id(int dir_fd, const char *path, pid_t *ret)
{
	char text[4096];
	size_t len;
	struct span value, word;
	uint64_t id = 0;
	bool other = false;
	if (file_read_at(dir_fd, path, text, sizeof(text), &len) ||
	    text_field((struct span){text, len}, "NSpid", &value))
		return false;
	for (int i = 0; span_word(&value, &word); i++) {
		if (span_u64(word, &id) || id > INT32_MAX)
			return false;
		other |= i > 0;
	}
	*ret = (pid_t)id;
	return other;
}

static int by_inner(const void *a, const void *b)
{
	pid_t x = ((const struct kernel_task *)a)->inner, y = ((const struct kernel_task *)b)->inner;
	return x < y ? -1 : x > y;
}

static int kernel_tasks_read(const struct world *w, pid_t pid, struct kernel_tasks *ret)
{
	char path[64];
	pid_t inner;
	TEXT_FORMAT(path, "%d/status", pid);
	bool other = inner_id(w->proc_fd, path, &inner);
	TEXT_FORMAT(path, "%d/task", pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *d = fdopendir(fd);
	if (!d)
		return -errno;
	int dir_fd = take_fd(&fd); /* closed with d */
	size_t cap = 0;
	for (const struct dirent *entry; (entry = readdir(d)) && ret->n < THREADS_MAX;) {
		uint64_t id;
		if (span_u64(span_of(entry->d_name), &id) || id > INT32_MAX)
			continue;
		if (vec_room(&ret->items, &cap, ret->n + 1) < 0)
			return -ENOMEM;
		struct kernel_task *k = &ret->items[ret->n++];
		*k = (struct kernel_task){.inner = (pid_t)id, .outer = (pid_t)id};
		TEXT_FORMAT(path, "%s/status", entry->d_name);
		if (other && inner_id(dir_fd, path, &inner))
			k->inner = inner;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_inner);
	return 0;
}

static struct kernel_task *task_of(const struct kernel_tasks *k, int64_t inner)
{
	struct kernel_task key = {.inner = (pid_t)inner};
	if (inner <= 0 || inner > INT32_MAX || k->n == 0)
		return NULL;
	struct kernel_task *t = bsearch(&key, k->items, k->n, sizeof(key), by_inner);
	return t && !t->taken ? t : NULL;
}

static pid_t task_take(struct kernel_task *t)
{
	t->taken = true;
	return t->outer;
}

/*
 * True if this offset into struct pthread gives each thread without an id one of its own. The kernel clears the id of a
 * thread that ends; only the main thread can have ended and still have a Python state.
 */
static bool offset_fits(struct pystacks *s, const struct kernel_tasks *k, size_t offset)
{
	bool fits = true;
	size_t n = 0, ended = 0;
	cleanup(freep) struct kernel_task **found = calloc(s->n_threads, sizeof(struct kernel_task *));
	if (!found)
		return false;
	for (size_t i = 0; i < s->n_threads && fits; i++) {
		int32_t id = 0;
		if (s->threads[i].tid || s->threads[i].interp_id)
			continue;
		fits = remote_read(s->r, s->listed[i].thread_id + offset, &id, sizeof(id)) == 0;
		if (fits && id == 0 && ended++ == 0)
			continue;
		struct kernel_task *t = fits ? task_of(k, id) : NULL;
		fits = t != NULL;
		if (t) {
			t->taken = true;
			found[n++] = t;
		}
	}
	for (size_t i = 0; i < n; i++)
		found[i]->taken = false;
	return fits && n > 0;
}

static void offset_find(struct pystacks *s, const struct kernel_tasks *k)
{
	if (s->tid_offset >= 0 && offset_fits(s, k, (size_t)s->tid_offset))
		return;
	s->tid_offset = -1;
	if (offset_fits(s, k, GLIBC_TID_OFFSET)) {
		s->tid_offset = GLIBC_TID_OFFSET;
		return;
	}
	for (size_t offset = 0; offset < PTHREAD_BYTES && s->tid_offset < 0; offset += 4)
		if (offset_fits(s, k, offset))
			s->tid_offset = (int32_t)offset;
}

static struct kernel_task *task_by_pthread(struct pystacks *s, const struct kernel_tasks *k, size_t i)
{
	int32_t id = 0;
	int e = remote_read(s->r, s->listed[i].thread_id + (uint64_t)s->tid_offset, &id, sizeof(id));
	return e == 0 ? task_of(k, id) : NULL;
}

/* Finds the threads of states of other interpreters; one thread may have several states. An unknown thread stays 0. */
static void others_find(struct pystacks *s, const struct kernel_tasks *k)
{
	for (size_t i = 0; i < s->n_threads; i++) {
		struct pythread *t = &s->threads[i];
		if (t->interp_id == 0)
			continue;
		t->tid = s->rt->minor < 10 ? only_thread(s) : 0;
		for (size_t n = 0; s->rt->minor >= 13 && n < k->n && t->tid == 0; n++)
			if (k->items[n].inner == s->listed[i].native_id)
				t->tid = k->items[n].outer;
	}
	hosts_by_stack(s);
}

static void tids_find(struct pystacks *s)
{
	cleanup(kernel_tasks_done) struct kernel_tasks k = {};
	size_t missing = 0;
	if (s->world->recorded || kernel_tasks_read(s->world, s->r->pid, &k))
		return;
	for (size_t i = 0; i < s->n_threads; i++) {
		if (s->threads[i].interp_id != 0)
			continue;
		struct kernel_task *t = task_of(&k, s->listed[i].native_id);
		s->threads[i].tid = t ? task_take(t) : 0;
		missing += t == NULL;
	}
	/* Needed before 3.11, and in children of fork() whose state still has the parent's ids. */
	if (missing)
		offset_find(s, &k);
	for (size_t i = 0; i < s->n_threads && missing && s->tid_offset >= 0; i++) {
		struct kernel_task *t = s->threads[i].interp_id || s->threads[i].tid ? NULL : task_by_pthread(s, &k, i);
		if (t)
			s->threads[i].tid = task_take(t);
	}
	if (k.n == 1 && s->n_threads == 1)
		s->threads[0].tid = k.items[0].outer;
	others_find(s, &k);
}

/* Plans of threads that have ended. */
static int by_tstate(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static int plans_sweep(struct pystacks *s)
{
	size_t kept = 0;
	cleanup(freep) struct sweep {
		uint64_t tstate;
		size_t index;
	} *sorted = malloc(s->n_threads * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_threads; i++)
		sorted[i] = (struct sweep){s->threads[i].tstate, i};
	qsort(sorted, s->n_threads, sizeof(*sorted), by_tstate);
	for (size_t i = 0; i < s->n_plans; i++) {
		struct plan *p = s->plans[i];
		struct sweep *hit = bsearch(&p->tstate, sorted, s->n_threads, sizeof(*sorted), by_tstate);
		const struct listed *l = hit ? &s->listed[hit->index] : NULL;
		if (l && l->thread_id == p->thread_id && s->interps[l->interp].addr == p->interp)
			s->plans[kept++] = p;
		else
			plan_free(p);
	}
	s->n_plans = kept;
	return 0;
}

/* struct _gil_runtime_state: two mutexes, two condition variables and a few words. */
#define GIL_BYTES 256

bool pystacks_is_gil(const struct pystacks *s, uint64_t address)
{
	const uint64_t current = s->rt->off.runtime.gilstate_current;
	if (s->rt->free_threaded)
		return false;
	/* Up to 3.11 the GIL is the last part of _PyRuntime before "gilstate", whose second word is known. */
	if (s->rt->minor <= 11)
		return current != PYOFF_NONE && s->rt->runtime + current - address - 1 < GIL_BYTES;
	for (size_t i = 0; i < s->n_interps; i++)
		if (s->interps[i].gil && address - s->interps[i].gil < GIL_BYTES)
			return true;
	return false;
}

size_t pystacks_interpreters(const struct pystacks *s)
{
	return s->n_interps;
}

int threads_list(struct pystacks *s)
{
	int e = REMOTE_FAULT;
	for (int try = 0; try < LIST_TRIES && e == REMOTE_FAULT; try++)
		e = list_once(s);
	if (e) {
		s->n_threads = 0;
		return e;
	}
	tids_find(s);
	return plans_sweep(s);
}
