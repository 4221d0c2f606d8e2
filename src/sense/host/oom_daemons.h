/*
 * Finds other programs on the machine that end processes when memory runs short. Two such programs may each kill a
 * process for the same shortage, so vigil names them. They are recognised by name and by whose they are; whether a
 * program is configured to act cannot be seen from outside, but for Ray's by its environment.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum oom_daemon_kind {
	OOM_DAEMON_NONE,
	OOM_DAEMON_EARLYOOM,
	OOM_DAEMON_NOHANG,
	OOM_DAEMON_SYSTEMD_OOMD,
	OOM_DAEMON_META_OOMD,
	OOM_DAEMON_RAY,
	OOM_DAEMON_KUBELET,
	OOM_DAEMON_SLURM,
	OOM_DAEMON_LMKD,
	OOM_DAEMON_MAX,
};

struct oom_daemon_row {
	enum oom_daemon_kind kind;
	pid_t pid;
	char command[200];
	char setting[64]; /* Ray: "RAY_memory_usage_threshold=0.8"; "": its default, or it may not be read */
};

#define OOM_DAEMONS_MAX 16
struct oom_daemons {
	struct oom_daemon_row row[OOM_DAEMONS_MAX]; /* the first process found of each kind */
	size_t n;
};

/* command: arguments joined by blanks. Pure. */
enum oom_daemon_kind oom_daemons_kind(struct span comm, struct span command);
/* False: a plain user's process that has given itself this name. of: its user; reader: vigil's. Pure. */
bool oom_daemons_believed(enum oom_daemon_kind kind, uid_t of, uid_t reader);
int must_check oom_daemons_read(const struct world *w, struct oom_daemons *ret);
/* NULL: not running. Inline, because judge uses it and does not link sense. */
static inline const struct oom_daemon_row *oom_daemons_find(const struct oom_daemons *g, enum oom_daemon_kind kind)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->row[i].kind == kind)
			return &g->row[i];
	return NULL;
}
