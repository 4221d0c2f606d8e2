#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/gzip.h"

struct made {
	char *bytes;
	size_t len;
};

/* The data as a gzip file, written in parts of `part` bytes. */
static struct made pack(const char *data, size_t len, size_t part)
{
	struct made m = {};
	FILE *f = open_memstream(&m.bytes, &m.len);
	assert_non_null(f);
	cleanup(gzip_freep) struct gzip *g = NULL;
	assert_int_equal(gzip_open(f, &g), 0);
	for (size_t at = 0; at < len; at += part)
		assert_int_equal(gzip_write(g, data + at, MIN(part, len - at)), 0);
	assert_int_equal(gzip_finish(g), 0);
	fclose(f);
	return m;
}

static uint32_t word_at(const struct made *m, size_t at)
{
	uint32_t v;
	memcpy(&v, m->bytes + at, sizeof(v));
	return v; /* RFC 1952 and this machine: little endian */
}

/* CRC-32 of RFC 1952, section 8. */
static uint32_t crc32_of(const char *data, size_t len)
{
	uint32_t c = UINT32_MAX;
	for (size_t i = 0; i < len; i++) {
		c ^= (unsigned char)data[i];
		for (int k = 0; k < 8; k++)
			c = c & 1 ? UINT32_C(0xedb88320) ^ c >> 1 : c >> 1;
	}
	return ~c;
}

static void the_header_holds_no_time_and_no_name(void **state)
{
	(void)state;
	struct made m = pack("hello", 5, 5);
	static const unsigned char header[8] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
	assert_true(m.len > 18);
	assert_memory_equal(m.bytes, header, sizeof(header));
	free(m.bytes);
}

static void the_trailer_has_checksum_and_length(void **state)
{
	(void)state;
	static char data[300000];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * i >> 7);
	assert_int_equal(crc32_of("123456789", 9), 0xcbf43926);
	struct made m = pack(data, sizeof(data), 1000);
	assert_int_equal(word_at(&m, m.len - 8), crc32_of(data, sizeof(data)));
	assert_int_equal(word_at(&m, m.len - 4), sizeof(data));
	free(m.bytes);
}

static void equal_data_gives_equal_files(void **state)
{
	(void)state;
	static char data[100000];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = "abcdefgh"[i * 7 % 8];
	struct made whole = pack(data, sizeof(data), sizeof(data)), again = pack(data, sizeof(data), sizeof(data));
	assert_int_equal(whole.len, again.len);
	assert_memory_equal(whole.bytes, again.bytes, whole.len);
	assert_true(whole.len < sizeof(data) / 50);
	free(whole.bytes);
	free(again.bytes);
}

static void data_that_cannot_be_packed_grows_little(void **state)
{
	(void)state;
	static char data[200000];
	uint64_t x = 1;
	for (size_t i = 0; i < sizeof(data); i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407U;
		data[i] = (char)(x >> 56);
	}
	struct made m = pack(data, sizeof(data), 4096);
	assert_true(m.len > sizeof(data) && m.len < sizeof(data) + 1000);
	assert_int_equal(word_at(&m, m.len - 8), crc32_of(data, sizeof(data)));
	free(m.bytes);
}

static void an_empty_file_is_one(void **state)
{
	(void)state;
	struct made m = pack("", 0, 1);
	assert_int_equal(m.len, 20); /* header 10, one empty block 2, trailer 8 */
	assert_int_equal(word_at(&m, m.len - 8), 0);
	assert_int_equal(word_at(&m, m.len - 4), 0);
	free(m.bytes);
}

static void a_full_disk_is_reported(void **state)
{
	(void)state;
	FILE *f = fopen("/dev/full", "w");
	assert_non_null(f);
	cleanup(gzip_freep) struct gzip *g = NULL;
	assert_int_equal(gzip_open(f, &g), 0);
	assert_int_equal(gzip_write(g, "x", 1), 0); /* still in memory */
	assert_int_equal(gzip_finish(g), -ENOSPC);
	fclose(f);
}

struct unpacked {
	char *bytes;
	size_t len, calls;
	size_t stop_at; /* call that refuses; 0: none */
};

static int unpack_part(void *ctx, const char *data, size_t len)
{
	struct unpacked *u = ctx;
	if (++u->calls == u->stop_at)
		return 7;
	u->bytes = realloc(u->bytes, u->len + len);
	assert_non_null(u->bytes);
	memcpy(u->bytes + u->len, data, len);
	u->len += len;
	return 0;
}

static int unpack(const char *data, size_t len, size_t part, struct unpacked *u)
{
	cleanup(gunzip_freep) struct gunzip *g = NULL;
	int r = 0;
	assert_int_equal(gunzip_open(&g), 0);
	for (size_t at = 0; at < len && r == 0; at += part)
		r = gunzip_feed(g, data + at, MIN(part, len - at), unpack_part, u);
	return r;
}

static void what_was_packed_is_unpacked_in_parts_of_any_size(void **state)
{
	(void)state;
	static char data[200000];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i % 251 ^ i / 1000);
	struct made m = pack(data, sizeof(data), 4096);
	for (size_t part = 1; part < 2 * m.len; part = part * 8 + 1) {
		struct unpacked u = {.len = 0};
		assert_int_equal(unpack(m.bytes, m.len, part, &u), 0);
		assert_int_equal(u.len, sizeof(data));
		assert_memory_equal(u.bytes, data, sizeof(data));
		free(u.bytes);
	}
	free(m.bytes);
}

static void files_one_after_another_are_one(void **state)
{
	(void)state;
	struct made a = pack("hello ", 6, 6), b = pack("world", 5, 5);
	char both[200];
	struct unpacked u = {.len = 0};
	memcpy(both, a.bytes, a.len);
	memcpy(both + a.len, b.bytes, b.len);
	assert_int_equal(unpack(both, a.len + b.len, 3, &u), 0);
	assert_int_equal(u.len, 11);
	assert_memory_equal(u.bytes, "hello world", 11);
	free(u.bytes);
	free(a.bytes);
	free(b.bytes);
}

static void damage_is_told_after_what_was_whole(void **state)
{
	(void)state;
	static char data[100000];
	struct made m = pack(data, sizeof(data), sizeof(data));
	struct unpacked u = {.len = 0};
	m.bytes[m.len - 6] ^= 1; /* the checksum */
	assert_int_equal(unpack(m.bytes, m.len, 64, &u), GUNZIP_BROKEN);
	assert_int_equal(u.len, sizeof(data));
	free(u.bytes);
	u = (struct unpacked){.len = 0};
	assert_int_equal(unpack("no gzip at all", 14, 14, &u), GUNZIP_BROKEN);
	assert_int_equal(u.len, 0);
	free(m.bytes);
}

static void what_is_packed_quickly_is_whole_or_not_at_all(void **state)
{
	char text[5000], noise[5000];
	size_t len = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)('a' + i % 7);
		noise[i] = (char)(i * i * 2654435761u >> 13);
	}
	char *packed = gzip_quick(text, sizeof(text), &len);
	assert_non_null(packed);
	assert_true(len < sizeof(text) / 10);
	char *back = gunzip(packed, len, sizeof(text));
	assert_non_null(back);
	assert_memory_equal(back, text, sizeof(text));
	free(back);
	free(packed);
	assert_null(gzip_quick(noise, sizeof(noise), &len));
	assert_null(gzip_quick(text, 0, &len));
}

static void the_taker_s_refusal_is_handed_on(void **state)
{
	(void)state;
	static char data[1000000];
	struct made m = pack(data, sizeof(data), sizeof(data));
	struct unpacked u = {.stop_at = 2};
	assert_int_equal(unpack(m.bytes, m.len, m.len, &u), 7);
	assert_int_equal(u.calls, 2);
	free(u.bytes);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_holds_no_time_and_no_name),
		cmocka_unit_test(the_trailer_has_checksum_and_length),
		cmocka_unit_test(equal_data_gives_equal_files),
		cmocka_unit_test(data_that_cannot_be_packed_grows_little),
		cmocka_unit_test(an_empty_file_is_one),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(what_was_packed_is_unpacked_in_parts_of_any_size),
		cmocka_unit_test(files_one_after_another_are_one),
		cmocka_unit_test(damage_is_told_after_what_was_whole),
		cmocka_unit_test(what_is_packed_quickly_is_whole_or_not_at_all),
		cmocka_unit_test(the_taker_s_refusal_is_handed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
