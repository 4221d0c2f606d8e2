/* What each curve of a picture was last told to be: a value that still holds need not be told again. */
#pragma once

#include "base/base.h"

struct curve {
	int64_t lane;
	const char *name; /* borrowed */
	double value[2];
};

/* Zeroed: no curve. */
struct curvekeep {
	struct curve *of;
	size_t n, cap;
	size_t next; /* curves mostly come in the order in which they came before */
};

void curvekeep_done(struct curvekeep *k);
/* Takes the values over. False: the curve had them already. */
bool curvekeep_changes(struct curvekeep *k, int64_t lane, const char *name, double a, double b);
