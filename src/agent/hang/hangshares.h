/*
 * Many quick looks at the main threads of a job's ranks: Python frames only,
 * nobody is stopped, processes stay opened between looks. For who waits least
 * (model/hang/waitshare).
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/hang/waitshare.h"

struct hangshares;

/* NULL without memory. Processes that may not be read are left out. */
struct hangshares *hangshares_new(const struct world *w, const struct hangprocs *c);
struct hangshares *hangshares_free(struct hangshares *s);
void hangshares_sample(struct hangshares *s, struct waitshare *to);
