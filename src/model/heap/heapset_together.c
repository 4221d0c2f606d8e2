#include "model/heap/heapset_together.h"

#include <string.h>

#include "model/heap/heapset_parts.h"

/* The start or the end of a process. */
struct turn {
	int64_t at_ms;
	bool starts;
	uint32_t process;
};

/* An end sorts before a start at the same moment. */
static int by_time(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return a->starts != b->starts	 ? (int)a->starts - (int)b->starts
	       : a->process < b->process ? -1
					 : a->process > b->process;
}

static size_t turns_make(const struct heapset *h, const struct heapset_want *want, struct turn *turns)
{
	size_t n_processes, n = 0;
	const struct heapset_process *p = heapset_processes(h, &n_processes);
	for (size_t i = 0; i < n_processes; i++) {
		if (!heapset_wants(want, &p[i]))
			continue;
		turns[n++] = (struct turn){.at_ms = p[i].begun_unix_ms, .starts = true, .process = (uint32_t)i};
		if (p[i].ended_unix_ms > 0)
			turns[n++] = (struct turn){.at_ms = MAX(p[i].ended_unix_ms, p[i].begun_unix_ms + 1),
						   .process = (uint32_t)i};
	}
	if (n > 0)
		qsort(turns, n, sizeof(*turns), by_time);
	return n;
}

static void describe(const struct heapset *h, const struct heapset_want *want, struct heapset_together *t)
{
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++) {
		t->apart += !t->in[i] && heapset_wants(want, &p[i]);
		if (!t->in[i])
			continue;
		t->n++;
		t->ends_unknown += p[i].end_unknown;
		t->least_bytes = MAX(t->least_bytes, p[i].peak.bytes);
		t->stepped |= p[i].peak.above_bytes > 0;
		t->short_bytes += p[i].peak_short_bytes;
	}
}

int heapset_together(const struct heapset *h, const struct heapset_want *want, struct heapset_together *ret)
{
	size_t n_processes;
	const struct heapset_process *p = heapset_processes(h, &n_processes);
	struct heapset_together t = {.in = calloc(n_processes + 1, sizeof(*t.in))};
	cleanup(freep) struct turn *turns = calloc(2 * n_processes + 1, sizeof(*turns));
	cleanup(freep) bool *here = calloc(n_processes + 1, sizeof(*here));
	if (!t.in || !turns || !here) {
		free(t.in);
		return -ENOMEM;
	}
	size_t n = turns_make(h, want, turns);
	double sum = 0, most = -1;
	/* a maximum can only be after a start that an end follows */
	for (size_t i = 0; i < n; i++) {
		here[turns[i].process] = turns[i].starts;
		sum += turns[i].starts ? p[turns[i].process].peak.bytes : -p[turns[i].process].peak.bytes;
		bool end_is_next = i + 1 == n || !turns[i + 1].starts;
		if (!turns[i].starts || !end_is_next || sum <= most)
			continue;
		most = sum;
		memcpy(t.in, here, n_processes * sizeof(*here));
	}
	describe(h, want, &t);
	*ret = t;
	return 0;
}

bool *heapset_chosen(const struct heapset *h, const struct heapset_want *want)
{
	struct heapset_together together;
	size_t n;
	if (want->what == HEAPSET_PEAK)
		return heapset_together(h, want, &together) == 0 ? together.in : NULL;
	const struct heapset_process *p = heapset_processes(h, &n);
	bool *in = calloc(n + 1, sizeof(*in));
	for (size_t i = 0; in && i < n; i++)
		in[i] = heapset_wants(want, &p[i]);
	return in;
}
