#include "sense/python/pydict.h"

#include <string.h>

int pydict_keys(const struct pyrt *rt, struct remote *r, uint64_t addr, struct pydict_keys *ret)
{
	unsigned char raw[40];
	uint64_t index_bytes;
	struct pydict_keys k = {};
	int e = remote_read(r, addr, raw, rt->minor >= 11 ? 32 : 40);
	if (e)
		return e;
	if (rt->minor >= 11) {
		bool general = raw[10] == 0;
		if (raw[9] > 40 || raw[10] > 2)
			return REMOTE_FAULT;
		memcpy(&k.n, raw + 24, sizeof(k.n));
		index_bytes = UINT64_C(1) << raw[9];
		k.entries = addr + 32 + index_bytes;
		k.row_bytes = general ? 24 : 16;
		k.key_at = general ? 8 : 0;
	} else {
		uint64_t size = 0;
		memcpy(&size, raw + 8, sizeof(size));
		memcpy(&k.n, raw + 32, sizeof(k.n));
		if (size > UINT64_C(1) << 40)
			return REMOTE_FAULT;
		index_bytes = size <= 0xff	   ? size
			      : size <= 0xffff	   ? size * 2
			      : size <= UINT32_MAX ? size * 4
						   : size * 8;
		k = (struct pydict_keys){.entries = addr + 40 + index_bytes, .n = k.n, .row_bytes = 24, .key_at = 8};
	}
	*ret = k;
	return 0;
}
