#include "world_fixture.h"

#include <string.h>

#include "sense/net/ibport.h"

static void states_and_rates_are_read(void **state)
{
	(void)state;
	uint32_t v = 99;
	assert_int_equal(ibport_state_parse(SPAN("4: ACTIVE\n"), &v), 0);
	assert_int_equal(v, IBPORT_STATE_ACTIVE);
	assert_int_equal(ibport_state_parse(SPAN("5: LinkUp"), &v), 0);
	assert_int_equal(v, IBPORT_PHYS_LINK_UP);
	assert_int_equal(ibport_state_parse(SPAN("ACTIVE"), &v), -EBADMSG);
	assert_int_equal(ibport_state_parse(SPAN(""), &v), -EBADMSG);
	assert_int_equal(ibport_state_parse(SPAN("99999999999: X"), &v), -EBADMSG);
	assert_int_equal(ibport_rate_parse(SPAN("100 Gb/sec (4X EDR)\n"), &v), 0);
	assert_int_equal(v, 100000);
	assert_int_equal(ibport_rate_parse(SPAN("2.5 Gb/sec (1X SDR)"), &v), 0);
	assert_int_equal(v, 2500);
	assert_int_equal(ibport_rate_parse(SPAN("fast"), &v), -EBADMSG);
	assert_int_equal(ibport_rate_parse(SPAN("1.x Gb/sec"), &v), -EBADMSG);
	assert_int_equal(ibport_rate_parse(SPAN("99999999999999 Gb/sec"), &v), -EBADMSG);
}

static void devices_are_left_out_by_name(void **state)
{
	(void)state;
	assert_false(ibport_excluded("mlx5_0", NULL));
	assert_false(ibport_excluded("mlx5_0", ""));
	assert_true(ibport_excluded("mlx5_0", "mlx5_3, mlx5_0"));
	assert_false(ibport_excluded("mlx5_0", "mlx5_01,mlx5"));
	assert_true(ibport_excluded("mlx5_bond_0", "mlx5_bond*"));
	assert_true(ibport_excluded("x", "*"));
	assert_false(ibport_excluded("mlx5_0", ",, ,"));
}

static void ports_of_a_machine_are_read(void **state)
{
	(void)state;
	struct world w = fixture_world("ib");
	struct ibport p[IBPORT_MAX];
	size_t n = 0;
	assert_int_equal(ibports_read(&w, NULL, p, IBPORT_MAX, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(p[0].device, "mlx5_0");
	assert_int_equal(p[0].port, 1);
	assert_int_equal(p[0].state, IBPORT_STATE_ACTIVE);
	assert_int_equal(p[0].rate_mbps, 100000);
	assert_false(p[0].ethernet);
	assert_int_equal(p[0].value[IB_XMIT_BYTES], 4000);
	assert_true(ibport_has(&p[0], IB_ACK_TIMEOUTS));
	assert_int_equal(p[0].value[IB_ACK_TIMEOUTS], 12);
	assert_true(ibport_has(&p[0], IB_SYMBOL_ERRORS)); /* 0 is a value */
	assert_false(ibport_has(&p[0], IB_CNP_SENT)); /* no number */
	assert_false(ibport_has(&p[0], IB_OUT_OF_BUFFER)); /* no such file */
	assert_int_equal(p[1].state, IBPORT_STATE_DOWN);
	assert_int_equal(p[1].phys_state, IBPORT_PHYS_DISABLED);
	assert_true(p[1].ethernet);
	assert_int_equal(ibports_read(&w, "mlx5_0", p, IBPORT_MAX, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(p[0].device, "mlx5_1");
	assert_int_equal(ibports_read(&w, "mlx5_*", p, IBPORT_MAX, &n), WORLD_ABSENT);
	assert_int_equal(ibports_read(&w, NULL, p, 1, &n), 0);
	assert_int_equal(n, 1);
	fixture_close(&w);
}

static void a_machine_without_adapters_has_none(void **state)
{
	(void)state;
	struct world w = fixture_world("docker-v2");
	struct ibport p[4];
	size_t n = 0;
	assert_int_equal(ibports_read(&w, NULL, p, 4, &n), WORLD_ABSENT);
	fixture_close(&w);
}

static const struct ibport *port_of(const struct ibport *p, size_t n, const char *device, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(p[i].device, device) == 0 && p[i].port == number)
			return &p[i];
	fail_msg("no port %u of %s", number, device);
	return NULL;
}

static void what_is_no_number_is_not_known(void **state)
{
	(void)state;
	struct world w = fixture_world("rdma");
	struct ibport all[8];
	size_t n = 0;
	assert_int_equal(ibports_read(&w, NULL, all, 8, &n), 0);
	assert_int_equal(n, 3);
	const struct ibport *p = port_of(all, n, "mlx5_0", 1);
	assert_int_equal(p->state, IBPORT_STATE_ACTIVE);
	assert_int_equal(p->value[IB_XMIT_BYTES], 4000); /* the file counts words */
	assert_int_equal(p->value[IB_RECV_BYTES], 8000);
	assert_int_equal(p->value[IB_XMIT_WAIT], 17);
	assert_int_equal(p->value[IB_ACK_TIMEOUTS], 9);
	assert_false(ibport_has(p, IB_OUT_OF_BUFFER));
	assert_int_equal(port_of(all, n, "mlx5_0", 2)->state, IBPORT_STATE_DOWN);
	p = port_of(all, n, "broken_1", 1);
	assert_int_equal(p->state, 0);
	assert_false(ibport_has(p, IB_XMIT_BYTES));
	assert_true(p->value[IB_RECV_BYTES] == UINT64_MAX); /* not wrapped */
	assert_int_equal(ibports_read(&w, "broken_1,mlx5_0", all, 8, &n), WORLD_ABSENT);
	assert_int_equal(ibports_read(&w, "mlx5", all, 8, &n), 0); /* a name, not a beginning */
	assert_int_equal(n, 3);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_and_rates_are_read),	  cmocka_unit_test(devices_are_left_out_by_name),
		cmocka_unit_test(ports_of_a_machine_are_read),	  cmocka_unit_test(a_machine_without_adapters_has_none),
		cmocka_unit_test(what_is_no_number_is_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
