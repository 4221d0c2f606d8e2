#include "agent/wait/waitargs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inspect/procview.h"
#include "agent/inspect/standstill.h"
#include "base/mask/mask.h"
#include "base/vec.h"
#include "model/stacks/frame.h"
#include "sense/python/pylocals.h"
#include "sense/rank.h"

#define FRAMES_MOST 12 /* innermost calls that are compared */
#define RANKS_LEAST 3 /* of two nobody is the odd one, but one may be behind */

/* ---- which one differs ---- */

/* True if the texts are the same but for their numbers. */
static bool alike_but_numbers(const char *a, const char *b)
{
	for (;;) {
		bool number = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
		while (number && isdigit((unsigned char)*a))
			a++;
		while (number && isdigit((unsigned char)*b))
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a += !number;
		b += !number;
	}
}

/* The only rank whose argument i is another text than that of all others; n: there is none. */
static size_t odd_at(const struct waitargs_rank *rank, size_t n, size_t i)
{
	const char *first = rank[0].arg[i].value;
	size_t others = 0, last = 0;
	for (size_t r = 1; r < n; r++)
		if (strcmp(rank[r].arg[i].value, first) != 0) {
			others++;
			last = r;
		}
	const size_t odd = others == 1 ? last : 0;
	if (others == 0 || (others != 1 && others != n - 1))
		return n;
	for (size_t r = 0; r < n; r++) {
		const char *most = rank[odd == 0 ? 1 : 0].arg[i].value, *value = rank[r].arg[i].value;
		if (!value[0] || (r != odd && strcmp(value, most) != 0))
			return n;
	}
	return odd;
}

/* True if all ranks stand at the same calls. */
static bool at_one_place(const struct waitargs_rank *rank, size_t n)
{
	for (size_t r = 1; r < n; r++) {
		if (rank[r].n != rank[0].n)
			return false;
		for (size_t i = 0; i < rank[0].n; i++)
			if (strcmp(rank[r].arg[i].place, rank[0].arg[i].place) != 0 ||
			    strcmp(rank[r].arg[i].name, rank[0].arg[i].name) != 0)
				return false;
	}
	return true;
}

bool waitargs_odd(const struct waitargs_rank *rank, size_t n, size_t *ret_rank, size_t *ret_arg, bool *ret_by_number)
{
	size_t found = n;
	if (n < RANKS_LEAST || !at_one_place(rank, n))
		return false;
	for (size_t i = 0; i < rank[0].n; i++) {
		size_t odd = odd_at(rank, n, i);
		if (odd == n)
			continue;
		if (found != n && odd != found)
			return false;
		const char *other = rank[odd == 0 ? 1 : 0].arg[i].value;
		const bool by_number = alike_but_numbers(rank[odd].arg[i].value, other);
		/* The outermost call says most: further in, the key of a part of what was asked for. */
		const bool further_out = found != n && strcmp(rank[0].arg[i].place, rank[0].arg[*ret_arg].place) != 0;
		if (found == n || (by_number && !*ret_by_number) || (by_number == *ret_by_number && further_out)) {
			*ret_arg = i;
			*ret_by_number = by_number;
		}
		found = odd;
	}
	*ret_rank = found;
	return found != n;
}

/* The first number in which two texts differ that are alike but for their numbers. False: it is too long. */
static bool numbers_differ(const char *a, const char *b, int64_t *ret_a, int64_t *ret_b)
{
	const size_t digits_most = 15;
	while (*a && *b) {
		const size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
		if (n > digits_most || m > digits_most)
			return false;
		if (n > 0 && strtoll(a, NULL, 10) != strtoll(b, NULL, 10)) {
			*ret_a = strtoll(a, NULL, 10);
			*ret_b = strtoll(b, NULL, 10);
			return true;
		}
		a += n ? n : 1;
		b += m ? m : 1;
	}
	return false;
}

bool waitargs_behind(const struct waitargs_rank rank[2], size_t *ret_rank, size_t *ret_arg)
{
	size_t found = 2;
	if (!at_one_place(rank, 2))
		return false;
	for (size_t i = 0; i < rank[0].n; i++) {
		const char *a = rank[0].arg[i].value, *b = rank[1].arg[i].value;
		int64_t x = 0, y = 0;
		if (!a[0] || !b[0] || rank[0].arg[i].root || strcmp(a, b) == 0)
			continue;
		if (!alike_but_numbers(a, b) || !numbers_differ(a, b, &x, &y) ||
		    y - x == (int64_t)rank[1].rank - rank[0].rank || (found != 2 && found != (size_t)(y < x)))
			return false;
		found = y < x;
		*ret_arg = i; /* the outermost one says most */
	}
	if (found != 2)
		*ret_rank = found;
	return found != 2;
}

/* True if both are the same argument of the same function, at whatever line. */
static bool is_same_argument(const struct waitarg *a, const struct waitarg *b)
{
	const char *end = strrchr(a->place, ':');
	const size_t n = end ? (size_t)(end - a->place) + 1 : sizeof(a->place);
	return strcmp(a->name, b->name) == 0 && strncmp(a->place, b->place, n) == 0;
}

static const struct waitarg *root_of(const struct waitargs_rank *r, const struct waitarg *like)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->arg[i].root && is_same_argument(like, &r->arg[i]))
			return &r->arg[i];
	return NULL;
}

/* True if no two ranks have the same one, where each has one. */
static bool all_differ(const struct waitargs_rank *rank, size_t n, const struct waitarg *like)
{
	for (size_t a = 1; a < n; a++)
		for (size_t b = 0; b < a; b++)
			if (strcmp(root_of(&rank[a], like)->value, root_of(&rank[b], like)->value) == 0)
				return false;
	return true;
}

bool waitargs_roots(const struct waitargs_rank *rank, size_t n, const struct waitarg **ret_one,
		    const struct waitarg **ret_other, size_t *ret_rank, bool *ret_alone)
{
	for (size_t i = 0; n >= 2 && i < rank[0].n; i++) {
		const struct waitarg *first = &rank[0].arg[i], *other = NULL;
		size_t differ = 0, last = 0, known = 1;
		for (size_t r = 1; first->root && r < n; r++) {
			const struct waitarg *x = root_of(&rank[r], first);
			known += x != NULL;
			if (!x || strcmp(x->value, first->value) == 0)
				continue;
			/* of several that differ from the first these have to agree with each other */
			differ += !other || strcmp(other->value, x->value) == 0 ? 1 : n;
			other = x;
			last = r;
		}
		if (!other || known < n)
			continue;
		const bool is_first = n > 2 && differ == n - 1, alone = n > 2 && (differ == 1 || is_first);
		if (!alone && !all_differ(rank, n, first))
			continue; /* each part may be a group of its own */
		*ret_alone = alone;
		*ret_rank = is_first ? 0 : last;
		*ret_one = is_first ? first : other;
		*ret_other = is_first ? other : first;
		return true;
	}
	return false;
}

/* ---- reading them ---- */

struct reading {
	const struct world *w;
	struct waitargs_rank *rank;
	size_t n;
};

static void waitargs_reading_done(struct reading *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->rank[i].arg);
	free(x->rank);
}

/* True of a call of a library in which all ranks of a group meet, and name whose data it is about. */
static bool has_root(const struct pycode *c)
{
	static const char *const calls[] = {"broadcast", "bcast", "reduce", "scatter", "gather"};
	const char *dot = strrchr(c->name, '.'), *name = dot ? dot + 1 : c->name;
	if (!c->file || !strstr(c->file, "-packages/"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strstr(name, calls[i]))
			return true;
	return false;
}

static bool names_root(const char *name)
{
	static const char *const names[] = {"src",	"dst",	    "root",	 "group_src",	"group_dst",
					    "src_rank", "dst_rank", "root_rank", "from_process"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void arg_add(struct waitargs_rank *to, const char *place, const struct pycode *code, const struct pylocal *from)
{
	struct waitarg *a = &to->arg[to->n];
	const bool number = from->value[0] && strspn(from->value, "0123456789") == strlen(from->value);
	const bool secret = mask_is_secret(span_of(from->name));
	const bool text = !secret && (from->value[0] == '\'' || from->value[0] == '"');
	TEXT_COPY(a->place, place);
	TEXT_COPY(a->name, from->name);
	a->value[0] = '\0';
	a->root = number && names_root(from->name) && has_root(code);
	if ((text || a->root) && strlen(from->value) < sizeof(a->value))
		TEXT_COPY(a->value, from->value);
	to->n++;
}

/* The arguments of one call; those of a comprehension have no names of the program's. */
static int frame_args(struct procview *v, const struct pyframe *f, struct waitargs_rank *to)
{
	struct pylocals locals;
	char place[96];
	if (!f->known)
		return 0;
	int e = pylocals_read(&v->rt, &v->remote, f->addr, f->code, &locals);
	if (e)
		return e == -ENOMEM ? e : 0;
	TEXT_FORMAT(place, "%s at %s:%d", f->known->name, frame_file_short(f->known->file ? f->known->file : "?"),
		    (int)pycode_line(&v->rt, f->known, f->instr));
	for (size_t i = 0; i < locals.n && to->n < WAITARGS_MOST; i++)
		if (locals.items[i].is_arg && locals.items[i].name[0] != '.')
			arg_add(to, place, f->known, &locals.items[i]);
	pylocals_done(&locals);
	return 0;
}

/* n stays 0 if nothing can be said of it, as where it has moved meanwhile. */
static int rank_args(const struct world *w, struct waitargs_rank *to)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	const struct pythread *py = NULL;
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	size_t n = 0;
	int e = 0;
	if (procview_open(w, to->pid, &want, &v, &fault) != 0 || !v->has_python || !v->stacks ||
	    procview_python_threads(v, &py, &n) != 0)
		return 0;
	py = procview_python_thread(py, n, to->pid);
	if (!py || !standstill_token(w, v->via, to->pid, token, &call) ||
	    pystacks_read(v->stacks, py, false, &stack) != 0)
		return 0;
	for (size_t i = 0; i < MIN(stack.n, (size_t)FRAMES_MOST) && e == 0; i++)
		e = frame_args(v, &stack.frames[i], to);
	if (standstill_moved(w, v->via, to->pid, token))
		to->n = 0;
	return e;
}

static bool waits(const struct waitfacts *f, pid_t pid)
{
	const struct waitfact_thread *t = waitfacts_thread(f, pid, pid);
	return t && !t->runs && t->n > 0;
}

struct finding {
	const struct waitargs_rank *rank;
	const struct waitarg *one, *other; /* its argument, and that of others */
	bool by_number;
};

static int hint_put(const struct finding *x, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	char one[WAITARGS_VALUE], others[WAITARGS_VALUE];
	struct waithint h = {.kind = WAITHINT_ODD,
			     .pid = x->rank->pid,
			     .tid = x->rank->pid,
			     .rank = x->rank->rank,
			     .by_number = x->by_number,
			     .root = x->one->root};
	TEXT_COPY(one, x->one->value);
	TEXT_COPY(others, x->other->value);
	mask_value(x->one->name, one);
	mask_value(x->one->name, others);
	TEXT_FORMAT(h.text, "%s is %s in %s", x->one->name, one, x->one->place);
	TEXT_COPY(h.owner_text, others);
	if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
		return -ENOMEM;
	(*hint)[(*n_hints)++] = h;
	return 0;
}

static bool finding_make(const struct waitargs_rank *rank, size_t n, struct finding *ret)
{
	size_t odd = 0, arg = 0;
	bool by_number = false;
	if (waitargs_roots(rank, n, &ret->one, &ret->other, &odd, &ret->by_number)) {
		ret->rank = &rank[odd];
		return true;
	}
	if (n == 2 ? !(by_number = waitargs_behind(rank, &odd, &arg))
		   : !waitargs_odd(rank, n, &odd, &arg, &by_number))
		return false;
	*ret = (struct finding){&rank[odd], &rank[odd].arg[arg], &rank[odd == 0 ? 1 : 0].arg[arg], by_number};
	return true;
}

/* True: all ranks were read. */
static int ranks_read(struct reading *x, const struct waitfacts *facts, const struct waitgraph_who *who, size_t n_who,
		      uint64_t until_ns, bool *ret_all)
{
	*ret_all = false;
	for (size_t i = 0; i < n_who; i++) {
		if (!who[i].main || who[i].rank == NO_RANK)
			continue;
		if (!waits(facts, who[i].pid) || x->w->mono_ns() > until_ns)
			return 0;
		struct waitargs_rank *r = &x->rank[x->n];
		*r = (struct waitargs_rank){.pid = who[i].pid, .rank = who[i].rank};
		r->arg = calloc(WAITARGS_MOST, sizeof(*r->arg));
		if (!r->arg)
			return -ENOMEM;
		x->n++;
		int e = rank_args(x->w, r);
		if (e)
			return e;
		if (r->n == 0)
			return 0;
	}
	*ret_all = true;
	return 0;
}

int waitargs_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who, size_t n_who,
		  uint64_t until_ns, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	cleanup(waitargs_reading_done) struct reading x = {.w = w};
	struct finding found;
	size_t ranks = 0;
	bool all = false;
	for (size_t i = 0; i < n_who; i++)
		ranks += who[i].main && who[i].rank != NO_RANK;
	if (ranks < 2)
		return 0;
	x.rank = calloc(ranks, sizeof(*x.rank));
	if (!x.rank)
		return -ENOMEM;
	int e = ranks_read(&x, facts, who, n_who, until_ns, &all);
	if (e || !all)
		return e;
	return finding_make(x.rank, x.n, &found) ? hint_put(&found, hint, n_hints, cap_hints) : 0;
}
