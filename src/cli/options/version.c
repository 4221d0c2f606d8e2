#include <stdio.h>

#include "agent/web/webassets.h"
#include "cli/options/commands.h"

static int version_run(const void *options, int argc, char **argv)
{
	(void)options;
	(void)argc;
	(void)argv;
	printf("vigil %s%s\n", VIGIL_VERSION,
	       webassets_full ? "" : " (built without its page: vigil dashboard shows a small one)");
	return 0;
}

static const struct option version_options[] = {OPTION_END};

const struct command command_version = {
	.name = "version",
	.usage = "vigil version",
	.summary = "print the version",
	.options = version_options,
	.run = version_run,
	.usage_status = EXIT_USAGE,
};
