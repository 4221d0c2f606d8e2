/* The texts that literalset searches for, and how an engine reports where they were found. */
#pragma once

#include "base/base.h"

enum {
	LITERAL_ABSENT = 1, /* the requested engine is not installed */
};

struct literal {
	const char *text;
	bool ignore_case; /* then text is in lower case */
};

/* id: index of the literal; end: offset of the byte behind the found text, never less than in the call before. */
typedef void literal_found(void *data, uint32_t id, size_t end);
