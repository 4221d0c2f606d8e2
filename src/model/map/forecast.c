#include "model/map/forecast.h"

#include <math.h>

static const double percentile = 0.95;
static const double correlation = 0.9;
static const double spread = 1.5; /* the largest size over the smallest */
static const double margin = 1.05;

void forecast_add(struct forecast *f, const struct forecast_point *p)
{
	f->point[f->n++ % FORECAST_POINTS] = *p;
}

static int forecast_by_bytes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

struct fit {
	double n, sum_x, sum_y, sum_xx, sum_yy, sum_xy, min_x, max_x;
};

static struct fit fit_of(const struct forecast *f, size_t n)
{
	struct fit s = {.min_x = INFINITY};
	for (size_t i = 0; i < n; i++) {
		if (!f->point[i].has_size)
			continue;
		double x = (double)f->point[i].size_bytes, y = (double)f->point[i].peak_bytes;
		s.n++;
		s.sum_x += x;
		s.sum_y += y;
		s.sum_xx += x * x;
		s.sum_yy += y * y;
		s.sum_xy += x * y;
		s.min_x = fmin(s.min_x, x);
		s.max_x = fmax(s.max_x, x);
	}
	return s;
}

/* Along the line of sizes and needs; false: they are not on one. */
static bool by_size(const struct forecast *f, size_t n, double size, double *ret)
{
	struct fit s = fit_of(f, n);
	double xx = s.n * s.sum_xx - s.sum_x * s.sum_x, yy = s.n * s.sum_yy - s.sum_y * s.sum_y;
	double xy = s.n * s.sum_xy - s.sum_x * s.sum_y;
	if (s.n < FORECAST_FIT || s.max_x < spread * s.min_x || xx <= 0 || yy <= 0 || xy / sqrt(xx * yy) < correlation)
		return false;
	double slope = xy / xx, base = (s.sum_y - slope * s.sum_x) / s.n, excess = 0;
	for (size_t i = 0; i < n; i++)
		if (f->point[i].has_size)
			excess = fmax(excess,
				      (double)f->point[i].peak_bytes - base - slope * (double)f->point[i].size_bytes);
	*ret = fmax(base + slope * size + excess, 0);
	return true;
}

bool forecast_of(const struct forecast *f, const uint64_t *size_bytes, uint64_t *ret_bytes)
{
	size_t n = (size_t)MIN(f->n, (uint64_t)FORECAST_POINTS);
	uint64_t sorted[FORECAST_POINTS];
	double need;
	if (n == 0)
		return false;
	if (!size_bytes || !by_size(f, n, (double)*size_bytes, &need)) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = f->point[i].peak_bytes;
		qsort(sorted, n, sizeof(*sorted), forecast_by_bytes);
		need = (double)sorted[(size_t)ceil(percentile * (double)n) - 1];
	}
	*ret_bytes = (uint64_t)(need * margin);
	return true;
}
