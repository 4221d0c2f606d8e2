#include "agent/made_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "sense/net/socktable.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define UNIX_HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"

static struct made_world m;

static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	made_folder(&m, "proc/812/net");
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&m);
	return 0;
}

static void table(const char *name, const char *text)
{
	char path[64];
	TEXT_FORMAT(path, "proc/812/net/%s", name);
	made_write(&m, path, text, strlen(text));
}

static void finds(uint64_t inode, const char *want, bool listens)
{
	char text[160] = "";
	bool got = !listens;
	assert_int_equal(socktable_find(&m.w, 812, inode, &got, text, sizeof(text)), 0);
	assert_string_equal(text, want);
	assert_int_equal(got, listens);
}

static void a_socket_is_found_in_the_table_of_its_family(void **state)
{
	(void)state;
	table("tcp", HEAD "   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 1000 0 41 1\n"
			  "   1: 0100007F:1F90 0700000A:733C 01 0:0 0:0 0 1000 0 42 1\n");
	table("tcp6", HEAD "   0: 00000000000000000000000001000000:0050 00000000000000000000000001000000:9C40 08 "
			   "0:0 0:0 0 0 0 43 1\n");
	table("udp", HEAD "   0: 00000000:0044 00000000:0000 07 0:0 0:0 0 0 0 44 1\n");
	table("unix", UNIX_HEAD "ffff: 00000002 00000000 00010000 0001 01 45 /run/store.sock\n"
				"ffff: 00000003 00000000 00000000 0001 03 46\n"
				"ffff: 00000003 00000000 00000000 0001 03 47 @abstract\n");
	finds(41, "tcp 127.0.0.1:8080 (listening)", true);
	finds(42, "tcp 127.0.0.1:8080 -> 10.0.0.7:29500 (established)", false);
	finds(43, "tcp [::1]:80 -> [::1]:40000 (closed by the peer)", false);
	finds(44, "udp 0.0.0.0:68", false);
	finds(45, "unix /run/store.sock", true);
	finds(46, "unix", false);
	finds(47, "unix @abstract", false);
}

static void a_socket_of_no_table_is_none(void **state)
{
	(void)state;
	char text[64] = "as it was";
	bool listens;
	table("tcp", HEAD "   1: 0100007F:1F90 0700000A:733C 01 0:0 0:0 0 1000 0 42 1\n");
	assert_int_equal(socktable_find(&m.w, 812, 4, &listens, text, sizeof(text)), SOCK_NONE);
	assert_int_equal(socktable_find(&m.w, 999, 42, &listens, text, sizeof(text)), SOCK_NONE);
	assert_string_equal(text, "as it was");
	struct world none = m.w;
	none.proc_fd = -1;
	assert_int_equal(socktable_find(&none, 812, 42, &listens, text, sizeof(text)), WORLD_ABSENT);
}

static void lines_across_reads_and_overlong_lines_are_survived(void **state)
{
	(void)state;
	static char text[64 * 1024];
	struct buf b = BUF_ON(text);
	buf_add(&b, HEAD);
	for (int i = 0; i < 300; i++) /* several reads of 8 KiB */
		buf_printf(&b, "%4d: 0100007F:1F90 0700000A:733C 01 00000000:00000000 00:00000000 0 1000 0 %d 1\n", i,
			   1000 + i);
	for (int i = 0; i < 20000; i++)
		buf_add(&b, "x");
	buf_add(&b, "\n   1: 0100007F:0050 0700000A:733C 01 0:0 0:0 0 1000 0 77 1\n");
	assert_false(b.cut);
	table("tcp", text);
	for (uint64_t i = 0; i < 300; i++)
		finds(1000 + i, "tcp 127.0.0.1:8080 -> 10.0.0.7:29500 (established)", false);
	finds(77, "tcp 127.0.0.1:80 -> 10.0.0.7:29500 (established)", false);
}

static void states_have_words(void **state)
{
	(void)state;
	static const struct {
		uint32_t state;
		const char *text;
	} cases[] = {{2, "connecting"}, {3, "accepting"}, {4, "closing"},       {5, "closing"},
		     {6, "closing"},    {7, "not connected"}, {9, "closing"},   {11, "closing"},
		     {99, "unknown state"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sock_line l = {.local = {10, 0, 0, 1}, .local_port = 9, .state = cases[i].state};
		char text[64], want[64];
		TEXT_FORMAT(want, "tcp 10.0.0.1:9 (%s)", cases[i].text);
		sock_line_format(&l, "tcp", text, sizeof(text));
		assert_string_equal(text, want);
	}
}

static void broken_lines_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"", "1:", "1: 0100007F 0700000A:733C 01 0 0 0 0 0 42", "1: 0100007G:1F90 0700000A:733C 01 0 0 0 0 0 42",
		"1: 0100007F:11F90 0700000A:733C 01 0 0 0 0 0 42", "1: 0100007F:1F90 0700000A:733C xx 0 0 0 0 0 42",
		"1: 0100007F:1F90 0700000A:733C 01 0 0 0 0 0 -2", "1: 100007F:1F90 0700000A:733C 01 0 0 0 0 0 42",
		"1: 0100007F:1F90 00000000000000000000000001000000:733C 01 0 0 0 0 0 42",
	};
	struct sock_line l = {.inode = 5};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (sock_line_parse(span_of(bad[i]), &l) != -EBADMSG)
			fail_msg("taken: \"%s\"", bad[i]);
	assert_int_equal(l.inode, 5);
	uint64_t inode = 5;
	struct span path;
	assert_int_equal(sock_unix_parse(SPAN("Num RefCount Protocol Flags Type St Inode Path"), &inode, &path),
			 -EBADMSG);
	assert_int_equal(sock_unix_parse(SPAN("ffff: 3 0 0 1 3"), &inode, &path), -EBADMSG);
	assert_int_equal(inode, 5);
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, begin, end)

static int listener(int family, const char *host, uint16_t port, uid_t uid)
{
	struct sockaddr_storage to = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&to;
	if (family == AF_INET) {
		v4->sin_port = htons(port);
		assert_int_equal(inet_pton(family, host, &v4->sin_addr), 1);
	} else {
		v6->sin6_port = htons(port);
		assert_int_equal(inet_pton(family, host, &v6->sin6_addr), 1);
	}
	return socktable_listener(&m.w, 812, (struct sockaddr *)&to, uid);
}

static void who_listens_is_found_by_address_port_and_user(void **state)
{
	(void)state;
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8080, 1000), WORLD_GONE); /* no table */
	table("tcp", HEAD "   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 1000 0 41 1\n"
			  "   1: 00000000:1F91 00000000:0000 0A 0:0 0:0 0 1000 0 42 1\n"
			  "   2: 0100007F:1F92 0700000A:733C 01 0:0 0:0 0 1000 0 43 1\n"
			  "   3: 0100007F:1F93 00000000:0000 0A 0:0 0:0 0 1000 0 44 1\n"
			  "   4: 00000000:1F93 00000000:0000 0A 0:0 0:0 0 0 0 45 1\n");
	table("tcp6", HEAD "   0: 00000000000000000000000000000000:1F94 00000000000000000000000000000000:0000 0A "
			   "0:0 0:0 0 7 0 46 1\n");
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8080, 1000), 0);
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8080, 0), SOCK_OTHERS);
	assert_int_equal(listener(AF_INET, "10.0.0.1", 8080, 1000), SOCK_NONE); /* it listens at another address */
	assert_int_equal(listener(AF_INET, "10.0.0.1", 8081, 1000), 0); /* at all */
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8082, 1000), SOCK_NONE); /* a connection, no listener */
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8083, 1000), SOCK_OTHERS); /* either could answer */
	assert_int_equal(listener(AF_INET, "127.0.0.1", 8084, 7), 0); /* IPv6 serves IPv4 */
	assert_int_equal(listener(AF_INET6, "::1", 8084, 7), 0);
	assert_int_equal(listener(AF_INET6, "::1", 8080, 1000), SOCK_NONE);
	assert_int_equal(listener(AF_INET6, "::ffff:127.0.0.1", 8080, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(a_socket_is_found_in_the_table_of_its_family),
		MADE(who_listens_is_found_by_address_port_and_user),
		MADE(a_socket_of_no_table_is_none),
		MADE(lines_across_reads_and_overlong_lines_are_survived),
		cmocka_unit_test(states_have_words),
		cmocka_unit_test(broken_lines_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
