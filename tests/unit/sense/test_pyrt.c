#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/python/pyscan.h"

#define WORDS_MAX 128

/* The first bytes of _PyRuntime of a real build; how many. */
static size_t description(const char *version, uint64_t words[WORDS_MAX])
{
	char path[512];
	size_t len = 0;
	TEXT_FORMAT(path, FIXTURES "/../fuzz/corpus/pyoffsets/%s", version);
	assert_int_equal(file_read_at(AT_FDCWD, path, (char *)words, WORDS_MAX * sizeof(*words), &len), 0);
	assert_true(len > 500 && len % sizeof(*words) == 0);
	return len;
}

static int parse(const uint64_t *words, size_t len, struct pyoffsets *ret)
{
	uint32_t version = 0;
	bool free_threaded = false;
	struct fault f = {};
	int r = pyoffsets_parse(words, len, &version, &free_threaded, ret, &f);
	assert_true(r == 0 || f.text[0] != '\0');
	return r;
}

static void versions_without_a_table_have_none(void **state)
{
	(void)state;
	struct pyoffsets o;
	for (unsigned minor = 0; minor < 256; minor++)
		assert_int_equal(pyoffsets_of((uint8_t)minor, &o), minor >= 8 && minor <= 12);
}

static void every_table_knows_what_a_walk_needs(void **state)
{
	(void)state;
	for (uint8_t minor = 8; minor <= 12; minor++) {
		struct pyoffsets o;
		assert_true(pyoffsets_of(minor, &o));
		const uint64_t needed[] = {o.runtime.interpreters_head,
					   o.interp.threads_head,
					   o.interp.next,
					   o.thread.next,
					   o.thread.interp,
					   o.frame.code,
					   o.frame.previous,
					   o.frame.instr,
					   o.frame.localsplus,
					   o.code.name,
					   o.code.filename,
					   o.code.linetable,
					   o.code.firstlineno,
					   o.code.argcount,
					   o.code.kwonlyargcount,
					   o.str.length,
					   o.str.state,
					   o.str.ascii,
					   o.str.compact,
					   o.str.data,
					   o.bytes.size,
					   o.bytes.value,
					   o.dict.keys,
					   o.dict.values,
					   o.integer.digit,
					   o.integer.tag};
		for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
			assert_true(needed[i] < 2048);
		assert_int_equal(o.thread.cframe != PYOFF_NONE, minor >= 11);
		assert_int_equal(o.thread.frame != PYOFF_NONE, minor <= 10);
		assert_int_equal(o.runtime.gilstate_current != PYOFF_NONE, minor <= 11);
		assert_int_equal(o.interp.gil != PYOFF_NONE, minor == 12);
		assert_int_equal(o.code.qualname != PYOFF_NONE, minor >= 11);
	}
}

static const char *const described[] = {"3.13.0", "3.13.5t", "3.14.10", "3.14.10t", "3.15.2", "3.15.2t"};

static void a_description_gives_the_offsets(void **state)
{
	(void)state;
	uint64_t words[WORDS_MAX];
	struct pyoffsets o;
	size_t len = description("3.13.0", words);
	assert_int_equal(parse(words, len, &o), 0);
	assert_int_equal(o.thread.frame, 72);
	assert_int_equal(o.interp.threads_head, 7344);
	assert_int_equal(o.gil.locked, 16);
	assert_int_equal(o.gil.last_holder, 8);
	assert_int_equal(o.code.flags, 48);
	assert_int_equal(o.code.kwonlyargcount, 60);
	assert_int_equal(o.interp.gc_collecting, 7600);
	assert_int_equal(o.type.dictoffset, 288);
	assert_int_equal(o.set.table, 40);
	assert_int_equal(o.str.compact, 56);
	assert_true(o.thread.base_frame == PYOFF_NONE);
}

/* Numbers printed by a program compiled with the headers of 3.14 and 3.15, with and without Py_GIL_DISABLED. */
static void what_is_not_described_is_derived_for_both_kinds_of_build(void **state)
{
	(void)state;
	static const struct {
		const char *version;
		uint64_t object, flags, argcount, kwonly, nlocals, used, mask, table, ascii, compact, keys, basic,
			dictoffset;
	} want[] = {
		{"3.14.10", 16, 48, 52, 60, 80, 24, 32, 40, 40, 56, 32, 32, 288},
		{"3.15.2", 16, 48, 52, 60, 80, 24, 32, 40, 40, 56, 32, 32, 288},
		{"3.14.10t", 32, 64, 68, 76, 96, 40, 48, 56, 56, 72, 48, 48, 304},
		{"3.15.2t", 32, 64, 68, 76, 96, 40, 48, 56, 56, 72, 48, 48, 304},
	};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		uint64_t words[WORDS_MAX];
		struct pyoffsets o;
		size_t len = description(want[i].version, words);
		assert_int_equal(parse(words, len, &o), 0);
		assert_int_equal(o.object.type + 8, want[i].object);
		assert_int_equal(o.code.flags, want[i].flags);
		assert_int_equal(o.code.argcount, want[i].argcount);
		assert_int_equal(o.code.kwonlyargcount, want[i].kwonly);
		assert_int_equal(o.code.nlocals, want[i].nlocals);
		assert_int_equal(o.set.used, want[i].used);
		assert_int_equal(o.set.mask, want[i].mask);
		assert_int_equal(o.set.table, want[i].table);
		assert_int_equal(o.str.ascii, want[i].ascii);
		assert_int_equal(o.str.compact, want[i].compact);
		assert_int_equal(o.str.data, want[i].compact);
		assert_int_equal(o.dict.keys, want[i].keys);
		assert_int_equal(o.type.basicsize, want[i].basic);
		assert_int_equal(o.type.dictoffset, want[i].dictoffset);
		assert_int_equal(o.code.tlbc != PYOFF_NONE, want[i].object == 32);
		assert_int_equal(o.frame.tlbc_index != PYOFF_NONE, want[i].object == 32);
		assert_int_equal(o.thread.base_frame != PYOFF_NONE, want[i].version[3] == '5');
	}
}

static void words_of_a_description_are_found_by_field(void **state)
{
	(void)state;
	static const size_t fields[] = {
		offsetof(struct pyoffsets, thread.frame), offsetof(struct pyoffsets, frame.owner),
		offsetof(struct pyoffsets, code.linetable), offsetof(struct pyoffsets, str.ascii),
		offsetof(struct pyoffsets, runtime.interpreters_head)};
	for (size_t i = 0; i < ARRAY_SIZE(described); i++) {
		uint64_t words[WORDS_MAX];
		struct pyoffsets o;
		uint32_t at = 0;
		size_t len = description(described[i], words);
		uint8_t minor = (uint8_t)(words[1] >> 16);
		assert_int_equal(parse(words, len, &o), 0);
		for (size_t k = 0; k < ARRAY_SIZE(fields); k++) {
			assert_true(pyoffsets_word(minor, fields[k], &at));
			assert_int_equal(words[at], *(const uint64_t *)(const void *)((const char *)&o + fields[k]));
		}
		assert_int_equal(pyoffsets_word(minor, offsetof(struct pyoffsets, thread.base_frame), &at),
				 minor == 15);
		assert_false(pyoffsets_word(minor, offsetof(struct pyoffsets, thread.cframe), &at));
		if (minor >= 14)
			assert_int_equal(words[pyoffsets_last_word(minor)], 512);
	}
}

static void a_description_cut_short_is_refused_wherever_it_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(described); i++) {
		uint64_t words[WORDS_MAX];
		struct pyoffsets o;
		size_t len = description(described[i], words);
		assert_int_equal(parse(words, len, &o), 0);
		for (size_t n = 0; n < len; n++)
			assert_int_equal(parse(words, n, &o), PYRT_UNKNOWN);
	}
}

static void an_offset_outside_its_structure_is_refused(void **state)
{
	(void)state;
	uint64_t words[WORDS_MAX];
	struct pyoffsets o;
	size_t n = description("3.13.0", words) / sizeof(*words);
	for (size_t i = 3; i < n; i++) {
		size_t len = description("3.13.0", words);
		words[i] = UINT64_MAX - 7;
		assert_int_equal(parse(words, len, &o), PYRT_UNKNOWN);
	}
}

static void versions_that_are_not_known_are_refused_by_name(void **state)
{
	(void)state;
	static const uint64_t versions[] = {0x031000f0, 0x030c00f0, 0x040000f0, 0x1030d00f0, 0};
	uint64_t words[WORDS_MAX];
	struct pyoffsets o;
	size_t len = description("3.13.0", words);
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		words[1] = versions[i];
		assert_int_equal(parse(words, len, &o), PYRT_UNKNOWN);
	}
	uint32_t version;
	bool free_threaded;
	struct fault f = {};
	words[1] = 0x031000f0;
	assert_int_equal(pyoffsets_parse(words, len, &version, &free_threaded, &o, &f), PYRT_UNKNOWN);
	assert_non_null(strstr(f.text, "3.16"));
}

/* As a preview of the next version would: its number is new, its order may be the old one. */
static void the_order_of_one_version_is_not_taken_for_that_of_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(described); i++)
		for (uint64_t minor = 14; minor <= 15; minor++) {
			uint64_t words[WORDS_MAX] = {};
			struct pyoffsets o;
			description(described[i], words);
			if ((words[1] >> 16 & 0xff) == minor)
				continue;
			words[1] = 0x030000a1 | minor << 16;
			assert_int_equal(parse(words, sizeof(words), &o), PYRT_UNKNOWN);
		}
}

static void folders_that_are_mapped_tell_the_minor_version(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned minor;
	} rows[] = {
		{"1000-2000 r-xp 00000000 08:01 9 /opt/app/lib/python3.9/lib-dynload/math.so\n", 9},
		{"1000-2000 r-xp 00000000 08:01 9 /opt/app/_ssl.cpython-310-x86_64-linux-gnu.so\n", 10},
		{"1000-2000 r-xp 00000000 08:01 9 /opt/app/libpython.so\n", 0},
		{"1000-2000 r-xp 00000000 08:01 9 /opt/python3.x/a\n", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maps m;
		assert_int_equal(maps_parse(span_of(rows[i].text), &m), 0);
		assert_int_equal(pyscan_minor(&m), rows[i].minor);
		maps_done(&m);
	}
}

static struct world live_world(void)
{
	return (struct world){
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.sys_fd = -1,
		.cgroup_fd = -1,
		.kmsg_fd = -1,
		.shm_fd = -1,
		.mono_ns = clock_mono_ns,
		.unix_ms = clock_unix_ms,
	};
}

static int find_in(pid_t pid, struct pyrt *rt, struct fault *f)
{
	struct world w = live_world();
	struct remote r;
	struct maps m = {};
	remote_open(&w, pid, &r);
	int e = maps_read(&w, pid, &m);
	if (e == 0)
		e = pyrt_find(&w, &r, &m, rt, f);
	maps_done(&m);
	remote_done(&r);
	close(w.proc_fd);
	return e;
}

static void a_program_that_is_no_python_has_none(void **state)
{
	(void)state;
	struct pyrt rt;
	struct fault f = {};
	assert_int_equal(find_in(getpid(), &rt, &f), PYRT_NONE);
	assert_true(f.text[0] != '\0');
}

static void the_python_of_this_machine_is_found(void **state)
{
	(void)state;
	int ready[2], hold[2];
	char c;
	struct pyrt rt = {};
	struct fault f = {};
	if (access("/usr/bin/python3", X_OK) != 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(hold), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(hold[0], 0);
		dup2(ready[1], 1);
		close(hold[1]);
		execl("/usr/bin/python3", "python3", "-Sc", "print(flush=True); input()", NULL);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	int r = find_in(pid, &rt, &f);
	close(hold[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(hold[0]);
	if (r)
		print_error("%s\n", f.text);
	assert_int_equal(r, 0);
	assert_int_equal(rt.version >> 24, 3);
	assert_true(rt.code_type != 0);
	assert_int_equal(strncmp(rt.version_text, "3.", 2), 0);
}

static void a_process_that_is_gone_is_said_to_be(void **state)
{
	(void)state;
	struct pyrt rt;
	struct fault f = {};
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(find_in(pid, &rt, &f), WORLD_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_without_a_table_have_none),
		cmocka_unit_test(every_table_knows_what_a_walk_needs),
		cmocka_unit_test(a_description_gives_the_offsets),
		cmocka_unit_test(what_is_not_described_is_derived_for_both_kinds_of_build),
		cmocka_unit_test(words_of_a_description_are_found_by_field),
		cmocka_unit_test(a_description_cut_short_is_refused_wherever_it_ends),
		cmocka_unit_test(an_offset_outside_its_structure_is_refused),
		cmocka_unit_test(versions_that_are_not_known_are_refused_by_name),
		cmocka_unit_test(the_order_of_one_version_is_not_taken_for_that_of_another),
		cmocka_unit_test(folders_that_are_mapped_tell_the_minor_version),
		cmocka_unit_test(a_program_that_is_no_python_has_none),
		cmocka_unit_test(the_python_of_this_machine_is_found),
		cmocka_unit_test(a_process_that_is_gone_is_said_to_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
