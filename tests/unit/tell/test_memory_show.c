#include "memfile.h"

#include "base/buf.h"
#include "model/incident/incident.h"
#include "tell/memory/memory_show.h"

static struct memfile out;
static struct footprint f;
static struct footprint_row rows[2];
static struct footprint_shm shm[2];

#define G (UINT64_C(1) << 30)

static int prepare(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	rows[0] = (struct footprint_row){.pid = 12,
					 .who = {.rank = 0},
					 .job = "a-1",
					 .comm = "python",
					 .command = "python train.py\033[0m",
					 .own_bytes = 4 * G,
					 .rss_bytes = 5 * G,
					 .shared_bytes = G,
					 .pss = PSS_KNOWN,
					 .pss_bytes = 4 * G};
	rows[1] = (struct footprint_row){
		.pid = 13, .who = {.rank = NO_RANK}, .comm = "sh", .own_bytes = G, .pss = PSS_DENIED};
	shm[0] = (struct footprint_shm){.path = "/dev/shm/torch_1",
					.kind = "file",
					.maker = "PyTorch",
					.has_bytes = true,
					.bytes = G,
					.maker_pid = 99,
					.maker_gone = true,
					.orphan = true,
					.user = "ann"};
	shm[1] = (struct footprint_shm){
		.path = "/dev/shm/b", .kind = "file", .mapped_bytes = 2 * G, .owners = {12, 13}, .n_owners = 2};
	TEXT_COPY(f.node, "node-7");
	f.ledger.n = 1;
	f.ledger.level[0] = (struct ledger_level){.scope = LEDGER_NODE,
						  .total_bytes = 16 * G,
						  .used_bytes = 12 * G,
						  .available_bytes = 4 * G,
						  .reclaimable_bytes = G};
	TEXT_COPY(f.level_name[0], "node-7");
	f.rows = rows;
	f.n = f.n_all = 2;
	f.own_bytes = 5 * G;
	f.shm = shm;
	f.n_shm = f.n_shm_all = 2;
	return 0;
}

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	return 0;
}

static const char *shown(void)
{
	memory_text(&f, false, memfile_open(&out));
	return memfile_text(&out);
}

static void each_level_says_what_is_left(void **state)
{
	(void)state;
	const char *text = shown();
	assert_has(text, "memory of node-7\n");
	assert_has(text, "12.0 GiB used of 16.0 GiB (75.0 %), 4.00 GiB left; 1.00 GiB of cache can be");
	assert_has_no(text, "swap:");
	f.ledger.level[0].swap_total_bytes = 2 * G;
	f.ledger.level[0].swap_free_bytes = G;
	assert_has(shown(), "swap: 1.00 GiB of");
}

static void processes_are_rows_and_control_characters_do_not_pass(void **state)
{
	(void)state;
	const char *text = shown();
	assert_has(text, "        12     0 -             4.00 GiB    5.00 GiB    1.00 GiB    4.00 GiB           -  "
			 "python train.py?[0m\n");
	assert_has(text, "denied           -  sh\n");
	assert_has(text, "2 processes hold 5.00 GiB of their own: what ending them");
	assert_has_no(text, "not shown");
	f.n_all = 5;
	assert_has(shown(), "3 smaller processes are not shown; --all shows them.\n");
	f.n_all = f.n + 1;
	assert_has(shown(), "1 smaller process is not shown; --all shows it.\n");
}

static void jobs_are_listed_of_a_whole_node_only(void **state)
{
	(void)state;
	f.n_jobs = 1;
	f.job[0] = (struct footprint_job){.id = "a-1", .processes = 1, .own_bytes = 4 * G};
	assert_has(shown(), "\njobs\n");
	TEXT_COPY(f.subject, "job a-1");
	const char *text = shown();
	assert_has(text, "memory of job a-1 on node-7\n");
	assert_has(text, "4.00 GiB held by 1 process; no limit of its own");
	assert_has_no(text, "\njobs\n");
}

static void shared_memory_names_holders_and_orphans(void **state)
{
	(void)state;
	f.n_orphans = 1;
	f.orphan_bytes = G;
	const char *text = shown();
	assert_has(text, "held by nobody  ORPHAN, made by user ann  (PyTorch, whose maker is gone)\n");
	assert_has(text, "<= 2.00 GiB  /dev/shm/b");
	assert_has(text, "held by 12,13\n");
	assert_has(text, "1 of them (1.00 GiB) is held by nobody: it");
	f.owners_denied = 3;
	assert_has(shown(), "owners unknown for 3 processes we may not read");
}

static void the_json_leaves_out_what_is_unknown(void **state)
{
	(void)state;
	shm[1].n_owners = FOOTPRINT_OWNERS + 5;
	cleanup(js_freep) struct js *j = memory_json(&f);
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.memory/1");
	assert_null(js_get(j, "subject"));
	const struct js *processes = js_get(j, "processes"), *segments = js_get(j, "shm");
	assert_int_equal(js_get_i64(js_at(processes, 0), "rank", -1), 0);
	assert_int_equal((uint64_t)js_get_i64(js_at(processes, 0), "pss_bytes", -1), 4 * G);
	assert_null(js_get(js_at(processes, 1), "rank"));
	assert_null(js_get(js_at(processes, 1), "pss_bytes"));
	assert_string_equal(js_get_text(js_at(processes, 1), "command", ""), "sh");
	assert_null(js_get(js_at(segments, 1), "bytes"));
	assert_int_equal((uint64_t)js_get_i64(js_at(segments, 1), "at_most_bytes", -1), 2 * G);
	assert_int_equal(js_len(js_get(js_at(segments, 1), "owners")), FOOTPRINT_OWNERS);
	assert_int_equal(js_get_i64(js_at(segments, 1), "n_owners", -1), FOOTPRINT_OWNERS + 5);
	assert_true(js_get_bool(js_at(segments, 0), "maker_gone", false));
	double ratio = js_get_double(js_get(j, "node"), "ratio", 0);
	assert_true(ratio > 0.749 && ratio < 0.751);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_level_says_what_is_left, prepare),
		cmocka_unit_test_setup(processes_are_rows_and_control_characters_do_not_pass, prepare),
		cmocka_unit_test_setup(jobs_are_listed_of_a_whole_node_only, prepare),
		cmocka_unit_test_setup(shared_memory_names_holders_and_orphans, prepare),
		cmocka_unit_test_setup(the_json_leaves_out_what_is_unknown, prepare),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
