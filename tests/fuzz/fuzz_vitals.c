/* Files of /proc that show signs of life. */
#include <assert.h>

#include "sense/proc/procstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size};
	struct procstats_io io;
	struct procstats_thread t = {.has_schedule = false};
	if (procstats_io_parse(text, &io) == 0)
		assert(span_has(text, "rchar") && span_has(text, "write_bytes"));
	assert((procstats_schedstat_parse(text, &t) == 0) == t.has_schedule);
	return 0;
}
