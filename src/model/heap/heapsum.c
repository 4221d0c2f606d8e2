#include "model/heap/heapsum.h"

#include <math.h>

/* 95 % of a normal distribution lie within this number of standard deviations. */
#define Z95 1.959964
#define LEAK_POINTS_MIN 4

void heap_amount_add(struct heap_amount *to, const struct heap_amount *a)
{
	bool known = to->chance_bytes >= 0 && a->chance_bytes >= 0;
	to->bytes += a->bytes;
	to->objects += a->objects;
	to->variance += a->variance;
	to->chance_bytes = known ? to->chance_bytes + a->chance_bytes : -1;
	to->lean += a->lean;
	to->above_bytes += a->above_bytes;
	to->samples = add_cap(to->samples, a->samples);
}

struct heap_amount heap_amount_part(const struct heap_amount *a, double share)
{
	double s = share > 0 ? MIN(share, 1.0) : 0;
	return (struct heap_amount){
		.bytes = a->bytes * s,
		.objects = a->objects * s,
		/* a share has fewer samples of the same weight */
		.variance = a->variance * s,
		.chance_bytes = a->chance_bytes < 0 ? -1 : a->chance_bytes * s,
		.lean = a->lean * s,
		.above_bytes = a->above_bytes * s,
		.samples = (uint64_t)((double)a->samples * s + 0.5),
	};
}

struct heap_amount heap_amount_times(const struct heap_amount *a, double factor)
{
	struct heap_amount r = *a;
	r.bytes *= factor;
	r.variance *= factor * factor;
	r.chance_bytes *= r.chance_bytes < 0 ? 1 : factor;
	r.lean *= factor * factor;
	r.above_bytes *= factor;
	return r;
}

double heap_amount_sigma(const struct heap_amount *a)
{
	return a->variance > 0 ? sqrt(a->variance) : 0;
}

struct heap_interval heap_amount_interval(const struct heap_amount *a)
{
	double chance = a->chance_bytes >= 0 ? MIN(a->chance_bytes, a->bytes) : a->bytes;
	if (!(a->variance > 0) || !(chance > 0))
		return (struct heap_interval){a->bytes, a->bytes + a->above_bytes};
	double whole = a->variance / chance, weight = a->lean > 0 ? MIN(a->lean / chance, whole) : whole;
	double shift = weight * Z95 * Z95 / 2;
	double half = Z95 * sqrt(a->variance + weight * weight * Z95 * Z95 / 4);
	/* bytes that were sampled exist, so they bound the interval from below */
	return (struct heap_interval){fmax(a->bytes + shift - half, a->bytes - chance),
				      a->bytes + shift + half + a->above_bytes};
}

static double slope(const struct heap_point *p, size_t n)
{
	double t = 0, y = 0, tt = 0, ty = 0;
	for (size_t i = 0; i < n; i++) {
		t += p[i].at_s / (double)n;
		y += p[i].bytes / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		tt += (p[i].at_s - t) * (p[i].at_s - t);
		ty += (p[i].at_s - t) * (p[i].bytes - y);
	}
	return tt > 0 ? ty / tt : 0;
}

/*
 * How evenly the growth is spread over the intervals, by the entropy of its parts: growth in a single step gives 1 /
 * intervals, equal growth in each gives 1. A decrease in between lowers the result.
 */
static double evenness(const struct heap_point *p, size_t n)
{
	double up = 0, moved = 0, entropy = 0;
	for (size_t i = 1; i < n; i++) {
		double d = p[i].bytes - p[i - 1].bytes;
		up += fmax(d, 0);
		moved += fabs(d);
	}
	if (!(up > 0))
		return 0;
	for (size_t i = 1; i < n; i++) {
		double share = (p[i].bytes - p[i - 1].bytes) / up;
		if (share > 0)
			entropy -= share * log(share);
	}
	return exp(entropy) / (double)(n - 1) * ((p[n - 1].bytes - p[0].bytes) / moved);
}

struct heap_leak heap_leak_of(const struct heap_point *points, size_t n)
{
	struct heap_leak leak = {.valid = n >= LEAK_POINTS_MIN};
	if (!leak.valid)
		return leak;
	leak.grown_bytes = points[n - 1].bytes - points[0].bytes;
	leak.bytes_per_s = slope(points, n);
	if (leak.grown_bytes > 0 && points[n - 1].bytes > 0)
		leak.score = fmax(evenness(points, n), 0);
	return leak;
}
