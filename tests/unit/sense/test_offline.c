#include "world_fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sense/proc/maps.h"
#include "sense/native/offline.h"

static const struct rootfile_view ours;

/* Where in which file an address of this very program lies. */
static void place_of(uint64_t addr, struct offline_place *ret, struct maps *m)
{
	struct world w = live_world();
	assert_int_equal(maps_read(&w, getpid(), m), 0);
	const struct map_row *row = maps_find(m, addr);
	assert_non_null(row);
	*ret = (struct offline_place){
		.path = row->path, .inode = row->inode, .offset = addr - row->start + row->offset};
	fixture_close(&w);
}

static uint64_t code_of(const char *name)
{
	union {
		void *object;
		uint64_t addr;
	} u = {.object = dlsym(RTLD_DEFAULT, name)};
	assert_non_null(u.object);
	return u.addr;
}

static void functions_are_named_by_file_and_offset(void **state)
{
	(void)state;
	struct world w = live_world();
	struct offline *o = offline_new(&w);
	struct offline_place p;
	struct native_symbol s;
	struct maps m = {.n = 0};
	assert_non_null(o);
	place_of(code_of("lfind") + 1, &p, &m);
	/* of a process that lives, and of one that is gone */
	for (pid_t pid = getpid();; pid = 0) {
		offline_symbol(o, &(struct rootfile_view){.pid = pid}, &p, &s);
		assert_int_equal(s.kind, NATIVE_FUNCTION);
		assert_non_null(strstr(s.name, "lfind"));
		assert_int_equal(s.offset, 1);
		assert_non_null(strstr(s.module, "libc"));
		if (pid == 0)
			break;
	}
	assert_int_equal(offline_missing(o), 0);
	maps_done(&m);
	offline_free(o);
	fixture_close(&w);
}

static void a_file_that_was_replaced_gives_no_names(void **state)
{
	(void)state;
	struct world w = live_world();
	struct offline *o = offline_new(&w);
	struct offline_place p;
	struct native_symbol s;
	struct maps m = {.n = 0};
	assert_non_null(o);
	place_of(code_of("lfind"), &p, &m);
	p.inode++;
	offline_symbol(o, &ours, &p, &s);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	assert_int_equal(strncmp(s.name, "0x", 2), 0);
	assert_non_null(strstr(s.module, "libc"));
	assert_int_equal(offline_missing(o), 1);
	assert_string_equal(offline_missing_first(o), p.path);
	/* an overlay may number it otherwise: older than the process, it is the same */
	p.inode++;
	p.since_unix_ns = clock_unix_ms() * (int64_t)NS_PER_MS;
	offline_symbol(o, &ours, &p, &s);
	assert_int_equal(s.kind, NATIVE_FUNCTION);
	maps_done(&m);
	offline_free(o);
	fixture_close(&w);
}

static void what_is_no_file_is_shown_by_its_offset(void **state)
{
	(void)state;
	struct world w = live_world();
	struct offline *o = offline_new(&w);
	struct native_symbol s;
	assert_non_null(o);
	const struct offline_place vdso = {.path = "[vdso]", .offset = 0x123}, none = {.path = "", .offset = 0x77},
				   gone = {.path = "/nowhere/lib.so", .offset = 0x99},
				   folder = {.path = "/tmp", .offset = 1};
	offline_symbol(o, &ours, &vdso, &s);
	assert_string_equal(s.name, "0x123");
	assert_string_equal(s.module, "[vdso]");
	offline_symbol(o, &ours, &none, &s);
	assert_string_equal(s.module, "");
	offline_symbol(o, &ours, &gone, &s);
	assert_string_equal(s.name, "0x99");
	assert_string_equal(s.module, "lib.so");
	offline_symbol(o, &ours, &folder, &s);
	assert_int_equal(s.kind, NATIVE_UNKNOWN);
	offline_free(o);
	fixture_close(&w);
}

static void python_s_evaluation_loop_is_known(void **state)
{
	(void)state;
	struct world w = live_world();
	struct offline *o = offline_new(&w);
	struct native_symbol s;
	struct stat st;
	void *lib = dlopen(FAKE_PYTHON, RTLD_NOW);
	assert_non_null(o);
	assert_non_null(lib);
	assert_int_equal(stat(FAKE_PYTHON, &st), 0);
	struct offline_place p;
	struct maps m = {.n = 0};
	union {
		void *object;
		uint64_t addr;
	} loop = {.object = dlsym(lib, "_PyEval_EvalFrameDefault")};
	assert_non_null(loop.object);
	place_of(loop.addr + 1, &p, &m);
	offline_symbol(o, &(struct rootfile_view){.pid = getpid()}, &p, &s);
	assert_int_equal(s.kind, NATIVE_EVAL_LOOP);
	maps_done(&m);
	offline_free(o);
	dlclose(lib);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_named_by_file_and_offset),
		cmocka_unit_test(a_file_that_was_replaced_gives_no_names),
		cmocka_unit_test(what_is_no_file_is_shown_by_its_offset),
		cmocka_unit_test(python_s_evaluation_loop_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
