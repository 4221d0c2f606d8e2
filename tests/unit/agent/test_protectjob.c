#include "testing.h"
#include "made_world.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/memory/memory.h"
#include "agent/memory/protectjob.h"

static struct made_world made;
static struct store *store;
static pid_t child;

static int begin(void **state)
{
	(void)state;
	char note[256];
	struct fault f = {.text = ""};
	made_begin(&made);
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return child < 0 || store_open(made.dir, STORE_WRITE, &store, note, &f) != 0;
}

static int end(void **state)
{
	(void)state;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	store = store_close(store);
	made_end(&made);
	return 0;
}

static int adj_of(const struct world *w)
{
	int adj = -9999;
	assert_int_equal(proc_oom_score_adj_read(w, child, &adj), 0);
	return adj;
}

static void a_dry_run_changes_and_stores_nothing(void **state)
{
	(void)state;
	static struct protectjob p;
	struct world w = live_world();
	struct fault f = {.text = ""};
	const struct members_want who = {.root = child};
	const struct protectjob_want want = {
		.members = &who, .subject = "pid", .key = "k", .level = PROTECT_NORMAL, .dry_run = true};
	int before = adj_of(&w);
	assert_int_equal(protectjob_apply(&w, &want, store, &p, &f), 0);
	assert_int_equal(p.outcome.n, 1);
	assert_int_equal(p.facts.n_processes, 1);
	assert_int_equal(adj_of(&w), before);
	protectjob_done(&p);
	struct protectjob_restored r;
	assert_int_equal(protectjob_restore(&w, store, "k", &r, &f), STORE_NONE);
	assert_non_null(strstr(f.text, "no old values are stored for k"));
	fixture_close(&w);
}

static void a_job_without_processes_is_said_to_have_none(void **state)
{
	(void)state;
	static struct protectjob p;
	struct world w = live_world();
	struct fault f = {.text = ""};
	const struct members_want who = {.root = 4194304 + 1};
	const struct protectjob_want want = {.members = &who, .subject = "job x", .key = "k", .dry_run = true};
	assert_int_equal(protectjob_apply(&w, &want, store, &p, &f), PROTECTJOB_NO_PROCESS);
	assert_string_equal(f.text, "no process of job x is alive");
	fixture_close(&w);
}

static void notes_are_restored_dropped_or_kept(void **state)
{
	(void)state;
	struct world w = live_world();
	struct fault f = {.text = ""};
	struct proc_stat st;
	struct protectjob_restored r;
	char key[80], value[16], text[32];
	int adj = adj_of(&w);
	assert_int_equal(proc_stat_read(&w, child, &st), 0);
	TEXT_FORMAT(key, "oom_score_adj\t%d\t%llu", (int)child, (unsigned long long)st.start_ticks);
	TEXT_FORMAT(value, "%d", MIN(adj + 7, 1000)); /* raising needs no right */
	assert_int_equal(store_put_note(store, "job", key, value), 0);
	TEXT_FORMAT(key, "oom_score_adj\t%d\t%llu", (int)child, (unsigned long long)st.start_ticks + 1);
	assert_int_equal(store_put_note(store, "job", key, "-900"), 0); /* another process of that number */
	assert_int_equal(store_put_note(store, "job", "memory.low\tbroken", "5"), 0);
	assert_int_equal(store_put_note(store, "job", "a note of others", "5"), 0);
	assert_int_equal(protectjob_restore(&w, store, "job", &r, &f), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.n_done, 1);
	assert_int_equal(r.n_gone, 1);
	assert_int_equal(r.n_refused, 1);
	assert_int_equal(adj_of(&w), MIN(adj + 7, 1000));
	assert_int_equal(store_get_note(store, "job", key, text, sizeof(text)), STORE_NONE);
	assert_int_equal(store_get_note(store, "job", "memory.low\tbroken", text, sizeof(text)), 0);
	fixture_close(&w);
}

static void the_memory_of_one_job_is_that_of_its_processes(void **state)
{
	(void)state;
	struct world w = live_world();
	struct fault f = {.text = ""};
	struct footprint p;
	const struct members_want who = {.root = child}, none = {.root = 4194304 + 1};
	struct memory_want want = {.members = &who, .subject = "job x", .all = true};
	assert_int_equal(memory_gather(&w, &want, &p, &f), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.rows[0].pid, child);
	assert_true(p.rows[0].rss_bytes > 4096 && p.rows[0].own_bytes <= p.rows[0].rss_bytes);
	assert_true(p.rows[0].pss != PSS_NOT_ASKED);
	assert_true(p.ledger.n >= 1);
	assert_string_equal(p.subject, "job x");
	footprint_done(&p);
	want.members = &none;
	assert_int_equal(memory_gather(&w, &want, &p, &f), MEMORY_NO_PROCESS);
	assert_string_equal(f.text, "no process of job x is alive");
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_dry_run_changes_and_stores_nothing, begin, end),
		cmocka_unit_test_setup_teardown(a_job_without_processes_is_said_to_have_none, begin, end),
		cmocka_unit_test_setup_teardown(notes_are_restored_dropped_or_kept, begin, end),
		cmocka_unit_test_setup_teardown(the_memory_of_one_job_is_that_of_its_processes, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
