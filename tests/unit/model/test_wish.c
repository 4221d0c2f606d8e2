#include "testing.h"

#include <string.h>

#include "model/memory/wish.h"
#include "sense/rank.h"

static const struct wish_process trainer = {
	.name = "python3", .command = "python3 train.py --big", .has_uid = true, .uid = 1000, .rank = 3};

static enum wish wish_of(const char *avoid, const char *prefer)
{
	struct wishes w = {.n = 0};
	assert_true(!avoid || wishes_add(&w, avoid, WISH_AVOID));
	assert_true(!prefer || wishes_add(&w, prefer, WISH_PREFER));
	return wishes_of(&w, &trainer);
}

static void a_pattern_is_for_the_name_or_for_what_its_key_says(void **state)
{
	(void)state;
	static const char *const fits[] = {"python3",	"py*",	 "name:python?", "command:*train.py*",
					   "user:1000", "rank:3"};
	static const char *const fits_not[] = {"python", "train*", "command:train.py", "user:0", "rank:30", "name:3"};
	for (size_t i = 0; i < ARRAY_SIZE(fits); i++)
		assert_int_equal(wish_of(NULL, fits[i]), WISH_PREFER);
	for (size_t i = 0; i < ARRAY_SIZE(fits_not); i++)
		assert_int_equal(wish_of(NULL, fits_not[i]), WISH_NONE);
}

static void who_is_both_is_avoided(void **state)
{
	(void)state;
	assert_int_equal(wish_of("py*", "python3"), WISH_AVOID);
}

static void what_is_not_known_fits_no_pattern(void **state)
{
	(void)state;
	struct wishes w = {.n = 0};
	assert_true(wishes_add(&w, "user:*", WISH_AVOID) && wishes_add(&w, "rank:*", WISH_AVOID));
	const struct wish_process p = {.name = "x", .command = "", .rank = NO_RANK};
	assert_int_equal(wishes_of(&w, &p), WISH_NONE);
}

static void the_table_and_its_texts_are_bounded(void **state)
{
	(void)state;
	static struct wishes w;
	char text[WISH_TEXT + 1];
	memset(text, 'a', WISH_TEXT);
	text[WISH_TEXT] = '\0';
	assert_false(wishes_add(&w, text, WISH_AVOID));
	assert_false(wishes_add(&w, "", WISH_AVOID));
	for (size_t i = 0; i < WISHES_MAX; i++)
		assert_true(wishes_add(&w, "a", WISH_AVOID));
	assert_false(wishes_add(&w, "a", WISH_AVOID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_is_for_the_name_or_for_what_its_key_says),
		cmocka_unit_test(who_is_both_is_avoided),
		cmocka_unit_test(what_is_not_known_fits_no_pattern),
		cmocka_unit_test(the_table_and_its_texts_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
