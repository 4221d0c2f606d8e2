#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/collective/collective_arrows.h"

#define RANKS 3

static const int32_t all_ranks[RANKS] = {10, 11, 12};

/* ---- Flight Recorder ---- */

static struct flightrec_group flight_group(void)
{
	return (struct flightrec_group){.name = "0", .desc = "default_pg", .ranks = all_ranks, .n_ranks = RANKS};
}

static struct flightrec_entry call_of(uint64_t seq, enum flightrec_state state)
{
	return (struct flightrec_entry){.op = "all_reduce",
					.has_collective_seq = true,
					.collective_seq = seq,
					.state = state,
					.created_ns = (int64_t)seq * 100,
					.has_in = true,
					.in_elements = 8,
					.in_sizes = "[[8]]",
					.out_sizes = "",
					.in_dtypes = "[Float]",
					.out_dtypes = "",
					.where = "train.py:40 (step)"};
}

static void dump_add(struct collective_set *s, int32_t rank, struct flightrec_entry *entries, size_t n, bool cut)
{
	struct flightrec_group group = flight_group();
	const struct flightrec r = {
		.groups = &group, .n_groups = 1, .entries = entries, .n_entries = n, .cut = cut, .why = "cut off"};
	assert_int_equal(collective_add_flightrec(s, rank, &r), 0);
}

static uint32_t index_of(const struct collective_set *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (s->ranks[i].rank == rank)
			return i;
	fail_msg("rank %d is not in the set", rank);
	return 0;
}

static void a_rank_that_did_not_make_the_call_is_missing(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry ahead[] = {call_of(1, FLIGHTREC_COMPLETED), call_of(2, FLIGHTREC_STARTED)};
	dump_add(s, 10, ahead, 2, false);
	dump_add(s, 11, ahead, 2, false);
	dump_add(s, 12, ahead, 1, false);
	assert_int_equal(collective_seal(s), 0);
	assert_true(s->sealed);
	assert_int_equal(s->n_waits, 1);
	const struct collective_wait *w = &s->waits[0];
	assert_int_equal(w->seq, 2);
	assert_string_equal(w->op, "all_reduce");
	assert_int_equal(w->since_ns, 200);
	assert_int_equal(collective_count_bits(s, w->waiting), 2);
	assert_int_equal(collective_count_bits(s, w->missing), 1);
	assert_true(collective_has(w->missing, index_of(s, 12)));
	assert_int_equal(collective_count_bits(s, w->unknown), 0);
	assert_int_equal(s->ranks[index_of(s, 10)].head, 0);
	assert_int_equal(s->ranks[index_of(s, 12)].head, COLLECTIVE_NO_WAIT);
}

/* "10>12 all_reduce number 2 of group default_pg, …" */
static const char *arrows_of(const struct collective_set *s)
{
	static char text[400];
	struct buf b = BUF_ON(text);
	struct collective_arrow a[8];
	const size_t n = collective_arrows(s, a, ARRAY_SIZE(a));
	buf_reset(&b);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%d>%d %s", i ? ", " : "", (int)a[i].from, (int)a[i].to, a[i].call);
	return text;
}

static void an_arrow_leads_to_each_rank_that_is_known_not_to_have_come(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry ahead[] = {call_of(1, FLIGHTREC_COMPLETED), call_of(2, FLIGHTREC_STARTED)};
	struct collective_arrow one;
	dump_add(s, 10, ahead, 2, false);
	dump_add(s, 11, ahead, 1, false);
	dump_add(s, 12, ahead, 1, false);
	assert_int_equal(collective_seal(s), 0);
	assert_string_equal(arrows_of(s), "10>11 all_reduce number 2 of group default_pg, "
					  "10>12 all_reduce number 2 of group default_pg");
	assert_int_equal(collective_arrows(s, &one, 1), 1); /* no more than fit */
}

static void none_leads_to_a_rank_of_which_nothing_is_known(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry ahead[] = {call_of(1, FLIGHTREC_COMPLETED), call_of(2, FLIGHTREC_STARTED)};
	dump_add(s, 10, ahead, 2, false);
	dump_add(s, 11, ahead, 1, true);
	assert_int_equal(collective_add_absent(s, 12, "no dump"), 0);
	assert_int_equal(collective_seal(s), 0);
	assert_string_equal(arrows_of(s), "");
}

static void a_rank_without_its_latest_calls_is_unknown(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry ahead[] = {call_of(1, FLIGHTREC_COMPLETED), call_of(2, FLIGHTREC_STARTED)};
	dump_add(s, 10, ahead, 2, false);
	dump_add(s, 11, ahead, 1, true);
	assert_int_equal(collective_add_absent(s, 12, "no dump"), 0);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_waits, 1);
	assert_int_equal(collective_count_bits(s, s->waits[0].missing), 0);
	assert_int_equal(collective_count_bits(s, s->waits[0].unknown), 2);
	assert_string_equal(s->ranks[index_of(s, 12)].why, "no dump");
	assert_int_equal(s->ranks[index_of(s, 12)].sources, 0);
	assert_string_equal(s->ranks[index_of(s, 11)].why, "cut off");
}

static void calls_that_ended_everywhere_are_no_wait(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry calls[] = {call_of(1, FLIGHTREC_STARTED), call_of(2, FLIGHTREC_COMPLETED)};
	for (size_t i = 0; i < RANKS; i++)
		dump_add(s, all_ranks[i], calls, 2, false);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_waits, 0);
	assert_int_equal(s->n_clashes, 0);
}

static void another_operation_at_one_number_is_a_clash(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry calls[] = {call_of(1, FLIGHTREC_COMPLETED), call_of(2, FLIGHTREC_STARTED)};
	dump_add(s, 10, calls, 2, false);
	dump_add(s, 11, calls, 2, false);
	calls[1].op = "broadcast";
	dump_add(s, 12, calls, 2, false);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_clashes, 1);
	assert_int_equal(s->clashes[0].n, 3);
	assert_int_equal(s->calls[s->clashes[0].first].seq, 2);
	assert_false(s->clashes[0].done);
}

static void what_must_be_equal_depends_on_the_operation(void **state)
{
	(void)state;
	const char *what = "";
	struct collective_call a = {.op = "all_reduce", .has_in = true, .has_out = true, .in_elements = 8};
	a.in_dtypes = a.out_dtypes = "[Float]";
	struct collective_call b = a;
	assert_false(collective_clashes(&a, &b, &what));
	b.in_elements = 9;
	assert_true(collective_clashes(&a, &b, &what));
	assert_string_equal(what, "size");
	b.in_dtypes = "[Half]";
	assert_true(collective_clashes(&a, &b, &what));
	assert_string_equal(what, "data type");
	b.in_dtypes = "";
	b.has_in = false;
	assert_false(collective_clashes(&a, &b, &what));
	b = a;
	b.in_elements = 9;
	a.op = b.op = "all_gather";
	assert_false(collective_clashes(&a, &b, &what));
	b.out_elements = 1;
	assert_true(collective_clashes(&a, &b, &what));
	a.op = b.op = "all_to_all";
	assert_false(collective_clashes(&a, &b, &what));
	b.op = "barrier";
	assert_true(collective_clashes(&a, &b, &what));
	assert_string_equal(what, "operation");
}

static void a_send_without_its_receive_is_a_wait_of_the_pair(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry send = call_of(0, FLIGHTREC_STARTED);
	send.op = "send";
	send.is_p2p = send.sends = send.has_peers = true;
	send.source = 0;
	send.target = 2;
	dump_add(s, 10, &send, 1, false);
	dump_add(s, 12, NULL, 0, false);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_waits, 1);
	const struct collective_wait *w = &s->waits[0];
	assert_true(w->is_p2p);
	assert_true(w->send_waits);
	assert_int_equal(w->from, index_of(s, 10));
	assert_int_equal(w->to, index_of(s, 12));
	assert_true(collective_has(w->missing, index_of(s, 12)));
}

static void a_pair_without_known_peers_is_dropped(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct flightrec_entry send = call_of(0, FLIGHTREC_STARTED);
	send.is_p2p = send.sends = true;
	dump_add(s, 10, &send, 1, false);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_dropped, 1);
	assert_int_equal(s->n_waits, 0);
}

/* ---- profiler rings ---- */

static void ring_add(struct collective_set *s, int32_t rank, size_t n_calls, uint64_t n_made)
{
	struct ncclring_comm comm = {.id = 0xabc, .rank = rank, .n_ranks = 2};
	struct ncclring_call calls[] = {
		{.order = 1, .seq = 0, .func = "AllReduce", .dtype = "ncclFloat32", .count = 4, .ended = true},
		{.order = 2, .seq = 1, .func = "AllReduce", .dtype = "ncclFloat32", .count = 4, .enqueued_ns = 70},
	};
	const struct ncclring r = {.comms = &comm, .n_comms = 1, .calls = calls, .n_calls = n_calls, .n_made = n_made};
	assert_int_equal(collective_add_ring(s, rank, &r), 0);
}

static void names_of_nccl_become_those_of_pytorch(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	ring_add(s, 0, 2, 2);
	ring_add(s, 1, 1, 1);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_waits, 1);
	assert_string_equal(s->waits[0].op, "all_reduce");
	assert_int_equal(s->waits[0].source, COLLECTIVE_RING);
	assert_string_equal(s->groups[0].name, "0xabc");
	assert_true(collective_has(s->waits[0].missing, index_of(s, 1)));
}

/* NCCL reports no ends where it has nothing to report them by: of such a rank it is not known that it stands. */
static void ends_that_are_not_reported_blame_no_device(void **state)
{
	(void)state;
	for (int reports = 0; reports < 2; reports++) {
		cleanup(collective_freep) struct collective_set *s = collective_new();
		for (int32_t rank = 0; rank < 2; rank++) {
			struct ncclring_comm comm = {.id = 0xabc, .rank = rank, .n_ranks = 2};
			struct ncclring_call calls[] = {
				{.order = 1, .seq = 0, .func = "AllReduce", .dtype = "ncclFloat32", .count = 4},
				{.order = 2, .seq = 1, .func = "AllReduce", .dtype = "ncclFloat32", .count = 4},
			};
			calls[0].ended = rank == 1 || reports;
			calls[1].ended = rank == 1;
			const struct ncclring r = {
				.comms = &comm, .n_comms = 1, .calls = calls, .n_calls = 2, .n_made = 2};
			assert_int_equal(collective_add_ring(s, rank, &r), 0);
		}
		assert_int_equal(collective_seal(s), 0);
		assert_true(collective_has(s->waits[0].waiting, index_of(s, 0)));
		assert_int_equal(collective_has(s->waits[0].ended, index_of(s, 1)), reports);
	}
}

static void a_full_ring_without_such_a_call_proves_nothing(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	ring_add(s, 0, 2, 2);
	ring_add(s, 1, 0, 5000);
	assert_int_equal(collective_seal(s), 0);
	assert_true(s->ranks[index_of(s, 1)].is_wrapped);
	assert_true(collective_has(s->waits[0].unknown, index_of(s, 1)));
}

/* ---- RAS ---- */

static struct ncclras_report ras_report(struct ncclras_comm *comm, struct ncclras_rank ranks[RANKS])
{
	for (int32_t i = 0; i < RANKS; i++) {
		ranks[i] = (struct ncclras_rank){.rank = i, .pid = 100 + i, .has_counts = true, .has_status = true};
		TEXT_COPY(ranks[i].host, "node7");
		ranks[i].counts[4] = 9;
	}
	*comm = (struct ncclras_comm){.hash = "beef", .size = RANKS, .ranks = ranks, .n_ranks = RANKS};
	return (struct ncclras_report){.comms = comm, .n_comms = 1, .version = "2.28.9"};
}

static void a_counter_that_is_behind_is_a_missing_rank(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct ncclras_comm comm;
	struct ncclras_rank ranks[RANKS];
	const struct ncclras_report r = ras_report(&comm, ranks);
	ranks[1].counts[4] = 8;
	ranks[2].has_counts = false;
	assert_int_equal(collective_add_ras(s, &r, NULL, NULL, 0), 0);
	assert_int_equal(collective_seal(s), 0);
	assert_int_equal(s->n_waits, 1);
	assert_true(s->waits[0].by_count);
	assert_string_equal(s->waits[0].op, "all_reduce");
	assert_int_equal(s->waits[0].seq, 9);
	assert_true(collective_has(s->waits[0].missing, index_of(s, 1)));
	assert_true(collective_has(s->waits[0].unknown, index_of(s, 2)));
	assert_string_equal(arrows_of(s), ""); /* it may still move */
	assert_string_equal(s->ras_source, "NCCL RAS, NCCL 2.28.9");
	assert_false(s->has_frozen);
}

static void two_reports_with_equal_counters_are_frozen(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	struct ncclras_comm comm[2];
	struct ncclras_rank ranks[2][RANKS];
	const struct ncclras_report before = ras_report(&comm[0], ranks[0]), now = ras_report(&comm[1], ranks[1]);
	assert_int_equal(collective_add_ras(s, &now, &before, NULL, 0), 0);
	assert_true(s->has_frozen && s->frozen);
	ranks[1][2].counts[0]++;
	assert_int_equal(collective_add_ras(s, &now, &before, NULL, 0), 0);
	assert_true(s->has_frozen);
	assert_false(s->frozen);
}

static void members_are_found_by_their_processes(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	const struct collective_place places[] = {
		{50, 100, "node7"}, {51, 101, ""}, {52, 102, "other"}, {53, 102, "third"}};
	struct ncclras_comm comm;
	struct ncclras_rank ranks[RANKS];
	const struct ncclras_report r = ras_report(&comm, ranks);
	ranks[1].dead = true;
	ranks[0].is_missing = true;
	assert_int_equal(collective_add_ras(s, &r, NULL, places, ARRAY_SIZE(places)), 0);
	assert_int_equal(collective_seal(s), 0);
	assert_true(s->ranks[index_of(s, 51)].is_dead);
	assert_int_equal(s->ranks[index_of(s, 51)].sources, COLLECTIVE_RAS);
	assert_int_equal(s->ranks[index_of(s, 50)].sources, 0);
	assert_true(collective_has(s->groups[0].absent, index_of(s, 50)));
	assert_true(collective_has(s->groups[0].running, index_of(s, 51)));
	/* two places have this process number on other hosts, so the number in the communicator counts */
	assert_int_equal(s->ranks[2].rank, 2);
}

/* ---- sets ---- */

static void sets_of_more_than_64_ranks_and_no_set(void **state)
{
	(void)state;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	for (int32_t rank = 0; rank < 200; rank++)
		assert_int_equal(collective_add_absent(s, rank * 7, "none"), 0);
	assert_int_equal(collective_add_absent(s, 7, "again"), 0);
	assert_int_equal(s->n_ranks, 200);
	assert_string_equal(s->ranks[1].why, "again");
	const collective_bits bits[4] = {1, 0, UINT64_C(1) << 63, 0x80};
	assert_true(collective_has(bits, 0));
	assert_true(collective_has(bits, 191));
	assert_true(collective_has(bits, 199));
	assert_false(collective_has(bits, 64));
	assert_int_equal(collective_count_bits(s, bits), 3);
	assert_int_equal(collective_count_bits(s, NULL), 0);
	assert_false(collective_has(NULL, 0));
}

static void each_kind_of_verdict_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int k = 0; k < COLLECTIVE_KINDS; k++)
		for (int other = 0; other < k; other++)
			assert_string_not_equal(collective_kind_name((enum collective_kind)k),
						collective_kind_name((enum collective_kind)other));
	assert_string_equal(collective_kind_name(COLLECTIVE_P2P), "p2p");
	assert_string_equal(collective_kind_name(COLLECTIVE_KINDS), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_did_not_make_the_call_is_missing),
		cmocka_unit_test(an_arrow_leads_to_each_rank_that_is_known_not_to_have_come),
		cmocka_unit_test(none_leads_to_a_rank_of_which_nothing_is_known),
		cmocka_unit_test(a_rank_without_its_latest_calls_is_unknown),
		cmocka_unit_test(calls_that_ended_everywhere_are_no_wait),
		cmocka_unit_test(another_operation_at_one_number_is_a_clash),
		cmocka_unit_test(what_must_be_equal_depends_on_the_operation),
		cmocka_unit_test(a_send_without_its_receive_is_a_wait_of_the_pair),
		cmocka_unit_test(a_pair_without_known_peers_is_dropped),
		cmocka_unit_test(names_of_nccl_become_those_of_pytorch),
		cmocka_unit_test(ends_that_are_not_reported_blame_no_device),
		cmocka_unit_test(a_full_ring_without_such_a_call_proves_nothing),
		cmocka_unit_test(a_counter_that_is_behind_is_a_missing_rank),
		cmocka_unit_test(two_reports_with_equal_counters_are_frozen),
		cmocka_unit_test(members_are_found_by_their_processes),
		cmocka_unit_test(sets_of_more_than_64_ranks_and_no_set),
		cmocka_unit_test(each_kind_of_verdict_has_a_name_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
