/* What a Ray node writes of its places: texts of Ray 2.60, shortened, of two jobs that hang for want of them. */
#include "agent/scratch_fixture.h"

#include <fcntl.h>

#include "base/file.h"
#include "sense/framework/rayplaces.h"

static struct rayplaces p; /* large */

/* Of tests/fixtures/ray; borrowed until the next call. */
static struct span recorded(const char *name)
{
	static char text[16384];
	char path[512];
	size_t len = 0;
	TEXT_FORMAT(path, "%s/ray/%s", FIXTURES, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(file_read_from(fd, 0, text, sizeof(text), &len), 0);
	close(fd);
	return (struct span){text, len};
}

static double amount(const struct rayplaces_set *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->of[i].name, name) == 0)
			return s->of[i].amount;
	return -1;
}

static bool status(const char *name)
{
	const struct span text = recorded(name);
	p = (struct rayplaces){.nodes = 0};
	return rayplaces_status_parse(text, text, &p);
}

static void a_raylet_says_what_is_free_and_who_has_the_rest(void **state)
{
	(void)state;
	p = (struct rayplaces){.nodes = 0};
	assert_true(rayplaces_state_parse(recorded("nested.state"), &p));
	assert_true(p.has_state && !p.total.cut && !p.available.cut && !p.holders_cut);
	assert_float_equal(amount(&p.total, "slot"), 2, 0);
	assert_float_equal(amount(&p.available, "slot"), 0, 0);
	assert_float_equal(amount(&p.total, "CPU"), 4, 0);
	assert_float_equal(amount(&p.available, "CPU"), 4, 0);
	assert_float_equal(amount(&p.total, "node:10.0.0.7"), 1, 0);
	assert_int_equal(p.n_holders, 2);
	assert_int_equal(p.holder[0].pid, 1946);
	assert_string_equal(p.holder[1].name, "fold");
	assert_string_equal(p.holder[1].text, "{slot: 1}");
	assert_float_equal(amount(&p.holder[1].has, "slot"), 1, 0);
	assert_int_equal(p.drivers, 1);
	assert_int_equal(p.starting, 0);
	assert_false(p.groups);
}

static void starting_workers_and_groups_are_seen(void **state)
{
	(void)state;
	p = (struct rayplaces){.nodes = 0};
	assert_true(rayplaces_state_parse(
		SPAN("NodeManager:\nnum_tasks_waiting_for_workers: 2\nLocal resources: {\"total\":{CPU: [20000], "
		     "CPU_group_0_ab: [10000], GPU: [10000, 5000]}, \"available\": {CPU: [10000]}\n"
		     "Resource usage {\n}\n"
		     "- num PYTHON pending start requests: 1\n- num JAVA pending registration requests: 1\n"),
		&p));
	assert_int_equal(p.starting, 4);
	assert_true(p.groups && p.n_holders == 0 && !p.holders_cut);
	assert_int_equal(p.total.n, 2);
	assert_float_equal(amount(&p.total, "GPU"), 1.5, 0);
}

static void the_monitor_says_what_waits(void **state)
{
	(void)state;
	assert_true(status("nested.monitor"));
	assert_true(p.has_status && !p.changes && !p.demands_cut);
	assert_int_equal(p.nodes, 1);
	assert_int_equal(p.n_demands, 1);
	assert_string_equal(p.demand[0].text, "{'slot': 1.0}");
	assert_int_equal(p.demand[0].count, 2);
	assert_true(!p.demand[0].group && !p.demand[0].in_group && !p.demand[0].all.cut);
	assert_float_equal(amount(&p.demand[0].all, "slot"), 1, 0);
}

static void bundles_of_a_group_add_up(void **state)
{
	(void)state;
	assert_true(status("group.monitor"));
	assert_int_equal(p.statuses, 3);
	assert_int_equal(p.n_demands, 1);
	assert_string_equal(p.demand[0].text, "{'CPU': 1.0} * 4 (PACK)");
	assert_true(p.demand[0].group && !p.demand[0].apart);
	assert_int_equal(p.demand[0].bundles, 4);
	assert_float_equal(amount(&p.demand[0].all, "CPU"), 4, 0);
}

#define HEAD SPAN("INFO autoscaler.py:361 -- StandardAutoscaler: {'provider': {'type': 'readonly', 'x': 1}}\n")
#define ACTIVE "======== Autoscaler status: t ========\nActive:\n 1 node_a\n"
#define WAITS "Pending Demands:\n"
#define NOTHING WAITS " (no resource demands)\nend\n"
#define QUIET "Pending:\n (no pending nodes)\nRecent failures:\n (no failures)\n"

static void parse(const char *tail)
{
	p = (struct rayplaces){.nodes = 0};
	assert_true(rayplaces_status_parse(HEAD, span_of(tail), &p));
}

static void several_demands_are_told_apart(void **state)
{
	(void)state;
	parse(ACTIVE QUIET WAITS
	      " {'CPU': 1.0, 'GPU': 0.5}: 3+ pending tasks/actors (1+ using placement groups)\n"
	      " {'CPU': 1.0} * 2, {'GPU': 1.0} * 1 (STRICT_SPREAD): 1+ pending placement groups\nend\n");
	assert_int_equal(p.n_demands, 2);
	assert_true(p.demand[0].in_group && p.demand[0].count == 3 && !p.changes);
	assert_float_equal(amount(&p.demand[0].all, "GPU"), 0.5, 0);
	assert_true(p.demand[1].apart && p.demand[1].bundles == 3);
	assert_float_equal(amount(&p.demand[1].all, "CPU"), 2, 0);
	parse(ACTIVE QUIET "Pending Demands:\n (no resource demands)\nend\n");
	assert_int_equal(p.n_demands, 0);
}

static void what_cannot_be_read_is_said(void **state)
{
	(void)state;
	parse(ACTIVE QUIET "Pending Demands:\n something new\nend\n");
	assert_true(p.demands_cut);
	parse(ACTIVE QUIET WAITS " {'it's': 1.0}: 1+ pending tasks/actors\n {CPU: 1}: 1+ pending tasks/actors\nend\n");
	assert_true(p.n_demands == 2 && p.demand[1].all.cut);
	assert_false(rayplaces_status_parse(HEAD, SPAN("nothing\n"), &p));
	assert_false(rayplaces_state_parse(SPAN("nothing\n"), &p));
	assert_false(rayplaces_state_parse(SPAN("NodeManager:\nResource usage {\n}\n"), &p));
}

static void nodes_that_come_are_seen(void **state)
{
	(void)state;
	parse(ACTIVE "Pending:\n 10.0.0.8: worker, launching\nRecent failures:\n (no failures)\n" NOTHING);
	assert_true(p.changes);
	parse("======== Autoscaler status: t ========\nActive:\n 1 a\n 2 b\nIdle:\n 1 c\n" QUIET NOTHING);
	assert_int_equal(p.nodes, 4);
	assert_true(rayplaces_status_parse(SPAN("StandardAutoscaler: {'provider': {'type': 'aws'}}\n"),
					   SPAN(ACTIVE QUIET NOTHING), &p));
	assert_true(p.changes);
}

/* The last one is being written; of the others so many agree. */
static void statuses_that_agree_are_counted(void **state)
{
	(void)state;
#define ONE(n) ACTIVE QUIET "Pending Demands:\n {'CPU': 1.0}: " n "+ pending tasks/actors\nend\n"
	parse(ONE("2") ONE("1") ONE("1") ACTIVE "Pend");
	assert_int_equal(p.statuses, 2);
	assert_int_equal(p.demand[0].count, 1);
}

static void the_folder_is_that_of_the_raylets_output(void **state)
{
	(void)state;
	char folder[32];
	assert_true(rayplaces_folder(SPAN("/tmp/ray/s/logs/raylet.out"), folder, sizeof(folder)));
	assert_string_equal(folder, "/tmp/ray/s/logs");
	assert_false(rayplaces_folder(SPAN("/tmp/ray/s/logs/raylet.out (deleted)"), folder, sizeof(folder)));
	assert_false(rayplaces_folder(SPAN("pipe:[1]"), folder, sizeof(folder)));
	assert_false(rayplaces_folder(SPAN("/a/folder/whose/name/is/much/long/raylet.out"), folder, sizeof(folder)));
}

static void put_recorded(const char *name, const char *as)
{
	const struct span text = recorded(name);
	(void)scratch_put(as, text.p, text.len, 0600);
}

static void both_files_are_read_and_links_are_not(void **state)
{
	(void)state;
	cleanup(raylogs_done) struct raylogs l = {.fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
						  .user = {.uid = geteuid(), .gid = getegid()}};
	assert_int_equal(rayplaces_read(&l, &p), WORLD_ABSENT);
	put_recorded("nested.state", "debug_state.txt");
	put_recorded("nested.monitor", "secret");
	assert_int_equal(symlink("secret", scratch_path("monitor.log")), 0);
	assert_int_equal(rayplaces_read(&l, &p), 0);
	assert_true(p.has_state && !p.has_status && p.state_unix_ms > 0);
	assert_int_equal(unlink(scratch_path("monitor.log")), 0);
	put_recorded("nested.monitor", "monitor.log");
	assert_int_equal(rayplaces_read(&l, &p), 0);
	assert_true(p.has_state && p.has_status && p.status_unix_ms > 0 && !p.changes);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_raylet_says_what_is_free_and_who_has_the_rest),
		cmocka_unit_test(starting_workers_and_groups_are_seen),
		cmocka_unit_test(the_monitor_says_what_waits),
		cmocka_unit_test(bundles_of_a_group_add_up),
		cmocka_unit_test(several_demands_are_told_apart),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(nodes_that_come_are_seen),
		cmocka_unit_test(statuses_that_agree_are_counted),
		cmocka_unit_test(the_folder_is_that_of_the_raylets_output),
		IN_SCRATCH(both_files_are_read_and_links_are_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
