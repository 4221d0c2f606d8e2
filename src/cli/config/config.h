/* What the configuration files say: whether they fit the commands, and the values they give to options. */
#pragma once

#include "cli/config/config_read.h"
#include "cli/options/option.h"

/* Check that every section, key and value fits the commands. Errors read FILE:LINE:COLUMN: … */
int must_check config_check(const struct config *c, const struct command *const *commands, struct fault *f);
/* As config_check, but goes on after a mistake: report is called with each. Returns their number. */
size_t config_check_all(const struct config *c, const struct command *const *commands,
			void (*report)(const struct fault *f));
/* Set the command's options to the values of the configuration. Values are borrowed from c. */
int must_check config_apply(const struct config *c, const struct command *command, void *opts, struct fault *f);
/* The entry that an option gets its value from; NULL if none. */
const struct config_entry *config_find(const struct config *c, const char *section, const char *key);
