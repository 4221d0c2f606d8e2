/* Any bytes as a trace: events of sane texts and times, judged without a crash; the same in parts of one byte. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "judge/speed/tracejudge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void event(void *ctx, const struct chrometrace_event *e)
{
	assert(strlen(e->name) < sizeof(e->name) && strlen(e->pid) < sizeof(e->pid));
	assert(!e->has_dur || e->dur_ns >= 0);
	tracefacts_event(ctx, e);
}

static void read_parts(const uint8_t *data, size_t size, size_t part, struct tracefacts *ret, uint64_t *ret_events)
{
	static struct chrometrace t;
	chrometrace_init(&t, event, ret);
	for (size_t i = 0; i < size; i += part)
		if (chrometrace_feed(&t, (const char *)data + i, MIN(part, size - i)) != 0)
			break;
	*ret_events = t.n_events;
	tracefacts_seal(ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct findings found;
	struct tracefacts whole = {.n_rows = 0}, parts = {.n_rows = 0};
	struct tracesum sum;
	uint64_t a, b;
	read_parts(data, size, size + 1, &whole, &a);
	read_parts(data, size, 1, &parts, &b);
	assert(a == b && whole.n_tasks == parts.n_tasks && whole.n_rows == parts.n_rows);
	found.n = 0;
	assert(trace_judge(&whole, &sum, &found) == 0);
	assert(sum.tasks <= whole.n_tasks && sum.busy_s >= 0);
	for (size_t i = 0; i < found.n; i++)
		assert(found.row[i].cost_ratio >= 0 && found.row[i].cost_ratio <= 1);
	tracefacts_done(&whole);
	tracefacts_done(&parts);
	return 0;
}
