#include "testing.h"

#include <stdio.h>

#include "sense/rank.h"
#include "tell/stacks/calls_show.h"

static void add(struct calls *c, const char *file, int64_t line, const char *name, struct pstats_number n,
		const char *caller)
{
	const struct pstats_sink sink = calls_sink(c);
	const struct pstats_key key = {{file, strlen(file)}, {name, strlen(name)}, line};
	assert_int_equal(sink.function(sink.ctx, &key, &n), 0);
	if (!caller)
		return;
	const struct pstats_key from = {SPAN("/srv/train.py"), {caller, strlen(caller)}, 9};
	assert_int_equal(sink.edge(sink.ctx, &from, &n), 0);
}

static struct calls *sample(int32_t rank)
{
	struct calls *c = calls_new();
	add(c, "/srv/train.py", 3, "fib", (struct pstats_number){1, 1973, 0.5, 0.75}, "main");
	add(c, "/srv/train.py", 9, "main", (struct pstats_number){1, 1, 0.125, 1}, NULL);
	add(c, "~", 0, "<built-in method builtins.len>", (struct pstats_number){0, 0, 0, 0}, "main");
	calls_part_end(c, rank);
	return c;
}

static char *written(const struct calls *c, const struct calls_want *w,
		     int (*write)(const struct calls *, const struct calls_want *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	assert_int_equal(write(c, w, to), 0);
	fclose(to);
	return text;
}

static void the_table_is_that_of_cprofile(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = sample(NO_RANK);
	const struct calls_want want = {.sort = CALLS_TOTTIME};
	cleanup(freep) char *text = written(c, &want, calls_table);
	assert_string_equal(text, "         1974 function calls (2 primitive calls) in 0.625 seconds\n"
				  "\n"
				  "   Ordered by: internal time\n"
				  "\n"
				  "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
				  "   1973/1    0.500    0.000    0.750    0.750 /srv/train.py:3(fib)\n"
				  "        1    0.125    0.125    1.000    1.000 /srv/train.py:9(main)\n"
				  "        0    0.000             0.000          {built-in method builtins.len}\n"
				  "\n\n");
}

static void a_limit_is_said(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = sample(NO_RANK);
	const struct calls_want want = {.sort = CALLS_CUMTIME, .limit = 1};
	cleanup(freep) char *text = written(c, &want, calls_table);
	assert_non_null(
		strstr(text, "   Ordered by: cumulative time\n   List reduced from 3 to 1 due to restriction <1>\n\n"));
	assert_non_null(strstr(text, "(main)"));
	assert_null(strstr(text, "(fib)"));
}

static void ranks_are_columns_when_asked_for(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	for (int32_t rank = 0; rank < 2; rank++) {
		add(c, "a.py", 1, "step", (struct pstats_number){1, 1, 1, 2 + rank}, NULL);
		calls_part_end(c, rank);
	}
	const struct calls_want want = {.ranks = true};
	cleanup(freep) char *text = written(c, &want, calls_table);
	assert_non_null(strstr(
		text, "        2    2.000    1.000    5.000    2.500    2.000    2.500    3.000    1 a.py:1(step)\n"));
}

static void samples_are_called_samples(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = sample(NO_RANK);
	calls_set_sampled(c);
	const struct calls_want want = {.title = "process 7"};
	cleanup(freep) char *text = written(c, &want, calls_table);
	assert_non_null(strstr(text, "samples are estimates, not counts of calls"));
	assert_non_null(strstr(text, "  samples    own s  total s filename"));
	assert_null(strstr(text, "ncalls"));
	cleanup(js_freep) struct js *j = calls_json(c, &want);
	assert_true(js_get_bool(j, "sampled", false));
	assert_int_equal(js_get_i64(js_at(js_get(j, "functions"), 0), "samples", -1), 1973);
	assert_null(js_get(js_at(js_get(j, "functions"), 0), "n_calls"));
}

static void the_json_names_processes_and_callers(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = sample(3);
	struct call_source one = {
		.path = "a.prof", .rank = 3, .pid = 12, .has_profile = true, .has_note = true, .python = "3.11.2"};
	const struct call_sources sources = {&one, 1, 1};
	const struct calls_want want = {.title = "job train", .sources = &sources};
	cleanup(js_freep) struct js *j = calls_json(c, &want);
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.calls/1");
	assert_int_equal(js_get_i64(j, "n_calls", 0), 1974);
	const struct js *process = js_at(js_get(j, "processes"), 0);
	assert_int_equal(js_get_i64(process, "rank", -1), 3);
	assert_null(js_get(process, "aside"));
	const struct js *fib = js_at(js_get(j, "functions"), 0);
	assert_string_equal(js_get_text(fib, "name", ""), "fib");
	assert_string_equal(js_get_text(js_at(js_get(fib, "callers"), 0), "name", ""), "main");
}

static void the_profile_written_reads_back_the_same(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = sample(NO_RANK);
	cleanup(calls_freep) struct calls *again = calls_new();
	add(c, "big.py", 70000, "big", (struct pstats_number){1, UINT64_C(1) << 40, 1e6, 1e7}, "main");
	calls_part_end(c, NO_RANK);
	cleanup(freep) char *bytes = NULL;
	size_t len;
	FILE *to = open_memstream(&bytes, &len);
	assert_int_equal(calls_pstats(c, to), 0);
	fclose(to);
	const struct pstats_sink sink = calls_sink(again);
	assert_int_equal(pstats_parse((struct span){bytes, len}, &sink, NULL), 0);
	calls_part_end(again, NO_RANK);
	const struct calls_want want = {.sort = CALLS_NCALLS};
	cleanup(freep) char *first = written(c, &want, calls_table);
	cleanup(freep) char *second = written(again, &want, calls_table);
	assert_string_equal(first, second);
	assert_non_null(strstr(first, "1099511627776/1"));
}

static const char hostile[] = "</script><img src=x onerror=alert(1)>\033[31m\"\\\n\377";

static void a_hostile_name_stays_text_everywhere(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	add(c, hostile, 1, hostile, (struct pstats_number){1, 1, 1, 1}, NULL);
	calls_part_end(c, NO_RANK);
	const struct calls_want want = {.title = hostile};
	cleanup(freep) char *table = written(c, &want, calls_table);
	assert_null(strchr(table, '\033'));
	cleanup(freep) char *page = written(c, &want, calls_html);
	assert_null(strchr(page, '\033'));
	assert_null(strstr(page, "<img"));
	assert_non_null(strstr(page, "\\u003c/script\\u003e"));
	/* the page's own script is the only thing that ends a script */
	unsigned ends = 0;
	for (const char *p = page; (p = strstr(p, "</script>")); p++)
		ends++;
	assert_int_equal(ends, 2);
}

static void what_lowers_the_trust_is_said(void **state)
{
	(void)state;
	struct call_source s[] = {
		{.path = "a.prof",
		 .pid = 1,
		 .has_profile = true,
		 .has_note = true,
		 .complete = true,
		 .threads_mixed = true},
		{.path = "b.prof", .pid = 2, .has_profile = true, .has_note = true},
		{.path = "c.prof", .pid = 3, .has_profile = true, .fault = "cut off"},
		{.path = "d.prof", .pid = 4, .has_note = true, .complete = true, .aside = "uses cProfile itself"},
		{.path = "e.prof", .pid = 5, .has_note = true},
	};
	const struct call_sources all = {s, 5, 5};
	char text[8][400];
	size_t n = calls_remarks(NULL, &all, text, ARRAY_SIZE(text));
	assert_int_equal(n, 5);
	assert_non_null(strstr(text[0], "left out  c.prof: cut off"));
	assert_non_null(strstr(text[1], "uses cProfile itself"));
	assert_non_null(strstr(text[2], "unfinished profiles  1 of 3: "));
	assert_non_null(strstr(text[3], "missing profiles  1 process: killed"));
	assert_non_null(strstr(text[4], "mixed threads  1 process: "));
	assert_int_equal(calls_remarks(NULL, &all, text, 2), 2);
}

static void the_json_reads_back_with_its_callers(void **state)
{
	(void)state;
	for (int sampled = 0; sampled < 2; sampled++) {
		cleanup(calls_freep) struct calls *c = sample(0), *again = NULL;
		const struct calls_want want = {.sort = CALLS_TOTTIME};
		struct fault f = {.text = ""};
		if (sampled)
			calls_set_sampled(c);
		cleanup(js_freep) struct js *j = calls_json(c, &want), *same = NULL;
		cleanup(freep) char *text = js_text(j, 0), *table = written(c, &want, calls_table);
		assert_int_equal(calls_json_read(text, strlen(text), &again, &f), 0);
		same = calls_json(again, &want);
		cleanup(freep) char *text_again = js_text(same, 0), *table_again = written(again, &want, calls_table);
		assert_string_equal(text_again, text);
		assert_string_equal(table_again, table);
		assert_int_equal(calls_sampled(again), sampled);
	}
}

static void the_spread_over_ranks_reads_back(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new(), *again = NULL;
	for (int32_t rank = 0; rank < 3; rank++) {
		add(c, "a.py", 1, "step", (struct pstats_number){1, 1, 1, 2 + 0.001 * rank}, NULL);
		if (rank == 1)
			add(c, "a.py", 7, "rare", (struct pstats_number){1, 1, 1, 0.1}, "step");
		calls_part_end(c, rank);
	}
	const struct calls_want want = {.ranks = true};
	struct fault f = {.text = ""};
	cleanup(js_freep) struct js *j = calls_json(c, &want), *same = NULL;
	cleanup(freep) char *text = js_text(j, 0), *table = written(c, &want, calls_table);
	assert_int_equal(calls_json_read(text, strlen(text), &again, &f), 0);
	same = calls_json(again, &want);
	cleanup(freep) char *text_again = js_text(same, 0), *table_again = written(again, &want, calls_table);
	assert_int_equal(calls_parts(again), 3);
	assert_string_equal(table_again, table);
	assert_string_equal(text_again, text);
}

static void what_is_no_json_of_calls_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "{", "[]", "{}", "{\"schema\":\"vigil.flame/1\"}"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct calls *c = NULL;
		struct fault f = {.text = ""};
		assert_true(calls_json_read(bad[i], strlen(bad[i]), &c, &f) < 0);
		assert_null(c);
		assert_true(f.text[0] != '\0');
	}
	cleanup(calls_freep) struct calls *odd = NULL;
	struct fault f = {.text = ""};
	const char *text =
		"{\"schema\":\"vigil.calls/1\",\"functions\":[{\"line\":-5,\"n_calls\":-1,\"callers\":[{},7]},3]}";
	assert_int_equal(calls_json_read(text, strlen(text), &odd, &f), 0);
	odd = calls_free(odd);
	text = "{\"schema\":\"vigil.calls/1\",\"parts\":-9,\"functions\":[{\"name\":\"f\",\"spread\":{\"parts\":-1,"
	       "\"max_rank\":99999999999,\"mean_s\":\"x\"}},{\"spread\":[]}]}";
	assert_int_equal(calls_json_read(text, strlen(text), &odd, &f), 0);
	assert_int_equal(calls_parts(odd), 1);
	assert_int_equal(calls_spread(odd, calls_get(odd, 0)).max_rank, NO_RANK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_that_of_cprofile),
		cmocka_unit_test(a_limit_is_said),
		cmocka_unit_test(ranks_are_columns_when_asked_for),
		cmocka_unit_test(samples_are_called_samples),
		cmocka_unit_test(the_json_names_processes_and_callers),
		cmocka_unit_test(the_profile_written_reads_back_the_same),
		cmocka_unit_test(a_hostile_name_stays_text_everywhere),
		cmocka_unit_test(the_json_reads_back_with_its_callers),
		cmocka_unit_test(the_spread_over_ranks_reads_back),
		cmocka_unit_test(what_is_no_json_of_calls_is_refused),
		cmocka_unit_test(what_lowers_the_trust_is_said),
	};
	return cmocka_run_group_tests_name("tell/stacks/calls_show", tests, NULL, NULL);
}
