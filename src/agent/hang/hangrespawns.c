#include "agent/hang/hangrespawns.h"

#include <string.h>

#include "base/buf.h"

/* Rows with fewer failures than these are of nobody who starts a child again and again. */
static const uint64_t respawns_least = 5;

void hangrespawns_take(const struct hang_respawns *from, uint32_t attempt, const struct hangprocs *procs,
		       struct respawns *ret)
{
	static struct respawns rows;
	ret->n = 0;
	const uint32_t seq = from ? atomic_load(&from->seq) : 1;
	if (seq % 2 || from->attempt != attempt)
		return;
	rows.n = MIN(from->rows.n, (size_t)RESPAWNS_KEPT);
	memcpy(rows.of, from->rows.of, rows.n * sizeof(rows.of[0]));
	if (atomic_load(&from->seq) != seq) /* the next sample tries again */
		return;
	for (size_t i = 0; i < rows.n; i++) {
		const struct hangprocs_member *m =
			rows.of[i].n >= respawns_least ? hangprocs_find(procs, rows.of[i].parent) : NULL;
		if (!m)
			continue;
		struct respawn *to = &ret->of[ret->n++];
		*to = rows.of[i];
		to->rank = m->who.rank;
		TEXT_COPY(to->parent_name, m->comm);
	}
}

void hangrespawns_ended(const struct hang_respawns *from, uint32_t attempt, struct hangprocs_gone *g)
{
	const uint32_t seq = from ? atomic_load(&from->seq) : 1;
	if (seq % 2 || from->attempt != attempt)
		return;
	const uint64_t n = MIN(from->n_ends, (uint64_t)HANG_ENDS);
	for (uint64_t i = 1; i <= n; i++) {
		const struct hang_end x = from->end[(from->n_ends - i) % HANG_ENDS];
		if (atomic_load(&from->seq) != seq) /* the next sample tries again */
			return;
		if (x.pid != g->pid || x.start_ticks != g->start_ticks)
			continue;
		g->has_status = true;
		g->wait_status = x.wait_status;
		g->ended_unix_ms = x.time_unix_ms;
		return;
	}
}

size_t hangrespawns_ends(const struct hang_respawns *from, uint32_t attempt, struct hang_end ret[static HANG_ENDS])
{
	const uint32_t seq = from ? atomic_load(&from->seq) : 1;
	if (seq % 2 || from->attempt != attempt)
		return 0;
	const size_t n = (size_t)MIN(from->n_ends, (uint64_t)HANG_ENDS);
	for (size_t i = 0; i < n; i++)
		ret[i] = from->end[(from->n_ends - 1 - i) % HANG_ENDS];
	return atomic_load(&from->seq) == seq ? n : 0; /* the next sample tries again */
}
