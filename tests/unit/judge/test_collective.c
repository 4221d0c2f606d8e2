/* Scenarios: what the dumps of all ranks say, and who is to blame for it. */
#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "judge/collective/collective.h"

#define RANKS 8

/* Dumps of a job, written as JSON call by call. */
struct job {
	int world;
	struct rank {
		char entries[16384];
		struct buf b;
		unsigned n, p2p;
		unsigned seq[4];
		bool absent, cut;
	} rank[RANKS];
	const char *groups; /* pg_config */
};
static struct job job;

static void begin(int world, const char *groups)
{
	job = (struct job){.world = world, .groups = groups};
	for (int i = 0; i < RANKS; i++) {
		job.rank[i].b = BUF_ON(job.rank[i].entries);
		buf_reset(&job.rank[i].b);
	}
}

#define ALL "\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": \"[0, 1, 2, 3]\"}"
#define TWO                                                                                                            \
	"\"0\": {\"name\": \"0\", \"desc\": \"dp\", \"ranks\": \"[0, 1]\"}, "                                          \
	"\"1\": {\"name\": \"1\", \"desc\": \"tp\", \"ranks\": \"[0, 1]\"}"

static void entry(int rank, int group, const char *op, const char *size, const char *dtype, bool done, unsigned seq,
		  bool p2p)
{
	struct rank *r = &job.rank[rank];
	buf_printf(
		&r->b,
		"%s{\"record_id\": %u, \"pg_id\": %d, \"process_group\": [\"%d\", \"%s\"], \"collective_seq_id\": %u, "
		"\"p2p_seq_id\": %u, \"op_id\": %u, \"profiling_name\": \"nccl:%s\", \"time_created_ns\": %u, "
		"\"input_sizes\": [%s], \"output_sizes\": [%s], \"input_dtypes\": [\"%s\"], \"output_dtypes\": "
		"[\"%s\"], "
		"\"state\": \"%s\", \"retired\": %s, \"is_p2p\": %s}",
		r->n ? ", " : "", r->n, group, group, "", p2p ? 0 : seq, p2p ? seq : 0, r->n, op, 1000 + r->n * 10,
		size, size, dtype, dtype, done ? "completed" : "scheduled", done ? "true" : "false",
		p2p ? "true" : "false");
	r->n++;
}

static void call(int rank, int group, const char *op, const char *size, bool done)
{
	entry(rank, group, op, size, "Float", done, ++job.rank[rank].seq[group], false);
}

static void steps(int n, int from, int to)
{
	for (int r = from; r <= to; r++)
		for (int i = 0; i < n; i++)
			call(r, 0, "all_reduce", "[8]", true);
}

static struct collective_verdict v;

static int judge(void)
{
	static char text[65536];
	cleanup(collective_freep) struct collective_set *s = collective_new();
	assert_non_null(s);
	for (int i = 0; i < job.world; i++) {
		struct flightrec r = {.n_entries = 0};
		struct fault f = {.text = ""};
		if (job.rank[i].absent) {
			assert_int_equal(collective_add_absent(s, i, "no dump: there is no such file"), 0);
			continue;
		}
		int len =
			snprintf(text, sizeof(text), "{\"version\": \"2.4\", \"pg_config\": {%s}, \"entries\": [%s]%s",
				 job.groups, job.rank[i].entries, job.rank[i].cut ? "" : "}");
		if (flightrec_parse((struct span){text, (size_t)len}, &r, &f) != 0)
			fail_msg("%s", f.text);
		assert_int_equal(r.n_entries, job.rank[i].n - job.rank[i].cut);
		assert_int_equal(collective_add_flightrec(s, i, &r), 0);
		flightrec_done(&r);
	}
	assert_int_equal(collective_seal(s), 0);
	return collective_judge(s, &v);
}

static void blamed(enum collective_kind kind, enum confidence c, const char *ranks, const char *says)
{
	char list[256];
	struct buf b = BUF_ON(list);
	assert_int_equal(judge(), 0);
	buf_reset(&b);
	for (size_t i = 0; i < v.n_culprits; i++)
		buf_printf(&b, i ? " %d" : "%d", v.culprits[i]);
	if (v.kind != kind || v.confidence != c || strcmp(list, ranks) != 0 || !strstr(v.text, says))
		fail_msg("%s, confidence %d, culprits '%s': %s", collective_kind_name(v.kind), v.confidence, list,
			 v.text);
	assert_true(v.valid);
	assert_true(kind == COLLECTIVE_NONE || v.n_advice > 0);
}

static void a_rank_that_did_not_join_is_named(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(3, 0, 3);
	for (int r = 0; r < 3; r++)
		call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3",
	       "ranks 0-2 wait in all_reduce number 4 of group default_pg; rank 3 did not join and waits nowhere else. "
	       "The last call of rank 3 was all_reduce, which ended.");
	assert_int_equal(v.seq, 4);
}

static void the_first_rank_is_not_taken_for_right(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(2, 0, 3);
	call(0, 0, "all_gather", "[8]", false);
	for (int r = 1; r < 4; r++)
		call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "0",
	       "Number 3 of group default_pg is not the same call everywhere: rank 0 called all_gather, ranks 1-3 "
	       "all_reduce.");
}

static void sizes_and_types_are_compared(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(2, 0, 3);
	for (int r = 0; r < 4; r++)
		call(r, 0, "all_reduce", r == 2 ? "[6]" : "[8]", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "2",
	       "rank 2 called all_reduce of [[6]], ranks 0, 1, 3 all_reduce of [[8]].");
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		entry(r, 0, "all_reduce", "[8]", r == 1 ? "Half" : "Float", false, 1, false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "1",
	       "rank 1 called all_reduce of Half, ranks 0, 2, 3 all_reduce of Float.");
}

static void shapes_of_one_size_are_the_same(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		call(r, 0, "all_reduce", r == 2 ? "[4, 2]" : "[8]", false);
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "All ranks are in all_reduce number 1");
}

static void all_to_all_may_differ_in_size(void **state)
{
	(void)state;
	char size[16];
	begin(4, ALL);
	for (int r = 0; r < 4; r++) {
		snprintf(size, sizeof(size), "[%d]", r + 5);
		call(r, 0, "all_to_all", size, false);
	}
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "All ranks are in all_to_all number 1");
}

static void sizes_that_differ_and_worked_are_no_mistake(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		call(r, 0, "all_gather", r == 2 ? "[6]" : "[8]", true);
	steps(1, 0, 3);
	for (int r = 1; r < 4; r++)
		call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "0", "rank 0 did not join");
}

static void two_against_two_names_both_and_says_so(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		call(r, 0, r < 2 ? "all_reduce" : "all_gather", "[8]", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_LOW, "0 1 2 3", "cannot be told");
}

static void a_call_left_out_is_recognised_later(void **state)
{
	(void)state;
	static const char *const ops[] = {"all_reduce", "all_gather", "broadcast", "reduce_scatter", "all_reduce"};
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		for (int i = 0; i < 5; i++)
			if (r != 3 || i != 1)
				call(r, 0, ops[i], "[8]", i == 0);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "3", "are 1 ahead: they left out this call.");
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		for (int i = 0; i < 5; i++) {
			if (r == 3 && i == 1)
				call(r, 0, "reduce", "[8]", false);
			call(r, 0, ops[i], "[8]", i == 0);
		}
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "3", "are 1 behind: they made one too many.");
}

static void a_send_without_its_receive(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(2, 0, 3);
	entry(1, 0, "send 1->2", "[8]", "Float", false, 1, true);
	blamed(COLLECTIVE_P2P, CONFIDENCE_HIGH, "2", "rank 2 never made the receive and waits nowhere else");
	begin(4, ALL);
	entry(0, 0, "send 0->1", "[8]", "Float", true, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Float", true, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Float", false, 2, true);
	blamed(COLLECTIVE_P2P, CONFIDENCE_HIGH, "0", "rank 0 never made the send");
}

static void a_pipeline_stalls_where_its_chain_begins(void **state)
{
	(void)state;
	begin(4, ALL);
	/* 0 sends to 1, which receives from nobody before it has sent to 2, which waits for 3 */
	entry(0, 0, "send 0->1", "[8]", "Float", false, 1, true);
	entry(1, 0, "send 1->2", "[8]", "Float", false, 1, true);
	entry(2, 0, "send 2->3", "[8]", "Float", false, 1, true);
	blamed(COLLECTIVE_P2P, CONFIDENCE_HIGH, "3", "rank 3 never made the receive");
}

static void both_send_first(void **state)
{
	(void)state;
	begin(2, TWO);
	entry(0, 0, "send 0->1", "[8]", "Float", false, 1, true);
	entry(1, 0, "send 1->0", "[8]", "Float", false, 1, true);
	blamed(COLLECTIVE_CYCLE, CONFIDENCE_MEDIUM, "0 1", "Ranks wait for each other");
	assert_non_null(strstr(v.advice[0], "receive first"));
}

static void groups_in_another_order_are_a_circle(void **state)
{
	(void)state;
	begin(2, TWO);
	call(0, 0, "all_reduce", "[8]", false);
	call(1, 1, "all_gather", "[8]", false);
	blamed(COLLECTIVE_CYCLE, CONFIDENCE_MEDIUM, "0 1",
	       "rank 0 waits in all_reduce number 1 of group dp, where rank 1 is "
	       "missing; rank 1 waits in all_gather number 1 of group tp, where "
	       "rank 0 is missing.");
	begin(4, "\"0\": {\"name\": \"0\", \"desc\": \"dp\", \"ranks\": \"[0, 1, 2, 3]\"}, "
		 "\"1\": {\"name\": \"1\", \"desc\": \"tp\", \"ranks\": \"[0, 1, 2, 3]\"}");
	for (int r = 0; r < 4; r++)
		call(r, r == 3, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_CYCLE, CONFIDENCE_HIGH, "3", "Ranks wait for each other");
}

static void who_is_stuck_elsewhere_is_excused(void **state)
{
	(void)state;
	/* 2 misses the large group, but stands in the small one, where 3 does not come */
	begin(4, "\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": \"[0, 1, 2, 3]\"}, "
		 "\"1\": {\"name\": \"1\", \"desc\": \"tp\", \"ranks\": \"[2, 3]\"}");
	call(0, 0, "all_reduce", "[8]", false);
	call(1, 0, "all_reduce", "[8]", false);
	call(2, 1, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3", "rank 3 did not join");
}

static void equal_calls_are_nobodys_fault(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(2, 0, 3);
	for (int r = 0; r < 4; r++)
		call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "lies below");
}

static void a_dump_that_is_not_there_is_evidence(void **state)
{
	(void)state;
	begin(4, ALL);
	job.rank[1].absent = true;
	for (int r = 0; r < 4; r++)
		if (r != 1)
			call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_MEDIUM, "1", "of rank 1 there is no record");
	/* with most of them missing nobody is blamed */
	begin(4, ALL);
	job.rank[1].absent = job.rank[2].absent = job.rank[3].absent = true;
	call(0, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_LOW, "", "cannot be told");
}

static void a_dump_that_lost_its_end_is_not_held_against_its_rank(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(1, 0, 3);
	job.rank[2].cut = true;
	for (int r = 0; r < 4; r++)
		if (r < 2)
			call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_MEDIUM, "3", "rank 3 did not join");
}

static void what_has_ended_is_no_hang(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(5, 0, 3);
	blamed(COLLECTIVE_NONE, CONFIDENCE_MEDIUM, "", "no collective waits");
	/* an older call that was never marked as ended, before one that was */
	begin(4, ALL);
	for (int r = 0; r < 4; r++) {
		call(r, 0, "all_reduce", "[8]", false);
		call(r, 0, "all_reduce", "[8]", true);
	}
	blamed(COLLECTIVE_NONE, CONFIDENCE_MEDIUM, "", "no collective waits");
}

static void a_ring_that_wrapped_has_still_passed(void **state)
{
	(void)state;
	begin(4, ALL);
	/* rank 0 has forgotten number 5, and is at 7 */
	for (int r = 1; r < 3; r++)
		entry(r, 0, "all_reduce", "[8]", "Float", false, 5, false);
	entry(0, 0, "all_reduce", "[8]", "Float", false, 7, false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3", "ranks 1, 2 wait in all_reduce number 5");
}

/* The call has ended on all but one rank. */
static void ended_but_on(int rank, const char *op)
{
	for (int r = 0; r < 4; r++)
		call(r, 0, op, "[8]", r != rank);
}

static void a_device_that_ends_nothing_is_named(void **state)
{
	(void)state;
	begin(4, ALL);
	steps(2, 0, 3);
	ended_but_on(2, "all_reduce");
	blamed(COLLECTIVE_DEVICE, CONFIDENCE_MEDIUM, "2",
	       "all_reduce number 3 of group default_pg has ended on ranks 0, 1, 3 and not on rank 2, though all are "
	       "in "
	       "it: the device of rank 2 stands");
	assert_non_null(strstr(v.advice[0], "Xid"));
	/* the others have gone on, and wait in a call that it never asked for */
	begin(4, ALL);
	steps(2, 0, 3);
	ended_but_on(2, "all_reduce");
	ended_but_on(2, "all_gather");
	for (int r = 0; r < 4; r++)
		if (r != 2)
			call(r, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_DEVICE, CONFIDENCE_HIGH, "2", "The others have gone on, and wait for it now.");
	assert_int_equal(v.seq, 3);
}

static void one_of_two_devices(void **state)
{
	(void)state;
	begin(2, TWO);
	call(0, 0, "all_reduce", "[8]", false);
	call(1, 0, "all_reduce", "[8]", true);
	blamed(COLLECTIVE_DEVICE, CONFIDENCE_MEDIUM, "0", "has ended on rank 1 and not on rank 0");
}

static void most_devices_are_not_to_blame(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		call(r, 0, "all_reduce", "[8]", r == 0);
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "",
	       "ranks 1-3 are still in all_reduce number 1 of group default_pg, which has ended on rank 0");
}

static void a_rank_that_did_not_join_is_no_device(void **state)
{
	(void)state;
	/* a broadcast can end where it begins, before all have come to it */
	begin(4, ALL);
	for (int r = 0; r < 3; r++)
		call(r, 0, "broadcast", "[8]", r == 0);
	call(0, 0, "all_reduce", "[8]", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3", "ranks 1, 2 wait in broadcast number 1");
}

static void a_broadcast_behind_another_wait_is_no_device(void **state)
{
	(void)state;
	/* 2 waits for 3 in tp; the broadcast behind that has ended everywhere else */
	begin(4, "\"0\": {\"name\": \"0\", \"desc\": \"dp\", \"ranks\": \"[0, 1, 2]\"}, "
		 "\"1\": {\"name\": \"1\", \"desc\": \"tp\", \"ranks\": \"[2, 3]\"}");
	call(2, 1, "all_reduce", "[8]", false);
	for (int r = 0; r < 3; r++)
		call(r, 0, "broadcast", "[8]", r != 2);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_MEDIUM, "3", "rank 3 did not join");
	/* without that wait it is the device */
	begin(3, "\"0\": {\"name\": \"0\", \"desc\": \"dp\", \"ranks\": \"[0, 1, 2]\"}");
	for (int r = 0; r < 3; r++)
		call(r, 0, "broadcast", "[8]", r != 2);
	blamed(COLLECTIVE_DEVICE, CONFIDENCE_MEDIUM, "2", "has ended on ranks 0, 1 and not on rank 2");
}

/* An uneven all_gather or reduce_scatter: a part for each rank, and the call itself, all of one number. */
static void uneven(int rank, const char *part, const char *whole, unsigned seq, bool done, const char *odd)
{
	for (int i = 0; i < 4; i++) {
		char size[16];
		snprintf(size, sizeof(size), "[%d]", 5 + i);
		entry(rank, 0, part, odd && i == 1 ? odd : size, "Float", done, seq, false);
	}
	entry(rank, 0, whole, "[]", "Float", done, seq, false);
	job.rank[rank].seq[0] = seq;
}

static void uneven_calls_are_healthy_batches(void **state)
{
	(void)state;
	static const char *const names[][2] = {{"_broadcast_oop", "ALLGATHER_coalesced"},
					       {"_reduce_oop", "REDUCE_SCATTER_coalesced"}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		begin(4, ALL);
		for (int r = 0; r < 4; r++)
			uneven(r, names[i][0], names[i][1], 1, true, NULL);
		blamed(COLLECTIVE_NONE, CONFIDENCE_MEDIUM, "", "no collective waits");
		/* and they hide nothing */
		steps(1, 0, 3);
		for (int r = 0; r < 4; r++)
			if (r != 1)
				call(r, 0, "all_reduce", "[8]", false);
		blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "1", "rank 1 did not join");
		begin(4, ALL);
		for (int r = 0; r < 3; r++)
			uneven(r, names[i][0], names[i][1], 1, false, NULL);
		blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3", names[i][1]);
		/* a part is wrong */
		begin(4, ALL);
		for (int r = 0; r < 4; r++)
			uneven(r, names[i][0], names[i][1], 1, false, r == 2 ? "[9]" : NULL);
		blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "2", "in its batch, rank 2 called");
	}
}

static void a_batch_that_lost_its_end_is_no_other_call(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		uneven(r, "_broadcast_oop", "ALLGATHER_coalesced", 1, false, NULL);
	job.rank[2].cut = true;
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "does not end");
}

static void a_call_named_like_a_batch_is_one(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		call(r, 0, "allreduce_coalesced", r == 3 ? "[6]" : "[8]", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "3", "rank 3 called allreduce_coalesced of [[6]]");
}

static void a_send_and_its_receive_differ(void **state)
{
	(void)state;
	begin(2, TWO);
	entry(0, 0, "send 0->1", "[8]", "Float", true, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Float", true, 1, true);
	entry(0, 0, "send 0->1", "[8]", "Float", false, 2, true);
	entry(1, 0, "recv 1<-0", "[6]", "Float", false, 2, true);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_MEDIUM, "0 1",
	       "A send and its receive in group dp differ in size: rank 0 sends [[8]], rank 1 receives [[6]].");
	begin(2, TWO);
	entry(0, 0, "send 0->1", "[8]", "Float", false, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Half", false, 1, true);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_MEDIUM, "0 1", "rank 0 sends Float, rank 1 receives Half");
	begin(2, TWO);
	entry(0, 0, "send 0->1", "[2, 4]", "Float", false, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Float", false, 1, true);
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "made the same call");
}

static void a_send_that_was_received_is_not_missing(void **state)
{
	(void)state;
	begin(2, TWO);
	entry(0, 0, "send 0->1", "[8]", "Float", false, 1, true);
	entry(1, 0, "recv 1<-0", "[8]", "Float", true, 1, true);
	blamed(COLLECTIVE_DEVICE, CONFIDENCE_MEDIUM, "0", "has ended on rank 1 and not on rank 0");
}

/* As entry(), with an output of its own. */
static void giving(int rank, const char *in, const char *out, const char *out_type, bool done)
{
	struct rank *r = &job.rank[rank];
	buf_printf(&r->b,
		   "%s{\"record_id\": %u, \"pg_id\": 0, \"process_group\": [\"0\", \"\"], \"collective_seq_id\": %u, "
		   "\"profiling_name\": \"nccl:all_reduce\", \"input_sizes\": [%s], \"output_sizes\": [%s], "
		   "\"input_dtypes\": [\"Float\"], \"output_dtypes\": [\"%s\"], \"state\": \"%s\"}",
		   r->n ? ", " : "", r->n, r->n + 1, in, out, out_type, done ? "completed" : "scheduled");
	r->n++;
}

static void what_comes_out_is_compared_too(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		giving(r, "[8]", r == 2 ? "[9]" : "[8]", "Float", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "2",
	       "rank 2 called all_reduce giving [[9]], ranks 0, 1, 3 "
	       "all_reduce giving [[8]]");
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		giving(r, "[8]", "[8]", r == 1 ? "Half" : "Float", false);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_HIGH, "1", "rank 1 called all_reduce giving Half");
	/* all the same, and not possible */
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		giving(r, "[8]", "[9]", "Float", false);
	blamed(COLLECTIVE_EQUAL, CONFIDENCE_MEDIUM, "", "takes [[8]] and gives [[9]]; no such call is possible");
	/* it has ended, so nothing waits for it */
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		giving(r, "[8]", "[8]", r == 1 ? "Half" : "Float", true);
	blamed(COLLECTIVE_MISMATCH, CONFIDENCE_LOW, "1", "what came out of it is not defined");
	for (int r = 0; r < 4; r++)
		if (r != 3)
			giving(r, "[8]", "[8]", "Float", false);
	blamed(COLLECTIVE_MISSING, CONFIDENCE_HIGH, "3", "did not join");
}

static void nothing_given_is_no_verdict(void **state)
{
	(void)state;
	begin(4, ALL);
	for (int r = 0; r < 4; r++)
		job.rank[r].absent = true;
	assert_int_equal(judge(), COLLECTIVE_NOTHING);
	assert_false(v.valid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_did_not_join_is_named),
		cmocka_unit_test(the_first_rank_is_not_taken_for_right),
		cmocka_unit_test(sizes_and_types_are_compared),
		cmocka_unit_test(shapes_of_one_size_are_the_same),
		cmocka_unit_test(all_to_all_may_differ_in_size),
		cmocka_unit_test(sizes_that_differ_and_worked_are_no_mistake),
		cmocka_unit_test(two_against_two_names_both_and_says_so),
		cmocka_unit_test(a_call_left_out_is_recognised_later),
		cmocka_unit_test(a_send_without_its_receive),
		cmocka_unit_test(a_pipeline_stalls_where_its_chain_begins),
		cmocka_unit_test(both_send_first),
		cmocka_unit_test(groups_in_another_order_are_a_circle),
		cmocka_unit_test(who_is_stuck_elsewhere_is_excused),
		cmocka_unit_test(equal_calls_are_nobodys_fault),
		cmocka_unit_test(a_dump_that_is_not_there_is_evidence),
		cmocka_unit_test(a_dump_that_lost_its_end_is_not_held_against_its_rank),
		cmocka_unit_test(what_has_ended_is_no_hang),
		cmocka_unit_test(a_ring_that_wrapped_has_still_passed),
		cmocka_unit_test(a_device_that_ends_nothing_is_named),
		cmocka_unit_test(one_of_two_devices),
		cmocka_unit_test(most_devices_are_not_to_blame),
		cmocka_unit_test(a_rank_that_did_not_join_is_no_device),
		cmocka_unit_test(a_broadcast_behind_another_wait_is_no_device),
		cmocka_unit_test(uneven_calls_are_healthy_batches),
		cmocka_unit_test(a_batch_that_lost_its_end_is_no_other_call),
		cmocka_unit_test(a_call_named_like_a_batch_is_one),
		cmocka_unit_test(a_send_and_its_receive_differ),
		cmocka_unit_test(a_send_that_was_received_is_not_missing),
		cmocka_unit_test(what_comes_out_is_compared_too),
		cmocka_unit_test(nothing_given_is_no_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
