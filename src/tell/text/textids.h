/*
 * Numbers for the texts of a frame table, for formats that write each text
 * once. A frame table keeps equal texts at one address, so addresses are what
 * is compared; the texts must outlive the numbers.
 */
#pragma once

#include "base/base.h"

struct textids;
struct textids *textids_new(void);
struct textids *textids_free(struct textids *t);
static inline void textids_freep(struct textids **t)
{
	*t = textids_free(*t);
}
/* text "" is 0. *ret_new: not seen before, numbered by the order of coming. */
int must_check textids_of(struct textids *t, const char *text, uint32_t *ret, bool *ret_new);
/* Borrowed; the texts in order, n of them. */
const char *const *textids_all(const struct textids *t, size_t *ret_n);
