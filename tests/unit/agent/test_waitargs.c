#include "testing.h"

#include "agent/wait/waitargs.h"
#include "base/text.h"

/* Ranks that stand in get() below all_reduce(), with these keys. */
struct keys {
	const char *get[4], *reduce[4];
	size_t n;
};

static struct waitarg arg[4][2];
static struct waitargs_rank rank[4];

static void put(const struct keys *k)
{
	for (size_t r = 0; r < k->n; r++) {
		for (size_t i = 0; i < 2; i++) {
			struct waitarg *a = &arg[r][i];
			TEXT_COPY(a->place, i == 0 ? "get at store.py:10" : "all_reduce at store.py:20");
			TEXT_COPY(a->name, "key");
			TEXT_COPY(a->value, i == 0 ? k->get[r] : k->reduce[r]);
		}
		rank[r] = (struct waitargs_rank){.pid = (pid_t)(100 + r), .rank = (int32_t)r, .arg = arg[r], .n = 2};
	}
}

static void the_rank_whose_key_differs_is_found_by_the_outermost_call(void **state)
{
	(void)state;
	const struct keys k = {{"'a0/x/3'", "'a0/x/3'", "'a0/x/3'", "'a1/x/0'"},
			       {"'a0/x'", "'a0/x'", "'a0/x'", "'a1/x'"},
			       4};
	size_t odd, at;
	bool by_number;
	put(&k);
	assert_true(waitargs_odd(rank, 4, &odd, &at, &by_number));
	assert_int_equal(odd, 3);
	assert_int_equal(at, 1);
	assert_true(by_number);
	const struct keys first = {{"'a1/x/1'", "'a0/x/0'", "'a0/x/0'"}, {"'a1/x'", "'a0/x'", "'a0/x'"}, 3};
	put(&first);
	assert_true(waitargs_odd(rank, 3, &odd, &at, &by_number));
	assert_int_equal(odd, 0);
}

static void other_words_are_no_other_number(void **state)
{
	(void)state;
	const struct keys k = {{"'t'", "'t'", "'t'"}, {"'train'", "'train'", "'eval'"}, 3};
	size_t odd, at;
	bool by_number;
	put(&k);
	assert_true(waitargs_odd(rank, 3, &odd, &at, &by_number));
	assert_int_equal(odd, 2);
	assert_false(by_number);
	const struct keys longer = {{"'t'", "'t'", "'t'"}, {"'step 9'", "'step 9'", "'step 10'"}, 3};
	put(&longer);
	assert_true(waitargs_odd(rank, 3, &odd, &at, &by_number));
	assert_true(by_number);
}

static void where_all_differ_or_none_nobody_is_odd(void **state)
{
	(void)state;
	static const struct keys none[] = {
		{{"'x'", "'x'", "'x'"}, {"'y'", "'y'", "'y'"}, 3},
		{{"'0'", "'1'", "'2'"}, {"'y'", "'y'", "'y'"}, 3},
		{{"'0'", "'1'"}, {"'y'", "'y'"}, 2},
		{{"'0'", "'0'", "'1'", "'1'"}, {"'y'", "'y'", "'y'", "'y'"}, 4},
		{{"'0'", "'0'", "'1'"}, {"'1'", "'0'", "'0'"}, 3}, /* another one at each call */
		{{"", "'0'", "'0'"}, {"'y'", "'y'", "'y'"}, 3}, /* no text, or not read */
		{{"'0'", "", "'0'"}, {"'y'", "'y'", "'y'"}, 3},
	};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		size_t odd, at;
		bool by_number;
		put(&none[i]);
		assert_false(waitargs_odd(rank, none[i].n, &odd, &at, &by_number));
	}
}

static void ranks_at_other_places_are_not_compared(void **state)
{
	(void)state;
	const struct keys k = {{"'0'", "'0'", "'1'"}, {"'0'", "'0'", "'1'"}, 3};
	size_t odd, at;
	bool by_number;
	put(&k);
	TEXT_COPY(arg[1][1].place, "all_reduce at store.py:25");
	assert_false(waitargs_odd(rank, 3, &odd, &at, &by_number));
	put(&k);
	rank[2].n = 1;
	assert_false(waitargs_odd(rank, 3, &odd, &at, &by_number));
}

static void of_two_the_one_with_the_smaller_number_is_behind(void **state)
{
	(void)state;
	static const struct {
		struct keys k;
		size_t behind; /* 2: nothing is said */
	} all[] = {
		{{{"'grad46'", "'grad45'"}, {"'t'", "'t'"}, 2}, 1},
		{{{"'grad9'", "'grad8'"}, {"'step 10'", "'step 9'"}, 2}, 1},
		{{{"'grad7'", "'grad12'"}, {"", ""}, 2}, 0},
		{{{"'grad07'", "'grad12'"}, {"", ""}, 2}, 0},
		{{{"'part0'", "'part1'"}, {"'t'", "'t'"}, 2}, 2}, /* each has its own part */
		{{{"'part46'", "'part47'"}, {"'t'", "'t'"}, 2}, 2},
		{{{"'grad46'", "'grad45'"}, {"'train'", "'eval'"}, 2}, 2},
		{{{"'grad46'", "'grad45'"}, {"'a3'", "'a5'"}, 2}, 2},
		{{{"'grad46'", "'grad46'"}, {"'t'", "'t'"}, 2}, 2},
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		size_t behind = 2, at;
		put(&all[i].k);
		assert_int_equal(waitargs_behind(rank, &behind, &at), all[i].behind != 2);
		assert_int_equal(behind, all[i].behind);
	}
}

static void roots_that_differ_are_found_in_one_call(void **state)
{
	(void)state;
	static const struct {
		struct keys k;
		size_t rank; /* 9: none */
		bool alone;
	} all[] = {
		{{{"0", "1"}, {"'t'", "'t'"}, 2}, 1, false},
		{{{"0", "1", "2"}, {"'t'", "'t'", "'t'"}, 3}, 2, false},
		{{{"0", "0", "2"}, {"'t'", "'t'", "'t'"}, 3}, 2, true},
		{{{"1", "0", "0"}, {"'t'", "'t'", "'t'"}, 3}, 0, true},
		{{{"0", "0", "1", "1"}, {"'t'", "'t'", "'t'", "'t'"}, 4}, 9, false}, /* two groups */
		{{{"0", "1", "0", "1"}, {"'t'", "'t'", "'t'", "'t'"}, 4}, 9, false},
		{{{"1", "1"}, {"'t'", "'u'"}, 2}, 9, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct waitarg *one = NULL, *other = NULL;
		size_t odd = 9;
		bool alone = false;
		put(&all[i].k);
		TEXT_COPY(arg[1][0].place, "get at store.py:14"); /* another line of the call */
		for (size_t r = 0; r < all[i].k.n; r++)
			arg[r][0].root = true;
		assert_int_equal(waitargs_roots(rank, all[i].k.n, &one, &other, &odd, &alone), all[i].rank != 9);
		assert_int_equal(odd, all[i].rank);
		assert_int_equal(alone, all[i].alone);
		assert_true(!one || (strcmp(one->value, other->value) != 0 && one == &arg[odd][0]));
		for (size_t r = 0; r < all[i].k.n; r++)
			arg[r][0].root = false;
		assert_false(waitargs_roots(rank, all[i].k.n, &one, &other, &odd, &alone));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rank_whose_key_differs_is_found_by_the_outermost_call),
		cmocka_unit_test(other_words_are_no_other_number),
		cmocka_unit_test(where_all_differ_or_none_nobody_is_odd),
		cmocka_unit_test(ranks_at_other_places_are_not_compared),
		cmocka_unit_test(of_two_the_one_with_the_smaller_number_is_behind),
		cmocka_unit_test(roots_that_differ_are_found_in_one_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
