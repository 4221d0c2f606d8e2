/*
 * Searches streams of text of any size with a cause book: constant memory, one
 * pass, at the speed of the literal search as long as nothing is found. A line
 * ends with \n or \r (progress bars); terminal colours are taken out. Of a
 * line longer than RULESCAN_WINDOW only that much around a literal is looked
 * at.
 *
 * From a log, what follows "might be caused by", "consider" or "please try" is
 * advice that somebody else gives, and is not matched.
 */
#pragma once

#include "sense/rules/literalset.h"
#include "sense/log/logline.h"
#include "sense/rules/rule.h"

#define RULESCAN_WINDOW (16 * 1024)
#define RULE_VALUE 64
/* Of one stream and rule; a flood says nothing new, and must not make a log of 10 GB slow. */
#define RULESCAN_MOST 65536

enum rule_event {
	RULE_MATCH,
	RULE_CLEARED, /* 'clear:': an earlier match with the same extracts is over */
	RULE_CONTRAST, /* 'contrast:': the other kind of line was seen */
	RULE_EVENTS,
};

/* Whom a line that names a process is about. */
enum rule_whose {
	RULE_WHOSE_UNKNOWN, /* it names none, or it cannot be told */
	RULE_WHOSE_OURS,    /* a process or thread of the job */
	RULE_WHOSE_OTHERS,  /* not one of the job's */
};

struct rule_match {
	const struct rule *rule;
	enum rule_event event;
	enum rule_whose whose; /* RULE_WHOSE_UNKNOWN from here; set by who knows the job's processes */
	const char *file; /* as given to rulescan_begin */
	uint64_t line; /* 1-based, counted by \n */
	int32_t rank; /* of the extract, the prefix or the stream, in this order; NO_RANK */
	bool has_time;
	int64_t time_unix_ms;
	char value[RULE_EXTRACTS][RULE_VALUE]; /* "" not extracted */
	char text[360];
};

typedef void rule_found(void *data, const struct rule_match *m);

struct rulescan;

/*
 * One for all streams of an attempt: what 'clear:' ends must have been found by the same. The book is borrowed.
 * LITERAL_ABSENT when the engine asked for is not there.
 */
int must_check rulescan_new(const struct rulebook *b, enum literal_engine engine, rule_found *found, void *data,
			    struct rulescan **ret);
struct rulescan *rulescan_free(struct rulescan *s);
static inline void rulescan_freep(struct rulescan **s)
{
	rulescan_free(*s);
}

/* This rule has matched before, in a scan that is gone: 'clear:' can be meant from now on. */
void rulescan_remember(struct rulescan *s, const struct rule *rule);
/* A stream begins. name is borrowed until its end; rank NO_RANK when its lines say, or nobody knows. */
int must_check rulescan_begin(struct rulescan *s, enum rule_source source, const char *name, int32_t rank);
/* Read the next bytes to *ret_at, at most the number returned (never 0), and tell how many they were. */
size_t rulescan_room(struct rulescan *s, char **ret_at);
int must_check rulescan_filled(struct rulescan *s, size_t n);
/* The stream is over: its last line needs no newline. */
int must_check rulescan_end(struct rulescan *s);
/* Room, fill, end for text in memory. */
int must_check rulescan_text(struct rulescan *s, enum rule_source source, const char *name, int32_t rank,
			     struct span text);
