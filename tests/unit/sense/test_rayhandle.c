/* The name of an actor of Ray, by the bytes of its handle. */
#include "testing.h"

#include "sense/pylib/rayhandle.h"

static const struct raycall_actor actor = {
	.id = {0x12, 0xb3, 0x09, 0x45, 0x45, 0x77, 0x22, 0x2b, 0xbd, 0x70, 0x4b, 0x17, 1}};

#define ID "\x12\xb3\x09\x45\x45\x77\x22\x2b\xbd\x70\x4b\x17\x01\0\0\0"
#define ONES "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
#define HEAD                                                                                                           \
	"\x0a\x10" ID "\x12\x18" ONES "\x01\0\0\0"                                                                     \
	"\x1a\x02\x0a\0"
#define JOB "\x22\x04\x01\0\0\0"
#define NAMESPACE                                                                                                      \
	"\x5a\x05"                                                                                                     \
	"wiese"                                                                                                        \
	"\x68\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

static bool parse(const char *bytes, size_t n, struct span *ret)
{
	return rayhandle_parse((struct span){bytes, n}, &actor, ret);
}

#define PARSE(text, ret) parse(text, sizeof(text) - 1, ret)

static void a_handle_has_the_name_of_its_actor(void **state)
{
	(void)state;
	struct span name;
	assert_true(PARSE(HEAD JOB "\x42\x01"
				   "0"
				   "\x52\x06"
				   "critic" NAMESPACE "garbage behind it",
			  &name));
	assert_true(span_eq(name, "critic"));
	assert_true(PARSE(HEAD JOB "\x42\x01"
				   "0" NAMESPACE,
			  &name));
	assert_int_equal(name.len, 0);
}

static void other_messages_with_the_actors_id_are_none(void **state)
{
	(void)state;
	struct span name;
	assert_false(PARSE(HEAD "\x52\x06"
				"critic" NAMESPACE,
			   &name)); /* without its job */
	assert_false(PARSE("\x0a\x10" ID JOB "\x52\x06"
			   "critic" NAMESPACE,
			   &name)); /* without its owner */
	assert_false(PARSE(HEAD "\x22\x04\x02\0\0\0"
				"\x52\x06"
				"critic" NAMESPACE,
			   &name)); /* of another job */
	assert_false(PARSE("\x0a\x10" ONES, &name));
	assert_false(PARSE(HEAD JOB "\x62\x06"
				    "critic" NAMESPACE,
			   &name)); /* field 12 in front of field 11 */
}

static void what_ends_too_early_says_nothing(void **state)
{
	(void)state;
	static const char whole[] = HEAD JOB "\x42\x01"
					     "0"
					     "\x52\x06"
					     "critic"
					     "\x5a\x05"
					     "wiese";
	struct span name;
	assert_true(PARSE(whole, &name));
	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		assert_false(parse(whole, n, &name));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_has_the_name_of_its_actor),
		cmocka_unit_test(other_messages_with_the_actors_id_are_none),
		cmocka_unit_test(what_ends_too_early_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
