#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/inherit.h"
#include "base/foreign_path.h"
#include "base/heap.h"
#include "base/log.h"
#include "cli/config/config.h"
#include "cli/options/commands.h"
#include "cli/options/nearest.h"
#include "cli/screen/pager.h"
#include "sense/lockwait.h"
#include "sense/native/lineserver.h"

const struct command *const commands[] = {
	&command_run,
	&command_map,
	&command_watch,
	&command_why,
	&command_jobs,
	&command_ps,
	&command_show,
	&command_events,
	&command_logs,
	&command_timeline,
	&command_report,
	&command_dashboard,
	&command_agent,
	&command_top,
	&command_mem,
	&command_metrics,
	&command_collectives,
	&command_gpus,
	&command_calls,
	&command_stack,
	&command_waits,
	&command_flame,
	&command_heap,
	&command_protect,
	&command_rules,
	&command_doctor,
	&command_notify,
	&command_config,
	&command_help,
	&command_version,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

void command_unknown(const char *name)
{
	struct nearest n = {.typed = name};
	for (size_t i = 0; commands[i]; i++)
		nearest_offer(&n, commands[i]->name);
	if (n.best)
		log_error("unknown command '%s'; did you mean 'vigil %s'?", name, n.best);
	else
		log_error("unknown command '%s'; 'vigil help' lists the commands, 'vigil run -- %s' starts a job", name,
			  name);
}

/*
 * The configuration's file that the command line names: the arguments are parsed once before the configuration is read,
 * without keeping anything else of it. *ret is NULL if none is named.
 */
static int named_config(const struct command *c, int argc, char **argv, const char **ret, struct fault *f)
{
	const struct option *o = option_find(c, "config");
	*ret = NULL;
	if (!o || !o->no_key)
		return 0;
	cleanup(freep) char *scratch = calloc(1, c->options_size);
	cleanup(freep) char **words = calloc((size_t)argc + 1, sizeof(*words));
	int rest;
	if (!scratch || !words)
		return fault_set(f, -ENOMEM, "no memory to start");
	if (c->defaults)
		memcpy(scratch, c->defaults, c->options_size);
	memcpy(words, argv, (size_t)argc * sizeof(*words)); /* parsing puts them in another order */
	int r = option_parse(c, argc, words, scratch, &rest, f);
	memcpy(ret, scratch + o->offset, sizeof(*ret));
	return r;
}

/*
 * A command that acts stops at a configuration that cannot be read, because it would act against the user's wishes. A
 * command that reads goes on: a mistake in the file must not hide a report.
 */
static int configure(const struct command *c, const char *named, void *opts)
{
	static struct config config; /* never freed: options point into it */
	static char note[256];
	bool strict = config_is_section(c->name);
	struct fault f = {.text = ""};
	if (!strict && !option_find(c, "state") && !option_find(c, "rules"))
		return 0;
	int r = config_load(&config, named, note, &f);
	if (r == 0)
		r = strict ? config_check(&config, commands, &f) : 0;
	if (r == 0)
		r = config_apply(&config, c, opts, &f);
	if (note[0] && strict)
		log_warning("%s", note);
	if (r == 0)
		return 0;
	if (strict)
		log_error("%s", f.text);
	else
		log_warning("%s; the configuration is left aside", f.text);
	return strict ? r : 0;
}

static int call(const struct command *c, int argc, char **argv)
{
	struct fault f = {.text = ""};
	cleanup(freep) void *opts = calloc(1, c->options_size ? c->options_size : 1);
	const char *named;
	int rest = 0;
	if (!opts) {
		log_error("no memory to start");
		return c->usage_status;
	}
	if (c->defaults)
		memcpy(opts, c->defaults, c->options_size);
	int r = named_config(c, argc, argv, &named, &f);
	if (r == 0 && configure(c, named, opts) < 0)
		return c->usage_status;
	if (r == 0)
		r = option_parse(c, argc, argv, opts, &rest, &f);
	if (r == OPTION_HELP || (r == 0 && c->paged))
		pager_begin(r == 0 && c != &command_help); /* its examples are copied */
	if (r == OPTION_HELP) {
		option_help(c, stdout);
		return 0;
	}
	if (r < 0) {
		log_error("%s", f.text);
		return c->usage_status;
	}
	if (c != &command_run) /* which begins when its job has */
		lockwait_begin();
	return c->run(opts, argc - rest, argv + rest);
}

/* What is missing in the output because a process did not answer. */
static void standing_say(const struct command *c)
{
	pid_t pid[4];
	size_t n = c->paged || c == &command_top ? lockwait_standing(pid, ARRAY_SIZE(pid)) : 0;
	if (n == 1)
		log_info("process %d does not answer, as something holds its memory lock: what only it could "
			 "tell is left out",
			 (int)pid[0]);
	else if (n > 1)
		log_info("%zu processes do not answer (%d, %d%s), as something holds their memory locks: what only "
			 "they could tell is left out",
			 n, (int)pid[0], (int)pid[1], n > 2 ? ", …" : "");
}

static int main_run(int argc, char **argv)
{
	const char *name = argc >= 2 ? argv[1] : NULL;
	if (name && strcmp(name, LINESERVER_COMMAND) == 0)
		return lineserver_main();
	if (getenv("VIGIL_DEBUG"))
		log_set_level(LOG_LEVEL_DEBUG);
	if (!name) {
		log_error("no command given; 'vigil run -- COMMAND' starts a job, 'vigil help' lists the commands");
		return EXIT_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	const struct command *c = command_find(name);
	if (!c) {
		command_unknown(name);
		return EXIT_USAGE;
	}
	if (c->stays)
		heap_keep_sparse(); /* before any table is written to */
	lineserver_has_program();
	int status = call(c, argc - 2, argv + 2);
	standing_say(c);
	/* Output that could not be written is a failure that scripts must see; a closed pipe is not a failure. */
	if ((!pager_end() || fflush(stdout) == EOF || ferror(stdout)) && errno != EPIPE && status == 0) {
		log_error("cannot write the output: %s", strerror(errno ? errno : EIO));
		return EXIT_PROBLEM;
	}
	return status;
}

int main(int argc, char **argv)
{
	inherit_mend();
	foreign_environ_zone();
	return inherit_call(main_run, argc, argv);
}
