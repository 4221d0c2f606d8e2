#include <assert.h>

#include "model/memory/ledger.h"
#include "sense/memory/meminfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the text, no field exceeds its total, and the ledger's sums hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meminfo m;
	if (meminfo_parse((struct span){(const char *)data, size}, &m) != 0)
		return 0;
	assert(m.bytes[MEMINFO_TOTAL] > 0);
	assert(meminfo_has(&m, MEMINFO_AVAILABLE));
	for (int f = 0; f < MEMINFO_MAX; f++)
		assert(f == MEMINFO_SWAP_TOTAL || f == MEMINFO_SWAP_FREE || m.bytes[f] <= m.bytes[MEMINFO_TOTAL]);
	assert(m.bytes[MEMINFO_SWAP_FREE] <= m.bytes[MEMINFO_SWAP_TOTAL]);
	struct ledger_level v = ledger_node_level(&m, m.bytes[MEMINFO_SWAP_TOTAL]);
	assert(v.used_bytes + v.available_bytes == v.total_bytes);
	return 0;
}
