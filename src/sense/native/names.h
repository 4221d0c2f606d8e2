/*
 * Every name that was shown, once: text is kept until the natives end, so
 * that profiles may hold pointers. Control bytes of foreign names become '?':
 * they end up on terminals.
 */
#pragma once

#include "base/base.h"

#define NAMES_BYTES_MAX (256 * MIB)

struct names;
struct names *names_new(void);
struct names *names_free(struct names *n);
/* The same pointer for the same text. Without room: a constant that says so. */
const char *names_keep(struct names *n, const char *text);
/* What the linker calls so, in the words of its author. */
const char *names_readable(struct names *n, const char *linker_name);
size_t names_bytes(const struct names *n);
