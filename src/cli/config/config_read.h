/*
 * Reads configuration files: YAML with a section for each command that can be configured ("run:", "agent:" …) whose
 * keys are the command's option names, and "state:" and "rules:" at the top for every command. Described in man
 * vigil-config. The only user of libyaml. config.h applies the entries to options.
 *
 * A later file overrides an earlier one: /etc/vigil/vigil.yaml, the user's $XDG_CONFIG_HOME/vigil/vigil.yaml, the
 * project's ./vigil.yaml. --config or VIGIL_CONFIG names one file that replaces all three; root refuses one that others
 * can write. A project file comes with a checkout, so it is trusted least: it may have the sections "run" and "map"
 * only, must belong to the user or root, and must not be writable by others.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

enum config_kind { CONFIG_SYSTEM, CONFIG_USER, CONFIG_PROJECT, CONFIG_NAMED };

struct config_entry {
	char *section; /* "" at the top */
	char *key;
	char *value; /* lists joined by ',' or OPTION_ITEM_END */
	uint32_t line, column;
	const char *file; /* borrowed from the config */
};

struct config {
	struct config_entry *entries; /* in the order of their files: the last entry of a key counts */
	size_t n, cap;
	char *files[4];
	enum config_kind kinds[4];
	size_t n_files;
};

void config_done(struct config *c);

/*
 * Add one file's entries. Only its form is checked here: mappings of scalars and lists of scalars. -EBADMSG with file,
 * line and column in f; -errno when the file cannot be read.
 */
int must_check config_add_file(struct config *c, const char *path, enum config_kind kind, struct fault *f);
/*
 * Add the one file that is named (NULL: that VIGIL_CONFIG names), else those of this user and directory; of these, what
 * does not exist is skipped. -EPERM when root may not trust the named file. note gets a sentence when a project's file
 * was not trusted, else "".
 */
int must_check config_load(struct config *c, const char *named, char note[static 256], struct fault *f);

/* True if the entry comes from a project's file, which is trusted least. */
bool config_is_project(const struct config *c, const struct config_entry *e);
/* True if a file may have a section of this name: the command can be configured. */
bool config_is_section(const char *name);
