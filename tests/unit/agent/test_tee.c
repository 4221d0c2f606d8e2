/* A rank's output on its way to our own and into its log. */
#include "scratch_fixture.h"

#include "agent/run/outbuf.h"
#include "agent/run/tee.h"
#include "base/clock.h"

/* A pipe in the job's place, an output buffer on a file, and a log. */
struct way {
	int job_fd; /* the job's end */
	struct outbuf to;
	struct tee t;
	int out_fd, log_fd;
};

static void way_open(struct way *x)
{
	int p[2];
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
	x->job_fd = p[1];
	x->out_fd = open(scratch_path("out"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	x->log_fd = open(scratch_path("log"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(x->out_fd >= 0 && x->log_fd >= 0);
	outbuf_open(&x->to, -1, x->out_fd);
	tee_open(&x->t, p[0], &x->to, x->log_fd);
}

static void way_close(struct way *x)
{
	tee_close(&x->t);
	closep(&x->job_fd);
	outbuf_close(&x->to);
	closep(&x->out_fd);
}

static void job_says(struct way *x, const char *text)
{
	assert_int_equal(write(x->job_fd, text, strlen(text)), strlen(text));
}

static void holds(const char *name, const char *expected)
{
	char text[4096];
	size_t len;
	assert_int_equal(file_read_at(AT_FDCWD, scratch_path(name), text, sizeof(text), &len), 0);
	assert_string_equal(text, expected);
}

static void output_goes_on_unchanged_and_into_the_log(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	job_says(&x, "step 1\nstep 2");
	assert_true(tee_pump(&x.t));
	job_says(&x, "\r\x1b[0m\n");
	assert_true(tee_pump(&x.t));
	holds("out", "step 1\nstep 2\r\x1b[0m\n");
	holds("log", "step 1\nstep 2\r\x1b[0m\n");
	assert_int_equal(x.t.bytes, 19);
	way_close(&x);
}

static void nothing_to_read_is_no_end(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	assert_true(tee_pump(&x.t));
	assert_true(x.t.from_fd >= 0);
	way_close(&x);
}

static void the_end_of_output_closes_the_channel(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	job_says(&x, "bye");
	closep(&x.job_fd);
	assert_true(tee_pump(&x.t));
	assert_false(tee_pump(&x.t));
	assert_int_equal(x.t.from_fd, -1);
	assert_false(tee_pump(&x.t)); /* asked again */
	holds("log", "bye");
	way_close(&x);
}

static void the_last_line_is_the_last_that_is_not_empty(void **state)
{
	static const struct {
		const char *said, *last, *line;
	} cases[] = {
		{"one\ntwo\n\n\n", "two", ""},
		{"one\ntwo", "one", "two"},
		{"50 %\r60 %\r", "60 %", ""},
		{"\n\n", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct way x;
		way_open(&x);
		job_says(&x, cases[i].said);
		assert_true(tee_pump(&x.t));
		assert_int_equal(x.t.last_len, strlen(cases[i].last));
		assert_memory_equal(x.t.last, cases[i].last, x.t.last_len);
		assert_int_equal(x.t.line_len, strlen(cases[i].line));
		assert_memory_equal(x.t.line, cases[i].line, x.t.line_len);
		way_close(&x);
	}
}

static void a_line_that_is_too_long_is_cut_and_the_next_one_is_whole(void **state)
{
	struct way x;
	char text[TEE_LAST_LINE * 3];
	(void)state;
	way_open(&x);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 2] = '\n';
	text[sizeof(text) - 1] = '\0';
	job_says(&x, text);
	assert_true(tee_pump(&x.t));
	assert_int_equal(x.t.last_len, TEE_LAST_LINE);
	job_says(&x, "short\n");
	assert_true(tee_pump(&x.t));
	assert_int_equal(x.t.last_len, 5);
	way_close(&x);
}

static void equal_last_lines_have_equal_hashes(void **state)
{
	uint64_t hash[3] = {0};
	static const char *const said[] = {"noise\nstep 7: loss 2.5\n", "step 7: loss 2.5", "step 8: loss 2.5\n"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct way x;
		way_open(&x);
		assert_false(tee_last_line_hash(&x.t, &hash[i]));
		job_says(&x, said[i]);
		assert_true(tee_pump(&x.t));
		assert_true(tee_last_line_hash(&x.t, &hash[i]));
		way_close(&x);
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

static void a_log_that_cannot_be_written_is_given_up_and_output_passes(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	closep(&x.t.log_fd);
	x.t.log_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(x.t.log_fd >= 0);
	job_says(&x, "one");
	assert_true(tee_pump(&x.t));
	assert_true(x.t.log_failed);
	assert_int_equal(x.t.log_errno, ENOSPC);
	assert_int_equal(x.t.log_fd, -1);
	job_says(&x, "two");
	assert_true(tee_pump(&x.t));
	holds("out", "onetwo");
	way_close(&x);
}

static void a_reader_that_has_gone_closes_the_jobs_end(void **state)
{
	struct way x;
	int p[2];
	(void)state;
	way_open(&x);
	outbuf_close(&x.to);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	(void)signal(SIGPIPE, SIG_IGN);
	outbuf_open(&x.to, -1, p[1]);
	closep(&p[0]);
	job_says(&x, "anybody?");
	assert_false(tee_pump(&x.t));
	assert_int_equal(x.t.from_fd, -1);
	assert_int_equal(write(x.job_fd, "x", 1), -1); /* as it would be without vigil */
	assert_int_equal(errno, EPIPE);
	way_close(&x);
	closep(&p[1]);
}

static void a_full_buffer_leaves_the_output_with_the_job(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	x.to.len = OUTBUF_FULL_BYTES;
	job_says(&x, "later");
	assert_true(tee_pump(&x.t));
	assert_int_equal(x.t.bytes, 0);
	x.to.len = 0;
	assert_true(tee_pump(&x.t));
	assert_int_equal(x.t.bytes, 5);
	way_close(&x);
}

static void what_is_still_on_its_way_is_read_before_the_end(void **state)
{
	struct way x;
	(void)state;
	way_open(&x);
	job_says(&x, "last words");
	tee_finish(&x.t, clock_mono_ns, clock_mono_ns() + 20 * NS_PER_MS); /* the pipe stays open: until the deadline */
	assert_int_equal(x.t.from_fd, -1);
	holds("log", "last words");
	way_close(&x);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH(output_goes_on_unchanged_and_into_the_log),
		SCRATCH(nothing_to_read_is_no_end),
		SCRATCH(the_end_of_output_closes_the_channel),
		SCRATCH(the_last_line_is_the_last_that_is_not_empty),
		SCRATCH(a_line_that_is_too_long_is_cut_and_the_next_one_is_whole),
		SCRATCH(equal_last_lines_have_equal_hashes),
		SCRATCH(a_log_that_cannot_be_written_is_given_up_and_output_passes),
		SCRATCH(a_reader_that_has_gone_closes_the_jobs_end),
		SCRATCH(a_full_buffer_leaves_the_output_with_the_job),
		SCRATCH(what_is_still_on_its_way_is_read_before_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
