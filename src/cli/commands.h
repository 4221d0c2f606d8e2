/* The commands of vigil, one file each (cli/<name>.c). */
#pragma once

#include "cli/option.h"

extern const struct command command_version;

/* In the order that `vigil help` shows them; ends with NULL. */
extern const struct command *const commands[];
