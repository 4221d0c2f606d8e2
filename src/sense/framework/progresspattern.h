/*
 * A user's pattern for progress lines in a job's output (sense/rules/pattern), with named parts, such as
 * "it=(?<step>\d+) of (?<total>\d+).*L=(?<loss>[^ ]+)". The parts are step, total, epoch and loss, all numbers; at
 * least one of step, epoch and loss has to be there. "(?P<step>" is the same, other groups may stand beside them.
 * docs/formats/progress.md.
 */
#pragma once

#include "sense/rules/pattern.h"

enum progress_part { PROGRESS_STEP, PROGRESS_TOTAL, PROGRESS_EPOCH, PROGRESS_LOSS };

#define PROGRESS_PARTS 4
#define PROGRESS_PATTERNS 8
/* Maximum length with names and NUL; without the names a pattern may have PATTERN_TEXT. */
#define PROGRESS_PATTERN_TEXT 384

struct progress_pattern {
	struct pattern pattern;
	uint8_t group[PROGRESS_PARTS]; /* number of its group, from 1; 0: the pattern lacks this part */
};

/* Patterns in order; the first that matches a line is used. */
struct progress_patterns {
	struct progress_pattern each[PROGRESS_PATTERNS];
	size_t n;
};

/* As pattern_init: -EINVAL with a sentence in why and the offset of the mistake in *ret_at. */
int must_check progress_pattern_init(struct progress_pattern *p, struct span text, char why[static 160],
				     size_t *ret_at);
void progress_pattern_done(struct progress_pattern *p);
