#include "testing.h"

#include "sense/rules/pattern.h"

static struct pattern made(const char *text)
{
	struct pattern p;
	char why[160] = "";
	size_t at = 0;
	assert_int_equal(pattern_init(&p, span_of(text), why, &at), 0);
	return p;
}

static bool matches(const char *pattern, const char *text)
{
	struct pattern p = made(pattern);
	bool found = pattern_match(&p, span_of(text), NULL);
	pattern_done(&p);
	return found;
}

static void refused(const char *text, size_t at_wanted, const char *part_of_why)
{
	struct pattern p;
	char why[160] = "";
	size_t at = 999;
	assert_int_equal(pattern_init(&p, span_of(text), why, &at), -EINVAL);
	assert_int_equal(at, at_wanted);
	assert_non_null(strstr(why, part_of_why));
}

static void classes_and_escapes_match_what_they_name(void **state)
{
	(void)state;
	assert_true(matches("rank \\d+", "rank 12"));
	assert_false(matches("rank \\d+", "rank x"));
	assert_true(matches("a\\.b", "a.b"));
	assert_false(matches("a\\.b", "axb"));
	assert_true(matches("\\bend\\b", "the end."));
	assert_false(matches("\\bend\\b", "bending"));
	assert_true(matches("a{2,3}$", "baa"));
	assert_false(matches("^a{2,3}$", "aaaa"));
}

static void case_is_ignored_only_on_request(void **state)
{
	(void)state;
	assert_true(matches("(?i)Out Of Memory", "CUDA OUT of memory"));
	assert_false(matches("Out Of Memory", "CUDA OUT of memory"));
}

static void the_longest_fixed_text_is_the_literal(void **state)
{
	(void)state;
	static const struct {
		const char *text, *literal;
		bool plain, from_literal;
	} rows[] = {
		{"NET/IB", "NET/IB", true, true},	 {"abc+ longer", " longer", false, false},
		{"error: .*", "error: ", false, true},	 {"one|other", "", false, false},
		{"(one|other) x", " x", false, false},	 {"colou?r", "colo", false, true},
		{"(?i)ABC", "abc", false, false},	 {"a\\.b", "a.b", false, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pattern p = made(rows[i].text);
		assert_string_equal(p.literal, rows[i].literal);
		assert_int_equal(p.plain, rows[i].plain);
		assert_int_equal(p.from_literal, rows[i].from_literal);
		pattern_done(&p);
	}
}

static void groups_are_parts_of_the_text(void **state)
{
	(void)state;
	struct span groups[PATTERN_GROUPS], text = SPAN("at rank 7: gone");
	struct pattern p = made("rank (\\d+)(x)?");
	assert_true(pattern_match(&p, text, groups));
	assert_true(span_eq(groups[0], "rank 7"));
	assert_true(span_eq(groups[1], "7"));
	assert_ptr_equal(groups[1].p, text.p + 8);
	assert_null(groups[2].p);
	pattern_done(&p);
	p = made("gone");
	assert_true(pattern_match(&p, text, groups));
	assert_true(span_eq(groups[0], "gone"));
	assert_null(groups[1].p);
	pattern_done(&p);
}

static void mistakes_are_named_with_their_place(void **state)
{
	(void)state;
	refused("", 0, "empty");
	refused("ab\\", 2, "backslash at the end");
	refused("(a)\\1", 4, "back references");
	refused("a\\q", 2, "not supported");
	refused("[abc", 0, "[ without ]");
	refused("a(b", 3, "( without )");
	refused("*a", 0, "nothing to repeat");
	refused("a+?", 2, "lazy");
	refused("a{65}", 1, "64 repeats");
	refused("a{3,2}", 1, "ends before it begins");
	refused("(ab){2}", 4, "counted repeats of a group");
}

static void a_pattern_has_at_most_319_bytes(void **state)
{
	(void)state;
	char text[PATTERN_TEXT + 1];
	struct pattern p;
	char why[160];
	size_t at;
	memset(text, 'a', sizeof(text));
	assert_int_equal(pattern_init(&p, (struct span){text, PATTERN_TEXT}, why, &at), -EINVAL);
	assert_int_equal(pattern_init(&p, (struct span){text, PATTERN_TEXT - 1}, why, &at), 0);
	pattern_done(&p);
	pattern_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_and_escapes_match_what_they_name),
		cmocka_unit_test(case_is_ignored_only_on_request),
		cmocka_unit_test(the_longest_fixed_text_is_the_literal),
		cmocka_unit_test(groups_are_parts_of_the_text),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(a_pattern_has_at_most_319_bytes),
	};
	return cmocka_run_group_tests_name("sense/rules/pattern", tests, NULL, NULL);
}
