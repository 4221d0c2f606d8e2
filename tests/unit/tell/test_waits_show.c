#include "memfile.h"

#include "base/buf.h"
#include "tell/stacks/stack_waits.h"
#include "tell/stacks/waits_show.h"
#include "wait_scenario.h"

static struct wait_scenario scenario;
static struct waitgraph graph;
static struct memfile out;
static struct waits_view view;
static struct js *json;

static void scenario_add(const char *const *lines)
{
	wait_scenario_begin(&scenario);
	for (size_t i = 0; lines[i]; i++)
		assert_true(wait_scenario_line(&scenario, span_of(lines[i])));
}

static void graph_make(bool one_look)
{
	const struct waitgraph_in in = {
		.before = one_look ? NULL : &scenario.facts[0],
		.now = &scenario.facts[1],
		.who = scenario.who,
		.n_who = scenario.n_who,
		.hint = scenario.hint,
		.n_hints = scenario.n_hints,
	};
	waitgraph_done(&graph);
	assert_int_equal(waitgraph_make(&in, &graph), 0);
	view = (struct waits_view){
		.graph = &graph,
		.now = &scenario.facts[1],
		.title = "job ring-1",
		.captured_unix_ms = 5,
		.apart_ns = one_look ? 0 : 2100 * NS_PER_MS,
		.took_ns = 3000,
	};
}

static const char *text(bool all)
{
	const struct waits_how how = {.all = all};
	const struct textout paper = {.to = memfile_open(&out), .width = 400};
	waits_text(&view, &how, &paper);
	return memfile_text(&out);
}

static const char *dot(bool all)
{
	const struct waits_how how = {.all = all};
	waits_dot(&view, &how, memfile_open(&out));
	return memfile_text(&out);
}

static const struct js *json_make(void)
{
	js_free(json);
	json = waits_json(&view);
	assert_string_equal(js_get_text(json, "schema", ""), "vigil.waits/1");
	return json;
}

static int finish(void **state)
{
	(void)state;
	js_free(json);
	json = NULL;
	waitgraph_done(&graph);
	memfile_done(&out);
	return 0;
}

static const char *const queue[] = {
	"process 90 launcher role launcher",
	"process 100 rank 0 main",
	"process 101 rank 1 main",
	"process 102 rank 2 main",
	"process 103 rank 3 main",
	"thread 90 child id 100 by 100 101 102 103",
	"thread 100 tcp id 20 peer 21 by 102 text tcp 127.0.0.1:5000 -> 127.0.0.1:40000",
	"thread 101 tcp id 30 peer 31 by 100 text tcp 127.0.0.1:40001 -> 127.0.0.1:5000",
	"thread 102 futex id 4096",
	"thread 103 tcp id 40 peer 41 by 100 text tcp 127.0.0.1:40002 -> 127.0.0.1:5000",
	"hint 102 102 nobody says queue.Queue.get at data.py:25",
	NULL,
};

static void the_way_to_the_end_of_most_ranks_comes_first(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(false);
	const char *t = text(false);
	assert_has(t, "job ring-1: 4 main processes, two looks, 2.1 s apart\n");
	assert_has(t, "  rank 2: nobody is left who could end this wait; 3 wait for it\n");
	assert_has(t, "    ranks 1, 3 → rank 0 (recv, tcp 127.0.0.1:5000 -> 127.0.0.1:40000) → rank 2 "
		      "(queue.Queue.get at data.py:25; nobody is left who could end this wait)\n");
	assert_has(t, "    (proved: none of its threads can ever go on)\n");
	assert_has(t, "  rank 0, process 100 (python): waits: recv, tcp 127.0.0.1:5000 -> 127.0.0.1:40000 → rank 2 "
		      "[can never go on]\n");
	assert_has(t, "process 90 (python), launcher: waits: ");
	assert_has_no(t, "one look");
}

static void json_has_the_arrows_and_the_ends(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(false);
	const struct js *j = json_make();
	assert_int_equal(js_get_i64(j, "looks", 0), 2);
	assert_int_equal(js_get_i64(j, "apart_ms", 0), 2100);
	assert_int_equal(js_get_i64(j, "mains", 0), 4);
	assert_true(js_get_bool(j, "complete", false));
	const struct js *end = js_at(js_get(j, "ends"), 0);
	assert_string_equal(js_get_text(end, "kind", ""), "nobody");
	assert_int_equal(js_get_i64(end, "pid", 0), 102);
	assert_int_equal(js_get_i64(end, "tid", 0), 102);
	assert_int_equal(js_get_i64(end, "followers", 0), 3);
	assert_int_equal(js_as_i64(js_at(js_get(end, "ranks"), 0), -1), 2);
	assert_string_equal(js_get_text(end, "quality", ""), "proof");
	assert_true(js_get_bool(end, "dead", false));
	assert_has(js_get_text(end, "way", ""), "ranks 1, 3 → rank 0");
	const struct js *process = js_at(js_get(j, "processes"), 1);
	assert_int_equal(js_get_i64(process, "rank", -1), 0);
	assert_true(js_get_bool(process, "main", false));
	const struct js *thread = js_at(js_get(process, "threads"), 0);
	assert_string_equal(js_get_text(thread, "does", ""), "waits");
	assert_true(js_get_bool(thread, "dead", false));
	assert_false(js_get_bool(thread, "timed", true));
	assert_null(js_get(thread, "end"));
	const struct js *wait = js_at(js_get(thread, "waits"), 0);
	assert_string_equal(js_get_text(wait, "kind", ""), "tcp");
	assert_int_equal(js_get_i64(wait, "peer_id", 0), 21);
	assert_true(js_get_bool(wait, "complete", false));
	assert_int_equal(js_get_i64(js_at(js_get(wait, "holders"), 0), "pid", 0), 102);
	const struct js *arrow = js_at(js_get(thread, "arrows"), 0);
	assert_int_equal(js_get_i64(js_get(arrow, "to"), "tid", 0), 102);
	assert_int_equal(js_get_i64(arrow, "id", 0), 20);
	assert_string_equal(js_get_text(arrow, "quality", ""), "proof");
	assert_string_equal(js_get_text(arrow, "source", ""), "kernel");
	thread = js_at(js_get(js_at(js_get(j, "processes"), 3), "threads"), 0);
	assert_string_equal(js_get_text(thread, "end", ""), "nobody");
	assert_string_equal(js_get_text(js_get(thread, "hint"), "text", ""), "queue.Queue.get at data.py:25");
}

/* Whatever end the graph finds, it has a name in JSON and words. */
static void every_end_has_a_name(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(false);
	for (int e = WAITEND_NONE; e <= WAITEND_UNKNOWN; e++) {
		for (size_t i = 0; i < graph.n_sinks; i++)
			graph.sink[i].end = (enum waitgraph_end)e;
		const struct js *end = js_at(js_get(json_make(), "ends"), 0);
		assert_true(js_get_text(end, "kind", "")[0]);
		assert_true(js_get_text(end, "text", "")[0]);
		if (e != WAITEND_UNKNOWN)
			assert_string_not_equal(js_get_text(end, "kind", ""), "unknown");
	}
}

static void a_job_that_works_is_said_to(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"process 100 rank 0 main",
		"process 101 rank 1 main",
		"process 102 rank 2 main",
		"thread 100 runs",
		"thread 101 clock",
		"thread 102 tcp id 3 peer 4 by 100",
		NULL,
	};
	scenario_add(lines);
	graph_make(false);
	const char *t = text(false);
	assert_has(t, "  rank 0: runs; 1 waits for it\n");
	assert_has(t, "rank 0, process 100 (python): runs\n");
	assert_has(t, "rank 1, process 101 (python): sleeps\n");
	assert_has_no(t, "can never go on");
	const struct js *j = json_make();
	assert_string_equal(js_get_text(js_at(js_get(j, "ends"), 0), "kind", ""), "runs");
	assert_int_equal(js_len(js_get(j, "ends")), 2);
	assert_int_equal(js_get_i64(j, "dead_threads", -1), 0);
}

static void what_was_told_of_a_hang_comes_first(void **state)
{
	(void)state;
	static const char *const lines[] = {"process 100 rank 0 main", "thread 100 clock", NULL};
	const struct health told = {
		.level = HEALTH_HUNG, .sentence = "It stands, held up by rank 1.", .incident = "ring-1.2"};
	scenario_add(lines);
	graph_make(false);
	view.health = &told;
	const char *t = text(false);
	assert_has(t, "Told by vigil\n  It stands, held up by rank 1. The whole report: vigil why ring-1.2\n");
	assert_true(strstr(t, "Told by vigil") < strstr(t, "Processes"));
}

static void nobody_waits_where_all_run(void **state)
{
	(void)state;
	static const char *const lines[] = {"process 100 main", "thread 100 runs", NULL};
	scenario_add(lines);
	graph_make(false);
	assert_has(text(false), "  no main process waits for another\n");
	assert_has(text(false), "job ring-1: 1 main process, ");
}

static void one_look_claims_no_proof(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(true);
	view.stopped = true;
	const char *t = text(false);
	assert_has(t, "main processes, one look\n");
	assert_has(t, "ended before the second look");
	assert_has_no(t, "proved:");
	assert_has_no(t, "can never go on");
	const struct js *j = json_make();
	assert_int_equal(js_get_i64(j, "looks", 0), 1);
	assert_null(js_get(j, "apart_ms"));
	assert_false(js_get_bool(js_at(js_get(j, "ends"), 0), "dead", true));
}

static void a_thread_with_a_lock_in_the_way_is_shown(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"process 100 rank 0 main",
		"process 101 rank 1 main",
		"thread 100 futex id 1",
		"thread 100 201 tcp id 9 open text tcp 10.0.0.2:4000 -> 10.0.0.9:443",
		"thread 100 202 clock",
		"thread 101 tcp id 3 peer 4 by 100",
		"hint 100 100 owner 100 201 says threading.Lock at train.py:31",
		NULL,
	};
	scenario_add(lines);
	TEXT_COPY(scenario.hint[0].owner_text, "with lock at train.py:9 in save");
	graph_make(false);
	static const char unknown[] =
		"futex: lock, condition variable or semaphore; the futex itself does not say who holds it";
	assert_string_equal(stack_waits_in(&graph, 100, 100, unknown), "futex: lock, condition variable or semaphore");
	assert_string_equal(stack_waits_in(&graph, 100, 202, unknown), unknown);
	assert_string_equal(stack_waits_in(NULL, 100, 100, unknown), unknown);
	const char *t = text(false);
	assert_has(t, "waits: threading.Lock at train.py:31 → its thread 201; it is held by with lock at train.py:9");
	assert_has(t, "    thread 201: waits: recv, tcp 10.0.0.2:4000 -> 10.0.0.9:443 → tcp 10.0.0.2:4000 -> "
		      "10.0.0.9:443\n");
	assert_has_no(t, "thread 202");
	assert_has(t, "and 1 more thread that is in nobody's way (--all shows it)\n");
	assert_has(text(true), "    thread 202: sleeps\n");
	assert_has_no(text(true), "--all");
}

enum { POOL = 200 };

/* A main thread that waits for any of many: they are counted, and not drawn one by one. */
static void pool_make(void)
{
	wait_scenario_begin(&scenario);
	wait_scenario_line(&scenario, SPAN("process 100 main"));
	wait_scenario_line(&scenario, SPAN("thread 100 futex id 7"));
	for (int i = 1; i <= POOL; i++) {
		char line[64];
		TEXT_FORMAT(line, "thread 100 %d futex id %d", 100 + i, 1000 + i);
		wait_scenario_line(&scenario, span_of(line));
	}
	graph_make(false);
}

static void many_threads_that_may_be_meant_are_one_arrow(void **state)
{
	(void)state;
	pool_make();
	const char *t = text(false);
	assert_has(t, " → any of 200 other threads of it (possibly)");
	assert_has(t, "and 200 more threads that are in nobody's way (--all shows them)\n");
	assert_true(strlen(t) < 2000);
	const struct js *thread = js_at(js_get(js_at(js_get(json_make(), "processes"), 0), "threads"), 0);
	assert_int_equal(js_len(js_get(thread, "arrows")), 1);
	const struct js *to = js_get(js_at(js_get(thread, "arrows"), 0), "to");
	assert_int_equal(js_get_i64(to, "any_of", 0), POOL);
	assert_null(js_get(to, "tid"));
	assert_int_equal(js_len(js_get(js_at(js_get(json, "processes"), 0), "threads")), POOL + 1);
	t = dot(false);
	assert_has(t, "any of 200 threads of process 100 (python)");
	assert_true(strlen(t) < 2000);
}

/* Every '"' of a line opens or closes a string, and no string holds a control character. */
static void quotes_check(const char *t)
{
	bool in = false;
	for (const char *c = t; *c; c++) {
		if (in && *c == '\\') {
			assert_true(c[1] != '\0' && c[1] != '\n');
			c++;
		} else if (*c == '"') {
			in = !in;
		} else {
			assert_false(in && ((unsigned char)*c < 0x20 || *c == 0x7f));
		}
	}
	assert_false(in);
}

static void dot_is_one_box_a_process(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(false);
	const char *t = dot(false);
	assert_int_equal(strncmp(t, "digraph waits {\n", 16), 0);
	assert_has(t, "  subgraph cluster_100 {\n    label=\"rank 0, process 100 (python)\";\n");
	assert_has(
		t,
		"    t100_100 [label=\"main thread 100\\nrecv, tcp 127.0.0.1:5000 -> 127.0.0.1:40000\", color=red];\n");
	assert_has(t, "  t101_101 -> t100_100 [style=solid, label=\"tcp\"];\n");
	quotes_check(t);
	assert_string_equal(t + strlen(t) - 2, "}\n");
}

static void hostile_names_stay_harmless(void **state)
{
	(void)state;
	static const char evil[] = "a\"];x\\\n\033[2J";
	scenario_add(queue);
	for (size_t i = 0; i < scenario.facts[1].n_processes; i++)
		memcpy(scenario.process[1][i].name, evil, sizeof(evil));
	memcpy(scenario.fact[1][1].text, evil, sizeof(evil));
	memcpy(scenario.hint[0].text, evil, sizeof(evil));
	graph_make(false);
	view.title = evil;
	quotes_check(dot(true));
	assert_has(dot(true), "(a\\\"];x\\\\ ?[2J)");
	assert_has_no(text(true), "\033");
	assert_has_no(text(true), "x\\\n");
	cleanup(freep) char *written = js_text(json_make(), 0);
	assert_non_null(written);
	assert_has_no(written, "\033");
	assert_has_no(written, "\n");
}

static void what_could_not_be_read_is_said(void **state)
{
	(void)state;
	scenario_add(queue);
	graph_make(false);
	view.n_denied = 2;
	view.cut = true;
	scenario.facts[1].out_of_time = true;
	const char *t = text(false);
	assert_has(t, "2 processes may not be looked into");
	assert_has(t, "there are more processes, threads or descriptors than are read");
	assert_has(t, "more processes than were searched");
	const struct js *j = json_make();
	assert_false(js_get_bool(j, "complete", true));
	assert_int_equal(js_get_i64(j, "denied", 0), 2);
}

static uint64_t seed = 88172645463325252u;

static uint32_t chance(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % n);
}

static void random_job(void)
{
	static const char *const kinds[] = {"tcp",     "pipe",	       "futex", "lock",
					    "unknown", "shared-futex", "clock", "listen"};
	int n = 1 + (int)chance(12);
	char line[160];
	wait_scenario_begin(&scenario);
	for (int i = 0; i < n; i++) {
		TEXT_FORMAT(line, "process %d parent %u%s%s%s", 100 + i, 100 + chance(14), chance(2) ? " rank 1" : "",
			    chance(2) ? " main" : "", chance(4) ? "" : " unwanted");
		wait_scenario_line(&scenario, span_of(line));
	}
	for (int i = 0; i < n; i++)
		for (uint32_t k = 0, threads = chance(4); k < threads; k++) {
			TEXT_FORMAT(line, "thread %d %u %s id %u peer %u by %u %u.%u %s%s", 100 + i,
				    100 + (uint32_t)i + k * 50, kinds[chance(ARRAY_SIZE(kinds))], chance(9), chance(9),
				    100 + chance(15), 100 + chance(15), 100 + chance(80), chance(2) ? "open " : "",
				    chance(2) ? "timed" : "");
			wait_scenario_line(&scenario, span_of(line));
		}
	TEXT_FORMAT(line, "hint %u %u owner %u %u", 100 + chance(15), 100 + chance(80), 100 + chance(15),
		    100 + chance(80));
	wait_scenario_line(&scenario, span_of(line));
}

/* Whatever the graph is: DOT is whole, JSON has every thread once, and an end or an arrow for each that waits. */
static void any_graph_can_be_shown(void **state)
{
	(void)state;
	for (int round = 0; round < 1000; round++) {
		random_job();
		graph_make(chance(3) == 0);
		assert_true(strlen(text(chance(2))) > 0);
		quotes_check(dot(chance(2)));
		const struct js *processes = js_get(json_make(), "processes");
		size_t threads = 0;
		for (size_t i = 0; i < js_len(processes); i++) {
			const struct js *list = js_get(js_at(processes, i), "threads");
			threads += js_len(list);
			for (size_t k = 0; k < js_len(list); k++)
				assert_true((js_get(js_at(list, k), "end") != NULL) !=
					    (js_len(js_get(js_at(list, k), "arrows")) > 0));
		}
		assert_int_equal(threads, scenario.facts[1].n_threads);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_way_to_the_end_of_most_ranks_comes_first, finish),
		cmocka_unit_test_teardown(json_has_the_arrows_and_the_ends, finish),
		cmocka_unit_test_teardown(every_end_has_a_name, finish),
		cmocka_unit_test_teardown(a_job_that_works_is_said_to, finish),
		cmocka_unit_test_teardown(what_was_told_of_a_hang_comes_first, finish),
		cmocka_unit_test_teardown(nobody_waits_where_all_run, finish),
		cmocka_unit_test_teardown(one_look_claims_no_proof, finish),
		cmocka_unit_test_teardown(a_thread_with_a_lock_in_the_way_is_shown, finish),
		cmocka_unit_test_teardown(many_threads_that_may_be_meant_are_one_arrow, finish),
		cmocka_unit_test_teardown(dot_is_one_box_a_process, finish),
		cmocka_unit_test_teardown(hostile_names_stay_harmless, finish),
		cmocka_unit_test_teardown(what_could_not_be_read_is_said, finish),
		cmocka_unit_test_teardown(any_graph_can_be_shown, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
