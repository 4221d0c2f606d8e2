#include "testing.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/format/pickle.h"

static char *seed(const char *name, size_t *ret_len)
{
	char path[512];
	char *bytes = NULL;
	TEXT_FORMAT(path, "%s/../fuzz/corpus/pickle/%s.pickle", FIXTURES, name);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &bytes, ret_len), 0);
	return bytes;
}

static void show(struct buf *b, const struct pickle_value *v, unsigned depth)
{
	static const char *const open[] = {[PICKLE_LIST] = "[", [PICKLE_TUPLE] = "(", [PICKLE_SET] = "<"};
	static const char *const close[] = {[PICKLE_LIST] = "]", [PICKLE_TUPLE] = ")", [PICKLE_SET] = ">"};
	if (depth > 10) {
		buf_add(b, "...");
		return;
	}
	switch (v->kind) {
	case PICKLE_NONE:
		buf_add(b, "None");
		break;
	case PICKLE_BOOL:
		buf_add(b, v->truth ? "True" : "False");
		break;
	case PICKLE_INT:
		buf_printf(b, "%lld", (long long)v->integer);
		break;
	case PICKLE_FLOAT:
		buf_printf(b, "%g", v->real);
		break;
	case PICKLE_TEXT:
		buf_printf(b, "'%.*s'", (int)v->len, v->text);
		break;
	case PICKLE_BYTES:
		buf_printf(b, "b%u", v->len);
		break;
	case PICKLE_OPAQUE:
		buf_printf(b, "!%.*s", (int)pickle_class(v).len, pickle_class(v).p);
		break;
	case PICKLE_DICT:
		buf_add(b, "{");
		for (size_t i = 0; i < pickle_len(v); i++) {
			buf_add(b, i ? ", " : "");
			show(b, pickle_key_at(v, i), depth + 1);
			buf_add(b, ": ");
			show(b, pickle_at(v, i), depth + 1);
		}
		buf_add(b, "}");
		break;
	case PICKLE_LIST:
	case PICKLE_TUPLE:
	case PICKLE_SET:
		buf_add(b, open[v->kind]);
		for (size_t i = 0; i < pickle_len(v); i++) {
			buf_add(b, i ? ", " : "");
			show(b, pickle_at(v, i), depth + 1);
		}
		buf_add(b, close[v->kind]);
	}
}

static char shown[8192];

static int parse_bytes(const void *bytes, size_t len, struct fault *f)
{
	cleanup(pickle_freep) struct pickle *p = NULL;
	int r = pickle_parse((struct span){bytes, len}, NULL, &p, f);
	struct buf b = BUF_ON(shown);
	buf_reset(&b);
	if (p)
		show(&b, pickle_root(p), 0);
	return r;
}
#define PARSE(literal, f) parse_bytes(literal, sizeof(literal) - 1, f)

static void every_protocol_gives_the_same_values(void **state)
{
	(void)state;
	static const char *const names[] = {"plain-2", "plain-3", "plain-4", "plain-5"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len;
		struct fault f = {.text = ""};
		cleanup(freep) char *bytes = seed(names[i], &len);
		assert_int_equal(parse_bytes(bytes, len, &f), 0);
		assert_non_null(strstr(shown, "{'version': '2.10', 'entries': [{'record_id': 0, "
					      "'t': (1, 2.5, None, True, -7, 1099511627776, b9, b9), "
					      "'name': 'nccl:all_reduce', 'b': "));
		assert_non_null(strstr(shown, "{'record_id': 2, "));
		assert_non_null(strstr(shown, "'e': [], 'nest': [[[[1]]]]}"));
	}
}

static void numbers_above_63_bits_stay_bytes(void **state)
{
	(void)state;
	cleanup(pickle_freep) struct pickle *p = NULL;
	static const char bytes[] = "\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x7f\xff\xff\x00.";
	assert_int_equal(pickle_parse((struct span){bytes, sizeof(bytes) - 1}, NULL, &p, NULL), 0);
	int64_t n = 0;
	assert_int_equal(pickle_root(p)->kind, PICKLE_BYTES);
	assert_int_equal(pickle_root(p)->len, 9);
	assert_memory_equal(pickle_root(p)->text, "\x00\x00\x00\x00\x00\x7f\xff\xff\x00", 9);
	assert_false(pickle_i64(pickle_root(p), &n));
}

static void objects_are_named_and_never_made(void **state)
{
	(void)state;
	static const char *const names[] = {"objects-2", "objects-4"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len;
		cleanup(freep) char *bytes = seed(names[i], &len);
		cleanup(pickle_freep) struct pickle *p = NULL;
		assert_int_equal(pickle_parse((struct span){bytes, len}, NULL, &p, NULL), 0);
		const struct pickle_value *root = pickle_root(p);
		struct buf b = BUF_ON(shown);
		buf_reset(&b);
		show(&b, root, 0);
		assert_non_null(strstr(shown, "'when': !datetime.date, 'od': {'a': 1, 'b': 2}, 'dd': {'k': [1]}"));
		assert_true(span_eq(pickle_class(pickle_get(root, "when")), "datetime.date"));
		assert_int_equal(pickle_class(root).len, 0);
	}
}

static void pytorchs_typed_lists_are_lists(void **state)
{
	(void)state;
	size_t len;
	cleanup(freep) char *bytes = seed("c10", &len);
	assert_int_equal(parse_bytes(bytes, len, NULL), 0);
	assert_string_equal(shown, "{'version': '2.4', 'sizes': [4096, 2], 'd': 1.5, 'p': ('2.4', 3)}");
}

static void a_list_that_holds_itself_is_read(void **state)
{
	(void)state;
	size_t len;
	cleanup(freep) char *bytes = seed("self", &len);
	assert_int_equal(parse_bytes(bytes, len, NULL), 0);
	assert_string_equal(shown, "[[[[[[[[[[[...]]]]]]]]]]]");
}

static void what_was_complete_survives_a_cut(void **state)
{
	(void)state;
	struct fault f = {.text = ""};
	/* as PyTorch writes: everything after marks */
	assert_int_equal(
		PARSE("\x80\x02}(X\x01\0\0\0vK\x07X\x01\0\0\0e](}(X\x01\0\0\0iK\x01u}(X\x01\0\0\0iK\x02X\x01\0", &f),
		PICKLE_CUT);
	assert_string_equal(shown, "{'v': 7, 'e': [{'i': 1}, {'i': 2}]}");
	assert_string_equal(f.text, "the pickle is cut off after 44 bytes, inside a text");
	/* as Python writes: single values without marks */
	assert_int_equal(PARSE("\x80\x02}U\x01"
			       "e]}U\x01iK\x01",
			       &f),
			 PICKLE_CUT);
	assert_string_equal(shown, "{'e': [{'i': 1}]}");
	/* a key without its value is not there */
	assert_int_equal(PARSE("\x80\x02}(U\x01"
			       "aK\x01U\x01"
			       "b",
			       &f),
			 PICKLE_CUT);
	assert_string_equal(shown, "{'a': 1}");
	assert_int_equal(PARSE("\x80\x02", &f), PICKLE_CUT);
	assert_string_equal(shown, "None");
}

static void every_cut_of_a_real_file_gives_a_part_of_it(void **state)
{
	(void)state;
	size_t len, most = 0;
	cleanup(freep) char *bytes = seed("plain-2", &len);
	for (size_t cut = 2; cut < len; cut++) {
		cleanup(pickle_freep) struct pickle *p = NULL;
		assert_int_equal(pickle_parse((struct span){bytes, cut}, NULL, &p, NULL), PICKLE_CUT);
		size_t n = pickle_len(pickle_get(pickle_root(p), "entries"));
		assert_true(n >= most);
		most = n;
	}
	assert_int_equal(most, 3);
}

static void damage_is_told_with_its_place(void **state)
{
	(void)state;
	struct fault f = {.text = ""};
	assert_int_equal(PARSE("\x80\x02}(U\x01"
			       "aK\x01\xfe",
			       &f),
			 PICKLE_BROKEN);
	assert_string_equal(shown, "{'a': 1}");
	assert_string_equal(f.text, "the pickle is damaged near byte 10: an opcode that no protocol from 2 to 5 has");
	static const char *const bad[] = {"\x80\x02"
					  "a.",
					  "\x80\x02"
					  "K\x01K\x02"
					  "a.",
					  "\x80\x02"
					  "e.",
					  "\x80\x02(e.",
					  "\x80\x02h\x01.",
					  "\x80\x02.",
					  "\x80\x02R.",
					  "\x80\x02](0"
					  "0"
					  "00.",
					  "\x80\x02q\x01",
					  "\x80\x02K\x01r\xff\xff\xff\x7f.",
					  "\x80\x02"
					  "0.",
					  "\x80\x02"
					  "b."};
	static const size_t view[] = {4, 8, 4, 5, 5, 3, 4, 9, 4, 10, 4, 4};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_bytes(bad[i], view[i], &f), PICKLE_BROKEN);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	struct fault f = {.text = ""};
	assert_int_equal(PARSE("", &f), PICKLE_FOREIGN);
	assert_int_equal(PARSE("{\"version\": \"2.4\"}", &f), PICKLE_FOREIGN);
	assert_int_equal(PARSE("\x80\x09.", &f), PICKLE_FOREIGN);
	assert_int_equal(PARSE("PK\x03\x04", &f), PICKLE_FOREIGN);
	assert_true(f.text[0]);
}

static void depth_and_memory_are_bounded(void **state)
{
	(void)state;
	static char bytes[100000];
	struct fault f = {.text = ""};
	memcpy(bytes, "\x80\x02", 2);
	memset(bytes + 2, ']', 500);
	memset(bytes + 502, 'a', 499);
	bytes[1001] = '.';
	assert_int_equal(parse_bytes(bytes, 1002, &f), PICKLE_BROKEN);
	assert_non_null(strstr(f.text, "nests deeper"));
	memset(bytes + 2, 'N', sizeof(bytes) - 2);
	cleanup(pickle_freep) struct pickle *p = NULL;
	const struct pickle_limits limits = {.memory_bytes = 64 * KIB};
	assert_int_equal(pickle_parse((struct span){bytes, sizeof(bytes)}, &limits, &p, &f), PICKLE_LARGE);
	assert_non_null(p);
	assert_non_null(strstr(f.text, "more than 65536 bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_protocol_gives_the_same_values),
		cmocka_unit_test(numbers_above_63_bits_stay_bytes),
		cmocka_unit_test(objects_are_named_and_never_made),
		cmocka_unit_test(pytorchs_typed_lists_are_lists),
		cmocka_unit_test(a_list_that_holds_itself_is_read),
		cmocka_unit_test(what_was_complete_survives_a_cut),
		cmocka_unit_test(every_cut_of_a_real_file_gives_a_part_of_it),
		cmocka_unit_test(damage_is_told_with_its_place),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(depth_and_memory_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
