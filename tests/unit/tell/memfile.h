/* A stream into memory, and what was written to it. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "testing.h"

struct memfile {
	char *text; /* owned */
	size_t len;
	FILE *to;
};

static inline void memfile_done(struct memfile *m)
{
	if (m->to)
		fclose(m->to);
	free(m->text);
	*m = (struct memfile){0};
}

static inline FILE *memfile_open(struct memfile *m)
{
	memfile_done(m);
	m->to = open_memstream(&m->text, &m->len);
	assert_non_null(m->to);
	return m->to;
}

/* Borrowed until the next memfile_open. */
static inline const char *memfile_text(struct memfile *m)
{
	if (m->to)
		fclose(m->to);
	m->to = NULL;
	return m->text;
}

#define assert_has(text, part)                                                                          \
	do {                                                                                            \
		if (!strstr((text), (part)))                                                            \
			fail_msg("no '%s' in:\n%s", (part), (text));                                    \
	} while (0)
#define assert_has_no(text, part)                                                                       \
	do {                                                                                            \
		if (strstr((text), (part)))                                                             \
			fail_msg("'%s' in:\n%s", (part), (text));                                       \
	} while (0)
