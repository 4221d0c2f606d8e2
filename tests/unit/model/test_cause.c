#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/rules/cause.h"

static struct pattern any_pattern;
static const struct rule plain = {.id = "nccl-timeout"};
static const struct rule other = {.id = "ib-error"};
static const struct rule pairing = {.id = "link", .clear = &any_pattern, .n_clear = 1};

static struct rule_match match_of(const struct rule *rule, int32_t rank, const char *text)
{
	struct rule_match m = {.rule = rule, .event = RULE_MATCH, .rank = rank};
	TEXT_COPY(m.text, text);
	return m;
}

static void put(struct cause_set *s, const struct rule *rule, int32_t rank, const char *text)
{
	const struct rule_match m = match_of(rule, rank, text);
	assert_int_equal(cause_set_add(s, &m), 0);
}

static void copies_with_other_numbers_are_one_entry(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	put(&s, &plain, 0, "timeout after 600000 ms at 0x7f3a");
	put(&s, &plain, 3, "timeout after 0xfe ms at 9");
	put(&s, &plain, 3, "timeout after 0xfe ms at 9");
	assert_int_equal(s.n, 1);
	assert_int_equal(s.groups[0].n, 3);
	assert_int_equal(s.groups[0].n_ranks, 2);
	assert_int_equal(s.groups[0].ranks[1], 3);
	assert_int_equal(s.n_matches, 3);
	assert_string_equal(s.groups[0].first.text, "timeout after 600000 ms at 0x7f3a");
}

static void other_words_rules_or_processes_are_other_entries(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	put(&s, &plain, 0, "timeout");
	put(&s, &plain, 0, "timed out");
	put(&s, &other, 0, "timeout");
	struct rule_match m = match_of(&plain, 0, "timeout");
	m.whose = RULE_WHOSE_OTHERS;
	assert_int_equal(cause_set_add(&s, &m), 0);
	assert_int_equal(s.n, 4);
}

static void a_line_without_a_rank_adds_none(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	put(&s, &plain, NO_RANK, "timeout");
	assert_int_equal(s.groups[0].n_ranks, 0);
	for (int32_t rank = 0; rank < CAUSE_RANKS + 9; rank++)
		put(&s, &plain, rank, "timeout");
	assert_int_equal(s.groups[0].n_ranks, CAUSE_RANKS);
	assert_int_equal(s.groups[0].n, CAUSE_RANKS + 10);
}

static void the_earliest_line_with_a_time_is_kept_as_the_first(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	static const int64_t times[] = {500, 900, 100};
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct rule_match m = match_of(&plain, (int32_t)i, "timeout");
		m.has_time = true;
		m.time_unix_ms = times[i];
		assert_int_equal(cause_set_add(&s, &m), 0);
	}
	put(&s, &plain, 7, "timeout");
	assert_int_equal(s.groups[0].first.time_unix_ms, 100);
	assert_int_equal(s.groups[0].first.rank, 2);
}

static void a_cleared_match_is_gone_and_the_others_stay(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	struct rule_match m = match_of(&pairing, 0, "link down");
	for (int i = 0; i < 3; i++) {
		snprintf(m.value[0], sizeof(m.value[0]), "mlx5_%d", i);
		assert_int_equal(cause_set_add(&s, &m), 0);
	}
	assert_int_equal(s.n, 3);
	m.event = RULE_CLEARED;
	TEXT_COPY(m.value[0], "mlx5_0");
	TEXT_COPY(m.text, "link up");
	assert_int_equal(cause_set_add(&s, &m), 0);
	assert_int_equal(cause_set_add(&s, &m), 0);
	assert_int_equal(s.n, 2);
	for (size_t i = 0; i < s.n; i++)
		assert_string_not_equal(s.groups[i].first.value[0], "mlx5_0");
}

static void a_contrast_is_an_entry_of_its_own_and_no_match(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	put(&s, &pairing, 0, "a");
	struct rule_match m = match_of(&pairing, 0, "b");
	m.event = RULE_CONTRAST;
	assert_int_equal(cause_set_add(&s, &m), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.n_matches, 1);
	assert_int_equal(s.n_events, 2);
}

static void entries_beyond_the_room_are_counted(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	for (int i = 0; i < CAUSE_GROUPS + 2; i++) {
		char text[32] = "word ";
		for (int k = 0; k < 12; k++)
			text[5 + k] = i >> k & 1 ? 'y' : 'z';
		put(&s, &plain, 0, text);
	}
	assert_int_equal(s.n, CAUSE_GROUPS);
	assert_int_equal(s.n_dropped, 2);
	assert_int_equal(s.groups[CAUSE_GROUPS - 1].order, CAUSE_GROUPS);
}

static void a_joined_set_comes_behind_and_adds_up(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set a = {.n = 0};
	cleanup(cause_set_done) struct cause_set b = {.n = 0};
	put(&a, &plain, 0, "timeout");
	put(&a, &plain, 0, "timeout");
	put(&b, &plain, 1, "timeout");
	put(&b, &other, 1, "link error");
	b.n_dropped = 4;
	assert_int_equal(cause_set_join(&a, &b), 0);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.groups[0].n, 3);
	assert_int_equal(a.groups[0].n_ranks, 2);
	assert_int_equal(a.groups[1].order, 4);
	assert_int_equal(a.n_matches, 4);
	assert_int_equal(a.n_dropped, 4);
}

static void a_later_fact_of_the_same_name_replaces_the_first(void **state)
{
	(void)state;
	cleanup(cause_set_done) struct cause_set s = {.n = 0};
	char name[32];
	assert_true(cause_set_fact(&s, "ib_active", "0"));
	assert_true(cause_set_fact(&s, "ib_active", "1"));
	assert_int_equal(s.n_facts, 1);
	assert_string_equal(cause_set_find_fact(&s, "ib_active")->value, "1");
	assert_null(cause_set_find_fact(&s, "ib"));
	for (int i = 1; i < CAUSE_FACTS; i++) {
		snprintf(name, sizeof(name), "fact_%d", i);
		assert_true(cause_set_fact(&s, name, "x"));
	}
	assert_false(cause_set_fact(&s, "one_more", "x"));
	assert_true(cause_set_fact(&s, "ib_active", "2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_with_other_numbers_are_one_entry),
		cmocka_unit_test(other_words_rules_or_processes_are_other_entries),
		cmocka_unit_test(a_line_without_a_rank_adds_none),
		cmocka_unit_test(the_earliest_line_with_a_time_is_kept_as_the_first),
		cmocka_unit_test(a_cleared_match_is_gone_and_the_others_stay),
		cmocka_unit_test(a_contrast_is_an_entry_of_its_own_and_no_match),
		cmocka_unit_test(entries_beyond_the_room_are_counted),
		cmocka_unit_test(a_joined_set_comes_behind_and_adds_up),
		cmocka_unit_test(a_later_fact_of_the_same_name_replaces_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
