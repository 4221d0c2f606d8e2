/* When the list of who has something open is whole, in worlds made for it. */
#include "agent/made_world.h"

#include "sense/wait/fdholders.h"

static struct made_world m;
static struct kinship kin;
static struct fdsearch search;
static const struct fdobject the_pipe = {FDOBJECT_PIPE, 5};

static void process(pid_t pid, pid_t ppid, uint64_t start_ticks, const char *group)
{
	char path[64];
	made_process(&m, &(struct made_process){
				 .pid = pid, .ppid = ppid, .comm = "x", .start_ticks = start_ticks, .group = group});
	TEXT_FORMAT(path, "proc/%d/fd", (int)pid);
	made_folder(&m, path);
	TEXT_FORMAT(path, "proc/%d/fdinfo", (int)pid);
	made_folder(&m, path);
}

/* A process whose descriptors cannot be listed: its folder of them is none. */
static void stranger(pid_t pid, pid_t ppid, uint64_t start_ticks, const char *group)
{
	char path[64];
	made_process(&m, &(struct made_process){
				 .pid = pid, .ppid = ppid, .comm = "y", .start_ticks = start_ticks, .group = group});
	TEXT_FORMAT(path, "proc/%d/fd", (int)pid);
	made_write(&m, path, "", 0);
}

static void descriptor(pid_t pid, int fd, const char *link, const char *info)
{
	char path[400];
	TEXT_FORMAT(path, "%s/proc/%d/fd/%d", m.dir, (int)pid, fd);
	assert_int_equal(symlink(link, path), 0);
	TEXT_FORMAT(path, "proc/%d/fdinfo/%d", (int)pid, fd);
	made_write(&m, path, info, strlen(info));
}

#define READS "pos:\t0\nflags:\t00\nmnt_id:\t14\n"
#define WRITES "pos:\t0\nflags:\t01\nmnt_id:\t14\n"

/* init, sshd, a shell, a launcher and two ranks with the two ends of a pipe. */
static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	process(1, 0, 1, "/");
	process(10, 1, 10, "/ssh");
	process(20, 10, 20, "/session");
	process(30, 20, 30, "/session");
	process(40, 30, 40, "/session");
	process(41, 30, 41, "/session");
	descriptor(40, 3, "pipe:[5]", READS);
	descriptor(41, 4, "pipe:[5]", WRITES);
	descriptor(41, 5, "pipe:[6]", WRITES);
	return 0;
}

static int end(void **state)
{
	(void)state;
	kinship_done(&kin);
	fdsearch_done(&search);
	made_end(&m);
	return 0;
}

static bool is_whole_until(uint64_t until_ns, const struct sockpeer_table *socks)
{
	struct fdtable table[2];
	kinship_done(&kin);
	fdsearch_done(&search);
	assert_int_equal(kinship_read(&m.w, &kin), 0);
	for (int i = 0; i < 2; i++) {
		struct kin *k = kinship_find(&kin, 40 + i);
		assert_non_null(k);
		k->wanted = k->listed = true;
		assert_int_equal(fdtable_read(&m.w, 40 + i, false, &table[i]), 0);
	}
	kinship_rate(&kin);
	assert_int_equal(fdsearch_want(&search, the_pipe), 0);
	if (socks)
		assert_int_equal(fdsearch_suspect(&search, socks), 0);
	assert_int_equal(fdsearch_run(&m.w, &kin, table, 2, until_ns, &search), 0);
	fdtable_done(&table[0]);
	fdtable_done(&table[1]);
	return fdsearch_is_whole(&m.w, &search, &kin, &the_pipe, 1);
}

static bool is_whole(void)
{
	return is_whole_until(made_now_ns, NULL);
}

static void all_processes_were_listed(void **state)
{
	(void)state;
	size_t n;
	assert_true(is_whole());
	const struct fdheld *h = fdsearch_holders(&search, the_pipe, &n);
	assert_int_equal(n, 2);
	assert_true(h[0].pid == 40 && h[0].access == O_RDONLY && h[1].pid == 41 && h[1].access == O_WRONLY);
	assert_int_equal(search.n_denied, 0);
	/* Both ends in one process count as both. */
	descriptor(20, 9, "pipe:[5]", READS);
	descriptor(20, 10, "pipe:[5]", WRITES);
	assert_true(is_whole());
	h = fdsearch_holders(&search, the_pipe, &n);
	assert_true(n == 3 && h[0].pid == 20 && h[0].access == O_RDWR);
	assert_null(fdsearch_holders(&search, (struct fdobject){FDOBJECT_PIPE, 6}, &n));
	assert_int_equal(n, 0);
}

static void strangers_that_cannot_have_inherited_it_do_not_matter(void **state)
{
	(void)state;
	stranger(50, 1, 5, "/session"); /* older than the launcher */
	stranger(51, 10, 99, "/other"); /* later, in another session and another control group */
	assert_true(is_whole());
	assert_int_equal(search.n_denied, 2);
}

static void strangers_that_may_have_inherited_it_do(void **state)
{
	(void)state;
	stranger(50, 41, 50, "/other"); /* a rank's child */
	assert_false(is_whole());
	made_gone(&m, 50);
	assert_true(is_whole());
	stranger(50, 30, 35, "/other"); /* the launcher's */
	assert_false(is_whole());
	made_gone(&m, 50);
	stranger(50, 1, 50, "/session"); /* an orphan of the same control group */
	assert_false(is_whole());
}

static void a_parent_that_cannot_be_listed_may_have_it(void **state)
{
	(void)state;
	made_gone(&m, 30);
	stranger(30, 20, 30, "/session");
	assert_false(is_whole());
}

static void a_holder_whose_parent_ended_may_share_it_with_anybody(void **state)
{
	(void)state;
	made_gone(&m, 30);
	made_gone(&m, 40);
	process(40, 1, 40, "/session");
	descriptor(40, 3, "pipe:[5]", READS);
	made_gone(&m, 41);
	process(41, 1, 41, "/session");
	assert_true(is_whole());
	stranger(50, 1, 5, "/other");
	assert_false(is_whole());
}

static void a_launcher_with_a_copy_moves_the_question_up(void **state)
{
	(void)state;
	descriptor(30, 7, "pipe:[5]", READS);
	stranger(50, 1, 5, "/other");
	assert_true(is_whole());
	/* The shell is the launcher's parent: its children count now. */
	stranger(51, 20, 25, "/other");
	assert_false(is_whole());
}

static void a_ring_may_keep_files_that_no_descriptor_shows(void **state)
{
	(void)state;
	descriptor(40, 8, "anon_inode:[io_uring]", READS);
	assert_false(is_whole());
}

static void descriptors_on_their_way_are_counted(void **state)
{
	(void)state;
	struct sockpeer item[] = {
		{.inode = 70, .is_unix = true, .queue_known = true},
		{.inode = 71, .is_unix = true, .queue_known = true, .receive_queue_bytes = 1},
	};
	const struct sockpeer_table socks = {.item = item, .n = ARRAY_SIZE(item)};
	descriptor(20, 4, "socket:[71]", "flags:\t02\nscm_fds: 0\n");
	assert_true(is_whole_until(made_now_ns, &socks));
	made_write(&m, "proc/20/fdinfo/4", "flags:\t02\nscm_fds: 1\n", 21);
	assert_false(is_whole_until(made_now_ns, &socks));
	made_write(&m, "proc/20/fdinfo/4", "flags:\t02\n", 10); /* before Linux 5.6 */
	assert_false(is_whole_until(made_now_ns, &socks));
	/* A socket that no process has is on its way itself. */
	made_gone(&m, 20);
	process(20, 10, 20, "/session");
	assert_false(is_whole_until(made_now_ns, &socks));
}

static void a_search_that_ran_out_of_time_is_not_whole(void **state)
{
	(void)state;
	assert_false(is_whole_until(made_now_ns - 1, NULL));
	assert_true(search.cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_processes_were_listed, begin, end),
		cmocka_unit_test_setup_teardown(strangers_that_cannot_have_inherited_it_do_not_matter, begin, end),
		cmocka_unit_test_setup_teardown(strangers_that_may_have_inherited_it_do, begin, end),
		cmocka_unit_test_setup_teardown(a_parent_that_cannot_be_listed_may_have_it, begin, end),
		cmocka_unit_test_setup_teardown(a_holder_whose_parent_ended_may_share_it_with_anybody, begin, end),
		cmocka_unit_test_setup_teardown(a_launcher_with_a_copy_moves_the_question_up, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_may_keep_files_that_no_descriptor_shows, begin, end),
		cmocka_unit_test_setup_teardown(descriptors_on_their_way_are_counted, begin, end),
		cmocka_unit_test_setup_teardown(a_search_that_ran_out_of_time_is_not_whole, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
