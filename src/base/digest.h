/*
 * SHA-256, HMAC-SHA-256 (FIPS 180-4, RFC 2104) and hexadecimal and Base64 text. Pure; nothing is allocated. For signing
 * messages, not for passwords.
 */
#pragma once

#include "base/base.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX_CAP (2 * DIGEST_BYTES + 1)
/* Bytes of a Base64 text with its NUL. */
#define BASE64_CAP(len) (((len) + 2) / 3 * 4 + 1)

void digest_sha256(const void *data, size_t len, uint8_t ret[static DIGEST_BYTES]);
void digest_hmac(const void *key, size_t key_len, const void *data, size_t len, uint8_t ret[static DIGEST_BYTES]);
char *digest_hex(const uint8_t digest[static DIGEST_BYTES], char dst[static DIGEST_HEX_CAP]);
/* Base64 without line breaks; dst has BASE64_CAP(len) bytes. Returns dst. */
char *base64_of(const void *data, size_t len, char *dst);
