/* What memory moves while a job is watched, on a recorded machine with counters that the test sets. */
#include "world_fixture.h"

#include "agent/speed/speedwatch_parts.h"
#include "fake_perf.h"

static struct world w;
static uint64_t now_ns;
static struct speedfacts f;
static struct speed_thread thread[3];
static struct speedwatch s;

static uint64_t test_clock(void)
{
	return now_ns;
}

static void watch(const char *fixture)
{
	w = fixture_world(fixture);
	w.mono_ns = test_clock;
	now_ns = NS_PER_S;
	memset(thread, 0, sizeof(thread));
	for (int i = 0; i < 3; i++)
		thread[i] = (struct speed_thread){.tid = 1000 + i, .run = i < 2 ? 0.5 : 0};
	f = (struct speedfacts){.thread = thread, .n_threads = 3};
	s = (struct speedwatch){.w = &w, .f = &f};
	speedwatch_traffic_begin(&s, &fake_perf_ops);
}

static void done(void)
{
	speedwatch_traffic_done(&s);
	fixture_close(&w);
}

/* Two seconds pass; what is read then. */
static const struct speed_traffic *seen(void)
{
	now_ns += 2 * NS_PER_S;
	speedwatch_traffic_end(&s);
	return &f.machine.traffic;
}

/* The groups of resctrl have moved that much on the first cache meanwhile. */
static void moved(const char *group, uint64_t bytes)
{
	for (size_t i = 0; i < s.traffic.groups.n_rows; i++) {
		struct resctrl_row *r = &s.traffic.groups.row[i];
		if (r->cache == 0 && strcmp(s.traffic.groups.group[r->group].path, group) == 0)
			r->bytes -= bytes;
	}
}

static void controllers_go_before_caches(void **state)
{
	(void)state;
	watch("imc-resctrl");
	fake_perf_second(1000000);
	moved("", 300000);
	const struct speed_traffic *t = seen();
	assert_int_equal(t->source, SPEED_TRAFFIC_CONTROLLERS);
	assert_true(t->bytes > 255e6 && t->bytes < 257e6 && t->reads > 127e6 && t->reads < 129e6);
	assert_true(!t->least && t->parts == 2 && t->part_bytes > 127e6 && t->part_bytes < 129e6);
	assert_true(t->channels == 4 && t->limit_bytes == 4 * 2933e6 * 8);
	assert_true(t->has_job && t->job_bytes == 0);
	done();
}

static void the_groups_of_the_job_are_its_part(void **state)
{
	(void)state;
	watch("imc-resctrl");
	moved("", 500000);
	moved("mon_groups/job", 200000);
	fake_perf_second(1000);
	assert_true(seen()->has_job && f.machine.traffic.job_bytes == 100000);
	thread[2].run = 0.5; /* of the job, and in none of these groups */
	assert_true(!seen()->has_job);
	thread[2].run = 0;
	thread[1].tid = 5; /* a task of the group that is not the job's */
	assert_true(!seen()->has_job);
	done();
}

static void without_controllers_the_caches_are_counted(void **state)
{
	(void)state;
	fake_perf.refuses = EINVAL;
	watch("imc-resctrl");
	moved("", 500000);
	moved("batch", 300000);
	moved("batch/mon_groups/inner", 200000);
	const struct speed_traffic *t = seen();
	assert_int_equal(t->source, SPEED_TRAFFIC_CACHES);
	assert_true(t->bytes == 400000 && t->least && t->reads + t->writes == 0 && t->parts == 0);
	done();
}

static void why_nothing_was_seen_is_kept(void **state)
{
	(void)state;
	static const struct {
		int error;
		enum speed_traffic_why why;
	} cases[] = {{EACCES, SPEED_TRAFFIC_DENIED}, {ENOENT, SPEED_TRAFFIC_REFUSED}, {0, SPEED_TRAFFIC_STILL}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_perf_reset(NULL);
		fake_perf.refuses = cases[i].error;
		watch("amd-umc");
		assert_int_equal(seen()->source, SPEED_TRAFFIC_UNSEEN);
		assert_int_equal(f.machine.traffic.why, cases[i].why);
		done();
	}
	watch("systemd-v2");
	assert_int_equal(seen()->source, SPEED_TRAFFIC_UNSEEN);
	assert_int_equal(f.machine.traffic.why, SPEED_TRAFFIC_ABSENT);
	done();
	fake_perf.refuses = EACCES;
	watch("imc-resctrl"); /* and the caches stand still */
	assert_int_equal(seen()->why, SPEED_TRAFFIC_STILL);
	done();
}

static void a_virtual_machine_has_a_figure_and_no_limit(void **state)
{
	(void)state;
	watch("amd-umc");
	fake_perf_second(1000);
	const struct speed_traffic *t = seen();
	assert_true(t->source == SPEED_TRAFFIC_CONTROLLERS && t->bytes > 0 && t->limit_bytes == 0 && !t->has_job);
	done();
}

static void a_recorded_machine_has_no_counters_of_the_kernel(void **state)
{
	(void)state;
	watch("amd-umc");
	speedwatch_traffic_done(&s);
	speedwatch_traffic_begin(&s, &memcount_kernel);
	assert_int_equal(s.traffic.count.n, 0);
	assert_int_equal(seen()->why, SPEED_TRAFFIC_ABSENT);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(controllers_go_before_caches, fake_perf_reset),
		cmocka_unit_test_setup(the_groups_of_the_job_are_its_part, fake_perf_reset),
		cmocka_unit_test_setup(without_controllers_the_caches_are_counted, fake_perf_reset),
		cmocka_unit_test_setup(why_nothing_was_seen_is_kept, fake_perf_reset),
		cmocka_unit_test_setup(a_virtual_machine_has_a_figure_and_no_limit, fake_perf_reset),
		cmocka_unit_test_setup(a_recorded_machine_has_no_counters_of_the_kernel, fake_perf_reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
