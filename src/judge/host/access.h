/* Why vigil may not look into a process, and what to do about it. Pure. */
#pragma once

#include "base/fault.h"
#include "model/host/reach.h"

/* Writes one or two sentences into f->text: which check failed, and what to do. */
void access_explain(const struct access_facts *a, struct fault *f);
