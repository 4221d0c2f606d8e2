#include "tell/store/storelast.h"

static int first_take(void *ctx, const struct job_event *e)
{
	*(struct job_event *)ctx = *e;
	return 1;
}

/* The events are ordered by their numbers, so each question costs one look; at most 63 are needed. */
int store_last_event(struct store *s, const char *job, struct job_event *ret)
{
	struct job_event last = {.seq = 0};
	uint64_t high = UINT64_C(1) << 62; /* there is none after it; one after the last that was seen is looked for */
	while (last.seq < high) {
		uint64_t middle = last.seq + (high - last.seq) / 2;
		struct job_event seen = {.seq = 0};
		int r = store_each_event(s, job, middle, first_take, &seen);
		if (r < 0)
			return r;
		if (seen.seq > 0)
			last = seen;
		else
			high = middle;
	}
	if (last.seq == 0)
		return STORE_NONE;
	*ret = last;
	return 0;
}
