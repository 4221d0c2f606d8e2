#include "testing.h"

#include <stdio.h>

#include "tell/heap/heap_show.h"
#include "tell/incident/report.h"

static struct heapset *two_lines(void)
{
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	const struct frame
		load = {.kind = FRAME_PYTHON, .name = "load", .file = "/app/loader.py", .module = "", .line = 88},
		evil = {.kind = FRAME_PYTHON, .name = "a\033[31mb", .file = "/app/x.py", .module = "", .line = 2};
	struct heapset_process p = {
		.pid = 812,
		.rank = 1,
		.name = "python train.py",
		.seconds = 60,
		.rate_bytes = 524288,
		.device = -1,
		.life = HEAPSET_RUNNING,
		.lost_samples = 3,
		.lost_bytes = 1 << 20,
		.lost_why = "no space on the disk",
		.breakdown = {.valid = true, .rss_bytes = 6 * GIB, .anon_bytes = 5 * GIB, .file_bytes = 1 * GIB}};
	struct heapset_figures big = {.live = {.bytes = 4.0 * (double)GIB,
					       .objects = 10,
					       .variance = 1e15,
					       .chance_bytes = 1e9,
					       .samples = 900},
				      .resident_bytes = 2.0 * (double)GIB};
	struct heapset_figures small = {.live = {.bytes = 524288,
						 .objects = 100,
						 .variance = 524288.0 * 524288,
						 .chance_bytes = 524288,
						 .samples = 1}};
	uint32_t id, a, b;
	assert_non_null(h);
	big.seen = big.live;
	big.peak = big.total = big.live;
	small.peak = small.total = small.live;
	p.live = big.live;
	heap_amount_add(&p.live, &small.live);
	p.seen = big.seen;
	p.resident_bytes = big.resident_bytes;
	assert_int_equal(heapset_process_add(h, &p, &id), 0);
	assert_int_equal(frametab_intern(heapset_frames(h), &load, &a), 0);
	assert_int_equal(frametab_intern(heapset_frames(h), &evil, &b), 0);
	assert_int_equal(heapset_add(h, id, &a, 1, &big), 0);
	assert_int_equal(heapset_add(h, id, &b, 1, &small), 0);
	return h;
}

static char *table(const struct heapset *h, const struct heap_show_want *want)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	const struct textout paper = {.to = to};
	assert_int_equal(heap_table(h, want, &paper), 0);
	fclose(to);
	return text;
}

static void a_table_has_bytes_errors_shares_and_the_ladder(void **state)
{
	(void)state;
	struct heapset *h = two_lines();
	const struct heap_show_want want = {.part = {.what = HEAPSET_LIVE, .lines = true}, .title = "job t"};
	char *text = table(h, &want);
	static const char *const expected[] = {
		"job t: 1 process, running; sampled each 512 KiB on average, for 1 m 00 s",
		"4.00 GiB  \xc2\xb1 ",
		"100.0 %   2.00 GiB",
		"loader.py:88 load",
		" 512 KiB  90.4 KiB to 2.83 MiB",
		"x.py:2 a?[31mb",
		"pid 812: RSS 6.00 GiB = anonymous 5.00 GiB + files 1.00 GiB + shared 0 B",
		"3.00 GiB unattributed (60 %)",
		"not in the table   1.00 MiB in 3 samples: no space on the disk"};
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (!strstr(text, expected[i]))
			fail_msg("'%s' is not in:\n%s", expected[i], text);
	assert_null(strchr(text, '\033'));
	free(text);
	heapset_free(h);
}

static void an_interval_of_two_kinds_is_no_plus_and_minus(void **state)
{
	(void)state;
	char text[64];
	/* much that is exact and a little that is not: the doubt is upward */
	const struct heap_amount lopsided = {.bytes = 200.0 * (double)MIB,
					     .variance = 1e12,
					     .chance_bytes = 1e6,
					     .lean = 1e12,
					     .samples = 400};
	assert_string_equal(heap_amount_text(&lopsided, text), "200 MiB (199 MiB to 204 MiB)");
	const struct heap_amount stepped = {.bytes = 200.0 * (double)MIB, .above_bytes = 10.0 * (double)MIB};
	assert_string_equal(heap_amount_text(&stepped, text), "200 MiB (200 MiB to 210 MiB)");
}

static struct js *json(const struct heapset *h, const struct heap_show_want *want)
{
	struct js *j = NULL;
	struct fault f = {.text = ""};
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	assert_int_equal(heap_json_write(h, want, to), 0);
	fclose(to);
	assert_true(len > 2 && text[len - 1] == '\n');
	assert_int_equal(js_parse(text, len, &j, &f), 0);
	free(text);
	return j;
}

static void json_has_what_is_promised(void **state)
{
	(void)state;
	struct heapset *h = two_lines();
	const struct heap_show_want want = {
		.part = {.what = HEAPSET_LIVE, .lines = true}, .title = "job t", .limit = 1};
	struct js *j = json(h, &want);
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.heap/1");
	assert_int_equal(js_get_i64(j, "stacks_left_out", 0), 1);
	const struct js *row = js_at(js_get(j, "stacks"), 0), *process = js_at(js_get(j, "processes"), 0);
	assert_int_equal(js_get_i64(row, "bytes", 0), 4 * GIB);
	assert_true(js_get_i64(row, "low_bytes", 0) < (int64_t)(4 * GIB) &&
		    js_get_i64(row, "high_bytes", 0) > (int64_t)(4 * GIB));
	assert_int_equal(js_get_i64(row, "resident_bytes", 0), 2 * GIB);
	assert_string_equal(js_get_text(js_at(js_get(row, "frames"), 0), "file", ""), "/app/loader.py");
	assert_int_equal(js_get_i64(process, "rank", -1), 1);
	assert_int_equal(js_get_i64(js_get(process, "memory"), "anon_bytes", 0), 5 * GIB);
	js_free(j);
	heapset_free(h);
}

static void a_report_says_who_asked_for_how_much_of_it(void **state)
{
	(void)state;
	struct heapset *h = two_lines();
	const struct heap_show_want want = {.part = {.what = HEAPSET_PEAK, .lines = true}};
	heapset_process_at(h, 0)->peak.bytes = 5.0 * (double)GIB;
	struct js *j = heap_incident_json(h, &want, "/state/812.heap");
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_heap_text(j, REPORT_PLAIN, to);
	report_heap_text(NULL, REPORT_PLAIN, to);
	fclose(to);
	assert_non_null(strstr(
		text, "4.00 GiB of 5.00 GiB in the heap of process 812 at its peak came from loader.py:88 load"));
	assert_non_null(strstr(text, "vigil heap /state/812.heap"));
	/* what is a hundredth of it stays in the JSON */
	assert_null(strstr(text, "x.py"));
	assert_int_equal(js_len(js_get(j, "top")), 2);
	free(text);
	js_free(j);
	heapset_free(h);
}

static void what_took_up_memory_stands_first_in_a_report(void **state)
{
	(void)state;
	struct heapset *h = two_lines();
	const struct heap_show_want want = {.part = {.what = HEAPSET_LIVE, .lines = true}};
	const struct frame blas = {
		.kind = FRAME_PYTHON, .name = "blas_alloc", .file = "blas.py", .module = "", .line = 1};
	struct heapset_figures untouched = {.live = {.bytes = 6.0 * (double)GIB, .objects = 1, .samples = 100}};
	uint32_t id;
	untouched.seen = untouched.live;
	assert_int_equal(frametab_intern(heapset_frames(h), &blas, &id), 0);
	assert_int_equal(heapset_add(h, 0, &id, 1, &untouched), 0);
	for (int looked = 0; looked < 2; looked++) {
		heapset_process_at(h, 0)->seen_unix_ms = looked ? 1700000000000 : 0;
		struct js *j = heap_incident_json(h, &want, "");
		const struct js *top = js_get(j, "top");
		assert_int_equal(js_len(top), 3);
		assert_non_null(strstr(js_get_text(js_at(top, 0), "text", ""), looked ? "load" : "blas_alloc"));
		assert_non_null(
			strstr(js_get_text(js_at(top, looked ? 2 : 1), "text", ""), looked ? "blas_alloc" : "load"));
		js_free(j);
	}
	heapset_free(h);
}

/* Three processes that share pages, of one of which it is not known how many: then they are counted in each. */
static void shared_pages_count_once_only_where_all_is_known(void **state)
{
	(void)state;
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	const struct heap_show_want want = {.part = {.what = HEAPSET_LIVE, .lines = true}, .title = "t"};
	for (int i = 0; i < 3; i++) {
		struct heapset_process p = {.pid = 10 + i, .rank = NO_RANK, .device = -1, .life = HEAPSET_RUNNING};
		uint32_t process;
		p.live = p.seen = (struct heap_amount){.bytes = 100.0 * MIB};
		p.resident_bytes = 100.0 * MIB;
		p.breakdown =
			(struct heapset_breakdown){.valid = true, .rss_bytes = 400 * MIB, .anon_bytes = 300 * MIB};
		p.shares = (struct heapset_shares){.valid = true,
						   .pss_anon_bytes = 180 * MIB,
						   .own_bytes = 90.0 * MIB,
						   .inherited_bytes = 60.0 * MIB};
		assert_int_equal(heapset_process_add(h, &p, &process), 0);
	}
	char *text = table(h, &want);
	assert_non_null(strstr(text, "3 running processes: 540 MiB with shared pages counted once"));
	assert_non_null(
		strstr(text, "270 MiB of the stacks above + 180 MiB asked for by a process before it forked these"));
	assert_non_null(strstr(text, "90.0 MiB unattributed (17 %)"));
	free(text);
	heapset_process_at(h, 1)->shares.valid = false;
	text = table(h, &want);
	assert_non_null(strstr(
		text, "3 running processes: 900 MiB = 300 MiB of the stacks above + 600 MiB unattributed (67 %)"));
	assert_non_null(strstr(text, "pages that several have are counted in each"));
	free(text);
	heapset_free(h);
}

/* Freed blocks lived less than a time, live ones longer; lives below a step of the clock cannot be told apart. */
static void lives_are_told_with_what_is_not_known_of_them(void **state)
{
	(void)state;
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	const struct heapset_process p = {.pid = 8, .rank = NO_RANK, .device = -1, .seconds = 100};
	const struct heap_show_want want = {.part = {.what = HEAPSET_LIFETIME, .lines = true}, .title = "t"};
	static const char *const names[] = {"kept", "brief", "mixed"};
	uint32_t process, id;
	assert_int_equal(heapset_process_add(h, &p, &process), 0);
	for (int i = 0; i < 3; i++) {
		const struct frame at = {
			.kind = FRAME_PYTHON, .name = names[i], .file = "/x.py", .module = "", .line = 2 + i};
		const struct heap_amount all = {.bytes = 8.0 * MIB, .objects = 1, .samples = 1};
		struct heapset_figures f = {.total = all, .held = all};
		double alive = i == 0 ? 1 : i == 1 ? 0 : 0.3;
		f.lives.alive_bytes[heap_life_class(90)] = 8.0 * MIB * alive;
		f.lives.alive_byte_s = 8.0 * MIB * alive * 90;
		f.lives.oldest_s = alive > 0 ? 90 : 0;
		f.lives.freed_bytes[heap_life_class(0.001)] = 8.0 * MIB * (1 - alive);
		f.lives.freed_byte_s = 8.0 * MIB * (1 - alive) * 0.001;
		f.held.bytes = f.lives.alive_byte_s + f.lives.freed_byte_s;
		assert_int_equal(frametab_intern(heapset_frames(h), &at, &id), 0);
		assert_int_equal(heapset_add(h, process, &id, 1, &f), 0);
	}
	char *text = table(h, &want);
	assert_non_null(strstr(text, "  7.20 MiB  exact "));
	assert_non_null(strstr(text, "> 1 m 30 s > 1 m 30 s  > 1 m 30 s  100 %  x.py:2 kept"));
	assert_non_null(strstr(text, "  < 4.0 ms   < 4.0 ms    < 4.0 ms    0 %  x.py:3 brief"));
	assert_non_null(strstr(text, "  > 27.0 s   < 4.0 ms  > 1 m 30 s   30 %  x.py:4 mixed"));
	assert_non_null(strstr(text, "not freed          43 % of what was asked for, until now"));
	free(text);
	heapset_free(h);
}

/* Of a block that was moved, or of a part of a mapping, bytes came and went, and no whole one. */
static void no_whole_object_is_not_none(void **state)
{
	(void)state;
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	const struct frame at = {.kind = FRAME_PYTHON, .name = "moved", .file = "/app/x.py", .module = "", .line = 2};
	const struct heapset_process p = {.pid = 812, .rank = NO_RANK, .device = -1};
	const struct heapset_figures f = {.total = {.bytes = 4.0 * (double)MIB, .samples = 1}, .temporary_share = 1};
	const struct heap_show_want want = {.part = {.what = HEAPSET_TEMPORARY, .lines = true}, .title = "t"};
	uint32_t process, id;
	assert_int_equal(heapset_process_add(h, &p, &process), 0);
	assert_int_equal(frametab_intern(heapset_frames(h), &at, &id), 0);
	assert_int_equal(heapset_add(h, process, &id, 1, &f), 0);
	char *text = table(h, &want);
	assert_non_null(strstr(text, "100.0 %         -         -  x.py:2 moved"));
	free(text);
	heapset_free(h);
}

static void nothing_is_said_to_be_nothing(void **state)
{
	(void)state;
	struct heapset *h = two_lines();
	for (int what = 0; what < HEAPSET_WHAT_MAX; what++) {
		struct heap_show_want want = {.part = {.what = (enum heapset_what)what, .has_rank = true, .rank = 9},
					      .title = "t"};
		char *text = table(h, &want);
		assert_non_null(strstr(text, "nothing of that rank"));
		free(text);
	}
	const struct heap_show_want leaks = {.part = {.what = HEAPSET_LEAKS}, .title = "t"};
	char *text = table(h, &leaks);
	assert_non_null(strstr(text, "nothing grew steadily"));
	free(text);
	heapset_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_has_bytes_errors_shares_and_the_ladder),
		cmocka_unit_test(an_interval_of_two_kinds_is_no_plus_and_minus),
		cmocka_unit_test(json_has_what_is_promised),
		cmocka_unit_test(a_report_says_who_asked_for_how_much_of_it),
		cmocka_unit_test(what_took_up_memory_stands_first_in_a_report),
		cmocka_unit_test(shared_pages_count_once_only_where_all_is_known),
		cmocka_unit_test(lives_are_told_with_what_is_not_known_of_them),
		cmocka_unit_test(no_whole_object_is_not_none),
		cmocka_unit_test(nothing_is_said_to_be_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
