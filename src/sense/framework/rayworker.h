/*
 * What the files of a Ray worker say of it. Ray sends the output of each worker to a file of the session whose name has
 * the worker's id ("logs/worker-<worker id>-<job id>-<pid>.out"), and Ray Train logs beside it as lines of JSON with
 * the rank. Sources: Ray 2.60, python/ray/_private/node.py, python/ray/train/v2/_internal/logging.
 *
 * Names and texts are the user's: nothing in them is a proof.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define RAYWORKER_ID 64 /* hexadecimal digits and the end */

struct rayworker {
	char worker_id[RAYWORKER_ID];
	char job_id[16]; /* Ray's; "": it was started before a job wanted it */
	char logs[256]; /* folder */
};

/* path: where its output goes. False: that is no worker's file. Pure. */
bool rayworker_parse(struct span path, struct rayworker *ret);
/* By its stdout, else its stderr. False: it is no worker, or may not be looked into. */
bool rayworker_read(const struct world *w, pid_t pid, struct rayworker *ret);

/* The rank of a worker of Ray Train. */
struct rayworker_train {
	int32_t rank, local_rank; /* local_rank NO_RANK: unknown */
	char run[64]; /* name of the run that the rank is of; "": not known */
};
/* log: the end of its log. The last line that names a rank counts. Pure. */
bool rayworker_train_parse(struct span log, struct rayworker_train *ret);
/* False: it is no worker of Ray Train, has no rank yet, or its log may not be read. */
bool rayworker_train_read(const struct world *w, pid_t pid, struct rayworker_train *ret);
