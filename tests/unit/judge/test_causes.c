#include "testing.h"
#include "testing_rules.h"

#include <math.h>

#include "judge/rules/causes.h"

static struct rulebook book;

static int load(void **state)
{
	(void)state;
	book_of(&book);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	rulebook_done(&book);
	return 0;
}

static void on_match(void *data, const struct rule_match *m)
{
	assert_int_equal(cause_set_add(data, m), 0);
}

static void add(struct cause_set *set, enum rule_source source, const char *file, int32_t rank, const char *text)
{
	struct rulescan *r = NULL;
	assert_int_equal(rulescan_new(&book, LITERAL_OWN, on_match, set, &r), 0);
	assert_int_equal(rulescan_text(r, source, file, rank, span_of(text)), 0);
	rulescan_free(r);
}

static int judged(struct cause_set *set, struct cause_verdict *v)
{
	int r = causes_judge(set, v);
	cause_set_done(set);
	return r;
}

#define TIMEOUT(rank)                                                                                                  \
	"[Rank " rank "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "          \
	"NumelIn=4\n"

static void a_root_goes_before_what_follows_from_it(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "rank-0.err", 0, TIMEOUT("0"));
	add(&set, RULE_LOG, "rank-1.err", 1, TIMEOUT("1"));
	add(&set, RULE_LOG, "rank-2.err", 2, "RuntimeError: DataLoader timed out after 60 seconds\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "loader_timeout");
	assert_int_equal(v.confidence, RULE_MEDIUM);
	assert_int_equal(v.n_culprits, 1);
	assert_int_equal(v.culprits[0], 2);
	assert_int_equal(v.n_others, 1);
	assert_string_equal(v.others[0], "collective_timeout");
	assert_non_null(strstr(v.evidence[1].text, "2 times on 2 ranks"));
}

static void consequences_alone_are_told_with_low_confidence(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0, TIMEOUT("0"));
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "collective_timeout");
	assert_int_equal(v.confidence, RULE_LOW);
	assert_int_equal(v.n_culprits, 0);
	assert_non_null(strstr(v.text, "(ALLREDUCE)"));
}

static void a_report_names_the_ranks_of_a_time_out(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0,
	    TIMEOUT("0") "the lagging/dead/mismatched ranks that caused the desync are: [1, 3]\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "collective_timeout");
	assert_int_equal(v.confidence, RULE_MEDIUM);
	assert_int_equal(v.n_culprits, 2);
	assert_int_equal(v.culprits[0], 1);
	assert_int_equal(v.culprits[1], 3);
}

static void the_earliest_root_by_time_is_the_cause(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0, "2026-11-20 10:04:45 RuntimeError: DataLoader timed out after 60 seconds\n");
	add(&set, RULE_LOG, "b", 1, "2026-11-20 10:04:41 CUDA error: unspecified launch failure\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "cuda_illegal_access");
	assert_int_equal(v.culprits[0], 1);
	assert_int_equal(v.evidence[0].time_unix_ms, INT64_C(1795169081000));
}

static void confidence_rises_by_evidence_and_never_above_the_rule(void **state)
{
	(void)state;
	const char *line =
		"NET/IB: Got completion from peer n2<1> with status=12 opcode=1 len=0 vendor err 129 hca mlx5_0\n";
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0, line);
	assert_int_equal(judged(&set, &v), 0);
	assert_int_equal(v.confidence, RULE_MEDIUM);
	assert_non_null(strstr(v.text, "4.096 us x 2^20 x 7 = 30.1 s"));
	assert_non_null(strstr(v.text, "the peer n2<1> is dead"));
	add(&set, RULE_LOG, "a", 0, line);
	assert_true(cause_set_fact(&set, "ib_ack_timeouts", "12"));
	assert_true(cause_set_fact(&set, "NCCL_IB_TIMEOUT", "18"));
	assert_true(cause_set_fact(&set, "NCCL_IB_RETRY_CNT", "5"));
	assert_int_equal(judged(&set, &v), 0);
	assert_int_equal(v.confidence, RULE_HIGH);
	assert_non_null(strstr(v.text, "4.096 us x 2^18 x 5 = 5.37 s"));
	assert_non_null(strstr(v.advice[1], "set NCCL_IB_TIMEOUT=22, which waits 4.096 us x 2^22 x 5"));
	/* who waits that long already is not told to */
	add(&set, RULE_LOG, "a", 0, line);
	assert_true(cause_set_fact(&set, "NCCL_IB_TIMEOUT", "22"));
	assert_int_equal(judged(&set, &v), 0);
	assert_null(strstr(v.advice[1], "set NCCL_IB_TIMEOUT"));
	assert_non_null(strstr(v.advice[1], "NCCL_IB_TIMEOUT is 22 already"));
	assert_true(fabs(causes_ib_timeout_s(22, 7) - 120.259) < 0.01);
	assert_true(causes_ib_timeout_s(77, 7) == 0);
}

static void what_a_line_does_not_tell_leaves_no_hole(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0, "NET/IB : Got completion with error 12, opcode 32601, len 11155, vendor err 129\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_non_null(strstr(v.text, "the peer is dead"));
	assert_non_null(strstr(v.advice[0], "Look at the peer and the adapter: link_downed"));
}

static void what_must_be_known_is_waited_for(void **state)
{
	(void)state;
	const char *line = "n2:1:2 [0] NCCL INFO Channel 00/0 : 3[3] -> 10[2] [send] via NET/Socket/0\n";
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", 0, line);
	assert_int_equal(judged(&set, &v), CAUSES_NONE);
	add(&set, RULE_LOG, "a", 0, line);
	assert_true(cause_set_fact(&set, "ib_active", ""));
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "socket_instead_of_ib");
}

#define INIT(host, rank, what)                                                                                         \
	host ":11:12 [0] NCCL INFO ncclCommInitRank comm 0x5" rank " rank " rank                                       \
	     " nranks 4 cudaDev 0 busId 5f000 commId 0x9 - Init " what "\n"

static void who_did_not_come_to_the_start_is_named(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", NO_RANK, INIT("n1", "0", "START") INIT("n1", "1", "START") INIT("n2", "3", "START"));
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "init_incomplete");
	assert_int_equal(v.n_culprits, 1);
	assert_int_equal(v.culprits[0], 2);
	add(&set, RULE_LOG, "a", NO_RANK,
	    INIT("n1", "0", "START") INIT("n1", "1", "START") INIT("n1", "1", "COMPLETE") INIT("n1", "0", "COMPLETE"));
	assert_int_equal(judged(&set, &v), CAUSES_NONE);
}

#define CHANNEL(host, via) host ":1:2 [0] NCCL INFO Channel 00/0 : 3[3] -> 10[2] [send] via NET/IB/0" via "\n"

static void gpudirect_on_some_machines_only_is_a_cause(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_LOG, "a", NO_RANK, CHANNEL("n1", "/GDRDMA") CHANNEL("n2", ""));
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "gdr_mismatch");
	assert_non_null(strstr(v.text, "n2 does not"));
	add(&set, RULE_LOG, "a", NO_RANK, CHANNEL("n1", "/GDRDMA") CHANNEL("n2", "/GDRDMA"));
	assert_int_equal(judged(&set, &v), CAUSES_NONE);
	add(&set, RULE_LOG, "a", NO_RANK, CHANNEL("n1", "") CHANNEL("n2", ""));
	assert_int_equal(judged(&set, &v), CAUSES_NONE);
}

static void an_nfs_server_that_came_back_is_none(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	add(&set, RULE_KMSG, "k", NO_RANK,
	    "[ 10.000000] nfs: server s1 not responding, still trying\n"
	    "[ 20.000000] nfs: server s2 not responding, still trying\n[ 30.000000] nfs: server s1 OK\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "nfs_not_responding");
	assert_non_null(strstr(v.text, "s2"));
}

static void a_flood_stays_within_bounds(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	char text[200];
	for (int i = 0; i < 3000; i++) {
		TEXT_FORMAT(text, "n%d:11:12 [0] NCCL INFO x comm 0x5%d rank %d nranks 8000 cudaDev 0 - Init START\n",
			    i, i, i);
		struct rule_match m = {.rule = rulebook_find(&book, "init_incomplete"), .rank = i};
		TEXT_COPY(m.text, text);
		TEXT_FORMAT(m.value[RULE_RANK], "%d", i);
		TEXT_COPY(m.value[RULE_NRANKS], "8000");
		assert_int_equal(cause_set_add(&set, &m), 0);
	}
	assert_int_equal(set.n, CAUSE_GROUPS);
	assert_int_equal(set.n_dropped, 3000 - CAUSE_GROUPS);
	assert_int_equal(judged(&set, &v), 0);
	assert_int_equal(v.n_culprits, 0);
}

static void a_rule_on_stacks_says_whose_thread_it_found(void **state)
{
	(void)state;
	struct cause_set set = {.groups = NULL};
	struct cause_verdict v;
	const char *helper =
		"pid=9 tid=10 comm=ckpt rank=2 thread=other threads=3 state=D wchan=nfs4_wait write;save\n";
	add(&set, RULE_STACK, "stacks", NO_RANK, helper);
	assert_int_equal(judged(&set, &v), 0);
	assert_string_equal(v.id, "storage_stall");
	assert_true(v.of_stack && !v.of_main_thread && v.n_stack_ranks == 1 && v.stack_ranks[0] == 2);
	set = (struct cause_set){.groups = NULL};
	add(&set, RULE_STACK, "stacks", NO_RANK, helper);
	add(&set, RULE_STACK, "stacks", NO_RANK,
	    "pid=9 tid=9 comm=python rank=2 thread=main threads=3 state=D wchan=nfs4_wait write;save\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_true(v.of_stack && v.of_main_thread && v.n_stack_ranks == 1);
	add(&set, RULE_LOG, "rank-2.err", 2, "RuntimeError: DataLoader timed out after 60 seconds\n");
	assert_int_equal(judged(&set, &v), 0);
	assert_false(v.of_stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_root_goes_before_what_follows_from_it),
		cmocka_unit_test(consequences_alone_are_told_with_low_confidence),
		cmocka_unit_test(a_report_names_the_ranks_of_a_time_out),
		cmocka_unit_test(the_earliest_root_by_time_is_the_cause),
		cmocka_unit_test(confidence_rises_by_evidence_and_never_above_the_rule),
		cmocka_unit_test(what_a_line_does_not_tell_leaves_no_hole),
		cmocka_unit_test(what_must_be_known_is_waited_for),
		cmocka_unit_test(who_did_not_come_to_the_start_is_named),
		cmocka_unit_test(gpudirect_on_some_machines_only_is_a_cause),
		cmocka_unit_test(an_nfs_server_that_came_back_is_none),
		cmocka_unit_test(a_flood_stays_within_bounds),
		cmocka_unit_test(a_rule_on_stacks_says_whose_thread_it_found),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
