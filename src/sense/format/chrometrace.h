/*
 * Events of a trace in Chrome's format (Trace Event Format), as `ray timeline`, PyTorch's profiler and many others
 * write it: an array of events, or an object with "traceEvents". Bytes go in, events come out; nothing else is kept.
 *
 * Times are ns; files have them in us with a fraction. Texts are cut. What an event lacks is "" or has its bit unset.
 * A file that is cut off gives the events before the cut. Pure.
 */
#pragma once

#include "sense/format/jsonstream.h"

struct chrometrace_event {
	char ph; /* 'X' complete, 'B' begin, 'E' end, 'M' metadata, …; 0: none */
	char name[96], cat[32];
	char pid[48], tid[48]; /* numbers or texts */
	char arg_name[64]; /* args.name: what a metadata event names its process or thread */
	bool has_ts, has_dur;
	int64_t ts_ns, dur_ns;
};

struct chrometrace {
	struct jsonstream json;
	void (*event)(void *ctx, const struct chrometrace_event *e);
	void *ctx;
	size_t events_depth; /* depth of the array of events; 0: not found yet */
	bool found; /* there is, or was, an array of events */
	int key; /* of the value that comes next */
	bool in_args;
	struct chrometrace_event now;
	uint64_t n_events;
};

void chrometrace_init(struct chrometrace *t, void (*event)(void *ctx, const struct chrometrace_event *e), void *ctx);
/* JSONSTREAM_BROKEN: no JSON from here on; the events before were given. */
int must_check chrometrace_feed(struct chrometrace *t, const char *data, size_t len);
/* A time in us, as a number is written, in ns; out of range is refused. -EINVAL. */
int must_check chrometrace_time_parse(struct span text, int64_t *ret_ns);
