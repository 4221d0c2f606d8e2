#include "sense/python/pyexcept.h"

#define CODE_UNIT_BYTES 2
/* Larger numbers are in no code object. */
#define NUMBER_MAX (UINT32_MAX / 4)

/* Six bits per byte, the highest first; bit 6: more follows. Bit 7 marks the first byte of an entry. */
static bool number_next(struct span t, size_t *at, uint32_t *ret)
{
	uint32_t v = 0;
	while (*at < t.len) {
		uint8_t byte = (uint8_t)t.p[(*at)++];
		v = v << 6 | (byte & 63);
		if (v > NUMBER_MAX >> 6)
			return false;
		if (!(byte & 64)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

bool pyexcept_find(struct span table, uint32_t at, struct pyexcept *ret)
{
	uint32_t start, units, target, depth;
	for (size_t i = 0; i < table.len;) {
		if (!number_next(table, &i, &start) || !number_next(table, &i, &units) ||
		    !number_next(table, &i, &target) || !number_next(table, &i, &depth))
			return false;
		if (at / CODE_UNIT_BYTES < start)
			return false; /* entries are in the order of the code */
		if (at / CODE_UNIT_BYTES - start < units) {
			/* The lowest bit says that the handler also gets the instruction. */
			*ret = (struct pyexcept){.target = target * CODE_UNIT_BYTES, .depth = depth >> 1};
			return true;
		}
	}
	return false;
}
