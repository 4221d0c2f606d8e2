/*
 * What Ray did after a task or a call of an actor was lost, by the log of the driver that had submitted it
 * ("logs/python-core-driver-<job id>…_<pid>.log"): whether it was submitted again, and how many retries were left.
 * Source: Ray 2.60, src/ray/core_worker/task_manager.cc. The log is the user's, and no proof.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/framework/raylogs.h"
#include "sense/world.h"

struct rayretry {
	char task_id[64]; /* hexadecimal */
	bool has_left;
	int64_t left; /* retries left; -1: without end */
	uint64_t attempt; /* of the new try, from 0 */
	char when[24]; /* "2026-11-24 12:51:03,833", by the clock and time zone of the driver */
};

/*
 * The first time from `from` to `to` (texts as of `when`) that a task of this name was submitted again. False: none is
 * in the log. Pure.
 */
bool rayretry_parse(struct span log, const char *name, const char *from, const char *to, struct rayretry *ret);
/*
 * Looks into the drivers' logs in an open folder. job_id: Ray's; "": of any job. at_unix_ms:
 * when the worker died. WORLD_ABSENT: nothing is said of it.
 */
int must_check rayretry_look(const struct raylogs *logs, const char *job_id, const char *name, int64_t at_unix_ms,
			     struct rayretry *ret);
/* The same in a folder that is opened as a living process could (via). WORLD_GONE, WORLD_DENIED. */
int must_check rayretry_read(const struct world *w, pid_t via, const char *logs, const char *job_id, const char *name,
			     int64_t at_unix_ms, struct rayretry *ret);
