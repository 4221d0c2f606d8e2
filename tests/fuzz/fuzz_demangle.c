#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "sense/native/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libiberty is not ours, but what comes out of it is shown by us: short, and soon. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 3);
	if (!name)
		abort();
	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	for (size_t skip = 0; skip <= 2; skip += 2) {
		uint64_t start_ns = clock_mono_ns();
		char *text = demangle(name + skip);
		assert(!text || strlen(text) < DEMANGLE_TEXT_MAX);
		assert(clock_mono_ns() - start_ns < 5 * NS_PER_S);
		free(text);
	}
	free(name);
	return 0;
}
