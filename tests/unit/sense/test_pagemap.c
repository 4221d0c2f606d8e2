#include "world_fixture.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sense/proc/pagemap.h"

static void words_are_counted_by_their_bits(void **state)
{
	(void)state;
	const uint64_t words[] = {UINT64_C(1) << 63, UINT64_C(1) << 62, UINT64_C(5) << 61, 0, UINT64_C(1) << 61};
	struct pagemap_range r = {.bytes = 5 * 4096};
	pagemap_count(words, ARRAY_SIZE(words), &r);
	assert_int_equal(r.seen, 5);
	assert_int_equal(r.present, 2);
	assert_int_equal(r.swapped, 1);
	assert_int_equal(r.shared, 1);
	/* of those present the ones that nobody else has */
	const uint64_t own[] = {UINT64_C(1) << 63 | UINT64_C(1) << 56, UINT64_C(1) << 56, UINT64_C(1) << 63};
	assert_int_equal(r.exclusive, 0);
	pagemap_count(own, ARRAY_SIZE(own), &r);
	assert_int_equal(r.exclusive, 1);
}

static void touched_pages_are_found_and_others_are_not(void **state)
{
	(void)state;
	struct world w = live_world();
	size_t page = (size_t)w.page_bytes, n = 256, done = 0;
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(madvise(p, n * page, MADV_NOHUGEPAGE), 0);
	for (size_t i = 0; i < n / 2; i++)
		p[i * page] = 1;
	struct pagemap_range r[] = {
		{.addr = (uintptr_t)p, .bytes = n * page},
		{.addr = (uintptr_t)p, .bytes = n / 2 * page},
		{.addr = (uintptr_t)p + n / 2 * page, .bytes = n / 2 * page},
		{.addr = (uintptr_t)p + 10, .bytes = 1},
	};
	assert_int_equal(pagemap_read(&w, getpid(), r, ARRAY_SIZE(r), 0, &done), 0);
	assert_int_equal(done, 4);
	assert_int_equal(r[0].present, n / 2);
	assert_int_equal(r[1].present, n / 2);
	assert_int_equal(r[2].seen, n / 2);
	assert_int_equal(r[2].present, 0);
	assert_int_equal(r[3].pages, 1);
	assert_int_equal(r[3].present, 1);
	munmap(p, n * page);
	fixture_close(&w);
}

static void after_a_fork_pages_are_shared_until_they_are_written(void **state)
{
	(void)state;
	struct world w = live_world();
	size_t page = (size_t)w.page_bytes, n = 64, done = 0;
	int go[2], wrote[2];
	char c = 0;
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED && pipe(go) == 0 && pipe(wrote) == 0);
	assert_int_equal(madvise(p, n * page, MADV_NOHUGEPAGE), 0);
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
	pid_t child = fork();
	if (child == 0) {
		for (size_t i = 0; i < n / 4; i++)
			p[i * page] = 2;
		_exit(write(wrote[1], "x", 1) == 1 && read(go[0], &c, 1) == 1 ? 0 : 1);
	}
	assert_int_equal(read(wrote[0], &c, 1), 1);
	struct pagemap_range r = {.addr = (uintptr_t)p, .bytes = n * page};
	assert_int_equal(pagemap_read(&w, child, &r, 1, 0, &done), 0);
	assert_int_equal(r.present, n);
	assert_int_equal(r.exclusive, n / 4);
	assert_int_equal(write(go[1], "x", 1), 1);
	int status = 1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	munmap(p, n * page);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(wrote[i]);
	}
	fixture_close(&w);
}

static void a_large_range_is_looked_at_in_parts(void **state)
{
	(void)state;
	struct world w = live_world();
	size_t page = (size_t)w.page_bytes, n = (size_t)1 << 20, done = 0;
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(p != MAP_FAILED);
	p[0] = p[n * page - 1] = 1;
	struct pagemap_range r = {.addr = (uintptr_t)p, .bytes = n * page};
	assert_int_equal(pagemap_read(&w, getpid(), &r, 1, 0, &done), 0);
	assert_int_equal(r.pages, n);
	assert_true(r.seen >= 2 && r.seen <= 32 * 512);
	assert_true(r.present >= 2);
	munmap(p, n * page);
	fixture_close(&w);
}

static uint64_t late_ns(void)
{
	static uint64_t now;
	return now += NS_PER_S;
}

static void a_budget_ends_the_look_and_says_where(void **state)
{
	(void)state;
	struct world w = live_world();
	static struct pagemap_range r[100];
	size_t done = 0;
	w.mono_ns = late_ns;
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		r[i] = (struct pagemap_range){.addr = (uintptr_t)r, .bytes = 1};
	assert_int_equal(pagemap_read(&w, getpid(), r, ARRAY_SIZE(r), 3 * NS_PER_S, &done), 0);
	assert_true(done > 0 && done < 100);
	assert_int_equal(r[done - 1].seen, 1);
	assert_int_equal(r[done].seen, 0);
	fixture_close(&w);
}

static void a_process_that_is_gone_is_said_to_be(void **state)
{
	(void)state;
	struct world w = live_world();
	size_t done = 0;
	struct pagemap_range r = {.addr = 4096, .bytes = 1};
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0 && waitpid(pid, NULL, 0) == pid);
	assert_int_equal(pagemap_read(&w, pid, &r, 1, 0, &done), WORLD_GONE);
	/* a range that wraps, or is empty, is none */
	struct pagemap_range odd[] = {{.addr = UINT64_MAX, .bytes = 10}, {.addr = 1, .bytes = 0}};
	assert_int_equal(pagemap_read(&w, getpid(), odd, 2, 0, &done), 0);
	assert_int_equal(odd[0].seen + odd[1].seen, 0);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_counted_by_their_bits),
		cmocka_unit_test(touched_pages_are_found_and_others_are_not),
		cmocka_unit_test(after_a_fork_pages_are_shared_until_they_are_written),
		cmocka_unit_test(a_large_range_is_looked_at_in_parts),
		cmocka_unit_test(a_budget_ends_the_look_and_says_where),
		cmocka_unit_test(a_process_that_is_gone_is_said_to_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
