/* GPUs for people and for programs ("vigil.gpu/1"). */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/gpu/gpuview.h"

/* Owned by the caller. A lack of memory is reported when the object is written (base/json.h). */
struct js *gpu_json(const struct gpuview *v);
/* The array "gpus" of it alone. */
struct js *gpu_list_json(const struct gpuview *v);
void gpu_text(const struct gpuview *v, bool colour, FILE *to);
