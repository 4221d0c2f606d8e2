/*
 * One table of options for each command gives the parser, --help, the man page and the completion, so that they cannot
 * disagree. A value comes from the flag, else the environment (VIGIL_<OPTION>), else the configuration, else the
 * default.
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
	OPTION_LIST,     /* --notify a,b     struct option_list; repeated flags add items */
};

/* Separates the items of a list that is `whole` in one text: such an item may have commas. */
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
	bool no_key; /* flag and environment only: a configuration file cannot set it */
	bool no_project; /* nor a project's vigil.yaml: it names files, or has programs run */
	const char *const *choices; /* NULL-terminated, for OPTION_CHOICE */
	const char *choices_why; /* a clause that says why another command's choice is missing here; may be NULL */
	/*
	 * Another program's variable that counts after vigil's own, e.g. RAY_memory_usage_threshold. "NAME:unit" gives
	 * plain numbers a unit: "MA_HANG_DETECT_TIME:m".
	 */
	const char *env;
	/* env counts only while the OPTION_CHOICE at env_if_offset, of a row above, has this index; 0: always */
	int env_if;
	size_t env_if_offset;
	/* of lists only: */
	bool whole; /* a comma is part of an item and does not separate two */
	size_t most; /* number of items allowed; 0: as many as a list holds */
	int (*check)(const char *item, struct fault *f); /* -errno for a wrong item; may be NULL */
};

/* An option that people know from another program. */
struct option_absent {
	const char *name; /* without dashes; of one letter: "-v" */
	const char *instead; /* a clause that says what there is */
};

struct command {
	const char *name;
	const char *usage;   /* "vigil run [OPTIONS] [--] COMMAND [ARG…]" */
	const char *summary; /* one line */
	const char *about;   /* paragraphs for --help and the man page */
	const char *examples;
	const char *statuses; /* what exit statuses mean; NULL: as of run (125), or of commands that read (2) */
	const struct option *options; /* ends with name NULL */
	size_t options_size; /* of the options struct */
	const void *defaults;
	int (*run)(const void *options, int argc, char **argv); /* argv: the words that are no options */
	bool stop_at_first_word; /* run: the rest is the user's command */
	const char *words;   /* what may stand as the first word, for completion; NULL: jobs or files */
	bool paged;          /* long output is shown by the pager */
	bool stays;          /* runs beside jobs for as long as they do: its memory is kept small */
	const struct option_absent *absent; /* ends with name NULL; may be NULL */
	int usage_status;    /* exit status for a wrong call: 2, and 125 for run */
};

enum {
	OPTION_HELP = 1, /* --help or -h was asked for */
};

/*
 * Fill opts (options_size bytes, already holding the defaults) from the environment and argv. argv is reordered;
 * *ret_rest: index of the first word that is no option. Errors are one sentence, with a suggestion for typing mistakes.
 */
int must_check option_parse(const struct command *c, int argc, char **argv, void *opts, int *ret_rest, struct fault *f);
/* Print the text of --help. */
void option_help(const struct command *c, FILE *to);
/* Print the man page, in roff. */
void option_man(const struct command *c, FILE *to);
/* Print the completion for bash, over all commands. */
void option_completion(const struct command *const *commands, FILE *to);

/* The name without "[no-]". */
const char *option_name(const struct option *o);
/* The option of that name; NULL if there is none. */
const struct option *option_find(const struct command *c, const char *name);
/* The option whose name is most like a misspelt one; NULL if none is near. */
const char *option_nearest(const struct command *c, const char *name);
/* Its variable, as "VIGIL_MEMORY_LIMIT". Returns dst. */
char *option_variable(const struct option *o, char dst[static 64]);
/*
 * The value that the environment gives the option, and in name its variable; NULL if there is none. opts has the
 * choices of the rows above, which decide whether a foreign variable with a condition counts.
 */
const char *option_environment(const struct option *o, const void *opts, char name[static 64]);
/* Set it from that variable. As option_set, but a foreign variable with a condition may not be 0. */
int must_check option_set_environment(const struct option *o, const char *value, const char *name, void *opts,
				      struct fault *f);
/*
 * Set one option from text, which is borrowed. where begins the error's sentence: "--memory-limit", "VIGIL_NPROC",
 * "vigil.yaml:3:5: nproc". A list is replaced.
 */
int must_check option_set(const struct option *o, const char *value, const char *where, void *opts, struct fault *f);
/* The value as it is typed; "" when there is none. */
void option_format(const struct option *o, const void *opts, char *dst, size_t cap);
