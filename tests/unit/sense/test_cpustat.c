#include "world_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "sense/proc/proc.h"
#include "sense/speed/cpustat.h"
#include "sense/speed/threadcost.h"

static void times_of_processors_are_read(void **state)
{
	(void)state;
	static struct cpustat s;
	assert_int_equal(cpustat_parse(SPAN("cpu  10 1 20 300 40 2 3 50 0 0\n"
					    "cpu0 5 0 10 100 20 1 1 25 0 0\n"
					    "cpu7 5 1 10 200 20 1 2 25 0 0\nintr 1 2 3\nctxt 5\n"),
				       &s),
			 0);
	assert_int_equal(s.busy, 36);
	assert_int_equal(s.idle, 300);
	assert_int_equal(s.iowait, 40);
	assert_int_equal(s.steal, 50);
	assert_int_equal(s.cpu_idle[0], 120);
	assert_int_equal(s.cpu_idle[7], 220);
	assert_true(cpustat_parse(SPAN("intr 1 2\n"), &s) < 0);
	assert_true(cpustat_parse(SPAN("cpu  1 2 x\n"), &s) < 0);
}

static void the_number_of_runnable_threads_is_read(void **state)
{
	(void)state;
	struct loadavg l;
	assert_int_equal(loadavg_parse(SPAN("0.52 0.41 0.30 3/512 8841\n"), &l), 0);
	assert_int_equal(l.running, 3);
	assert_int_equal(l.last_pid, 8841);
	static const char *const bad[] = {"0.52 0.41 0.30 3 8841\n", "0.52 0.41", "0 0 0 3/512", "0 0 0 3/512 x",
					  "0 0 0 3/512 4294967297", "0 0 0 3/512 -1"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(loadavg_parse(span_of(bad[i]), &l) < 0);
}

static void quotas_of_version_2_are_read(void **state)
{
	(void)state;
	double cores = -1;
	assert_int_equal(cpuquota_max_parse(SPAN("150000 100000\n"), &cores), 0);
	assert_true(cores == 1.5);
	assert_int_equal(cpuquota_max_parse(SPAN("max 100000\n"), &cores), 0);
	assert_true(cores == 0);
	static const char *const bad[] = {"", "max", "x 100000", "1 0", "5 -1"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(cpuquota_max_parse(span_of(bad[i]), &cores) < 0);
}

static void a_thread_s_costs_are_read(void **state)
{
	(void)state;
	struct threadcost c = {.run_ns = 0};
	assert_int_equal(threadcost_stat_parse(SPAN("812 (a) b) R 1 812 812 0 -1 4194304 1500 0 7 0 30 12 0 0 20 0 4 0 "
						    "9000 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 3 0 0 5 0 0 0 0\n"),
					       10 * NS_PER_MS, &c),
			 0);
	assert_int_equal(c.minor_faults, 1500);
	assert_int_equal(c.major_faults, 7);
	assert_int_equal(c.run_ns, 420 * NS_PER_MS);
	assert_int_equal(c.system_ns, 120 * NS_PER_MS);
	assert_int_equal(c.start_ticks, 9000);
	assert_int_equal(c.processor, 3);
	assert_int_equal(c.block_ns, 50 * NS_PER_MS);
	assert_int_equal(threadcost_status_parse(SPAN("Name:\tx\nvoluntary_ctxt_switches:\t15\n"
						      "nonvoluntary_ctxt_switches:\t4\n"),
						 &c),
			 0);
	assert_int_equal(c.voluntary, 15);
	assert_int_equal(c.involuntary, 4);
	assert_true(threadcost_stat_parse(SPAN("812 a R 1"), 1, &c) < 0);
	assert_true(threadcost_stat_parse(SPAN("812 (a) R 1 2 3"), 1, &c) < 0);
	assert_true(threadcost_status_parse(SPAN("Name:\tx\n"), &c) < 0);
}

static void our_own_thread_is_read(void **state)
{
	(void)state;
	struct world w = live_world();
	struct threadcost c;
	struct cpuset_bits allowed;
	assert_int_equal(threadcost_read(&w, getpid(), getpid(), &c, &allowed), 0);
	assert_true(cpuset_count(&allowed) > 0 && c.comm[0]);
	assert_true(c.minor_faults > 0 && c.start_ticks > 0);
	assert_int_equal(threadcost_allowed_read(&w, getpid(), getpid(), &allowed), 0);
	assert_true(cpuset_count(&allowed) >= 1 && cpuset_has(&allowed, c.processor));
	assert_int_equal(threadcost_read(&w, getpid(), 0x3fffffff, &c, NULL), WORLD_GONE);
	unsigned libs = ~0u;
	assert_int_equal(threadlibs_read(&w, getpid(), &libs), 0);
	assert_int_equal(libs, 0);
	fixture_close(&w);
}

static void a_thread_that_has_not_run_since_costs_what_it_did(void **state)
{
	(void)state;
	struct world w = live_world();
	struct threadcost before, now;
	pid_t child = fork();
	if (child == 0)
		for (;;)
			(void)pause();
	assert_true(child > 0);
	struct proc_stat st = {.state = '?'};
	for (int i = 0; i < 5000 && st.state != 'S'; i++) {
		assert_int_equal(proc_stat_read(&w, child, &st), 0);
		(void)poll(NULL, 0, 1);
	}
	assert_int_equal(st.state, 'S');
	assert_int_equal(threadcost_read(&w, child, child, &before, NULL), 0);
	before.minor_faults = 12345; /* only what is not read again keeps it */
	assert_int_equal(threadcost_again(&w, child, child, -1, &before, &now), 0);
	assert_int_equal(now.minor_faults, 12345);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(threadcost_again(&w, child, child, -1, &before, &now), WORLD_GONE);
	assert_int_equal(threadcost_read(&w, getpid(), getpid(), &before, NULL), 0);
	const uint64_t faults = before.minor_faults;
	before.minor_faults = 0;
	before.run_ns--; /* we have run since, as far as it knows */
	assert_int_equal(threadcost_again(&w, getpid(), getpid(), -1, &before, &now), 0);
	assert_true(now.minor_faults >= faults);
	before.start_ticks++;
	before.run_ns--;
	assert_int_equal(threadcost_again(&w, getpid(), getpid(), -1, &before, &now), WORLD_GONE);
	fixture_close(&w);
}

static void libraries_that_start_threads_are_known_by_their_files(void **state)
{
	(void)state;
	assert_int_equal(threadlib_of("/x/numpy.libs/libopenblas64_p-r0-0cf96a72.3.23.dev.so"), THREADLIB_OPENBLAS);
	assert_int_equal(threadlib_of("/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3"), THREADLIB_OPENBLAS);
	assert_int_equal(threadlib_of("/opt/conda/lib/libmkl_rt.so.2"), THREADLIB_MKL);
	assert_int_equal(threadlib_of("/x/torch/lib/libgomp-a34b3233.so.1"), THREADLIB_GOMP);
	assert_int_equal(threadlib_of("/x/libiomp5.so"), THREADLIB_IOMP);
	assert_int_equal(threadlib_of("/x/torch/lib/libtorch_cpu.so"), THREADLIB_TORCH);
	assert_int_equal(threadlib_of("/usr/lib/libtbb.so.12"), THREADLIB_TBB);
	assert_int_equal(threadlib_of("/x/numba/np/ufunc/workqueue.cpython-311-x86_64-linux-gnu.so"), THREADLIB_NUMBA);
	assert_int_equal(threadlib_of("/x/other/workqueue.cpython-311.so"), 0);
	assert_int_equal(threadlib_of("/usr/lib/libompi_notes.so"), 0);
	assert_int_equal(threadlib_of(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_processors_are_read),
		cmocka_unit_test(the_number_of_runnable_threads_is_read),
		cmocka_unit_test(quotas_of_version_2_are_read),
		cmocka_unit_test(a_thread_s_costs_are_read),
		cmocka_unit_test(our_own_thread_is_read),
		cmocka_unit_test(a_thread_that_has_not_run_since_costs_what_it_did),
		cmocka_unit_test(libraries_that_start_threads_are_known_by_their_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
