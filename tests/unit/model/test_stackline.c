#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "model/gpu/gpuwatch.h"
#include "model/rules/ibwatch.h"
#include "model/stacks/stackline.h"
#include "sense/death/facts.h"

static struct dump_frame frame(enum frame_kind kind, char *file, char *name)
{
	struct dump_frame f = {.kind = kind, .name = name};
	*(kind == FRAME_PYTHON ? &f.file : &f.module) = file;
	return f;
}

static char path[] = "/usr/lib/python3/site-packages/torch/utils/data/_utils/worker.py", loop[] = "_worker_loop";
static char gomp[] = "libgomp.so.1", parallel[] = "GOMP parallel;x", script[] = "/home/u/train.py", run_name[] = "main";

static void a_thread_is_a_line(void **state)
{
	(void)state;
	char line[1000];
	struct dump_frame frames[] = {frame(FRAME_NATIVE, gomp, parallel), frame(FRAME_PYTHON, path, loop),
				      frame(FRAME_PYTHON, script, run_name)};
	struct dump_thread t = {.tid = 62,
				.name = "pt data\tworker",
				.wait_kind = "lock",
				.syscall = "futex",
				.frames = frames,
				.n_frames = 3};
	struct dump_process p = {.pid = 61, .rank = 2, .name = "python", .threads = &t, .n_threads = 1};
	t.wait = (struct threadwait){.kind = WAIT_LOCK,
				     .state = 'S',
				     .wchan = "futex_do_wait",
				     .owner_gone = true,
				     .fd = 3,
				     .target = "/data/x on nfs4 server:/export"};
	stackline_format(&p, &t, line, sizeof(line));
	assert_string_equal(
		line, "pid=61 tid=62 comm=pt_data_worker rank=2 thread=other threads=1 state=S wait=lock "
		      "syscall=futex wchan=futex_do_wait futex_owner=gone target=/data/x_on_nfs4_server:/export "
		      "train.py;main;torch/utils/data/_utils/worker.py;_worker_loop;libgomp.so.1;GOMP_parallel_x");
	t.wait = (struct threadwait){.kind = WAIT_LOCK, .state = 'S', .owner = 5, .fd = -1, .target = "old"};
	p.rank = NO_RANK;
	t.n_frames = 0;
	t.wait_kind[0] = t.syscall[0] = '\0';
	stackline_format(&p, &t, line, sizeof(line));
	assert_string_equal(line,
			    "pid=61 tid=62 comm=pt_data_worker thread=other threads=1 state=S futex_owner=alive ");
}

static void the_innermost_frames_of_a_deep_stack_are_kept(void **state)
{
	(void)state;
	static struct dump_frame frames[4000];
	static char line[STACKLINE_MAX];
	for (size_t i = 0; i < 4000; i++)
		frames[i] = frame(FRAME_PYTHON, script, i == 0 ? loop : run_name);
	struct dump_thread t = {.tid = 61, .frames = frames, .n_frames = 4000};
	t.wait.fd = -1;
	struct dump_process p = {.pid = 61, .rank = 2, .threads = &t, .n_threads = 1};
	stackline_format(&p, &t, line, sizeof(line));
	assert_true(strlen(line) > STACKLINE_MAX / 2 && strlen(line) < STACKLINE_MAX);
	assert_string_equal(line + strlen(line) - 12, "_worker_loop");
	stackline_format(&p, &t, line, 120);
	assert_true(strlen(line) < 120);
}

static void threads_are_found_by_their_numbers(void **state)
{
	(void)state;
	struct dump_thread t[] = {{.tid = 61, .name = "pt_data_worker"}, {.tid = 64, .name = "x"}};
	struct dump_process p[] = {{.pid = 60, .rank = NO_RANK}, {.pid = 61, .rank = 2, .threads = t, .n_threads = 2}};
	struct stackdump d = {.processes = p, .n = 2};
	int32_t rank = 99;
	assert_true(stackdump_rank_of(&d, 64, &rank));
	assert_int_equal(rank, 2);
	assert_true(stackdump_rank_of(&d, 60, &rank));
	assert_int_equal(rank, NO_RANK);
	assert_false(stackdump_rank_of(&d, 65, &rank));
	assert_int_equal(stackdump_count(&d, 2, "pt_data_worker"), 1);
	assert_int_equal(stackdump_count(&d, 1, "pt_data_worker"), 0);
}

struct lines {
	size_t n;
	char text[8][200];
};

static void keep(void *data, const char *line)
{
	struct lines *l = data;
	assert_true(l->n < ARRAY_SIZE(l->text));
	TEXT_COPY(l->text[l->n++], line);
}

static void clocks_that_stay_low_are_told_with_their_time(void **state)
{
	(void)state;
	static struct gpuwatch g;
	static struct gpu_set set;
	struct lines l = {.n = 0};
	set.n = 2;
	for (uint32_t i = 0; i < 2; i++) {
		set.gpu[i].index = i;
		gpu_value_set(&set.gpu[i], GPU_BUSY, 100);
		gpu_value_set(&set.gpu[i], GPU_SM_CLOCK, i == 0 ? 1900 : 345);
		gpu_value_set(&set.gpu[i], GPU_REASONS, i == 0 ? GPU_REASON_IDLE : GPU_REASON_HW_THERMAL);
	}
	for (uint64_t s = 100; s <= 1000; s += 30)
		gpuwatch_feed(&g, &set, s * NS_PER_S);
	gpuwatch_lines(&g, 1000 * NS_PER_S, keep, &l);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.text[0], "sm_clock_low_s{gpu1} 900");
	assert_string_equal(l.text[1], "gpu_held_back_s{gpu1} 900 hw_thermal");
	/* nobody looked for a while: nothing is known of the time between */
	gpuwatch_feed(&g, &set, 2000 * NS_PER_S);
	l.n = 0;
	gpuwatch_lines(&g, 2000 * NS_PER_S, keep, &l);
	assert_string_equal(l.text[0], "sm_clock_low_s{gpu1} 0");
	/* an idle GPU's clock is low by design */
	gpu_value_set(&set.gpu[1], GPU_BUSY, 0);
	gpuwatch_feed(&g, &set, 2001 * NS_PER_S);
	l.n = 0;
	gpuwatch_lines(&g, 2001 * NS_PER_S, keep, &l);
	assert_int_equal(l.n, 0);
}

static void ports_tell_what_has_changed(void **state)
{
	(void)state;
	struct lines l = {.n = 0};
	struct ibwatch_facts facts;
	struct ibport was[2] = {{.device = "mlx5_0", .port = 1, .state = 4},
				{.device = "mlx5_1", .port = 1, .state = 1}};
	struct ibport is[2] = {was[0], was[1]};
	ibwatch_lines(was, 2, is, 2, keep, &l, &facts);
	assert_int_equal(l.n, 0);
	assert_true(facts.active);
	assert_int_equal(facts.ack_timeouts, 0);
	was[0].has = is[0].has = UINT64_C(1) << IB_ACK_TIMEOUTS | UINT64_C(1) << IB_LINK_DOWNED | 1;
	is[0].value[IB_ACK_TIMEOUTS] = 12;
	is[0].value[IB_LINK_DOWNED] = 1;
	is[0].value[IB_XMIT_BYTES] = 1 << 30;
	was[0].value[IB_SYMBOL_ERRORS] = 5; /* without its bit */
	is[0].state = 1;
	is[0].phys_state = 2;
	ibwatch_lines(was, 2, is, 2, keep, &l, &facts);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.text[0], "ib_port_down{mlx5_0:1} state=1 phys=2");
	assert_string_equal(l.text[1], "ib_link_downed{mlx5_0:1} 1");
	assert_string_equal(l.text[2], "ib_local_ack_timeout_err{mlx5_0:1} 12");
	assert_false(facts.active);
	assert_int_equal(facts.ack_timeouts, 12);
	l.n = 0;
	is[0].value[IB_ACK_TIMEOUTS] = is[0].value[IB_LINK_DOWNED] = 0;
	was[0].value[IB_ACK_TIMEOUTS] = 7; /* the driver began anew */
	ibwatch_lines(was, 1, is, 2, keep, &l, &facts);
	assert_int_equal(l.n, 1);
}

static void what_a_driver_says_of_trouble_is_kept_for_a_while(void **state)
{
	(void)state;
	static struct gpuwatch g;
	static struct gpu_set set;
	struct lines l = {.n = 0};
	set.n = 1;
	set.gpu[0] = (struct gpu_sample){.index = 3, .uuid = "GPU-c", .pci = "0000:17:00.0"};
	gpu_finding_add(&set, GPU_BLOCKED, "nvmlDeviceGetPowerUsage", "", "x");
	gpu_finding_add(&set, GPU_LOST, "nvmlDeviceGetName", "GPU-c", "x");
	gpu_finding_add(&set, GPU_MISMATCH, "nvmlInit_v2", "", "x"); /* holds up nobody who runs */
	set.n_events = 2;
	set.event[0] = (struct gpu_event){.type = 8, .data = 79, .uuid = "GPU-c"};
	set.event[1] = (struct gpu_event){.type = 1, .data = 5, .uuid = "GPU-c"}; /* no Xid */
	gpuwatch_feed(&g, &set, 100 * NS_PER_S);
	set.n_findings = set.n_events = 0;
	gpuwatch_feed(&g, &set, 110 * NS_PER_S);
	gpuwatch_lines(&g, 160 * NS_PER_S, keep, &l);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.text[0], "gpu_driver_blocked_s{nvmlDeviceGetPowerUsage} 60");
	assert_string_equal(l.text[1], "gpu_lost_s{gpu3} 60");
	l.n = 0;
	gpuwatch_kernel_lines(&g, keep, &l);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.text[0], "NVRM: Xid (PCI:0000:17:00): 79, told by NVML");
	/* it was asked again since, and answered */
	l.n = 0;
	gpuwatch_lines(&g, 300 * NS_PER_S, keep, &l);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_a_line),
		cmocka_unit_test(the_innermost_frames_of_a_deep_stack_are_kept),
		cmocka_unit_test(threads_are_found_by_their_numbers),
		cmocka_unit_test(clocks_that_stay_low_are_told_with_their_time),
		cmocka_unit_test(what_a_driver_says_of_trouble_is_kept_for_a_while),
		cmocka_unit_test(ports_tell_what_has_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
