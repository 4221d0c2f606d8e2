/*
 * Repairs JSON that was cut off or has small mistakes. A missing comma between two values (NCCL 2.28.9 omits one in
 * missing_ranks) is added, a comma before a closing bracket is replaced by a blank, and brackets that a cut left open
 * are closed after the last complete value. Values are copied unchanged; a parser may still refuse the result.
 */
#pragma once

#include "base/text.h"

struct jsonmend {
	char *text; /* malloced, NUL-terminated */
	size_t len;
	uint32_t n_commas; /* commas added or removed */
	bool cut; /* the input ended early; text has all complete values */
};
static inline void jsonmend_done(struct jsonmend *m)
{
	free(m->text);
	m->text = NULL;
}
/* 0; -ENOMEM; -EBADMSG: brackets do not match or nest deeper than 64. Pure. */
int must_check jsonmend_text(struct span in, struct jsonmend *ret);
