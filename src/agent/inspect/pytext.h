/*
 * Names and places of Python code in words. What a program has named loses what cannot be printed.
 */
#pragma once

#include "base/buf.h"
#include "sense/python/pystack.h"

void pytext_add(struct buf *b, const char *text);
/* The file's name without folders. */
const char *pytext_file(const char *path);
/* " at data.py:25 in train"; line 0: the one at which the frame stands. Nothing of a frame without names. */
void pytext_place_add(struct buf *b, const struct pyrt *rt, const struct pyframe *f, int32_t line);
