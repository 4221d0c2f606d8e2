#include "testing.h"

#include "judge/map/admit.h"
#include "model/map/forecast.h"

#define M(n) ((n)*MIB)

static bool may_start(uint64_t room, uint64_t expected, const struct admit_task *t, size_t n)
{
	return admit_start(&(struct admit_state){.room_bytes = room, .task = t, .n = n}, expected);
}

static struct admit_verdict judged(uint64_t room, uint64_t ahead, const struct admit_task *t, size_t n)
{
	return admit_judge(&(struct admit_state){.room_bytes = room, .ahead_bytes = ahead, .task = t, .n = n});
}

static void a_task_starts_if_it_fits_beside_what_is_expected(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(100), .expected_bytes = M(400)},
				       {.own_bytes = M(300), .expected_bytes = M(200)}};
	assert_true(may_start(M(1000), M(220), t, 2)); /* 400 + 330, of 950 */
	assert_false(may_start(M(1000), M(221), t, 2));
	assert_true(may_start(M(1000), M(550), t, 1));
	assert_false(may_start(M(1000), M(551), t, 1));
}

static void one_alone_always_starts(void **state)
{
	(void)state;
	const struct admit_task gone = {.own_bytes = M(900), .ending = true};
	assert_true(may_start(M(100), M(5000), NULL, 0));
	assert_false(may_start(M(1000), M(1), &gone, 1));
}

static void none_starts_while_one_is_suspended(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(1), .expected_bytes = M(1)},
				       {.own_bytes = M(1), .suspended = true}};
	assert_false(may_start(M(1000), M(1), t, 2));
}

static void with_room_nothing_is_done(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(400)}, {.own_bytes = M(400)}};
	assert_int_equal(judged(M(1000), 0, t, 2).act, ADMIT_NOTHING);
	assert_int_equal(judged(M(1000), 0, t, 0).act, ADMIT_NOTHING);
}

static void when_short_the_newest_is_suspended(void **state)
{
	(void)state;
	struct admit_task t[] = {{.own_bytes = M(330)}, {.own_bytes = M(320)}, {.own_bytes = M(310)}};
	struct admit_verdict v = judged(M(1000), 0, t, 3);
	assert_true(v.act == ADMIT_SUSPEND && v.task == 2);
	t[2].suspended = true;
	v = judged(M(1000), 0, t, 3);
	assert_true(v.act == ADMIT_SUSPEND && v.task == 1);
	t[1].suspended = true;
	assert_int_equal(judged(M(1000), 0, t, 3).act, ADMIT_NOTHING); /* the oldest goes on */
}

static void when_critical_the_newest_suspended_is_ended(void **state)
{
	(void)state;
	struct admit_task t[] = {{.own_bytes = M(390)},
				 {.own_bytes = M(300), .suspended = true},
				 {.own_bytes = M(295), .suspended = true}};
	struct admit_verdict v = judged(M(1000), 0, t, 3);
	assert_true(v.act == ADMIT_KILL && v.task == 2);
	t[2].ending = true;
	assert_int_equal(judged(M(1000), 0, t, 3).act, ADMIT_NOTHING); /* its memory is on its way back */
}

static void what_may_grow_until_the_next_look_counts(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(300), .expected_bytes = M(700)},
				       {.own_bytes = M(300), .expected_bytes = M(700), .suspended = true}};
	assert_int_equal(judged(M(1000), M(370), t, 2).act, ADMIT_NOTHING);
	assert_int_equal(judged(M(1000), M(390), t, 2).act, ADMIT_KILL);
}

static void the_oldest_suspended_goes_on_when_it_fits(void **state)
{
	(void)state;
	struct admit_task t[] = {{.own_bytes = M(200), .expected_bytes = M(300)},
				 {.own_bytes = M(100), .expected_bytes = M(400), .suspended = true},
				 {.own_bytes = M(100), .expected_bytes = M(400), .suspended = true}};
	struct admit_verdict v = judged(M(1000), 0, t, 3); /* 600 left, 100 and 300 more to come */
	assert_true(v.act == ADMIT_RESUME && v.task == 1);
	t[0].expected_bytes = M(500);
	assert_int_equal(judged(M(1000), 0, t, 3).act, ADMIT_NOTHING);
	v = judged(M(1000), 0, t + 1, 2); /* nothing runs */
	assert_true(v.act == ADMIT_RESUME && v.task == 0);
}

static void one_alone_is_too_big_only_when_all_is_used(void **state)
{
	(void)state;
	struct admit_task t = {.own_bytes = M(995), .expected_bytes = M(100)};
	assert_int_equal(judged(M(1000), M(50), &t, 1).act, ADMIT_NOTHING);
	t.own_bytes = M(1000);
	assert_int_equal(judged(M(1000), 0, &t, 1).act, ADMIT_TOO_BIG);
	t.suspended = true;
	assert_int_equal(judged(M(1000), 0, &t, 1).act, ADMIT_RESUME);
}

/* Tasks grow to what they need, one step a look; all must end, and the room must never be left by more than a step. */
static void every_bag_comes_to_its_end(void **state)
{
	(void)state;
	enum { TASKS = 40 };
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t need[TASKS], reserve[TASKS] = {0}, r = seed, queue[TASKS * 50], head = 0, tail = 0;
		struct admit_task t[TASKS];
		uint64_t id[TASKS];
		size_t n = 0, done = 0, looks = 0, kills = 0;
		for (size_t i = 0; i < TASKS; i++) {
			r = r * 6364136223846793005u + 1442695040888963407u;
			need[i] = M(20 + (r >> 33) % 900);
			queue[tail++] = i;
		}
		while (done < TASKS) {
			assert_true(++looks < 100000);
			struct admit_state s = {.room_bytes = M(1000), .ahead_bytes = M(10), .task = t, .n = n};
			while (head < tail && n < 8 && admit_start(&s, MAX(reserve[queue[head]], M(125)))) {
				id[n] = queue[head++];
				t[n] = (struct admit_task){.expected_bytes = MAX(reserve[id[n]], M(125))};
				s.n = ++n;
			}
			uint64_t used = 0;
			for (size_t i = 0; i < n; i++) {
				if (!t[i].suspended && !t[i].ending)
					t[i].own_bytes = MIN(t[i].own_bytes + M(5), need[id[i]]);
				used += t[i].own_bytes;
			}
			assert_true(used <= M(1000));
			for (struct admit_verdict v; (v = admit_judge(&s)).act != ADMIT_NOTHING;) {
				assert_int_not_equal(v.act, ADMIT_TOO_BIG);
				t[v.task].suspended = v.act == ADMIT_SUSPEND;
				if (v.act == ADMIT_KILL) {
					t[v.task].ending = true;
					reserve[id[v.task]] = admit_more(t[v.task].own_bytes, t[v.task].expected_bytes);
					queue[tail++] = id[v.task];
					assert_true(++kills < TASKS * 40);
				}
			}
			size_t kept = 0;
			for (size_t i = 0; i < n; i++) {
				bool ended = !t[i].ending && t[i].own_bytes == need[id[i]];
				done += ended;
				if (ended || t[i].ending)
					continue;
				t[kept] = t[i];
				id[kept++] = id[i];
			}
			n = kept;
		}
	}
}

static void the_room_leaves_a_reserve_to_the_machine(void **state)
{
	(void)state;
	assert_true(admit_room(UINT64_MAX, M(100), M(500), M(1000)) == M(550));
	assert_true(admit_room(M(300), M(100), M(500), M(1000)) == M(300));
	assert_true(admit_room(UINT64_MAX, M(100), M(10), M(1000)) == M(100));
	assert_true(admit_more(M(100), M(120)) == M(150) && admit_more(M(100), M(200)) == M(200));
}

static void the_forecast_is_the_largest_of_few_and_a_percentile_of_many(void **state)
{
	(void)state;
	static struct forecast f;
	uint64_t bytes;
	assert_false(forecast_of(&f, NULL, &bytes));
	for (uint64_t i = 1; i <= 10; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = i * 1000});
	assert_true(forecast_of(&f, NULL, &bytes) && bytes == 10500);
	for (uint64_t i = 0; i < 90; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = 2000});
	assert_true(forecast_of(&f, NULL, &bytes) && bytes == 5250); /* the 95th of a hundred */
	for (uint64_t i = 0; i < FORECAST_POINTS; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = 100});
	assert_true(forecast_of(&f, NULL, &bytes) && bytes == 105); /* the old ones are forgotten */
}

static void the_forecast_follows_the_size_where_the_need_does(void **state)
{
	(void)state;
	static struct forecast f, g;
	const uint64_t big = 100000, small = 1000;
	uint64_t bytes;
	for (uint64_t i = 1; i <= 6; i++)
		forecast_add(&f, &(struct forecast_point){true, i * 10000, 5000 + 3 * i * 10000});
	assert_true(forecast_of(&f, &big, &bytes) && bytes >= 320000 && bytes <= 320251);
	assert_true(forecast_of(&f, &small, &bytes) && bytes >= 8399 && bytes <= 8401);
	for (uint64_t i = 1; i <= 6; i++)
		forecast_add(&g, &(struct forecast_point){true, i * 10000, i % 2 ? 9000 : 1000});
	assert_true(forecast_of(&g, &big, &bytes) && bytes == 9450);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_starts_if_it_fits_beside_what_is_expected),
		cmocka_unit_test(one_alone_always_starts),
		cmocka_unit_test(none_starts_while_one_is_suspended),
		cmocka_unit_test(with_room_nothing_is_done),
		cmocka_unit_test(when_short_the_newest_is_suspended),
		cmocka_unit_test(when_critical_the_newest_suspended_is_ended),
		cmocka_unit_test(what_may_grow_until_the_next_look_counts),
		cmocka_unit_test(the_oldest_suspended_goes_on_when_it_fits),
		cmocka_unit_test(one_alone_is_too_big_only_when_all_is_used),
		cmocka_unit_test(every_bag_comes_to_its_end),
		cmocka_unit_test(the_room_leaves_a_reserve_to_the_machine),
		cmocka_unit_test(the_forecast_is_the_largest_of_few_and_a_percentile_of_many),
		cmocka_unit_test(the_forecast_follows_the_size_where_the_need_does),
	};
	return cmocka_run_group_tests_name("judge/map/admit", tests, NULL, NULL);
}
