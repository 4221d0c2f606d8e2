#include "testing.h"

#include "agent/output/lastline.h"

static struct lastline said(const char *text)
{
	struct lastline l = {.last_len = 0};
	lastline_add(&l, text, strlen(text));
	return l;
}

static void the_last_line_is_the_last_that_is_not_empty(void **state)
{
	static const struct {
		const char *said, *last, *line;
	} cases[] = {
		{"one\ntwo\n\n\n", "two", ""}, {"one\ntwo", "one", "two"}, {"50 %\r60 %\r", "60 %", ""},
		{"\n\n", "", ""},		 {"a\r\nb\r\n", "b", ""},    {"", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lastline l = said(cases[i].said);
		assert_int_equal(l.last_len, strlen(cases[i].last));
		assert_memory_equal(l.last, cases[i].last, l.last_len);
		assert_int_equal(l.line_len, strlen(cases[i].line));
		assert_memory_equal(l.line, cases[i].line, l.line_len);
	}
}

static void a_line_that_is_too_long_is_cut_and_the_next_one_is_whole(void **state)
{
	char text[LASTLINE_MAX * 3];
	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 2] = '\n';
	text[sizeof(text) - 1] = '\0';
	struct lastline l = said(text);
	assert_int_equal(l.last_len, LASTLINE_MAX);
	lastline_add(&l, "short\n", 6);
	assert_int_equal(l.last_len, 5);
}

/* Bytes in parts of any size give what they give one by one. */
static void parts_do_not_matter(void **state)
{
	char text[700];
	uint32_t seed = 7;
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct lastline parts = {.last_len = 0}, bytes = {.last_len = 0};
		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1664525 + 1013904223;
			uint32_t r = (seed >> 16) % (round % 2 ? 400 : 6);
			text[i] = r == 0 ? '\n' : r == 1 ? '\r' : (char)('a' + r % 26);
			lastline_add(&bytes, text + i, 1);
		}
		for (size_t at = 0, n; at < sizeof(text); at += n) {
			seed = seed * 1664525 + 1013904223;
			n = MIN(sizeof(text) - at, (size_t)(seed >> 16) % 300);
			lastline_add(&parts, text + at, n);
		}
		assert_int_equal(parts.last_len, bytes.last_len);
		assert_int_equal(parts.line_len, bytes.line_len);
		assert_memory_equal(parts.last, bytes.last, bytes.last_len);
		assert_memory_equal(parts.line, bytes.line, bytes.line_len);
	}
}

static void equal_last_lines_have_equal_hashes(void **state)
{
	uint64_t hash[3] = {0};
	static const char *const all[] = {"noise\nstep 7: loss 2.5\n", "step 7: loss 2.5", "step 8: loss 2.5\n"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct lastline none = {.last_len = 0}, l = said(all[i]);
		assert_false(lastline_hash(&none, &hash[i]));
		assert_true(lastline_hash(&l, &hash[i]));
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_is_the_last_that_is_not_empty),
		cmocka_unit_test(a_line_that_is_too_long_is_cut_and_the_next_one_is_whole),
		cmocka_unit_test(parts_do_not_matter),
		cmocka_unit_test(equal_last_lines_have_equal_hashes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
