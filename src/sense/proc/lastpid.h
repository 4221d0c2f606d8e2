/*
 * The number that was given last to a process or thread of our namespace of pids: /proc/sys/kernel/ns_last_pid
 * (CONFIG_CHECKPOINT_RESTORE), else the last word of /proc/loadavg. Numbers are given in turn, so whoever has begun
 * since another reading has a number between the two, unless the later one is smaller: then they began anew.
 *
 * A number is given a moment before its process can be seen in /proc. A /proc/loadavg that somebody else has mounted
 * there (lxcfs) is not read.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

/* -EBADMSG. Pure. */
int must_check lastpid_parse(struct span text, pid_t *ret);
/* WORLD_ABSENT, also where /proc is of another namespace than ours. Allocates nothing. */
int must_check lastpid_read(const struct world *w, pid_t *ret);
