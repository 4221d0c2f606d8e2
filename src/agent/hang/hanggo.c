#include "agent/hang/hanggo.h"

#include <string.h>

#include "agent/inspect/goview.h"

/* Time for each of the looks at all ranks. */
static const uint64_t look_ns = 2 * NS_PER_S;

void hanggo_look(struct hanggo *g, const struct world *w, const struct hangprocs *procs)
{
	uint64_t end_ns = w->mono_ns() + look_ns;
	if (g->view)
		return;
	g->view = calloc(HANGGO_RANKS, sizeof(*g->view));
	for (size_t i = 0; g->view && i < procs->n_now && g->n_views < HANGGO_RANKS && w->mono_ns() < end_ns; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->main && m->state != 'Z' && goview_look(w, m->pid, m->who.rank, &g->view[g->n_views]) == 0)
			g->n_views++;
	}
}

void hanggo_compare(struct hanggo *g, const struct world *w)
{
	uint64_t end_ns = w->mono_ns() + look_ns;
	if (g->stand || g->n_views == 0)
		return;
	g->stand = calloc(g->n_views, sizeof(*g->stand));
	for (size_t i = 0; g->stand && i < g->n_views && w->mono_ns() < end_ns; i++)
		if (goview_compare(w, &g->view[i], &g->stand[g->n]) == 0)
			g->n++;
}

void hanggo_done(struct hanggo *g)
{
	for (size_t i = 0; i < g->n_views; i++)
		goview_done(&g->view[i]);
	free(g->view);
	free(g->stand);
	*g = (struct hanggo){.n = 0};
}
