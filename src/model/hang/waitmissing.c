#include "model/hang/waitmissing.h"

#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "sense/rank.h"

enum place {
	PLACE_UNKNOWN,
	PLACE_CALL, /* in a collective */
	PLACE_BACKWARD, /* perhaps in the one that reduces gradients */
	PLACE_STORE, /* it starts, or waits for a store that does not answer yet */
	PLACE_PEER, /* it exchanges a message with one rank, which is known */
	PLACE_KEY, /* it waits for a key that the last of all ranks sets */
	PLACE_ELSEWHERE,
};

struct standing {
	const struct waitgraph_who *who;
	const struct waithint *key; /* that it waits for; NULL: none */
	const struct waitcall *call; /* of PLACE_CALL and PLACE_STORE */
	enum place place;
	bool peer; /* whom it waits for is known */
	bool counted; /* its collective library says for whom it waits */
};

struct gathering {
	struct standing rank[WAITGRAPH_RANKS];
	size_t n;
	bool elsewhere; /* at least one of them is */
	bool whole; /* all ranks from 0 on are there, and of each it is known where it stands */
};

/* A wait that no call makes in which ranks meet; they wait for connections, or for threads of their own. */
static bool is_other_wait(enum waitfact_kind k)
{
	switch (k) {
	case WAITFACT_CLOCK:
	case WAITFACT_CHILD:
	case WAITFACT_PIPE:
	case WAITFACT_FIFO:
	case WAITFACT_FILE_LOCK:
	case WAITFACT_SEMAPHORE:
	case WAITFACT_MESSAGE:
	case WAITFACT_TERMINAL:
	case WAITFACT_SIGNAL:
	case WAITFACT_STORAGE:
	case WAITFACT_STOPPED:
	case WAITFACT_FROZEN:
	case WAITFACT_TRACED:
		return true;
	default:
		return false;
	}
}

/* A hint that says of a thread that it waits for something of Python's. */
static bool is_of_python(const struct waithint *h)
{
	return h->kind == WAITHINT_OWNER || h->kind == WAITHINT_NOBODY || h->kind == WAITHINT_IDLE ||
	       h->kind == WAITHINT_WITHIN || h->kind == WAITHINT_CALL || h->kind == WAITHINT_RETRY ||
	       h->kind == WAITHINT_RESULT;
}

static const struct waitcall *call_of(const struct waitmissing_in *in, pid_t pid)
{
	for (size_t i = 0; i < in->n_calls; i++)
		if (in->call[i].pid == pid)
			return &in->call[i];
	return NULL;
}

/* True if Python says of its main thread that it waits for something else. Finds the key that it waits for. */
static bool hints_take(const struct waithint *hint, size_t n_hints, pid_t pid, struct standing *s)
{
	bool python = false;
	for (size_t i = 0; i < n_hints; i++) {
		if (hint[i].pid != pid || hint[i].tid != pid)
			continue;
		if (hint[i].kind == WAITHINT_KEY)
			s->key = &hint[i];
		s->peer |= hint[i].kind == WAITHINT_RANK;
		python |= is_of_python(&hint[i]);
	}
	return python;
}

/* True if its library says that it is in a call, and its stack does not say that it is about something else. */
static bool is_counted(const struct waitmissing_in *in, const struct standing *s)
{
	const bool unknown = s->call ? s->call->state == WAITCALL_UNKNOWN : in->counters_alone;
	const bool may_be = s->place == PLACE_CALL || s->place == PLACE_BACKWARD ||
			    (s->place == PLACE_UNKNOWN && !s->key && unknown);
	for (size_t i = 0; may_be && i < in->n_arrows; i++)
		if (in->arrow[i].from == s->who->rank)
			return true;
	return false;
}

static void waitmissing_stands(const struct waitmissing_in *in, const struct waithint *hint, size_t n_hints,
			       struct standing *s)
{
	pid_t pid = s->who->pid;
	const struct waitfact_thread *t = waitfacts_thread(in->facts, pid, pid);
	const struct waitcall *c = call_of(in, pid);
	const bool python = hints_take(hint, n_hints, pid, s);
	s->call = c;
	c = c && c->state == WAITCALL_PLACED ? NULL : c;
	if (s->key && s->key->by_rank)
		s->place = PLACE_STORE; /* whose key it is says more than who else has not come */
	else if (s->key && s->key->by_last)
		s->place = PLACE_KEY;
	else if (s->peer)
		s->place = PLACE_PEER;
	else if (c && c->state == WAITCALL_IN)
		s->place = PLACE_CALL;
	else if (c && c->state == WAITCALL_BACKWARD)
		s->place = PLACE_BACKWARD;
	else if (c && c->state == WAITCALL_STORE)
		s->place = PLACE_STORE;
	else if (s->key)
		s->place = PLACE_UNKNOWN;
	else if (python || (c && c->state == WAITCALL_OUT) ||
		 (!c && t && !t->runs && t->n == 1 && is_other_wait(in->facts->fact[t->first].kind)))
		s->place = PLACE_ELSEWHERE;
	s->counted = is_counted(in, s);
}

static bool has_rank(const struct gathering *g, int32_t rank)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->rank[i].who->rank == rank)
			return true;
	return false;
}

/* False: there are more ranks than are told apart, or a number twice. */
static bool gather(const struct waitmissing_in *in, const struct waithint *hint, size_t n_hints, struct gathering *g)
{
	g->whole = true;
	for (size_t i = 0; i < in->n_who; i++) {
		const struct waitgraph_who *who = &in->who[i];
		const struct waitfact_thread *t = waitfacts_thread(in->facts, who->pid, who->pid);
		if (!who->main || who->rank == NO_RANK)
			continue;
		if (g->n == WAITGRAPH_RANKS || has_rank(g, who->rank))
			return false;
		struct standing *s = &g->rank[g->n++];
		*s = (struct standing){.who = who};
		if (t && !t->ended)
			waitmissing_stands(in, hint, n_hints, s);
		g->whole &= s->place != PLACE_UNKNOWN && s->place != PLACE_BACKWARD;
		g->elsewhere |= s->place == PLACE_ELSEWHERE;
	}
	for (size_t i = 0; i < g->n; i++)
		g->whole &= has_rank(g, (int32_t)i);
	return true;
}

/* True if the second rank has not come to where the first one waits. */
static bool has_not_come(const struct gathering *g, const struct standing *s, const struct standing *other)
{
	if (other->place == PLACE_ELSEWHERE)
		return true;
	/* Who has gone on from the start to a collective may be ahead of one that still waits for the one elsewhere. */
	if (g->elsewhere && s->place != PLACE_KEY)
		return false;
	switch (s->place) {
	case PLACE_BACKWARD: /* where nobody is elsewhere, nothing is known of it */
		return false;
	case PLACE_KEY: /* no rank goes on before all have come to this very key */
		return other->place == PLACE_CALL || other->place == PLACE_STORE || other->place == PLACE_PEER ||
		       (other->place == PLACE_KEY && strcmp(other->key->text, s->key->text) != 0);
	case PLACE_STORE: /* all ranks start together, and make new groups together */
		return other->place == PLACE_CALL || other->place == PLACE_PEER;
	case PLACE_CALL:
		if (other->place == PLACE_STORE)
			return true;
		return other->place == PLACE_KEY || other->place == PLACE_PEER;
	default:
		return false;
	}
}

static int waitmissing_hint_add(const struct waithint *h, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
		return -ENOMEM;
	(*hint)[(*n_hints)++] = *h;
	return 0;
}

/* Words alone: where a rank stands, and in which call. */
static int words_add(const struct standing *s, bool meets, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	struct waithint h = {.kind = WAITHINT_PLACE, .pid = s->who->pid, .tid = s->who->pid, .rank = NO_RANK};
	TEXT_COPY(h.text, s->call->place);
	if (h.text[0] && waitmissing_hint_add(&h, hint, n_hints, cap_hints) < 0)
		return -ENOMEM;
	h.kind = WAITHINT_MEETS;
	TEXT_COPY(h.text, s->call->op);
	return meets && h.text[0] ? waitmissing_hint_add(&h, hint, n_hints, cap_hints) : 0;
}

static int missing_hint_add(const struct standing *s, int32_t rank, bool one_of, struct waithint **hint,
			    size_t *n_hints, size_t *cap_hints)
{
	struct waithint h = {.pid = s->who->pid, .tid = s->who->pid, .rank = rank, .one_of = one_of};
	h.kind = s->place == PLACE_KEY ? WAITHINT_KEY : WAITHINT_RANK;
	h.by_rank = s->place == PLACE_KEY;
	TEXT_COPY(h.text, s->place == PLACE_KEY ? s->key->text : s->call->op);
	return waitmissing_hint_add(&h, hint, n_hints, cap_hints);
}

static int counted_add(const struct waitmissing_in *in, const struct standing *s, struct waithint **hint,
		       size_t *n_hints, size_t *cap_hints)
{
	struct waithint h = {.kind = WAITHINT_RANK, .pid = s->who->pid, .tid = s->who->pid, .counted = true};
	for (size_t i = 0; i < in->n_arrows; i++) {
		if (in->arrow[i].from != s->who->rank)
			continue;
		h.rank = in->arrow[i].to;
		TEXT_COPY(h.text, in->arrow[i].call);
		if (waitmissing_hint_add(&h, hint, n_hints, cap_hints) < 0)
			return -ENOMEM;
	}
	return 0;
}

static size_t missing_of(const struct gathering *g, const struct standing *s)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++)
		n += &g->rank[i] != s && has_not_come(g, s, &g->rank[i]);
	return n;
}

int waitmissing_add(const struct waitmissing_in *in, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	static struct gathering g; /* large */
	cleanup(freep) struct waithint *given = calloc(*n_hints + 1, sizeof(*given));
	const size_t n_given = *n_hints;
	if (!given)
		return -ENOMEM;
	if (n_given)
		memcpy(given, *hint, n_given * sizeof(*given)); /* the array moves while it grows */
	g = (struct gathering){.n = 0};
	if (!gather(in, given, n_given, &g))
		return 0;
	for (size_t i = 0; i < g.n; i++) {
		const struct standing *s = &g.rank[i];
		const bool known = s->key && s->key->by_rank;
		const bool waits = !s->counted && (s->place == PLACE_CALL || s->place == PLACE_BACKWARD ||
						   (s->place == PLACE_STORE && !known) || s->place == PLACE_KEY);
		const size_t n = waits ? missing_of(&g, s) : 0;
		for (size_t k = 0; n > 0 && k < g.n; k++)
			if (k != i && has_not_come(&g, s, &g.rank[k]) &&
			    missing_hint_add(s, g.rank[k].who->rank, n > 1 || !g.whole, hint, n_hints, cap_hints) < 0)
				return -ENOMEM;
		if (s->counted && counted_add(in, s, hint, n_hints, cap_hints) < 0)
			return -ENOMEM;
		const bool meets = s->place == PLACE_CALL && n == 0 && !s->counted;
		if (s->call && words_add(s, meets, hint, n_hints, cap_hints) < 0)
			return -ENOMEM;
	}
	return 0;
}
