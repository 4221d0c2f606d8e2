/*
 * Whose process a driver's process number is. Drivers know the numbers of the
 * outermost pid namespace; newer ones of NVIDIA translate them to that of who
 * asks. On the host they are ours; inside a container only a process that can
 * be seen to hold that very device open is taken for the one that is meant,
 * for an equal number may be somebody else.
 */
#pragma once

#include "sense/gpu/gpu.h"
#include "sense/world.h"

/* Fills in pid of every process. True when numbers are those of another namespace. */
bool gpupid_fill(const struct world *w, struct gpu_set *set);
