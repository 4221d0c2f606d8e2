/* Which verdicts a rule of the cause book may refine: it then gives its own id, text and advice in their place. */
#pragma once

#include "model/rules/cause.h"

enum hang_refine {
	HANG_REFINE_NEVER, /* the verdict says why by itself, or is proved */
	HANG_REFINE_BY_REASON, /* who waits for whom is known: only a rule that says why, not one that knows a place */
	HANG_REFINE_BY_ANY, /* the verdict says where the job stands, and no more */
};

/* Of an id that is in no table: HANG_REFINE_NEVER. */
enum hang_refine hang_refine_of(const char *id);
/* True of a rule that tells, by a place in stacks, of a slow store or disk. */
bool hang_refine_tells_of_bytes(const struct cause_verdict *by);
/* True if the rule's verdict may stand in place of the id. */
bool hang_may_refine(const char *id, const struct cause_verdict *by);
