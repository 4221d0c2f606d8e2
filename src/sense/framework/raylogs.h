/*
 * The folder into which a Ray node logs, opened while one of its processes lives, and what it says of a worker that has
 * died: the worker's id stands in the name of the file of its output, and what it ran last inside, as Ray writes
 * ":task_name:preprocess" or ":actor_name:Learner" there before each task. Source: Ray 2.60,
 * python/ray/_private/ray_constants.py (LOG_PREFIX_…), python/ray/_raylet.pyx.
 *
 * Names and texts are the user's: nothing in them is a proof. Files are opened with the rights of that user.
 */
#pragma once

#include <dirent.h>

#include "base/foreign.h"
#include "base/text.h"
#include "sense/framework/rayworker.h"
#include "sense/world.h"

struct raylogs {
	int fd; /* of the folder; -1: not known */
	char folder[256];
	struct foreign_user user;
};
#define RAYLOGS_NONE ((struct raylogs){.fd = -1})

/* As a living process could (via). WORLD_GONE, WORLD_DENIED, WORLD_ABSENT. */
int must_check raylogs_open(const struct world *w, pid_t via, const char *folder, struct raylogs *ret);
void raylogs_done(struct raylogs *l);
/* Lists the folder from its beginning; the caller closes it. -errno. */
int must_check raylogs_list(const struct raylogs *l, DIR **ret);

/* What a worker ran last: "ray::preprocess", "ray::Learner"; "": it has run nothing. job_id: Ray's. */
struct raylogs_title {
	char title[96];
	char job_id[16];
};
/* output: of the worker, or the end of it. Pure. */
void raylogs_title_parse(struct span output, struct raylogs_title *ret);
/*
 * The worker that had this pid, dead or alive; of several, which used the number one after another, the last one.
 * WORLD_ABSENT: none had.
 */
int must_check raylogs_worker(const struct raylogs *l, pid_t pid, struct rayworker *ret,
			      struct raylogs_title *ret_title);
