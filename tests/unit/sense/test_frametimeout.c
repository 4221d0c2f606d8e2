#include "testing.h"

#include "base/clock.h"
#include "sense/framework/frametimeout.h"

static void the_shortest_that_is_named_is_found(void **state)
{
	(void)state;
	static const struct {
		struct span environ, command;
		uint64_t seconds;
	} cases[] = {
		{SPAN("PATH=/bin\0HOME=/"), SPAN("python train.py --timeout 5"), 0},
		{SPAN("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS=15\0A=1"), SPAN(""), 15},
		{SPAN("DEEPSPEED_TIMEOUT=2"), SPAN("train --ddp_timeout 180"), 120},
		{SPAN(""), SPAN("train --ddp-timeout=20 --distributed-timeout-minutes 10"), 20},
		{SPAN(""), SPAN("train --distributed_timeout_minutes 10"), 600},
		{SPAN("HCCL_EXEC_TIMEOUT=0"), SPAN("train --ddp_timeout"), 0},
		{SPAN("HCCL_EXEC_TIMEOUT=x1"), SPAN("train --ddp_timeout ten"), 0},
		{SPAN("HCCL_EXEC_TIMEOUT=99999999999999999999"), SPAN("__ddp_timeout 3"), 0},
		{SPAN("NOT_HCCL_EXEC_TIMEOUT=7"), SPAN("train --ddp_timeouts 7"), 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (frametimeout_find(cases[i].environ, cases[i].command) != cases[i].seconds * NS_PER_S)
			fail_msg("case %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_that_is_named_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
