#include "memfile.h"

#include "base/buf.h"
#include "tell/gpu/gpu_show.h"

static struct memfile out;
static struct gpuview *view;

#define G (UINT64_C(1) << 30)

static int prepare(void **state)
{
	(void)state;
	view = calloc(1, sizeof(*view));
	assert_non_null(view);
	TEXT_COPY(view->node, "node-7");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	free(view);
	return 0;
}

static const char *shown(void)
{
	gpu_text(view, false, memfile_open(&out));
	return memfile_text(&out);
}

/* Device 0 with a process of rank 3. */
static struct gpu_sample *device(void)
{
	struct gpu_sample *g = &view->set.gpu[0];
	view->set.n = 1;
	TEXT_COPY(g->name, "H200");
	TEXT_COPY(g->uuid, "GPU-1");
	g->has_processes = true;
	g->n_processes = 1;
	g->process[0] = (struct gpu_process){.pid = 812, .has_memory = true, .memory_bytes = 2 * G};
	view->who[0][0] = (struct gpu_who){.known = true, .who = {.rank = 3}, .job = "a-1", .command = "python"};
	return g;
}

static void a_node_without_gpus_says_what_was_looked_at(void **state)
{
	(void)state;
	view->set.n_drivers = 1;
	TEXT_COPY(view->set.driver[0].name, "nvidia");
	TEXT_COPY(view->set.driver[0].text, "no such library");
	view->kernel_log_denied = true;
	const char *text = shown();
	assert_has(text, "No GPU here. What was looked at:\n  nvidia            no such library\n");
	assert_has(text, "not readable, so there may have been Xids\n");
	view->kernel_log_denied = false;
	view->set.n_findings = 1;
	text = shown();
	assert_has(text, "No GPU could be read here.");
	assert_has(text, "  kernel log        0 Xids\n");
}

static void unknown_values_are_dashes(void **state)
{
	(void)state;
	struct gpu_sample *g = device();
	const char *text = shown();
	assert_has(text, "GPUs of node-7\n");
	assert_has(text, "  0  H200                          -       -  -                        -                -  - "
			 "              -\n");
	gpu_value_set(g, GPU_BUSY, 97);
	gpu_value_set(g, GPU_MEMORY_TOTAL, 80 * G);
	gpu_value_set(g, GPU_MEMORY_USED, 8 * G);
	gpu_value_set(g, GPU_POWER, 350999);
	text = shown();
	assert_has(text, "   97 %       -  8.00 GiB of 80.0 GiB     350 W ");
	gpu_value_set(g, GPU_POWER_LIMIT, 700000);
	gpu_value_set(g, GPU_REASONS, 0);
	text = shown();
	assert_has(text, "350/700 W");
	assert_has(text, "  nothing\n");
}

static void processes_stand_below_their_device(void **state)
{
	(void)state;
	struct gpu_sample *g = device();
	const char *text = shown();
	assert_has(text, "       pid 812        2.00 GiB  job a-1 rank 3   python\n");
	assert_has_no(text, "does not tell whose");
	g->process[0].pid = 0;
	g->process[0].driver_pid = 4711;
	g->n_processes_dropped = 2;
	g->has_processes = false;
	text = shown();
	assert_has(text, "       foreign pid 4711 ");
	assert_has(text, "       and 2 more processes\n");
	assert_has(text, "the driver does not tell whose processes are on it\n");
}

static void what_is_wrong_with_a_device_is_one_line(void **state)
{
	(void)state;
	struct gpu_sample *g = device();
	gpu_value_set(g, GPU_ECC_UNCORRECTED, 3);
	gpu_value_set(g, GPU_PCIE_WIDTH, 4);
	gpu_value_set(g, GPU_PCIE_WIDTH_MAX, 16);
	assert_has(shown(), "       3 uncorrected memory errors; PCIe has 4 of 16 lanes\n");
	gpu_value_set(g, GPU_ECC_UNCORRECTED, 0);
	gpu_value_set(g, GPU_PCIE_WIDTH, 16);
	assert_has_no(shown(), "lanes");
	g->lost = true;
	assert_has(shown(), "       not asked: the driver gave it up\n");
}

static void the_json_has_only_known_values(void **state)
{
	(void)state;
	struct gpu_sample *g = device();
	gpu_value_set(g, GPU_BUSY, 97);
	cleanup(js_freep) struct js *j = gpu_json(view);
	const struct js *one = js_at(js_get(j, "gpus"), 0), *process = js_at(js_get(one, "processes"), 0);
	double busy = js_get_double(one, gpu_value_name(GPU_BUSY)->name, 0);
	assert_true(busy > 0.969 && busy < 0.971);
	assert_null(js_get(one, gpu_value_name(GPU_MEMORY_USED)->name));
	assert_null(js_get(one, "clock_reasons"));
	assert_int_equal(js_get_i64(process, "rank", -1), 3);
	assert_int_equal((uint64_t)js_get_i64(process, "memory_bytes", -1), 2 * G);
	assert_null(js_get(process, "sm_ratio"));
	assert_true(js_get_bool(j, "kernel_log_readable", false));
	assert_int_equal(js_get_i64(j, "xids_dropped", -1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_node_without_gpus_says_what_was_looked_at, prepare, finish),
		cmocka_unit_test_setup_teardown(unknown_values_are_dashes, prepare, finish),
		cmocka_unit_test_setup_teardown(processes_stand_below_their_device, prepare, finish),
		cmocka_unit_test_setup_teardown(what_is_wrong_with_a_device_is_one_line, prepare, finish),
		cmocka_unit_test_setup_teardown(the_json_has_only_known_values, prepare, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
