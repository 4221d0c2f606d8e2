#include "testing.h"

#include "base/buf.h"
#include "sense/death/stackplace.h"

static char found[160];

static const char *place_in(const char *text)
{
	struct stackplace s = {.frame = ""};
	struct span rest = span_of(text), line;
	while (span_line(&rest, &line))
		stackplace_line(&s, line);
	TEXT_COPY(found, s.frame);
	return found;
}

static void go_s_places_stand_below_their_functions(void **state)
{
	(void)state;
	assert_string_equal(place_in("panic: runtime error: index out of range [3] with length 3\n"
				     "\n"
				     "goroutine 1 [running]:\n"
				     "panic({0x45d080?, 0xc000012150?})\n"
				     "\t/usr/local/go/src/runtime/panic.go:787 +0x132\n"
				     "example.com/x/queue.(*Queue).Pop(...)\n"
				     "\t/root/go/pkg/mod/example.com/x/queue@v1.2.0/queue.go:44\n"
				     "main.(*Loader).load(0xc00007a000, 0x3)\n"
				     "\t/srv/load.go:41 +0x1d\n"
				     "main.main()\n"
				     "\t/srv/main.go:9 +0x2a\n"
				     "exit status 2\n"),
			    "in main.(*Loader).load at /srv/load.go:41");
	assert_string_equal(place_in("goroutine 4 [running]:\ncreated by main.main in goroutine 1 (x)\n"
				     "\t/srv/main.go:9 +0x2a\n"),
			    "");
}

static void node_s_own_modules_and_packages_are_passed_over(void **state)
{
	(void)state;
	assert_string_equal(place_in("TypeError: Cannot read properties of undefined (reading 'x')\n"
				     "    at parse (/srv/node_modules/csv/lib/index.js:10:3)\n"
				     "    at async load (file:///srv/feed.mjs:12:5)\n"
				     "    at node:internal/process/task_queues:95:5\n"
				     "\n"
				     "Node.js v18.20.4\n"),
			    "in load at /srv/feed.mjs:12");
	assert_string_equal(place_in("Error: x\n    at /srv/feed.js:3:9\n"),
			    "in a function without a name at /srv/feed.js:3");
	assert_string_equal(place_in("Error: x\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)\n"),
			    "");
}

static void java_s_first_cause_has_the_place(void **state)
{
	(void)state;
	assert_string_equal(place_in("Exception in thread \"main\" java.lang.RuntimeException: step failed\n"
				     "\tat com.acme.Train.step(Train.java:30)\n"
				     "\tat com.acme.Train.main(Train.java:12)\n"
				     "Caused by: java.lang.NumberFormatException: For input string: \"x\"\n"
				     "\tat java.base/java.lang.Integer.parseInt(Integer.java:652)\n"
				     "\tat com.acme.Rows.read(Rows.java:8)\n"
				     "\t... 1 more\n"),
			    "in com.acme.Rows.read at Rows.java:8");
}

static void rust_s_and_sanitizers_frames_are_read(void **state)
{
	(void)state;
	assert_string_equal(place_in("thread 'main' panicked at src/main.rs:7:5:\n"
				     "   0: rust_begin_unwind\n"
				     "             at /rustc/90b35a6/library/std/src/panicking.rs:665:5\n"
				     "   1: app::load\n"
				     "             at ./src/main.rs:7:5\n"),
			    "in app::load at ./src/main.rs:7");
	assert_string_equal(place_in("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x55\n"
				     "READ of size 4 at 0x602000000010 thread T0\n"
				     "    #0 0x7f52 in memcpy ../../../../src/libsanitizer/x.inc:10\n"
				     "    #1 0x5581 in load /srv/a.c:7\n"
				     "    #2 0x5582 in main /srv/a.c:12\n"),
			    "in load at /srv/a.c:7");
	assert_string_equal(place_in("    #0 0x7f52 in memcpy (/lib/x86_64-linux-gnu/libc.so.6+0x94219)\n"), "");
}

static void no_bytes_are_a_place_that_is_cut_or_a_crash(void **state)
{
	(void)state;
	char text[400];
	memset(text, 'a', sizeof(text));
	memcpy(text, "    at f (/", 11);
	memcpy(text + sizeof(text) - 8, ":12:3)\n", 8);
	assert_string_equal(place_in(text), "");
	assert_string_equal(place_in("\tat\n\tat \n    at (:1)\n    at ()\n#\n    #\n    # in \n\t:\n)\n\t:1\n"
				     "7:\n 7: \n"),
			    "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(go_s_places_stand_below_their_functions),
		cmocka_unit_test(node_s_own_modules_and_packages_are_passed_over),
		cmocka_unit_test(java_s_first_cause_has_the_place),
		cmocka_unit_test(rust_s_and_sanitizers_frames_are_read),
		cmocka_unit_test(no_bytes_are_a_place_that_is_cut_or_a_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
