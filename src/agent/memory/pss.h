/*
 * Proportional set sizes of a few processes within a time limit. Reading one
 * walks the process's page tables under its memory lock, which takes 20 ms
 * for 2 GiB and may block for as long as that process is stuck, so it is done
 * in a thread that is left behind when time is up.
 */
#pragma once

#include "model/memory/footprint.h"
#include "sense/world.h"

/* Fills pss and pss_bytes of rows[0..n). The world must stay open till the program ends. Returns how many were late. */
size_t pss_read(const struct world *w, struct footprint_row *rows, size_t n, uint64_t budget_ns);
