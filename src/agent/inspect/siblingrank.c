#include "agent/inspect/siblingrank.h"

#include <string.h>

#include "model/jobs/siblings.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait.h"

#define ARGUMENTS_MAX 2048
#define ENVIRONMENT_MAX (16 * 1024)

/* What was read of one child. */
struct sibling_text {
	char arguments[ARGUMENTS_MAX], environment[ENVIRONMENT_MAX];
};

struct sibling_list {
	size_t n;
	size_t at[SIBLINGS_MOST]; /* in the job's list */
	uint64_t shape[SIBLINGS_MOST];
	struct siblings_one one[SIBLINGS_MOST];
	struct sibling_text text[];
};

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

static bool sibling_read(const struct world *w, pid_t pid, struct sibling_text *text, struct siblings_one *ret)
{
	size_t len;
	if (proc_arguments_read(w, pid, text->arguments, sizeof(text->arguments), &len) != 0 || len == 0)
		return false;
	ret->arguments = (struct span){text->arguments, len};
	if (proc_environ_read(w, pid, text->environment, sizeof(text->environment), &len) != 0)
		return false;
	ret->environment = (struct span){text->environment, len};
	return true;
}

static struct sibling_list *list_read(const struct world *w, const struct ownranks_process *p, size_t n,
				      const struct ownranks_process *parent)
{
	size_t most = 0;
	for (size_t i = 0; i < n; i++)
		most += p[i].ppid == parent->pid && siblingrank_may_be(&p[i], parent) ? 1 : 0;
	if (most < 2 || most > SIBLINGS_MOST)
		return NULL;
	struct sibling_list *l = calloc(1, sizeof(*l) + most * sizeof(l->text[0]));
	for (size_t i = 0; l && i < n; i++) {
		if (p[i].ppid != parent->pid || !siblingrank_may_be(&p[i], parent) ||
		    !sibling_read(w, p[i].pid, &l->text[l->n], &l->one[l->n]))
			continue;
		l->at[l->n] = i;
		l->shape[l->n] = siblings_shape(l->one[l->n].arguments);
		l->n++;
	}
	return l;
}

/* All that are of the shape of the first one; takes them off the list. */
static size_t group_take(struct sibling_list *l, struct siblings_one *group, size_t *at)
{
	size_t n = 0, left = 0;
	uint64_t shape = l->shape[0];
	for (size_t i = 0; i < l->n; i++) {
		if (l->shape[i] == shape) {
			at[n] = l->at[i];
			group[n++] = l->one[i];
			continue;
		}
		l->at[left] = l->at[i];
		l->shape[left] = l->shape[i];
		l->one[left++] = l->one[i];
	}
	l->n = left;
	return n;
}

static bool groups_number(struct sibling_list *l, struct span above, int32_t *ret_number, int32_t *ret_world)
{
	static _Thread_local struct siblings_one group[SIBLINGS_MOST];
	size_t at[SIBLINGS_MOST];
	int32_t number[SIBLINGS_MOST];
	bool any = false;
	while (l->n > 0) {
		size_t n = group_take(l, group, at);
		if (!siblings_number(group, n, above, number))
			continue;
		for (size_t i = 0; i < n; i++) {
			ret_number[at[i]] = number[i];
			ret_world[at[i]] = (int32_t)n;
		}
		any = true;
	}
	return any;
}

bool siblingrank_read(const struct world *w, const struct ownranks_process *p, size_t n,
		      const struct ownranks_process *parent, int32_t *ret_number, int32_t *ret_world)
{
	char above[ENVIRONMENT_MAX];
	size_t len = 0;
	memset(ret_world, 0, n * sizeof(*ret_world));
	if (!only_starts(w, parent) || proc_environ_read(w, parent->pid, above, sizeof(above), &len) != 0)
		return false;
	cleanup(freep) struct sibling_list *l = list_read(w, p, n, parent);
	return l && groups_number(l, (struct span){above, len}, ret_number, ret_world);
}
