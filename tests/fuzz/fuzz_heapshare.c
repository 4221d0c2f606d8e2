/*
 * Any bytes as a note of what lay in memory: refused, or rows in order, no more resident than seen, which come back the
 * same.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sense/heap/heapshare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heapshare s, again;
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	if (heapshare_parse((struct span){(const char *)data, size}, &s) != 0)
		return 0;
	for (size_t i = 0; i < s.n; i++) {
		assert(s.row[i].resident_bytes <= s.row[i].seen_bytes &&
		       (i == 0 || s.row[i].stack > s.row[i - 1].stack));
		assert(heapshare_find(&s, s.row[i].stack) == &s.row[i]);
	}
	assert(heapshare_format(&s, &text, &len) == 0);
	assert(heapshare_parse((struct span){text, len}, &again) == 0);
	assert(again.n == s.n && again.time_unix_ms == s.time_unix_ms);
	assert(s.n == 0 || memcmp(again.row, s.row, s.n * sizeof(*s.row)) == 0);
	heapshare_done(&s);
	heapshare_done(&again);
	return 0;
}
