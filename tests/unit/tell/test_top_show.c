#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "tell/memory/top_show.h"
#include "tell/text/textout.h"

static struct footprint_row process;
static struct toplist_row row;
static struct toplist list;

static int begin(void **state)
{
	(void)state;
	process = (struct footprint_row){.pid = 4711,
					 .ppid = 1,
					 .has_role = true,
					 .who = {.rank = 3, .role = ROLE_MAIN},
					 .own_bytes = 3 * GIB / 2,
					 .rss_bytes = 2 * GIB,
					 .shared_bytes = GIB / 2};
	TEXT_COPY(process.job, "train-3f2a");
	TEXT_COPY(process.command, "python train.py --lr 0.1");
	row = (struct toplist_row){.process = &process,
				   .has_cpu = true,
				   .cpu_ratio = 1.25,
				   .has_time = true,
				   .cpu_ns = 3660 * NS_PER_S,
				   .state = 'R'};
	list = (struct toplist){.row = &row, .n = 1};
	return 0;
}

static void a_row_stands_under_its_titles(void **state)
{
	(void)state;
	struct top_show s;
	char titles[TOP_SHOW_LINE], line[TOP_SHOW_LINE];
	top_show_begin(&s, 0, &list);
	top_show_titles(&s, titles);
	top_show_row(&s, &row, line);
	assert_string_equal(titles, "     PID JOB              RANK ROLE          RES      SHR      OWN      PSS "
				    "  CPU%      TIME S COMMAND");
	assert_string_equal(line, "    4711 train-3f2a          3 main     2.00 GiB  512 MiB 1.50 GiB        - "
				  " 125.0  1 h 01 m R python train.py --lr 0.1");
}

static void users_are_told_apart_where_there_are_several(void **state)
{
	(void)state;
	struct toplist_row two[2] = {row, row};
	struct top_show s;
	char titles[TOP_SHOW_LINE], line[TOP_SHOW_LINE];
	list = (struct toplist){.row = two, .n = 2};
	TEXT_COPY(two[0].user, "ann");
	TEXT_COPY(two[1].user, "ann");
	top_show_begin(&s, 0, &list);
	top_show_titles(&s, titles);
	assert_null(strstr(titles, "USER"));
	two[1].user[0] = '\0'; /* ended meanwhile */
	top_show_begin(&s, 0, &list);
	assert_false(s.users);
	TEXT_COPY(two[1].user, "\033[31mbartholomew");
	top_show_begin(&s, 0, &list);
	top_show_titles(&s, titles);
	assert_memory_equal(titles, "     PID JOB              USER      RANK ", 40);
	top_show_row(&s, &two[0], line);
	assert_memory_equal(line, "    4711 train-3f2a       ann          3 ", 40);
	top_show_row(&s, &two[1], line);
	assert_memory_equal(line, "    4711 train-3f2a       ?[31mbar…    3 ", 42);
	top_show_begin(&s, 60, &list);
	top_show_titles(&s, titles);
	assert_null(strstr(titles, "USER"));
}

static void a_row_is_marked_folded_and_seen_further_right(void **state)
{
	(void)state;
	struct top_show s;
	char line[TOP_SHOW_LINE];
	row.folded = row.marked = true;
	top_show_begin(&s, 0, &list);
	top_show_row(&s, &row, line);
	assert_non_null(strstr(line, " 4711*train-3f2a"));
	assert_non_null(strstr(line, " R [+] python train.py --lr 0.1"));
	row.folded = false;
	s.skipped = 7;
	top_show_row(&s, &row, line);
	assert_non_null(strstr(line, " R train.py --lr 0.1"));
	s.skipped = 700;
	top_show_row(&s, &row, line);
	assert_string_equal(line + strlen(line) - 2, "R ");
	s.skipped = 0;
	s.base = true;
	TEXT_COPY(process.command, "/usr/bin/python /a/b.py");
	top_show_row(&s, &row, line);
	assert_non_null(strstr(line, " R python /a/b.py"));
}

static void a_gpu_has_a_column_where_one_is_used(void **state)
{
	(void)state;
	struct top_show s;
	char titles[TOP_SHOW_LINE];
	process.has_gpu = true;
	top_show_begin(&s, 0, &list);
	top_show_titles(&s, titles);
	assert_non_null(strstr(titles, " GPU "));
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	(void)state;
	memset(process.command, 'x', sizeof(process.command) - 1);
	memset(process.job, 'j', sizeof(process.job) - 1);
	row.depth = TOPLIST_DEEPEST;
	struct footprint f = {.ledger = {.n = 1}, .n_jobs = 2};
	f.ledger.level[0] = (struct ledger_level){
		.total_bytes = 1023 * MIB, .used_bytes = 1022 * MIB, .swap_total_bytes = 1023 * MIB};
	for (size_t width = 1; width < 200; width++) {
		size_t most = MAX(width, (size_t)TOP_SHOW_NARROWEST);
		struct top_show s;
		char line[4][TOP_SHOW_LINE];
		top_show_begin(&s, width, &list);
		top_show_titles(&s, line[0]);
		top_show_row(&s, &row, line[1]);
		top_show_level(&s, &f, 0, line[2]);
		top_show_sum(&s, &f, &list, line[3]);
		for (size_t i = 0; i < 4; i++)
			assert_true(textout_columns(line[i], strlen(line[i])) <= most);
		assert_non_null(strstr(line[1], "1.50 GiB"));
		assert_non_null(strstr(line[1], "4711"));
	}
}

static void control_characters_of_a_process_do_not_pass(void **state)
{
	(void)state;
	struct top_show s;
	char line[TOP_SHOW_LINE];
	TEXT_COPY(process.command, "a\x1b[31mb\nc\xff");
	TEXT_COPY(process.job, "\x1b]0;x");
	top_show_begin(&s, 0, &list);
	top_show_row(&s, &row, line);
	for (const char *p = line; *p; p++)
		assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
	assert_null(strchr(line, '\xff'));
}

static void the_sum_tells_of_what_is_hidden(void **state)
{
	(void)state;
	struct top_show s;
	struct footprint f = {.n_jobs = 1};
	char line[TOP_SHOW_LINE];
	top_show_begin(&s, 0, &list);
	top_show_sum(&s, &f, &list, line);
	assert_string_equal(line, "1 process, 1.50 GiB of their own; 1 job");
	list.hidden = 40;
	f.n_jobs = 3;
	top_show_sum(&s, &f, &list, line);
	assert_string_equal(line, "1 process, 1.50 GiB of their own; 3 jobs; 40 of no job are hidden (a)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_row_stands_under_its_titles, begin),
		cmocka_unit_test_setup(users_are_told_apart_where_there_are_several, begin),
		cmocka_unit_test_setup(a_row_is_marked_folded_and_seen_further_right, begin),
		cmocka_unit_test_setup(a_gpu_has_a_column_where_one_is_used, begin),
		cmocka_unit_test_setup(no_line_is_wider_than_the_terminal, begin),
		cmocka_unit_test_setup(control_characters_of_a_process_do_not_pass, begin),
		cmocka_unit_test_setup(the_sum_tells_of_what_is_hidden, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
