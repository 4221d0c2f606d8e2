#include <assert.h>
#include <string.h>

#include "sense/proc/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps m;
	if (maps_parse((struct span){(const char *)data, size}, &m) != 0)
		return 0;
	for (size_t i = 0; i < m.n; i++) {
		const struct map_row *r = &m.rows[i];
		assert(r->start < r->end && (i == 0 || m.rows[i - 1].end <= r->start));
		assert(maps_find(&m, r->start) == r && maps_find(&m, r->end - 1) == r);
		assert(r->path[0] == '\0' || (r->path >= m.text && r->path + strlen(r->path) <= m.text + size));
	}
	maps_done(&m);
	return 0;
}
