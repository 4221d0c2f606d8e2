/*
 * How many tasks run at a time (--jobs), as GNU parallel spells it: N; N%, +N or -N of the cores; 0 for as many as
 * possible; or a file with such a text.
 */
#pragma once

#include "base/base.h"

/* Processors that this process may use, 1 at least; a quota of its group does not count. */
uint32_t mapslots_cores(void);
/* At most MAP_SLOTS, at least 1. -EINVAL: text is no such number. */
int must_check mapslots_parse(const char *text, uint32_t *ret);
/* From the first line of a file. -EINVAL as above; -errno: it cannot be read. */
int must_check mapslots_read(const char *path, uint32_t *ret);
