/*
 * The title of a Ray worker: what its process runs, as Ray writes it into its command line ("ray::preprocess",
 * "ray::Learner.learn", "ray::Learner" between calls, "ray::IDLE"). The name is the user's: it may hold anything.
 *
 * A worker tells its title when a task begins and ends. It is a name for people and no proof of what runs. Pure.
 */
#pragma once

#include "base/text.h"

struct raytitle {
	struct span name; /* "preprocess", "Learner.learn", "IDLE"; borrowed from the command */
	bool idle; /* a worker that has no task */
};

/* command: arguments joined by blanks. False: it is no worker's; Ray's own agents are none. */
bool raytitle_of(struct span command, struct raytitle *ret);
/*
 * True if it is called so: by the whole name, with or without "ray::", or an actor by its class alone. Idle workers
 * have the name "ray::IDLE" only.
 */
bool raytitle_is(struct span command, const char *name);
/*
 * True for a worker that Ray has for moving objects between its store and the disk, idle or not, by its name, of which
 * the kernel keeps 15 bytes.
 */
bool raytitle_moves_objects(struct span comm);
