#include "memfile.h"

#include <math.h>

#include "tell/text/sink.h"

static struct memfile out;
static struct sink sink;

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	return 0;
}

static const char *closed(void)
{
	assert_int_equal(sink_close(&sink), 0);
	return memfile_text(&out);
}

static void numbers_are_written_whole(void **state)
{
	(void)state;
	sink_open(&sink, memfile_open(&out));
	sink_u64(&sink, 0);
	sink_text(&sink, " ");
	sink_u64(&sink, UINT64_MAX);
	sink_text(&sink, " ");
	sink_i64(&sink, INT64_MIN);
	sink_text(&sink, " ");
	sink_i64(&sink, 7);
	sink_text(&sink, " ");
	sink_double(&sink, 1.25, 1);
	sink_text(&sink, " ");
	sink_double(&sink, -0.5, 2);
	assert_string_equal(closed(), "0 18446744073709551615 -9223372036854775808 7 1.2 -0.50");
}

static void what_is_no_number_in_json_is_null(void **state)
{
	(void)state;
	sink_open(&sink, memfile_open(&out));
	sink_double(&sink, (double)NAN, 1);
	sink_double(&sink, (double)INFINITY, 1);
	sink_double(&sink, 1e19, 1);
	assert_string_equal(closed(), "nullnullnull");
}

static void json_strings_escape_what_they_must(void **state)
{
	(void)state;
	sink_open(&sink, memfile_open(&out));
	sink_json(&sink, "a\"b\\c\n\x7f</script>\xc3\xa9\xff");
	assert_string_equal(closed(), "\"a\\\"b\\\\c\\u000a\\u007f</script>\xc3\xa9?\"");
	sink_open(&sink, memfile_open(&out));
	sink.html = true;
	sink_json(&sink, "</script>");
	assert_string_equal(closed(), "\"\\u003c/script>\"");
}

static void xml_text_cannot_leave_its_place(void **state)
{
	(void)state;
	sink_open(&sink, memfile_open(&out));
	sink_xml(&sink, "<a href='x'>&\"\x01\xe2\x80\xae\xff", 100);
	assert_string_equal(closed(), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;???");
}

static void long_xml_text_is_cut_between_characters(void **state)
{
	(void)state;
	sink_open(&sink, memfile_open(&out));
	sink_xml(&sink, "ab\xc3\xa9", 3);
	sink_text(&sink, "|");
	sink_xml(&sink, "ab\xc3\xa9", 4);
	assert_string_equal(closed(), "ab\xe2\x80\xa6|ab\xc3\xa9");
}

static void pieces_larger_than_the_buffer_keep_their_order(void **state)
{
	(void)state;
	enum { LARGE = sizeof(sink.bytes) + 10 };
	static char large[LARGE + 1];
	memset(large, 'x', LARGE);
	sink_open(&sink, memfile_open(&out));
	sink_text(&sink, "<");
	sink_text(&sink, large);
	sink_text(&sink, ">");
	const char *text = closed();
	assert_int_equal(strlen(text), LARGE + 2);
	assert_int_equal(text[0], '<');
	assert_int_equal(text[LARGE + 1], '>');
	assert_int_equal(strspn(text + 1, "x"), LARGE);
}

static void the_first_error_stays(void **state)
{
	(void)state;
	FILE *full = fopen("/dev/full", "we");
	if (!full)
		skip();
	sink_open(&sink, full);
	sink_text(&sink, "lost");
	assert_int_equal(sink_close(&sink), -ENOSPC);
	assert_int_equal(sink_close(&sink), -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_whole),
		cmocka_unit_test(what_is_no_number_in_json_is_null),
		cmocka_unit_test(json_strings_escape_what_they_must),
		cmocka_unit_test(xml_text_cannot_leave_its_place),
		cmocka_unit_test(long_xml_text_is_cut_between_characters),
		cmocka_unit_test(pieces_larger_than_the_buffer_keep_their_order),
		cmocka_unit_test(the_first_error_stays),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
