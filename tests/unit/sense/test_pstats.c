#include "testing.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/format/pstats.h"

struct log {
	char text[4096];
	struct buf b;
	unsigned functions, edges;
	bool sampled;
	int stop_after; /* functions; 0: never */
};

static int log_function(void *ctx, const struct pstats_key *k, const struct pstats_number *n)
{
	struct log *l = ctx;
	buf_printf(&l->b, "%.*s:%lld(%.*s) %llu/%llu %g %g\n", (int)k->file.len, k->file.p, (long long)k->line,
		   (int)k->name.len, k->name.p, (unsigned long long)n->n_calls, (unsigned long long)n->n_primitive,
		   n->own_s, n->cumulative_s);
	return (int)++l->functions == l->stop_after ? 42 : 0;
}

static int log_edge(void *ctx, const struct pstats_key *k, const struct pstats_number *n)
{
	struct log *l = ctx;
	buf_printf(&l->b, "  < %.*s %llu/%llu %g %g\n", (int)k->name.len, k->name.p, (unsigned long long)n->n_calls,
		   (unsigned long long)n->n_primitive, n->own_s, n->cumulative_s);
	l->edges++;
	return 0;
}

static void log_sampled(void *ctx)
{
	((struct log *)ctx)->sampled = true;
}

static int parse(struct log *l, const char *bytes, size_t len, struct fault *f)
{
	int stop_after = l->stop_after;
	*l = (struct log){.stop_after = stop_after};
	l->b = BUF_ON(l->text);
	buf_reset(&l->b);
	const struct pstats_sink sink = {.ctx = l, .function = log_function, .edge = log_edge, .sampled = log_sampled};
	return pstats_parse((struct span){bytes, len}, &sink, f);
}

static char *seed(const char *name, size_t *ret_len)
{
	char path[512];
	char *bytes = NULL;
	TEXT_FORMAT(path, "%s/../fuzz/corpus/pstats/%s.prof", FIXTURES, name);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &bytes, ret_len), 0);
	return bytes;
}

static const char small[] = "/srv/train.py:3(fib) 1973/1 0.5 0.75\n"
			    "  < fib 1972/2 0.4 0.5\n"
			    "  < main 1/1 0.1 0.25\n"
			    "/srv/train.py:9(main) 1/1 0.125 1\n"
			    "~:0(<built-in method builtins.len>) 7/7 0.0625 0.0625\n"
			    "  < main 7/7 0.0625 0.0625\n";

static void every_version_of_the_format_reads_the_same(void **state)
{
	(void)state;
	static const char *const names[] = {"marshal-2", "marshal-3", "marshal-4"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		static struct log l;
		size_t len;
		cleanup(freep) char *bytes = seed(names[i], &len);
		assert_int_equal(parse(&l, bytes, len, NULL), 0);
		assert_string_equal(l.text, small);
		assert_false(l.sampled);
	}
}

static void a_file_of_python_2_is_read(void **state)
{
	(void)state;
	static struct log l;
	size_t len;
	cleanup(freep) char *bytes = seed("python2", &len);
	assert_int_equal(parse(&l, bytes, len, NULL), 0);
	assert_string_equal(l.text, "old.py:4(work) 3/2 0.5 1.25\n  < work 3/2 0.5 1.25\n");
}

static void callers_of_the_old_profile_module_are_plain_counts(void **state)
{
	(void)state;
	static struct log l;
	size_t len;
	cleanup(freep) char *bytes = seed("profile-module", &len);
	assert_int_equal(parse(&l, bytes, len, NULL), 0);
	assert_string_equal(l.text,
			    "/srv/train.py:3(fib) 5/1 0.1 0.2\n  < main 5/5 0 0\n/srv/train.py:9(main) 1/1 0 0\n");
}

static void a_sampled_profile_says_so(void **state)
{
	(void)state;
	static struct log l;
	size_t len;
	cleanup(freep) char *bytes = seed("sampled", &len);
	assert_int_equal(parse(&l, bytes, len, NULL), 0);
	assert_true(l.sampled);
	assert_int_equal(l.functions, 1);
}

static void counts_of_62_bits_are_whole(void **state)
{
	(void)state;
	static struct log l;
	size_t len;
	cleanup(freep) char *bytes = seed("big-counts", &len);
	assert_int_equal(parse(&l, bytes, len, NULL), 0);
	assert_non_null(strstr(l.text, "4611686018427387904/1099511627776"));
}

static void no_functions_is_a_profile_too(void **state)
{
	(void)state;
	static struct log l;
	assert_int_equal(parse(&l, "{0", 2, NULL), 0);
	assert_int_equal(l.functions, 0);
}

static void a_file_cut_anywhere_is_refused_with_the_place(void **state)
{
	(void)state;
	static const char *const names[] = {"marshal-2", "marshal-4", "python2", "sampled"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len;
		cleanup(freep) char *bytes = seed(names[i], &len);
		for (size_t cut = 0; cut < len; cut++) {
			static struct log l;
			struct fault f = {.text = ""};
			cleanup(freep) char *part =
				malloc(cut ? cut : 1); /* so that a sanitizer sees one byte too far */
			memcpy(part, bytes, cut);
			assert_int_equal(parse(&l, part, cut, &f), -EBADMSG);
			assert_non_null(strstr(f.text, "byte"));
		}
	}
}

static void any_byte_may_be_wrong(void **state)
{
	(void)state;
	size_t len;
	cleanup(freep) char *bytes = seed("marshal-4", &len);
	for (size_t i = 0; i < len; i++) {
		for (int v = 0; v < 256; v += 5) {
			static struct log l;
			struct fault f = {.text = ""};
			char was = bytes[i];
			bytes[i] = (char)v;
			int r = parse(&l, bytes, len, &f);
			assert_true(r == 0 || (r == -EBADMSG && f.text[0]));
			bytes[i] = was;
		}
	}
}

static void what_is_no_profile_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
		const char *say;
	} wrong[] = {
		{"", 0, "cut off after 0 bytes, where a dict of functions"},
		{"hello", 5, "at byte 0 there should be a dict of functions, not 0x68"},
		{"{r\377\377\377\377", 6, "reference"},
		{"{(\377\377\377\377N", 7, "cut off"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		static struct log l;
		struct fault f = {.text = ""};
		assert_int_equal(parse(&l, wrong[i].bytes, wrong[i].len, &f), -EBADMSG);
		if (!strstr(f.text, wrong[i].say))
			print_message("%s\n", f.text);
		assert_non_null(strstr(f.text, wrong[i].say));
	}
}

static void deep_nesting_ends_early(void **state)
{
	(void)state;
	static struct log l;
	struct fault f = {.text = ""};
	cleanup(freep) char *bytes = malloc(2000001);
	bytes[0] = '{';
	for (size_t i = 1; i < 2000001; i += 2) {
		bytes[i] = ')';
		bytes[i + 1] = 1;
	}
	assert_int_equal(parse(&l, bytes, 2000001, &f), -EBADMSG);
	assert_non_null(strstr(f.text, "less nesting"));
}

static void negative_counts_and_infinite_times_are_refused(void **state)
{
	(void)state;
	static const char head[] = "{)\3z\1fi\1\0\0\0z\1n)\5";
	static const char good[] = "i\1\0\0\0i\1\0\0\0g\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0{00";
	for (int what = 0; what < 3; what++) {
		static struct log l;
		char bytes[128];
		memcpy(bytes, head, sizeof(head) - 1);
		memcpy(bytes + sizeof(head) - 1, good, sizeof(good) - 1);
		char *numbers = bytes + sizeof(head) - 1;
		if (what == 1)
			numbers[4] = (char)0x80;
		if (what == 2) /* +inf */
			memcpy(numbers + 11, "\0\0\0\0\0\0\360\177", 8);
		assert_int_equal(parse(&l, bytes, sizeof(head) + sizeof(good) - 2, NULL), what ? -EBADMSG : 0);
	}
}

static void the_reader_stops_when_asked(void **state)
{
	(void)state;
	static struct log l;
	size_t len;
	cleanup(freep) char *bytes = seed("marshal-4", &len);
	l.stop_after = 2;
	assert_int_equal(parse(&l, bytes, len, NULL), 42);
	assert_int_equal(l.functions, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_of_the_format_reads_the_same),
		cmocka_unit_test(a_file_of_python_2_is_read),
		cmocka_unit_test(callers_of_the_old_profile_module_are_plain_counts),
		cmocka_unit_test(a_sampled_profile_says_so),
		cmocka_unit_test(counts_of_62_bits_are_whole),
		cmocka_unit_test(no_functions_is_a_profile_too),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_with_the_place),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(what_is_no_profile_is_named),
		cmocka_unit_test(deep_nesting_ends_early),
		cmocka_unit_test(negative_counts_and_infinite_times_are_refused),
		cmocka_unit_test(the_reader_stops_when_asked),
	};
	return cmocka_run_group_tests_name("sense/format/pstats", tests, NULL, NULL);
}
