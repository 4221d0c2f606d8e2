#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sense/speed/threadcost.h"
#include "sense/speed/threadstart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define END UINT64_C(0x7f0000100000)

static void put(char *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* The upper end of a stack: two bytes say where a struct pthread lies in it, the third whose code it names. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char stack[4096];
	static const char maps[] = "7f0000200000-7f0000300000 r-xp 00000000 08:01 7 /lib/libgomp.so.1\n"
				   "7f0000300000-7f0000400000 rw-p 00000000 00:00 0\n"
				   "7f0000400000-7f0000500000 r-xp 00000000 08:01 8 /lib/libc.so.6\n";
	cleanup(maps_done) struct maps m = {.n = 0};
	if (size < 4 || maps_parse((struct span){maps, sizeof(maps) - 1}, &m) != 0)
		return 0;
	const size_t len = MIN(size - 3, sizeof(stack)), at = (size_t)(data[0] | data[1] << 8);
	memcpy(stack, data + 3, len);
	const uint64_t begin = END - len;
	if (at + 24 <= len) {
		put(stack + at, begin + at);
		put(stack + at + 16, begin + at);
	}
	if (at + 0x618 <= len)
		put(stack + at + 0x610, UINT64_C(0x7f0000200000) + ((uint64_t)data[2] << 16));
	struct threadstart found = {.tid = -1};
	/* what is read is bounded by len: a copy of exactly that size, for the sanitizer */
	char *copy = malloc(len);
	assert(copy);
	memcpy(copy, stack, len);
	if (threadstart_find(copy, len, END, &m, &found))
		assert(found.tid > 0 && (found.lib == 0 || found.lib == THREADLIB_GOMP));
	free(copy);
	return 0;
}
