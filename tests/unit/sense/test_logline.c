#include "testing.h"

#include "sense/log/logline.h"

static struct logline parsed(const char *text)
{
	struct logline l;
	logline_parse(span_of(text), &l);
	return l;
}

static void ranks_of_all_launchers_are_taken_off(void **state)
{
	(void)state;
	static const struct {
		const char *line, *text;
		int32_t rank;
		bool local;
	} rows[] = {
		{"[rank3]: boom", "boom", 3, false},
		{"[default0]:boom", "boom", 0, true},
		{"12: boom", "boom", 12, false},
		{"[1,5]<stdout>:boom", "boom", 5, false},
		{"Rank:3 boom", "boom", 3, false},
		{"[Rank 4] boom", "boom", 4, false},
		{"[default1]:[rank9]: boom", "boom", 9, false},
		{"[rank9]: [default1]:boom", "boom", 9, false},
		{"boom", "boom", NO_RANK, false},
		{"[rank 0] step 3", "step 3", 0, false},
		{"[RANK 2]: step 3", "step 3", 2, false},
		{"(rank=1) step 3", "step 3", 1, false},
		{"[Rank 1/8] step 3", "step 3", 1, false},
		{"[rank 3, step 9] loss 2", "[rank 3, step 9] loss 2", 3, false},
		{"[GPU3] Epoch 2 | Batchsize: 32 | Steps: 64", "Epoch 2 | Batchsize: 32 | Steps: 64", 3, true},
		{"rank 1 step 40 loss 2", "step 40 loss 2", 1, false},
		{"Rank 1, Epoch 3", "Epoch 3", 1, false},
		{"rank=4 | step=5", "step=5", 4, false},
		{"2026-11-30 10:00:00,1 INFO [rank 2] step 7", "2026-11-30 10:00:00,1 INFO [rank 2] step 7", 2, false},
		{"[2026-11-30 10:00:00] - train - INFO - rank 2: step 7",
		 "[2026-11-30 10:00:00] - train - INFO - rank 2: step 7", 2, false},
		{"INFO:root:[rank 5] step 1", "INFO:root:[rank 5] step 1", 5, false},
		{"INFO:root:waiting for [rank 5] step 1", "INFO:root:waiting for [rank 5] step 1", NO_RANK, false},
		{"rank 1 failed to answer", "rank 1 failed to answer", NO_RANK, false},
		{"[rankings 3] step 3", "[rankings 3] step 3", NO_RANK, false},
		{"[rank 3 of none", "[rank 3 of none", NO_RANK, false},
		{"lost rank 3 at step 4", "lost rank 3 at step 4", NO_RANK, false},
		{"rank 3", "rank 3", NO_RANK, false},
		{"[rank 123456789] step", "[rank 123456789] step", NO_RANK, false},
		{"[rank]: boom", "[rank]: boom", NO_RANK, false},
		{"[rank10000001]: boom", "[rank10000001]: boom", NO_RANK, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct logline l = parsed(rows[i].line);
		assert_true(span_eq(l.text, rows[i].text));
		assert_int_equal(l.rank, rows[i].rank);
		assert_int_equal(l.local_rank, rows[i].local);
	}
}

static void ray_names_the_process(void **state)
{
	(void)state;
	struct logline l = parsed("(RayTrainWorker pid=812, ip=10.0.0.2) [rank1]: loss 2.5");
	assert_int_equal(l.pid, 812);
	assert_int_equal(l.rank, 1);
	assert_true(span_eq(l.text, "loss 2.5"));
	assert_int_equal(parsed("(see pid) 1").pid, 0);
}

static void times_with_year_and_day_are_found(void **state)
{
	(void)state;
	struct logline l = parsed("[1970-01-02 00:00:01,250] step");
	assert_true(l.has_time && l.has_ms);
	assert_int_equal(l.time_unix_ms, 86401250);
	l = parsed("INFO 1970-01-02T00:00:01 step");
	assert_true(l.has_time);
	assert_false(l.has_ms);
	assert_int_equal(l.time_unix_ms, 86401000);
	assert_false(parsed("00:00:01 step").has_time);
	assert_false(parsed("1970-13-02 00:00:01 step").has_time);
}

static void control_sequences_are_removed_across_blocks(void **state)
{
	(void)state;
	struct ansi a = {0};
	char first[] = "a\033[3", second[] = "1mred\033[0m\n\033]0;title\007b";
	assert_int_equal(ansi_strip(&a, first, strlen(first)), 1);
	size_t n = ansi_strip(&a, second, strlen(second));
	assert_true(span_eq((struct span){second, n}, "red\nb"));
}

static void an_unfinished_sequence_ends_with_its_line(void **state)
{
	(void)state;
	struct ansi a = {0};
	char text[] = "a\033[12\nb\033]x\nc";
	size_t n = ansi_strip(&a, text, strlen(text));
	assert_true(span_eq((struct span){text, n}, "a\nb\nc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_all_launchers_are_taken_off),
		cmocka_unit_test(ray_names_the_process),
		cmocka_unit_test(times_with_year_and_day_are_found),
		cmocka_unit_test(control_sequences_are_removed_across_blocks),
		cmocka_unit_test(an_unfinished_sequence_ends_with_its_line),
	};
	return cmocka_run_group_tests_name("sense/log/logline", tests, NULL, NULL);
}
