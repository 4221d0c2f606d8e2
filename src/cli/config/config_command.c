#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/config/config.h"
#include "cli/config/config_notify.h"
#include "cli/options/commands.h"

struct config_options {
	bool origin;
	bool json;
};

static const struct option config_options[] = {
	{.name = "origin",
	 .type = OPTION_FLAG,
	 .help = "say where each value comes from",
	 .offset = offsetof(struct config_options, origin)},
	OPTION_JSON(config_options),
	OPTION_END,
};

static void mistake_log(const struct fault *f)
{
	log_error("%s", f->text);
}

static int config_command_check(const char *file)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	struct fault f = {.text = ""};
	char note[256] = "";
	int r = file ? config_add_file(&c, file, CONFIG_NAMED, &f) : config_load(&c, NULL, note, &f);
	if (note[0])
		log_warning("%s", note);
	if (r == 0 && config_check_all(&c, commands, mistake_log) > 0)
		return EXIT_PROBLEM;
	if (r < 0) {
		log_error("%s", f.text);
		return r == -ENOENT ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	cleanup(freep) struct channels *all = calloc(1, sizeof(*all));
	if (all && config_channels(&c, all, &f) == 0)
		config_channels_files(all, log_warning);
	if (c.n_files == 0)
		puts("no configuration file is in use; defaults apply");
	for (size_t i = 0; i < c.n_files; i++)
		printf("%s: fine\n", c.files[i]);
	return note[0] ? EXIT_PROBLEM : 0;
}

struct value {
	const struct command *command;
	const struct option *option;
	char text[2048];
	char origin[PATH_MAX + 80];
};

static void print_value(const struct value *v, const struct config_options *o, const char **section)
{
	if (o->json) {
		struct js *j = js_object();
		js_put_text(j, "schema", "vigil.setting/1");
		js_put_text(j, "section", v->command->name);
		js_put_text(j, "key", option_name(v->option));
		js_put_text(j, "value", v->text);
		js_put_text(j, "origin", v->origin);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
		return;
	}
	if (!*section || strcmp(*section, v->command->name) != 0)
		printf("%s:\n", v->command->name);
	*section = v->command->name;
	/* quoted where YAML would read the plain value as something else */
	bool quote = v->text[0] == '\0' || strpbrk(v->text, ":#{}[]&*!|>'\"%@`\n ") || v->text[0] == '-';
	char shown[2100];
	TEXT_FORMAT(shown, quote ? "  %s: \"%s\"" : "  %s: %s", option_name(v->option), v->text);
	if (o->origin)
		printf("%-40s # %s\n", shown, v->origin);
	else
		puts(shown);
}

static int value_of(const struct config *c, const struct command *command, const struct option *o, void *opts,
		    struct value *ret, struct fault *f)
{
	char variable[64];
	const char *from_env = option_environment(o, opts, variable);
	const struct config_entry *e = config_find(c, command->name, option_name(o));
	int r = from_env ? option_set_environment(o, from_env, variable, opts, f) : 0;
	if (from_env)
		TEXT_FORMAT(ret->origin, "environment: %s", variable);
	else if (e)
		TEXT_FORMAT(ret->origin, "%s:%u", e->file, e->line);
	else
		TEXT_COPY(ret->origin, "default");
	ret->command = command;
	ret->option = o;
	option_format(o, opts, ret->text, sizeof(ret->text));
	return r;
}

static int show_command(const struct config *c, const struct command *command, const struct config_options *o,
			const char **section, struct fault *f)
{
	cleanup(freep) void *opts = calloc(1, MAX(command->options_size, (size_t)1));
	if (!opts)
		return fault_set(f, -ENOMEM, "no memory to show the configuration");
	if (command->defaults)
		memcpy(opts, command->defaults, command->options_size);
	int r = config_apply(c, command, opts, f);
	for (const struct option *each = command->options; r == 0 && each->name; each++) {
		struct value v;
		if (each->no_key)
			continue;
		r = value_of(c, command, each, opts, &v, f);
		if (r == 0)
			print_value(&v, o, section);
	}
	return r;
}

static int show_channels(const struct config *c, const struct config_options *o, struct fault *f)
{
	cleanup(freep) struct channels *all = calloc(1, sizeof(*all));
	if (!all)
		return fault_set(f, -ENOMEM, "no memory to show the configuration");
	int r = config_channels(c, all, f);
	if (r == 0 && !o->json) /* 'vigil notify list --json' shows them as JSON */
		config_channels_show(all);
	return r;
}

static int config_command_show(const struct config_options *o)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	struct fault f = {.text = ""};
	char note[256] = "";
	const char *section = NULL;
	int r = config_load(&c, NULL, note, &f);
	if (r == 0)
		r = config_check(&c, commands, &f);
	if (note[0])
		log_warning("%s", note);
	for (size_t i = 0; commands[i] && r == 0; i++)
		if (config_is_section(commands[i]->name))
			r = show_command(&c, commands[i], o, &section, &f);
	if (r == 0)
		r = show_channels(&c, o, &f);
	if (r < 0)
		log_error("%s", f.text);
	return r < 0 ? EXIT_PROBLEM : 0;
}

static int config_run(const void *options, int argc, char **argv)
{
	const struct config_options *o = options;
	if (argc >= 1 && argc <= 2 && strcmp(argv[0], "check") == 0)
		return config_command_check(argc == 2 ? argv[1] : NULL);
	if (argc == 1 && strcmp(argv[0], "show") == 0)
		return config_command_show(o);
	log_error("vigil config: 'check [FILE]' or 'show' was expected%s%s%s", argc ? ", not '" : "",
		  argc ? argv[0] : "", argc ? "'" : "");
	return EXIT_USAGE;
}

const struct command command_config = {
	.name = "config",
	.words = "check show",
	.usage = "vigil config check [FILE] | vigil config show [--origin] [--json]",
	.summary = "check or show the configuration",
	.about = "A value comes from the first of: a flag, an environment variable (VIGIL_SOME_OPTION), the project's "
		 "./vigil.yaml, the user's $XDG_CONFIG_HOME/vigil/vigil.yaml, /etc/vigil/vigil.yaml, the default. "
		 "VIGIL_CONFIG, or --config of the command, names one file that replaces the three; root refuses one "
		 "that others can write.\n"
		 "\n"
		 "A file has a section for each command that acts, with the names of its options as keys, and may have "
		 "'state: DIR' and 'notify:', the list of channels of vigil notify, at the top. A project's file may "
		 "only have the sections run and map, there no joblog and no files of inputs or results, must belong "
		 "to you or root, and must not be writable by everybody; otherwise it is not used.",
	.examples = "vigil config check            # the files in use\n"
		    "vigil config check my.yaml    # one file, before it is put in place\n"
		    "vigil config show --origin",
	.options = config_options,
	.options_size = sizeof(struct config_options),
	.run = config_run,
	.usage_status = EXIT_USAGE,
};
