/* A rank's output on its way to our own and into its log. */
#include "scratch_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/output/outbuf.h"
#include "agent/output/tee.h"
#include "base/clock.h"

/* A pipe in the job's place, an output buffer on a file, and a kept copy. */
struct way {
	int job_fd; /* the job's end */
	struct outbuf to;
	struct keeper keeper;
	struct keeper_file *file;
	struct tee t;
	int out_fd;
};

static void way_begin(struct way *x, int out_fd, int log_fd)
{
	int p[2];
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
	x->job_fd = p[1];
	x->out_fd = out_fd;
	assert_true(out_fd >= 0 && log_fd >= 0);
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	outbuf_open(&x->to, proc, out_fd);
	keeper_init(&x->keeper, NULL, -1);
	x->file = keeper_file_open(&x->keeper, log_fd, 0, false);
	tee_open(&x->t, p[0], &x->to, &x->keeper, x->file);
}

static int scratch_open(const char *name)
{
	return open(scratch_path(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void way_open(struct way *x)
{
	way_begin(x, scratch_open("out"), scratch_open("log"));
}

static void way_kept(struct way *x)
{
	assert_true(keeper_flush(&x->keeper, clock_mono_ns, clock_mono_ns() + 20 * NS_PER_S, 20 * NS_PER_S));
}

static void way_close(struct way *x)
{
	tee_close(&x->t);
	way_kept(x);
	keeper_stop(&x->keeper);
	closep(&x->job_fd);
	outbuf_close(&x->to);
	closep(&x->out_fd);
}

static void job_says(struct way *x, const char *text)
{
	assert_int_equal(write(x->job_fd, text, strlen(text)), strlen(text));
}

static void job_says_bytes(struct way *x, const char *p, size_t n)
{
	assert_int_equal(write(x->job_fd, p, n), n);
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
	way_kept(&x);
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
	way_kept(&x);
	holds("log", "bye");
	way_close(&x);
}

static void a_log_that_cannot_be_written_is_given_up_and_output_passes(void **state)
{
	struct way x;
	(void)state;
	way_begin(&x, scratch_open("out"), open("/dev/full", O_WRONLY | O_CLOEXEC));
	job_says(&x, "one");
	assert_true(tee_pump(&x.t));
	way_kept(&x);
	assert_int_equal(x.file->error, ENOSPC);
	assert_int_equal(x.file->fd, -1);
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
	way_kept(&x);
	holds("log", "last words");
	way_close(&x);
}

/* ---- more than can be kept ---- */

/* What a job writes: lines with numbers. */
#define LINE_BYTES 64
static void line_make(char *dst, uint64_t n)
{
	char text[LINE_BYTES + 1];
	(void)snprintf(text, sizeof(text), "%0*llu\n", LINE_BYTES - 1, (unsigned long long)n);
	memcpy(dst, text, LINE_BYTES);
}

struct flood {
	int fd;
	uint64_t lines;
	bool half; /* the last line has no end */
};

static void *flood_main(void *arg)
{
	struct flood *f = arg;
	static char block[LINE_BYTES * 1024];
	for (uint64_t i = 0; i < f->lines;) {
		size_t n = 0;
		for (; n + LINE_BYTES <= sizeof(block) && i < f->lines; i++, n += LINE_BYTES)
			line_make(block + n, i);
		if (f->half && i == f->lines)
			n--;
		if (file_write_all(f->fd, block, n) < 0)
			break;
	}
	close(f->fd);
	return NULL;
}

struct sink {
	int fd;
	uint64_t bytes, wrong;
};

static void *sink_main(void *arg)
{
	struct sink *s = arg;
	static char block[65536];
	char line[LINE_BYTES];
	for (ssize_t n; (n = read(s->fd, block, sizeof(block))) > 0;)
		for (size_t i = 0, part; i < (size_t)n; i += part, s->bytes += part) {
			size_t at = s->bytes % LINE_BYTES;
			part = MIN((size_t)n - i, LINE_BYTES - at);
			line_make(line, s->bytes / LINE_BYTES);
			s->wrong += memcmp(block + i, line + at, part) != 0;
		}
	return NULL;
}

/* Every line of the kept copy is one of the job's, and what is missing is what is said to be. */
static uint64_t copy_check(uint64_t lines, bool half)
{
	char line[256], expected[LINE_BYTES];
	uint64_t next = 0, gaps = 0;
	FILE *f = fopen(scratch_path("log"), "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) { /* NOLINT: short lines */
		unsigned long long gap;
		if (sscanf(line, "[vigil: %llu bytes", &gap) == 1) {
			assert_int_equal(gap % LINE_BYTES, 0);
			next += gap / LINE_BYTES;
			gaps++;
			continue;
		}
		line_make(expected, next++);
		assert_memory_equal(line, expected, half && next == lines ? LINE_BYTES - 1 : LINE_BYTES);
	}
	(void)fclose(f);
	assert_int_equal(next, lines);
	return gaps;
}

/* The loop of the thread that passes output on. pauses: those that this machine makes count as the job's. */
static void pass_all(struct way *x, bool pauses)
{
	while (x->t.from_fd >= 0 || outbuf_waits(&x->to)) {
		bool full = outbuf_is_full(&x->to);
		struct pollfd p[2] = {{.fd = full ? -1 : x->t.from_fd, .events = POLLIN},
				      {.fd = outbuf_waits(&x->to) ? x->to.fd : -1, .events = POLLOUT}};
		assert_true(poll(p, 2, 10000) >= 0);
		if (p[1].revents)
			assert_int_equal(outbuf_push(&x->to), 0);
		if (p[0].revents)
			(void)tee_pump(&x->t);
		if (pauses)
			tee_look(&x->t);
	}
}

enum sort { TO_PIPE, TO_FILE, TO_APPENDED };

/* Returns how many gaps the kept copy has. */
static uint64_t flood_through(enum sort sort, uint64_t lines, bool half, bool in_debt)
{
	struct way x;
	int p[2] = {-1, -1};
	pthread_t writer, reader;
	(void)signal(SIGPIPE, SIG_IGN);
	if (sort == TO_PIPE)
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	int out = sort == TO_PIPE ? p[1] : scratch_open("out");
	if (sort == TO_APPENDED)
		assert_int_equal(fcntl(out, F_SETFL, O_APPEND), 0);
	way_begin(&x, out, scratch_open("log"));
	if (in_debt) /* more than is earned meanwhile, however slow the machine is */
		x.t.tokens = -(int64_t)GIB;
	struct flood f = {.fd = x.job_fd, .lines = lines, .half = half};
	struct sink s = {.fd = sort == TO_PIPE ? p[0] : open(scratch_path("out"), O_RDONLY | O_CLOEXEC)};
	x.job_fd = -1;
	assert_int_equal(pthread_create(&writer, NULL, flood_main, &f), 0);
	if (sort == TO_PIPE)
		assert_int_equal(pthread_create(&reader, NULL, sink_main, &s), 0);
	pass_all(&x, !in_debt);
	(void)pthread_join(writer, NULL);
	assert_int_equal(x.t.last.line_len, half ? LINE_BYTES - 1 : 0);
	assert_int_equal(x.t.last.last_len, LINE_BYTES - 1);
	char last[LINE_BYTES];
	line_make(last, lines - (half ? 2 : 1));
	assert_memory_equal(x.t.last.last, last, LINE_BYTES - 1);
	way_close(&x);
	if (sort == TO_PIPE)
		(void)pthread_join(reader, NULL);
	else
		(void)sink_main(&s);
	closep(&s.fd);
	assert_int_equal(s.bytes, lines * LINE_BYTES - half);
	assert_int_equal(s.wrong, 0);
	return copy_check(lines, half);
}

static void what_is_too_fast_arrives_whole_and_the_gap_is_counted(void **state)
{
	(void)state;
	for (enum sort sort = TO_PIPE; sort <= TO_APPENDED; sort++)
		for (int half = 0; half < 2; half++)
			assert_true(flood_through(sort, 1 << 19, half, true) > 0); /* 32 MiB */
}

/* In the middle of a rush. */
static void a_file_that_takes_no_more_closes_the_jobs_end(void **state)
{
	(void)state;
	for (int append = 0; append < 2; append++) {
		struct way x;
		struct stat st;
		pthread_t writer;
		const off_t most = (off_t)(3 * MIB + 100);
		int out = memfd_create("full", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		(void)signal(SIGPIPE, SIG_IGN);
		assert_int_equal(ftruncate(out, most), 0);
		assert_int_equal(fcntl(out, F_ADD_SEALS, F_SEAL_GROW), 0);
		assert_int_equal(fcntl(out, F_SETFL, append ? O_APPEND : 0), 0);
		way_begin(&x, out, scratch_open("log"));
		x.t.tokens = -(int64_t)GIB;
		struct flood f = {.fd = x.job_fd, .lines = 1 << 18}; /* 16 MiB */
		x.job_fd = -1;
		assert_int_equal(pthread_create(&writer, NULL, flood_main, &f), 0);
		pass_all(&x, false);
		(void)pthread_join(writer, NULL); /* it was not left waiting */
		assert_int_equal(x.t.from_fd, -1);
		assert_true(x.to.gone);
		assert_true(x.t.rush.stage[0] < 0 && x.t.rush.stage[1] < 0);
		assert_int_equal(fstat(x.out_fd, &st), 0);
		assert_int_equal(st.st_size, most);
		way_close(&x);
	}
}

static void a_burst_is_kept_as_a_whole(void **state)
{
	(void)state;
	assert_int_equal(flood_through(TO_PIPE, 1 << 17, false, false), 0); /* 8 MiB */
}

static void a_short_rush_leaves_no_gap(void **state)
{
	(void)state;
	assert_int_equal(flood_through(TO_PIPE, 4000, true, true), 0); /* it is held as a whole */
}

static void what_a_stuck_reader_does_not_take_is_kept_all_the_same(void **state)
{
	struct way x;
	int p[2];
	char block[LINE_BYTES * 512]; /* half of what the job's pipe holds, an eighth of the reader's in a rush */
	enum { BLOCKS = 10 };
	(void)state;
	for (uint64_t i = 0; i < 512; i++)
		line_make(block + i * LINE_BYTES, i);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	way_begin(&x, p[1], scratch_open("log"));
	x.t.tokens = 1;
	for (int i = 0; i < BLOCKS; i++) { /* the second one begins a rush, and no more than eight have room */
		job_says_bytes(&x, block, sizeof(block));
		assert_true(tee_pump(&x.t));
		assert_true(tee_pump(&x.t));
	}
	assert_true(tee_is_rushing(&x.t) && x.t.ahead > 0);
	x.t.rush.last_ns = 1; /* long ago */
	tee_look(&x.t);
	assert_false(tee_is_rushing(&x.t));
	assert_true(tee_pump(&x.t)); /* what waits in the job's pipe is taken, as while output is slow */
	assert_true(tee_pump(&x.t));
	assert_int_equal(x.t.ahead, 0);
	way_kept(&x);
	struct stat st;
	assert_int_equal(stat(scratch_path("log"), &st), 0);
	assert_int_equal(st.st_size, BLOCKS * sizeof(block));
	for (size_t got = 0, n; got < BLOCKS * sizeof(block); got += n) { /* nothing comes twice */
		char back[4096];
		ssize_t r = read(p[0], back, MIN(sizeof(back), sizeof(block) - got % sizeof(block)));
		assert_true(r > 0);
		n = (size_t)r;
		assert_memory_equal(back, block + got % sizeof(block), n);
		assert_int_equal(outbuf_push(&x.to), 0);
		assert_true(tee_pump(&x.t));
	}
	way_close(&x);
	assert_int_equal(stat(scratch_path("log"), &st), 0);
	assert_int_equal(st.st_size, BLOCKS * sizeof(block));
	closep(&p[0]);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH(output_goes_on_unchanged_and_into_the_log),
		SCRATCH(nothing_to_read_is_no_end),
		SCRATCH(the_end_of_output_closes_the_channel),
		SCRATCH(a_log_that_cannot_be_written_is_given_up_and_output_passes),
		SCRATCH(a_reader_that_has_gone_closes_the_jobs_end),
		SCRATCH(a_full_buffer_leaves_the_output_with_the_job),
		SCRATCH(what_is_still_on_its_way_is_read_before_the_end),
		SCRATCH(what_is_too_fast_arrives_whole_and_the_gap_is_counted),
		SCRATCH(a_file_that_takes_no_more_closes_the_jobs_end),
		SCRATCH(a_burst_is_kept_as_a_whole),
		SCRATCH(a_short_rush_leaves_no_gap),
		SCRATCH(what_a_stuck_reader_does_not_take_is_kept_all_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
