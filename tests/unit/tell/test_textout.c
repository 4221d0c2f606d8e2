#include "memfile.h"

#include "tell/text/textout.h"

static struct memfile out;

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	return 0;
}

static const char *clean(const char *text, size_t cap)
{
	static char dst[256];
	textout_clean(text, dst, cap);
	return dst;
}

static void control_characters_and_broken_text_are_taken_out(void **state)
{
	(void)state;
	assert_string_equal(clean("a\033[2Jb\x7f", 256), "a?[2Jb?");
	assert_string_equal(clean("two\nlines\tand\rmore", 256), "two lines and?more");
	assert_string_equal(clean("\xc2\x9b" "31m", 256), "??31m"); /* U+009B begins escapes as ESC [ does */
	assert_string_equal(clean("a\xe2\x80\xaegnp.sh", 256), "a???gnp.sh"); /* U+202E: shown from right to left */
	assert_string_equal(clean("a\xe2\x80\xa8z", 256), "a???z"); /* U+2028: another line */
	assert_string_equal(clean("\xc3\xa9\xe9\x96\xa2\xf0\x9f\x98\x80", 256), "\xc3\xa9\xe9\x96\xa2\xf0\x9f\x98\x80");
	assert_string_equal(clean("\xc0\xaf\xff\xe9\x96", 256), "?????"); /* overlong, never valid, cut short */
}

static void a_text_of_any_length_is_written_so(void **state)
{
	(void)state;
	struct textout p = {.to = memfile_open(&out)};
	textout_put(p.to, "a\xc2\x9b" "31m\n\xe2\x80\xae\xff\xc3\xa9");
	assert_string_equal(memfile_text(&out), "a??31m?????\xc3\xa9");
}

static void a_text_that_does_not_fit_ends_between_characters(void **state)
{
	(void)state;
	assert_string_equal(clean("abc", 3), "ab");
	assert_string_equal(clean("a\xc3\xa9", 3), "a");
	assert_string_equal(clean("a\xc3\xa9", 4), "a\xc3\xa9");
	assert_string_equal(clean("abc", 1), "");
}

static const char *folded(const char *text, size_t width)
{
	textout_fold(memfile_open(&out), text, strlen(text), width);
	return memfile_text(&out);
}

static void wide_lines_are_folded_by_words_and_paths(void **state)
{
	(void)state;
	assert_string_equal(folded("short\n  one two three\n", 40), "short\n  one two three\n");
	assert_string_equal(folded("  one two three four\n", 14), "  one two\n      three\n      four\n");
	assert_string_equal(folded("  f (/srv/aaaa/bbbb/cccc.py:7)\n", 16),
			    "  f (/srv/aaaa/\n      bbbb/\n      cccc.py:7)\n");
	assert_string_equal(folded("abcdefghijklmnop\n\n", 8), "abcdefgh\n    ijkl\n    mnop\n\n");
	assert_string_equal(folded("\033[1mone\033[0m two\n", 7), "\033[1mone\033[0m two\n");
	assert_string_equal(folded("\xc3\xa9\xc3\xa9\xc3\xa9 x\n", 5), "\xc3\xa9\xc3\xa9\xc3\xa9 x\n");
	assert_string_equal(folded("", 8), "");
	assert_string_equal(folded("        deep one\n", 8), "        d\n    eep\n    one\n");
}

static void columns_are_code_points(void **state)
{
	(void)state;
	assert_int_equal(textout_columns("", 0), 0);
	assert_int_equal(textout_columns("\xc3\xa9x\xe9\x96\xa2", 6), 3);
}

static void cells_are_cut_and_filled_up(void **state)
{
	(void)state;
	struct textout p = {.to = memfile_open(&out)};
	textout_cell(&p, "abcdef", 4);
	fputc('|', out.to);
	textout_cell(&p, "ab", 4);
	fputc('|', out.to);
	textout_cell(&p, "abcd", 4);
	fputc('|', out.to);
	assert_int_equal(textout_cut(&p, "a\nb", 9), 3);
	assert_int_equal(textout_cut(&p, "long", 1), 1);
	assert_string_equal(memfile_text(&out), "abc…|ab  |abcd|a b…");
}

static void paragraphs_are_wrapped_under_themselves(void **state)
{
	(void)state;
	struct textout p = {.to = memfile_open(&out), .width = 12};
	textout_text(&p, 2, "one two %s four", "three");
	assert_string_equal(memfile_text(&out), "one two\n  three four\n");
	p.to = memfile_open(&out);
	textout_text(&p, 4, "abcdefghijklmnop"); /* longer than a line: broken where the line ends */
	assert_string_equal(memfile_text(&out), "abcdefgh\n    ijklmnop\n");
	p.to = memfile_open(&out);
	textout_text(&p, 4, "%s", "");
	assert_string_equal(memfile_text(&out), "\n");
}

static void a_value_starts_at_its_column(void **state)
{
	(void)state;
	struct textout p = {.to = memfile_open(&out), .width = 30};
	textout_value(&p, "label", "first second third");
	assert_string_equal(memfile_text(&out), "  label             first\n                    second\n"
						"                    third\n");
}

static void colours_are_written_only_when_wanted(void **state)
{
	(void)state;
	struct textout p = {.to = memfile_open(&out)};
	textout_heading(&p, "a\033b");
	assert_string_equal(memfile_text(&out), "\na?b\n");
	p.to = memfile_open(&out);
	p.colour = true;
	textout_heading(&p, "title");
	textout_ink(&p, INK_RED);
	assert_string_equal(memfile_text(&out), "\n\033[1mtitle\033[0m\n\033[31m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_and_broken_text_are_taken_out),
		cmocka_unit_test(a_text_of_any_length_is_written_so),
		cmocka_unit_test(a_text_that_does_not_fit_ends_between_characters),
		cmocka_unit_test(wide_lines_are_folded_by_words_and_paths),
		cmocka_unit_test(columns_are_code_points),
		cmocka_unit_test(cells_are_cut_and_filled_up),
		cmocka_unit_test(paragraphs_are_wrapped_under_themselves),
		cmocka_unit_test(a_value_starts_at_its_column),
		cmocka_unit_test(colours_are_written_only_when_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
