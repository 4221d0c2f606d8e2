#include "testing.h"

#include "go_image.h"
#include "sense/go/golayout.h"
#include "sense/go/gopcln.h"

static struct gopcln open_image(unsigned char b[static GO_IMAGE_BYTES])
{
	struct gopcln t;
	go_image_make(b);
	assert_int_equal(gopcln_open((struct span){(const char *)b, GO_IMAGE_BYTES}, GO_IMAGE_TEXT, &t), 0);
	return t;
}

static void functions_are_found_by_address(void **state)
{
	(void)state;
	unsigned char b[GO_IMAGE_BYTES];
	struct gopcln t = open_image(b);
	struct gofunc f;
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT + 5, &f), 0);
	assert_true(f.entry == GO_IMAGE_TEXT && span_eq(gopcln_name(&t, &f), "main.main"));
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT + 0x2f, &f), 0);
	assert_true(span_eq(gopcln_name(&t, &f), "main.main"));
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT + 0x30, &f), 0);
	assert_true(span_eq(gopcln_name(&t, &f), "main.leaf"));
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT + 0x40, &f), GOPCLN_NONE);
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT - 1, &f), GOPCLN_NONE);
}

static void an_address_has_its_line_its_file_and_the_size_of_its_frame(void **state)
{
	(void)state;
	unsigned char b[GO_IMAGE_BYTES];
	struct gopcln t = open_image(b);
	static const struct {
		uint64_t at;
		int32_t line, size, inlined;
	} want[] = {{0, 10, 0, -1},  {4, 10, 24, -1},  {8, 42, 24, 0},
		    {15, 42, 24, 0}, {16, 11, 24, -1}, {47, 11, 24, -1}};
	struct gofunc f;
	int32_t v = 0;
	uint32_t tree = 0;
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT, &f), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		uint64_t pc = GO_IMAGE_TEXT + want[i].at;
		assert_int_equal(gopcln_value(&t, &f, GOPCLN_LINE, pc, &v), 0);
		assert_int_equal(v, want[i].line);
		assert_int_equal(gopcln_value(&t, &f, GOPCLN_SP, pc, &v), 0);
		assert_int_equal(v, want[i].size);
		assert_int_equal(gopcln_value(&t, &f, GOPCLN_INLINE, pc, &v), 0);
		assert_int_equal(v, want[i].inlined);
	}
	assert_int_equal(gopcln_value(&t, &f, GOPCLN_FILE, GO_IMAGE_TEXT, &v), 0);
	assert_true(span_eq(gopcln_file(&t, &f, v), "/src/main.go"));
	assert_int_equal(gopcln_file(&t, &f, 1).len, 0); /* not known */
	assert_int_equal(gopcln_file(&t, &f, 1000).len, 0);
	assert_int_equal(gopcln_file(&t, &f, -1).len, 0);
	assert_int_equal(gopcln_value(&t, &f, GOPCLN_LINE, GO_IMAGE_TEXT + 48, &v), GOPCLN_NONE);
	assert_int_equal(gopcln_inline_tree(&t, &f, &tree), 0);
	assert_int_equal(tree, 0x40);
	assert_true(span_eq(gopcln_name_at(&t, GO_IMAGE_INNER), "main.inner"));
	assert_int_equal(gopcln_find(&t, GO_IMAGE_TEXT + 0x30, &f), 0);
	assert_int_equal(gopcln_inline_tree(&t, &f, &tree), GOPCLN_NONE);
	assert_int_equal(gopcln_value(&t, &f, GOPCLN_INLINE, GO_IMAGE_TEXT + 0x30, &v), GOPCLN_NONE);
}

static void tables_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t at, width;
		uint64_t value;
	} wrong[] = {{0, 4, 0xfffffffb},      {7, 1, 4},	  {8, 8, 0},
		     {8, 8, UINT64_MAX},      {8, 8, 200},	  {64, 8, GO_IMAGE_BYTES},
		     {64, 8, UINT64_MAX - 8}, {32, 8, UINT64_MAX}};
	struct gopcln t;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		unsigned char b[GO_IMAGE_BYTES];
		go_image_make(b);
		go_image_put(b + wrong[i].at, wrong[i].value, wrong[i].width);
		assert_int_equal(gopcln_open((struct span){(const char *)b, sizeof(b)}, 1, &t), GOPCLN_NONE);
	}
	unsigned char b[GO_IMAGE_BYTES];
	go_image_make(b);
	for (size_t len = 0; len < 72; len++)
		assert_int_equal(gopcln_open((struct span){(const char *)b, len}, 1, &t), GOPCLN_NONE);
}

/* Wherever a table is cut and whatever its functions say, nothing is read behind its end (with ASan). */
static void a_table_that_was_cut_is_read_no_further(void **state)
{
	(void)state;
	struct gofunc f;
	int32_t v;
	uint32_t tree;
	for (size_t len = 72; len <= GO_IMAGE_BYTES; len++) {
		unsigned char b[GO_IMAGE_BYTES];
		struct gopcln t;
		go_image_make(b);
		char *cut = malloc(len);
		assert_non_null(cut);
		memcpy(cut, b, len);
		if (gopcln_open((struct span){cut, len}, GO_IMAGE_TEXT, &t) == 0)
			for (uint64_t pc = 0; pc < 0x40; pc++) {
				if (gopcln_find(&t, GO_IMAGE_TEXT + pc, &f) != 0)
					continue;
				for (int which = GOPCLN_SP; which <= GOPCLN_INLINE; which++)
					(void)!gopcln_value(&t, &f, (enum gopcln_table)which, GO_IMAGE_TEXT + pc, &v);
				assert_true(gopcln_name(&t, &f).len < len);
				(void)!gopcln_inline_tree(&t, &f, &tree);
			}
		free(cut);
	}
}

static void the_version_is_in_the_build_information(void **state)
{
	(void)state;
	char b[80] = "\xff Go buildinf:", version[GO_VERSION_MAX];
	struct golayout l;
	b[14] = 8;
	b[15] = 2;
	b[32] = 8;
	memcpy(b + 33, "go1.26.8", 8);
	assert_int_equal(goversion_parse((struct span){b, sizeof(b)}, version), 0);
	assert_string_equal(version, "go1.26.8");
	assert_int_equal(golayout_of(version, &l), 0);
	assert_true(l.goid == 152 && l.status == 144 && l.waitreason == 176 && l.sudog_c == 88);
	assert_int_equal(goversion_parse((struct span){b, 40}, version), GO_NONE);
	b[32] = 127;
	assert_int_equal(goversion_parse((struct span){b, sizeof(b)}, version), GO_NONE);
	b[32] = 8;
	b[15] = 0;
	assert_int_equal(goversion_parse((struct span){b, sizeof(b)}, version), GO_NONE);
	assert_int_equal(golayout_of("go1.19.8", &l), 0);
	assert_true(l.goid == 152 && l.waiting == 328 && l.chan_timer == 0 && l.chan_type == 32 && l.gofunc == 304);
	assert_int_equal(golayout_of("go1.24", &l), 0);
	assert_true(l.goid == 160 && l.waitsince == 176);
	assert_int_equal(golayout_of("go1.27.1", &l), GO_UNKNOWN);
	assert_int_equal(golayout_of("go1.20.3", &l), GO_UNKNOWN);
	assert_int_equal(golayout_of("go1.2", &l), GO_UNKNOWN);
	assert_int_equal(golayout_of("devel go1.27-abc", &l), GO_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_address),
		cmocka_unit_test(an_address_has_its_line_its_file_and_the_size_of_its_frame),
		cmocka_unit_test(tables_that_contradict_themselves_are_refused),
		cmocka_unit_test(a_table_that_was_cut_is_read_no_further),
		cmocka_unit_test(the_version_is_in_the_build_information),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
