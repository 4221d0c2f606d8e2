/*
 * What `flame` and `calls` share: make a recording with a progress line,
 * keep a note of it in the job's events, read one back, and open the file
 * that the result goes to.
 */
#pragma once

#include <stdio.h>

#include "agent/stacks/profile.h"
#include "cli/options/subject.h"

struct recording_want {
	const struct members_want *members;
	uint64_t duration_ns;
	double rate_hz;
	bool native, children, threads_apart;
	const struct subject *subject;
	const char *state; /* --state or NULL */
};

/* As profile_record; Ctrl-C and SIGTERM end it early. Progress on stderr if that is a terminal. */
int must_check recording_make(const struct world *w, const struct recording_want *want, struct stackset **ret,
			      struct fault *f);
/* A recording written before: "vigil.flame/1" or folded lines; "-" is stdin. */
int must_check recording_load(const char *path, struct stackset **ret, struct fault *f);

/*
 * The status of a command that has shown a recording, 0 otherwise: 3, with a sentence, where the very process that was
 * asked for could not be read.
 */
int recording_status(const struct stackset *s, const struct subject *asked);

struct recording_out {
	FILE *to;
	char path[512]; /* final name; "" is stdout */
	char beside[540]; /* written under this name until it is whole */
};
/*
 * path NULL: stdout, unless that is a terminal and the result is not for
 * reading (text false): then "<stem>-<key>.<suffix>" in the current directory.
 */
int must_check recording_out_open(const char *path, const char *stem, const char *key, const char *suffix, bool text,
				  struct recording_out *ret, struct fault *f);
/* Can it be written there? Asked before something is recorded for an hour. Leaves nothing behind. */
int must_check recording_out_probe(const char *path, struct fault *f);
/* keep false: an older file of that name stays as it was. */
int must_check recording_out_close(struct recording_out *o, bool keep, struct fault *f);
/* Close. r and f are what writing gave; its sentence stays. Gives the first error, with a sentence, or 0. */
int must_check recording_out_end(struct recording_out *o, int r, struct fault *f);
