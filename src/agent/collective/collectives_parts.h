/* What the parts of agent/collective/collectives share. */
#pragma once

#include "agent/collective/collectives.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "sense/collective/flightrec.h"
#include "sense/collective/ncclras.h"

/* One rank of a running job. */
struct living {
	int32_t rank;
	pid_t pid;
	/* root of the process, for paths in its own view, which are opened with the rights of its user; -1: neither */
	int root_fd;
	struct foreign_user user;
	struct flightrec_place place;
	char ring[512], ras[128], ras_enable[8];
	uint64_t start_ticks;
	int64_t dumped_ns; /* time of the dump that was there before the request; 0: none */
	bool read;
};
struct ranks {
	struct living *row;
	size_t n;
	bool none_left; /* no process is left of what was asked for */
};

/* Adds a note on a source that could not be read. */
void collectives_note(struct collectives *c, const char *fmt, ...) printf_like(2, 3);
void collectives_pause(const struct world *w, uint64_t until_ns);
/* Asks NCCL's RAS of these ranks, where that is allowed; results and notes go to c. 0 or -ENOMEM. */
int must_check collectives_ras(const struct world *w, const struct ranks *r, const struct collectives_want *want,
			       uint64_t deadline_ns, struct collectives *c);
