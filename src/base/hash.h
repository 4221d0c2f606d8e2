/*
 * Hashes for tables in memory. Not for files, whose formats name their own, and not against an attacker who chooses the
 * keys: where one does, the table's owner bounds the length of its chains.
 */
#pragma once

#include "base/base.h"

#define HASH_START UINT64_C(0xcbf29ce484222325) /* FNV-1a's offset basis */
#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio, made odd */

/* Spread the bits of one number over all 64 (the finalizer of splitmix64). */
static inline uint64_t hash_mix(uint64_t h)
{
	h ^= h >> 30;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	h ^= h >> 27;
	h *= UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

/* FNV-1a over bytes, continuing from h; begin with HASH_START. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* A slot of a table of 2^k slots for a key whose high bits matter as much as its low ones, an address for example. */
static inline size_t hash_slot(uint64_t key, size_t mask)
{
	return (size_t)(key * HASH_GOLDEN >> 32) & mask;
}
