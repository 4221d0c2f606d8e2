#include "testing.h"

#include "agent/guard/grouppids.h"
#include "made_world.h"

static const uint64_t dear_ns = 10 * NS_PER_MS;

struct bench {
	struct made_world m;
	struct tasks tasks;
	struct guard_job job[2];
	struct grouppids *g;
};

static int bench_open(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	assert_non_null(b);
	made_begin(&b->m);
	assert_int_equal(tasks_init(&b->tasks, 16, -1), 0);
	made_folder(&b->m, "cgroup/a/below");
	made_folder(&b->m, "cgroup/b");
	made_write(&b->m, "cgroup/a/cgroup.procs", "12\n10\n", 6);
	made_write(&b->m, "cgroup/a/below/cgroup.procs", "11\n", 3);
	made_write(&b->m, "cgroup/b/cgroup.procs", "20\n", 3);
	for (size_t j = 0; j < 2; j++) {
		b->job[j].unit.active = true;
		TEXT_COPY(b->job[j].adopted_cgroup, j == 0 ? "a" : "b");
	}
	b->g = calloc(1, sizeof(*b->g));
	assert_non_null(b->g);
	*state = b;
	return 0;
}

static int bench_close(void **state)
{
	struct bench *b = *state;
	tasks_done(&b->tasks);
	made_end(&b->m);
	free(b->g);
	free(b);
	return 0;
}

static void list(struct bench *b, uint64_t rest)
{
	grouppids_list(b->g, &b->m.w, &b->tasks, b->job, 2, rest);
}

static bool has(const struct bench *b, size_t j, pid_t pid)
{
	for (size_t i = 0; i < b->g->of[j].n; i++)
		if (b->g->of[j].pids[i] == pid)
			return true;
	return false;
}

/* A second of calls 5 ms apart, with lists of job 0 that take dear_ns each. Returns how many lists of it were made. */
static uint64_t lists_in_a_second(struct bench *b, uint64_t rest)
{
	uint64_t made = 0;
	list(b, rest);
	for (int i = 0; i < 200; i++) {
		b->g->of[0].cost_ns = dear_ns;
		b->g->of[1].cost_ns = 0;
		made_now_ns += 5 * NS_PER_MS;
		const uint64_t listed_ns = b->g->of[0].listed_ns;
		list(b, rest);
		made += b->g->of[0].listed_ns != listed_ns;
		assert_int_equal(b->g->of[1].listed_ns, made_now_ns); /* the neighbour's costs nothing */
	}
	return made;
}

static void a_list_that_is_dear_takes_a_small_share_of_a_processor(void **state)
{
	struct bench *b = *state;
	assert_int_equal(lists_in_a_second(b, GROUPPIDS_REST), 4);
	assert_int_equal(lists_in_a_second(b, GROUPPIDS_REST_SHORT), 33);
}

static void dear_jobs_share_what_listing_may_take(void **state)
{
	struct bench *b = *state;
	list(b, GROUPPIDS_REST);
	b->g->of[0].cost_ns = b->g->of[1].cost_ns = dear_ns;
	const uint64_t n_listed = b->g->n_listed;
	made_now_ns += 2 * GROUPPIDS_REST * dear_ns - 1;
	list(b, GROUPPIDS_REST);
	assert_int_equal(b->g->n_listed, n_listed);
	made_now_ns++;
	list(b, GROUPPIDS_REST);
	assert_int_equal(b->g->n_listed, n_listed + 2);
}

static void who_came_meanwhile_is_in_the_next_list(void **state)
{
	struct bench *b = *state;
	list(b, GROUPPIDS_REST);
	assert_true(b->g->of[0].is_whole && b->g->of[0].n == 3 && b->g->of[1].n == 1);
	assert_true(has(b, 0, 10) && has(b, 0, 11) && has(b, 0, 12) && has(b, 1, 20));
	made_write(&b->m, "cgroup/a/below/cgroup.procs", "11\n13\n", 6);
	made_write(&b->m, "cgroup/b/cgroup.procs", "20\n21\n", 6);
	b->g->of[0].cost_ns = dear_ns;
	b->g->of[1].cost_ns = 0;
	list(b, GROUPPIDS_REST);
	assert_true(b->g->of[0].n == 3 && has(b, 0, 11) && !has(b, 0, 13) && has(b, 1, 21));
	made_now_ns += GROUPPIDS_REST * dear_ns;
	b->g->of[1].cost_ns = 0;
	list(b, GROUPPIDS_REST);
	assert_true(has(b, 0, 13));
}

/* Another job at the same place has its own group. */
static void another_group_is_listed_at_once(void **state)
{
	struct bench *b = *state;
	list(b, GROUPPIDS_REST);
	b->g->of[0].cost_ns = dear_ns;
	TEXT_COPY(b->job[0].adopted_cgroup, "b");
	list(b, GROUPPIDS_REST);
	assert_true(b->g->of[0].n == 1 && has(b, 0, 20));
}

/* Whoever has a listed number by now would be ended in the place of the one that had it. */
static void a_number_that_has_passed_on_is_taken_out(void **state)
{
	struct bench *b = *state;
	list(b, GROUPPIDS_REST);
	b->g->of[0].cost_ns = dear_ns;
	const uint64_t born = b->g->of[0].born_ticks;
	b->tasks.rows[0] = (struct task_row){.pid = 10, .start_ticks = born};
	b->tasks.rows[1] = (struct task_row){.pid = 12, .start_ticks = born + 1};
	b->tasks.n = 2;
	list(b, GROUPPIDS_REST);
	assert_true(has(b, 0, 10) && has(b, 0, 11) && !has(b, 0, 12));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_list_that_is_dear_takes_a_small_share_of_a_processor, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(dear_jobs_share_what_listing_may_take, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(who_came_meanwhile_is_in_the_next_list, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(another_group_is_listed_at_once, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_number_that_has_passed_on_is_taken_out, bench_open, bench_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
