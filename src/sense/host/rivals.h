/*
 * Other programs on this machine that end processes when memory runs short.
 * Two guards with different ideas kill twice, so vigil names them. Recognised
 * by name; whether one is configured to act cannot be seen from outside.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum rival_kind {
	RIVAL_NONE,
	RIVAL_EARLYOOM,
	RIVAL_NOHANG,
	RIVAL_SYSTEMD_OOMD,
	RIVAL_META_OOMD,
	RIVAL_RAY,
	RIVAL_KUBELET,
	RIVAL_SLURM,
	RIVAL_LMKD,
	RIVAL_MAX,
};

struct rival_row {
	enum rival_kind kind;
	pid_t pid;
	char command[200];
};

#define RIVALS_MAX 16
struct rivals {
	struct rival_row row[RIVALS_MAX]; /* the first of each kind */
	size_t n;
};

/* Pure. command: arguments joined by blanks. */
enum rival_kind rivals_kind(struct span comm, struct span command);
int must_check rivals_read(const struct world *w, struct rivals *ret);
/* NULL: not running. Inline, because judges look here too. */
static inline const struct rival_row *rivals_find(const struct rivals *g, enum rival_kind kind)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->row[i].kind == kind)
			return &g->row[i];
	return NULL;
}
