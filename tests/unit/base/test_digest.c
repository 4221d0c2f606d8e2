/* Expected values were computed with Python's hashlib, hmac and base64. */
#include "testing.h"

#include "base/digest.h"

static void sums_are_those_of_others(void **state)
{
	static const struct {
		size_t len;
		const char *hex;
	} expected[] = {
		{0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
		{55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
		{57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
		{63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
		{64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
		{65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
		{119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
		{120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
		{1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"},
	};
	char text[1000], hex[DIGEST_HEX_CAP];
	uint8_t digest[DIGEST_BYTES];
	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		digest_sha256(text, expected[i].len, digest);
		assert_string_equal(digest_hex(digest, hex), expected[i].hex);
	}
}

static void keyed_sums_are_those_of_others(void **state)
{
	char key[100], text[77], hex[DIGEST_HEX_CAP];
	uint8_t digest[DIGEST_BYTES];
	(void)state;
	digest_hmac("key", 3, "1700000000.{\"a\": 1}", 19, digest);
	assert_string_equal(digest_hex(digest, hex),
			    "17e36a190ee125a4782d21867ffdf5712238dc71b452ba98254537bfdb4f3a77");
	memset(key, 'k', sizeof(key)); /* longer than a block */
	memset(text, 'm', sizeof(text));
	digest_hmac(key, sizeof(key), text, sizeof(text), digest);
	assert_string_equal(digest_hex(digest, hex),
			    "bb209a38266a40fe183287e3ebd142b9ea719b04b4f1d39380384abc1840af82");
}

static void base64_pads_as_it_should(void **state)
{
	char text[BASE64_CAP(6)];
	(void)state;
	assert_string_equal(base64_of("", 0, text), "");
	assert_string_equal(base64_of("f", 1, text), "Zg==");
	assert_string_equal(base64_of("fo", 2, text), "Zm8=");
	assert_string_equal(base64_of("foo", 3, text), "Zm9v");
	assert_string_equal(base64_of("foobar", 6, text), "Zm9vYmFy");
	assert_string_equal(base64_of("\xff\xfe\xfd", 3, text), "//79");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_others),
		cmocka_unit_test(keyed_sums_are_those_of_others),
		cmocka_unit_test(base64_pads_as_it_should),
	};
	return cmocka_run_group_tests_name("base/digest", tests, NULL, NULL);
}
