/*
 * Configuration files: YAML with a section for each command that can be
 * configured ("run:", "agent:" …) whose keys are the command's option names,
 * and "state:" and "rules:" at the top for every command. Described in man
 * vigil-config.
 * The only user of libyaml.
 *
 * Files, later ones win: /etc/vigil/vigil.yaml, the user's
 * $XDG_CONFIG_HOME/vigil/vigil.yaml, the project's ./vigil.yaml; VIGIL_CONFIG
 * names one file that stands for all three. A project file comes with a
 * checkout, so it is trusted least: sections "run" and "map" only, and it must
 * belong to the user or root and be writable by nobody else.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "cli/option.h"

enum config_kind { CONFIG_SYSTEM, CONFIG_USER, CONFIG_PROJECT, CONFIG_NAMED };

struct config_entry {
	char *section; /* "" at the top */
	char *key;
	char *value;   /* lists joined by ',' */
	uint32_t line, column;
	const char *file; /* borrowed from the config */
};

struct config {
	struct config_entry *entries; /* in the order of their files: the last of a kind wins */
	size_t n, cap;
	char *files[4];
	enum config_kind kinds[4];
	size_t n_files;
};

void config_done(struct config *c);

/*
 * Add one file's entries. Only its form is checked here: mappings of scalars
 * and lists of scalars. -EBADMSG with file, line and column in f; -errno when
 * it cannot be read.
 */
int must_check config_add_file(struct config *c, const char *path, enum config_kind kind, struct fault *f);
/*
 * Add the files of this user and directory. Files that are not there are
 * skipped. note gets a sentence when a project file was not trusted.
 */
int must_check config_load(struct config *c, char note[static 256], struct fault *f);

/* Every section, key and value fits the commands. Errors read FILE:LINE:COLUMN: … */
int must_check config_check(const struct config *c, const struct command *const *commands, struct fault *f);
/* The same of all of them: tell is called with each mistake. Returns how many there are. */
size_t config_check_all(const struct config *c, const struct command *const *commands, void (*tell)(const struct fault *f));
/* Set what the configuration says about this command. */
int must_check config_apply(const struct config *c, const struct command *command, void *opts, struct fault *f);
/* The entry that an option gets its value from; NULL if none. */
const struct config_entry *config_find(const struct config *c, const char *section, const char *key);
/* Does it come from a project's file, which is trusted least? */
bool config_is_project(const struct config *c, const struct config_entry *e);
/* Can this command be configured? */
bool config_is_section(const char *name);
