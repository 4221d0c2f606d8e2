#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/options/commands.h"
#include "tell/text/textout.h"

struct help_options {
	const char *man;
	const char *completion;
};

/* Used by the build. Options without a help text are not shown. */
static const struct option help_options[] = {
	{.name = "man", .type = OPTION_TEXT, .arg = "COMMAND", .offset = offsetof(struct help_options, man)},
	{.name = "completion",
	 .type = OPTION_TEXT,
	 .arg = "SHELL",
	 .offset = offsetof(struct help_options, completion)},
	OPTION_END,
};

static void overview(void)
{
	const struct textout paper = {.to = stdout, .width = textout_width(stdout)};
	textout_text(&paper, 0, "vigil keeps machine-learning jobs alive and says why one died.");
	fputs("\n"
	      "Usage: vigil COMMAND [OPTIONS] …\n\n"
	      "Examples:\n"
	      "  vigil run -- python train.py      start a job and keep watch over it\n"
	      "  vigil why                         what happened to the last, and what to do\n\n"
	      "Commands:\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		printf("  %-12s ", commands[i]->name);
		textout_text(&paper, 15, "%s", commands[i]->summary);
	}
	fputc('\n', stdout);
	textout_text(&paper, 0, "'vigil help COMMAND' or 'vigil COMMAND --help' tells more; the manual is vigil(1).");
}

static int help_run(const void *options, int argc, char **argv)
{
	const struct help_options *o = options;
	if (o->completion) {
		if (strcmp(o->completion, "bash") != 0) {
			log_error("no completion for '%s'; only bash is known", o->completion);
			return EXIT_USAGE;
		}
		option_completion(commands, stdout);
		return 0;
	}
	const char *name = o->man ? o->man : argc > 0 ? argv[0] : NULL;
	if (!name) {
		overview();
		return 0;
	}
	const struct command *c = command_find(name);
	if (!c) {
		command_unknown(name);
		return EXIT_USAGE;
	}
	(o->man ? option_man : option_help)(c, stdout);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.usage = "vigil help [COMMAND]",
	.summary = "explain a command",
	.options = help_options,
	.options_size = sizeof(struct help_options),
	.run = help_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
