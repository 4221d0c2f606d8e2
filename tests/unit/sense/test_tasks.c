#include "testing.h"
#include "world_fixture.h"

#include <sys/wait.h>

#include "sense/proc/tasks.h"

static void a_recorded_machine_lists_the_processes_that_have_memory(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct tasks t;
	assert_int_equal(tasks_init(&t, 16, -1), 0);
	assert_int_equal(tasks_scan(&t, &w), 0);
	assert_int_equal(t.source, TASKS_PROC);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.dropped, 0);
	for (size_t i = 1; i < t.n; i++)
		assert_true(t.rows[i - 1].pid < t.rows[i].pid);
	const struct task_row *r = tasks_find(&t, 4242);
	assert_non_null(r);
	assert_string_equal(r->comm, "python (train) ");
	assert_int_equal(r->ppid, 1);
	assert_int_equal(r->start_ticks, 88123);
	assert_int_equal(r->cpu_ticks, 300);
	assert_true(task_own_bytes(r) == (76800 - 2560) * UINT64_C(4096));
	assert_true(task_rss_bytes(r) == 76800 * UINT64_C(4096));
	assert_false(r->has_adj);
	assert_false(r->has_split);
	assert_null(tasks_find(&t, 2));
	assert_null(tasks_find(&t, 10001));
	tasks_done(&t);
	fixture_close(&w);
}

static void rows_that_do_not_fit_are_counted(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct tasks t;
	assert_int_equal(tasks_init(&t, 3, -1), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tasks_scan(&t, &w), 0);
		assert_int_equal(t.n, 3);
		assert_int_equal(t.dropped, 1);
	}
	tasks_done(&t);
	fixture_close(&w);
}

static void a_world_without_processes_is_absent(void **state)
{
	(void)state;
	struct world w = {.proc_fd = -1, .recorded = true};
	struct tasks t;
	assert_int_equal(tasks_init(&t, 0, -1), -EINVAL);
	assert_int_equal(tasks_init(&t, 3, -1), 0);
	assert_int_equal(tasks_scan(&t, &w), WORLD_ABSENT);
	assert_int_equal(t.n, 0);
	tasks_done(&t);
}

static void a_dead_iterator_is_made_good_from_proc(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tasks t;
	int not_a_link = dup(w.proc_fd);
	assert_int_equal(tasks_init(&t, 65536, not_a_link), 0);
	assert_int_equal(t.source, TASKS_BPF);
	assert_int_equal(tasks_scan(&t, &w), 0);
	assert_int_equal(t.source, TASKS_PROC);
	assert_non_null(tasks_find(&t, getpid()));
	tasks_done(&t);
	close(not_a_link);
	fixture_close(&w);
}

static void some_are_read_anew_and_the_others_stay(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tasks t;
	assert_int_equal(tasks_init(&t, 65536, -1), 0);
	assert_int_equal(tasks_scan(&t, &w), 0);
	int hold[2];
	assert_int_equal(pipe(hold), 0);
	pid_t child = fork();
	if (child == 0) {
		char c;
		close(hold[1]);
		_exit(read(hold[0], &c, 1) != 0);
	}
	close(hold[0]);
	size_t n = t.n;
	struct task_row *others = malloc(n * sizeof(*others));
	assert_non_null(others);
	memcpy(others, t.rows, n * sizeof(*others));
	tasks_refresh(&t, &w, (const pid_t[]){child, child, 0x7ffffff0}, 3);
	assert_int_equal(t.n, n + 1);
	const struct task_row *row = tasks_find(&t, child);
	assert_non_null(row);
	assert_int_equal(row->ppid, getpid());
	assert_true(task_rss_bytes(row) > 0);
	for (size_t i = 1; i < t.n; i++)
		assert_true(t.rows[i - 1].pid < t.rows[i].pid);
	close(hold[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	tasks_refresh(&t, &w, &child, 1);
	assert_int_equal(t.n, n);
	assert_memory_equal(t.rows, others, n * sizeof(*others));
	free(others);
	tasks_done(&t);
	fixture_close(&w);
}

/* Scans overlap with the life of others, so this looks only at ourselves. */
static void this_process_is_seen_as_proc_shows_it(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tasks t;
	struct proc_stat s;
	assert_int_equal(tasks_init(&t, 65536, -1), 0);
	assert_int_equal(tasks_scan(&t, &w), 0);
	assert_int_equal(proc_stat_read(&w, getpid(), &s), 0);
	const struct task_row *r = tasks_find(&t, getpid());
	assert_non_null(r);
	assert_int_equal(r->start_ticks, s.start_ticks);
	assert_int_equal(r->ppid, getppid());
	assert_true(task_rss_bytes(r) > 0);
	tasks_done(&t);
	fixture_close(&w);
}

static void sizes_alone_are_read_of_who_has_a_row(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tasks t;
	assert_int_equal(tasks_init(&t, 65536, -1), 0);
	assert_int_equal(tasks_scan(&t, &w), 0);
	struct task_row *row = (struct task_row *)tasks_find(&t, getpid());
	assert_non_null(row);
	const struct task_row before = *row;
	assert_true(tasks_resize(&t, &w, getpid()));
	assert_int_equal(row->ppid, before.ppid);
	assert_string_equal(row->comm, before.comm);
	assert_true(task_rss_bytes(row) > 0);
	/* parts of what is shared hold as long as there is as much of it */
	row->apart_pages = (uint32_t)(row->rss_file_bytes / w.page_bytes);
	row->rss_file_bytes -= w.page_bytes;
	row->rss_shmem_bytes = w.page_bytes;
	assert_true(tasks_resize(&t, &w, getpid()));
	if (row->apart_pages != 0)
		assert_int_equal(row->rss_shmem_bytes, w.page_bytes);
	row->apart_pages = 1;
	assert_true(tasks_resize(&t, &w, getpid()));
	assert_int_equal(row->apart_pages, 0);
	assert_int_equal(row->rss_shmem_bytes, 0);
	assert_false(tasks_resize(&t, &w, 0x7ffffff0));
	assert_false(tasks_resize(&t, &w, 2)); /* a thread of the kernel, where it is to be seen */
	tasks_done(&t);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_machine_lists_the_processes_that_have_memory),
		cmocka_unit_test(rows_that_do_not_fit_are_counted),
		cmocka_unit_test(a_world_without_processes_is_absent),
		cmocka_unit_test(a_dead_iterator_is_made_good_from_proc),
		cmocka_unit_test(some_are_read_anew_and_the_others_stay),
		cmocka_unit_test(this_process_is_seen_as_proc_shows_it),
		cmocka_unit_test(sizes_alone_are_read_of_who_has_a_row),
	};
	return cmocka_run_group_tests_name("sense/proc/tasks", tests, NULL, NULL);
}
