/* The graph in words. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask/mask.h"
#include "base/text.h"
#include "model/hang/waitgraph_parts.h"
#include "model/jobs/role.h"

/* Steps of a way that are shown; those in the middle of a longer one are counted. */
#define STEPS_SHOWN 5
#define STEPS_MOST 64

const char *waitgraph_quality_name(enum waitgraph_quality q)
{
	return q == WAITGRAPH_PROOF ? "proof" : q == WAITGRAPH_LIKELY ? "likely" : "possible";
}

const char *waitgraph_end_text(enum waitgraph_end e)
{
	static const char *const texts[] = {
		[WAITEND_NONE] = "waits for another",
		[WAITEND_RUNS] = "runs",
		[WAITEND_CLOCK] = "sleeps",
		[WAITEND_NOBODY] = "nobody is left who could end this wait",
		[WAITEND_GONE] = "who should end this wait has ended",
		[WAITEND_CIRCLE] = "they wait for each other",
		[WAITEND_STOPPED] = "is stopped (SIGSTOP)",
		[WAITEND_TRACED] = "is held by a debugger",
		[WAITEND_FROZEN] = "is frozen by its control group",
		[WAITEND_OUTSIDE] = "is not of the job",
		[WAITEND_VISITOR] = "waits for somebody to come",
		[WAITEND_STORAGE] = "waits for storage",
		[WAITEND_DEVICE] = "waits for a device",
		[WAITEND_PERSON] = "waits for input",
		[WAITEND_OWN] = "waits for another thread of its own process",
		[WAITEND_ANY] = "any of several processes could end this wait",
		[WAITEND_UNKNOWN] = "waits, for what is unknown",
	};
	return (size_t)e < ARRAY_SIZE(texts) ? texts[e] : "unknown";
}

/* Ends whose text says what it waits for as well. */
static bool says_all(enum waitgraph_end e)
{
	return e == WAITEND_STOPPED || e == WAITEND_TRACED || e == WAITEND_FROZEN || e == WAITEND_CLOCK;
}

bool waitgraph_writes_terminal(const struct waitgraph_node *n)
{
	return n->end == WAITEND_PERSON && n->fact && n->fact->kind == WAITFACT_TERMINAL && n->fact->to_write;
}

/* What a thread does with the thing that it waits for. */
static const char *verb(const struct waitfact *f)
{
	switch (f->kind) {
	case WAITFACT_TCP:
	case WAITFACT_UNIX:
	case WAITFACT_DATAGRAM:
		return f->unheard ? "end of " : f->to_write ? "send, " : "recv, ";
	case WAITFACT_PIPE:
		return f->hangup ? "end of " : f->to_write ? "write, full " : "read, empty ";
	case WAITFACT_LISTEN:
		return "accept, ";
	case WAITFACT_TERMINAL:
		return f->to_write ? "write, terminal " : "";
	case WAITFACT_CONNECT:
		if (f->received_bytes + f->sent_bytes > 0) /* it was made, and has lost what was sent */
			return f->to_write ? "send, " : "recv, ";
		return "connect, ";
	case WAITFACT_FIFO:
		return "open of a FIFO, ";
	case WAITFACT_CHILD:
		return "wait for ";
	case WAITFACT_THREAD:
		return "join of ";
	default:
		return "";
	}
}

static void fact_add(const struct waitgraph_node *n, struct buf *b)
{
	const char *text = n->fact->text[0] ? n->fact->text : waitfact_kind_name(n->fact->kind);
	if (n->thread->n > 1)
		buf_printf(b, "any of %u: ", (unsigned)n->thread->n);
	buf_printf(b, "%s%s", verb(n->fact), text);
}

/* True of a lock of a file whose only holder is the process that wants it: whoever else had it would have an arrow. */
static bool has_it_itself(const struct waitgraph_node *n)
{
	return n->end == WAITEND_NOBODY && n->fact && n->fact->kind == WAITFACT_FILE_LOCK && n->fact->n_holders == 1 &&
	       !n->fact->inherited;
}

const char *waitgraph_node_end_text(const struct waitgraph_node *n)
{
	if (has_it_itself(n))
		return "it has this lock itself, by another descriptor";
	if (n->handles && n->end == WAITEND_VISITOR)
		return "only another request could end it";
	if (n->end == WAITEND_OWN && waitgraph_awaits_its_own(n))
		return "only its own process could bring that";
	if (waitgraph_waits_for_itself(n))
		return "it would have to end the wait itself";
	if (n->end == WAITEND_OWN && n->process && n->process->n_threads == 1)
		return "only its own process could bring that, by a signal's handler";
	if (n->end == WAITEND_ANY && n->fact && n->fact->kind == WAITFACT_SHARED && n->fact->n_holders < 2)
		return "no other process that lives has it";
	if (waitgraph_writes_terminal(n))
		return "it takes no output: stopped by Ctrl-S, or not read";
	return waitgraph_end_text(n->end);
}

void waitgraph_wait_text(const struct waitgraph_node *n, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	bool retry = n->hint && n->hint->kind == WAITHINT_RETRY;
	if (n->hint && n->hint->text[0] && !(retry && n->polled))
		buf_add(&b, n->hint->text);
	else if (n->watches)
		buf_add(&b, "sleeps between looks at its children");
	else if (n->polled)
		buf_printf(&b, "%s %s",
			   n->polled->kind == WAITFACT_FILE_LOCK ? "tries again and again to get the"
								 : "looks again and again at",
			   n->polled->text);
	else if (n->fact && n->thread && !says_all(n->end))
		fact_add(n, &b);
	if (n->place && !(n->hint && strstr(n->hint->text, " at ")))
		buf_printf(&b, "%sat %s", b.len ? " " : "", n->place->text);
	if (n->odd)
		buf_printf(&b, "%s%s, of all other ranks %s", b.len ? ", " : "", n->odd->text, n->odd->owner_text);
	if (n->usual)
		buf_printf(&b, "%s%s", b.len ? ", " : "", n->usual->text);
	if (n->end != WAITEND_NONE)
		buf_printf(&b, "%s%s", b.len ? "; " : "", waitgraph_node_end_text(n));
	mask_text(dst);
}

void waitgraph_who_text(const struct waitgraph *g, uint32_t node, char *dst, size_t cap)
{
	const struct waitgraph_node *n = &g->node[node];
	const struct waitgraph_who *who = n->who;
	if (!n->process)
		text_format(dst, cap, "%s", n->fact ? n->fact->text : "somebody outside");
	else if (who && who->main && who->rank != NO_RANK)
		text_format(dst, cap, "rank %d", who->rank);
	else if (who && who->rank != NO_RANK)
		text_format(dst, cap, "%s %d of rank %d", who->role[0] ? who->role : "process", (int)n->process->pid,
			    who->rank);
	else
		text_format(dst, cap, "process %d (%s)", (int)n->process->pid, n->process->name);
}

/* ---- the way to an end ---- */

struct way {
	uint32_t step[STEPS_MOST]; /* nodes, one a process: the one by which the way leaves it; the last is the end */
	size_t n;
};

/* The shortest way from a node to an end over arrows of a quality; by breadth. */
static bool way_find(const struct waitgraph *g, uint32_t from, uint32_t component, enum waitgraph_quality least,
		     uint32_t *before, uint32_t *todo, struct way *ret)
{
	size_t n = 0;
	uint32_t at = WAITGRAPH_NONE;
	memset(before, 0xff, g->n_nodes * sizeof(*before));
	before[from] = from;
	todo[n++] = from;
	for (size_t i = 0; i < n && at == WAITGRAPH_NONE; i++) {
		const struct waitgraph_node *x = &g->node[todo[i]];
		if (x->component == component)
			at = todo[i];
		for (uint32_t k = 0; at == WAITGRAPH_NONE && k < x->n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[x->first_edge + k];
			if (e->quality < least || before[e->to] != WAITGRAPH_NONE)
				continue;
			before[e->to] = todo[i];
			todo[n++] = e->to;
		}
	}
	if (at == WAITGRAPH_NONE)
		return false;
	ret->n = 0;
	for (uint32_t last = at;; at = before[at]) {
		/* Of several threads of one process the one nearest to the end is kept. */
		if (ret->n == 0 || g->node[at].process != g->node[last].process || !g->node[at].process) {
			if (ret->n == STEPS_MOST)
				return false;
			ret->step[ret->n++] = at;
		}
		last = at;
		if (at == from)
			break;
	}
	for (size_t i = 0; i < ret->n / 2; i++) {
		uint32_t x = ret->step[i];
		ret->step[i] = ret->step[ret->n - 1 - i];
		ret->step[ret->n - 1 - i] = x;
	}
	return true;
}

static bool same_process(const struct waitgraph *g, uint32_t a, uint32_t b)
{
	return a == b || (g->node[a].process && g->node[a].process == g->node[b].process);
}

/* True if the second way goes on as the first does after its first step. */
static bool joins(const struct waitgraph *g, const struct way *a, const struct way *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 1; i < a->n; i++)
		if (!same_process(g, a->step[i], b->step[i]))
			return false;
	return true;
}

static bool is_on(const struct waitgraph *g, const struct way *w, uint32_t node)
{
	for (size_t i = 1; i < w->n; i++)
		if (same_process(g, w->step[i], node))
			return true;
	return false;
}

/* The thread of the same process that waits for this one by habit; NULL: none. Of its wait the habit is a part. */
static const struct waitgraph_node *waiter_by_habit(const struct waitgraph *g, uint32_t node)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && e->to == node && n->usual && e->hint == n->usual && n->process == g->node[node].process)
			return n;
	}
	return NULL;
}

/* What the thread waits for, and whose wait of its process it usually ends. */
static void step_wait_add(const struct waitgraph *g, uint32_t node, const struct waitgraph_node *waiter, struct buf *b)
{
	char wait[480], habit[480];
	waitgraph_wait_text(&g->node[node], wait, sizeof(wait));
	if (waiter) {
		waitgraph_wait_text(waiter, habit, sizeof(habit));
		buf_printf(b, " (%s; that one: %s)", habit, wait);
	} else if (wait[0]) {
		buf_printf(b, " (%s)", wait);
	}
}

void waitgraph_thread_text(const struct waitfact_thread *t, const char *more, struct buf *b)
{
	if (t->goroutine)
		buf_printf(b, "goroutine %llu%s", (unsigned long long)t->goroutine, more);
	else
		buf_printf(b, "thread %d%s", (int)t->tid, more);
}

/* of_thread: the threads of one process are told apart. */
static void step_add(const struct waitgraph *g, uint32_t node, bool with_wait, bool of_thread, struct buf *b)
{
	char who[160];
	waitgraph_who_text(g, node, who, sizeof(who));
	if (of_thread && g->node[node].thread && !g->node[node].main)
		waitgraph_thread_text(g->node[node].thread, " of ", b);
	buf_add(b, who);
	const struct waitgraph_node *waiter = of_thread ? NULL : waiter_by_habit(g, node);
	if (g->node[node].thread && (with_wait || waiter))
		step_wait_add(g, node, waiter, b);
}

static int rank_order(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* "ranks 0-2, 4, 5" */
static void ranks_add(int32_t *rank, size_t n, struct buf *b)
{
	const size_t most = 8;
	qsort(rank, n, sizeof(*rank), rank_order);
	buf_printf(b, "%s ", n == 1 ? "rank" : "ranks");
	size_t told = buf_runs(b, rank, n, most, ", ");
	if (told < n)
		buf_printf(b, " and %zu more", n - told);
}

struct text_work {
	const struct waitgraph *g;
	const struct waitgraph_sink *s;
	uint32_t *before, *todo;
};

static bool way_of(const struct text_work *t, uint32_t main, struct way *ret)
{
	uint32_t component = t->g->node[t->s->node].component;
	for (int q = WAITGRAPH_PROOF; q >= WAITGRAPH_POSSIBLE; q--)
		if (way_find(t->g, main, component, (enum waitgraph_quality)q, t->before, t->todo, ret))
			return ret->n > 1;
	return false;
}

static bool starts(const struct waitgraph_node *n)
{
	return n->main && n->who && n->who->main;
}

/* True of a loop of which is known what it looks for. */
static bool is_loop(const struct waitgraph_node *n)
{
	return n->polled || (n->hint && n->hint->kind == WAITHINT_RETRY);
}

static void way_write(const struct text_work *t, const struct way *longest, struct buf *b)
{
	int32_t rank[WAITGRAPH_RANKS];
	size_t n = 0;
	struct way other;
	for (uint32_t i = 0; i < t->g->n_nodes; i++)
		if (starts(&t->g->node[i]) && t->g->node[i].who->rank != NO_RANK && n < WAITGRAPH_RANKS &&
		    way_of(t, i, &other) && joins(t->g, longest, &other))
			rank[n++] = t->g->node[i].who->rank;
	const struct waitgraph_node *waiter = waiter_by_habit(t->g, longest->step[0]);
	if (n == 0)
		step_add(t->g, longest->step[0], is_loop(&t->g->node[longest->step[0]]), false, b);
	else
		ranks_add(rank, n, b);
	if (n > 0 && (waiter || is_loop(&t->g->node[longest->step[0]])))
		step_wait_add(t->g, longest->step[0], waiter, b);
	for (size_t i = 1; i < longest->n; i++) {
		if (longest->n > STEPS_SHOWN && i >= STEPS_SHOWN - 2 && i < longest->n - 1) {
			buf_printf(b, " → … %zu more", longest->n - STEPS_SHOWN + 1);
			i = longest->n - 2;
			continue;
		}
		buf_add(b, " → ");
		step_add(t->g, longest->step[i], true, false, b);
	}
}

/* The ranks that come to the end by another way than the one that was written. */
static void rest_write(const struct text_work *t, const struct way *longest, struct buf *b)
{
	int32_t rank[WAITGRAPH_RANKS];
	size_t n = 0;
	struct way other;
	for (uint32_t i = 0; i < t->g->n_nodes; i++)
		if (starts(&t->g->node[i]) && t->g->node[i].who->rank != NO_RANK && n < WAITGRAPH_RANKS &&
		    !is_on(t->g, longest, i) && way_of(t, i, &other) && !joins(t->g, longest, &other))
			rank[n++] = t->g->node[i].who->rank;
	if (n == 0)
		return;
	buf_add(b, "; ");
	ranks_add(rank, n, b);
	buf_printf(b, " %s for it too", n == 1 ? "waits" : "wait");
}

static void circle_write(const struct waitgraph *g, const struct waitgraph_sink *s, struct buf *b)
{
	uint32_t at = s->node, component = g->node[s->node].component;
	bool threads_of_one = true;
	for (size_t i = 0; i < g->n_nodes; i++)
		threads_of_one &= g->node[i].component != component || same_process(g, (uint32_t)i, s->node);
	for (size_t i = 0; i < MIN((size_t)s->n_nodes, (size_t)STEPS_SHOWN); i++) {
		const struct waitgraph_node *n = &g->node[at];
		uint32_t was = at;
		for (uint32_t k = 0; k < n->n_edges; k++)
			if (g->node[g->edge[n->first_edge + k].to].component == component) {
				at = g->edge[n->first_edge + k].to;
				break;
			}
		/* Of several threads of one process the one that waits for another process is shown. */
		if (!threads_of_one && same_process(g, was, at))
			continue;
		step_add(g, was, true, threads_of_one, b);
		buf_add(b, " → ");
		if (at == s->node)
			break;
	}
	step_add(g, s->node, false, threads_of_one, b);
}

void waitgraph_way_text(const struct waitgraph *g, const struct waitgraph_sink *s, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	struct way longest = {.n = 0}, one;
	cleanup(freep) uint32_t *before = calloc(g->n_nodes + 1, sizeof(*before));
	cleanup(freep) uint32_t *todo = calloc(g->n_nodes + 1, sizeof(*todo));
	struct text_work t = {.g = g, .s = s, .before = before, .todo = todo};
	buf_reset(&b);
	if (!before || !todo)
		return;
	if (s->closed) {
		circle_write(g, s, &b);
		return;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (starts(&g->node[i]) && way_of(&t, i, &one) && one.n > longest.n)
			longest = one;
	if (longest.n == 0) {
		step_add(g, s->node, true, false, &b);
		return;
	}
	way_write(&t, &longest, &b);
	rest_write(&t, &longest, &b);
}

/* ---- threads of one's own ---- */

/* The threads of a process that wait for the same at the same place. */
struct alike {
	char wait[240];
	const struct waitfact_thread *first;
	size_t n;
};

#define ALIKE_SHOWN 3

static void alike_count(struct alike *all, size_t *n, size_t *left, const struct waitgraph_node *node)
{
	char wait[240];
	waitgraph_wait_text(node, wait, sizeof(wait));
	for (size_t i = 0; i < *n; i++) {
		if (strcmp(all[i].wait, wait) == 0) {
			all[i].n++;
			return;
		}
	}
	if (*n == ALIKE_SHOWN) {
		++*left;
		return;
	}
	struct alike *a = &all[(*n)++];
	TEXT_COPY(a->wait, wait);
	a->first = node->thread;
	a->n = 1;
}

static void alike_add(const struct alike *a, bool first, bool last, struct buf *b)
{
	buf_add(b, first ? "" : last ? " and " : ", ");
	if (a->n == 1)
		waitgraph_thread_text(a->first, "", b);
	else
		buf_printf(b, "%zu threads", a->n);
	if (a->wait[0])
		buf_printf(b, " (%s)", a->wait);
}

void waitgraph_own_threads_text(const struct waitgraph *g, const struct waitgraph_sink *s, char *dst, size_t cap)
{
	const struct waitgraph_node *end = &g->node[s->node];
	struct buf b = {.text = dst, .cap = cap};
	struct alike all[ALIKE_SHOWN];
	size_t n = 0, left = 0;
	buf_reset(&b);
	for (uint32_t i = 0; i < end->n_edges; i++) {
		const struct waitgraph_node *to = &g->node[g->edge[end->first_edge + i].to];
		if (!to->thread || to->process != end->process)
			return;
		if (to != end)
			alike_count(all, &n, &left, to);
	}
	for (size_t i = 0; i < n; i++)
		alike_add(&all[i], i == 0, i == n - 1 && left == 0, &b);
	if (left)
		buf_printf(&b, " and %zu more", left);
}
