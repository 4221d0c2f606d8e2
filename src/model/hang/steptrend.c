#include "model/hang/steptrend.h"

#include <string.h>

#include "base/base.h"
#include "base/stats.h"

#define SIDE 8

static double middle_of(const double *step_s)
{
	double v[SIDE];
	memcpy(v, step_s, sizeof(v));
	return stats_median(v, SIDE);
}

double steptrend_jump(const double *step_s, size_t n)
{
	double most = 0;
	for (size_t i = SIDE; i + SIDE <= n; i++)
		most = MAX(most, middle_of(&step_s[i]) - middle_of(&step_s[i - SIDE]));
	return most;
}
