/*
 * Reads the rule book: files of rules (docs/formats/rules.md) that name the cause of a failure by texts in a log, the
 * kernel's log, stacks, the environment or counters. sense/rules/rulescan searches with the rules, judge/rules/causes
 * weighs the matches. Pure: the caller reads the files.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "sense/rules/pattern.h"

enum rule_source { RULE_LOG, RULE_KMSG, RULE_STACK, RULE_ENV, RULE_COUNTER, RULE_SOURCES };
enum rule_role {
	RULE_ROOT, /* a cause */
	RULE_CASCADE, /* a consequence of another cause */
	RULE_CONFIRMATION, /* confirms the cause of another rule */
};
enum rule_confidence { RULE_LOW, RULE_MEDIUM, RULE_HIGH };
/* The rank that a match blames. */
enum rule_blame { RULE_BLAME_NONE, RULE_BLAME_SELF, RULE_BLAME_PEER, RULE_BLAME_LISTED, RULE_BLAME_MISSING };
enum rule_extract {
	RULE_RANK,
	RULE_PEER,
	RULE_PID,
	RULE_GPU,
	RULE_HCA,
	RULE_SEQ,
	RULE_HOST,
	RULE_NRANKS,
	RULE_RANKS,
	RULE_WHAT,
	RULE_COMM,
	RULE_EXTRACTS,
};

struct rule_capture {
	enum rule_extract name;
	struct pattern pattern; /* the value is the text of its first group */
};

enum rule_need_kind { RULE_NEED_RAISE, RULE_NEED_LOWER, RULE_NEED_MUST };

/* Other evidence that changes the confidence of a match or is required. */
struct rule_need {
	enum rule_need_kind kind;
	bool is_rule; /* a match of another rule; false: a fact */
	char name[64];
};

#define RULE_PATTERNS 24
#define RULE_CAPTURES 6
#define RULE_NEEDS 6
#define RULE_ADVICE 4

struct rule {
	char id[48];
	char title[40]; /* number of a known signature, "12"; may be "" */
	enum rule_source source;
	enum rule_role role;
	enum rule_confidence confidence; /* the highest confidence that a match may have */
	enum rule_blame blame;
	char cause[400];
	char advice[RULE_ADVICE][320];
	size_t n_advice;
	struct pattern *all, *any, *not_, *clear, *contrast; /* arrays */
	size_t n_all, n_any, n_not, n_clear, n_contrast;
	struct rule_capture *captures;
	size_t n_captures;
	struct rule_need needs[RULE_NEEDS];
	size_t n_needs;
	const char *file; /* borrowed from the book */
	uint32_t line;
};

struct rulebook {
	struct rule *rules;
	size_t n, cap;
	char *files[64];
	size_t n_files;
};

void rulebook_done(struct rulebook *b);
/*
 * Adds the rules of a file. A rule replaces one with the same id from an earlier file, so that a user's file can change
 * a rule of vigil. -EBADMSG with file, line and column in f; -E2BIG, -ENOMEM.
 */
int must_check rulebook_add(struct rulebook *b, struct span text, const char *file, struct fault *f);
/* To be called after all files: checks that every rule named by another rule exists. Same errors. */
int must_check rulebook_check(const struct rulebook *b, struct fault *f);
const struct rule *rulebook_find(const struct rulebook *b, const char *id);

const char *rule_source_name(enum rule_source s);
const char *rule_role_name(enum rule_role r);
const char *rule_confidence_name(enum rule_confidence c);
const char *rule_extract_name(enum rule_extract e);
