/* The Ray nodes of `vigil mem`: for programs ("ray" of "vigil.memory/1") and for people. Pure but for the stream. */
#pragma once

#include "base/json.h"
#include "model/memory/footprint.h"
#include "tell/text/textout.h"

/* An array with an object for each node. */
struct js *ray_show_json(const struct footprint *f);
/* Nothing without a node. */
void ray_show_text(const struct textout *p, const struct footprint *f);
