/* Numbers from bytes that were copied from a process: unaligned, in this machine's byte order. */
#pragma once

#include <stdint.h>

static inline uint64_t load_u64(const char *p)
{
	uint64_t v;
	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const char *p)
{
	uint32_t v;
	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}
