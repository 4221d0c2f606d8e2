/* /proc/locks */
#include <assert.h>

#include "sense/wait/filelock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size}, line;
	struct filelock l, last = {.pid = -1};
	while (span_line(&text, &line)) {
		if (filelock_parse(line, &l) != 0)
			continue;
		assert(l.pid >= -1 && l.start <= l.end);
		assert(!l.waits || !filelock_blocks(&l, &last));
		last = l;
	}
	return 0;
}
