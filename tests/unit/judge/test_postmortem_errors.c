#include "testing.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "judge/death/postmortem.h"

#define EXITED(code) ((code) << 8)

static struct incident in;

static void judge(int32_t rank, int status, const struct rank_error *e, size_t n, const char *traceback)
{
	static struct death d;
	struct log_hint said = {.id = "python_traceback", .rank = NO_RANK};
	memset(&d, 0, sizeof(d));
	d.pid = 100 + rank;
	d.rank = rank;
	TEXT_COPY(d.name, "python3");
	d.has_status = true;
	d.wait_status = status;
	d.start_unix_ms = 1000;
	d.end_unix_ms = 9000;
	d.errors = e;
	d.n_errors = n;
	if (traceback) {
		TEXT_COPY(said.text, traceback);
		d.hints = &said;
		d.n_hints = 1;
	}
	postmortem(&d, &in);
}

static const struct rank_error cascade[] = {
	{.rank = 0, .follows = true, .time_unix_ms = 5100, .text = "RuntimeError: Connection closed by peer"},
	{.rank = 2,
	 .time_unix_ms = 5000,
	 .text = "RuntimeError: boom",
	 .where = "/srv/train.py:40 (step)",
	 .source = "rank-2.error.json"},
};

static void who_failed_first_is_the_root_of_a_cascade(void **state)
{
	(void)state;
	judge(0, EXITED(1), cascade, 2, "RuntimeError: Connection closed by peer");
	assert_string_equal(in.cause.id, "rank_failed_first");
	assert_int_equal(in.kind, INCIDENT_ERROR_EXIT);
	assert_int_equal(in.n_culprits, 1);
	assert_int_equal(in.culprit_ranks[0], 2);
	assert_non_null(strstr(in.summary, "Rank 2 failed first: RuntimeError: boom."));
	assert_non_null(strstr(in.cause.text, "/srv/train.py:40 (step)"));
	/* NCCL's watchdog ends a rank by abort */
	judge(0, SIGABRT, cascade, 2, NULL);
	assert_string_equal(in.cause.id, "rank_failed_first");
}

/* In the report of such an end another rank's own crash is looked for. */
static void words_of_a_lost_peer_may_follow_from_another_rank(void **state)
{
	static const char *const lost[] = {"rank 0: peer closed its connection", "Connection reset by peer",
					   "Broken pipe"};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		judge(0, EXITED(1), NULL, 0, NULL);
		in.victim.rank = 0;
		in.n_culprits = 0; /* itself, as it gave no reason */
		TEXT_COPY(in.summary, lost[i]);
		assert_true(postmortem_may_follow(&in));
	}
	/* what a program's own transport raises; a client's of a server elsewhere has its module's name in front */
	judge(0, EXITED(1), NULL, 0, NULL);
	in.victim.rank = 0;
	in.n_culprits = 0;
	TEXT_COPY(in.cause.id, "python_exception");
	TEXT_COPY(in.summary, "rank 0 ended with a Python exception: ConnectionError: peer gone");
	assert_true(postmortem_may_follow(&in));
	TEXT_COPY(in.summary, "rank 0 ended with a Python exception: requests.exceptions.ConnectionError: no route");
	assert_false(postmortem_may_follow(&in));
	TEXT_COPY(in.summary, "rank 0: cannot read shard 7");
	assert_false(postmortem_may_follow(&in));
}

static void what_is_proved_otherwise_stays(void **state)
{
	(void)state;
	/* a kill is no consequence of an exception elsewhere, nor is a crash */
	judge(0, SIGKILL, cascade, 2, NULL);
	assert_string_equal(in.cause.id, "sigkill_unknown");
	judge(0, SIGSEGV, cascade, 2, NULL);
	assert_string_equal(in.cause.id, "sigsegv");
	assert_int_equal(in.n_culprits, 1); /* itself, and nobody else */
	assert_int_equal(in.culprit_ranks[0], 0);
	/* an exception of its own without a time may have come first */
	judge(0, EXITED(1), cascade + 1, 1, "KeyError: 'x'");
	assert_string_equal(in.cause.id, "python_exception");
	assert_int_equal(in.n_culprits, 1); /* itself, and nobody else */
	assert_int_equal(in.culprit_ranks[0], 0);
}

static void a_later_exception_is_no_root(void **state)
{
	(void)state;
	const struct rank_error late = {.rank = 2, .time_unix_ms = 9500, .text = "RuntimeError: boom"};
	judge(0, EXITED(1), &late, 1, NULL);
	assert_string_equal(in.cause.id, "exit_1");
	const struct rank_error timeless = {.rank = 2, .text = "RuntimeError: boom"};
	judge(0, EXITED(1), &timeless, 1, NULL);
	assert_string_equal(in.cause.id, "exit_1");
}

static void the_ranks_own_file_says_what_its_log_does_not(void **state)
{
	(void)state;
	judge(2, EXITED(1), cascade, 2, NULL);
	assert_string_equal(in.cause.id, "python_exception");
	assert_non_null(strstr(in.summary, "RuntimeError: boom"));
	assert_int_equal(in.n_culprits, 1);
	assert_int_equal(in.culprit_ranks[0], 2);
	size_t shown = 0;
	for (size_t i = 0; i < in.n_evidence; i++) {
		if (strcmp(in.evidence[i].kind, "error_file") != 0)
			continue;
		assert_non_null(strstr(in.evidence[i].text, shown ? "rank 0" : "rank 2"));
		assert_int_equal(in.evidence[i].time_unix_ms, shown ? 5100 : 5000);
		shown++;
	}
	assert_int_equal(shown, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_failed_first_is_the_root_of_a_cascade),
		cmocka_unit_test(words_of_a_lost_peer_may_follow_from_another_rank),
		cmocka_unit_test(what_is_proved_otherwise_stays),
		cmocka_unit_test(a_later_exception_is_no_root),
		cmocka_unit_test(the_ranks_own_file_says_what_its_log_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
