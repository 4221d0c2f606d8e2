/* Connections to ports at which nobody listens, counted by the kernel. */
#include "testing.h"
#include "world_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "sense/net/refused.h"

static struct refused_row row[REFUSED_ROWS];

/* Whatever is not possible here is said and skipped; VIGIL_NEED_BPF=1 makes that a failure. */
static struct refused *opened(const struct world *w)
{
	char why[200] = "";
	struct refused *k = NULL;
	int r = refused_open(w, &k, why, sizeof(why));
	if (r == WORLD_ABSENT || r == WORLD_DENIED) {
		if (getenv("VIGIL_NEED_BPF"))
			fail_msg("%s", why);
		print_message("skipped: %s\n", why);
		skip();
	}
	assert_int_equal(r, 0);
	return k;
}

static struct sockaddr_in6 address_of(bool v6, uint16_t port, socklen_t *ret_len)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(port)};
	const struct sockaddr_in to4 = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
	*ret_len = v6 ? sizeof(to) : sizeof(to4);
	if (!v6)
		memcpy(&to, &to4, sizeof(to4));
	return to;
}

/* A port of this family at which nobody listens: bound, and closed again. 0: there is no such family here. */
static uint16_t port_of_nobody(bool v6)
{
	socklen_t len;
	struct sockaddr_in6 at = address_of(v6, 0, &len);
	cleanup(closep) int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0)
		return 0;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	return ntohs(at.sin6_port); /* at the same place in both */
}

static int try_once(bool v6, uint16_t port)
{
	socklen_t len;
	struct sockaddr_in6 to = address_of(v6, port, &len);
	cleanup(closep) int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	return connect(fd, (struct sockaddr *)&to, len) < 0 ? errno : 0;
}

static const struct refused_row *row_of(struct refused *k, uint16_t port)
{
	size_t n = 0;
	assert_int_equal(refused_take(k, row, REFUSED_ROWS, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (row[i].port == port && (row[i].pid == getpid() || row[i].parent == getpid()))
			return &row[i];
	return NULL;
}

static void who_is_refused_is_counted_by_address(void **state)
{
	(void)state;
	struct world w = live_world();
	char text[64];
	struct refused *k = opened(&w);
	for (int v6 = 0; v6 < 2; v6++) {
		const uint16_t port = port_of_nobody(v6);
		if (port == 0)
			continue;
		assert_int_equal(try_once(v6, port), ECONNREFUSED);
		assert_null(row_of(k, port)); /* it is off */
		assert_int_equal(refused_on(k), 0);
		const uint64_t before_ns = w.mono_ns();
		for (int i = 0; i < 3; i++)
			assert_int_equal(try_once(v6, port), ECONNREFUSED);
		const struct refused_row *r = row_of(k, port);
		assert_non_null(r);
		assert_int_equal(r->pid, getpid());
		assert_int_equal(r->parent, getppid());
		assert_int_equal(r->n, 3);
		assert_int_equal(r->error, ECONNREFUSED);
		assert_true(r->last_ns >= before_ns && r->last_ns <= w.mono_ns());
		refused_format(r, text, sizeof(text));
		assert_non_null(strstr(text, v6 ? "[::1]:" : "127.0.0.1:"));
		refused_off(k);
	}
	refused_free(k);
}

static void an_address_of_ipv4_within_ipv6_is_written_as_one(void **state)
{
	(void)state;
	char text[64];
	const struct refused_row mapped = {
		.v6 = true, .port = 50051, .address = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
	const struct refused_row other = {.v6 = true, .port = 50051, .address = {[15] = 1}};
	refused_format(&mapped, text, sizeof(text));
	assert_string_equal(text, "127.0.0.1:50051");
	refused_format(&other, text, sizeof(text));
	assert_string_equal(text, "[::1]:50051");
}

static void a_child_that_tries_names_its_parent(void **state)
{
	(void)state;
	struct world w = live_world();
	struct refused *k = opened(&w);
	const uint16_t port = port_of_nobody(false);
	assert_int_equal(refused_on(k), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(try_once(false, port) == ECONNREFUSED ? 0 : 1);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	const struct refused_row *r = row_of(k, port);
	assert_non_null(r);
	assert_int_equal(r->pid, child);
	assert_int_equal(r->parent, getpid());
	refused_free(k);
}

static void a_connection_takes_back_what_was_counted(void **state)
{
	(void)state;
	struct world w = live_world();
	socklen_t len;
	struct refused *k = opened(&w);
	const uint16_t port = port_of_nobody(false);
	assert_int_equal(refused_on(k), 0);
	assert_int_equal(try_once(false, port), ECONNREFUSED);
	assert_non_null(row_of(k, port));
	struct sockaddr_in6 at = address_of(false, port, &len);
	cleanup(closep) int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(try_once(false, port), 0);
	const struct refused_row *r = row_of(k, port);
	assert_true(r && r->n == 0 && r->made == 2);
	assert_int_equal(r->pid, getpid());
	/* switched on anew it begins from nothing */
	closep(&fd);
	assert_int_equal(try_once(false, port), ECONNREFUSED);
	r = row_of(k, port);
	assert_true(r && r->n == 1 && r->made == 2);
	refused_off(k);
	assert_int_equal(refused_on(k), 0);
	assert_null(row_of(k, port));
	refused_free(k);
}

static void addresses_are_written_as_people_write_them(void **state)
{
	(void)state;
	char text[64];
	struct refused_row r = {.address = {10, 0, 0, 7}, .port = 29500};
	refused_format(&r, text, sizeof(text));
	assert_string_equal(text, "10.0.0.7:29500");
	r = (struct refused_row){.v6 = true, .address = {[15] = 1}, .port = 80};
	refused_format(&r, text, sizeof(text));
	assert_string_equal(text, "[::1]:80");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_of_ipv4_within_ipv6_is_written_as_one),
		cmocka_unit_test(who_is_refused_is_counted_by_address),
		cmocka_unit_test(a_child_that_tries_names_its_parent),
		cmocka_unit_test(a_connection_takes_back_what_was_counted),
		cmocka_unit_test(addresses_are_written_as_people_write_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
