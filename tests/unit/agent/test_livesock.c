#include "scratch_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/run/livesock.h"
#include "base/buf.h"

static struct livesock *sock;

static int open_it(void **state)
{
	return scratch_make(state) == 0 && livesock_open(scratch, &sock) == 0 ? 0 : -1;
}

static int close_it(void **state)
{
	sock = livesock_close(sock);
	return scratch_remove(state);
}

static int reader_connect(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	TEXT_FORMAT(a.sun_path, "%s/live", scratch);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	closep(&fd);
	return -1;
}

/* Reads what is there now. */
static size_t got(int fd, char *dst, size_t cap)
{
	ssize_t n = recv(fd, dst, cap - 1, MSG_DONTWAIT);
	dst[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void the_first_line_is_the_whole_and_then_there_are_news(void **state)
{
	(void)state;
	char text[200];
	int a = reader_connect(), b = -1;
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 1);
	assert_true(livesock_owed(sock));
	assert_int_equal(livesock_give(sock, "whole 1", "news 1"), 0);
	assert_false(livesock_owed(sock));
	b = reader_connect();
	livesock_run(sock);
	assert_int_equal(livesock_give(sock, NULL, "news 2"), 0);
	assert_true(livesock_owed(sock));
	assert_int_equal(livesock_give(sock, "whole 3", "news 3"), 0);
	assert_true(got(a, text, sizeof(text)) > 0);
	assert_string_equal(text, "whole 1\nnews 2\nnews 3\n");
	assert_true(got(b, text, sizeof(text)) > 0);
	assert_string_equal(text, "whole 3\n");
	closep(&a);
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 1);
	closep(&b);
}

static void who_does_not_read_is_cut_off_and_holds_up_nobody(void **state)
{
	(void)state;
	const size_t len = 300 * KIB; /* more than a socket's buffer */
	cleanup(freep) char *line = malloc(len + 1);
	cleanup(freep) char *text = malloc(len + 2);
	int slow = reader_connect(), quick = reader_connect();
	memset(line, 'x', len);
	line[len] = '\0';
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 2);
	for (int i = 0; i < LIVESOCK_BEHIND + 1; i++) {
		size_t sum = 0;
		assert_int_equal(livesock_give(sock, line, line), 0);
		while (sum < len + 1) {
			struct pollfd p = {.fd = quick, .events = POLLIN};
			livesock_run(sock);
			assert_int_equal(poll(&p, 1, 5000), 1);
			sum += got(quick, text, len + 2);
		}
	}
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 1);
	closep(&slow);
	closep(&quick);
}

static void what_a_reader_sends_is_not_read(void **state)
{
	(void)state;
	char text[100];
	int a = reader_connect();
	livesock_run(sock);
	assert_int_equal(send(a, "stop\n", 5, 0), 5);
	(void)shutdown(a, SHUT_WR);
	livesock_run(sock);
	assert_int_equal(livesock_give(sock, "whole", NULL), 0);
	assert_true(got(a, text, sizeof(text)) > 0);
	assert_string_equal(text, "whole\n");
	closep(&a);
}

static void more_readers_than_there_is_room_for_are_sent_away(void **state)
{
	(void)state;
	int fd[LIVESOCK_READERS + 3];
	char text[100];
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = reader_connect();
		livesock_run(sock);
	}
	assert_int_equal(livesock_readers(sock), LIVESOCK_READERS);
	assert_int_equal(livesock_give(sock, "whole", NULL), 0);
	assert_true(got(fd[0], text, sizeof(text)) > 0);
	assert_int_equal(recv(fd[LIVESOCK_READERS], text, sizeof(text), 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++)
		closep(&fd[i]);
	livesock_run(sock);
	livesock_run(sock);
	livesock_run(sock);
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 0);
}

static void it_is_the_owners_alone_and_gone_at_the_end(void **state)
{
	(void)state;
	struct stat st;
	assert_int_equal(lstat(scratch_path("live"), &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	sock = livesock_close(sock);
	assert_false(scratch_has("live"));
}

static void a_child_that_outlives_us_does_not_keep_it_alive(void **state)
{
	(void)state;
	int before = reader_connect(), pipes[2];
	char text[10];
	livesock_run(sock);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[1]);
		(void)!read(pipes[0], text, 1); /* until the test ends */
		_exit(0);
	}
	sock = livesock_close(sock);
	assert_int_equal(recv(before, text, sizeof(text), 0), 0);
	closep(&pipes[0]);
	closep(&pipes[1]);
	closep(&before);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void several_are_apart_and_a_child_keeps_none(void **state)
{
	(void)state;
	char folder[128], text[64];
	struct livesock *other = NULL;
	int pipes[2], first = reader_connect();
	TEXT_FORMAT(folder, "%s/other", scratch);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(livesock_open(folder, &other), 0);
	livesock_run(sock);
	assert_int_equal(livesock_readers(sock), 1);
	assert_int_equal(livesock_readers(other), 0);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[1]);
		(void)!read(pipes[0], text, 1); /* until the test ends */
		_exit(0);
	}
	/* the one that is closed first is not the one that was opened last */
	sock = livesock_close(sock);
	assert_int_equal(recv(first, text, sizeof(text), 0), 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	TEXT_FORMAT(a.sun_path, "%s/live", folder);
	int second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(second, (const struct sockaddr *)&a, sizeof(a)), 0);
	livesock_run(other);
	assert_int_equal(livesock_give(other, "whole", NULL), 0);
	assert_int_equal(got(second, text, sizeof(text)), 6);
	other = livesock_close(other);
	assert_int_equal(recv(second, text, sizeof(text), 0), 0);
	closep(&pipes[0]);
	closep(&pipes[1]);
	closep(&first);
	closep(&second);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_line_is_the_whole_and_then_there_are_news, open_it, close_it),
		cmocka_unit_test_setup_teardown(who_does_not_read_is_cut_off_and_holds_up_nobody, open_it, close_it),
		cmocka_unit_test_setup_teardown(what_a_reader_sends_is_not_read, open_it, close_it),
		cmocka_unit_test_setup_teardown(more_readers_than_there_is_room_for_are_sent_away, open_it, close_it),
		cmocka_unit_test_setup_teardown(it_is_the_owners_alone_and_gone_at_the_end, open_it, close_it),
		cmocka_unit_test_setup_teardown(several_are_apart_and_a_child_keeps_none, open_it, close_it),
		cmocka_unit_test_setup_teardown(a_child_that_outlives_us_does_not_keep_it_alive, open_it, close_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
