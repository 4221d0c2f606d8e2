#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/commands.h"

static int version_run(const void *options, int argc, char **argv)
{
	(void)options;
	(void)argc;
	(void)argv;
	printf("vigil %s\n", VIGIL_VERSION);
	return 0;
}

static const struct option version_options[] = {{.name = NULL}};

const struct command command_version = {
	.name = "version",
	.usage = "vigil version",
	.summary = "print the version",
	.options = version_options,
	.run = version_run,
	.usage_status = 2,
};

const struct command *const commands[] = {
	&command_version,
	NULL,
};

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "version") == 0)
		return version_run(NULL, 0, NULL);
	log_error("no command given; try 'vigil help'");
	return 2;
}
