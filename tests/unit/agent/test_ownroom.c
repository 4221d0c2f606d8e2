#include "testing.h"

#include "agent/memory/ownroom.h"
#include "made_world.h"

static struct made_world m;

static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	made_folder(&m, "proc/self");
	static const char mounts[] = "30 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", place[] = "0::/job\n";
	made_write(&m, "proc/self/mountinfo", mounts, sizeof(mounts) - 1);
	made_write(&m, "proc/self/cgroup", place, sizeof(place) - 1);
	made_folder(&m, "cgroup/job");
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&m);
	return 0;
}

static void node_has(uint64_t available_mib)
{
	char text[200];
	TEXT_FORMAT(text, "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: %llu kB\nCached: 0 kB\n",
		    (unsigned long long)available_mib * 1024);
	made_write(&m, "proc/meminfo", text, strlen(text));
}

static void group_has(uint64_t used_mib, const char *max)
{
	char text[32];
	TEXT_FORMAT(text, "%llu\n", (unsigned long long)(used_mib * MIB));
	made_write(&m, "cgroup/job/memory.current", text, strlen(text));
	made_write(&m, "cgroup/job/memory.max", max, strlen(max));
}

static void a_nearly_full_group_has_no_room(void **state)
{
	(void)state;
	node_has(4096);
	group_has(100, "314572800\n");
	assert_true(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
	group_has(264, "314572800\n"); /* 36 MiB left; 12 and a tenth are asked */
	assert_false(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
	group_has(264, "max\n");
	assert_true(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
}

static void nor_has_a_nearly_full_machine(void **state)
{
	(void)state;
	group_has(100, "max\n");
	node_has(270); /* of 8 GiB: 12 and 256 are enough */
	assert_true(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
	node_has(200);
	assert_false(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
}

static void what_cannot_be_read_is_roomy(void **state)
{
	(void)state;
	assert_true(ownroom_has(&m.w, OWNROOM_BPF_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_nearly_full_group_has_no_room, begin, end),
		cmocka_unit_test_setup_teardown(nor_has_a_nearly_full_machine, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_roomy, begin, end),
	};
	return cmocka_run_group_tests_name("agent/memory/ownroom", tests, NULL, NULL);
}
