/*
 * The cause book: rules that name the cause of a trouble by what stands in a
 * log, in the kernel's log, in stacks, in the environment or in counters. This
 * reads the files (docs/formats/rules.md); sense/rules/rulescan searches with them,
 * judge/rules/causes weighs what was found. Pure: text in, rules out.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "sense/rules/pattern.h"

enum rule_source { RULE_LOG, RULE_KMSG, RULE_STACK, RULE_ENV, RULE_COUNTER, RULE_SOURCES };
enum rule_role {
	RULE_ROOT, /* a cause */
	RULE_CASCADE, /* what follows from a cause elsewhere */
	RULE_CONFIRMATION, /* says that a cause of another rule is so */
};
enum rule_confidence { RULE_LOW, RULE_MEDIUM, RULE_HIGH };
/* Whom a match accuses. */
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
	struct pattern pattern; /* its first group is taken */
};

enum rule_need_kind { RULE_NEED_RAISE, RULE_NEED_LOWER, RULE_NEED_MUST };

/* Evidence from elsewhere. */
struct rule_need {
	enum rule_need_kind kind;
	bool is_rule; /* another rule's match; else a fact */
	char name[64];
};

#define RULE_PATTERNS 24
#define RULE_CAPTURES 6
#define RULE_NEEDS 6
#define RULE_ADVICE 4

struct rule {
	char id[48];
	char title[40]; /* which of the known signatures: "12"; may be empty */
	enum rule_source source;
	enum rule_role role;
	enum rule_confidence confidence; /* the most that it may say */
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
 * Add the rules of a file. A rule whose id is there already takes its place,
 * so that a user's file can change a rule of vigil. -EBADMSG with file, line
 * and column in f.
 */
int must_check rulebook_add(struct rulebook *b, struct span text, const char *file, struct fault *f);
/* After all files: rules that are named by others must be there. Same errors. */
int must_check rulebook_check(const struct rulebook *b, struct fault *f);
const struct rule *rulebook_find(const struct rulebook *b, const char *id);

const char *rule_source_name(enum rule_source s);
const char *rule_role_name(enum rule_role r);
const char *rule_confidence_name(enum rule_confidence c);
const char *rule_extract_name(enum rule_extract e);
