#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "tell/jobs/seriesjson.h"

static int64_t given_time(const void *ctx, size_t i)
{
	const int64_t *times = ctx;
	return times[i];
}

/* The object that a writer makes between braces; freed by the caller. */
static struct js *times_of(const int64_t *times, size_t n)
{
	char *text = NULL;
	size_t len = 0;
	struct js *j = NULL;
	FILE *to = open_memstream(&text, &len);
	assert_non_null(to);
	fputc('{', to);
	seriesjson_times(given_time, times, n, to);
	fputc('}', to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(js_parse(text, len, &j, NULL), 0);
	free(text);
	return j;
}

static void a_time_without_looks_is_a_gap_and_coarse_old_points_are_none(void **state)
{
	(void)state;
	int64_t times[300];
	size_t n = 0;
	int64_t at = 0;
	while (n < 100)
		times[n++] = at += 3600000; /* an hour apart */
	while (n < 200)
		times[n++] = at += 60000; /* a minute */
	at += 7200000;
	while (n < 300)
		times[n++] = at += 1000;
	struct js *j = times_of(times, n);
	assert_int_equal(js_len(js_get(j, "times")), 300);
	assert_int_equal(js_len(js_get(j, "gaps")), 1);
	js_free(j);
}

static void a_gap_does_not_hide_the_next(void **state)
{
	(void)state;
	int64_t times[60];
	int64_t at = 0;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		times[i] = at += i % 20 == 19 ? 600000 : 1000;
	struct js *j = times_of(times, ARRAY_SIZE(times));
	assert_int_equal(js_len(js_get(j, "gaps")), 3);
	js_free(j);
	for (size_t n = 0; n < 3; n++)
		js_free(times_of(times, n));
}

#define LOOKS 8

static size_t steps_attempt_before; /* steps of looks before this one are of the first attempt */

/* Looks at these times, and the steps of rank 2 at each; 0: none known. What is told of each; -1: null. */
static void rates_of(const uint64_t ms[LOOKS], const uint64_t steps[LOOKS], size_t attempt_begins, double ret[LOOKS])
{
	static struct series_sample looks[LOOKS];
	static struct series_steps of[LOOKS];
	char *text = NULL;
	size_t len = 0;
	for (size_t i = 0; i < LOOKS; i++) {
		looks[i] = (struct series_sample){.mono_ns = ms[i] * NS_PER_MS, .attempt = i >= attempt_begins};
		of[i] = (struct series_steps){.n = steps[i] > 0,
					      .attempt = i < steps_attempt_before ? 0 : looks[i].attempt,
					      .of = {{.rank = 2, .step = steps[i]}}};
	}
	FILE *to = open_memstream(&text, &len);
	assert_non_null(to);
	assert_int_equal(seriesjson_step_rates(looks, of, LOOKS, 2, to), 0);
	assert_int_equal(fclose(to), 0);
	char *at = text;
	for (size_t i = 0; i < LOOKS; i++) {
		bool null = strncmp(at, "null", 4) == 0;
		char *end = at + (null ? 4 : 0);
		ret[i] = null ? -1 : strtod(at, &end);
		assert_true(end > at && *end == (i + 1 < LOOKS ? ',' : '\0'));
		at = end + 1;
	}
	free(text);
}

static bool is_near(double a, double b)
{
	return a - b < 0.001 && b - a < 0.001;
}

static void two_looks_right_behind_each_other_make_no_peak_of_steps(void **state)
{
	(void)state;
	static const uint64_t ms[LOOKS] = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 7040};
	static const uint64_t steps[LOOKS] = {10, 20, 30, 40, 50, 60, 70, 80};
	double r[LOOKS];
	rates_of(ms, steps, 0, r);
	assert_true(r[0] < 0);
	for (size_t i = 1; i < LOOKS - 1; i++)
		assert_true(is_near(r[i], 10));
	assert_true(is_near(r[LOOKS - 1], 40 / 3.04)); /* and not 250 */
}

/* Steps are read by a process that may be late: they did not stand, nor run afterwards. */
static void steps_that_come_late_are_spread_over_the_looks_that_had_none(void **state)
{
	(void)state;
	static const uint64_t ms[LOOKS] = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000};
	double r[LOOKS];
	rates_of(ms, (const uint64_t[LOOKS]){10, 20, 20, 20, 20, 60, 70, 80}, 0, r);
	for (size_t i = 1; i < LOOKS; i++)
		assert_true(is_near(r[i], 10));
	/* one that stands at the end does so once it is longer than usual */
	rates_of(ms, (const uint64_t[LOOKS]){10, 20, 30, 30, 30, 30, 30, 30}, 0, r);
	assert_true(is_near(r[2], 10) && r[3] < 0 && r[4] < 0);
	assert_true(is_near(r[5], 0) && is_near(r[7], 0));
	rates_of(ms, (const uint64_t[LOOKS]){10, 10, 10, 11, 11, 11, 12, 12}, 0, r); /* slow ones */
	for (size_t i = 1; i < LOOKS - 1; i++)
		assert_true(is_near(r[i], 1.0 / 3));
	assert_true(r[7] < 0);
}

/* The latest steps are of the attempt before until the first one of this attempt has come. */
static void an_attempt_without_steps_yet_does_not_stand(void **state)
{
	(void)state;
	static const uint64_t ms[LOOKS] = {1000, 2000, 3000, 4000, 7000, 11000, 15000, 19000};
	double r[LOOKS];
	steps_attempt_before = 6;
	rates_of(ms, (const uint64_t[LOOKS]){10, 20, 30, 30, 30, 30, 1, 1}, 3, r);
	steps_attempt_before = 0;
	assert_true(is_near(r[2], 10));
	for (size_t i = 3; i < LOOKS; i++)
		assert_true(r[i] < 0); /* nor does it after its first step, for a while */
	rates_of(ms, (const uint64_t[LOOKS]){0, 0, 0, 0, 1, 1, 1, 1}, 0, r);
	assert_true(r[7] < 0);
	rates_of((const uint64_t[LOOKS]){1, 2, 3, 4, 5, 6, 7, 50000}, (const uint64_t[LOOKS]){1, 1, 1, 1, 1, 1, 1, 1},
		 0, r);
	assert_true(is_near(r[7], 0));
}

static void steps_that_cannot_be_compared_have_no_rate(void **state)
{
	(void)state;
	static const uint64_t ms[LOOKS] = {1000, 2000, 3000, 4000, 5000, 5100, 6100, 7100};
	static const uint64_t steps[LOOKS] = {0, 20, 30, 40, 1, 1, 11, 0};
	double r[LOOKS];
	rates_of(ms, steps, 4, r); /* another attempt begins at step 1 */
	assert_true(r[0] < 0 && r[1] < 0);
	assert_true(is_near(r[2], 10));
	assert_true(is_near(r[3], 10));
	assert_true(r[4] < 0);
	assert_true(is_near(r[5], 10 / 1.1));
	assert_true(is_near(r[6], 10 / 1.1));
	assert_true(r[7] < 0);
	rates_of(ms, (const uint64_t[LOOKS]){9, 8, 7, 6, 5, 4, 3, 2}, 0, r); /* counts down */
	for (size_t i = 0; i < LOOKS; i++)
		assert_true(r[i] < 0);
	rates_of((const uint64_t[LOOKS]){8, 7, 6, 5, 4, 3, 2, 1}, steps, 0, r); /* clocks of a damaged file */
	for (size_t i = 0; i < LOOKS; i++)
		assert_true(r[i] < 0);
}

static void a_rank_has_its_devices_only_and_what_is_unknown_is_absent(void **state)
{
	(void)state;
	static const struct series_devices looks = {
		.n = 3,
		.of = {{.index = 0, .rank = 4, .has = SERIES_HAS_BUSY, .busy_percent = 250},
		       {.index = 1,
			.rank = 5,
			.has = SERIES_HAS_USED | SERIES_HAS_TOTAL,
			.used_bytes = 1,
			.total_bytes = 4},
		       {.index = 2, .rank = 5, .has = SERIES_HAS_TOTAL, .total_bytes = 0}}};
	struct js *o = js_object();
	seriesjson_rank_gpus(&looks, 5, o);
	const struct js *all = js_get(o, "gpu");
	assert_int_equal(js_len(all), 2);
	assert_true(js_get_double(js_at(all, 0), "used_ratio", 0) == 0.25);
	assert_null(js_get(js_at(all, 0), "busy_ratio"));
	assert_null(js_get(js_at(all, 1), "used_ratio"));
	js_free(o);
	o = js_object();
	seriesjson_rank_gpus(&looks, 4, o);
	assert_true(js_get_double(js_at(js_get(o, "gpu"), 0), "busy_ratio", 0) == 1);
	seriesjson_rank_gpus(&looks, 77, o);
	js_free(o);
}

static void without_a_series_a_note_says_so(void **state)
{
	(void)state;
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	assert_non_null(to);
	const struct seriesjson_want want = {.from = 0, .to = INT64_MAX, .most = 10};
	assert_int_equal(seriesjson_gpus((struct span){NULL, 0}, &want, to), 0);
	assert_int_equal(fclose(to), 0);
	assert_non_null(strstr(text, "\"series\":[],\"note\":"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_without_looks_is_a_gap_and_coarse_old_points_are_none),
		cmocka_unit_test(a_gap_does_not_hide_the_next),
		cmocka_unit_test(two_looks_right_behind_each_other_make_no_peak_of_steps),
		cmocka_unit_test(steps_that_come_late_are_spread_over_the_looks_that_had_none),
		cmocka_unit_test(an_attempt_without_steps_yet_does_not_stand),
		cmocka_unit_test(steps_that_cannot_be_compared_have_no_rate),
		cmocka_unit_test(a_rank_has_its_devices_only_and_what_is_unknown_is_absent),
		cmocka_unit_test(without_a_series_a_note_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
