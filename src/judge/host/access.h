/* Why we may not look into a process, and the one thing to do about it. Pure. */
#pragma once

#include "base/fault.h"
#include "model/host/reach.h"

/* One sentence or two: which check failed, what to do. Text only; returns nothing to judge by. */
void access_explain(const struct access_facts *a, struct fault *f);
