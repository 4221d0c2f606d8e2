#include <assert.h>
#include <string.h>

#include "sense/pylib/rayhandle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first 16 bytes are an actor's id, the others what is found in memory: a name lies within them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct raycall_actor a;
	struct span name;
	if (size < sizeof(a.id))
		return 0;
	memcpy(a.id, data, sizeof(a.id));
	const struct span bytes = {(const char *)data + sizeof(a.id), size - sizeof(a.id)};
	if (rayhandle_parse(bytes, &a, &name) && name.len > 0)
		assert(name.p > bytes.p && name.len < bytes.len && name.p + name.len <= bytes.p + bytes.len);
	return 0;
}
