/* Any output of a job: progress is read or not, and the state does not depend on how it was cut. */
#include <assert.h>
#include <string.h>

#include "sense/framework/progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct progress whole, parts;
	progress_init(&whole, NULL);
	progress_init(&parts, NULL);
	progress_feed(&whole, (const char *)data, size, 1000);
	for (size_t i = 0; i < size; i++)
		progress_feed(&parts, (const char *)data + i, 1, 1000 + i * 10);
	assert(whole.n_lines == parts.n_lines && whole.len == parts.len && whole.any == parts.any);
	assert(whole.last.step == parts.last.step && whole.last.form == parts.last.form);
	return 0;
}
