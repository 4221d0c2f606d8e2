/*
 * The memory of a node or a job, for programs ("vigil.memory/1") and for
 * people. Pure but for the stream.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/memory/footprint.h"

/* One of its processes. */
struct js *memory_show_process_json(const struct footprint_row *r);
struct js *memory_json(const struct footprint *f);
void memory_text(const struct footprint *f, bool colour, FILE *to);
