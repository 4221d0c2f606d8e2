/* Runs the graph of waits over the text scenarios in tests/scenarios/waits (their README says what the lines mean). */
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "wait_scenario.h"

static struct wait_scenario scenario;
static struct waitgraph graph;
static bool one_look;

static void graph_make(void)
{
	struct waitgraph_in in = {
		.before = one_look ? NULL : &scenario.facts[0],
		.now = &scenario.facts[1],
		.who = scenario.who,
		.n_who = scenario.n_who,
		.hint = scenario.hint,
		.n_hints = scenario.n_hints,
	};
	waitgraph_done(&graph);
	assert_int_equal(waitgraph_make(&in, &graph), 0);
}

static enum waitgraph_end end_named(struct span w)
{
	static const char *const names[] = {"none",    "runs",	 "clock",  "nobody",  "gone",	 "circle",
					    "stopped", "traced", "frozen", "outside", "visitor", "storage",
					    "device",  "person", "own",	   "any",    "unknown"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_eq(w, names[i]))
			return (enum waitgraph_end)i;
	fail_msg("no end is called '%.*s'", (int)w.len, w.p);
	return WAITEND_UNKNOWN;
}

static void ranks_are(const struct waitgraph_sink *s, struct span w)
{
	char text[200];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	for (size_t i = 0; i < s->n_ranks; i++)
		buf_printf(&b, "%s%d", i ? "," : "", s->rank[i]);
	if (!b.len)
		buf_add(&b, "-");
	if (!span_eq(w, text))
		fail_msg("ranks %s, not %.*s", text, (int)w.len, w.p);
}

/*
 * Of the first end: end <kind> [ranks a,b|-] [followers n] [quality] [dead|alive] [holds|doubtful] [closed]
 * [says <rest>]
 */
static void expect_end(struct span rest)
{
	struct span w;
	char text[1000];
	assert_true(graph.n_sinks > 0);
	const struct waitgraph_sink *s = &graph.sink[0];
	waitgraph_way_text(&graph, s, text, sizeof(text));
	print_message("    %s\n", text);
	assert_true(span_word(&rest, &w));
	if (s->end != end_named(w))
		fail_msg("the end is '%s', not '%.*s'", waitgraph_end_text(s->end), (int)w.len, w.p);
	while (span_trim(rest).len) {
		if (wait_word(&rest, "ranks")) {
			assert_true(span_word(&rest, &w));
			ranks_are(s, w);
		} else if (wait_word(&rest, "followers")) {
			assert_int_equal(s->n_followers, wait_number(&rest));
		} else if (wait_word(&rest, "dead")) {
			assert_true(s->dead);
		} else if (wait_word(&rest, "alive")) {
			assert_false(s->dead);
		} else if (wait_word(&rest, "holds")) {
			assert_true(s->holds);
		} else if (wait_word(&rest, "doubtful")) {
			assert_false(s->holds);
		} else if (wait_word(&rest, "closed")) {
			assert_true(s->closed);
		} else if (wait_word(&rest, "says")) {
			char want[400];
			span_copy(span_trim(rest), want, sizeof(want));
			if (!strstr(text, want))
				fail_msg("'%s' does not say '%s'", text, want);
			break;
		} else {
			assert_true(span_word(&rest, &w));
			if (!span_eq(w, waitgraph_quality_name(s->quality)))
				fail_msg("quality %s, not %.*s", waitgraph_quality_name(s->quality), (int)w.len, w.p);
		}
	}
}

/* pid, and those of its own threads that its main thread waits for and that run: running <pid> [tid ...] */
static void expect_running(struct span rest)
{
	pid_t tid[8];
	const struct waitgraph_node *n = waitgraph_thread(&graph, (pid_t)wait_number(&rest), 0);
	assert_non_null(n);
	size_t got = waitgraph_own_running(&graph, (uint32_t)(n - graph.node), tid, ARRAY_SIZE(tid)), want = 0;
	for (; span_trim(rest).len; want++) {
		assert_true(want < got);
		assert_int_equal(tid[want], wait_number(&rest));
	}
	assert_int_equal(got, want);
}

static void expect_line(struct span rest)
{
	graph_make();
	if (wait_word(&rest, "end")) {
		expect_end(rest);
	} else if (wait_word(&rest, "waits")) {
		while (span_trim(rest).len)
			assert_true(waitgraph_waits(&graph, (pid_t)wait_number(&rest)));
	} else if (wait_word(&rest, "stands")) {
		while (span_trim(rest).len)
			assert_false(waitgraph_waits(&graph, (pid_t)wait_number(&rest)));
	} else if (wait_word(&rest, "running")) {
		expect_running(rest);
	} else if (wait_word(&rest, "dead")) {
		assert_int_equal(graph.n_dead, wait_number(&rest));
	} else {
		fail_msg("expect: what is '%.*s'?", (int)rest.len, rest.p);
	}
}

static void run_line(struct span line)
{
	if (wait_word(&line, "expect"))
		expect_line(line);
	else if (wait_word(&line, "one-look"))
		one_look = true;
	else if (!wait_scenario_line(&scenario, line))
		fail_msg("what is '%.*s'?", (int)line.len, line.p);
}

static void run_file(void **state)
{
	const char *path = *state;
	cleanup(freep) char *text = NULL;
	size_t len;
	struct span line;
	wait_scenario_begin(&scenario);
	one_look = false;
	assert_int_equal(file_slurp(AT_FDCWD, path, MIB, &text, &len), 0);
	struct span rest = {text, len};
	for (int n = 1; span_line(&rest, &line); n++) {
		line = span_trim(line);
		if (line.len == 0 || line.p[0] == '#')
			continue;
		print_message("%s:%d\n", path, n);
		run_line(line);
	}
	waitgraph_done(&graph);
}

/* ---- made-up facts of any shape ---- */

static uint64_t seed = 88172645463325252u;
static uint32_t chance(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % n);
}

/*
 * Random jobs whose truth is known: threads wait for single other threads, or run. A thread can go on exactly if the
 * chain from it leads to one that runs.
 */
static void chains_end_where_they_were_made_to(void **state)
{
	(void)state;
	enum { THREADS = 64 };
	for (int round = 0; round < 2000; round++) {
		int to[THREADS], n = 2 + (int)chance(THREADS - 2);
		wait_scenario_begin(&scenario);
		for (int i = 0; i < n; i++) {
			char line[100];
			TEXT_FORMAT(line, "process %d rank %d main", 100 + i, i);
			wait_scenario_line(&scenario, span_of(line));
		}
		for (int i = 0; i < n; i++) {
			char line[100];
			to[i] = chance(5) == 0 ? -1 : (int)chance((uint32_t)n);
			if (to[i] == i)
				to[i] = -1;
			if (to[i] < 0)
				TEXT_FORMAT(line, "thread %d runs", 100 + i);
			else
				TEXT_FORMAT(line, "thread %d child id %d by %d owner", 100 + i, 100 + to[i],
					    100 + to[i]);
			wait_scenario_line(&scenario, span_of(line));
		}
		one_look = false;
		graph_make();
		for (int i = 0; i < n; i++) {
			int at = i, steps = 0;
			while (to[at] >= 0 && steps++ < n)
				at = to[at];
			const struct waitgraph_node *x = waitgraph_thread(&graph, 100 + i, 0);
			assert_non_null(x);
			assert_int_equal(x->dead, to[at] >= 0);
			const struct waitgraph_sink *s = waitgraph_end_of(&graph, 100 + i);
			assert_non_null(s);
			assert_int_equal(s->end, to[at] >= 0 ? WAITEND_CIRCLE : WAITEND_RUNS);
			if (to[at] < 0)
				assert_int_equal(graph.node[s->node].thread->pid, 100 + at);
		}
	}
	waitgraph_done(&graph);
}

/* Facts that point anywhere: no crash, and whoever waits for something unknown is never dead. */
static void any_facts_are_survived(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		int n = 1 + (int)chance(12);
		wait_scenario_begin(&scenario);
		for (int i = 0; i < n; i++) {
			char line[100];
			TEXT_FORMAT(line, "process %d parent %u%s%s", 100 + i, 100 + chance(14),
				    chance(2) ? " rank 1" : "", chance(2) ? " main" : "");
			wait_scenario_line(&scenario, span_of(line));
		}
		for (int i = 0; i < n; i++)
			for (uint32_t k = 0, threads = chance(4); k < threads; k++) {
				char line[160];
				TEXT_FORMAT(line, "thread %d %u %s id %u peer %u by %u %u.%u %s%s%s%s", 100 + i,
					    100 + (uint32_t)i + k * 50,
					    (const char *const[]){"tcp", "pipe", "futex", "lock", "unknown",
								  "shared-futex", "clock"}[chance(7)],
					    chance(9), chance(9), 100 + chance(15), 100 + chance(15), 100 + chance(80),
					    chance(2) ? "open " : "", chance(2) ? "timed " : "",
					    chance(2) ? "gone " : "", chance(2) ? "naps" : "");
				wait_scenario_line(&scenario, span_of(line));
			}
		for (int i = 0; i < n; i++) {
			char line[100];
			TEXT_FORMAT(line, "looks %d %s%s id %u by %u %u", 100 + i, chance(3) ? "" : "now ",
				    chance(2) ? "shared-futex" : "file-lock", chance(3), 100 + chance(15),
				    100 + chance(15));
			wait_scenario_line(&scenario, span_of(line));
		}
		if (chance(2)) {
			char line[100];
			TEXT_FORMAT(line, "hint %u %u owner %u %u", 100 + chance(15), 100 + chance(80),
				    100 + chance(15), 100 + chance(80));
			wait_scenario_line(&scenario, span_of(line));
		}
		for (uint32_t i = chance(12); i > 0; i--) {
			char line[100];
			uint32_t pid = 100 + chance((uint32_t)n);
			TEXT_FORMAT(line, "hint %u %u %s", pid, pid + chance(4) * 50,
				    (const char *const[]){"call", "idle", "handler", "within", "retry"}[chance(5)]);
			wait_scenario_line(&scenario, span_of(line));
		}
		one_look = chance(4) == 0;
		graph_make();
		for (size_t i = 0; i < graph.n_nodes; i++) {
			const struct waitgraph_node *x = &graph.node[i];
			char text[300];
			waitgraph_wait_text(x, text, sizeof(text));
			waitgraph_who_text(&graph, (uint32_t)i, text, sizeof(text));
			if (x->dead)
				assert_false(one_look || x->timed || !x->fact || x->fact->kind == WAITFACT_UNKNOWN ||
					     x->fact->kind == WAITFACT_CLOCK);
		}
		for (size_t i = 0; i < graph.n_sinks; i++) {
			char text[600];
			waitgraph_way_text(&graph, &graph.sink[i], text, sizeof(text));
		}
	}
	waitgraph_done(&graph);
}

/* 8 ranks of 200 threads, each waiting for all others: what it takes is printed, not judged. */
static void many_threads_are_quick(void **state)
{
	(void)state;
	wait_scenario_begin(&scenario);
	for (int i = 0; i < 8; i++) {
		char line[100];
		TEXT_FORMAT(line, "process %d rank %d main", 1000 + i * 1000, i);
		wait_scenario_line(&scenario, span_of(line));
	}
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 200; k++) {
			char line[100];
			TEXT_FORMAT(line, "thread %d %d futex id %d", 1000 + i * 1000, 1000 + i * 1000 + k, 1 + k);
			wait_scenario_line(&scenario, span_of(line));
		}
	uint64_t begin = clock_mono_ns();
	graph_make();
	print_message("%zu nodes, %zu arrows: %.1f ms\n", graph.n_nodes, graph.n_edges,
		      (double)(clock_mono_ns() - begin) / 1e6);
	assert_int_equal(graph.n_dead, 1600);
	waitgraph_done(&graph);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
	static char *paths[400];
	static struct CMUnitTest tests[403];
	size_t n = 0, made = 0;
	DIR *d = opendir(SCENARIOS "/waits");
	for (const struct dirent *e; d && (e = readdir(d));) {
		if (n == ARRAY_SIZE(paths)) {
			print_error("there are more scenarios than places for them\n");
			return 1;
		}
		if (strstr(e->d_name, ".txt") && asprintf(&paths[n], "%s/waits/%s", SCENARIOS, e->d_name) > 0)
			n++;
	}
	if (d)
		(void)closedir(d);
	qsort(paths, n, sizeof(*paths), compare_names);
	for (size_t i = 0; i < n; i++)
		tests[made++] = (struct CMUnitTest){
			.name = strrchr(paths[i], '/') + 1, .test_func = run_file, .initial_state = paths[i]};
	tests[made++] = (struct CMUnitTest)cmocka_unit_test(chains_end_where_they_were_made_to);
	tests[made++] = (struct CMUnitTest)cmocka_unit_test(any_facts_are_survived);
	tests[made++] = (struct CMUnitTest)cmocka_unit_test(many_threads_are_quick);
	int failed = _cmocka_run_group_tests("waits", tests, made, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	return failed;
}
