/*
 * A notice: what is told to people or their tools about an incident. Plain
 * data without pointers; its JSON form is "vigil.notice/1" (docs/json.md).
 *
 * `key` names what goes on ("train-abcd/memory_kill"): notices with the same
 * key belong together, and a resolved one takes back all before it. `id` names
 * this notice: the same id again is the same news. Text is UTF-8 without
 * control characters but for newlines in `text`, cut to fit.
 */
#pragma once

#include "base/base.h"
#include "model/incident/incident.h"

enum notice_severity { NOTICE_INFO, NOTICE_WARNING, NOTICE_ERROR, NOTICE_CRITICAL };

#define NOTICE_ADVICE 4
#define NOTICE_EVIDENCE 3
#define NOTICE_RANKS 16

struct notice {
	char id[96], key[128];
	bool resolved; /* it is over */
	bool test; /* sent by `vigil notify test` */
	uint32_t count; /* how many notices this one stands for, itself included */
	char kind[24]; /* an incident's kind, "test" or "digest" */
	enum notice_severity severity;
	char job[64], node[80];
	uint32_t attempt;
	int32_t ranks[NOTICE_RANKS];
	size_t n_ranks;
	int64_t time_unix_ms;
	char title[240]; /* one line that says it all */
	char text[1400]; /* the cause; paragraphs */
	char cause[48];
	char confidence[8]; /* "" when there is no cause */
	char advice[NOTICE_ADVICE][320];
	size_t n_advice;
	char evidence[NOTICE_EVIDENCE][360];
	size_t n_evidence;
	char command[160]; /* that shows more */
	char link[512]; /* page that shows more; "" */
};

const char *notice_severity_name(enum notice_severity s);
bool notice_severity_of(const char *name, enum notice_severity *ret);

/* memory_kill with a retry left is a warning, a job that is given up is critical. */
void notice_of_incident(const struct incident *i, struct notice *ret);
/* The end of what earlier notices of this key said. */
void notice_resolve(const char *job, const char *node, const char *kind, int64_t now_unix_ms, struct notice *ret);
/* Clearly marked as no news. */
void notice_of_test(const char *channel, const char *node, int64_t now_unix_ms, struct notice *ret);

/* Fold later notices of the same key into *n: the first cause is kept, the number grows. */
void notice_fold(struct notice *n, const struct notice *later);
/* Begin a digest of several keys, and add to it. Titles beyond 20 are only counted. */
void notice_digest_begin(const char *node, int64_t now_unix_ms, struct notice *ret);
void notice_digest_add(struct notice *digest, const struct notice *n);
/* "https://host/job/{job}" with {job}, {incident}, {node}, {kind} filled in, percent-encoded. */
void notice_link(struct notice *n, const char *pattern);
