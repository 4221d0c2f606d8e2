/* Numbers that lines count up, whatever words stand beside them. */
#include "testing.h"

#include <string.h>

#include "sense/framework/progresscount.h"

static struct progresscount count;
static uint64_t now_ns;

static void begin(void)
{
	count = (struct progresscount){.over = false};
	now_ns = NS_PER_S;
}

static void say(const char *line, uint64_t after_ms)
{
	now_ns += after_ms * NS_PER_MS;
	progresscount_line(&count, span_of(line), now_ns);
}

/* The lines from..to, each after so many milliseconds. */
static void count_up(const char *before, int from, int to, const char *behind, uint64_t after_ms)
{
	char line[200];
	for (int i = from; i <= to; i++) {
		snprintf(line, sizeof(line), "%s%d%s", before, i, behind);
		say(line, after_ms);
	}
}

static bool counts(uint64_t value)
{
	struct progresscount_found f;
	return progresscount_read(&count, &f) && f.value == value;
}

static void what_grows_by_one_is_a_count(void **state)
{
	(void)state;
	static const char *const forms[][2] = {
		{"trial ", " saved"}, {"chunk ", ""}, {"sent ", ": 300 bytes"}, {"worker 2: file ", ", 0.25 s"},
		{"shard ", ".tar written"}, {"[12:00:07.123] part ", " done"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		begin();
		count_up(forms[i][0], 0, 4, forms[i][1], 300);
		assert_false(counts(4)); /* too few to tell */
		count_up(forms[i][0], 5, 9, forms[i][1], 300);
		assert_true(counts(9));
	}
	struct progresscount_found f;
	assert_true(progresscount_read(&count, &f));
	assert_int_equal(f.at_ns, now_ns);
	assert_true(f.gap_ns > 200 * NS_PER_MS && f.gap_ns <= 300 * NS_PER_MS);
	assert_int_equal(f.total, 0);
}

static void numbers_of_other_kinds_do_not_count(void **state)
{
	(void)state;
	char line[64];
	begin();
	for (int i = 10; i < 40; i++) { /* a clock */
		snprintf(line, sizeof(line), "12:00:%d still here", i);
		say(line, 1000);
	}
	assert_false(counts(39));
	begin();
	count_up("loss 0.", 1, 30, "", 300);
	assert_false(counts(30));
	begin();
	count_up("got 10.0.0.", 1, 30, " as a peer", 300);
	assert_false(counts(30));
	begin();
	count_up("", 1, 30, "%", 300);
	assert_false(counts(30));
	begin();
	for (int i = 0; i < 30; i++) { /* by seven */
		snprintf(line, sizeof(line), "took %d ms", 7 * i);
		say(line, 300);
	}
	assert_false(counts(203));
	begin();
	count_up("layer ", 0, 30, " loaded", 1); /* a list, printed at once */
	assert_false(counts(30));
}

static void another_line_ends_it_unless_it_belongs_to_the_loop(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 10; i++) {
		count_up("shard ", i, i, " read", 150);
		say("and written", 150);
	}
	assert_true(counts(9));
	say("waiting for the GPU", 10);
	assert_false(counts(9));
	count_up("shard ", 10, 10, " read", 150);
	assert_true(counts(10));
	begin();
	count_up("part ", 1, 10, " of 40", 300);
	say("waiting for the GPU", 10); /* thirty are missing, whatever it says */
	struct progresscount_found f;
	assert_true(progresscount_read(&count, &f));
	assert_int_equal(f.total, 40);
	count_up("part ", 11, 40, " of 40", 300);
	assert_false(progresscount_read(&count, &f)); /* all are done */
}

static void ranks_that_share_an_output_count_side_by_side(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 12; i++) {
		count_up("rank 0, file ", i, i, "", 100);
		if (i > 0)
			count_up("rank 1, file ", i - 1, i - 1, "", 100);
	}
	assert_true(counts(11));
	count_up("rank 0, file ", 0, 5, "", 100); /* the next epoch */
	assert_true(counts(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grows_by_one_is_a_count),
		cmocka_unit_test(numbers_of_other_kinds_do_not_count),
		cmocka_unit_test(another_line_ends_it_unless_it_belongs_to_the_loop),
		cmocka_unit_test(ranks_that_share_an_output_count_side_by_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
