#include "testing.h"

#include "tell/store/seriestier.h"

#define DAY_S 86400
#define RECORD 128

static struct series_mark *mark;
static size_t n;

static int drop(void **state)
{
	(void)state;
	free(mark);
	mark = NULL;
	return 0;
}

/* A record each so many seconds. */
static void fill(int64_t seconds, int64_t each)
{
	n = (size_t)(seconds / each);
	mark = calloc(n, sizeof(*mark));
	assert_non_null(mark);
	for (size_t i = 0; i < n; i++)
		mark[i] = (struct series_mark){
			.mono_ns = (i + 1) * (uint64_t)each * NS_PER_S, .weight = 1, .bytes = RECORD, .kind = 1};
}

/* How many stay of those that are from so old to so old; the longest distance between two of them. */
static size_t staying(int64_t from_s, int64_t to_s, uint64_t *ret_widest_s)
{
	size_t stay = 0;
	uint64_t end_s = mark[n - 1].mono_ns / NS_PER_S, before_s = 0;
	*ret_widest_s = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at_s = mark[i].mono_ns / NS_PER_S, age_s = end_s - at_s;
		if (age_s < (uint64_t)from_s || age_s > (uint64_t)to_s || !mark[i].stays)
			continue;
		if (stay++ > 0)
			*ret_widest_s = MAX(*ret_widest_s, at_s - before_s);
		before_s = at_s;
	}
	return stay;
}

static void an_hour_a_day_and_a_month_have_their_distances(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS], widest_s;
	fill(40 * DAY_S, 1);
	(void)seriestier_thin(mark, n, SIZE_MAX, spacing_ns);
	assert_int_equal(staying(0, 3600, &widest_s), 3601);
	assert_int_equal(widest_s, 1);
	assert_in_range(staying(3601, DAY_S, &widest_s), 8279, 8281);
	assert_int_equal(widest_s, 10);
	assert_in_range(staying(DAY_S + 1, 30 * DAY_S, &widest_s), 41759, 41761);
	assert_int_equal(widest_s, 60);
	assert_in_range(staying(30 * DAY_S + 1, 40 * DAY_S, &widest_s), 240, 242);
	assert_in_range(widest_s, 3600, 7200);
}

static void what_is_thinned_again_and_again_keeps_its_distances(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS], widest_s;
	fill(2 * DAY_S, 1);
	/* each hour, as a file that grows does */
	size_t all = n, kept = 0;
	for (size_t end = 3600; end <= all; end += 3600) {
		memmove(mark + kept, mark + end - 3600, 3600 * sizeof(*mark));
		n = kept + 3600;
		(void)seriestier_thin(mark, n, SIZE_MAX, spacing_ns);
		kept = 0;
		for (size_t i = 0; i < n; i++)
			if (mark[i].stays)
				mark[kept++] = mark[i];
	}
	n = kept;
	assert_in_range(staying(3601, DAY_S, &widest_s), 8270, 8290);
	assert_in_range(widest_s, 10, 19);
	assert_in_range(staying(DAY_S + 1, 2 * DAY_S, &widest_s), 1435, 1445);
	assert_in_range(widest_s, 60, 119);
}

static void too_little_room_takes_from_the_largest_tier_and_never_makes_the_old_denser(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS], widest_s;
	fill(30 * DAY_S, 5);
	size_t room = 500 * RECORD;
	assert_true(seriestier_thin(mark, n, room, spacing_ns) <= room);
	for (size_t t = 1; t < SERIES_TIERS; t++)
		assert_true(spacing_ns[t] >= spacing_ns[t - 1]);
	size_t hour = staying(0, 3600, &widest_s), day = staying(3601, DAY_S, &widest_s),
	       month = staying(DAY_S + 1, 30 * DAY_S, &widest_s);
	assert_true(hour > 80 && day > 80 && month > 80); /* none is starved */
}

static void the_heaviest_of_each_part_of_time_stays_and_both_ends(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS];
	fill(3 * DAY_S, 1);
	mark[0].weight = 0;
	mark[100007].weight = 9;
	(void)seriestier_thin(mark, n, 200 * RECORD, spacing_ns);
	assert_true(mark[0].stays);
	assert_true(mark[100007].stays);
	assert_true(mark[n - 1].stays);
	assert_false(mark[100006].stays || mark[100008].stays);
}

static void kinds_are_thinned_apart_and_kind_0_never(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS];
	fill(2 * DAY_S, 1);
	for (size_t i = 0; i < n; i++)
		mark[i].kind = i % 2 ? 1 : 3;
	mark[5].kind = 0;
	mark[7].kind = 0;
	mark[7].stays = true;
	(void)seriestier_thin(mark, n, 400 * RECORD, spacing_ns);
	size_t of[4] = {0};
	for (size_t i = 0; i < n; i++)
		of[mark[i].kind] += mark[i].stays;
	assert_int_equal(of[0], 1);
	assert_true(of[1] > 50 && of[3] > 50 && of[1] + of[3] <= 400);
}

static void clocks_that_are_garbage_end(void **state)
{
	(void)state;
	uint64_t spacing_ns[SERIES_TIERS];
	fill(1000, 1);
	for (size_t i = 0; i < n; i++)
		mark[i].mono_ns = i % 3 ? UINT64_MAX - i : i * i * UINT64_C(1) << 40;
	(void)seriestier_thin(mark, n, 1, spacing_ns);
	assert_true(mark[0].stays && mark[n - 1].stays);
	assert_int_equal(seriestier_thin(mark, 0, 1, spacing_ns), 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_hour_a_day_and_a_month_have_their_distances),
		TEST(what_is_thinned_again_and_again_keeps_its_distances),
		TEST(too_little_room_takes_from_the_largest_tier_and_never_makes_the_old_denser),
		TEST(the_heaviest_of_each_part_of_time_stays_and_both_ends),
		TEST(kinds_are_thinned_apart_and_kind_0_never),
		TEST(clocks_that_are_garbage_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
