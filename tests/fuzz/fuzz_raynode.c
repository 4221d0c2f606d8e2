#include <assert.h>
#include <string.h>

#include "model/jobs/raytitle.h"
#include "model/memory/raynode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Arguments of a raylet and titles of workers: whatever the bytes, the texts have an end and a name is its title's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span bytes = {(const char *)data, size};
	struct raynode n;
	struct raytitle t;
	char folder[64];
	raynode_spill_folder(bytes, folder, sizeof(folder));
	assert(strlen(folder) < sizeof(folder));
	assert(folder[0] == '\0' || folder[0] == '/');
	if (raynode_of(bytes, &n))
		assert(strlen(n.session) < sizeof(n.session) && strlen(n.id) < sizeof(n.id));
	if (raytitle_of(bytes, &t))
		assert(t.name.len > 0 && t.name.p >= bytes.p && t.name.p + t.name.len <= bytes.p + size);
	return 0;
}
