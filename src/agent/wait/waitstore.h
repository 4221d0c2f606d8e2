/* The keys of PyTorch's store that threads wait for, as hints for the graph of waits. Nothing is stopped. */
#pragma once

#include "sense/wait/waitfacts.h"
#include "model/hang/waithint.h"
#include "sense/world.h"

/*
 * Adds to the hints, an array that base/vec.h lets grow, the keys that threads of this process wait for. A process that
 * ended, may not be looked into or has no PyTorch adds nothing. -ENOMEM.
 */
int must_check waitstore_read(const struct world *w, const struct waitfacts *facts, const struct waitfact_process *p,
			      struct waithint **hint, size_t *n_hints, size_t *cap_hints);
