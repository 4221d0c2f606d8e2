#include "agent/inspect/siblingrank.h"

#include <string.h>

#include "agent/inspect/siblinglinks.h"
#include "model/jobs/siblings.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait.h"

#define ARGUMENTS_MAX 2048
#define ENVIRONMENT_MAX (16 * 1024)

/* What was read of one child. */
struct sibling_text {
	char arguments[ARGUMENTS_MAX], environment[ENVIRONMENT_MAX];
};

bool siblingrank_add(struct siblingrank_list *l, size_t at, const struct ownranks_process *p, struct span arguments)
{
	if (l->n == SIBLINGS_MOST)
		return false;
	l->of[l->n++] = (struct siblingrank_one){.at = at,
						 .pid = p ? p->pid : 0,
						 .forked = p && p->who.forked,
						 .shape = siblings_shape(arguments),
						 .text = {.arguments = arguments}};
	return true;
}

/* The n of the shape of one of them, which is the first of its shape. */
static bool are_linked(const struct siblingrank_list *l, size_t first, size_t n)
{
	struct siblinglinks_one group[SIBLINGLINKS_MOST];
	size_t k = 0;
	if (!l->w || n > SIBLINGLINKS_MOST)
		return false;
	for (size_t i = first; i < l->n; i++)
		if (l->of[i].shape == l->of[first].shape)
			group[k++] = (struct siblinglinks_one){l->of[i].pid, l->of[i].forked};
	return siblinglinks_join(l->w, l->parent, group, k);
}

/* Numbers all of the shape of one of them, which is the first of its shape. */
static bool group_number(struct siblingrank_list *l, size_t first, struct span above)
{
	struct siblings_one group[SIBLINGS_MOST];
	int32_t number[SIBLINGS_MOST];
	size_t n = 0;
	for (size_t i = first; i < l->n; i++)
		if (l->of[i].shape == l->of[first].shape)
			group[n++] = l->of[i].text;
	const enum siblings are = siblings_number(group, n, above, number);
	if (are == SIBLINGS_NONE || (are == SIBLINGS_IF_LINKED && !are_linked(l, first, n)))
		return false;
	for (size_t i = first, k = 0; i < l->n; i++)
		if (l->of[i].shape == l->of[first].shape) {
			l->of[i].number = number[k++];
			l->of[i].world = (int32_t)n;
		}
	return true;
}

static bool is_first(const struct siblingrank_list *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (l->of[i].shape == l->of[at].shape)
			return false;
	return true;
}

bool siblingrank_number(struct siblingrank_list *l, struct span above)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= is_first(l, i) && group_number(l, i, above);
	return any;
}

bool siblingrank_may_be(const struct ownranks_process *p, const struct ownranks_process *parent)
{
	/* what was started with its parent's words looks like a fork, but may have variables of its own */
	bool program = p->who.role == ROLE_MAIN || p->who.role == ROLE_HELPER || p->who.forked;
	bool starts = parent->who.role == ROLE_MAIN || parent->who.role == ROLE_SHELL ||
		      parent->who.role == ROLE_LAUNCHER;
	return program && starts && !p->ended && p->who.rank == NO_RANK && parent->who.rank == NO_RANK;
}

static bool only_starts(const struct world *w, const struct ownranks_process *parent)
{
	struct threadwait t;
	if (parent->who.role != ROLE_MAIN)
		return true;
	return threadwait_read(w, parent->pid, parent->pid, NULL, false, &t) == 0 &&
	       (t.kind == WAIT_CHILD || t.kind == WAIT_SLEEP);
}

/* Reads one child into a list and its text; false: it cannot be read, or the list is full. */
static bool sibling_read(const struct world *w, const struct ownranks_process *p, struct sibling_text *text,
			 struct siblingrank_list *l, size_t at)
{
	size_t len, env;
	if (proc_arguments_read(w, p->pid, text->arguments, sizeof(text->arguments), &len) != 0 || len == 0 ||
	    proc_environ_read(w, p->pid, text->environment, sizeof(text->environment), &env) != 0 ||
	    !siblingrank_add(l, at, p, (struct span){text->arguments, len}))
		return false;
	l->of[l->n - 1].text.environment = (struct span){text->environment, env};
	return true;
}

static size_t siblings_of(const struct ownranks_process *p, size_t n, const struct ownranks_process *parent)
{
	size_t most = 0;
	for (size_t i = 0; i < n; i++)
		most += p[i].ppid == parent->pid && siblingrank_may_be(&p[i], parent) ? 1 : 0;
	return most;
}

bool siblingrank_read(const struct world *w, const struct ownranks_process *p, size_t n,
		      const struct ownranks_process *parent, int32_t *ret_number, int32_t *ret_world)
{
	char above[ENVIRONMENT_MAX];
	size_t len = 0, most = siblings_of(p, n, parent);
	memset(ret_world, 0, n * sizeof(*ret_world));
	if (most < 2 || most > SIBLINGS_MOST || !only_starts(w, parent) ||
	    proc_environ_read(w, parent->pid, above, sizeof(above), &len) != 0)
		return false;
	cleanup(freep) struct siblingrank_list *l = calloc(1, sizeof(*l));
	cleanup(freep) struct sibling_text *text = calloc(most, sizeof(*text));
	if (l) {
		l->w = w;
		l->parent = parent->pid;
	}
	for (size_t i = 0; l && text && i < n && l->n < most; i++)
		if (p[i].ppid == parent->pid && siblingrank_may_be(&p[i], parent))
			ignore(sibling_read(w, &p[i], &text[l->n], l, i), "the others are compared without it");
	if (!l || !text || !siblingrank_number(l, (struct span){above, len}))
		return false;
	for (size_t i = 0; i < l->n; i++) {
		ret_number[l->of[i].at] = l->of[i].number;
		ret_world[l->of[i].at] = l->of[i].world;
	}
	return true;
}
