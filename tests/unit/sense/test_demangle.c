#include "testing.h"

#include <pthread.h>

#include "base/buf.h"
#include "sense/native/demangle.h"
#include "sense/native/names.h"

static void readable(const char *name, const char *want)
{
	cleanup(freep) char *text = demangle(name);
	if (!want)
		assert_null(text);
	else {
		assert_non_null(text);
		assert_string_equal(text, want);
	}
}

static void names_of_both_languages_become_readable(void **state)
{
	(void)state;
	readable("_ZN2at6native3addERKNS_6TensorES3_", "at::native::add(at::Tensor const&, at::Tensor const&)");
	readable("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)");
	readable("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	readable("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
	readable("_ZN3foo3barEv.cold", "foo::bar() [clone .cold]");
	readable("_ZN3foo3barEv.constprop.0", "foo::bar() [clone .constprop.0]");
}

static void other_names_stay_as_they_are(void **state)
{
	(void)state;
	static const char *const names[] = {"main",
					    "",
					    "_",
					    "_Z",
					    "_R",
					    "_ZN",
					    "_PyEval_EvalFrameDefault",
					    "_RunLoop",
					    "Z1f",
					    "_ZN999999999999999999999f"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		readable(names[i], NULL);
}

/* Names nested as deep as they may be long; and some that would become gigabytes. */
static void *hostile_names(void *ctx)
{
	static const char *const units[] = {"P",    "R",    "A_",   "F",    "M",   "Dp",     "DT",    "XadL",
					    "T_I",  "N1a",  "I",    "J",    "L_Z", "sr",     "cl",    "F1aI",
					    "1aI",  "1aIJ", "_ZN",  "UlvE", "fl",  "il",     "M1a",   "FvP",
					    "PFvP", "cv",   "tl1a", "dc",   "st",  "_RINvB", "_RNvM", "_RNvC"};
	static const char *const bombs[] = {
		"_Z1fI1AIS_S_S_S_EEvT_",
		"_ZN1AIXadL_Z1fvEEE1gIS0_S1_S2_S3_S4_S5_EEvv",
		"_RYFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFuEuEuEuEuEuEuEuEuEuEuEuEu",
	};
	static char big[DEMANGLE_NAME_MAX + 64];
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		for (size_t most = 300; most <= DEMANGLE_NAME_MAX; most += (DEMANGLE_NAME_MAX - 300) / 4) {
			struct buf b = BUF_ON(big);
			buf_reset(&b);
			buf_add(&b, units[i][0] == '_' && units[i][1] == 'R' ? "_RN" : "_Z1f");
			while (b.len + strlen(units[i]) + 1 < most)
				buf_add(&b, units[i]);
			buf_add(&b, "v");
			free(demangle(big));
		}
	for (size_t i = 0; i < ARRAY_SIZE(bombs); i++)
		free(demangle(bombs[i]));
	/* Each tuple holds the one before twice: 2^n in the end. */
	for (unsigned n = 1; n < 60; n++) {
		struct buf b = BUF_ON(big);
		buf_reset(&b);
		buf_add(&b, "_Z1f1AIiiE");
		for (unsigned i = 0; i < n; i++)
			buf_printf(&b, "1BIS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
				   "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
		cleanup(freep) char *text = demangle(big);
		if (text && strlen(text) >= DEMANGLE_TEXT_MAX)
			return NULL;
	}
	return ctx;
}

/* An eighth of what a thread has by default; sanitizers make frames several times larger. */
#define STACK_BYTES MIB
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef STACK_BYTES
#define STACK_BYTES (16 * MIB)
#endif
#elif defined(__SANITIZE_ADDRESS__)
#undef STACK_BYTES
#define STACK_BYTES (16 * MIB)
#endif

static void hostile_names_need_little_stack_room_and_time(void **state)
{
	(void)state;
	pthread_attr_t a;
	pthread_t thread;
	static char done_mark[1];
	void *done = NULL;
	assert_int_equal(pthread_attr_init(&a), 0);
	assert_int_equal(pthread_attr_setstacksize(&a, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &a, hostile_names, done_mark), 0);
	assert_int_equal(pthread_join(thread, &done), 0);
	assert_ptr_equal(done, done_mark);
	pthread_attr_destroy(&a);
}

static void a_kept_name_is_one_pointer_without_control_bytes(void **state)
{
	(void)state;
	struct names *n = names_new();
	char text[32];
	assert_non_null(n);
	const char *a = names_keep(n, "abc"), *m = names_readable(n, "_ZN3foo3barEv");
	assert_string_equal(m, "foo::bar()");
	for (int i = 0; i < 5000; i++) {
		TEXT_FORMAT(text, "name %d", i);
		assert_string_equal(names_keep(n, text), text);
	}
	assert_ptr_equal(names_keep(n, "abc"), a);
	assert_ptr_equal(names_readable(n, "_ZN3foo3barEv"), m);
	assert_ptr_equal(names_keep(n, "foo::bar()"), m);
	assert_string_equal(names_readable(n, "__libc_start_main@@GLIBC_2.34"), "__libc_start_main");
	assert_string_equal(names_readable(n, "_ZN3foo3barEv@@V1"), "foo::bar()");
	assert_string_equal(names_readable(n, "a\033[2Jb\x7f"), "a?[2Jb?");
	assert_string_equal(names_keep(n, "ümlaut"), "ümlaut");
	names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_both_languages_become_readable),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(hostile_names_need_little_stack_room_and_time),
		cmocka_unit_test(a_kept_name_is_one_pointer_without_control_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
