#include "agent/made_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sense/net/netns.h"

static void a_process_beside_us_shares_our_namespace(void **state)
{
	(void)state;
	struct world w = live_world();
	struct netns n;
	assert_int_equal(netns_open(&w, getpid(), &n), 0);
	assert_true(n.net_fd == -1 && n.user_fd == -1 && n.inode == 0);
	netns_done(&n);
	fixture_close(&w);
}

static void our_own_socket_is_made_here(void **state)
{
	(void)state;
	const struct netns ours = {.net_fd = -1, .user_fd = -1};
	const struct netns *const which[] = {NULL, &ours};
	for (size_t i = 0; i < ARRAY_SIZE(which); i++) {
		int fd = -1, type = 0;
		socklen_t len = sizeof(type);
		assert_int_equal(netns_socket(which[i], AF_UNIX, SOCK_STREAM, &fd), 0);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len), 0);
		assert_int_equal(type, SOCK_STREAM);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		closep(&fd);
	}
	int fd = -7;
	assert_int_equal(netns_socket(NULL, 9999, SOCK_STREAM, &fd), -EAFNOSUPPORT);
	assert_int_equal(fd, -7);
}

static bool own(const char *host)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(80)};
	assert_int_equal(inet_pton(AF_INET, host, &at.sin_addr), 1);
	return netns_is_own(NULL, (const struct sockaddr *)&at, sizeof(at));
}

static void addresses_of_other_hosts_are_told_apart(void **state)
{
	(void)state;
	if (!own("127.0.0.1"))
		skip(); /* a namespace without lo */
	assert_true(own("127.0.0.9"));
	assert_false(own("192.0.2.1")); /* of no host (RFC 5737) */
	assert_false(own("169.254.169.254"));
}

static void another_namespace_is_kept_open(void **state)
{
	(void)state;
	struct made_world m;
	struct netns n;
	made_begin(&m);
	made_folder(&m, "proc/self/ns");
	made_folder(&m, "proc/812/ns");
	static const char *const files[] = {"proc/self/ns/net", "proc/self/ns/user", "proc/812/ns/net",
					    "proc/812/ns/user"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		made_write(&m, files[i], "", 0);
	assert_int_equal(netns_open(&m.w, 812, &n), 0);
	assert_true(n.net_fd >= 0 && n.user_fd >= 0 && n.inode != 0);
	int fd = -7;
	assert_int_equal(netns_socket(&n, AF_UNIX, SOCK_STREAM, &fd), -EINVAL); /* an ordinary file is no namespace */
	assert_int_equal(fd, -7);
	netns_done(&n);
	assert_true(n.net_fd == -1 && n.user_fd == -1);
	made_end(&m);
}

static void a_process_that_ended_is_gone(void **state)
{
	(void)state;
	struct made_world m;
	struct netns n;
	made_begin(&m);
	assert_int_equal(netns_open(&m.w, 812, &n), WORLD_GONE);
	struct world none = m.w;
	none.proc_fd = -1;
	assert_int_equal(netns_open(&none, 812, &n), WORLD_ABSENT);
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_beside_us_shares_our_namespace),
		cmocka_unit_test(our_own_socket_is_made_here),
		cmocka_unit_test(addresses_of_other_hosts_are_told_apart),
		cmocka_unit_test(another_namespace_is_kept_open),
		cmocka_unit_test(a_process_that_ended_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
