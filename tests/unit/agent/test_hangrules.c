#include "testing.h"

#include <poll.h>
#include <stdlib.h>

#include "agent/hang/hangrules.h"
#include "made_world.h"

static struct made_world made;
static struct procstats *procstats;
static struct hangprocs *procs;
static struct liveness_set liveness;
static struct hang_job job;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_folder(&made, "log");
	made_process(&made, &(struct made_process){.pid = 80, .ppid = 1, .comm = "vigil", .children = "81"});
	made_process(&made, &(struct made_process){.pid = 81,
						   .ppid = 80,
						   .start_ticks = 110,
						   .comm = "python",
						   .command = "python train.py",
						   .environ = "RANK=0"});
	procstats = procstats_new(&made.w, 64);
	procs = hangprocs_new(procstats);
	job = (struct hang_job){.active = true, .root = 80, .n_ranks = 1};
	job.rank[0] = (struct hang_rank){.pid = 81, .start_ticks = 110, .rank = 0};
	TEXT_FORMAT(job.log_dir, "%s/log", made.dir);
	uint64_t thread_ns = 0;
	hangprocs_sample(procs, &made.w, &job, made_now_ns, &thread_ns);
	memset(&liveness, 0, sizeof(liveness));
	liveness.n = 1;
	liveness.rank[0].rank = 0;
	liveness.rank[0].seen.pid = 81;
	return unsetenv("VIGIL_DATA_DIR");
}

static int end(void **state)
{
	(void)state;
	procs = hangprocs_free(procs);
	procstats = procstats_free(procstats);
	made_end(&made);
	return unsetenv("VIGIL_DATA_DIR");
}

static void without_a_book_the_reason_is_a_sentence(void **state)
{
	(void)state;
	char why[HANGRULES_WHY] = "";
	assert_int_equal(setenv("VIGIL_DATA_DIR", "/nowhere", 1), 0);
	struct hangrules *h = hangrules_new(&made.w, "", NULL, &job, 0);
	assert_non_null(h);
	hangrules_begin(h, procs, &job, &liveness);
	assert_true(hangrules_step(h));
	assert_null(hangrules_finish(h, NULL, why));
	assert_non_null(strstr(why, "/nowhere/rules"));
	assert_null(hangrules_free(h));
}

/* The shipped rules, on the log of the rank. */
static void a_line_of_the_rank_s_log_names_the_cause(void **state)
{
	(void)state;
	static const char line[] = "RuntimeError: DataLoader worker (pid 93) is killed by signal: Killed.\n";
	char why[HANGRULES_WHY] = "", data[400];
	made.w.mono_ns = clock_mono_ns;
	TEXT_FORMAT(data, "%s/..", RULES);
	assert_int_equal(setenv("VIGIL_DATA_DIR", data, 1), 0);
	made_write(&made, "log/rank-0.err", line, sizeof(line) - 1);
	struct hangrules *h = hangrules_new(&made.w, "", NULL, &job, clock_unix_ms() - 60000);
	assert_non_null(h);
	hangrules_begin(h, procs, &job, &liveness);
	while (!hangrules_step(h))
		(void)poll(NULL, 0, 2);
	const struct rulegather_result *r = hangrules_finish(h, NULL, why);
	assert_non_null(r);
	assert_true(r->log_bytes >= sizeof(line) - 1);
	assert_true(r->n_matches >= 1);
	assert_null(hangrules_free(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_book_the_reason_is_a_sentence, begin, end),
		cmocka_unit_test_setup_teardown(a_line_of_the_rank_s_log_names_the_cause, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
