/*
 * The section "notify:" of a configuration: a list of channels, each a mapping
 * with a name, a kind and what that kind needs (docs/formats/notify.md).
 */
#pragma once

#include "cli/config_read.h"
#include "cli/option.h"
#include "model/notify/channel.h"

/* Does this entry belong to the section? */
bool config_is_notify(const struct config_entry *e);
/*
 * All channels; one of a later file replaces an earlier one of its name. What a
 * project's file says is passed over (config_check refuses it).
 * Mistakes name file, line and column, and the nearest of what is known.
 */
int must_check config_channels(const struct config *c, struct channels *ret, struct fault *f);
/*
 * The channels of this user's configuration that a command tells: those named
 * in `wanted`; none for "none"; those that are default when it is empty.
 * *ret is malloc'ed, or NULL when there are none.
 */
int must_check config_channels_chosen(const struct option_list *wanted, struct channels **ret, struct fault *f);
/* Files of channels that cannot be read, or by too many: one sentence each to `say`. */
void config_channels_files(const struct channels *all, void (*say)(const char *fmt, ...));
/* `config show`: as YAML, secrets in addresses masked. */
void config_channels_show(const struct channels *all);
