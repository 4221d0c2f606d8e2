/* The words of a scenario's line: what they say as numbers; anything else fails the test and names the line. */
#pragma once

#include "testing.h"

#include "base/text.h"
#include "base/units.h"

static struct span next(struct span *rest, const char *where)
{
	struct span w;
	if (!span_word(rest, &w))
		fail_msg("%s: a word is missing at the end", where);
	return w;
}

static const char *text_of(struct span w)
{
	static char ring[8][256];
	static size_t at;
	char *t = ring[at++ % 8];
	span_copy(w, t, sizeof(ring[0]));
	return t;
}

static uint64_t duration_of(struct span w, const char *where)
{
	uint64_t ns = 0;
	struct fault f = {.text = ""};
	if (duration_parse(text_of(w), &ns, &f) < 0)
		fail_msg("%s: %s", where, f.text);
	return ns;
}

static uint64_t size_of(struct span w, const char *where)
{
	uint64_t bytes = 0;
	struct fault f = {.text = ""};
	if (size_parse(text_of(w), &bytes, &f) < 0)
		fail_msg("%s: %s", where, f.text);
	return bytes;
}

static double real_of(struct span w)
{
	return strtod(text_of(w), NULL);
}

static int32_t int_of(struct span w)
{
	return (int32_t)strtol(text_of(w), NULL, 10);
}
