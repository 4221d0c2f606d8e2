#include "testing.h"
#include "world_fixture.h"

#include <sys/epoll.h>

#include "agent/eye.h"

static struct guard_job jobs[1];
static const struct guard_settings settings = {.threshold_ratio = 0.95, .reaction_ns = 10 * NS_PER_MS,
					       .fastest_bytes_per_s = GIB};

static void absurd_numbers_of_the_kernel_are_clamped_counted_and_guarded_on(void **state)
{
	(void)state;
	struct world w = fixture_world("lxcfs-underflow");
	struct eye e;
	struct ledger l;
	uint32_t covered;
	uint64_t job_used[1] = {0};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	jobs[0] = (struct guard_job){.group = JOBGROUP_NONE, .limit_bytes = CGROUP_NO_LIMIT, .unit = {.active = true}};
	assert_int_equal(eye_open(&e, &w, epoll_fd), 0);
	eye_add_job(&e, &jobs[0], 0);
	for (uint64_t look = 1; look <= 2; look++) {
		assert_int_equal(eye_look(&e, jobs, 1, job_used, &l, &covered, &settings), 0);
		assert_int_equal(e.clamps, look);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.level[0].scope, LEDGER_NODE);
		assert_int_equal(l.level[0].total_bytes, GIB);
		assert_true(l.level[0].used_bytes <= GIB);
		assert_true(l.level[0].available_bytes <= GIB);
		assert_int_equal(l.level[0].swap_free_bytes, 0);
	}
	eye_close(&e);
	close(epoll_fd);
	fixture_close(&w);
}

static void a_level_that_becomes_another_one_is_noticed(void **state)
{
	(void)state;
	struct world w = fixture_world("lxcfs-underflow");
	struct eye e;
	struct ledger l;
	uint32_t covered;
	uint64_t job_used[1] = {5 * MIB};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	jobs[0] = (struct guard_job){.group = JOBGROUP_NONE, .limit_bytes = CGROUP_NO_LIMIT, .unit = {.active = true}};
	assert_int_equal(eye_open(&e, &w, epoll_fd), 0);
	assert_int_equal(eye_look(&e, jobs, 1, job_used, &l, &covered, &settings), 0);
	uint64_t before = e.levels_id;
	assert_int_equal(eye_look(&e, jobs, 1, job_used, &l, &covered, &settings), 0);
	assert_int_equal(e.levels_id, before);
	jobs[0].limit_bytes = 64 * MIB;
	assert_int_equal(eye_look(&e, jobs, 1, job_used, &l, &covered, &settings), 0);
	assert_int_equal(l.n, 2);
	assert_int_not_equal(e.levels_id, before);
	eye_close(&e);
	close(epoll_fd);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absurd_numbers_of_the_kernel_are_clamped_counted_and_guarded_on),
		cmocka_unit_test(a_level_that_becomes_another_one_is_noticed),
	};
	return cmocka_run_group_tests_name("agent/eye", tests, NULL, NULL);
}
