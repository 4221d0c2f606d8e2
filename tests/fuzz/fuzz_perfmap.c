#include <assert.h>
#include <string.h>

#include "sense/native/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap m;
	if (perfmap_parse((struct span){(const char *)data, size}, &m) != 0)
		return 0;
	for (size_t i = 0; i < m.n; i++) {
		const char *name;
		uint64_t start;
		assert(m.rows[i].start < m.rows[i].end && (i == 0 || m.rows[i - 1].start < m.rows[i].start));
		assert(perfmap_find(&m, m.rows[i].start, &name, &start) && start <= m.rows[i].start);
		assert(name > m.text && name + strlen(name) <= m.text + size);
	}
	perfmap_done(&m);
	return 0;
}
