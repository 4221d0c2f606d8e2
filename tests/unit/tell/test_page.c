#include "testing.h"

#include <string.h>

#include "memfile.h"
#include "tell/incident/page.h"
#include "tell/incident/page_parts.h"

/* Markup, quotes, what ends an element, bytes that are no UTF-8, control bytes and a turn of the reading direction. */
#define HOSTILE_JSON "<script>alert(1)</script>\\\" onload='x' </title></pre><!-- & \\u001b[31m\\u0007\\u202e"

static struct js *parsed(const char *text)
{
	struct js *j = NULL;
	assert_int_equal(js_parse(text, strlen(text), &j, NULL), 0);
	return j;
}

static const char *page_of(struct memfile *m, const char *text)
{
	cleanup(js_freep) struct js *j = parsed(text);
	assert_int_equal(page_html(j, memfile_open(m)), 0);
	return memfile_text(m);
}

static void hostile_texts_stay_texts_wherever_they_stand(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(
		&m, "{\"schema\":\"vigil.report/1\",\"job\":{\"id\":\"" HOSTILE_JSON "\",\"name\":\"" HOSTILE_JSON
		    "\",\"command\":\"" HOSTILE_JSON "\"},\"verdict\":{\"text\":\"" HOSTILE_JSON
		    "\",\"health\":\"" HOSTILE_JSON "\",\"tone\":\"" HOSTILE_JSON "\",\"after\":[\"" HOSTILE_JSON
		    "\"],\"incident\":{\"cause\":{\"text\":\"" HOSTILE_JSON "\",\"advice\":[\"" HOSTILE_JSON
		    "\"]}}},\"processes\":[{\"role\":\"" HOSTILE_JSON "\",\"command\":\"" HOSTILE_JSON
		    "\"}],\"attempts\":[{\"attempt\":0,\"last\":\"" HOSTILE_JSON
		    "\"}],\"events\":[{\"kind\":\"" HOSTILE_JSON
		    "\",\"text\":\"" HOSTILE_JSON "\",\"severity\":\"" HOSTILE_JSON
		    "\"}],\"incidents\":[{\"kind\":\"" HOSTILE_JSON "\",\"summary\":\"" HOSTILE_JSON
		    "\"}],\"output\":[{\"stream\":\"" HOSTILE_JSON "\",\"lines\":[\"" HOSTILE_JSON
		    "\"]}],\"memory\":{\"limit\":\"" HOSTILE_JSON "\",\"limit_bytes\":100,"
		    "\"samples\":[{\"time_unix_ms\":1,\"own_bytes\":10},{\"time_unix_ms\":9,\"own_bytes\":90}]}}");
	assert_has(page, "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39; &lt;/title&gt;");
	assert_has_no(page, "<script");
	assert_has_no(page, "onload='");
	assert_has_no(page, "<!-- ");
	assert_has_no(page, "\033");
	assert_has_no(page, "\007");
	assert_has_no(page, "\xe2\x80\xae");
	assert_has(page, "\xef\xbf\xbd[31m");
	assert_has(page, "<section class=\"top \"");
}

/* SIGTERM of vigil and SIGTERM of a stranger are not the same end, and the culprit stands out of its table. */
static void who_ended_a_rank_and_whom_the_verdict_names_is_told(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"processes\":["
				       "{\"rank\":0,\"signal\":15,\"ended_for\":\"rank_failed\"},"
				       "{\"rank\":1,\"exit_code\":1,\"named\":true},{\"rank\":2,\"signal\":15}]}");
	assert_has(page, "<td>ended by vigil, as another rank failed (SIGTERM)</td>");
	assert_has(page, "<td>exit status 1; the verdict names it</td>");
	assert_has(page, "<td>ended by SIGTERM</td>");
}

/* JSON lets no such bytes through today; the page does not rest on that. */
static void bytes_that_are_no_utf8_are_replaced(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	page_text("a\xff<\xc0z\n\xe2\x82", memfile_open(&m));
	assert_string_equal(memfile_text(&m), "a\xef\xbf\xbd&lt;\xef\xbf\xbdz\n\xef\xbf\xbd\xef\xbf\xbd");
}

static void what_is_missing_is_said_or_left_out(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{}");
	assert_has(page, "Nothing is known.");
	assert_has(page, "there is no picture");
	assert_has(page, "There was none.");
	assert_has(page, "No output is kept.");
	assert_has_no(page, "<svg");
	assert_has_no(page, "What to do");
}

static void values_of_a_wrong_kind_are_left_out(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"job\":7,\"verdict\":[],\"events\":{},\"incidents\":[3,null,\"x\"],"
				       "\"processes\":[null],\"output\":[{\"lines\":5}],\"memory\":{\"limit_bytes\":-1,"
				       "\"samples\":[{\"time_unix_ms\":9},{\"time_unix_ms\":1},null]}}");
	assert_has(page, "</html>");
	assert_has_no(page, "nan");
	assert_has_no(page, "inf\"");
}

static void the_top_says_verdict_health_culprits_and_advice(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"verdict\":{\"text\":\"Rank 3 holds all up.\",\"health\":\"hangs\","
				       "\"tone\":\"bad\",\"incident\":{\"culprit_ranks\":[3,5],\"cause\":{\"advice\":"
				       "[\"Look at rank 3.\"]}}}}");
	const char *verdict = strstr(page, "Rank 3 holds all up."), *advice = strstr(page, "<li>Look at rank 3.</li>");
	assert_true(verdict && advice && verdict < advice && advice < strstr(page, "<h2 id=\"memory\">"));
	assert_has(page, "<dd>hangs</dd>");
	assert_has(page, "<dd>3, 5</dd>");
	assert_has(page, "class=\"top bad\"");
}

#define TWO_SAMPLES "{\"time_unix_ms\":1000,\"job_bytes\":50},{\"time_unix_ms\":3000,\"job_bytes\":100}"

static void the_limit_is_drawn_where_it_would_lie(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"memory\":{\"limit\":\"its limit\",\"limit_bytes\":100,"
				       "\"samples\":[" TWO_SAMPLES
				       "]},\"incidents\":[{\"time_unix_ms\":2000},{\"time_unix_ms\":9000}]}");
	/* 100 of 110 bytes are 240 * 100 / 110 above the lower edge at 240 */
	assert_has(page, "class=\"limit\" x1=\"0\" x2=\"800\" y1=\"21.8\" y2=\"21.8\"");
	assert_has(page, "points=\"0.0,130.9 800.0,21.8\"");
	assert_has(page, "class=\"mark\" x1=\"400.0\"");
	const char *mark = strstr(page, "class=\"mark\"");
	assert_null(strstr(mark + 1, "class=\"mark\""));
}

/* Processes that were forked have pages together with their parent, which are its own, too. */
static void more_own_memory_than_the_job_has_is_not_its_peak(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"memory\":{\"samples\":["
				       "{\"time_unix_ms\":1000,\"job_bytes\":50,\"own_bytes\":40},"
				       "{\"time_unix_ms\":3000,\"job_bytes\":100,\"own_bytes\":200}]}}");
	assert_has(page, "the job's memory, at most 100 B in");
	assert_has(page, "It is higher where processes share pages since a fork");
	assert_has(page, "upper edge: 220 B");
	page = page_of(&m, "{\"memory\":{\"samples\":[" TWO_SAMPLES "]}}");
	assert_has_no(page, "It is higher");
}

static void a_limit_far_above_is_told_and_not_drawn(void **state)
{
	(void)state;
	cleanup(memfile_done) struct memfile m = {.text = NULL};
	const char *page = page_of(&m, "{\"memory\":{\"limit\":\"the machine\",\"limit_bytes\":1000000,"
				       "\"samples\":[" TWO_SAMPLES
				       "]}}");
	assert_has_no(page, "<line class=\"limit\"");
	assert_has(page, "Not drawn, far above: the machine, 977 KiB");
}

static void a_page_that_cannot_be_written_is_an_error(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *j = parsed("{}");
	FILE *full = fopen("/dev/full", "w");
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(page_html(j, full), -EIO);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_texts_stay_texts_wherever_they_stand),
		cmocka_unit_test(who_ended_a_rank_and_whom_the_verdict_names_is_told),
		cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
		cmocka_unit_test(what_is_missing_is_said_or_left_out),
		cmocka_unit_test(values_of_a_wrong_kind_are_left_out),
		cmocka_unit_test(the_top_says_verdict_health_culprits_and_advice),
		cmocka_unit_test(the_limit_is_drawn_where_it_would_lie),
		cmocka_unit_test(more_own_memory_than_the_job_has_is_not_its_peak),
		cmocka_unit_test(a_limit_far_above_is_told_and_not_drawn),
		cmocka_unit_test(a_page_that_cannot_be_written_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
