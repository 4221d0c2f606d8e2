/*
 * A notice: the report of an incident to people or their tools. Plain data without pointers; its JSON form is
 * "vigil.notice/1" (docs/json.md).
 *
 * `key` names the ongoing problem ("train-abcd/memory_kill"): notices with the same key belong together, and a
 * resolved one ends all earlier ones. `id` names this notice: the same id again is the same report. Text is UTF-8
 * without control characters except newlines in `text`, cut to fit.
 */
#pragma once

#include "base/base.h"
#include "model/incident/incident.h"

#define NOTICE_LOSS "loss_broken"

enum notice_severity { NOTICE_INFO, NOTICE_WARNING, NOTICE_ERROR, NOTICE_CRITICAL };

#define NOTICE_ADVICE 4
#define NOTICE_EVIDENCE 3
#define NOTICE_RANKS 16

struct notice {
	char id[96], key[128];
	bool resolved; /* the problem has ended */
	bool test; /* sent by `vigil notify test` */
	uint32_t count; /* number of notices that this one stands for, itself included */
	char kind[24]; /* an incident's kind, "loss_broken", "test" or "digest" */
	enum notice_severity severity;
	char job[64], node[80];
	uint32_t attempt;
	int32_t ranks[NOTICE_RANKS];
	size_t n_ranks;
	int64_t time_unix_ms;
	char title[240]; /* a summary in one line */
	char text[1400]; /* the cause; paragraphs */
	char cause[48];
	char confidence[8]; /* "" when there is no cause */
	char advice[NOTICE_ADVICE][320];
	size_t n_advice;
	char evidence[NOTICE_EVIDENCE][360];
	size_t n_evidence;
	char command[160]; /* a command that shows more */
	char link[512]; /* address of a page that shows more; "": none */
};

const char *notice_severity_name(enum notice_severity s);
bool notice_severity_of(const char *name, enum notice_severity *ret);

/* Makes the notice of an incident. With a retry left it is a warning; a job that is given up is critical. */
void notice_of_incident(const struct incident *i, struct notice *ret);
/*
 * Makes the notice of a loss that became NaN or infinite: kind "loss_broken", a warning, ended by nothing. what: "rank
 * 1: the loss became NaN at step 31".
 */
void notice_of_loss(const char *job, const char *node, uint32_t attempt, const char *what, int64_t now_unix_ms,
		    struct notice *ret);
/* Makes the notice of something that is no incident yet. */
void notice_of_warning(const char *job, const char *node, const char *kind, const char *text, int64_t now_unix_ms,
		       struct notice *ret);
/* Makes the notice that ends all earlier ones of this key. */
void notice_resolve(const char *job, const char *node, const char *kind, int64_t now_unix_ms, struct notice *ret);
/* Makes a test notice, marked as such. */
void notice_of_test(const char *channel, const char *node, int64_t now_unix_ms, struct notice *ret);

/* Folds a later notice of the same key into *n: the first cause is kept, the count grows. */
void notice_fold(struct notice *n, const struct notice *later);
/* Begins a digest of several keys, and adds to it. Titles beyond 20 are only counted. */
void notice_digest_begin(const char *node, int64_t now_unix_ms, struct notice *ret);
void notice_digest_add(struct notice *digest, const struct notice *n);
/*
 * Sets the link from a pattern like "https://host/job/{job}": {job}, {incident}, {node} and {kind} are replaced,
 * percent-encoded.
 */
void notice_link(struct notice *n, const char *pattern);
