/*
 * Ctrl-C of a command that looks for a while: it ends early and shows what it has. The second one ends vigil, as the
 * first one would have without this.
 */
#pragma once

#include "base/base.h"

/* From now on SIGINT sets what is returned, and with `term` SIGTERM, too. Never NULL; one for the whole program. */
const volatile bool *stopkey_begin(bool term);
