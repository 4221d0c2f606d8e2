#include <assert.h>
#include <string.h>

#include "tell/store/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct series_reader r;
	static struct series_record rec;
	static struct step_times times;
	const struct span text = {(const char *)data, size};
	if (series_step_times(text, &times))
		assert(times.n <= STEP_TIMES_RANKS);
	if (series_reader_init(&r, text) < 0)
		return 0;
	while (series_next(&r, &rec)) {
		assert(r.rest.p > text.p && r.rest.p + r.rest.len == text.p + text.len);
		if (rec.kind == SERIES_SAMPLE)
			assert(rec.sample.n_lanes <= SERIES_LANES);
		else if (rec.kind == SERIES_DEVICES)
			assert(rec.devices.n <= SERIES_DEVICES_MAX);
		else if (rec.kind == SERIES_BULK)
			assert(rec.bulk.n <= SERIES_BULK_MAX);
		else if (rec.kind == SERIES_PROCESS)
			assert(memchr(rec.process.name, '\0', sizeof(rec.process.name)) &&
			       memchr(rec.process.role, '\0', sizeof(rec.process.role)));
	}
	assert(r.rest.len == 0 && r.skipped_bytes <= size);
	return 0;
}
