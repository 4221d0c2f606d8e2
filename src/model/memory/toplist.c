#include "model/memory/toplist.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"

const char *const toplist_sorts[] = {"own", "res", "shr", "pss", "gpu", "cpu", "time", "pid", NULL};

static int look_order(const void *key, const void *item)
{
	const pid_t *pid = key;
	const struct toplist_look *l = item;
	return (*pid > l->id.pid) - (*pid < l->id.pid);
}

/* The look at this process; NULL: there is none, or its number belonged to another one then. */
static const struct toplist_look *look_of(const struct toplist_look *l, size_t n, const struct footprint_row *p)
{
	const struct toplist_look *found = n > 0 ? bsearch(&p->pid, l, n, sizeof(*l), look_order) : NULL;
	return found && found->id.start_ticks == p->start_ticks ? found : NULL;
}

static bool toplist_is_wanted(const struct toplist_want *w, const struct footprint_row *p)
{
	char pid[16];
	TEXT_FORMAT(pid, "%ld", (long)p->pid);
	return !w->filter || !w->filter[0] || strcasestr(p->command[0] ? p->command : p->comm, w->filter) ||
	       strcasestr(p->job, w->filter) || strcmp(pid, w->filter) == 0;
}

static double toplist_key(const struct toplist_row *r, enum toplist_sort sort)
{
	const struct footprint_row *p = r->process;
	switch (sort) {
	case TOPLIST_RESIDENT:
		return (double)p->rss_bytes;
	case TOPLIST_SHARED:
		return (double)p->shared_bytes;
	case TOPLIST_PSS:
		return p->pss == PSS_KNOWN ? (double)p->pss_bytes : -1;
	case TOPLIST_GPU:
		return p->has_gpu ? (double)p->gpu_bytes : -1;
	case TOPLIST_CPU:
		return r->has_cpu ? r->cpu_ratio : -1;
	case TOPLIST_TIME:
		return r->has_time ? (double)r->cpu_ns : -1;
	case TOPLIST_PID:
		return -(double)p->pid;
	default:
		return (double)p->own_bytes;
	}
}

struct ordered {
	struct toplist_row row;
	double key;
	size_t job, place; /* in a tree: of the job's first row, and of this one; in the order without a tree */
	bool placed;
};

static int largest_first(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->row.process->pid > y->row.process->pid) - (x->row.process->pid < y->row.process->pid);
}

static int by_job(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Brings the rows of each job together, in the order of their first ones; last those of no job. */
static void jobs_gather(struct ordered *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *job = all[i].row.process->job;
		all[i].place = i;
		all[i].job = job[0] ? i : SIZE_MAX;
		for (size_t k = 0; job[0] && k < i; k++)
			if (all[k].job == k && strcmp(all[k].row.process->job, job) == 0) {
				all[i].job = k;
				break;
			}
	}
	qsort(all, n, sizeof(*all), by_job);
}

/* Rows by the number of their parent; among brothers the order of the rows stays. */
struct child {
	pid_t parent;
	size_t row;
};

static int child_order(const void *a, const void *b)
{
	const struct child *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static bool is_folded(const struct toplist_want *w, const struct footprint_row *p)
{
	for (size_t i = 0; i < w->n_folded; i++)
		if (w->folded[i].pid == p->pid && w->folded[i].start_ticks == p->start_ticks)
			return true;
	return false;
}

struct tree {
	const struct toplist_want *want;
	struct ordered *all;
	struct child *child;
	size_t n;
	struct toplist *ret;
};

static size_t first_child(const struct tree *t, pid_t parent)
{
	return bisect(t->n, middle, t->child[middle].parent < parent);
}

/* A row and all below it. Numbers that were used again may make a circle, so each row is placed once. */
static void subtree_place(struct tree *t, size_t row, unsigned depth, unsigned calls, bool hidden)
{
	struct ordered *o = &t->all[row];
	pid_t pid = o->row.process->pid;
	const size_t first = first_child(t, pid);
	if (o->placed)
		return;
	o->placed = true;
	o->row.depth = MIN(depth, (unsigned)TOPLIST_DEEPEST);
	o->row.folded = is_folded(t->want, o->row.process) && first < t->n && t->child[first].parent == pid;
	if (!hidden)
		t->ret->row[t->ret->n++] = o->row;
	if (calls == 0)
		return; /* what is below is placed as a root */
	for (size_t i = first; i < t->n && t->child[i].parent == pid; i++)
		subtree_place(t, t->child[i].row, depth + 1, calls - 1, hidden || o->row.folded);
}

static bool has_parent(const struct tree *t, const pid_t *pids, size_t row)
{
	pid_t parent = t->all[row].row.process->ppid;
	size_t low = bisect(t->n, middle, pids[middle] < parent);
	return low < t->n && pids[low] == parent;
}

static int toplist_pid_order(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int tree_place(const struct toplist_want *want, struct ordered *all, size_t n, struct toplist *ret)
{
	cleanup(freep) struct child *child = calloc(n + 1, sizeof(*child));
	cleanup(freep) pid_t *pids = calloc(n + 1, sizeof(*pids));
	struct tree t = {.want = want, .all = all, .child = child, .n = n, .ret = ret};
	if (!child || !pids)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		child[i] = (struct child){all[i].row.process->ppid, i};
		pids[i] = all[i].row.process->pid;
	}
	qsort(child, n, sizeof(*child), child_order);
	qsort(pids, n, sizeof(*pids), toplist_pid_order);
	for (size_t i = 0; i < n; i++)
		if (!has_parent(&t, pids, i))
			subtree_place(&t, i, 0, 256, false);
	for (size_t i = 0; i < n; i++)
		subtree_place(&t, i, 0, 256, false);
	return 0;
}

int toplist_make(const struct footprint *f, const struct toplist_look *was, size_t n_was,
		 const struct toplist_look *now, size_t n_now, uint64_t elapsed_ns, const struct toplist_want *want,
		 struct toplist *ret)
{
	*ret = (struct toplist){.row = calloc(f->n + 1, sizeof(*ret->row))};
	cleanup(freep) struct ordered *all = calloc(f->n + 1, sizeof(*all));
	size_t n = 0;
	if (!ret->row || !all) {
		toplist_done(ret);
		return -ENOMEM;
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct footprint_row *p = &f->rows[i];
		const struct toplist_look *x = look_of(now, n_now, p), *y = look_of(was, n_was, p);
		if (!want->all && !p->job[0]) {
			ret->hidden++;
			continue;
		}
		if (!toplist_is_wanted(want, p) || (want->has_uid && !(x && x->has_uid && x->uid == want->uid)))
			continue;
		struct ordered *o = &all[n++];
		o->row = (struct toplist_row){.process = p, .state = x ? x->state : '?'};
		o->row.has_time = x != NULL;
		TEXT_COPY(o->row.user, x ? x->user : "");
		o->row.cpu_ns = x ? x->cpu_ns : 0;
		o->row.has_cpu = x && y && elapsed_ns > 0;
		if (o->row.has_cpu)
			o->row.cpu_ratio = (double)sub_floor(x->cpu_ns, y->cpu_ns) / (double)elapsed_ns;
		o->key = toplist_key(&o->row, want->sort) * (want->inverted ? -1 : 1);
	}
	if (n > 0)
		qsort(all, n, sizeof(*all), largest_first);
	if (want->tree && n > 0) {
		jobs_gather(all, n);
		int r = tree_place(want, all, n, ret);
		if (r < 0)
			toplist_done(ret);
		return r;
	}
	for (size_t i = 0; i < n; i++)
		ret->row[ret->n++] = all[i].row;
	return 0;
}

void toplist_done(struct toplist *l)
{
	free(l->row);
	l->row = NULL;
	l->n = 0;
}
