#include "agent/inspect/pywaits.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/inspect/pytext.h"
#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/proc/proc.h"
#include "sense/python/pylocks.h"
#include "sense/wait/threadlist.h"

#define LOOKS 2
#define THREADS_MAX 20000

/* A thread that stands still. */
struct still_thread {
	const struct pythread *py;
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pyframe *frame;
	struct pylocks_frames frames;
	bool waits; /* for a futex that is not the interpreter's own lock */
	bool found; /* what it waits for */
	struct pylock_wait wait;
	uint64_t future; /* that it computes; 0: none */
	bool checked, moved; /* since its frames were looked at; moved: it has run */
};

struct holder {
	uint64_t word;
	size_t thread; /* index in the look */
	struct pylock_held held;
	int32_t line;
};

struct pylook {
	const struct world *w;
	struct procview *v;
	struct pylocks *locks;
	const struct pythread *py;
	size_t n_py;
	struct still_thread *thread;
	size_t n;
	struct holder *holder;
	size_t n_holders, cap_holders;
	struct waithint *hint;
	size_t n_hints;
};

static void look_done(struct pylook *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->thread[i].frame);
	free(k->thread);
	free(k->holder);
	free(k->hint);
	pylocks_free(k->locks);
	*k = (struct pylook){};
}

/* ---- who stands still ---- */

static bool has_moved(const struct pylook *k, const struct still_thread *t)
{
	return standstill_moved(k->w, k->v->via, t->py->tid, t->token);
}

static bool is_futex_wait(const struct pylook *k, const struct threadwait *call)
{
	int op = (int)call->arg[1] & FUTEX_CMD_MASK;
	return call->nr == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) &&
	       !procview_waits_for_gil(k->v, call->nr, call->arg[0]);
}

/* One state for each thread: of those that run code of several interpreters nothing is told. */
static bool is_alone(const struct pylook *k, size_t at)
{
	for (size_t i = 0; i < k->v->n_others; i++)
		if (k->v->others[i].tid == k->py[at].tid)
			return false;
	return k->py[at].tid > 0 && k->py[at].interp_id == 0;
}

static int thread_read(struct pylook *k, const struct pythread *py)
{
	struct still_thread *t = &k->thread[k->n];
	struct pystack stack;
	*t = (struct still_thread){.py = py};
	if (!standstill_token(k->w, k->v->via, py->tid, t->token, &t->call))
		return 0;
	int e = pystacks_read(k->v->stacks, py, false, &stack);
	if (e < 0 || e == WORLD_GONE || e == WORLD_DENIED)
		return e;
	if (e || stack.n == 0 || stack.collecting)
		return 0;
	t->frame = malloc(stack.n * sizeof(*t->frame));
	if (!t->frame)
		return -ENOMEM;
	memcpy(t->frame, stack.frames, stack.n * sizeof(*t->frame));
	t->frames = (struct pylocks_frames){t->frame, stack.n, stack.cut};
	t->waits = is_futex_wait(k, &t->call);
	k->n++;
	return 0;
}

/* ---- holders ---- */

static int holders_find(struct pylook *k)
{
	struct pylock_held held[PYLOCKS_HELD];
	for (size_t i = 0; i < k->n; i++) {
		struct still_thread *t = &k->thread[i];
		size_t n = 0;
		int e = pylocks_held(k->locks, &t->frames, held, &n);
		if (e == 0)
			e = pylocks_future(k->locks, &t->frames, &t->future);
		if (e == 0 && vec_room(&k->holder, &k->cap_holders, k->n_holders + n) < 0)
			e = -ENOMEM;
		if (e)
			return e;
		for (size_t h = 0; h < n; h++) {
			const struct pyframe *f = &t->frame[held[h].frame];
			k->holder[k->n_holders++] =
				(struct holder){held[h].word, i, held[h],
						f->known ? pycode_line(&k->v->rt, f->known, held[h].instr) : 0};
		}
	}
	return 0;
}

/*
 * The one thread that holds the lock; NULL: none, or it cannot be told which of several. One that may have let it go
 * again has done so if another has it.
 */
static const struct holder *pywaits_holder_of(const struct pylook *k, uint64_t word)
{
	const struct holder *found = NULL;
	bool several = false;
	for (size_t i = 0; i < k->n_holders; i++) {
		const struct holder *h = &k->holder[i];
		if (h->word != word || (found && found->thread == h->thread))
			continue;
		if (!found || (found->held.may_release && !h->held.may_release)) {
			found = h;
			several = false;
		} else if (found->held.may_release == h->held.may_release) {
			several = true;
		}
	}
	return several ? NULL : found;
}

/* ---- in words ---- */

static void lock_add(const struct pylock_wait *w, struct buf *b)
{
	if (strcmp(w->type, "lock") == 0)
		buf_add(b, "threading.Lock");
	else if (strcmp(w->type, "RLock") == 0)
		buf_add(b, "threading.RLock");
	else if (strcmp(w->type, "SimpleQueue") == 0)
		buf_add(b, "queue.SimpleQueue");
	else if (strcmp(w->type, "SemLock") == 0)
		buf_add(b, "multiprocessing lock");
	else
		pytext_add(b, w->type);
}

/* "queue.Queue.get", "Event.wait"; a lock by its type alone. */
static void call_add(const struct pylock_wait *w, const struct pyframe *f, struct buf *b)
{
	const char *name = f->known ? f->known->name : "", *dot = strrchr(name, '.');
	const char *last = dot ? dot + 1 : name;
	if (f->known && strcmp(pytext_file(f->known->file), "queue.py") == 0)
		buf_add(b, "queue.");
	pytext_add(b, w->outer ? w->type : name);
	if (w->outer && strcmp(last, "__enter__") != 0) {
		buf_add(b, ".");
		pytext_add(b, last);
	}
}

static const struct pythread *python_of(const struct pylook *k, pid_t tid)
{
	return procview_python_thread(k->py, k->n_py, tid);
}

static void text_make(struct pylook *k, const struct still_thread *t, struct waithint *h)
{
	struct buf b = BUF_ON(h->text);
	char comm[16];
	size_t at = t->wait.frame == SIZE_MAX ? 0 : t->wait.frame + 1;
	if (t->wait.joins) {
		const char *name = procview_thread_name(k->v, python_of(k, t->wait.owner));
		buf_printf(&b, "Thread.join of thread %d (", (int)t->wait.owner);
		pytext_add(&b, name ? name : task_comm(k->w, k->v->via, t->wait.owner, comm));
		buf_add(&b, ")");
	} else if (t->wait.frame == SIZE_MAX) {
		lock_add(&t->wait, &b);
	} else if (t->wait.parties) {
		buf_printf(&b, "Barrier.wait for %u", (unsigned)t->wait.parties);
	} else {
		call_add(&t->wait, &t->frame[t->wait.frame], &b);
	}
	if (at < t->frames.n && !pylocks_is_library(&t->frame[at]))
		pytext_place_add(&b, &k->v->rt, &t->frame[at], 0);
}

/* True of a lock that the program takes itself, and of none that is a part of a queue, a condition or a join. */
static bool is_lock(const struct pylock_wait *w)
{
	return w->frame == SIZE_MAX && !w->joins && (strcmp(w->type, "lock") == 0 || strcmp(w->type, "RLock") == 0);
}

/* ---- hints ---- */

/* The memory of the parent has the same lock as held: the child may have inherited the owner. */
static bool is_inherited(const struct pylook *k, const struct pylock_wait *w)
{
	struct proc_stat stat;
	struct remote parent;
	uint64_t own[5], theirs[5]; /* of the object: count, type, handle, last thread, count and maximum */
	if (proc_stat_read(k->w, k->v->pid, &stat) != 0 || stat.ppid <= 1)
		return true;
	remote_open(k->w, stat.ppid, &parent);
	int e = remote_read(&k->v->remote, w->object, own, sizeof(own));
	if (e == 0)
		e = remote_read(&parent, w->object, theirs, sizeof(theirs));
	remote_done(&parent);
	if (e == REMOTE_FAULT)
		return false; /* another program */
	return e != 0 || (own[1] == theirs[1] && own[2] == theirs[2] && (uint32_t)theirs[4] != 0);
}

/* The thread that holds the lock by `with`; where the lock names its owner, only the place is told of that one. */
static void owner_by_with(struct pylook *k, const struct still_thread *t, struct waithint *h)
{
	const struct holder *o = pywaits_holder_of(k, t->wait.word);
	if (!o || (t->wait.owner && k->thread[o->thread].py->tid != t->wait.owner))
		return;
	struct still_thread *owner = &k->thread[o->thread];
	const struct pyframe *f = &owner->frame[o->held.frame];
	struct buf b = BUF_ON(h->owner_text);
	if (!owner->checked) {
		owner->moved = has_moved(k, owner);
		owner->checked = true;
	}
	if (owner->moved)
		return;
	buf_printf(&b, "with %s", strcmp(o->held.type, "Condition") == 0 ? "Condition" : "lock");
	pytext_place_add(&b, &k->v->rt, f, o->line);
	if (t->wait.owner) {
		h->proof |= !o->held.may_release && !is_inherited(k, &t->wait);
		return;
	}
	h->kind = WAITHINT_OWNER;
	h->owner_tid = owner->py->tid;
	h->proof = !o->held.may_release;
}

/* A pool's worker that computes the future that is waited for. */
static void owner_by_future(struct pylook *k, const struct still_thread *t, struct waithint *h)
{
	for (size_t i = 0; i < k->n && t->wait.outer; i++) {
		struct still_thread *o = &k->thread[i];
		if (o->future != t->wait.outer || has_moved(k, o))
			continue;
		h->kind = WAITHINT_OWNER;
		h->owner_tid = o->py->tid;
		h->proof = true;
		TEXT_COPY(h->owner_text, "computes the result");
		return;
	}
}

static int hint_make(struct pylook *k, struct still_thread *t)
{
	bool unreachable = false;
	struct waithint *h = &k->hint[k->n_hints++];
	memset(h, 0, sizeof(*h)); /* two looks are compared byte by byte */
	h->kind = WAITHINT_TEXT;
	h->pid = h->owner_pid = k->v->pid;
	h->tid = t->py->tid;
	h->proof = true;
	h->lock = is_lock(&t->wait);
	h->parties = t->wait.parties;
	h->place = t->wait.place;
	text_make(k, t, h);
	if (t->wait.owner) {
		h->kind = WAITHINT_OWNER;
		h->owner_tid = t->wait.owner;
		h->proof = !t->wait.owner_likely || (!t->wait.anybody && !is_inherited(k, &t->wait));
	}
	if (!t->wait.joins)
		owner_by_with(k, t, h);
	if (h->kind == WAITHINT_TEXT)
		owner_by_future(k, t, h);
	int e = h->kind == WAITHINT_TEXT ? pylocks_unreachable(k->locks, &t->frames, &t->wait, &unreachable) : 0;
	if (unreachable)
		h->kind = WAITHINT_NOBODY;
	if (h->kind != WAITHINT_OWNER)
		h->owner_pid = 0;
	return e;
}

static int waits_find(struct pylook *k, bool *ret_holders)
{
	*ret_holders = false;
	for (size_t i = 0; i < k->n; i++) {
		struct still_thread *t = &k->thread[i];
		if (!t->waits)
			continue;
		struct pylocks_futex futex = {t->call.arg[0], t->call.arg[3] != 0};
		int e = pylocks_wait(k->locks, &t->frames, &futex, k->py, k->n_py, &t->wait);
		if (e && e != PYLOCKS_NONE && e != REMOTE_FAULT)
			return e;
		t->found = e == 0;
		*ret_holders |= t->found && !t->wait.joins;
	}
	return 0;
}

/* Reads the threads that stand still. */
static int threads_look(const struct world *w, struct procview *v, struct pylook *k)
{
	*k = (struct pylook){.w = w, .v = v};
	int e = pylocks_new(&v->rt, &v->remote, &k->locks);
	if (e || !k->locks)
		return e;
	e = procview_python_threads(v, &k->py, &k->n_py);
	if (e)
		return e == REMOTE_FAULT || e == PYRT_NOT_YET ? 0 : e;
	k->n_py = MIN(k->n_py, (size_t)THREADS_MAX);
	k->thread = calloc(k->n_py + 1, sizeof(*k->thread));
	k->hint = calloc(k->n_py + 1, sizeof(*k->hint));
	if (!k->thread || !k->hint)
		return -ENOMEM;
	for (size_t i = 0; i < k->n_py && e == 0; i++)
		e = is_alone(k, i) ? thread_read(k, &k->py[i]) : 0;
	return e;
}

static int look(const struct world *w, struct procview *v, struct pylook *k)
{
	bool holders = false;
	int e = threads_look(w, v, k);
	if (e == 0)
		e = waits_find(k, &holders);
	if (e == 0 && holders)
		e = holders_find(k);
	for (size_t i = 0; i < k->n && e == 0; i++) {
		struct still_thread *t = &k->thread[i];
		if (!t->found)
			continue;
		e = hint_make(k, t);
		if (t->moved || has_moved(k, t))
			k->n_hints--;
	}
	return e;
}

int pywaits_read(const struct world *w, struct procview *v, struct waithint **ret, size_t *ret_n)
{
	cleanup(look_done) struct pylook first = {}, second = {};
	*ret = NULL;
	*ret_n = 0;
	if (!v->has_python || !v->stacks)
		return 0;
	int e = look(w, v, &first);
	if (e || first.n_hints == 0)
		return e;
	e = look(w, v, &second);
	if (e || second.n_hints == 0)
		return e;
	size_t n = 0;
	for (size_t i = 0; i < second.n_hints; i++)
		for (size_t j = 0; j < first.n_hints; j++)
			if (memcmp(&first.hint[j], &second.hint[i], sizeof(*second.hint)) == 0) {
				second.hint[n++] = second.hint[i];
				break;
			}
	*ret = take(&second.hint);
	*ret_n = n;
	return 0;
}

static void held_tell(const struct pylook *k, const struct holder *h, struct pywaits_held *ret)
{
	const struct still_thread *t = &k->thread[h->thread];
	*ret = (struct pywaits_held){
		.tid = t->py->tid, .object = h->held.object, .word = h->word, .may_release = h->held.may_release};
	TEXT_COPY(ret->type, h->held.type);
	struct buf b = BUF_ON(ret->text);
	buf_add(&b, "with lock");
	pytext_place_add(&b, &k->v->rt, &t->frame[h->held.frame], h->line);
}

int pywaits_held_read(const struct world *w, struct procview *v, struct pywaits_held **ret, size_t *ret_n)
{
	cleanup(look_done) struct pylook k = {};
	*ret = NULL;
	*ret_n = 0;
	if (!v->has_python || !v->stacks)
		return 0;
	int e = threads_look(w, v, &k);
	if (e == 0 && k.n)
		e = holders_find(&k);
	if (e || k.n_holders == 0)
		return e;
	*ret = calloc(k.n_holders, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < k.n_holders; i++)
		if (!has_moved(&k, &k.thread[k.holder[i].thread]))
			held_tell(&k, &k.holder[i], &(*ret)[(*ret_n)++]);
	return 0;
}
