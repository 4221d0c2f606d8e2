/*
 * What a trace says of who worked when: for each row (a thread of a process, a worker, a stream of a GPU) its outermost
 * events. Filled event by event; plain data after tracefacts_seal. Times in ns.
 *
 * Of `ray timeline` only the tasks count ("task::NAME"): what else stands there is a part of one, or waits.
 */
#pragma once

#include "sense/format/chrometrace.h"

struct trace_task {
	int64_t begin_ns, end_ns;
	uint32_t name; /* index of names */
};

struct trace_row {
	char pid[48], tid[48];
	char process[64], thread[64]; /* names; "" unknown */
	bool device; /* kernels and copies of a GPU */
	struct trace_task *task; /* owned; after the seal by time, none inside another */
	size_t n, cap;
	int64_t open_ns; /* begin of the outermost event that has not ended */
	uint32_t open_name;
	size_t open; /* number of events that have begun and not ended */
};

struct trace_name {
	char text[96];
	uint64_t hash;
	bool actor; /* a call of an actor of Ray ("task::Sleeper.nap"), which runs them one after another */
};

struct tracefacts {
	struct trace_row *row; /* owned */
	size_t n_rows, row_cap;
	size_t last; /* the row of the event before */
	struct trace_name *name; /* owned */
	size_t n_names, name_cap;
	uint32_t *slot; /* hash table of names; owned */
	size_t n_slots;
	size_t n_tasks;
	bool ray;
	bool no_memory, full; /* full: there were more rows or events than are kept */
	/* Set by the reader of the file. */
	uint64_t n_events, n_bytes;
	bool cut_off; /* the file ends within, or is damaged from some place on */
	uint64_t cut_at; /* bytes, unpacked */
};

void tracefacts_event(struct tracefacts *t, const struct chrometrace_event *e);
/* Sorts, and leaves out what lies inside another event of the row. */
void tracefacts_seal(struct tracefacts *t);
void tracefacts_done(struct tracefacts *t);
/* "worker:3f2a of node:10.0.0.3"; dst. */
char *trace_row_text(const struct trace_row *r, char *dst, size_t cap);
