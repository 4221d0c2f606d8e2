/*
 * Proportional set sizes of a few processes within a time limit. The kernel
 * walks the process's page tables under its memory lock, which takes 20 ms for
 * 2 GiB and blocks while that process is stuck. So a thread reads them, and is
 * left behind when the time is up.
 */
#pragma once

#include "model/memory/footprint.h"
#include "sense/world.h"

/*
 * Fills pss and pss_bytes of rows[0..n), at most 64 of them, and lowers own_bytes to the process's part of its
 * private memory: pages that it shares with forks count once among all of them. Returns the number of rows that were
 * not read in time. The world must stay open until the program ends.
 */
size_t pss_read(const struct world *w, struct footprint_row *rows, size_t n, uint64_t budget_ns);

/*
 * The same in two steps, for whoever has other things to read meanwhile: the thread begins now, the rows get what it
 * found by the same time limit. They are those of pss_begin in the same order. NULL: no memory or thread; take then
 * says that all are late. Each work is to be taken or dropped.
 */
struct pss_work;
struct pss_work *pss_begin(const struct world *w, const struct footprint_row *rows, size_t n, uint64_t budget_ns);
size_t pss_take(struct pss_work *k, struct footprint_row *rows, size_t n);
struct pss_work *pss_drop(struct pss_work *k);
