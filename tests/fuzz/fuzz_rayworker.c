#include <assert.h>
#include <string.h>

#include "sense/framework/rayworker.h"
#include "sense/rank.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names of files and lines of logs: whatever the bytes, an id has no path in it and ranks are numbers of ranks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span bytes = {(const char *)data, size};
	struct rayworker r;
	struct rayworker_train t;
	if (rayworker_parse(bytes, &r))
		assert(r.worker_id[0] && !strchr(r.worker_id, '/') && r.logs[0] == '/' && !strchr(r.job_id, '/'));
	if (rayworker_train_parse(bytes, &t))
		assert(t.rank >= 0 && t.local_rank >= NO_RANK);
	return 0;
}
