/*
 * One table of options per command makes the parser, --help, the man page and
 * the completion, so that they cannot disagree. Precedence of a value: flag,
 * then environment (VIGIL_<OPTION>), then configuration, then the default.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"
#include "base/fault.h"

enum option_type {
	OPTION_FLAG,     /* --quiet          bool */
	OPTION_TEXT,     /* --name N         const char * (borrowed from argv or environ) */
	OPTION_U32,      /* --nproc N        uint32_t */
	OPTION_SIZE,     /* --memory-limit   uint64_t bytes */
	OPTION_RATIO,    /* --threshold      double */
	OPTION_DURATION, /* --backoff        uint64_t ns */
	OPTION_CHOICE,   /* --policy         int: index into choices */
	OPTION_LIST,     /* --notify a b or a,b: struct option_list; not parted where a row says `whole` */
};

/* Between the items of a list that is `whole`, where one text has to carry them all. */
#define OPTION_ITEM_END '\x1f'

struct option_list {
	const char *item[32];
	size_t n;
};

struct option {
	const char *name;    /* "memory-limit"; "[no-]freeze" gives --freeze and --no-freeze */
	char letter;         /* 0: none */
	enum option_type type;
	const char *arg;     /* "SIZE"; NULL for flags */
	const char *help;    /* one sentence, lower case, no full stop; NULL: not shown */
	size_t offset;       /* of the field in the command's options struct */
	const char *const *choices; /* NULL-terminated, for OPTION_CHOICE */
	const char *choices_why; /* a clause: why another command's choice is none here; may be NULL */
	/*
	 * An additional foreign variable that is honoured, e.g. RAY_memory_usage_threshold. "NAME:unit" gives
	 * plain numbers a unit: "MA_HANG_DETECT_TIME:m".
	 */
	const char *env;
	/* env counts only while the OPTION_CHOICE at env_if_offset, a row above, is at this index; 0: always. */
	int env_if;
	size_t env_if_offset;
	/* Of lists: an item is whatever it is, with commas; at most so many, 0: as many as a list holds; is one fine? */
	bool whole;
	size_t most;
	int (*check)(const char *item, struct fault *f);
};

struct command {
	const char *name;
	const char *usage;   /* "vigil run [OPTIONS] [--] COMMAND [ARG…]" */
	const char *summary; /* one line */
	const char *about;   /* paragraphs for --help and the man page */
	const char *examples;
	const struct option *options; /* ends with name NULL */
	size_t options_size; /* of the options struct */
	const void *defaults;
	int (*run)(const void *options, int argc, char **argv); /* what is left after the options */
	bool stop_at_first_word; /* run, map: the rest is the user's command */
	int usage_status;    /* exit status for a wrong call: 2, and 125 for run and map */
};

enum {
	OPTION_HELP = 1, /* --help or -h was asked for */
};

/*
 * Fill opts (options_size bytes, already holding the defaults) from the
 * environment and argv. *ret_rest: index of the first argument left over.
 * Errors are one sentence with a suggestion for typing mistakes.
 */
int must_check option_parse(const struct command *c, int argc, char **argv, void *opts, int *ret_rest,
			    struct fault *f);
void option_help(const struct command *c, FILE *to);
void option_man(const struct command *c, FILE *to);
/* Completion for bash, over all commands. */
void option_completion(const struct command *const *commands, FILE *to);

/* The name without "[no-]". */
const char *option_name(const struct option *o);
/* By its name; NULL if there is none. */
const struct option *option_find(const struct command *c, const char *name);
/* The option whose name is most like a misspelt one; NULL if none is near. */
const char *option_nearest(const struct command *c, const char *name);
/* "VIGIL_MEMORY_LIMIT" */
char *option_variable(const struct option *o, char dst[static 64]);
/*
 * The variable that gives the option its value now, and the value; NULL if none does. opts, with the choices of the rows
 * above, says whether a foreign variable with a condition counts.
 */
const char *option_environment(const struct option *o, const void *opts, char name[static 64]);
/* Set it from that variable. As option_set, but a foreign variable with a condition may not say 0. */
int must_check option_set_environment(const struct option *o, const char *value, const char *name, void *opts,
				      struct fault *f);
/*
 * Set one option from text, which is borrowed. where begins the error's
 * sentence: "--memory-limit", "VIGIL_NPROC", "vigil.yaml:3:5: nproc".
 * Lists are replaced.
 */
int must_check option_set(const struct option *o, const char *value, const char *where, void *opts, struct fault *f);
/* The value as one would type it; "" when there is none. */
void option_format(const struct option *o, const void *opts, char *dst, size_t cap);
