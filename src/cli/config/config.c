#include "cli/config/config.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "cli/config/config_notify.h"
#include "cli/options/nearest.h"

/* The sections that a checkout may have. */
static bool is_project_section(const char *name)
{
	return strcmp(name, "run") == 0 || strcmp(name, "map") == 0;
}

static int entry_fault(const struct config_entry *e, struct fault *f, const char *text)
{
	if (f) {
		TEXT_COPY(f->file, e->file);
		f->line = e->line;
		f->column = e->column;
	}
	return fault_set(f, -EINVAL, "%s:%u:%u: %s", e->file, e->line, e->column, text);
}

static const struct command *command_of(const struct command *const *commands, const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int unknown_section(const struct config_entry *e, const char *name, const struct command *const *commands,
			   struct fault *f)
{
	char text[300];
	struct nearest n = {.typed = name};
	for (size_t i = 0; commands[i]; i++)
		if (config_is_section(commands[i]->name))
			nearest_offer(&n, commands[i]->name);
	nearest_offer(&n, "state");
	nearest_offer(&n, "notify");
	nearest_offer(&n, "rules");
	if (n.best)
		TEXT_FORMAT(text, "unknown section '%.60s'; did you mean '%s'?", name, n.best);
	else
		TEXT_FORMAT(text, "unknown section '%.60s'; sections are named after commands: run, agent …", name);
	return entry_fault(e, f, text);
}

static int unknown_key(const struct config_entry *e, const struct command *command, struct fault *f)
{
	char text[300];
	const char *near = option_nearest(command, e->key);
	if (near)
		TEXT_FORMAT(text, "unknown key '%.60s' in section '%s'; did you mean '%s'?", e->key, e->section, near);
	else
		TEXT_FORMAT(text, "unknown key '%.60s' in section '%s'; 'vigil %s --help' lists the options", e->key,
			    e->section, command->name);
	return entry_fault(e, f, text);
}

static int set_entry(const struct config_entry *e, const struct option *o, void *opts, struct fault *f)
{
	char where[PATH_MAX + 128];
	TEXT_FORMAT(where, "%s:%u:%u: %s", e->file, e->line, e->column, e->key);
	int r = option_set(o, e->value, where, opts, f);
	if (r < 0 && f) {
		TEXT_COPY(f->file, e->file);
		f->line = e->line;
		f->column = e->column;
	}
	return r;
}

static int check_entry(const struct config *c, const struct config_entry *e, const struct command *const *commands,
		       struct fault *f)
{
	bool top = e->section[0] == '\0';
	bool project = config_is_project(c, e);
	const char *name = top ? e->key : e->section;
	if (top && strcmp(e->key, "rules") == 0)
		return 0; /* checked when they are used */
	if (top && strcmp(e->key, "state") == 0)
		return project ? entry_fault(e, f,
					     "a project's vigil.yaml may not choose the state directory; put it into "
					     "your own configuration")
			       : 0;
	if (config_is_notify(e))
		return !project ? 0
				: entry_fault(e, f,
					      "a project's vigil.yaml may not say whom to notify; put it into your own "
					      "configuration");
	const struct command *command = config_is_section(name) ? command_of(commands, name) : NULL;
	if (!command)
		return unknown_section(e, name, commands, f);
	if (top)
		return entry_fault(e, f, "a section with keys below it was expected here");
	if (project && !is_project_section(name))
		return entry_fault(e, f,
				   "a project's vigil.yaml may only have the sections 'run' and 'map'; put others into "
				   "your own configuration");
	const struct option *o = option_find(command, e->key);
	if (!o)
		return unknown_key(e, command, f);
	if (o->no_key)
		return entry_fault(e, f, "a file cannot name another one; use --config or VIGIL_CONFIG");
	if (project && strcmp(e->key, "state") == 0)
		return entry_fault(e, f,
				   "a project's vigil.yaml may not choose the state directory; put it into your own "
				   "configuration");
	if (project && o->no_project)
		return entry_fault(e, f,
				   "a project's vigil.yaml may not name files of inputs, results or joblogs, nor have "
				   "commands of a joblog run; give it on the command line");
	cleanup(freep) void *scratch = calloc(1, MAX(command->options_size, (size_t)1));
	return scratch ? set_entry(e, o, scratch, f) : fault_set(f, -ENOMEM, "no memory to check %s", e->file);
}

static int check_channels(const struct config *c, struct fault *f)
{
	cleanup(freep) struct channels *scratch = calloc(1, sizeof(*scratch));
	return scratch ? config_channels(c, scratch, f) : fault_set(f, -ENOMEM, "no memory to check the configuration");
}

int config_check(const struct config *c, const struct command *const *commands, struct fault *f)
{
	for (size_t i = 0; i < c->n; i++) {
		int e = check_entry(c, &c->entries[i], commands, f);
		if (e < 0)
			return e;
	}
	return check_channels(c, f);
}

size_t config_check_all(const struct config *c, const struct command *const *commands,
			void (*report)(const struct fault *f))
{
	size_t n = 0;
	for (size_t i = 0; i <= c->n; i++) {
		struct fault f = {.text = ""};
		int e = i < c->n ? check_entry(c, &c->entries[i], commands, &f) : check_channels(c, &f);
		if (e >= 0)
			continue;
		report(&f);
		n++;
	}
	return n;
}

const struct config_entry *config_find(const struct config *c, const char *section, const char *key)
{
	const struct config_entry *best = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct config_entry *e = &c->entries[i];
		bool common = e->section[0] == '\0' && (strcmp(key, "state") == 0 || strcmp(key, "rules") == 0);
		bool own = strcmp(e->section, section) == 0 && config_is_section(section);
		bool refused = strcmp(key, "state") == 0 && config_is_project(c, e);
		if ((common || own) && !refused && strcmp(e->key, key) == 0)
			best = e;
	}
	return best;
}

int config_apply(const struct config *c, const struct command *command, void *opts, struct fault *f)
{
	for (const struct option *o = command->options; o && o->name; o++) {
		const struct config_entry *e = o->no_key ? NULL : config_find(c, command->name, option_name(o));
		int r = e ? set_entry(e, o, opts, f) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}
