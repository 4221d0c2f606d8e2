/* The kept copy is written by a thread that may have to wait for its disk. */
#include "scratch_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "agent/output/keeper.h"
#include "base/clock.h"

static bool flush_for(struct keeper *k, uint64_t ms)
{
	return keeper_flush(k, clock_mono_ns, clock_mono_ns() + ms * NS_PER_MS, ms * NS_PER_MS);
}

/* A pipe that nobody reads stands for a disk that does not answer. */
static void a_disk_that_does_not_answer_holds_nobody_up_and_fills_what_may_wait(void **state)
{
	struct keeper k;
	int p[2];
	static char chunk[65536];
	uint64_t put = 0;
	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	keeper_init(&k, NULL, -1);
	struct keeper_file *f = keeper_file_open(&k, p[1], 0, false);
	memset(chunk, 'x', sizeof(chunk));
	for (; keeper_has_room(&k, 1); put += sizeof(chunk))
		keeper_put(&k, f, chunk, sizeof(chunk));
	assert_false(keeper_has_room(&k, 2));
	assert_in_range(put, KEEPER_WAITING_BYTES * 9 / 10, KEEPER_WAITING_BYTES + 65536);
	assert_false(flush_for(&k, 20));
	for (uint64_t got = 0; got < put;) { /* it answers again */
		ssize_t n = read(p[0], chunk, sizeof(chunk));
		assert_true(n > 0);
		got += (uint64_t)n;
	}
	assert_true(flush_for(&k, 20000));
	assert_true(keeper_has_room(&k, 2));
	keeper_stop(&k);
	closep(&p[0]);
}

static void pieces_come_in_order_and_closing_comes_last(void **state)
{
	struct keeper k;
	char text[32], all[65536] = "";
	size_t len;
	(void)state;
	keeper_init(&k, NULL, -1);
	int fd = open(scratch_path("log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct keeper_file *f = keeper_file_open(&k, fd, 3, true);
	for (int i = 0; i < 5000; i++) {
		int n = snprintf(text, sizeof(text), "%d\n", i);
		keeper_put(&k, f, text, (size_t)n);
	}
	keeper_gap(&k, f, 77);
	keeper_put(&k, NULL, "nowhere", 7);
	keeper_file_close(&k, f);
	assert_true(flush_for(&k, 20000));
	assert_int_equal(f->fd, -1);
	assert_int_equal(f->gap_bytes, 77);
	assert_int_equal(f->gaps, 1);
	assert_int_equal(file_read_at(AT_FDCWD, scratch_path("log"), all, sizeof(all), &len), 0);
	char *at = all;
	for (int i = 0; i < 5000; i++)
		assert_int_equal(strtol(at, &at, 10), i); /* NOLINT: numbers that were written above */
	assert_non_null(strstr(at, "[vigil: 77 bytes of output are not kept here"));
	assert_true(f->used);
	keeper_files_forget(&k);
	assert_false(f->used);
	keeper_stop(&k);
}

/* /dev/full takes nothing; -1 stands for a file that could not be made. */
static void the_end_of_what_a_disk_does_not_take_is_held_in_memory(void **state)
{
	(void)state;
	for (int there = 0; there < 2; there++) {
		struct keeper k;
		struct keptlogs job = {.most_bytes = MIB};
		static char chunk[65536], all[2 * MIB];
		char path[64];
		size_t len;
		keeper_init(&k, &job, -1);
		int fd = there ? open("/dev/full", O_WRONLY | O_CLOEXEC) : -1;
		struct keeper_file *f = keeper_file_open(&k, fd, 0, true);
		assert_non_null(f);
		assert_false(keeper_spare_path(f, path, sizeof(path)));
		memset(chunk, 'x', sizeof(chunk));
		for (int i = 0; i < 80; i++)
			keeper_put(&k, f, chunk, sizeof(chunk));
		keeper_put(&k, f, "the last word\n", 14);
		keeper_file_close(&k, f);
		assert_true(flush_for(&k, 20000));
		assert_int_equal(f->fd, -1);
		assert_true(f->error_said == !there);
		assert_true(keeper_spare_path(f, path, sizeof(path)));
		assert_int_equal(file_read_at(AT_FDCWD, path, all, sizeof(all), &len), 0);
		assert_in_range(len, KEEPER_SPARE_BYTES / 2, KEEPER_SPARE_BYTES);
		assert_memory_equal(all + len - 15, "xthe last word\n", 15);
		keeper_files_forget(&k);
		assert_false(f->used);
		keeper_stop(&k);
	}
}

static void the_limit_holds_while_it_is_written(void **state)
{
	struct keeper k;
	struct keptlogs job = {.most_bytes = MIB};
	static char chunk[65536];
	struct stat st;
	(void)state;
	memset(chunk, 'x', sizeof(chunk));
	keeper_init(&k, &job, -1);
	int fd = open(scratch_path("log"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct keeper_file *f = keeper_file_open(&k, fd, 0, false);
	for (int i = 0; i < 80; i++)
		keeper_put(&k, f, chunk, sizeof(chunk));
	assert_true(flush_for(&k, 20000));
	assert_true(k.trimmed);
	assert_in_range(job.kept_bytes, MIB / 2, MIB + 64 * sizeof(chunk));
	assert_int_equal(job.kept_bytes + job.left_out_bytes, 80 * sizeof(chunk));
	assert_int_equal(fstat(fd, &st), 0);
	keeper_stop(&k);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH(a_disk_that_does_not_answer_holds_nobody_up_and_fills_what_may_wait),
		SCRATCH(pieces_come_in_order_and_closing_comes_last),
		SCRATCH(the_end_of_what_a_disk_does_not_take_is_held_in_memory),
		SCRATCH(the_limit_holds_while_it_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
