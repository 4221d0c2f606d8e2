#include "sense/framework/storesetter.h"

#include <string.h>

/* More ranks than any job has; a longer number is something else. */
#define RANK_DIGITS 6

/* Steps over this text if it stands here. */
static bool past(const char **p, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Steps over a number without leading zeros. */
static bool past_number(const char **p, int32_t *ret)
{
	const char *s = *p;
	int32_t n = 0;
	size_t digits = 0;
	for (; *s >= '0' && *s <= '9' && digits <= RANK_DIGITS; s++, digits++)
		n = n * 10 + (*s - '0');
	if (digits == 0 || digits > RANK_DIGITS || (digits > 1 && **p == '0'))
		return false;
	*p = s;
	*ret = n;
	return true;
}

/* Steps over the name of a backend's devices and its two strokes: "cpu//". */
static void past_device(const char **p)
{
	const char *s = *p;
	while (*s >= 'a' && *s <= 'z')
		s++;
	if (s > *p && past(&s, "//"))
		*p = s;
}

/* "0//cpu//0/2": rank 2 of the default group. */
static bool is_address_of(const char *p, int32_t *ret_rank)
{
	int32_t device, rank;
	if (!past(&p, "0//"))
		return false;
	past_device(&p);
	if (!past_number(&p, &device) || !past(&p, "/") || !past_number(&p, &rank) || *p)
		return false;
	*ret_rank = rank;
	return true;
}

/*
 * "store_based_barrier_key:0:last_worker", behind "0//" where the default group makes another one: all ranks of the job
 * come to it, whichever group is made.
 */
static bool is_barrier(const char *p)
{
	static const char end[] = ":last_worker";
	size_t n;
	(void)past(&p, "0//");
	if (!past(&p, "store_based_barrier_key:"))
		return false;
	n = strlen(p);
	return n > strlen(end) && strcmp(p + n - strlen(end), end) == 0 && !strchr(p, '/');
}

enum storesetter storesetter_of(const char *key, int32_t *ret_rank)
{
	int32_t attempt;
	const char *p = key, *after;
	(void)past(&p, "/");
	after = p;
	if (past(&after, "worker/attempt_") && past_number(&after, &attempt) && past(&after, "/"))
		p = after;
	if (!past(&p, "default_pg/"))
		return STORESETTER_UNKNOWN;
	if (is_address_of(p, ret_rank))
		return STORESETTER_RANK;
	return is_barrier(p) ? STORESETTER_LAST : STORESETTER_UNKNOWN;
}
