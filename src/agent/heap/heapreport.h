/*
 * The `heap` object of an incident: who asked for the memory of the process
 * that died, from the file that its heap profile is in (docs/formats/heap.md).
 * For the supervisor, after the death: takes some 10 ms to 300 ms, and reads
 * the program's files for names. Never in the guard.
 */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "sense/world.h"

/*
 * file: the profile, or the copy made when memory got short. was_alive: its
 * process lived when it was made (a copy), so what lived is shown; else what
 * was there at the peak. HEAPREAD_VERSION, HEAPREAD_DAMAGED, -errno; the
 * fault says what.
 */
int must_check heapreport_make(const struct world *w, const char *file, bool was_alive, struct js **ret,
			       struct fault *f);
