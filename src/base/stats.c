#include "base/stats.h"

double stats_median(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) { /* by insertion: samples are small, and qsort may allocate */
		double x = v[i];
		size_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	if (n == 0)
		return 0;
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}
