/*
 * Searches streams of text of any size with a rule book, in one pass and with constant memory, at the speed of the
 * literal search while nothing is found. A line ends with \n or \r (progress bars); terminal colours are removed. In a
 * line longer than RULESCAN_WINDOW only RULESCAN_WINDOW bytes around a literal are matched.
 *
 * In a log, the text after "might be caused by", "consider" or "please try" is advice of another program and is not
 * matched.
 */
#pragma once

#include "sense/rules/literalset.h"
#include "sense/log/logline.h"
#include "sense/rules/rule.h"

#define RULESCAN_WINDOW (16 * 1024)
#define RULE_VALUE 64
/* Maximum number of reports for one stream, rule and event; more matches add nothing and would slow the search down. */
#define RULESCAN_MOST 65536

enum rule_event {
	RULE_MATCH,
	RULE_CLEARED, /* 'clear:': the cause of an earlier match with the same extracts has ended */
	RULE_CONTRAST, /* 'contrast:': a line of the opposite meaning was found */
	RULE_EVENTS,
};

/* Owner of the process that a line names. */
enum rule_whose {
	RULE_WHOSE_UNKNOWN, /* the line names no process, or its owner is unknown */
	RULE_WHOSE_OURS, /* a process or thread of the job */
	RULE_WHOSE_OTHERS, /* a process outside of the job */
};

struct rule_match {
	const struct rule *rule;
	enum rule_event event;
	enum rule_whose whose; /* always RULE_WHOSE_UNKNOWN here; a caller that knows the job's processes sets it */
	const char *file; /* as given to rulescan_begin */
	uint64_t line; /* 1-based, counted by \n */
	int32_t rank; /* from the extract, the prefix or the stream, in this order; NO_RANK */
	bool has_time;
	int64_t time_unix_ms;
	char value[RULE_EXTRACTS][RULE_VALUE]; /* "": not extracted */
	char text[360];
};

typedef void rule_found(void *data, const struct rule_match *m);

struct rulescan;

/*
 * One rulescan serves all streams of an attempt, because 'clear:' counts only after a match in the same rulescan. The
 * book is borrowed. LITERAL_ABSENT: the requested engine is not installed. -ENOMEM.
 */
int must_check rulescan_new(const struct rulebook *b, enum literal_engine engine, rule_found *found, void *data,
			    struct rulescan **ret);
/* A scan of the same book that shares what was compiled, which takes most of the memory; like must outlive it. */
int must_check rulescan_new_like(const struct rulescan *like, rule_found *found, void *data, struct rulescan **ret);
struct rulescan *rulescan_free(struct rulescan *s);
static inline void rulescan_freep(struct rulescan **s)
{
	rulescan_free(*s);
}

/* The rule has matched in an earlier rulescan, so its 'clear:' lines count from now on. */
void rulescan_remember(struct rulescan *s, const struct rule *rule);
/* Begins a stream. name is borrowed until its end. rank: NO_RANK if its lines name the rank, or it is unknown. */
int must_check rulescan_begin(struct rulescan *s, enum rule_source source, const char *name, int32_t rank);
/* The caller reads at most as many bytes as are returned (never 0) to *ret_at, then calls rulescan_filled with n. */
size_t rulescan_room(struct rulescan *s, char **ret_at);
int must_check rulescan_filled(struct rulescan *s, size_t n);
/* Ends the stream; its last line needs no newline. */
int must_check rulescan_end(struct rulescan *s);
/* Searches text in memory as one stream, from rulescan_begin to rulescan_end. */
int must_check rulescan_text(struct rulescan *s, enum rule_source source, const char *name, int32_t rank,
			     struct span text);
