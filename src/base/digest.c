#include "base/digest.h"

#include <string.h>

#define BLOCK 64

struct sha256 {
	uint32_t h[8];
	uint8_t block[BLOCK];
	size_t held;
	uint64_t total;
};

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t v, unsigned by)
{
	return v >> by | v << (32 - by);
}

static void digest_block(struct sha256 *s)
{
	uint32_t w[64], v[8];
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
	memcpy(v, s->h, sizeof(v));
	for (size_t i = 0; i < 64; i++) {
		uint32_t e = turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t first = v[7] + e + choice + round_constant[i] + w[i];
		uint32_t a = turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22);
		uint32_t second = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += first;
		v[0] = first + second;
	}
	for (size_t i = 0; i < 8; i++)
		s->h[i] += v[i];
}

static void digest_begin(struct sha256 *s)
{
	/* the same of the square roots of the first 8 primes */
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	*s = (struct sha256){.held = 0};
	memcpy(s->h, start, sizeof(start));
}

static void digest_add(struct sha256 *s, const void *data, size_t len)
{
	const uint8_t *p = data;
	s->total += len;
	while (len > 0) {
		size_t part = MIN(len, BLOCK - s->held);
		memcpy(s->block + s->held, p, part);
		s->held += part;
		p += part;
		len -= part;
		if (s->held == BLOCK) {
			digest_block(s);
			s->held = 0;
		}
	}
}

static void digest_end(struct sha256 *s, uint8_t ret[static DIGEST_BYTES])
{
	static const uint8_t padding[BLOCK] = {0x80};
	uint64_t bits = s->total * 8;
	uint8_t length[8];
	for (size_t i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	digest_add(s, padding, s->held < 56 ? 56 - s->held : BLOCK + 56 - s->held);
	digest_add(s, length, sizeof(length));
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		ret[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void digest_sha256(const void *data, size_t len, uint8_t ret[static DIGEST_BYTES])
{
	struct sha256 s;
	digest_begin(&s);
	digest_add(&s, data, len);
	digest_end(&s, ret);
}

void digest_hmac(const void *key, size_t key_len, const void *data, size_t len, uint8_t ret[static DIGEST_BYTES])
{
	uint8_t block[BLOCK] = {0}, inner[DIGEST_BYTES];
	struct sha256 s;
	if (key_len > BLOCK)
		digest_sha256(key, key_len, block);
	else if (key_len > 0)
		memcpy(block, key, key_len);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36;
	digest_begin(&s);
	digest_add(&s, block, BLOCK);
	digest_add(&s, data, len);
	digest_end(&s, inner);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	digest_begin(&s);
	digest_add(&s, block, BLOCK);
	digest_add(&s, inner, sizeof(inner));
	digest_end(&s, ret);
}

char *digest_hex(const uint8_t digest[static DIGEST_BYTES], char dst[static DIGEST_HEX_CAP])
{
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		dst[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		dst[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	dst[2 * DIGEST_BYTES] = '\0';
	return dst;
}

char *base64_of(const void *data, size_t len, char *dst)
{
	static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = data;
	char *to = dst;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t v =
			(uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
		*to++ = letter[v >> 18];
		*to++ = letter[v >> 12 & 63];
		*to++ = left > 1 ? letter[v >> 6 & 63] : '=';
		*to++ = left > 2 ? letter[v & 63] : '=';
	}
	*to = '\0';
	return dst;
}
