/* Growth of memory, and heap profiles of processes that already run. */
#include "child_fixture.h"

#include "agent/heap/growthset.h"
#include "agent/heap/heapattach.h"

static void growth_of_no_process_is_refused(void **state)
{
	(void)state;
	const struct members_want members = {.root = NO_PROCESS};
	const struct growthset_want want = {.members = &members, .duration_ns = NS_PER_S};
	struct heapset *h = NULL;
	struct fault f;
	char remark[300] = "old";
	assert_int_equal(growthset_record(&w, &want, &h, remark, &f), WORLD_GONE);
	assert_string_equal(f.text, "it has no running process: growth can only be watched while it runs");
	assert_string_equal(remark, "");
	const struct growth_who who = {.pid = NO_PROCESS, .rank = NO_RANK};
	const struct growth_want direct = {.who = &who, .n_who = 1, .duration_ns = NS_PER_S};
	struct stackset *s = NULL;
	assert_int_equal(growth_record(&w, &direct, &s, &f), WORLD_GONE);
	const struct growth_want nothing = {.n_who = 0};
	assert_int_equal(growth_record(&w, &nothing, &s, &f), WORLD_GONE);
	assert_string_equal(f.text, "no process that runs is left");
}

static void attaching_fails_before_anything_is_left_behind(void **state)
{
	(void)state;
	const struct heapattach_want want = {.state = scratch, .rate_bytes = 65536};
	struct heapattach_result r;
	struct fault f;
	char folder[64];
	assert_int_equal(heapattach(&w, NO_PROCESS, &want, &r, &f), WORLD_GONE);
	assert_non_null(strstr(f.text, "has ended"));
	/* a process without the library, and no library to load */
	scratch_put("libvigil_heap.so", "no library", 10, 0644);
	assert_int_equal(setenv("VIGIL_DATA_DIR", scratch, 1), 0);
	assert_int_not_equal(heapattach(&w, child, &want, &r, &f), 0);
	assert_true(f.text[0]);
	TEXT_FORMAT(folder, "heap/pid-%d-%llu", child, (unsigned long long)start_ticks_of(&w, child));
	assert_false(scratch_has(folder));
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(unsetenv("VIGIL_DATA_DIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CHILD(growth_of_no_process_is_refused),
		WITH_CHILD(attaching_fails_before_anything_is_left_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
