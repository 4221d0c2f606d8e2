/* Real processes that are, or are not, linked with each other. */
#include "testing.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world_fixture.h"

#include "agent/inspect/siblinglinks.h"

#define CHILDREN 3

static struct siblinglinks_one child[CHILDREN];
static int opened[16];
static size_t n_opened;

static int keep(int fd)
{
	assert_true(fd >= 0 && n_opened < ARRAY_SIZE(opened));
	opened[n_opened++] = fd;
	return fd;
}

/*
 * A child that has these two of what the test has opened, and nothing else; -1: none. What it has mapped it has from
 * the test.
 */
static void child_start(size_t at, int a, int b)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < n_opened; i++)
			if (opened[i] != a && opened[i] != b)
				close(opened[i]);
		for (;;)
			pause();
	}
	child[at] = (struct siblinglinks_one){.pid = pid};
}

static int begin(void **state)
{
	(void)state;
	memset(child, 0, sizeof(child));
	n_opened = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILDREN; i++)
		if (child[i].pid > 0) {
			kill(child[i].pid, SIGKILL);
			waitpid(child[i].pid, NULL, 0);
		}
	for (size_t i = 0; i < n_opened; i++)
		close(opened[i]);
	return 0;
}

/* The test's own ends are closed once the children have theirs. */
static void own_close(void)
{
	for (size_t i = 0; i < n_opened; i++)
		close(opened[i]);
	n_opened = 0;
}

/* A child closes what it has not: looked at again for a while. */
static bool joined(size_t n, bool want)
{
	cleanup(fixture_close) struct world w = live_world();
	for (int i = 0; i < 2000; i++) {
		if (siblinglinks_join(&w, getpid(), child, n) == want)
			return want;
		(void)poll(NULL, 0, 1);
	}
	return !want;
}

static void tcp_pair(int *a, int *b)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int door = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	assert_int_equal(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(getsockname(door, (struct sockaddr *)&at, &len), 0);
	*a = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	assert_int_equal(connect(*a, (struct sockaddr *)&at, sizeof(at)), 0);
	*b = keep(accept4(door, NULL, NULL, SOCK_CLOEXEC));
}

static void connections_link_forks_too(void **state)
{
	(void)state;
	int a, b, unix_pair[2];
	tcp_pair(&a, &b);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, unix_pair), 0);
	keep(unix_pair[0]);
	keep(unix_pair[1]);
	child_start(0, a, -1);
	child_start(1, b, unix_pair[0]);
	child_start(2, unix_pair[1], -1);
	own_close();
	for (size_t i = 0; i < CHILDREN; i++)
		child[i].forked = true;
	assert_true(joined(3, true));
}

static void who_stands_aside_is_not_linked(void **state)
{
	(void)state;
	int a, b;
	tcp_pair(&a, &b);
	child_start(0, a, -1);
	child_start(1, b, -1);
	child_start(2, -1, -1);
	own_close();
	assert_true(joined(2, true));
	assert_false(joined(3, false));
}

/* A server that none of them is: trials too report to one. */
static void clients_of_another_are_not_linked(void **state)
{
	(void)state;
	int a, b, c, d;
	tcp_pair(&a, &b);
	tcp_pair(&c, &d);
	child_start(0, a, -1);
	child_start(1, c, -1);
	assert_false(joined(2, false));
}

static void a_pipe_links_unless_the_parent_has_it_or_they_are_forks(void **state)
{
	(void)state;
	int fd[2];
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	keep(fd[0]);
	keep(fd[1]);
	child_start(0, fd[0], -1);
	child_start(1, fd[1], -1);
	assert_false(joined(2, false));
	own_close();
	assert_true(joined(2, true));
	child[0].forked = true;
	assert_false(joined(2, false));
}

static void a_file_mapped_shared_and_writable_links(void **state)
{
	(void)state;
	int fd = keep(memfd_create("flags", MFD_CLOEXEC));
	assert_int_equal(ftruncate(fd, 4096), 0);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(at != MAP_FAILED);
	child_start(0, -1, -1);
	child_start(1, -1, -1);
	assert_int_equal(munmap(at, 4096), 0);
	assert_true(joined(2, true));
	child[0].forked = child[1].forked = true;
	assert_false(joined(2, false));
}

static void who_has_ended_is_linked_with_nobody(void **state)
{
	(void)state;
	cleanup(fixture_close) struct world w = live_world();
	child_start(0, -1, -1);
	child[1] = (struct siblinglinks_one){.pid = 1 << 22};
	assert_false(siblinglinks_join(&w, getpid(), child, 2));
	child[1].pid = 0;
	assert_false(siblinglinks_join(&w, getpid(), child, 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connections_link_forks_too, begin, end),
		cmocka_unit_test_setup_teardown(who_stands_aside_is_not_linked, begin, end),
		cmocka_unit_test_setup_teardown(clients_of_another_are_not_linked, begin, end),
		cmocka_unit_test_setup_teardown(a_pipe_links_unless_the_parent_has_it_or_they_are_forks, begin, end),
		cmocka_unit_test_setup_teardown(a_file_mapped_shared_and_writable_links, begin, end),
		cmocka_unit_test_setup_teardown(who_has_ended_is_linked_with_nobody, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
