#include "testing.h"
#include "world_fixture.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "sense/net/tcpflow.h"

static void broken_messages_are_refused(void **state)
{
	(void)state;
	cleanup(tcpflow_table_done) struct tcpflow_table t = {.n = 0};
	bool done = false;
	const uint32_t long_one[4] = {1000, 20, 0, 0}; /* says that it is longer than it is */
	assert_int_equal(tcpflow_diag_parse((struct span){(const char *)long_one, sizeof(long_one)}, &t, &done),
			 -EBADMSG);
	const uint32_t short_one[4] = {3, 20, 0, 0};
	assert_int_equal(tcpflow_diag_parse((struct span){(const char *)short_one, sizeof(short_one)}, &t, &done),
			 -EBADMSG);
	const uint32_t refused[5] = {20, 2, 0, 0, (uint32_t)-ENOENT};
	assert_int_equal(tcpflow_diag_parse((struct span){(const char *)refused, sizeof(refused)}, &t, &done), -ENOENT);
	const uint32_t last[4] = {16, 3, 0, 0};
	assert_int_equal(tcpflow_diag_parse((struct span){(const char *)last, sizeof(last)}, &t, &done), 0);
	assert_true(done);
	assert_int_equal(t.n, 0);
}

static void what_a_connection_moved_is_counted(void **state)
{
	(void)state;
	struct world w = live_world();
	int server = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	assert_int_equal(bind(server, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&a, &len), 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof(a)), 0);
	int peer = accept(server, NULL, NULL);
	struct tcpflow_sum before, after;
	cleanup(tcpflow_table_done) struct tcpflow_table t = {.n = 0};
	int r = tcpflow_dump(&w, &t);
	if (r == WORLD_ABSENT) {
		print_message("no sock_diag here\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(tcpflow_is_near(&w, getpid()));
	assert_int_equal(tcpflow_of(&w, getpid(), &t, &before), 0);
	assert_true(before.has_bytes && before.sockets >= 2);
	char data[1000] = "";
	assert_int_equal(send(client, data, sizeof(data), 0), sizeof(data));
	assert_int_equal(recv(peer, data, sizeof(data), MSG_WAITALL), sizeof(data));
	tcpflow_table_done(&t);
	assert_int_equal(tcpflow_dump(&w, &t), 0);
	assert_int_equal(tcpflow_of(&w, getpid(), &t, &after), 0);
	assert_int_equal(after.received_bytes - before.received_bytes, 1000);
	close(client);
	close(peer);
	close(server);
	fixture_close(&w);
}

static void processes_that_are_not_there_are_gone(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tcpflow_sum sum;
	const struct tcpflow_table t = {.n = 0};
	assert_int_equal(tcpflow_of(&w, 0x7ffffff0, &t, &sum), WORLD_GONE);
	assert_false(tcpflow_is_near(&w, 0x7ffffff0));
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_messages_are_refused),
		cmocka_unit_test(what_a_connection_moved_is_counted),
		cmocka_unit_test(processes_that_are_not_there_are_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
