#include "judge/speed/tracesum.h"

#include <stdlib.h>
#include <string.h>

void traceview_done(struct traceview *v)
{
	free(v->worker);
	free(v->busy_s);
	*v = (struct traceview){.f = NULL};
}

static double seconds(const struct trace_task *t)
{
	return (double)(t->end_ns - t->begin_ns) / 1e9;
}

static bool any_device(const struct tracefacts *f)
{
	for (size_t i = 0; i < f->n_rows; i++)
		if (f->row[i].device && f->row[i].n > 0)
			return true;
	return false;
}

/* The name on which most time is spent, over all rows of the kind. */
static int main_name(const struct tracefacts *f, bool device, struct traceview *v)
{
	cleanup(freep) double *sum = calloc(f->n_names + 1, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_rows; i++)
		for (size_t k = 0; k < f->row[i].n && f->row[i].device == device; k++) {
			const struct trace_task *t = &f->row[i].task[k];
			sum[t->name] += seconds(t);
		}
	for (uint32_t i = 0; i < f->n_names; i++)
		if (sum[i] > sum[v->name])
			v->name = i;
	return 0;
}

static bool does(const struct trace_row *r, uint32_t name)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->task[i].name == name)
			return true;
	return false;
}

/* Workers are the rows that do what most of the time goes into: helpers of another kind do not count as idle. */
static int workers(const struct tracefacts *f, struct traceview *v)
{
	const bool device = v->sum.device;
	v->worker = calloc(f->n_rows + 1, sizeof(*v->worker));
	v->busy_s = calloc(f->n_rows + 1, sizeof(*v->busy_s));
	if (!v->worker || !v->busy_s)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_rows; i++) {
		const struct trace_row *r = &f->row[i];
		v->sum.rows += r->n > 0;
		if (r->n == 0 || r->device != device || (!device && !f->ray && !does(r, v->name)))
			continue;
		const size_t at = v->sum.workers++;
		v->worker[at] = i;
		for (size_t k = 0; k < r->n; k++) {
			v->busy_s[at] += seconds(&r->task[k]);
			v->name_tasks += r->task[k].name == v->name;
		}
		v->sum.busy_s += v->busy_s[at];
		v->sum.tasks += r->n;
		if (v->busy_s[at] > v->busy_s[v->busiest])
			v->busiest = at;
	}
	return 0;
}

static int double_order(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Hands the tasks out, the longest first, each to who is free first. length: ascending. */
static double list_schedule(const double *length, size_t n, double *heap, size_t n_workers)
{
	double end = 0;
	memset(heap, 0, n_workers * sizeof(*heap));
	for (size_t i = n; i-- > 0;) {
		double done = heap[0] + length[i];
		size_t at = 0;
		for (size_t child = 1; child < n_workers; child = 2 * at + 1) {
			child += child + 1 < n_workers && heap[child + 1] < heap[child];
			if (heap[child] >= done)
				break;
			heap[at] = heap[child];
			at = child;
		}
		heap[at] = done;
		end = MAX(end, done);
	}
	return end;
}

static int lengths(struct traceview *v)
{
	const size_t n = v->sum.tasks;
	cleanup(freep) double *length = calloc(n + 1, sizeof(*length));
	cleanup(freep) double *gap = calloc(n + 1, sizeof(*gap));
	cleanup(freep) double *heap = calloc(v->sum.workers + 1, sizeof(*heap));
	size_t at = 0, n_gaps = 0;
	if (!length || !gap || !heap)
		return -ENOMEM;
	for (size_t i = 0; i < v->sum.workers; i++) {
		const struct trace_row *r = &v->f->row[v->worker[i]];
		for (size_t k = 0; k < r->n; k++) {
			length[at++] = seconds(&r->task[k]);
			if (k > 0)
				gap[n_gaps++] = (double)(r->task[k].begin_ns - r->task[k - 1].end_ns) / 1e9;
		}
	}
	qsort(length, n, sizeof(*length), double_order);
	if (n_gaps > 0) {
		qsort(gap, n_gaps, sizeof(*gap), double_order);
		v->sum.gap_s = gap[n_gaps / 2];
	}
	v->sum.median_s = length[n / 2];
	v->sum.longest_s = length[n - 1];
	v->sum.best_s = list_schedule(length, n, heap, v->sum.workers);
	return 0;
}

struct edge {
	int64_t at_ns;
	int step;
};

static int edge_order(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return y->step - x->step; /* who begins at the same instant comes before who ends */
}

/* For how long at least one of the intervals lasts. edge: the begin and the end of each, which are sorted. */
static double any_of(struct edge *edge, size_t n)
{
	int64_t open = 0, since = 0, any_ns = 0;
	qsort(edge, n, sizeof(*edge), edge_order);
	for (size_t i = 0; i < n; i++) {
		if (open == 0)
			since = edge[i].at_ns;
		open += edge[i].step;
		if (open == 0)
			any_ns += edge[i].at_ns - since;
	}
	return (double)any_ns / 1e9;
}

/* How long at least one worker works. */
static int together(struct traceview *v)
{
	cleanup(freep) struct edge *edge = calloc(2 * v->sum.tasks + 1, sizeof(*edge));
	size_t n = 0;
	if (!edge)
		return -ENOMEM;
	for (size_t i = 0; i < v->sum.workers; i++) {
		const struct trace_row *r = &v->f->row[v->worker[i]];
		for (size_t k = 0; k < r->n; k++) {
			edge[n++] = (struct edge){r->task[k].begin_ns, 1};
			edge[n++] = (struct edge){r->task[k].end_ns, -1};
		}
	}
	v->sum.any_s = any_of(edge, n);
	v->sum.span_s = (double)(edge[n - 1].at_ns - edge[0].at_ns) / 1e9;
	return 0;
}

/* A pause that is much longer than usual is no cost of a task: its worker had nothing to do. */
static bool is_short(const struct traceview *v, const struct trace_row *r, size_t k)
{
	const double worth_s = v->sum.device ? TRACE_WORTH_DEVICE_S : TRACE_WORTH_S, usual_gaps = 10;
	const double gap_s = (double)(r->task[k].begin_ns - r->task[k - 1].end_ns) / 1e9;
	return seconds(&r->task[k - 1]) < worth_s && seconds(&r->task[k]) < worth_s &&
	       gap_s <= usual_gaps * v->sum.gap_s;
}

/* How long at least one worker is among short tasks, and what most of these are. */
static int among_short(struct traceview *v)
{
	cleanup(freep) struct edge *edge = calloc(2 * v->sum.tasks + 1, sizeof(*edge));
	cleanup(freep) size_t *count = calloc(v->f->n_names + 1, sizeof(*count));
	size_t n = 0;
	if (!edge || !count)
		return -ENOMEM;
	for (size_t i = 0; i < v->sum.workers; i++) {
		const struct trace_row *r = &v->f->row[v->worker[i]];
		for (size_t k = 1; k < r->n; k++) {
			const uint32_t name = r->task[k].name;
			if (!is_short(v, r, k))
				continue;
			edge[n++] = (struct edge){r->task[k - 1].begin_ns, 1};
			edge[n++] = (struct edge){r->task[k].end_ns, -1};
			if (++count[name] > count[v->short_name])
				v->short_name = name;
		}
	}
	v->sum.short_s = any_of(edge, n);
	return 0;
}

int traceview_make(const struct tracefacts *f, struct traceview *ret)
{
	*ret = (struct traceview){.f = f, .sum = {.device = !f->ray && any_device(f)}};
	int r = main_name(f, ret->sum.device, ret);
	if (r == 0)
		r = workers(f, ret);
	if (r == 0 && ret->sum.tasks > 0)
		r = lengths(ret);
	if (r == 0 && ret->sum.tasks > 0)
		r = together(ret);
	if (r == 0 && ret->sum.tasks > 0)
		r = among_short(ret);
	return r;
}
