/*
 * What a Ray node writes of its places: how much of each resource it has, how much of it is free, who has the rest, and
 * what waits for a place. Two files of the session's logs have it: the raylet's state (debug_state.txt, written anew
 * every 10 s), and the status that the autoscaler's monitor adds to its log every 5 s (monitor.log), also where nothing
 * scales. Sources: Ray 2.60, src/ray/raylet/node_manager.cc and local_lease_manager.cc,
 * python/ray/autoscaler/_private/util.py (format_info_string) and autoscaler.py.
 *
 * Names and texts are the user's: nothing in them is a proof. Amounts are Ray's own: processors, devices, bytes.
 */
#pragma once

#include "sense/framework/raylogs.h"

#define RAYPLACES_KINDS 24
#define RAYPLACES_DEMANDS 8
#define RAYPLACES_HOLDERS 64

struct rayplaces_set {
	struct rayplaces_kind {
		char name[40]; /* "CPU" */
		double amount;
	} of[RAYPLACES_KINDS];
	size_t n;
	bool cut; /* some are missing, or could not be read */
};

/* Tasks, actors or placement groups that wait for a place. */
struct rayplaces_demand {
	char text[120]; /* "{'CPU': 1.0} * 4 (PACK)" */
	uint64_t count; /* so many at least */
	bool group; /* placement groups */
	bool in_group; /* tasks or actors, some of which want a place within a placement group */
	bool apart; /* each bundle wants a node of its own (STRICT_SPREAD) */
	uint64_t bundles;
	struct rayplaces_set all; /* of one, all its bundles together */
};

/* Who has a part of the node. */
struct rayplaces_holder {
	pid_t pid;
	char name[64]; /* of the task; of an actor "Rollout.__init__" */
	char text[64]; /* "{CPU: 1}" */
	struct rayplaces_set has;
};

struct rayplaces {
	bool has_state; /* the raylet's was read */
	int64_t state_unix_ms; /* when it was written */
	struct rayplaces_set total, available;
	struct rayplaces_holder holder[RAYPLACES_HOLDERS];
	size_t n_holders;
	bool holders_cut;
	bool groups; /* placement groups have parts of it */
	uint64_t drivers; /* programs that are connected to it */
	uint64_t starting; /* workers, and tasks that have a part and wait for theirs */
	bool has_status; /* the monitor's */
	int64_t status_unix_ms;
	uint32_t statuses; /* the last ones, in a row, in which the same demands stand */
	uint64_t nodes;
	bool changes; /* nodes are started, have failed, or may be started where they are wanted */
	struct rayplaces_demand demand[RAYPLACES_DEMANDS];
	size_t n_demands;
	bool demands_cut; /* there are more, or one could not be read */
};

/* text: of debug_state.txt. False: it is none. Fills what is of the state, but for the time. Pure. */
bool rayplaces_state_parse(struct span text, struct rayplaces *ret);
/*
 * head: the beginning of monitor.log, where its settings stand; tail: its end. False: no whole status is in there.
 * Fills what is of the status, but for the time. Pure.
 */
bool rayplaces_status_parse(struct span head, struct span tail, struct rayplaces *ret);
/* Of an open folder of logs. WORLD_ABSENT: neither is there. */
int must_check rayplaces_read(const struct raylogs *l, struct rayplaces *ret);
/* "/tmp/ray/session_…/logs/raylet.out": the folder of a raylet's output. False: it is no such path. Pure. */
bool rayplaces_folder(struct span path, char *dst, size_t cap);
