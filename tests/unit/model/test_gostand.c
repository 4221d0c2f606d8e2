#include "testing.h"

#include "base/buf.h"
#include "model/hang/gostand.h"

static struct goroutine waiting(uint64_t id, enum goroutine_wait wait, uint64_t on)
{
	struct goroutine g = {.id = id, .addr = 0x1000 * id, .state = GOROUTINE_WAITS, .wait = wait, .turns = 7};
	g.sp = 0x100000 + id;
	g.fd = -1;
	if (on)
		g.on[g.n_on++] = on;
	return g;
}

static enum gostand_kind kind_of(struct goroutine before, struct goroutine now, bool reached, bool cut)
{
	struct goroutines a = {.item = &before, .n = 1, .n_all = 1}, b = {.item = &now, .n = 1, .n_all = 1};
	struct gostand s = {.kind = GOSTAND_UNKNOWN};
	bool lives = false;
	gostand_living(&a, &b, &lives);
	reached |= lives;
	gostand_make(&a, &b, &lives, &reached, cut, &s);
	return s.kind;
}

static void a_wait_for_a_goroutine_stands_until_somebody_comes_to_it(void **state)
{
	(void)state;
	struct goroutine g = waiting(1, GOWAIT_CHAN, 0x5000);
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_NOBODY);
	assert_int_equal(kind_of(g, g, true, false), GOSTAND_SOMEBODY);
	assert_int_equal(kind_of(g, g, false, true), GOSTAND_SOMEBODY);
	g.wait = GOWAIT_LOCK;
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_NOBODY);
}

static void one_that_ran_between_the_looks_lives(void **state)
{
	(void)state;
	struct goroutine a = waiting(1, GOWAIT_CHAN, 0x5000), b = a;
	b.turns++;
	assert_int_equal(kind_of(a, b, false, false), GOSTAND_LIVES);
	b = a;
	b.on[0] = 0x6000;
	assert_int_equal(kind_of(a, b, false, false), GOSTAND_LIVES);
	b = a;
	b.sp += 8;
	assert_int_equal(kind_of(a, b, false, false), GOSTAND_LIVES);
	b = a;
	b.state = GOROUTINE_RUNS;
	assert_int_equal(kind_of(a, b, false, false), GOSTAND_LIVES);
}

static void what_a_clock_may_end_is_not_told(void **state)
{
	(void)state;
	struct goroutine g = waiting(1, GOWAIT_SELECT, 0x5000);
	g.by_timer = true;
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_UNKNOWN);
	g.by_timer = false;
	g.on_cut = true;
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_UNKNOWN);
	g = waiting(1, GOWAIT_SLEEP, 0);
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_LIVES);
	g = waiting(1, GOWAIT_COND, 0);
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_UNKNOWN);
	g = waiting(1, GOWAIT_GROUP, 0); /* its address was not found */
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_UNKNOWN);
	g = waiting(1, GOWAIT_IO, 0);
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_OUTSIDE);
}

static void a_nil_channel_ends_for_nobody_and_an_empty_select_is_meant(void **state)
{
	(void)state;
	struct goroutine g = waiting(1, GOWAIT_FOREVER, 0);
	TEXT_COPY(g.reason, "chan receive (nil chan)");
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_NOBODY);
	TEXT_COPY(g.reason, "select (no cases)");
	assert_int_equal(kind_of(g, g, false, false), GOSTAND_UNKNOWN);
}

static void the_others_are_counted_and_may_serve(void **state)
{
	(void)state;
	struct goroutine all[] = {waiting(1, GOWAIT_CHAN, 0x5000), waiting(2, GOWAIT_RUNTIME, 0),
				  waiting(3, GOWAIT_IO, 0), waiting(4, GOWAIT_LOCK, 0x7000)};
	struct goroutines s = {.item = all, .n = 4, .n_all = 4}, shifted = {.item = all + 1, .n = 3, .n_all = 3};
	struct gostand g = {.kind = GOSTAND_UNKNOWN};
	bool lives[4], want[] = {false, false, true, false};
	gostand_living(&s, &s, lives);
	assert_memory_equal(lives, want, sizeof(want));
	gostand_make(&s, &s, lives, lives, false, &g);
	assert_int_equal(g.kind, GOSTAND_NOBODY);
	assert_true(g.serves && g.n == 3 && g.n_stand == 2);
	/* One was not in the list before; the others are found at other places of it. */
	gostand_living(&shifted, &s, lives);
	assert_true(lives[0] && !lives[3]);
	/* The first is not goroutine 1: nothing is said. */
	gostand_make(&shifted, &shifted, lives, lives, false, &g);
	assert_int_equal(g.kind, GOSTAND_UNKNOWN);
}

static void those_that_nobody_comes_to_are_where_a_second_search_begins(void **state)
{
	(void)state;
	struct goroutine all[] = {waiting(1, GOWAIT_GROUP, 0x5000), waiting(2, GOWAIT_CHAN, 0x6000),
				  waiting(3, GOWAIT_CHAN, 0x7000), waiting(4, GOWAIT_IO, 0),
				  waiting(5, GOWAIT_FOREVER, 0)};
	const struct goroutines s = {.item = all, .n = 5, .n_all = 5};
	const bool reached[] = {false, false, true, true, false}, want[] = {false, true, false, false, false};
	const bool all_reached[] = {false, true, true, true, true};
	bool stuck[5];
	assert_true(gostand_stuck(&s, reached, stuck));
	assert_memory_equal(stuck, want, sizeof(want));
	assert_false(gostand_stuck(&s, all_reached, stuck));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_a_goroutine_stands_until_somebody_comes_to_it),
		cmocka_unit_test(one_that_ran_between_the_looks_lives),
		cmocka_unit_test(what_a_clock_may_end_is_not_told),
		cmocka_unit_test(a_nil_channel_ends_for_nobody_and_an_empty_select_is_meant),
		cmocka_unit_test(the_others_are_counted_and_may_serve),
		cmocka_unit_test(those_that_nobody_comes_to_are_where_a_second_search_begins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
