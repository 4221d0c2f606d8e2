/*
 * JSON that was cut off, or written with small mistakes, made whole again as
 * far as it goes: a comma that is missing between two values (NCCL 2.28.9
 * forgets one in missing_ranks) is put in, one too many is taken out, and what
 * a cut left open is closed behind the last complete value. Values themselves
 * are copied as they are; the result may still be refused by a parser.
 */
#pragma once

#include "base/text.h"

struct jsonmend {
	char *text; /* malloc'ed, terminated */
	size_t len;
	uint32_t n_commas; /* put in or taken out */
	bool cut; /* the text ended early; text holds what came before */
};
static inline void jsonmend_done(struct jsonmend *m)
{
	free(m->text);
	m->text = NULL;
}
/* -ENOMEM; -EBADMSG: brackets that do not match or nest too deep. Pure. */
int must_check jsonmend_text(struct span in, struct jsonmend *ret);
