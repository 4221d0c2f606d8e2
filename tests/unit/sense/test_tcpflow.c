#include "testing.h"
#include "world_fixture.h"

#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Both ends of a connection over the loopback interface. */
static void connected(int *ret_client, int *ret_peer)
{
	int server = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	assert_int_equal(bind(server, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&a, &len), 0);
	*ret_client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(*ret_client, (struct sockaddr *)&a, sizeof(a)), 0);
	*ret_peer = accept(server, NULL, NULL);
	close(server);
}

static void what_a_connection_moved_is_counted(void **state)
{
	(void)state;
	struct world w = live_world();
	int client, peer;
	connected(&client, &peer);
	struct tcpflow_sum before, after;
	cleanup(tcpflow_table_done) struct tcpflow_table t = {.n = 0};
	int r = tcpflow_dump(&w, &t);
	if (r == WORLD_ABSENT) {
		print_message("no sock_diag here\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(tcpflow_is_near(&w, getpid()));
	assert_int_equal(tcpflow_of(&w, getpid(), &t, 1, &before), 0);
	assert_true(before.has_bytes && before.sockets >= 2);
	char data[1000] = "";
	assert_int_equal(send(client, data, sizeof(data), 0), sizeof(data));
	assert_int_equal(recv(peer, data, sizeof(data), MSG_WAITALL), sizeof(data));
	tcpflow_table_done(&t);
	assert_int_equal(tcpflow_dump(&w, &t), 0);
	assert_int_equal(tcpflow_of(&w, getpid(), &t, 1, &after), 0);
	assert_int_equal(after.received_bytes - before.received_bytes, 1000);
	assert_true(after.same_address >= 2);
	close(client);
	close(peer);
	fixture_close(&w);
}

/* What the process sent itself, where a child has copies of the sockets and counts as that owner (0: no child). */
static uint64_t received_from_itself(const struct world *w, uint32_t childs_owner)
{
	cleanup(tcpflow_table_done) struct tcpflow_table t = {.n = 0};
	struct tcpflow_sum sum, own;
	pid_t child = childs_owner ? fork() : 0;
	if (childs_owner && child == 0) {
		pause();
		_exit(0);
	}
	int dumped = tcpflow_dump(w, &t), of = 0, in = 0;
	if (dumped == 0) {
		of = tcpflow_of(w, getpid(), &t, 1, &sum);
		if (child > 0)
			of |= tcpflow_of(w, child, &t, childs_owner, &own);
		in = tcpflow_within(w, getpid(), &t, 1, &own);
	}
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (dumped == WORLD_ABSENT)
		skip();
	assert_int_equal(dumped | of | in, 0);
	assert_true(own.received_bytes <= sum.received_bytes);
	return own.received_bytes;
}

static void bytes_to_oneself_are_told_apart(void **state)
{
	(void)state;
	struct world w = live_world();
	int client, peer, far_client, far_peer;
	char data[700] = "";
	connected(&client, &peer);
	uint64_t before = received_from_itself(&w, 0);
	assert_int_equal(send(client, data, sizeof(data), 0), sizeof(data));
	assert_int_equal(recv(peer, data, sizeof(data), MSG_WAITALL), sizeof(data));
	assert_int_equal(received_from_itself(&w, 0) - before, 700);
	assert_int_equal(received_from_itself(&w, 1) - before, 700); /* a loader of the same rank has copies */
	assert_int_equal(received_from_itself(&w, 2), 0); /* another rank may be the one that is meant */
	/* A connection of which somebody else has the other end. */
	connected(&far_client, &far_peer);
	int stop[2];
	assert_int_equal(pipe(stop), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		close(far_client);
		close(stop[1]);
		_exit(send(far_peer, data, sizeof(data), 0) == sizeof(data) && read(stop[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(far_peer);
	close(stop[0]);
	assert_int_equal(recv(far_client, data, sizeof(data), MSG_WAITALL), sizeof(data));
	assert_int_equal(received_from_itself(&w, 0) - before, 700);
	close(stop[1]);
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(client);
	close(peer);
	close(far_client);
	fixture_close(&w);
}

static void processes_that_are_not_there_are_gone(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tcpflow_sum sum;
	struct tcpflow_table t = {.n = 0};
	assert_int_equal(tcpflow_of(&w, 0x7ffffff0, &t, 1, &sum), WORLD_GONE);
	assert_false(tcpflow_is_near(&w, 0x7ffffff0));
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_messages_are_refused),
		cmocka_unit_test(what_a_connection_moved_is_counted),
		cmocka_unit_test(bytes_to_oneself_are_told_apart),
		cmocka_unit_test(processes_that_are_not_there_are_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
