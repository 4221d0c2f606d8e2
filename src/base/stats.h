/* Order statistics of small samples. Pure. */
#pragma once

#include "base/base.h"

/* The median of v[0..n), which is sorted by this; the mean of the middle two where n is even; 0 where n is 0. */
double stats_median(double *v, size_t n);
