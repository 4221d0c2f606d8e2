/* A recording of page faults as a set of sites that hold memory. */
#include "testing.h"

#include "base/buf.h"
#include "model/heap/heapgrowth.h"

static uint32_t frame(struct stackset *s, const char *name)
{
	uint32_t id;
	const struct frame f = {.kind = FRAME_PYTHON, .name = name, .file = "/app/train.py", .module = "", .line = 3};
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

static uint32_t lane(struct stackset *s, pid_t pid, int32_t rank, const char *role)
{
	uint32_t id;
	struct stack_lane l = {.pid = pid, .rank = rank};
	TEXT_COPY(l.role, role);
	TEXT_COPY(l.process, "python train.py");
	assert_int_equal(stackset_lane(s, &l, &id), 0);
	return id;
}

static struct stackset *recorded(void)
{
	struct stackset *s = stackset_new();
	assert_non_null(s);
	struct stackset_meta *m = stackset_meta(s);
	m->unit = STACK_BYTES;
	m->period_bytes = 512 * KIB;
	m->start_unix_ms = 1700000000000;
	m->duration_ns = 5 * NS_PER_S;
	return s;
}

static void lanes_become_processes_and_samples_become_bytes(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recorded();
	cleanup(heapset_freep) struct heapset *h = NULL;
	uint32_t a = lane(s, 11, 0, "main"), b = lane(s, 12, NO_RANK, "loader"), step = frame(s, "step");
	const uint32_t load[] = {frame(s, "load"), step};
	/* the lanes by turns, as a recording meets them */
	assert_int_equal(stackset_add(s, a, load, 2, SAMPLE_RUNNING, false, 512 * KIB), 0);
	assert_int_equal(stackset_add(s, b, &step, 1, SAMPLE_RUNNING, false, 512 * KIB), 0);
	assert_int_equal(stackset_add(s, a, load, 2, SAMPLE_RUNNING, false, 512 * KIB), 0);
	assert_int_equal(heapgrowth_of(s, 128, &h), 0);
	assert_int_equal(heapset_source_of(h), HEAPSET_FAULTS);
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	assert_int_equal(n, 2);
	assert_int_equal(p[0].pid, 11);
	assert_int_equal(p[0].rank, 0);
	assert_string_equal(p[0].name, "python train.py");
	assert_int_equal(p[0].begun_unix_ms, 1700000000000);
	assert_true(p[0].seconds == 5.0);
	assert_true(p[0].total.bytes == MIB);
	assert_int_equal(p[0].total.samples, 2);
	assert_true(p[0].total.objects == 256);
	assert_int_equal(p[0].stacks, 1);
	assert_int_equal(p[1].rank, NO_RANK);
	assert_string_equal(p[1].role, "loader");
	assert_true(p[1].total.bytes == 512 * KIB);
	const struct heapset_site *sites = heapset_sites(h, &n);
	const struct frame *path[4];
	assert_int_equal(n, 2);
	assert_int_equal(heapset_path(h, sites[0].node, path, 4), 2);
	assert_string_equal(path[0]->name, "load");
	assert_string_equal(path[1]->name, "step");
	assert_true(sites[0].f.total.bytes == MIB);
	assert_true(sites[0].f.total.variance == (double)MIB * 512 * KIB);
}

static void what_did_not_run_holds_nothing(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recorded();
	cleanup(heapset_freep) struct heapset *h = NULL;
	uint32_t a = lane(s, 11, 0, "main"), step = frame(s, "step");
	size_t n;
	assert_int_equal(stackset_add(s, a, &step, 1, SAMPLE_IDLE, false, 512 * KIB), 0);
	assert_int_equal(heapgrowth_of(s, 128, &h), 0);
	(void)heapset_sites(h, &n);
	assert_int_equal(n, 0);
	assert_int_equal(heapset_processes(h, &n)->stacks, 0);
	assert_int_equal(n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_become_processes_and_samples_become_bytes),
		cmocka_unit_test(what_did_not_run_holds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
