#include "agent/scratch_fixture.h"

#include "agent/jobs/keptoutput.h"
#include "agent/output/keptlog.h"

/* Appends a part of n bytes that all are this letter, and counts it. */
static void append(struct keptlog *k, int fd, char letter, size_t n)
{
	static char text[256 * 1024];
	assert_true(n <= sizeof(text));
	memset(text, letter, n);
	assert_int_equal(file_write_all(fd, text, n), 0);
	keptlog_wrote(k, n);
}

static uint64_t on_disk(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static char letter_at(int fd, off_t at)
{
	char c = 0;
	assert_int_equal(pread(fd, &c, 1, at), 1);
	return c;
}

static void the_beginning_and_the_end_stay(void **state)
{
	(void)state;
	struct keptlogs job = {.most_bytes = MIB};
	struct keptlog k = {.job = &job};
	cleanup(closep) int fd = open(scratch_path("log"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	append(&k, fd, 'a', 64 * KIB);
	for (int i = 0; i < 80; i++) {
		append(&k, fd, 'm', 64 * KIB);
		if (keptlogs_over(&job))
			assert_true(keptlog_trim(&k, fd));
		assert_true(job.kept_bytes <= MIB + 64 * KIB);
	}
	append(&k, fd, 'z', 10);
	assert_int_equal(keptlog_bytes(&k), job.kept_bytes);
	assert_int_equal(job.kept_bytes + job.left_out_bytes, 81 * 64 * KIB + 10);
	if (k.hole_to > k.hole_from) { /* else this file system has no holes */
		assert_int_equal(letter_at(fd, 0), 'a');
		assert_int_equal(letter_at(fd, 1), 'a');
		assert_int_equal(lseek(fd, 0, SEEK_END), 81 * 64 * KIB + 10);
		assert_true(k.hole_from >= 192 * KIB);
		assert_true(on_disk(fd) <= MIB + 192 * KIB);
	}
	assert_int_equal(letter_at(fd, lseek(fd, 0, SEEK_END) - 1), 'z');
}

static void without_a_limit_nothing_is_taken(void **state)
{
	(void)state;
	struct keptlogs job = {.most_bytes = 0};
	struct keptlog k = {.job = &job}, nobodys = {.job = NULL};
	keptlog_wrote(&k, 1U << 30);
	keptlog_wrote(&nobodys, 1U << 30);
	assert_false(keptlogs_over(&job));
	assert_int_equal(nobodys.size_bytes, 0);
}

static void a_file_that_gives_nothing_is_not_asked_again_at_once(void **state)
{
	(void)state;
	struct keptlogs job = {.most_bytes = MIB, .kept_bytes = 2 * MIB};
	struct keptlog k = {.job = &job};
	cleanup(closep) int fd = open(scratch_path("log"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	append(&k, fd, 'a', 64 * KIB);
	assert_true(keptlogs_over(&job));
	assert_false(keptlog_trim(&k, fd));
	assert_false(keptlogs_over(&job));
}

static void job_make(const char *id, size_t bytes, time_t when)
{
	static char text[MIB];
	char path[128];
	const struct timespec times[] = {{.tv_sec = when}, {.tv_sec = when}};
	TEXT_FORMAT(path, "state/jobs/%s/attempt-0", id);
	assert_int_equal(file_mkdirs(scratch_path(path), 0700), 0);
	TEXT_FORMAT(path, "state/jobs/%s/attempt-0/rank-0.out", id);
	assert_int_equal(utimensat(AT_FDCWD, scratch_put(path, text, bytes, 0600), times, 0), 0);
	TEXT_FORMAT(path, "state/jobs/%s/attempt-0/samples", id);
	(void)scratch_put(path, text, 100, 0600);
}

static bool has_output(const char *id)
{
	char path[128];
	TEXT_FORMAT(path, "state/jobs/%s/attempt-0/samples", id);
	assert_true(scratch_has(path)); /* nothing else is touched */
	TEXT_FORMAT(path, "state/jobs/%s/attempt-0/rank-0.out", id);
	return scratch_has(path);
}

static void the_output_of_the_oldest_ended_jobs_goes_first(void **state)
{
	(void)state;
	struct keptoutput_result r;
	job_make("old", MIB, 1000);
	job_make("runs", MIB, 500);
	job_make("newer", MIB, 2000);
	job_make("own", MIB, 3000);
	assert_int_equal(file_mkdirs(scratch_path("state/watched"), 0700), 0);
	(void)scratch_put("state/watched/runs", "x", 1, 0600);
	keptoutput_ended(scratch_path("state"), "own", MIB, 3 * MIB + MIB / 2, &r);
	assert_int_equal(r.jobs, 1);
	assert_true(!has_output("old") && has_output("runs") && has_output("newer") && has_output("own"));
	job_make("old", MIB, 1000);
	keptoutput_ended(scratch_path("state"), "own", 1, 3 * MIB, &r); /* too little has come since */
	assert_true(r.jobs == 0 && has_output("old"));
	keptoutput_ended(scratch_path("state"), "own", MIB, MIB, &r);
	assert_true(!has_output("old") && has_output("runs") && !has_output("newer") && has_output("own"));
	job_make("old", MIB, 1000);
	keptoutput_ended(scratch_path("state"), "own", GIB, 0, &r); /* no limit */
	assert_true(has_output("old"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(the_beginning_and_the_end_stay),
		IN_FOLDER(without_a_limit_nothing_is_taken),
		IN_FOLDER(a_file_that_gives_nothing_is_not_asked_again_at_once),
		IN_FOLDER(the_output_of_the_oldest_ended_jobs_goes_first),
	};
	return cmocka_run_group_tests_name("agent/keptlog", tests, NULL, NULL);
}
