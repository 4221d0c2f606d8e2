/*
 * What the rule book found in one attempt of a job, gathered over the logs of all ranks and the other sources, and
 * the verdict that judge/rules/causes derives from it. Copies of a message on many ranks, or with other numbers, are
 * one entry. Bounded: what does not fit is counted.
 */
#pragma once

#include "base/base.h"
#include "sense/rules/rulescan.h" /* struct rule, struct rule_match */

#define CAUSE_GROUPS 1024
#define CAUSE_RANKS 64
#define CAUSE_FACTS 64

struct cause_group {
	uint64_t key;
	uint64_t order; /* number of its first event; increases */
	uint64_t n;
	struct rule_match first; /* rule borrowed from the rule book; file from the scan */
	int32_t ranks[CAUSE_RANKS]; /* ranks with such lines, each once */
	size_t n_ranks;
};

/* A fact from another source that rules may ask for: "ib_active", "NCCL_IB_TIMEOUT" = "22". */
struct cause_fact {
	char name[64];
	char value[64];
};

struct cause_set {
	struct cause_group *groups;
	size_t n, cap;
	uint64_t n_matches, n_events, n_dropped; /* contrasts count as events, not as matches */
	struct cause_fact facts[CAUSE_FACTS];
	size_t n_facts;
};

void cause_set_done(struct cause_set *s);
/* 0 or -ENOMEM. */
int must_check cause_set_add(struct cause_set *s, const struct rule_match *m);
/* Appends the entries of `more`; the facts of s stay as they are. 0 or -ENOMEM. */
int must_check cause_set_join(struct cause_set *s, const struct cause_set *more);
/* Sets a fact, replacing one of the same name; false if there is no room. */
bool cause_set_fact(struct cause_set *s, const char *name, const char *value);
const struct cause_fact *cause_set_find_fact(const struct cause_set *s, const char *name);

#define CAUSE_ADVICE 4
#define CAUSE_EVIDENCE 8
#define CAUSE_CULPRITS 64
#define CAUSE_OTHERS 6

/* Plain data without pointers, so that it can be kept in shared memory. */
struct cause_verdict {
	bool valid;
	char id[48];
	enum rule_role role;
	enum rule_confidence confidence;
	char text[700];
	char advice[CAUSE_ADVICE][400];
	size_t n_advice;
	/*
	 * The rule read stacks: whether it matched the main thread of a process, which is the one that others wait for,
	 * and of which ranks (each once; none: the lines name none).
	 */
	bool of_stack, of_main_thread;
	int32_t stack_ranks[CAUSE_RANKS];
	size_t n_stack_ranks;
	int32_t culprits[CAUSE_CULPRITS];
	size_t n_culprits;
	struct {
		char source[96];
		char text[360];
		int64_t time_unix_ms; /* 0: unknown */
	} evidence[CAUSE_EVIDENCE];
	size_t n_evidence;
	char others[CAUSE_OTHERS][48]; /* ids of the other causes found, in order */
	size_t n_others;
};
