#include "model/map/forecast.h"

#include <math.h>

static const double correlation = 0.9;
static const double size_spread = 1.5; /* the largest size over the smallest */
static const double lowest_share = 0.5;
/* Fewer say nothing about how needs are spread: the largest counts. */
#define FEW 5

static size_t points(const struct forecast *f)
{
	return (size_t)MIN(f->n, (uint64_t)FORECAST_POINTS);
}

void forecast_add(struct forecast *f, const struct forecast_point *p)
{
	f->point[f->n++ % FORECAST_POINTS] = *p;
}

struct fit {
	double n, sum_x, sum_y, sum_xx, sum_yy, sum_xy, min_x, max_x;
};

static struct fit fit_of(const struct forecast *f)
{
	struct fit s = {.min_x = INFINITY};
	for (size_t i = 0; i < points(f); i++) {
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
static bool by_size(const struct forecast *f, double size, double *ret_mean, double *ret_deviation)
{
	struct fit s = fit_of(f);
	double xx = s.n * s.sum_xx - s.sum_x * s.sum_x, yy = s.n * s.sum_yy - s.sum_y * s.sum_y;
	double xy = s.n * s.sum_xy - s.sum_x * s.sum_y;
	if (s.n < FORECAST_FIT || s.max_x < size_spread * s.min_x || xx <= 0 || yy <= 0 ||
	    xy / sqrt(xx * yy) < correlation)
		return false;
	double slope = xy / xx, base = (s.sum_y - slope * s.sum_x) / s.n;
	*ret_mean = fmax(base + slope * size, 0);
	*ret_deviation = sqrt(fmax(yy - xy * xy / xx, 0)) / s.n;
	return true;
}

/* Of the tasks that needed at least so much; false: none did. */
static bool by_others(const struct forecast *f, double held, double *ret_mean, double *ret_deviation)
{
	double n = 0, sum = 0, squares = 0, most = 0;
	for (size_t i = 0; i < points(f); i++) {
		double peak = (double)f->point[i].peak_bytes;
		if (peak < held)
			continue;
		n++;
		sum += peak;
		squares += peak * peak;
		most = fmax(most, peak);
	}
	if (n == 0)
		return false;
	bool few = points(f) < FEW;
	*ret_mean = few ? most : sum / n;
	*ret_deviation = few ? 0 : sqrt(fmax(squares / n - sum / n * (sum / n), 0));
	return true;
}

bool forecast_of(const struct forecast *f, const uint64_t *size_bytes, uint64_t held_bytes, struct forecast_need *ret)
{
	double held = (double)held_bytes, mean = 0, deviation = 0;
	if (f->n == 0)
		return false;
	if (!(size_bytes && by_size(f, (double)*size_bytes, &mean, &deviation) && mean >= held) &&
	    !by_others(f, held, &mean, &deviation)) {
		mean = held * 1.1; /* more than any before it, and still growing as far as is known */
		deviation = 0;
	}
	*ret = (struct forecast_need){.expected_bytes = (uint64_t)mean, .spread_bytes = (uint64_t)deviation};
	return true;
}

double forecast_share(const struct forecast *f)
{
	double n = 0, sum = 0;
	for (size_t i = 0; i < points(f); i++) {
		if (f->point[i].average_bytes == 0 || f->point[i].peak_bytes == 0)
			continue;
		n++;
		sum += fmin((double)f->point[i].average_bytes / (double)f->point[i].peak_bytes, 1);
	}
	return n == 0 ? 1 : fmax(sum / n, lowest_share);
}
