/*
 * The section "notify:" of a configuration: a list of channels, each a mapping with a name, a kind and what that kind
 * needs (docs/formats/notify.md).
 */
#pragma once

#include "cli/config/config_read.h"
#include "cli/options/option.h"
#include "model/notify/channel.h"

/* True if the entry belongs to the section. */
bool config_is_notify(const struct config_entry *e);
/*
 * Read all channels. A channel of a later file replaces an earlier one of its name. Channels of a project's file are
 * passed over (config_check refuses them). A fault has file, line and column, and suggests the nearest known word.
 */
int must_check config_channels(const struct config *c, struct channels *ret, struct fault *f);
/*
 * The channels of the configuration (`named` as in config_load) that a command sends notices to: those named in
 * `wanted`, none for "none", the default ones when it is empty. *ret is malloc'ed, or NULL when there are none.
 */
int must_check config_channels_chosen(const char *named, const struct option_list *wanted, struct channels **ret,
				      struct fault *f);
/* Call `say` with a sentence for each file of a channel that cannot be read, or that everybody can read. */
void config_channels_files(const struct channels *all, void (*say)(const char *fmt, ...));
/* Print the channels for `config show`: as YAML, secrets in addresses masked. */
void config_channels_show(const struct channels *all);
