#include "agent/inspect/pyretry.h"

#include <errno.h>
#include <string.h>

#include "agent/inspect/pytext.h"
#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "base/units.h"
#include "base/vec.h"
#include "sense/proc/procfile.h"
#include "sense/python/pyobj.h"
#include "sense/python/pystr.h"

/*
 * Include/internal/pycore_pystate.h: what a thread handles is a pair of the exception and the next one out (3.11 and
 * later), or type, exception, traceback and the next one out. The outermost lies in the thread's state, which has its
 * address; where in it differs from version to version.
 */
#define STATE_WORDS 128
/* Include/cpython/pyerrors.h, PyException_HEAD; behind it, of an OSError: errno, strerror, filename. */
enum { ARGS_AT = 24, HEAD_BYTES = 72, HEAD_BYTES_10 = 64, NUMBER_AT = 0, FILENAME_AT = 16 };
/* The traceback in that head; the frame in a traceback; the frame's data in a frame (3.11 and later). */
enum { TRACEBACK_AT = 40, TRACEBACK_AT_10 = 32, FRAME_AT = 24, FRAME_DATA_AT = 24 };
#define IS_EXCEPTION (UINT64_C(1) << 30) /* of tp_flags: Py_TPFLAGS_BASE_EXC_SUBCLASS */
#define WORDS_MOST 120
/* It wakes up now and then. */
#define TRIES 4

struct retry {
	struct procview *v;
	struct pyobjs objs;
	uint64_t exception;
	char type[64];
	uint64_t number; /* errno of an OSError; 0: none */
	char words[WORDS_MOST]; /* its file, or what it says; "": unknown */
	bool file;
};

static bool is_exception(struct retry *x, uint64_t object)
{
	const struct pyobj_type *t;
	if (object < 4096 || pyobj_type(&x->objs, object, &t) != 0 || !(t->flags & IS_EXCEPTION))
		return false;
	TEXT_COPY(x->type, t->name);
	return true;
}

/*
 * The same of a generator that runs (a with-block's, for one): its own pair, in the generator, whose next one out lies
 * in the thread's state.
 */
static bool generator_exception_find(struct retry *x, uint64_t tstate, uint64_t pair_at)
{
	uint64_t pair[4];
	const bool late = x->v->rt.minor >= 11;
	const size_t value = late ? 0 : 1, next = late ? 1 : 3;
	if (pair_at % 8 || pair_at < 4096 || pyobj_get(&x->objs, pair_at, pair, (next + 1) * sizeof(*pair)) != 0)
		return false;
	if (pair[next] <= tstate || pair[next] >= tstate + STATE_WORDS * 8 || !is_exception(x, pair[value]))
		return false;
	x->exception = pair[value];
	return true;
}

/* The exception that a thread handles; 0: none. */
static void exception_find(struct retry *x, uint64_t tstate)
{
	uint64_t word[STATE_WORDS];
	size_t at = x->v->rt.minor >= 11 ? 0 : 1;
	if (pyobj_get(&x->objs, tstate, word, sizeof(word)) != 0)
		return;
	for (size_t i = 0; i < STATE_WORDS; i++) {
		uint64_t to = word[i] - tstate;
		bool inside = word[i] > tstate && to % 8 == 0 && to / 8 + at < STATE_WORDS;
		if (inside && is_exception(x, word[to / 8 + at])) {
			x->exception = word[to / 8 + at];
			return;
		}
	}
	for (size_t i = 0; i < STATE_WORDS; i++)
		if ((word[i] < tstate || word[i] >= tstate + sizeof(word)) &&
		    generator_exception_find(x, tstate, word[i]))
			return;
}

/* True if this frame handles it: a traceback begins with the frame that does. */
static bool is_handled_in(struct retry *x, const struct pyframe *f)
{
	bool late = x->v->rt.minor >= 11;
	uint64_t at = 0;
	if (pyobj_u64(&x->objs, x->exception + (late ? TRACEBACK_AT : TRACEBACK_AT_10), &at) != 0 || at == 0 ||
	    pyobj_u64(&x->objs, at + FRAME_AT, &at) != 0 || (late && pyobj_u64(&x->objs, at + FRAME_DATA_AT, &at) != 0))
		return false;
	return at == f->addr;
}

static void words_take(struct retry *x, uint64_t str)
{
	cleanup(freep) char *text = NULL;
	const struct pyobj_type *t;
	if (pyobj_type(&x->objs, str, &t) == 0 && strcmp(t->name, "str") == 0 &&
	    pystr_read(&x->v->rt, &x->v->remote, str, sizeof(x->words) - 1, &text) == 0)
		TEXT_COPY(x->words, text);
}

/* Its file, if it is an error of the system's; else the text that it was made with. */
static void words_find(struct retry *x)
{
	uint64_t head = x->v->rt.minor >= 11 ? HEAD_BYTES : HEAD_BYTES_10;
	uint64_t number = 0, name = 0, args = 0, n = 0;
	if (strstr(x->type, "Error") && pyobj_u64(&x->objs, x->exception + head + NUMBER_AT, &number) == 0 &&
	    number > 4096 && pyobj_index(&x->objs, number, &x->number) == 0 &&
	    pyobj_u64(&x->objs, x->exception + head + FILENAME_AT, &name) == 0 && name > 4096)
		words_take(x, name);
	x->file = x->words[0] != '\0';
	if (x->file || pyobj_u64(&x->objs, x->exception + ARGS_AT, &args) != 0 ||
	    !pyobj_is(&x->objs, args, PYOBJ_TUPLE) || pyobj_u64(&x->objs, args + x->v->rt.off.tuple.size, &n) != 0 ||
	    n == 0 || pyobj_u64(&x->objs, args + x->v->rt.off.tuple.item + 8 * (n - 1), &name) != 0)
		return;
	words_take(x, name);
}

static void retry_say(struct retry *x, const struct pystack *s, struct waithint *h)
{
	struct buf b = BUF_ON(h->text);
	buf_add(&b, "tries again after ");
	pytext_add(&b, x->type);
	if (x->words[0]) {
		buf_add(&b, x->file ? " of " : ": ");
		pytext_add(&b, x->words);
	}
	pytext_place_add(&b, &x->v->rt, &s->frames[0], 0);
	h->exists = x->file && x->number == EEXIST;
}

/* One try; *ret_moved: it ran meanwhile. */
static int retry_try(const struct world *w, struct retry *x, const struct pythread *main, struct waithint *ret,
		     bool *ret_found, bool *ret_moved)
{
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	*ret_moved = true;
	if (!standstill_token(w, x->v->via, x->v->pid, token, &call))
		return 0;
	int e = pystacks_read(x->v->stacks, main, false, &stack);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	exception_find(x, main->tstate);
	/* One that is handled further out says nothing of why it sleeps here. */
	bool found = x->exception && stack.n > 0 && is_handled_in(x, &stack.frames[0]);
	*ret = (struct waithint){.kind = WAITHINT_RETRY, .pid = x->v->pid, .tid = x->v->pid, .caught = true};
	if (found) {
		words_find(x);
		retry_say(x, &stack, ret);
	}
	*ret_moved = standstill_moved(w, x->v->via, x->v->pid, token);
	*ret_found = found && !*ret_moved;
	if (*ret_found && ret->exists)
		ret->old_ns = procfile_changed_ns(w, x->v->pid, x->words);
	return 0;
}

int pyretry_read(const struct world *w, struct procview *v, struct waithint *ret, bool *ret_found)
{
	const struct pythread *py = NULL, *main;
	bool moved = true;
	size_t n = 0;
	int e = 0;
	*ret_found = false;
	if (!v->has_python || !v->stacks || procview_python_threads(v, &py, &n) != 0)
		return 0;
	main = procview_python_thread(py, n, v->pid);
	for (int i = 0; main && e == 0 && moved && i < TRIES; i++) {
		struct retry x = {.v = v};
		if (!pyobjs_init(&v->rt, &v->remote, &x.objs))
			return 0;
		e = retry_try(w, &x, main, ret, ret_found, &moved);
	}
	return e;
}
