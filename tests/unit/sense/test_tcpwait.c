#include "world_fixture.h"

#include <string.h>

#include <sys/socket.h>

#include "sense/net/fdtarget.h"
#include "sense/net/tcpwait.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

static void segments_are_counted(void **state)
{
	(void)state;
	struct tcpwait_counts c = {0, 0};
	const char *text =
		"Ip: Forwarding DefaultTTL\nIp: 1 64\n"
		"Tcp: RtoAlgorithm RtoMin OutSegs RetransSegs InErrs\nTcp: 1 200 5000 25 0\nUdp: InDatagrams\nUdp: 3\n";
	assert_int_equal(tcpwait_snmp_parse(span_of(text), &c), 0);
	assert_int_equal(c.sent, 5000);
	assert_int_equal(c.again, 25);
	assert_int_equal(tcpwait_snmp_parse(SPAN("Tcp: OutSegs\nTcp: 5\n"), &c), -EBADMSG);
	assert_int_equal(tcpwait_snmp_parse(SPAN("Tcp: OutSegs RetransSegs\nTcp: 5\n"), &c), -EBADMSG);
	assert_int_equal(tcpwait_snmp_parse(SPAN("Tcp: OutSegs RetransSegs\n"), &c), -EBADMSG);
	assert_int_equal(tcpwait_snmp_parse(SPAN(""), &c), -EBADMSG);
}

static void a_connection_that_is_not_acknowledged_is_found(void **state)
{
	(void)state;
	struct tcpwait t;
	const char *waits = "   1: 0300000A:0FA0 0700000A:733C 01 00000400:00000000 01:00000190 00000006     0        "
			    "0 4711 1 0 20 4 0 10 -1";
	const char *fine = "   1: 0300000A:0FA0 0700000A:733C 01 00000000:00000000 00:00000000 00000000     0        0 "
			   "4711 1 0 20 4 0 10 -1";
	const char *closing = "   1: 0300000A:0FA0 0700000A:733C 04 00000400:00000000 01:00000190 00000006     0       "
			      " 0 4711 1 0 20 4 0 10 -1";
	assert_int_equal(tcpwait_parse(span_of(waits), &t), 0);
	assert_int_equal(t.tries, 6);
	assert_int_equal(t.socket.remote_port, 29500);
	assert_int_equal(t.socket.inode, 4711);
	assert_int_equal(tcpwait_parse(span_of(fine), &t), SOCK_NONE);
	assert_int_equal(tcpwait_parse(span_of(closing), &t), SOCK_NONE);
	assert_int_equal(tcpwait_parse(SPAN(HEAD), &t), -EBADMSG);
	assert_int_equal(tcpwait_parse(SPAN("1: 2 3"), &t), -EBADMSG);
	assert_int_equal(tcpwait_parse(SPAN(""), &t), -EBADMSG);
}

static void our_own_process_is_well(void **state)
{
	(void)state;
	struct world w = live_world();
	struct tcpwait t[8];
	struct tcpwait_counts c;
	size_t n = 99;
	assert_true(fd_any_socket(&w, 1 << 30));
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_true(fd_any_socket(&w, getpid()));
	assert_int_equal(tcpwait_read(&w, getpid(), t, 8, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(tcpwait_snmp_read(&w, getpid(), &c), 0);
	assert_int_equal(tcpwait_read(&w, 1 << 30, t, 8, &n), WORLD_GONE);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_counted),
		cmocka_unit_test(a_connection_that_is_not_acknowledged_is_found),
		cmocka_unit_test(our_own_process_is_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
