/*
 * Ray's own programs of a node that are not below its raylet: gcs_server, the dashboard and the monitors are children
 * of whoever started Ray. They have the session's folder on their command lines, as the raylet has its name
 * (Ray 2.60, python/ray/_private/services.py), which any program of the same user may copy.
 */
#pragma once

#include "sense/proc/tasks.h"
#include "sense/world.h"

struct raysession {
	char name[80]; /* "session_2026-11-26_19-55-19_431030_16449"; "": none */
	uid_t uid; /* of the raylet */
};

/* False: the process is no raylet, or may not be looked into. */
bool raysession_of(const struct world *w, const struct task_row *raylet, struct raysession *ret);
/* True for one of Ray's own programs, of that session and that user. */
bool raysession_has(const struct world *w, const struct raysession *s, const struct task_row *t);
