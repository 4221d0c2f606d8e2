#include <string.h>

#include "sense/native/ehframe.h"

#define PE_ABSPTR 0x00
#define PE_ULEB128 0x01
#define PE_UDATA2 0x02
#define PE_UDATA4 0x03
#define PE_UDATA8 0x04
#define PE_SLEB128 0x09
#define PE_SDATA2 0x0a
#define PE_SDATA4 0x0b
#define PE_SDATA8 0x0c
#define PE_PCREL 0x10
#define PE_DATAREL 0x30
#define PE_OMIT 0xff

uint64_t eh_uint(struct eh_bytes *b, size_t width)
{
	uint64_t v = 0;
	if (b->bad || width > b->end - b->at) {
		b->bad = true;
		return 0;
	}
	memcpy(&v, b->section->bytes + b->at, width);
	b->at += width;
	return v;
}

int64_t eh_sint(struct eh_bytes *b, size_t width)
{
	unsigned shift = (unsigned)(64 - 8 * width);
	return (int64_t)(eh_uint(b, width) << shift) >> shift;
}

/* A LEB128 number longer than 64 bits need is bad: no compiler writes one, and garbage could cost time. */
static uint64_t leb(struct eh_bytes *b, unsigned *ret_bits, bool *ret_negative)
{
	uint64_t v = 0;
	unsigned shift = 0;
	for (;;) {
		uint8_t byte = (uint8_t)eh_uint(b, 1);
		if (b->bad)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		*ret_negative = byte & 0x40;
		*ret_bits = shift;
		if (!(byte & 0x80))
			return v;
		if (shift > 63) {
			b->bad = true;
			return 0;
		}
	}
}

uint64_t eh_uleb(struct eh_bytes *b)
{
	unsigned bits;
	bool negative;
	return leb(b, &bits, &negative);
}

int64_t eh_sleb(struct eh_bytes *b)
{
	unsigned bits = 0;
	bool negative = false;
	uint64_t v = leb(b, &bits, &negative);
	if (!b->bad && negative && bits < 64)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v;
}

static uint64_t raw_pointer(struct eh_bytes *b, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return eh_uint(b, 8);
	case PE_ULEB128:
		return eh_uleb(b);
	case PE_SLEB128:
		return (uint64_t)eh_sleb(b);
	case PE_UDATA2:
		return eh_uint(b, 2);
	case PE_SDATA2:
		return (uint64_t)eh_sint(b, 2);
	case PE_UDATA4:
		return eh_uint(b, 4);
	case PE_SDATA4:
		return (uint64_t)eh_sint(b, 4);
	default:
		b->bad = true;
		return 0;
	}
}

uint64_t eh_pointer(struct eh_bytes *b, uint8_t encoding, uint64_t data_base)
{
	uint64_t place = b->section->vaddr + b->at;
	if (encoding == PE_OMIT) {
		b->bad = true;
		return 0;
	}
	uint64_t v = raw_pointer(b, encoding & 0x0f);
	/* The caller masks DW_EH_PE_indirect (0x80), which is used only for personality routines, which are skipped. */
	switch (encoding & 0xf0) {
	case 0:
		return v;
	case PE_PCREL:
		return place + v;
	case PE_DATAREL:
		return data_base + v;
	default:
		b->bad = true;
		return 0;
	}
}
