/*
 * The Ray nodes of this machine for `vigil mem`: who they are, how much of their object store is taken up, and what
 * they have spilled to disk. The folder of spilled files is the user's and is opened as the raylet could open it.
 */
#pragma once

#include "model/memory/footprint.h"
#include "sense/memory/shm.h"
#include "sense/world.h"

/* Finds the raylets among the rows. -ENOMEM. */
int must_check raystore_find(const struct world *w, struct footprint *f);
/* A piece of shared memory: counted if it is the object store of one of the nodes. */
void raystore_shm(const struct shm_ledger *l, const struct shm_item *it, struct footprint *f);
