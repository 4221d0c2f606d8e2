#include "testing.h"
#include "world_fixture.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/file.h"
#include "sense/native/native_parts.h"

struct bench {
	struct world w;
	struct remote r;
	struct natives *files;
	struct native *p;
};

static struct bench *bench_open(pid_t pid)
{
	static struct bench b;
	b.w = live_world();
	remote_open(&b.w, pid, &b.r);
	b.files = natives_new();
	assert_non_null(b.files);
	b.p = native_new(b.files, &b.w, &b.r);
	assert_non_null(b.p);
	return &b;
}

static void bench_close(struct bench *b)
{
	native_free(b->p);
	natives_free(b->files);
	remote_done(&b->r);
	fixture_close(&b->w);
}

static struct native_symbol symbol(struct bench *b, uint64_t pc, bool exact)
{
	struct native_symbol s;
	native_symbol(b->p, pc, exact, &s);
	assert_non_null(s.name);
	assert_non_null(s.module);
	assert_non_null(s.file);
	return s;
}

static uint64_t addr_of(void (*f)(void **))
{
	return (uint64_t)(uintptr_t)f;
}

static unsigned first_line; /* in the function below, soon after its start */

static void a_function_of_ours_has_its_name_and_offset(void **state)
{
	(void)state;
	struct bench *b = bench_open(getpid());
	uint64_t at = addr_of(a_function_of_ours_has_its_name_and_offset);
	struct native_symbol s = symbol(b, at + 1, true);
	first_line = __LINE__ - 3;
	assert_int_equal(s.kind, NATIVE_FUNCTION);
	assert_string_equal(s.name, __func__);
	assert_string_equal(s.module, "test_sense_native");
	assert_int_equal(s.offset, 1);
	/* As a return address it belongs to the call before it: the first byte belongs to whatever lies in front. */
	s = symbol(b, at, false);
	assert_string_not_equal(s.name, __func__);
	s = symbol(b, at + 1, false);
	assert_string_equal(s.name, __func__);
	assert_int_equal(s.offset, 1);
	const char *once = s.name;
	s = symbol(b, at + 2, false);
	assert_ptr_equal(s.name, once);
	bench_close(b);
}

static void lines_are_right(void)
{
	struct bench *b = bench_open(getpid());
	struct native_symbol s;
	native_line(b->p, addr_of(a_function_of_ours_has_its_name_and_offset), true, &s);
	assert_string_equal(s.name, "a_function_of_ours_has_its_name_and_offset");
	assert_non_null(strstr(s.file, "test_native.c"));
	assert_int_equal(s.file[0], '/');
	assert_in_range(s.line, first_line - 4, first_line);
	native_line(b->p, addr_of(a_function_of_ours_has_its_name_and_offset) + 1, false, &s);
	assert_int_equal(s.offset, 1);
	assert_in_range(s.line, first_line - 4, first_line);
	native_line(b->p, 1, true, &s);
	assert_string_equal(s.file, "");
	bench_close(b);
}

/* In a child that ends at once: LeakSanitizer of GCC 12 and Clang 14 crashes at the end of whoever loaded libdw. */
static void a_line_of_source_is_found_where_there_is_libdw(void **state)
{
	(void)state;
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (!dlopen("libdw.so.1", RTLD_NOW))
			_exit(77);
		lines_are_right();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* libdw1 is not installed */
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_kernels_own_library_is_named_from_memory(void **state)
{
	(void)state;
	struct bench *b = bench_open(getpid());
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t named = 0;
	if (!start) {
		bench_close(b);
		skip(); /* no vDSO here */
	}
	for (uint64_t at = start; at < start + 8192; at += 16) {
		struct native_symbol s = symbol(b, at, true);
		if (s.kind != NATIVE_FUNCTION)
			continue;
		assert_string_equal(s.module, "[vdso]");
		named++;
	}
	assert_true(named > 0);
	struct native_spot spot;
	native_spot_at(b->p, start, &spot);
	assert_non_null(spot.file);
	assert_int_equal(spot.vaddr, 0);
	bench_close(b);
}

static void code_in_plain_memory_is_named_by_the_map_of_its_maker(void **state)
{
	(void)state;
	char path[64], text[256];
	TEXT_FORMAT(path, "/tmp/perf-%d.map", getpid());
	unlink(path);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)code;
	struct bench *b = bench_open(getpid());
	struct native_symbol s = symbol(b, at + 5, true);
	TEXT_FORMAT(text, "0x%llx", (unsigned long long)at + 5);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	assert_string_equal(s.name, text);
	assert_string_equal(s.module, "");
	TEXT_FORMAT(text, "%llx 10 py::work:/home/a b.py\n%llx 20 numba kernel\n", (unsigned long long)at,
		    (unsigned long long)at + 0x10);
	assert_int_equal(file_replace(path, text, strlen(text), 0600), 0);
	b->p->perfmap.mono_next_ns = 0;
	s = symbol(b, at + 5, true);
	assert_int_equal(s.kind, NATIVE_TRAMPOLINE);
	assert_string_equal(s.name, "py::work:/home/a b.py");
	assert_int_equal(s.offset, 5);
	s = symbol(b, at + 0x10, false);
	assert_int_equal(s.kind, NATIVE_TRAMPOLINE);
	s = symbol(b, at + 0x11, false);
	assert_int_equal(s.kind, NATIVE_JIT);
	assert_string_equal(s.name, "numba kernel");
	s = symbol(b, at + 0x40, true);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	unlink(path);
	munmap(code, 4096);
	bench_close(b);
}

/* The library is loaded after the mappings were read. */
static void the_evaluation_loop_is_known_with_its_nameless_part(void **state)
{
	(void)state;
#if defined(__x86_64__)
	struct bench *b = bench_open(getpid());
	void *lib = dlopen(FAKE_PYTHON, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(lib);
	uint64_t loop = (uint64_t)(uintptr_t)dlsym(lib, "_PyEval_EvalFrameDefault");
	int (*run)(int);
	*(void **)&run = dlsym(lib, "_PyEval_EvalFrameDefault");
	assert_int_equal(run(-4), 5); /* through the cold part and back */
	struct native_symbol s = symbol(b, loop + 1, true);
	assert_int_equal(s.kind, NATIVE_EVAL_LOOP);
	assert_string_equal(s.name, "_PyEval_EvalFrameDefault");
	/* The jump to the cold part says where that is. */
	int32_t distance;
	memcpy(&distance, (char *)(uintptr_t)loop + 5, sizeof(distance));
	uint64_t cold = loop + 9 + (uint64_t)(int64_t)distance;
	s = symbol(b, cold, true);
	assert_int_equal(s.kind, NATIVE_EVAL_LOOP);
	assert_string_equal(s.name, "_PyEval_EvalFrameDefault.cold");
	assert_int_equal(s.offset, 0);
	s = symbol(b, cold + 6, true);
	assert_int_equal(s.kind, NATIVE_EVAL_LOOP);
	s = symbol(b, cold + 7, true);
	assert_int_not_equal(s.kind, NATIVE_EVAL_LOOP);
	/* The neighbour has no name either, and jumps to the loop, but only to its start. */
	s = symbol(b, loop + 30, true);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	assert_string_equal(s.module, "libfake_python.so");
	/* But where it begins is known, so all of it is one function. */
	assert_memory_equal(s.name, "0x", 2);
	assert_true(s.offset > 0);
	const char *start = s.name;
	s = symbol(b, loop + 31, true);
	assert_ptr_equal(s.name, start);
	Dl_info info;
	char text[24];
	assert_int_not_equal(dladdr((void *)(uintptr_t)loop, &info), 0);
	TEXT_FORMAT(text, "0x%llx", (unsigned long long)(loop + 31 - s.offset - (uint64_t)(uintptr_t)info.dli_fbase));
	assert_string_equal(s.name, text);
	uint64_t sum = (uint64_t)(uintptr_t)dlsym(lib, "add_samples");
	s = symbol(b, sum, true);
	assert_int_equal(s.kind, NATIVE_FUNCTION);
	assert_string_equal(s.name, "add_samples");
	dlclose(lib);
	bench_close(b);
#else
	skip(); /* the loop's parts are looked for on x86_64 only */
#endif
}

static void processes_share_what_is_known_of_a_file(void **state)
{
	(void)state;
	struct bench *b = bench_open(getpid());
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	struct remote r;
	struct native_spot a, c;
	remote_open(&b->w, child, &r);
	struct native *other = native_new(b->files, &b->w, &r);
	native_spot_at(b->p, addr_of(processes_share_what_is_known_of_a_file), &a);
	native_spot_at(other, addr_of(processes_share_what_is_known_of_a_file), &c);
	assert_non_null(a.file);
	assert_ptr_equal(a.file, c.file);
	assert_int_equal(a.vaddr, c.vaddr);
	struct native_symbol s;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* It has ended; what was looked at before can still be named by what others know. */
	symbol(b, addr_of(processes_share_what_is_known_of_a_file), true);
	native_symbol(other, addr_of(processes_share_what_is_known_of_a_file), true, &s);
	assert_string_equal(s.name, __func__);
	native_symbol(other, 4096, true, &s);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	assert_int_equal(native_refresh(other), WORLD_GONE);
	native_free(other);
	remote_done(&r);
	bench_close(b);
}

static void nothing_is_known_of_processes_that_are_not_there(void **state)
{
	(void)state;
	struct bench *b = bench_open(999999999);
	struct native_symbol s = symbol(b, 0x1234, true);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	assert_string_equal(s.name, "0x1234");
	s = symbol(b, 0, false);
	assert_string_equal(s.name, "0x0");
	s = symbol(b, UINT64_MAX, false);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	bench_close(b);
}

static uint64_t fixed_ns(void)
{
	return 1000 * NS_PER_S;
}

static void garbage_addresses_do_not_read_the_mappings_each_time(void **state)
{
	(void)state;
	struct bench *b = bench_open(getpid());
	b->w.mono_ns = fixed_ns;
	symbol(b, 0x10, true);
	const struct map_row *rows = b->p->maps.rows;
	for (uint64_t at = 0x20; at < 0x1000; at += 16)
		symbol(b, at, true);
	assert_ptr_equal(b->p->maps.rows, rows);
	bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_ours_has_its_name_and_offset),
		cmocka_unit_test(a_line_of_source_is_found_where_there_is_libdw),
		cmocka_unit_test(the_kernels_own_library_is_named_from_memory),
		cmocka_unit_test(code_in_plain_memory_is_named_by_the_map_of_its_maker),
		cmocka_unit_test(the_evaluation_loop_is_known_with_its_nameless_part),
		cmocka_unit_test(processes_share_what_is_known_of_a_file),
		cmocka_unit_test(nothing_is_known_of_processes_that_are_not_there),
		cmocka_unit_test(garbage_addresses_do_not_read_the_mappings_each_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
