#include "testing.h"

#include "agent/hangbook.h"

static void lines_of_the_kernel_name_their_process(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		pid_t pid;
	} rows[] = {
		{"Memory cgroup out of memory: Killed process 4242 (python3) total-vm:1kB", 4242},
		{"Out of memory: Killed process 7 (a) total-vm:1kB", 7},
		{"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/x,task=python3,pid=812,uid=0", 812},
		{"INFO: task python:99:312 blocked for more than 120 seconds.", 312},
		{"python3[5150]: segfault at 0 ip 00007f sp 00007f error 4 in libnccl.so", 5150},
		{"NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.", 0},
		{"nfs: server s not responding, still trying", 0},
		{"Killed process", 0},
		{"Killed process -3 (x)", 0},
		{"task blocked for more than", 0},
		{"]: segfault at", 0},
		{"", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(hangbook_subject(span_of(rows[i].line)), rows[i].pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_the_kernel_name_their_process)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
