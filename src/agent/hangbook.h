/*
 * What the cause book (sense/rule) says about a job that stands still: over
 * the ends of all its ranks' logs and over the kernel's log since the job was
 * started. Rules over stacks, environment and counters get their text from
 * whoever has it: hangbook_text, before hangbook_judge.
 */
#pragma once

#include "agent/hangcrew.h"
#include "sense/world.h"

struct hangbook;

/* NULL with a sentence in why when the rules cannot be read. rules: the user's files, with ',' between. */
struct hangbook *hangbook_open(const struct world *w, const char *rules, char why[static 120]);
struct hangbook *hangbook_close(struct hangbook *b);
/* Each rank's output. */
void hangbook_logs(struct hangbook *b, const struct hang_job *job);
/*
 * 0, WORLD_ABSENT, WORLD_DENIED, -errno. What is older than since_unix_ms is none of this job's, and neither is a line about
 * a process that is not known to crew: a stranger that was killed, crashed or blocked.
 */
int must_check hangbook_kernel(struct hangbook *b, const struct world *w, const struct crew *crew, int64_t since_unix_ms);
/* The process that a line of the kernel's log is about; 0: none in particular. Pure. */
pid_t hangbook_subject(struct span line);
void hangbook_text(struct hangbook *b, enum rule_source source, const char *name, int32_t rank, struct span text);
/* ret->valid false: nothing was found. */
void hangbook_judge(struct hangbook *b, struct cause_verdict *ret);
