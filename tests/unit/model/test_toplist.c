#include "testing.h"

#include "base/buf.h"
#include "model/memory/toplist.h"

static struct footprint_row rows[8];
static struct footprint footprint;

static void row(pid_t pid, pid_t ppid, uint64_t own, const char *job, const char *command)
{
	struct footprint_row *p = &rows[footprint.n++];
	*p = (struct footprint_row){.pid = pid, .ppid = ppid, .start_ticks = (uint64_t)pid * 10, .own_bytes = own};
	p->rss_bytes = 1000 - own;
	TEXT_COPY(p->job, job);
	TEXT_COPY(p->command, command);
}

static int begin(void **state)
{
	(void)state;
	footprint = (struct footprint){.rows = rows};
	row(10, 1, 5, "train", "launcher");
	row(11, 10, 50, "train", "python rank 0");
	row(12, 10, 70, "train", "python rank 1");
	row(13, 11, 90, "train", "loader");
	row(99, 1, 400, "", "stranger");
	return 0;
}

static struct toplist_look look(pid_t pid, uint64_t cpu_ns)
{
	return (struct toplist_look){.id = {pid, (uint64_t)pid * 10}, .cpu_ns = cpu_ns, .state = 'S'};
}

/* The pids in order, with a dot for each level of the tree: "10 .12 .11 ..13". */
static const char *order(const struct toplist_want *w)
{
	static char text[256];
	struct buf b = {.text = text, .cap = sizeof(text)};
	struct toplist l;
	buf_reset(&b);
	assert_int_equal(toplist_make(&footprint, NULL, 0, NULL, 0, 0, w, &l), 0);
	for (size_t i = 0; i < l.n; i++)
		buf_printf(&b, "%s%.*s%d", i ? " " : "", (int)l.row[i].depth, "................",
			   (int)l.row[i].process->pid);
	toplist_done(&l);
	return text;
}

static void the_largest_come_first_and_strangers_are_hidden(void **state)
{
	(void)state;
	struct toplist l;
	assert_string_equal(order(&(struct toplist_want){.sort = TOPLIST_OWN}), "13 12 11 10");
	assert_string_equal(order(&(struct toplist_want){.sort = TOPLIST_RESIDENT}), "10 11 12 13");
	assert_string_equal(order(&(struct toplist_want){.sort = TOPLIST_PID, .all = true}), "10 11 12 13 99");
	assert_int_equal(toplist_make(&footprint, NULL, 0, NULL, 0, 0, &(struct toplist_want){.filter = ""}, &l), 0);
	assert_int_equal(l.hidden, 1);
	toplist_done(&l);
}

static void in_a_tree_children_stand_under_their_parents(void **state)
{
	(void)state;
	assert_string_equal(order(&(struct toplist_want){.tree = true}), "10 .12 .11 ..13");
	assert_string_equal(order(&(struct toplist_want){.tree = true, .filter = "rank"}), "12 11");
}

static void parents_in_a_circle_lose_nobody(void **state)
{
	(void)state;
	rows[0].ppid = 13;
	assert_string_equal(order(&(struct toplist_want){.tree = true}), "13 .10 ..12 ..11");
	rows[0].ppid = 10;
	assert_string_equal(order(&(struct toplist_want){.tree = true}), "13 12 11 10");
}

static void a_filter_finds_commands_jobs_and_numbers(void **state)
{
	(void)state;
	assert_string_equal(order(&(struct toplist_want){.filter = "PYTHON"}), "12 11");
	assert_string_equal(order(&(struct toplist_want){.filter = "12"}), "12");
	assert_string_equal(order(&(struct toplist_want){.filter = "trai"}), "13 12 11 10");
	assert_string_equal(order(&(struct toplist_want){.filter = "stranger"}), "");
	assert_string_equal(order(&(struct toplist_want){.filter = "stranger", .all = true}), "99");
}

static void cpu_is_what_was_used_between_two_looks_at_the_same_process(void **state)
{
	(void)state;
	struct toplist_look was[] = {look(11, 100), look(12, 100), look(13, 7)};
	struct toplist_look now[] = {look(10, 40), look(11, 150), look(12, 300), look(13, 7)};
	struct toplist l;
	was[2].id.start_ticks = 1; /* its number was another process's */
	const struct toplist_want w = {.sort = TOPLIST_CPU};
	assert_int_equal(toplist_make(&footprint, was, 3, now, 4, 100, &w, &l), 0);
	assert_int_equal(l.row[0].process->pid, 12);
	assert_true(l.row[0].has_cpu && l.row[0].cpu_ratio > 1.99 && l.row[0].cpu_ratio < 2.01);
	assert_int_equal(l.row[1].process->pid, 11);
	assert_true(l.row[1].cpu_ratio > 0.49 && l.row[1].cpu_ratio < 0.51);
	assert_false(l.row[2].has_cpu || l.row[3].has_cpu);
	assert_int_equal(l.row[0].state, 'S');
	toplist_done(&l);
	assert_int_equal(toplist_make(&footprint, was, 3, now, 4, 0, &w, &l), 0);
	assert_false(l.row[0].has_cpu);
	toplist_done(&l);
}

static void an_order_is_turned_round_and_users_are_chosen(void **state)
{
	(void)state;
	struct toplist_look now[] = {look(10, 40), look(11, 900), look(12, 300), look(13, 7)};
	struct toplist l;
	assert_string_equal(order(&(struct toplist_want){.inverted = true}), "10 11 12 13");
	for (size_t i = 0; i < ARRAY_SIZE(now); i++)
		now[i].has_uid = true, now[i].uid = i < 2 ? 1000 : 1001;
	const struct toplist_want w = {.sort = TOPLIST_TIME, .has_uid = true, .uid = 1000};
	assert_int_equal(toplist_make(&footprint, NULL, 0, now, 4, 0, &w, &l), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.row[0].process->pid, 11);
	assert_true(l.row[0].has_time && l.row[0].cpu_ns == 900);
	assert_int_equal(l.row[1].process->pid, 10);
	toplist_done(&l);
}

static void in_a_tree_the_processes_of_a_job_stand_together(void **state)
{
	(void)state;
	footprint.n = 0;
	row(10, 1, 50, "train", "python rank 0");
	row(20, 1, 90, "eval", "python rank 0");
	row(11, 1, 100, "train", "python rank 1");
	row(99, 1, 400, "", "stranger");
	row(21, 20, 10, "eval", "loader");
	assert_string_equal(order(&(struct toplist_want){.all = true}), "99 11 20 10 21");
	assert_string_equal(order(&(struct toplist_want){.all = true, .tree = true}), "11 10 20 .21 99");
}

static void what_is_below_a_folded_row_is_not_shown(void **state)
{
	(void)state;
	const struct proc_id folded[] = {{11, 110}, {13, 130}};
	struct toplist_want w = {.tree = true, .folded = folded, .n_folded = 2};
	struct toplist l;
	assert_string_equal(order(&w), "10 .12 .11");
	assert_int_equal(toplist_make(&footprint, NULL, 0, NULL, 0, 0, &w, &l), 0);
	assert_true(l.row[2].folded && !l.row[1].folded && !l.row[0].folded);
	toplist_done(&l);
	w.tree = false;
	assert_string_equal(order(&w), "13 12 11 10");
}

static void of_no_process_there_is_an_empty_list(void **state)
{
	(void)state;
	footprint.n = 0;
	assert_string_equal(order(&(struct toplist_want){.tree = true, .all = true}), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_largest_come_first_and_strangers_are_hidden, begin),
		cmocka_unit_test_setup(in_a_tree_children_stand_under_their_parents, begin),
		cmocka_unit_test_setup(in_a_tree_the_processes_of_a_job_stand_together, begin),
		cmocka_unit_test_setup(parents_in_a_circle_lose_nobody, begin),
		cmocka_unit_test_setup(a_filter_finds_commands_jobs_and_numbers, begin),
		cmocka_unit_test_setup(cpu_is_what_was_used_between_two_looks_at_the_same_process, begin),
		cmocka_unit_test_setup(an_order_is_turned_round_and_users_are_chosen, begin),
		cmocka_unit_test_setup(what_is_below_a_folded_row_is_not_shown, begin),
		cmocka_unit_test_setup(of_no_process_there_is_an_empty_list, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
