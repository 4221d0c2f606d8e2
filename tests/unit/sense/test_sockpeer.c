/* Both ends of sockets, from tables as the kernel gives them. */
#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "sense/net/sockpeer.h"

static struct sockpeer_table t;

static int end(void **state)
{
	(void)state;
	sockpeer_table_done(&t);
	return 0;
}

/* 127.0.0.1:4000 <-> 127.0.0.1:5000, a listening socket, and an IPv4 address in an IPv6 socket. */
#define TCP                                                                                                            \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"           \
	"   0: 0100007F:0FA0 0100007F:1388 01 00000000:00000000 00:00000000 00000000     0        0 11 1\n"            \
	"   1: 0100007F:1388 0100007F:0FA0 01 00000000:00000000 00:00000000 00000000     0        0 12 1\n"            \
	"   2: 00000000:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1\n"            \
	"   3: 0300000A:0FA0 0400000A:1388 01 00000000:00000000 00:00000000 00000000     0        0 14 1\n"            \
	"   4: 0100007F:1770 0100007F:1388 01 00000000:00000000 00:00000000 00000000     0        0 15 1\n"            \
	"   5: 0100007F:1388 0100007F:1770 01 00000000:00000000 00:00000000 00000000     0        0 0 1\n"             \
	"   6: 0300000A:0FA1 0900000A:1388 02 00000000:00000000 00:00000000 00000000     0        0 16 1\n"
#define TCP6                                                                                                           \
	"   0: 0000000000000000FFFF00000400000A:1388 0000000000000000FFFF00000300000A:0FA0 01 00000000:00000000 "      \
	"00:00000000 00000000     0        0 21 1\n"

static void a_connection_is_found_from_both_sides(void **state)
{
	(void)state;
	char text[120];
	assert_int_equal(sockpeer_text_parse(span_of(TCP), false, 0, &t), 0);
	assert_int_equal(sockpeer_text_parse(span_of(TCP6), false, 7, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_int_equal(t.n, 8);
	const struct sockpeer *s = sockpeer_find(&t, 11);
	assert_true(s && sockpeer_other_end(&t, s) == sockpeer_find(&t, 12));
	assert_true(sockpeer_other_end(&t, sockpeer_find(&t, 12)) == s);
	assert_null(sockpeer_other_end(&t, sockpeer_find(&t, 13)));
	/* In another namespace, and IPv4 in an IPv6 socket. */
	s = sockpeer_find(&t, 14);
	assert_true(sockpeer_other_end(&t, s) == sockpeer_find(&t, 21));
	assert_true(sockpeer_other_end(&t, sockpeer_find(&t, 21)) == s);
	sockpeer_format(s, text, sizeof(text));
	assert_string_equal(text, "tcp 10.0.0.3:4000 -> 10.0.0.4:5000");
	sockpeer_format(sockpeer_find(&t, 13), text, sizeof(text));
	assert_string_equal(text, "tcp 0.0.0.0:5000 (listening)");
	/* Nobody has accepted that one. */
	s = sockpeer_other_end(&t, sockpeer_find(&t, 15));
	assert_true(s && s->inode == 0);
	assert_true(sockpeer_listener(&t, sockpeer_find(&t, 15)) == sockpeer_find(&t, 13));
	assert_null(sockpeer_other_end(&t, sockpeer_find(&t, 16)));
	assert_null(sockpeer_find(&t, 0));
	assert_null(sockpeer_find(&t, 99));
}

static void a_connection_came_to_who_listens_at_its_own_end(void **state)
{
	(void)state;
	static const char door6[] =
		"   0: 00000000000000000000000000000000:0FA0 00000000000000000000000000000000:0000 0A "
		"00000000:00000000 00:00000000 00000000     0        0 51 1\n";
	assert_int_equal(sockpeer_text_parse(span_of(TCP), false, 0, &t), 0);
	assert_int_equal(sockpeer_text_parse(span_of(TCP6), false, 7, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_true(sockpeer_is_accepted(&t, sockpeer_find(&t, 12)));
	assert_false(sockpeer_is_accepted(&t, sockpeer_find(&t, 11)));
	assert_false(sockpeer_is_accepted(&t, sockpeer_find(&t, 13))); /* listens itself */
	assert_false(sockpeer_is_accepted(&t, sockpeer_find(&t, 21))); /* of another namespace */
	/* A socket for IPv6 takes connections of IPv4 as well. */
	assert_int_equal(sockpeer_text_parse(span_of(door6), false, 0, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_true(sockpeer_is_accepted(&t, sockpeer_find(&t, 11)));
	assert_true(sockpeer_is_accepted(&t, sockpeer_find(&t, 14)));
}

static void one_address_in_two_namespaces_is_no_peer(void **state)
{
	(void)state;
	static const char ours[] =
		"   3: 0300000A:0FA0 0400000A:1388 01 00000000:00000000 00:00000000 00000000     0        0 14 1\n"
		"   4: 0100007F:0FA0 0100007F:1388 01 00000000:00000000 00:00000000 00000000     0        0 15 1\n";
	static const char theirs[] =
		"   0: 0400000A:1388 0300000A:0FA0 01 00000000:00000000 00:00000000 00000000     0        0 %d 1\n"
		"   1: 0100007F:1388 0100007F:0FA0 01 00000000:00000000 00:00000000 00000000     0        0 %d 1\n";
	char text[512];
	assert_int_equal(sockpeer_text_parse(span_of(ours), false, 1, &t), 0);
	TEXT_FORMAT(text, theirs, 31, 32);
	assert_int_equal(sockpeer_text_parse(span_of(text), false, 2, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_int_equal(sockpeer_other_end(&t, sockpeer_find(&t, 14))->inode, 31);
	/* Loopback is each namespace's own. */
	assert_null(sockpeer_other_end(&t, sockpeer_find(&t, 15)));
	TEXT_FORMAT(text, theirs, 41, 42);
	assert_int_equal(sockpeer_text_parse(span_of(text), false, 3, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_null(sockpeer_other_end(&t, sockpeer_find(&t, 14)));
}

static void the_text_table_of_unix_sockets_has_no_peers(void **state)
{
	(void)state;
	static const char text[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
				   "ffff9f2a0: 00000002 00000000 00010000 0001 01 501 /run/x\n"
				   "ffff9f2a1: 00000003 00000000 00000000 0001 03 502\n"
				   "ffff9f2a2: 00000002 00000000 00000000 0002 01 503 @y\n"
				   "ffff9f2a3: 00000002 00000000 zz 0002 01 504 @y\n";
	assert_int_equal(sockpeer_text_parse(span_of(text), true, 0, &t), 0);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	assert_int_equal(t.n, 3);
	assert_true(sockpeer_find(&t, 501)->state == SOCKPEER_LISTEN && sockpeer_find(&t, 501)->named);
	assert_true(!sockpeer_find(&t, 502)->peer_known && !sockpeer_find(&t, 502)->named);
	assert_true(sockpeer_find(&t, 503)->datagram);
	assert_null(sockpeer_other_end(&t, sockpeer_find(&t, 502)));
}

/* Builds netlink messages word by word. */
static size_t put(uint32_t *at, size_t n, const uint32_t *words, size_t count)
{
	memcpy(at + n, words, count * 4);
	return n + count;
}

static void the_kernels_answer_names_peers_queues_and_pending_connections(void **state)
{
	(void)state;
	/* Header 16 bytes (length, type 20), unix_diag_msg 16, then attributes of type and length. */
	const uint32_t connected[] = {16 + 16 + 8 + 12, 20,  0, 0, 1 | 1 << 8 | 1 << 16, 601, 0, 0,
				      8 | 2 << 16,	602, /* UNIX_DIAG_PEER */
				      12 | 4 << 16,	5,   6}; /* UNIX_DIAG_RQLEN */
	const uint32_t listening[] = {16 + 16 + 8 + 12, 20,	    0,	0, 1 | 1 << 8 | 10 << 16, 603, 0, 0,
				      8 | 0 << 16,	0x41414141, /* UNIX_DIAG_NAME */
				      12 | 3 << 16,	0,	    604}; /* UNIX_DIAG_ICONS: one unknown, one known */
	const uint32_t client[] = {16 + 16 + 8, 20, 0, 0, 1 | 1 << 8 | 1 << 16, 604, 0, 0, 8 | 2 << 16, 0};
	const uint32_t end_message[] = {16, 3, 0, 0};
	uint32_t all[64];
	size_t n = put(all, 0, connected, ARRAY_SIZE(connected));
	n = put(all, n, listening, ARRAY_SIZE(listening));
	n = put(all, n, client, ARRAY_SIZE(client));
	n = put(all, n, end_message, ARRAY_SIZE(end_message));
	bool done = false;
	assert_int_equal(sockpeer_unix_parse((struct span){(const char *)all, n * 4}, 9, &t, &done), 0);
	assert_true(done);
	assert_int_equal(sockpeer_table_sort(&t), 0);
	const struct sockpeer *s = sockpeer_find(&t, 601);
	assert_true(s && s->peer_known && s->peer_inode == 602 && s->receive_queue_bytes == 5 && s->netns == 9);
	assert_null(sockpeer_other_end(&t, s)); /* in no table */
	assert_true(sockpeer_listener(&t, sockpeer_find(&t, 604)) == sockpeer_find(&t, 603));
	assert_true(sockpeer_find(&t, 603)->named);
	/* Cut short, it is refused and what was whole stays. */
	assert_int_equal(sockpeer_unix_parse((struct span){(const char *)all, 60}, 9, &t, &done), -EBADMSG);
	const uint32_t refused[5] = {20, 2, 0, 0, (uint32_t)-ENOENT};
	assert_int_equal(sockpeer_tcp_parse((struct span){(const char *)refused, sizeof(refused)}, 0, &t, &done),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_connection_is_found_from_both_sides, end),
		cmocka_unit_test_teardown(a_connection_came_to_who_listens_at_its_own_end, end),
		cmocka_unit_test_teardown(one_address_in_two_namespaces_is_no_peer, end),
		cmocka_unit_test_teardown(the_text_table_of_unix_sockets_has_no_peers, end),
		cmocka_unit_test_teardown(the_kernels_answer_names_peers_queues_and_pending_connections, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
