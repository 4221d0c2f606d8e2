#include "testing.h"

#include "sense/collective/ncclras.h"

static void a_json_answer_gives_counts_and_missing_ranks(void **state)
{
	(void)state;
	struct ncclras_report r = {.n_comms = 0};
	assert_int_equal(ncclras_parse(SPAN("{\"nccl_version\": \"2.28.9\", \"ras\": {\"timeouts_count\": 2},"
					    " \"communicators\": [{\"hash\": \"aa\", \"secondary_hash\": \"bb\","
					    " \"size\": 2, \"missing_ranks_count\": 1, \"ranks\": [{\"rank\": 0,"
					    " \"host\": \"n1\", \"pid\": 77, \"collective_counts\":"
					    " {\"AllReduce\": 41, \"Reduce\": -1}, \"status\": {\"init_state\": 7}}],"
					    " \"missing_ranks\": [{\"rank\": 1, \"status\":"
					    " {\"considered_dead\": true}}]}]}"),
				       &r, NULL),
			 0);
	assert_true(r.from_json && !r.cut && !r.is_partial);
	assert_string_equal(r.version, "2.28.9");
	assert_int_equal(r.n_timeouts, 2);
	assert_int_equal(r.n_comms, 1);
	assert_string_equal(r.comms[0].hash, "aa/bb");
	assert_int_equal(r.comms[0].n_missing, 1);
	assert_int_equal(r.comms[0].n_ranks, 2);
	const struct ncclras_rank *k = r.comms[0].ranks;
	assert_int_equal(k[0].pid, 77);
	assert_string_equal(k[0].host, "n1");
	assert_int_equal(k[0].counts[4], 41);
	assert_int_equal(k[0].counts[1], 0);
	assert_int_equal(k[0].init_state, 7);
	assert_true(k[1].is_missing && k[1].dead && !k[1].has_status && !k[1].has_counts);
	ncclras_done(&r);
}

static void a_text_answer_gives_counts_of_the_ranks_that_it_names(void **state)
{
	(void)state;
	struct ncclras_report r = {.n_comms = 0};
	assert_int_equal(ncclras_parse(SPAN("NCCL version 2.24.3 compiled with CUDA 12.4\n"
					    "DEAD\n"
					    "  Process 5 on node 10.0.0.2 managing GPU 1\n"
					    "#0-0 (aa12) MISMATCH\n"
					    "  Communicator ranks have different AllReduce operation counts\n"
					    "  1 ranks have launched up to operation 41\n"
					    "  Rank 3 -- GPU 3 managed by process 9 on node 10.0.0.1\n"
					    "  Rank 1 has launched up to operation 40 -- GPU 1 managed by process 8 on "
					    "node 10.0.0.1\n"
					    "Warnings\n"),
				       &r, NULL),
			 0);
	assert_true(!r.from_json && r.is_partial && !r.cut && r.has_dead);
	assert_string_equal(r.version, "2.24.3");
	assert_int_equal(r.n_processes, 1);
	assert_int_equal(r.processes[0].pid, 5);
	assert_string_equal(r.processes[0].host, "10.0.0.2");
	assert_int_equal(r.n_comms, 1);
	assert_string_equal(r.comms[0].hash, "aa12");
	assert_string_equal(r.comms[0].errors, "MISMATCH");
	assert_int_equal(r.comms[0].size, 4);
	assert_int_equal(r.comms[0].n_ranks, 2);
	assert_int_equal(r.comms[0].ranks[0].pid, 9);
	assert_int_equal(r.comms[0].ranks[0].counts[4], 41);
	assert_int_equal(r.comms[0].ranks[1].rank, 1);
	assert_int_equal(r.comms[0].ranks[1].counts[4], 40);
	ncclras_done(&r);
}

static void a_text_without_its_last_part_is_cut(void **state)
{
	(void)state;
	struct ncclras_report r = {.n_comms = 0};
	assert_int_equal(ncclras_parse(SPAN("NCCL version 2.24.3 compiled with CUDA 12.4\n"), &r, NULL), 0);
	assert_true(r.cut);
	ncclras_done(&r);
}

static void other_servers_are_foreign(void **state)
{
	(void)state;
	struct ncclras_report r = {.n_comms = 0};
	struct fault f = {.text = ""};
	assert_int_equal(ncclras_parse(SPAN("HTTP/1.1 400 Bad Request\r\n"), &r, &f), NCCLRAS_FOREIGN);
	assert_non_null(strstr(f.text, "not NCCL's RAS"));
	assert_int_equal(ncclras_parse(SPAN("{\"status\": \"ok\"}"), &r, &f), NCCLRAS_FOREIGN);
	assert_non_null(strstr(f.text, "no nccl_version"));
	assert_int_equal(ncclras_parse(SPAN(""), &r, &f), NCCLRAS_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_json_answer_gives_counts_and_missing_ranks),
		cmocka_unit_test(a_text_answer_gives_counts_of_the_ranks_that_it_names),
		cmocka_unit_test(a_text_without_its_last_part_is_cut),
		cmocka_unit_test(other_servers_are_foreign),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
