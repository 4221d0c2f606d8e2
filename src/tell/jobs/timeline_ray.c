#include "tell/jobs/timeline_ray.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Workers of one node are one lane: that of its first row. */
static size_t first_of_node(const struct tracefacts *ray, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (strcmp(ray->row[i].pid, ray->row[row].pid) == 0)
			return i;
	return row;
}

/* named: of each lane that has its name. */
static size_t row_write(const struct tracefacts *ray, size_t at, int64_t began_ms, int64_t until_ms, bool *named,
			struct trace_json *to)
{
	const struct trace_row *r = &ray->row[at];
	const size_t first = first_of_node(ray, at);
	const int64_t lane = TIMELINE_RAY_LANE + (int64_t)first, row = TIMELINE_RAY_LANE + (int64_t)at;
	const int64_t began_ns = began_ms * (int64_t)NS_PER_MS, until_ns = until_ms * (int64_t)NS_PER_MS;
	size_t n = 0;
	char name[80];
	for (size_t i = 0; i < r->n; i++) {
		const struct trace_task *t = &r->task[i];
		const int64_t begin = MAX(t->begin_ns, began_ns), end = MIN(t->end_ns, until_ns);
		if (end <= begin)
			continue;
		if (!named[first]) {
			TEXT_FORMAT(name, "Ray node %s", r->pid);
			trace_json_lane(to, lane, name, lane);
			named[first] = true;
		}
		if (n++ == 0)
			trace_json_row(to, lane, row, r->tid);
		trace_json_span(to, lane, row, "ray", ray->name[t->name].text, (begin - began_ns) / 1000,
				(end - begin) / 1000);
		trace_json_close(to);
	}
	return n;
}

int timeline_ray(const struct tracefacts *ray, int64_t began_ms, int64_t until_ms, struct trace_json *to,
		 size_t *ret_tasks)
{
	*ret_tasks = 0;
	cleanup(freep) bool *named = calloc(MAX(ray->n_rows, 1u), sizeof(*named));
	for (size_t i = 0; named && i < ray->n_rows; i++)
		*ret_tasks += row_write(ray, i, began_ms, until_ms, named, to);
	return named ? 0 : -ENOMEM;
}
