/* The guard's readings must not allocate: memory is what is missing when they matter. */
#include "testing.h"
#include "world_fixture.h"

#include "sense/bpf/bpfload.h"
#include "sense/memory/cgroup.h"
#include "sense/memory/meminfo.h"
#include "sense/memory/psi.h"
#include "sense/proc/tasks.h"

#if defined(__SANITIZE_ADDRESS__)
#define COUNTS_MALLOC 0 /* the sanitizer's allocator stands where ours would */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS_MALLOC 0
#endif
#endif
#ifndef COUNTS_MALLOC
#define COUNTS_MALLOC 1
#endif

static volatile bool counting;
static volatile size_t counted;

#if COUNTS_MALLOC
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static void count_one(void)
{
	if (counting)
		counted++;
}

void *malloc(size_t size)
{
	count_one();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count_one();
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	count_one();
	return __libc_realloc(p, size);
}
#endif

/* Before anything is owned: skipping jumps out of the test. */
static void need_counting(void)
{
	if (!COUNTS_MALLOC) {
		print_message("skipped: allocations cannot be counted under a sanitizer\n");
		skip();
	}
}

static void counting_start(void)
{
	counted = 0;
	counting = true;
}

static size_t counting_stop(void)
{
	counting = false;
	return counted;
}

/* A counter that never counts would prove nothing. */
static void the_count_works(void **state)
{
	(void)state;
	need_counting();
	counting_start();
	void *volatile p = malloc(100);
	assert_int_equal(counting_stop(), 1);
	free(p);
}

static void meminfo_and_pressure_are_read_without_allocation(void **state)
{
	(void)state;
	need_counting();
	struct world w = live_world();
	struct meminfo m;
	struct psi p;
	int fd = openat(w.proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	counting_start();
	int r = meminfo_read(fd, &m);
	int pressure = psi_read(w.proc_fd, "pressure/memory", &p);
	assert_int_equal(counting_stop(), 0);
	assert_int_equal(r, 0);
	assert_true(pressure >= 0);
	close(fd);
	fixture_close(&w);
}

static void groups_are_read_without_allocation(void **state)
{
	(void)state;
	need_counting();
	static const char *const worlds[] = {"hybrid-v1", "systemd-v2"};
	for (size_t i = 0; i < ARRAY_SIZE(worlds); i++) {
		struct world w = fixture_world(worlds[i]);
		struct cgroup_place place;
		struct cgroup_chain c;
		struct cgroup_memory m;
		pid_t pids[8];
		size_t n;
		assert_int_equal(cgroup_place_read(&w, 0, &place), 0);
		assert_int_equal(cgroup_chain_open(&w, &place, &c), 0);
		counting_start();
		int r = cgroup_read_usage(&c.level[0], &m);
		if (r == 0)
			r = cgroup_read_full(&c.level[0], &m);
		if (r == 0)
			r = cgroup_pids(&w, place.memory, pids, ARRAY_SIZE(pids), &n);
		assert_int_equal(counting_stop(), 0);
		assert_int_equal(r, 0);
		cgroup_chain_close(&c);
		fixture_close(&w);
	}
}

static void scan_twice(const struct world *w, int iter_fd, enum tasks_source source)
{
	struct tasks t;
	assert_int_equal(tasks_init(&t, 65536, iter_fd), 0);
	counting_start();
	int r = tasks_scan(&t, w);
	if (r == 0)
		r = tasks_scan(&t, w);
	assert_int_equal(counting_stop(), 0);
	assert_int_equal(r, 0);
	assert_int_equal(t.source, source);
	tasks_done(&t);
}

static void all_processes_are_scanned_without_allocation(void **state)
{
	(void)state;
	need_counting();
	struct world w = live_world();
	scan_twice(&w, -1, TASKS_PROC);
	fixture_close(&w);
	w = fixture_world("hybrid-v1"); /* comes unsorted: sorting must not allocate either */
	scan_twice(&w, -1, TASKS_PROC);
	fixture_close(&w);
}

static void the_iterator_is_read_without_allocation(void **state)
{
	(void)state;
	need_counting();
	struct world w = live_world();
	char why[200] = "";
	int fd = -1;
	int r = bpf_tasks_load(&fd, why, sizeof(why));
	if (r > 0) {
		fixture_close(&w);
		print_message("skipped: %s\n", why);
		skip();
	}
	assert_int_equal(r, 0);
	scan_twice(&w, fd, TASKS_BPF);
	close(fd);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_count_works),
		cmocka_unit_test(meminfo_and_pressure_are_read_without_allocation),
		cmocka_unit_test(groups_are_read_without_allocation),
		cmocka_unit_test(all_processes_are_scanned_without_allocation),
		cmocka_unit_test(the_iterator_is_read_without_allocation),
	};
	return cmocka_run_group_tests_name("sense/hotpath", tests, NULL, NULL);
}
