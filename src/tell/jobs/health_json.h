/* "vigil.health/1" (docs/json.md). Owned by the caller. */
#pragma once

#include "base/json.h"
#include "model/jobs/health.h"

struct js *health_json(const struct health *h);
