#include "testing.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "model/jobs/respawns.h"

/* A child of this name that ended so, having lived for 0.1 s. */
static struct process_end end_of(pid_t parent, const char *name, int wait_status)
{
	struct process_end e = {.pid = 900,
				.parent = parent,
				.wait_status = wait_status,
				.start_unix_ms = 1000,
				.time_unix_ms = 1100,
				.cpu_ns = 50 * NS_PER_MS};
	TEXT_COPY(e.name, name);
	return e;
}

static struct respawn *fails(struct respawns *r, pid_t parent, const char *name, uint64_t at_s)
{
	const struct process_end e = end_of(parent, name, 1 << 8);
	return respawns_end(r, &e, at_s * NS_PER_S);
}

static void failures_of_a_child_are_counted_in_a_row(void **state)
{
	(void)state;
	struct respawns r = {.n = 0};
	const struct respawn *x = NULL;
	for (uint64_t i = 0; i < 10; i++) {
		x = fails(&r, 812, "python3", 100 + 2 * i);
		(void)fails(&r, 812, "curl", 100 + 2 * i);
	}
	assert_int_equal(r.n, 2);
	assert_true(x->n == 10 && x->n_same == 10 && x->since_ns == 100 * NS_PER_S);
	assert_true(respawn_gap_ns(x) == 2 * NS_PER_S && x->lived_ns == 100 * NS_PER_MS);
	assert_int_equal(x->spent_ns, 19 * 50 * NS_PER_MS); /* those of the other one as well */
	const struct process_end other = end_of(812, "python3", 2 << 8);
	x = respawns_end(&r, &other, 120 * NS_PER_S);
	assert_true(x->n == 11 && x->n_same == 1);
}

static void one_that_ends_well_begins_the_count_anew(void **state)
{
	(void)state;
	struct respawns r = {.n = 0};
	const struct process_end well = end_of(812, "gcc", 0), sleeps = end_of(812, "sleep", 0);
	(void)fails(&r, 812, "gcc", 100);
	(void)fails(&r, 812, "gcc", 101);
	assert_null(respawns_end(&r, &sleeps, 101 * NS_PER_S));
	assert_int_equal(fails(&r, 812, "gcc", 102)->n, 3);
	assert_null(respawns_end(&r, &well, 102 * NS_PER_S));
	assert_int_equal(fails(&r, 812, "gcc", 103)->n, 1);
	assert_int_equal(fails(&r, 812, "gcc", 104)->n, 2);
	/* short ones that end well are told of by the next that fails */
	struct process_end e = end_of(812, "gcc", 1 << 8);
	e.well_before = 3;
	const struct respawn *x = respawns_end(&r, &e, 105 * NS_PER_S);
	assert_true(x->n == 1 && x->since_ns == 105 * NS_PER_S);
	/* and so does one that has lived for long */
	e.well_before = 0;
	e.time_unix_ms = e.start_unix_ms + 31000;
	assert_null(respawns_end(&r, &e, 140 * NS_PER_S));
	assert_int_equal(fails(&r, 812, "gcc", 141)->n, 1);
}

static void of_many_parents_those_with_few_failures_are_given_up(void **state)
{
	(void)state;
	struct respawns r = {.n = 0};
	for (uint64_t i = 0; i < 5; i++)
		(void)fails(&r, 812, "python3", 100 + i);
	for (uint64_t i = 0; i < 1000; i++)
		(void)fails(&r, (pid_t)(2000 + i), "gcc", 200 + i);
	assert_int_equal(r.n, RESPAWNS_KEPT);
	assert_int_equal(fails(&r, 812, "python3", 2000)->n, 6);
}

static enum respawn_words words(const char *line)
{
	struct respawn x = {.n = 0};
	for (int i = 0; i < 3; i++)
		respawn_says(&x, "python3 load.py", line, NS_PER_S);
	return respawn_words_of(&x);
}

static void the_last_words_tell_an_error_from_a_question(void **state)
{
	(void)state;
	assert_int_equal(words("ValueError: bad shard 3"), RESPAWN_FAILS);
	assert_int_equal(words("[rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory"), RESPAWN_FAILS);
	assert_int_equal(words("KeyError"), RESPAWN_FAILS);
	assert_int_equal(words("run.sh: line 3:   812 Segmentation fault      (core dumped) ./load"), RESPAWN_FAILS);
	assert_int_equal(words("thread 'main' panicked at src/main.rs:3:5"), RESPAWN_FAILS);
	assert_int_equal(words("make: *** [Makefile:2: train] Error 1"), RESPAWN_FAILS);
	assert_int_equal(words("load.rb:1:in `<main>': bad shard (RuntimeError)"), RESPAWN_FAILS);
	assert_int_equal(words("\t/job/main.go:5 +0x1d"), RESPAWN_FAILS);
	assert_int_equal(words("Node.js v18.19.0"), RESPAWN_FAILS);
	assert_int_equal(words("ModuleNotFoundError: No module named 'fastdata'"), RESPAWN_FAILS);
	assert_int_equal(words("FileNotFoundError: no index yet"), RESPAWN_ASKS);
	assert_int_equal(words("ConnectionRefusedError: [Errno 111] Connection refused"), RESPAWN_ASKS);
	assert_int_equal(words("FileNotFoundError: [Errno 2] No such file or directory: '/data/ready'"), RESPAWN_ASKS);
	assert_int_equal(words("curl: (7) Failed to connect to localhost port 8000"), RESPAWN_ASKS);
	assert_int_equal(words("AssertionError"), RESPAWN_ASKS);
	assert_int_equal(words("waiting for the service"), RESPAWN_ASKS);
	assert_int_equal(words("worker: bad magic number"), RESPAWN_SAYS);
	assert_int_equal(words("Errors: none"), RESPAWN_SAYS);
	assert_int_equal(words(""), RESPAWN_SILENT);
	struct respawn x = {.n = 0};
	respawn_says(&x, "", "ValueError: bad shard 3", 0);
	respawn_says(&x, "", "ValueError: bad shard 17", 0); /* numbers do not matter */
	assert_int_equal(respawn_words_of(&x), RESPAWN_SILENT);
	respawn_says(&x, "", "ValueError: bad shard 18", 0);
	assert_int_equal(respawn_words_of(&x), RESPAWN_FAILS);
	respawn_says(&x, "", "step 12 loss 0.5", 0);
	assert_int_equal(respawn_words_of(&x), RESPAWN_SILENT);
}

static void a_fault_is_a_signal_that_nobody_sends_to_end_a_process(void **state)
{
	(void)state;
	static const struct {
		int wait_status;
		bool fault;
	} cases[] = {{SIGSEGV, true},	      {SIGABRT | 0x80, true}, {(128 + SIGSEGV) << 8, true}, {SIGKILL, false},
		     {SIGTERM, false}, {1 << 8, false},	      {127 << 8, false}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(respawn_by_fault(&(struct respawn){.wait_status = cases[i].wait_status}),
				 cases[i].fault);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_of_a_child_are_counted_in_a_row),
		cmocka_unit_test(one_that_ends_well_begins_the_count_anew),
		cmocka_unit_test(of_many_parents_those_with_few_failures_are_given_up),
		cmocka_unit_test(the_last_words_tell_an_error_from_a_question),
		cmocka_unit_test(a_fault_is_a_signal_that_nobody_sends_to_end_a_process),
	};
	return cmocka_run_group_tests_name("model/respawns", tests, NULL, NULL);
}
