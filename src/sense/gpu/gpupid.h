/*
 * Translates a driver's pids to ours. Drivers number processes in the outermost pid namespace; newer NVIDIA drivers
 * translate to the namespace of the caller. On the host the numbers are equal to ours. In a container a pid of ours
 * can be equal by chance, so it is accepted only if that process has the same device open.
 */
#pragma once

#include "sense/gpu/gpu.h"
#include "sense/world.h"

/* Sets pid of each process where it can be found. True if the driver's pids can be of another namespace. */
bool gpupid_fill(const struct world *w, struct gpu_set *set);
