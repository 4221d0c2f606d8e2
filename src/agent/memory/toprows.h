/*
 * What is still to be read of the processes in the table of a memory report: their proportional sizes, and the command
 * lines of those that live. Both take the memory lock of a process, so a thread reads them, the largest process first,
 * and is left behind when the time is up.
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/world.h"

/* Rows that were not read in time stay as they are. The world must stay open until the program ends. */
void toprows_read(const struct world *w, struct incident_process *rows, size_t n, uint64_t budget_ns);
