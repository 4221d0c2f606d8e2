#include "agent/wait/waitpeer.h"

#include <string.h>

#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "base/text.h"
#include "sense/python/pylocals.h"
#include "sense/python/pylocks.h"
#include "sense/rank.h"

/* Innermost frames in which the call is looked for: it is wrapped once, and hands over to C++. */
#define FRAMES_MOST 8
#define RANKS_MOST 1000000

/* A call of PyTorch's, and the argument that names the other rank: a number of the whole job, in any group. */
struct peer_call {
	const char *function, *argument;
};

static const struct peer_call *peer_call_of(const struct pyframe *f)
{
	static const struct peer_call calls[] = {{"recv", "src"}, {"send", "dst"}};
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (pylocks_is_function(f, calls[i].function, "distributed_c10d.py") &&
		    strstr(f->known->file, "/torch/distributed/"))
			return &calls[i];
	return NULL;
}

/* The number that a local variable has; NO_RANK: it has none. */
static int32_t argument_of(const struct pylocals *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		uint64_t n;
		if (strcmp(l->items[i].name, name) != 0)
			continue;
		bool number = span_u64(span_of(l->items[i].value), &n) == 0 && n < RANKS_MOST;
		return number ? (int32_t)n : NO_RANK;
	}
	return NO_RANK;
}

static int waitpeer_find(struct procview *v, const struct pystack *stack, struct waithint *ret)
{
	for (size_t i = 0; i < MIN(stack->n, (size_t)FRAMES_MOST); i++) {
		const struct pyframe *f = &stack->frames[i];
		const struct peer_call *c = peer_call_of(f);
		struct pylocals l = {.n = 0};
		if (!c)
			continue;
		int e = pylocals_read(&v->rt, &v->remote, f->addr, f->code, &l);
		ret->rank = e ? NO_RANK : argument_of(&l, c->argument);
		TEXT_COPY(ret->text, c->function);
		pylocals_done(&l);
		return e;
	}
	return 0;
}

int waitpeer_read(const struct world *w, struct procview *v, struct waithint *ret, bool *ret_found)
{
	const struct pythread *py = NULL, *main;
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	size_t n = 0;
	*ret_found = false;
	if (!v->has_python || !v->stacks || procview_python_threads(v, &py, &n) != 0)
		return 0;
	main = procview_python_thread(py, n, v->pid);
	if (!main || !standstill_token(w, v->via, v->pid, token, &call))
		return 0;
	*ret = (struct waithint){.kind = WAITHINT_RANK, .pid = v->pid, .tid = v->pid, .rank = NO_RANK};
	int e = pystacks_read(v->stacks, main, false, &stack);
	if (e == 0)
		e = waitpeer_find(v, &stack, ret);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	*ret_found = ret->rank != NO_RANK && !standstill_moved(w, v->via, v->pid, token);
	return 0;
}
