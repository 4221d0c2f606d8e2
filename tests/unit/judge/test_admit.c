#include "testing.h"

#include "judge/map/admit.h"
#include "model/map/forecast.h"

#define M(n) ((n)*MIB)

static bool may_start(uint64_t room, uint64_t expected, const struct admit_task *t, size_t n)
{
	return admit_start(&(struct admit_state){.room_bytes = room, .share_ratio = 1, .task = t, .n = n},
			   &(struct admit_task){.expected_bytes = expected});
}

static struct admit_verdict judged(uint64_t room, uint64_t ahead, const struct admit_task *t, size_t n)
{
	return admit_judge(
		&(struct admit_state){.room_bytes = room, .ahead_bytes = ahead, .share_ratio = 1, .task = t, .n = n});
}

static void a_task_starts_if_it_fits_beside_what_is_expected(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(100), .expected_bytes = M(400)},
				       {.own_bytes = M(300), .expected_bytes = M(200)}};
	assert_true(may_start(M(1000), M(250), t, 2)); /* 400 + 300, of 950 */
	assert_false(may_start(M(1000), M(251), t, 2));
	assert_true(may_start(M(1000), M(550), t, 1));
	assert_false(may_start(M(1000), M(551), t, 1));
}

static void a_spread_takes_room_and_a_low_share_gives_it(void **state)
{
	(void)state;
	const struct admit_task t = {.own_bytes = M(10), .expected_bytes = M(400), .spread_bytes = M(60)};
	struct admit_state s = {.room_bytes = M(1000), .share_ratio = 1, .task = &t, .n = 1};
	/* two of 60 are 84.85 together: 1.28 times that is 108.6 */
	assert_true(admit_start(&s, &(struct admit_task){.expected_bytes = M(441), .spread_bytes = M(60)}));
	assert_false(admit_start(&s, &(struct admit_task){.expected_bytes = M(442), .spread_bytes = M(60)}));
	s.share_ratio = 0.5;
	assert_true(admit_start(&s, &(struct admit_task){.expected_bytes = M(1391), .spread_bytes = M(60)}));
	assert_false(admit_start(&s, &(struct admit_task){.expected_bytes = M(1392), .spread_bytes = M(60)}));
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

/* Two processors, one of which is idle: the newest suspended ones make room for the oldest suspended one. */
static void suspended_ones_are_ended_for_an_idle_processor(void **state)
{
	(void)state;
	struct admit_task t[] = {
		{.own_bytes = M(300), .expected_bytes = M(400), .lived_ns = 4 * NS_PER_S, .growing = true},
		{.own_bytes = M(200), .expected_bytes = M(400), .lived_ns = 2 * NS_PER_S, .suspended = true},
		{.own_bytes = M(200), .lived_ns = 2 * NS_PER_S, .suspended = true},
		{.own_bytes = M(150), .lived_ns = 2 * NS_PER_S, .suspended = true}};
	struct admit_state s = {.room_bytes = M(1000), .share_ratio = 1, .n_processors = 2, .task = t, .n = 4};
	struct admit_verdict v = admit_judge(&s); /* 400 + 400 + 200 are too many, and 400 + 400 not */
	assert_true(v.act == ADMIT_KILL && v.task == 3);
	s.n_processors = 1; /* it is in use */
	assert_int_equal(admit_judge(&s).act, ADMIT_NOTHING);
	s.n_processors = 2;
	t[2].lived_ns = 7 * NS_PER_S; /* 9 s of work for one that has done 4 */
	assert_int_equal(admit_judge(&s).act, ADMIT_NOTHING);
	t[2].lived_ns = 6 * NS_PER_S;
	assert_int_equal(admit_judge(&s).act, ADMIT_KILL);
	t[1].expected_bytes = M(551); /* would not fit even then */
	assert_int_equal(admit_judge(&s).act, ADMIT_NOTHING);
	t[1].expected_bytes = M(550);
	assert_int_equal(admit_judge(&s).act, ADMIT_KILL);
	t[3].ending = true; /* memory comes back in a moment */
	assert_int_equal(admit_judge(&s).act, ADMIT_NOTHING);
	s.n = 2; /* there is none but the oldest suspended one */
	t[1].expected_bytes = M(700);
	assert_int_equal(admit_judge(&s).act, ADMIT_NOTHING);
}

static void when_short_the_newest_that_grows_is_suspended(void **state)
{
	(void)state;
	struct admit_task t[] = {{.own_bytes = M(250), .growing = true},
				 {.own_bytes = M(250), .growing = true},
				 {.own_bytes = M(230), .growing = true},
				 {.own_bytes = M(230)}};
	struct admit_verdict v = judged(M(1000), 0, t, 4);
	assert_true(v.act == ADMIT_SUSPEND && v.task == 2);
	t[2].suspended = true;
	v = judged(M(1000), 0, t, 4);
	assert_true(v.act == ADMIT_SUSPEND && v.task == 1);
	t[1].suspended = true;
	assert_int_equal(judged(M(1000), 0, t, 4).act, ADMIT_NOTHING); /* the oldest goes on, and who only holds */
}

static void when_critical_the_newest_suspended_is_ended(void **state)
{
	(void)state;
	struct admit_task t[] = {{.own_bytes = M(390), .growing = true},
				 {.own_bytes = M(300), .suspended = true},
				 {.own_bytes = M(295), .suspended = true}};
	assert_int_equal(judged(M(1000), 0, t, 3).act, ADMIT_NOTHING); /* nothing has grown */
	struct admit_verdict v = judged(M(1000), M(1), t, 3);
	assert_true(v.act == ADMIT_KILL && v.task == 2);
	t[2].ending = true;
	assert_int_equal(judged(M(1000), M(1), t, 3).act, ADMIT_NOTHING); /* its memory is on its way back */
}

static void when_critical_even_one_that_only_holds_makes_room(void **state)
{
	(void)state;
	const struct admit_task t[] = {{.own_bytes = M(490), .growing = true}, {.own_bytes = M(495)}};
	struct admit_verdict v = judged(M(1000), M(1), t, 2);
	assert_true(v.act == ADMIT_SUSPEND && v.task == 1);
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
	struct admit_verdict v = judged(M(1000), 0, t, 3); /* 300, 400 and 100, of 950 */
	assert_true(v.act == ADMIT_RESUME && v.task == 1);
	t[0].expected_bytes = M(451);
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
			struct admit_state s = {.room_bytes = M(1000),
						.ahead_bytes = M(10),
						.share_ratio = seed % 2 ? 1 : 0.5,
						.n_processors = seed % 3 * 2,
						.task = t,
						.n = n};
			while (head < tail && n < 8 &&
			       admit_start(&s,
					   &(struct admit_task){.expected_bytes = MAX(reserve[queue[head]], M(125))})) {
				id[n] = queue[head++];
				t[n] = (struct admit_task){.growing = true,
							   .expected_bytes = MAX(reserve[id[n]], M(125))};
				s.n = ++n;
			}
			uint64_t used = 0;
			for (size_t i = 0; i < n; i++) {
				if (!t[i].suspended && !t[i].ending) {
					t[i].own_bytes = MIN(t[i].own_bytes + M(5), need[id[i]]);
					t[i].lived_ns += NS_PER_S / 10;
				}
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

static bool expects(const struct forecast *f, uint64_t held, uint64_t mean, uint64_t spread)
{
	struct forecast_need need;
	return forecast_of(f, NULL, held, &need) && need.expected_bytes == mean && need.spread_bytes == spread;
}

static void the_forecast_is_the_largest_of_few_and_the_mean_of_many(void **state)
{
	(void)state;
	static struct forecast f;
	struct forecast_need need;
	assert_false(forecast_of(&f, NULL, 0, &need));
	for (uint64_t i = 1; i <= 4; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = i * 1000});
	assert_true(expects(&f, 0, 4000, 0));
	forecast_add(&f, &(struct forecast_point){.peak_bytes = 5000});
	assert_true(expects(&f, 0, 3000, 1414));
	for (uint64_t i = 0; i < FORECAST_POINTS; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = 100});
	assert_true(expects(&f, 0, 100, 0)); /* the old ones are forgotten */
}

static void who_holds_much_is_compared_with_those_that_needed_as_much(void **state)
{
	(void)state;
	static struct forecast f;
	for (uint64_t i = 1; i <= 9; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = i * 1000});
	assert_true(expects(&f, 7500, 8500, 500));
	assert_true(expects(&f, 10000, 11000, 0));
}

static void the_forecast_follows_the_size_where_the_need_does(void **state)
{
	(void)state;
	static struct forecast f, g;
	const uint64_t big = 100000, small = 1000;
	struct forecast_need need;
	for (uint64_t i = 1; i <= 6; i++)
		forecast_add(&f, &(struct forecast_point){true, i * 10000, 5000 + 3 * i * 10000, 0});
	assert_true(forecast_of(&f, &big, 0, &need) && need.expected_bytes >= 304999 && need.expected_bytes <= 305001);
	assert_true(forecast_of(&f, &small, 0, &need) && need.expected_bytes >= 7999 && need.expected_bytes <= 8001);
	for (uint64_t i = 1; i <= 6; i++)
		forecast_add(&g, &(struct forecast_point){true, i * 10000, i % 2 ? 9000 : 1000, 0});
	assert_true(forecast_of(&g, &big, 0, &need) && need.expected_bytes == 5000 && need.spread_bytes == 4000);
}

static void the_share_is_what_is_held_on_average(void **state)
{
	(void)state;
	static struct forecast f;
	assert_true(forecast_share(&f) == 1);
	forecast_add(&f, &(struct forecast_point){.peak_bytes = 1000});
	assert_true(forecast_share(&f) == 1);
	forecast_add(&f, &(struct forecast_point){.peak_bytes = 1000, .average_bytes = 700});
	forecast_add(&f, &(struct forecast_point){.peak_bytes = 1000, .average_bytes = 900});
	assert_true(forecast_share(&f) > 0.79 && forecast_share(&f) < 0.81);
	for (int i = 0; i < 20; i++)
		forecast_add(&f, &(struct forecast_point){.peak_bytes = 1000, .average_bytes = 100});
	assert_true(forecast_share(&f) == 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_starts_if_it_fits_beside_what_is_expected),
		cmocka_unit_test(one_alone_always_starts),
		cmocka_unit_test(none_starts_while_one_is_suspended),
		cmocka_unit_test(with_room_nothing_is_done),
		cmocka_unit_test(suspended_ones_are_ended_for_an_idle_processor),
		cmocka_unit_test(when_short_the_newest_that_grows_is_suspended),
		cmocka_unit_test(when_critical_even_one_that_only_holds_makes_room),
		cmocka_unit_test(when_critical_the_newest_suspended_is_ended),
		cmocka_unit_test(what_may_grow_until_the_next_look_counts),
		cmocka_unit_test(the_oldest_suspended_goes_on_when_it_fits),
		cmocka_unit_test(one_alone_is_too_big_only_when_all_is_used),
		cmocka_unit_test(every_bag_comes_to_its_end),
		cmocka_unit_test(the_room_leaves_a_reserve_to_the_machine),
		cmocka_unit_test(the_forecast_is_the_largest_of_few_and_the_mean_of_many),
		cmocka_unit_test(who_holds_much_is_compared_with_those_that_needed_as_much),
		cmocka_unit_test(the_share_is_what_is_held_on_average),
		cmocka_unit_test(a_spread_takes_room_and_a_low_share_gives_it),
		cmocka_unit_test(the_forecast_follows_the_size_where_the_need_does),
	};
	return cmocka_run_group_tests_name("judge/map/admit", tests, NULL, NULL);
}
