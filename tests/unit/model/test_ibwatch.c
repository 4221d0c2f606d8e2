#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/rules/ibwatch.h"

static char lines[1024];

static void line_keep(void *data, const char *line)
{
	(void)data;
	size_t len = strlen(lines);
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static struct ibport port_of(const char *device, uint32_t number)
{
	struct ibport p = {.port = number, .state = IBPORT_STATE_ACTIVE, .phys_state = IBPORT_PHYS_LINK_UP};
	TEXT_COPY(p.device, device);
	return p;
}

static void counter_set(struct ibport *p, enum ibport_counter c, uint64_t value)
{
	p->has |= UINT64_C(1) << c;
	p->value[c] = value;
}

static struct ibwatch_facts watch(const struct ibport *before, size_t n_before, const struct ibport *now, size_t n)
{
	struct ibwatch_facts facts;
	lines[0] = '\0';
	ibwatch_lines(before, n_before, now, n, line_keep, NULL, &facts);
	return facts;
}

static void the_growth_of_an_error_counter_is_a_line(void **state)
{
	(void)state;
	struct ibport was = port_of("mlx5_0", 1), is = was;
	counter_set(&was, IB_LINK_DOWNED, 3);
	counter_set(&is, IB_LINK_DOWNED, 5);
	counter_set(&was, IB_ACK_TIMEOUTS, 10);
	counter_set(&is, IB_ACK_TIMEOUTS, 17);
	struct ibwatch_facts facts = watch(&was, 1, &is, 1);
	assert_string_equal(lines, "ib_link_downed{mlx5_0:1} 2\nib_local_ack_timeout_err{mlx5_0:1} 7\n");
	assert_true(facts.active);
	assert_int_equal(facts.ack_timeouts, 7);
}

static void data_and_counters_that_went_back_are_no_line(void **state)
{
	(void)state;
	struct ibport was = port_of("mlx5_0", 1), is = was;
	counter_set(&was, IB_XMIT_BYTES, 0);
	counter_set(&is, IB_XMIT_BYTES, 4096);
	counter_set(&was, IB_SYMBOL_ERRORS, 9);
	counter_set(&is, IB_SYMBOL_ERRORS, 1);
	counter_set(&was, IB_RECV_ERRORS, 4);
	counter_set(&is, IB_RECV_ERRORS, 4);
	watch(&was, 1, &is, 1);
	assert_string_equal(lines, "");
}

static void a_counter_that_only_one_reading_has_is_no_line(void **state)
{
	(void)state;
	struct ibport was = port_of("mlx5_0", 1), is = was;
	counter_set(&is, IB_LINK_DOWNED, 5);
	counter_set(&was, IB_ACK_TIMEOUTS, 1);
	struct ibwatch_facts facts = watch(&was, 1, &is, 1);
	assert_string_equal(lines, "");
	assert_int_equal(facts.ack_timeouts, 0);
}

static void a_port_that_went_down_is_a_line(void **state)
{
	(void)state;
	struct ibport was = port_of("mlx5_1", 2), is = was;
	is.state = IBPORT_STATE_DOWN;
	is.phys_state = 2;
	struct ibwatch_facts facts = watch(&was, 1, &is, 1);
	assert_string_equal(lines, "ib_port_down{mlx5_1:2} state=1 phys=2\n");
	assert_false(facts.active);
	watch(&is, 1, &is, 1);
	assert_string_equal(lines, "");
	is.state = 0;
	watch(&was, 1, &is, 1);
	assert_string_equal(lines, "");
}

static void ports_are_matched_by_device_and_number(void **state)
{
	(void)state;
	struct ibport was[] = {port_of("mlx5_0", 1), port_of("mlx5_0", 2)};
	struct ibport is[] = {port_of("mlx5_1", 1), port_of("mlx5_0", 2)};
	for (size_t i = 0; i < 2; i++) {
		counter_set(&was[i], IB_OUT_OF_BUFFER, i);
		counter_set(&is[i], IB_OUT_OF_BUFFER, 100);
	}
	is[1].state = IBPORT_STATE_DOWN;
	struct ibwatch_facts facts = watch(was, 2, is, 2);
	assert_string_equal(lines, "ib_port_down{mlx5_0:2} state=1 phys=5\nib_out_of_buffer{mlx5_0:2} 99\n");
	assert_true(facts.active);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_growth_of_an_error_counter_is_a_line),
		cmocka_unit_test(data_and_counters_that_went_back_are_no_line),
		cmocka_unit_test(a_counter_that_only_one_reading_has_is_no_line),
		cmocka_unit_test(a_port_that_went_down_is_a_line),
		cmocka_unit_test(ports_are_matched_by_device_and_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
