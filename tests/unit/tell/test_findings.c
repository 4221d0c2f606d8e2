#include "memfile.h"

#include "tell/host/findings.h"

static struct findings all;
static struct memfile out;

static int prepare(void **state)
{
	(void)state;
	memset(&all, 0, sizeof(all));
	struct finding *f = finding_add(&all, "swap_off", SEVERITY_WARNING, "there is no swap");
	finding_evidence(f, "/proc/swaps is %s", "empty");
	finding_advice(f, "add some");
	finding_add(&all, "disk_full", SEVERITY_PROBLEM, "the disk is full\033[0m");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	return 0;
}

static void the_json_has_every_list(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *j = findings_json(&all);
	char *text = js_text(j, 0);
	assert_has(
		text,
		"{\"schema\": \"vigil.findings/1\", \"findings\": [{\"id\": \"swap_off\", \"severity\": \"warning\", "
		"\"text\": \"there is no swap\", \"evidence\": [\"/proc/swaps is empty\"], \"advice\": [\"add "
		"some\"]}, ");
	assert_has_no(text, "dropped");
	free(text);
	cleanup(js_freep) struct js *array = findings_array_json(&all);
	assert_int_equal(js_len(array), 2);
	assert_int_equal(js_len(js_get(js_at(array, 1), "advice")), 0);
}

static void no_finding_is_an_empty_list(void **state)
{
	(void)state;
	memset(&all, 0, sizeof(all));
	cleanup(js_freep) struct js *j = findings_json(&all);
	assert_non_null(js_get(j, "findings"));
	assert_int_equal(js_len(js_get(j, "findings")), 0);
	findings_text(&all, false, memfile_open(&out));
	assert_string_equal(memfile_text(&out), "");
}

static void the_text_says_what_was_seen_and_what_to_do(void **state)
{
	(void)state;
	findings_text(&all, false, memfile_open(&out));
	assert_string_equal(memfile_text(&out), "warning  there is no swap [swap_off]\n"
						"           seen: /proc/swaps is empty\n"
						"           do:   add some\n"
						"problem  the disk is full?[0m [disk_full]\n");
	findings_text(&all, true, memfile_open(&out));
	assert_has(memfile_text(&out), "\033[33mwarning  \033[0m");
	assert_has(memfile_text(&out), "\033[31mproblem  \033[0m");
}

static void what_does_not_fit_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		finding_add(&all, "more", SEVERITY_NOTE, "number %zu", i);
	assert_int_equal(all.dropped, 2);
	findings_text(&all, false, memfile_open(&out));
	assert_has(memfile_text(&out), "2 more findings are not shown.\n");
	cleanup(js_freep) struct js *j = findings_json(&all);
	assert_int_equal(js_get_i64(j, "dropped", 0), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_json_has_every_list, prepare),
		cmocka_unit_test_setup(no_finding_is_an_empty_list, prepare),
		cmocka_unit_test_setup(the_text_says_what_was_seen_and_what_to_do, prepare),
		cmocka_unit_test_setup(what_does_not_fit_is_counted, prepare),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
