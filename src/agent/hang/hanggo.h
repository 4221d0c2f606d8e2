/*
 * Where the main goroutines of a suspected job's ranks stand, for the judge: of those ranks whose main process runs a
 * program made by Go (agent/inspect/goview). Costs a look into each main process's file where there is none.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/hang/gostand.h"

#define HANGGO_RANKS 64

struct goview;

struct hanggo {
	struct goview *view; /* owned */
	size_t n_views;
	struct gostand *stand; /* after hanggo_compare; owned */
	size_t n;
};

/* The first look; does nothing where one was taken. */
void hanggo_look(struct hanggo *g, const struct world *w, const struct hangprocs *procs);
/* The second one, at least 2 s later. */
void hanggo_compare(struct hanggo *g, const struct world *w);
void hanggo_done(struct hanggo *g);
