#include "model/heap/heaplife.h"

#include <math.h>

/* A surviving share below this one does not affect the mean. */
#define LEFT_OVER 0.01

size_t heap_life_class(double seconds)
{
	size_t j = 0;
	while (j + 1 < HEAP_LIFE_CLASSES && seconds >= heap_life_from_s(j + 1))
		j++;
	return j;
}

double heap_life_from_s(size_t class)
{
	return class == 0 ? 0 : ldexp(0.0005, (int)class - 1);
}

void heap_lives_add(struct heap_lives *to, const struct heap_lives *l)
{
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++) {
		to->freed_bytes[j] += l->freed_bytes[j];
		to->alive_bytes[j] += l->alive_bytes[j];
	}
	to->freed_byte_s += l->freed_byte_s;
	to->alive_byte_s += l->alive_byte_s;
	to->oldest_s = fmax(to->oldest_s, l->oldest_s);
	to->coarse |= l->coarse;
}

/*
 * The share of bytes that is alive at the end of each class. Bytes that are still alive count as present for half of
 * their class.
 */
static void survival(const struct heap_lives *l, double left[HEAP_LIFE_CLASSES])
{
	double here = 0, s = 1;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
		here += l->freed_bytes[j] + l->alive_bytes[j];
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++) {
		double seen = here - l->alive_bytes[j] / 2;
		if (seen > 0 && l->freed_bytes[j] > 0)
			s *= fmax(1 - l->freed_bytes[j] / seen, 0);
		left[j] = s;
		here -= l->freed_bytes[j] + l->alive_bytes[j];
	}
}

static double all_of(const double *bytes)
{
	double sum = 0;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
		sum += bytes[j];
	return sum;
}

/* The upper bound of a class. The last class has none, so its bound follows from the known mean. */
static double class_end_s(const struct heap_lives *l, size_t j)
{
	double from = heap_life_from_s(j);
	if (j + 1 < HEAP_LIFE_CLASSES)
		return heap_life_from_s(j + 1);
	double known = 0;
	for (size_t i = 0; i < j; i++)
		known += l->freed_bytes[i] * (heap_life_from_s(i) + heap_life_from_s(i + 1)) / 2;
	double mean = l->freed_bytes[j] > 0 ? (l->freed_byte_s - known) / l->freed_bytes[j] : from;
	return fmax(2 * mean - from, 2 * from);
}

/* The largest age that was observed. */
static double seen_until_s(const struct heap_lives *l)
{
	double until = l->oldest_s;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
		if (l->freed_bytes[j] > 0)
			until = fmax(until, heap_life_from_s(j));
	return until;
}

struct heap_life heap_lives_gone(const struct heap_lives *l, double share)
{
	double left[HEAP_LIFE_CLASSES], before = 1;
	if (!(all_of(l->freed_bytes) + all_of(l->alive_bytes) > 0))
		return (struct heap_life){.known = false};
	survival(l, left);
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; before = left[j++]) {
		if (left[j] > 1 - share + 1e-9)
			continue;
		double from = heap_life_from_s(j), to = class_end_s(l, j);
		double part = before > left[j] ? (before - (1 - share)) / (before - left[j]) : 1;
		part = fmin(fmax(part, 0), 1);
		/* ends are spread evenly over the logarithm of the age */
		double s = from > 0 ? from * pow(to / from, part) : to * part;
		return (struct heap_life){.known = true, .seconds = s, .below_s = to};
	}
	return (struct heap_life){.known = true, .at_least = true, .seconds = seen_until_s(l)};
}

static double middle_s(const struct heap_lives *l, size_t j)
{
	double from = heap_life_from_s(j), to = class_end_s(l, j);
	return from > 0 ? sqrt(from * to) : to / 2;
}

/* A factor that makes the estimated class middles agree with the known mean of the freed bytes. */
static double middles_factor(const struct heap_lives *l)
{
	double sum = 0;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
		sum += l->freed_bytes[j] * middle_s(l, j);
	return sum > 0 && l->freed_byte_s > 0 ? l->freed_byte_s / sum : 1;
}

struct heap_life heap_lives_mean(const struct heap_lives *l)
{
	double left[HEAP_LIFE_CLASSES], before = 1, sum = 0, freed = all_of(l->freed_bytes);
	double alive = all_of(l->alive_bytes), until = seen_until_s(l);
	if (!(freed + alive > 0))
		return (struct heap_life){.known = false};
	if (!(alive > 0))
		return (struct heap_life){.known = true, .seconds = l->freed_byte_s / freed};
	survival(l, left);
	double factor = middles_factor(l);
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; before = left[j++]) {
		double from = heap_life_from_s(j), to = class_end_s(l, j);
		double middle = fmin(fmax(middle_s(l, j) * factor, from), to);
		/* ages beyond the oldest observed one are unknown */
		double end = fmin(to, fmax(until, from));
		if (left[j] < before)
			sum += left[j] * (to - from) + (before - left[j]) * (middle - from);
		else
			sum += before * (end - from);
	}
	return (struct heap_life){.known = true, .at_least = left[HEAP_LIFE_CLASSES - 1] > LEFT_OVER, .seconds = sum};
}

double heap_lives_mean_square(const struct heap_lives *l)
{
	double all = 0, sum = 0, mean = 0;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++) {
		double middle = middle_s(l, j);
		double bytes = l->freed_bytes[j] + l->alive_bytes[j];
		all += bytes;
		mean += bytes * middle;
		sum += bytes * middle * middle;
	}
	if (!(all > 0) || !(mean > 0))
		return 0;
	/* class middles are estimates; scale them to the known mean */
	double known = (l->freed_byte_s + l->alive_byte_s) / all, ratio = known / (mean / all);
	return sum / all * ratio * ratio;
}
