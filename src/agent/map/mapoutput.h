/*
 * What tasks write, on its way to our stdout and stderr.
 *
 * Grouped: a task writes into two files without a name, which are used again by the next one; when it has ended, what
 * is in them is passed on, in the order of the tasks if that is asked for. By lines: two pipes, whose whole lines are
 * passed on as they come. Ungrouped: a task writes to our own channels.
 *
 * A copy is kept for `vigil logs`, up to MAPOUTPUT_KEPT of each channel.
 */
#pragma once

#include "agent/map/mapinputs.h"
#include "agent/map/maptable.h"

#define MAPOUTPUT_KEPT (256 * MIB)

struct map_stream {
	int fd; /* ours; -1: closed */
	char *text; /* a line that has no end yet */
	size_t len, cap;
	uint64_t passed_bytes;
};

struct map_files {
	int out, err; /* what the task gets; -1: our own */
	bool named; /* of --results */
	struct map_stream line[2]; /* by lines */
};

#define MAP_FILES_NONE ((struct map_files){.out = -1, .err = -1, .line = {{.fd = -1}, {.fd = -1}}})

struct map_held; /* output that waits for that of earlier tasks */

/* Called while a reader of ours is slow, some fifty times a second; false: give the output up. And before output. */
struct mapoutput_wait {
	bool (*blocked)(void *ctx);
	void (*before)(void *ctx);
	void *ctx;
};

struct mapoutput {
	struct mapoutput_wait wait;
	bool direct[2]; /* our channel is a file: a write is not waited for */
	bool terminal[2]; /* it is one: names of inputs, as other users' files have them, are not to drive it */
	const struct map_spec *spec;
	struct maptable table; /* of --results, instead of passing output on */
	int table_error; /* it cannot be written */
	int kept[2]; /* -1: not kept */
	uint64_t kept_bytes[2];
	int *idle; /* pairs of files that are used again */
	size_t n_idle, idle_cap;
	struct map_held *held; /* by number from next_seq on */
	size_t n_held, held_cap;
	uint64_t next_seq; /* of the output to be passed on next */
	size_t held_files;
	bool room_told; /* that its disk is full */
	int error; /* of our stdout: nobody reads any more */
};

/* A copy without control characters, but for ends of lines; malloc'ed. NULL: no memory. */
char *mapoutput_shown(const char *text);
void mapoutput_init(struct mapoutput *o, const struct map_spec *spec, const struct mapoutput_wait *wait);
/* No task is started any more: closes the files that are kept for the next ones. */
void mapoutput_no_more(struct mapoutput *o);
void mapoutput_done(struct mapoutput *o);
/* True: so many files wait for earlier tasks that no more are started. */
bool mapoutput_full(const struct mapoutput *o);
/* Files for a task. -errno with a sentence. */
int must_check mapoutput_take(struct mapoutput *o, const struct map_args *args, uint64_t seq, struct map_files *ret,
			      struct fault *f);
/* The task has started: what only it needs is closed. */
void mapoutput_started(struct map_files *files);
/* By lines: the descriptor has something to read. */
void mapoutput_readable(struct mapoutput *o, struct map_files *files, int which, const char *tag);
/* The task is over: pass its output on. Returns the bytes of its stdout. */
uint64_t mapoutput_over(struct mapoutput *o, uint64_t seq, struct map_files *files, const char *tag);
/* The same into the table of --results. The row is filled in but for what was received. */
uint64_t mapoutput_over_row(struct mapoutput *o, struct joblog_row *row, const struct map_args *args,
			    struct map_files *files, const char *tag);
/* It will be tried again: what it wrote is dropped. */
void mapoutput_drop(struct mapoutput *o, struct map_files *files);
/* A task that writes nothing: it was not run. */
void mapoutput_skip(struct mapoutput *o, uint64_t seq);
