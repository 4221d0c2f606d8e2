/*
 * Opens the outside: the live machine, or a recorded one (--world DIR, for
 * tests and for reports made elsewhere). The only place that names /proc,
 * /sys and /dev.
 */
#pragma once

#include "base/fault.h"
#include "sense/world.h"

/* dir NULL: the live machine. Absent parts are -1, not an error; no /proc is (-ENOENT). */
int must_check world_open(const char *dir, struct world *ret, struct fault *f);
void world_close(struct world *w);
