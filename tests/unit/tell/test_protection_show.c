#include "memfile.h"

#include "tell/memory/protection_show.h"

static struct memfile out;
static struct findings threats;
static struct protection_show_process processes[14];
static struct protection_show show;

static int prepare(void **state)
{
	(void)state;
	memset(&threats, 0, sizeof(threats));
	for (int i = 0; i < 14; i++)
		processes[i] = (struct protection_show_process){100 + i, 0, -500, "done"};
	show = (struct protection_show){
		.subject = "job a-1",
		.level = "high",
		.group = "",
		.wanted_adj = -500,
		.process = processes,
		.n_processes = 2,
		.n_done = 2,
		.value = {{.name = "memory.low",
			   .how = "systemd",
			   .why_not = "",
			   .done = true,
			   .bytes = true,
			   .before = 0,
			   .after = 1 << 20},
			  {.name = "ManagedOOM", .how = "systemd", .why_not = "", .done = true},
			  {.name = "oom.group", .how = "", .why_not = "no group of its own"}},
		.n_values = 3,
		.missing = "",
		.threats = &threats,
	};
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
	protection_text(&show, false, memfile_open(&out));
	return memfile_text(&out);
}

static void each_process_and_value_has_a_line(void **state)
{
	(void)state;
	const char *text = shown();
	assert_has(text, "protection: job a-1, level high\n");
	assert_has(text, "at or below -500 for 2 of 2 processes\n");
	assert_has(text, "    101             -500, was 0: done\n");
	assert_has(text, "  memory.low        now 1.00 MiB (was 0 B)\n");
	assert_has(text, "  ManagedOOM        set by systemd\n");
	assert_has(text, "  oom.group         left alone: no group of its own\n");
	assert_has(text, "\nwhat can still end it\n");
	assert_has_no(text, "missing privilege");
}

static void a_dry_run_promises_and_does_not_report(void **state)
{
	(void)state;
	show.dry_run = true;
	show.n_raised = 1;
	const char *text = shown();
	assert_has(text, "what protecting would do: job a-1");
	assert_has(text, "would be -500 for 2 of 2 processes; helpers were raised instead\n");
	assert_has(text, "would be 1.00 MiB");
	assert_has(text, "would be set by systemd");
}

static void the_thirteenth_process_is_only_counted(void **state)
{
	(void)state;
	show.n_processes = 12;
	assert_has_no(shown(), "more processes");
	show.n_processes = 14;
	const char *text = shown();
	assert_has(text, "    2 more processes; --json lists all\n");
	assert_has_no(text, "112");
}

static void what_is_missing_or_lost_is_said(void **state)
{
	(void)state;
	show.missing = "lowering it takes CAP_SYS_RESOURCE";
	show.notes_lost = 3;
	finding_add(&threats, "earlyoom", SEVERITY_WARNING, "earlyoom runs");
	const char *text = shown();
	assert_has(text, "\nmissing privilege\nlowering it takes CAP_SYS_RESOURCE\n");
	assert_has(text, "3 old values could not be stored");
	assert_has(text, "earlyoom runs [earlyoom]");
}

static void the_json_lists_everything(void **state)
{
	(void)state;
	show.n_processes = 14;
	cleanup(js_freep) struct js *j = protection_json(&show);
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.protection/1");
	assert_int_equal(js_len(js_get(j, "processes")), 14);
	const struct js *values = js_get(j, "group_values");
	assert_int_equal(js_get_i64(js_at(values, 0), "after", -1), 1 << 20);
	assert_null(js_get(js_at(values, 2), "after"));
	assert_string_equal(js_get_text(js_at(values, 2), "why_not", ""), "no group of its own");
	assert_null(js_get(js_at(values, 0), "why_not"));
	assert_null(js_get(j, "group"));
	assert_int_equal(js_get_i64(j, "wanted_oom_score_adj", 0), -500);
	assert_int_equal(js_len(js_get(j, "threats")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_process_and_value_has_a_line, prepare),
		cmocka_unit_test_setup(a_dry_run_promises_and_does_not_report, prepare),
		cmocka_unit_test_setup(the_thirteenth_process_is_only_counted, prepare),
		cmocka_unit_test_setup(what_is_missing_or_lost_is_said, prepare),
		cmocka_unit_test_setup(the_json_lists_everything, prepare),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
