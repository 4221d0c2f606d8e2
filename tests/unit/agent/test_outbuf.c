#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "agent/output/outbuf.h"

static int ends[2];
static char chunk[65536];

static int make_pipe(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(chunk); i++)
		chunk[i] = (char)('a' + i % 23);
	return pipe2(ends, O_CLOEXEC);
}

static int drop_pipe(void **state)
{
	(void)state;
	closep(&ends[0]);
	closep(&ends[1]);
	return 0;
}

/* Reads until nothing is left, checking that the bytes come in order. */
static size_t read_all(struct outbuf *o, size_t from)
{
	static char got[65536];
	size_t total = from;
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	for (;;) {
		ssize_t n = read(ends[0], got, sizeof(got));
		if (n <= 0 && o->len == 0)
			return total;
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(got[i], chunk[(total + (size_t)i) % sizeof(chunk)]);
		total += n > 0 ? (size_t)n : 0;
		assert_int_equal(outbuf_push(o), 0);
	}
}

static void stuck_then_read(int proc_fd, enum outbuf_kind kind)
{
	struct outbuf o;
	outbuf_open(&o, proc_fd, ends[1]);
	assert_int_equal(o.kind, kind);
	size_t put = 0;
	while (!outbuf_is_full(&o)) {
		assert_int_equal(outbuf_put(&o, chunk, sizeof(chunk)), 0);
		put += sizeof(chunk);
	}
	assert_true(put > OUTBUF_FULL_BYTES);
	assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0); /* others have it too */
	assert_int_equal(read_all(&o, 0), put);
	assert_false(outbuf_is_full(&o));
	assert_null(o.kept);
	outbuf_close(&o);
}

static void a_stuck_pipe_never_makes_us_wait_and_loses_nothing(void **state)
{
	(void)state;
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	stuck_then_read(proc, OUTBUF_OPENED);
}

static void neither_does_one_that_cannot_be_opened_again(void **state)
{
	(void)state;
	stuck_then_read(-1, OUTBUF_SHARED);
}

static void neither_does_a_socket(void **state)
{
	(void)state;
	(void)drop_pipe(NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	stuck_then_read(-1, OUTBUF_SOCKET);
}

static void what_comes_in_pieces_leaves_in_order(void **state)
{
	(void)state;
	struct outbuf o;
	size_t put = 0, got = 0;
	outbuf_open(&o, -1, ends[1]);
	for (size_t i = 1; i < 3000; i++) {
		size_t at = put % sizeof(chunk), n = MIN(i % 977 + 1, sizeof(chunk) - at);
		assert_int_equal(outbuf_put(&o, chunk + at, n), 0);
		put += n;
		if (i % 500 == 0)
			got = read_all(&o, got);
	}
	assert_int_equal(read_all(&o, got), put);
	outbuf_close(&o);
}

static void a_reader_that_went_away_is_told(void **state)
{
	(void)state;
	struct outbuf o;
	outbuf_open(&o, -1, ends[1]);
	for (int i = 0; i < 4; i++)
		assert_int_equal(outbuf_put(&o, chunk, sizeof(chunk)), 0);
	closep(&ends[0]);
	assert_int_equal(outbuf_push(&o), OUTBUF_BROKEN);
	assert_int_equal(o.len, 0);
	assert_int_equal(outbuf_put(&o, chunk, 1), OUTBUF_BROKEN);
	outbuf_close(&o);
}

static void a_readers_pipe_grows_and_is_never_made_smaller(void **state)
{
	(void)state;
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct outbuf o;
	const int before = fcntl(ends[1], F_GETPIPE_SZ);
	outbuf_open(&o, proc, ends[1]);
	outbuf_grow(&o);
	const int grown = fcntl(ends[1], F_GETPIPE_SZ);
	if (grown == before)
		skip(); /* its user has too many pipes */
	assert_int_equal(grown, 256 * KIB);
	if (fcntl(ends[1], F_SETPIPE_SZ, 512 * KIB) == 512 * KIB)
		outbuf_grow(&o);
	assert_true(fcntl(ends[1], F_GETPIPE_SZ) >= grown);
	outbuf_close(&o);
	outbuf_open(&o, -1, ends[1]); /* of what cannot be opened again the reader decides */
	assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, before), before);
	outbuf_grow(&o);
	assert_int_equal(fcntl(ends[1], F_GETPIPE_SZ), before);
	outbuf_close(&o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_pipe, drop_pipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stuck_pipe_never_makes_us_wait_and_loses_nothing),
		TEST(neither_does_one_that_cannot_be_opened_again),
		TEST(neither_does_a_socket),
		TEST(what_comes_in_pieces_leaves_in_order),
		TEST(a_reader_that_went_away_is_told),
		TEST(a_readers_pipe_grows_and_is_never_made_smaller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
