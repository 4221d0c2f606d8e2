#include "testing.h"

#include <math.h>

#include "model/heap/heaplife.h"

/* Lives of n bytes whose ends are known to be spread as exp(-t / mean), but for what was born less than that ago. */
static struct heap_lives decaying(int n, double mean_s, double window_s)
{
	struct heap_lives l = {.oldest_s = 0};
	for (int i = 0; i < n; i++) {
		/* even, and without a pattern between the two */
		double life = -mean_s * log(1 - (i + 0.5) / n), age = window_s * fmod(i * 0.6180339887, 1.0);
		if (life <= age) {
			l.freed_bytes[heap_life_class(life)] += 1;
			l.freed_byte_s += life;
		} else {
			l.alive_bytes[heap_life_class(age)] += 1;
			l.alive_byte_s += age;
			l.oldest_s = fmax(l.oldest_s, age);
		}
	}
	return l;
}

static void assert_near(double is, double should, double share)
{
	if (!(fabs(is - should) <= share * should))
		fail_msg("%g is not %g", is, should);
}

static void classes_double(void **state)
{
	(void)state;
	assert_int_equal(heap_life_class(0), 0);
	assert_int_equal(heap_life_class(0.0004), 0);
	assert_int_equal(heap_life_class(0.0005), 1);
	assert_int_equal(heap_life_class(0.001), 2);
	assert_int_equal(heap_life_class(1e9), HEAP_LIFE_CLASSES - 1);
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
		assert_int_equal(heap_life_class(heap_life_from_s(j)), j);
	/* the last of the writer's: 4^10 ms and twice that */
	assert_true(heap_life_from_s(22) == 1048.576 && heap_life_from_s(23) == 2097.152);
}

static void what_has_all_gone_is_told_as_it_was(void **state)
{
	(void)state;
	struct heap_lives l = decaying(100000, 3, 1e9);
	struct heap_life mean = heap_lives_mean(&l), half = heap_lives_gone(&l, 0.5), most = heap_lives_gone(&l, 0.9);
	assert_true(mean.known && !mean.at_least && half.known && !half.at_least && !most.at_least);
	assert_near(mean.seconds, 3, 0.001);
	assert_near(half.seconds, 3 * log(2), 0.1);
	assert_near(most.seconds, 3 * log(10), 0.1);
	assert_true(half.below_s >= 3 * log(2) && half.below_s < 6 * log(2));
	assert_near(heap_lives_mean_square(&l), 18, 0.15);
}

/* To take what was freed alone would say 1.2 s. */
static void what_lives_still_does_not_make_lives_short(void **state)
{
	(void)state;
	struct heap_lives l = decaying(100000, 3, 12);
	struct heap_life mean = heap_lives_mean(&l), half = heap_lives_gone(&l, 0.5);
	assert_true(l.alive_byte_s > 0 && !half.at_least);
	assert_near(mean.seconds, 3, 0.1);
	assert_near(half.seconds, 3 * log(2), 0.1);
	l = decaying(100000, 3, 3);
	half = heap_lives_gone(&l, 0.9);
	assert_true(half.known && half.at_least);
	assert_near(half.seconds, 3, 0.01);
	mean = heap_lives_mean(&l);
	/* of what is seen of 3 s no more than that is known */
	assert_true(mean.at_least && mean.seconds < 3 && mean.seconds > 1.5);
}

static void of_what_never_goes_only_its_age_is_known(void **state)
{
	(void)state;
	struct heap_lives l = {.oldest_s = 40, .alive_byte_s = 40 * 7};
	l.alive_bytes[heap_life_class(40)] = 7;
	struct heap_life mean = heap_lives_mean(&l), half = heap_lives_gone(&l, 0.5);
	assert_true(half.known && half.at_least && half.seconds == 40);
	assert_true(mean.known && mean.at_least);
	assert_near(mean.seconds, 40, 0.01);
}

static void half_of_each_is_told_apart(void **state)
{
	(void)state;
	struct heap_lives kept = {.oldest_s = 100, .alive_byte_s = 5000}, brief = {.freed_byte_s = 0.05};
	kept.alive_bytes[heap_life_class(100)] = 50;
	brief.freed_bytes[heap_life_class(0.001)] = 50;
	heap_lives_add(&kept, &brief);
	assert_true(!heap_lives_gone(&kept, 0.4).at_least && heap_lives_gone(&kept, 0.4).below_s == 0.002);
	assert_true(heap_lives_gone(&kept, 0.6).at_least && heap_lives_gone(&kept, 0.6).seconds == 100);
	assert_near(heap_lives_mean(&kept).seconds, 50, 0.05);
}

static void of_nothing_nothing_is_known(void **state)
{
	(void)state;
	const struct heap_lives none = {.oldest_s = 0};
	assert_false(heap_lives_mean(&none).known);
	assert_false(heap_lives_gone(&none, 0.5).known);
	assert_true(heap_lives_mean_square(&none) == 0);
}

static void beyond_the_last_class_the_mean_tells(void **state)
{
	(void)state;
	struct heap_lives l = {.freed_byte_s = 10 * 86400.0};
	l.freed_bytes[HEAP_LIFE_CLASSES - 1] = 10;
	assert_near(heap_lives_mean(&l).seconds, 86400, 0.001);
	struct heap_life half = heap_lives_gone(&l, 0.5);
	assert_true(!half.at_least && half.seconds > 2097 && half.seconds < 2 * 86400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_double),
		cmocka_unit_test(what_has_all_gone_is_told_as_it_was),
		cmocka_unit_test(what_lives_still_does_not_make_lives_short),
		cmocka_unit_test(of_what_never_goes_only_its_age_is_known),
		cmocka_unit_test(half_of_each_is_told_apart),
		cmocka_unit_test(of_nothing_nothing_is_known),
		cmocka_unit_test(beyond_the_last_class_the_mean_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
