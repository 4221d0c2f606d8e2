/* The texts in which the kernel reports shared memory. */
#include "testing.h"

#include "sense/memory/shmtext.h"

static void a_line_of_maps_is_read_with_its_file(void **state)
{
	(void)state;
	struct shmtext_mapping m;
	assert_int_equal(
		shmtext_mapping_parse(SPAN("7f0000-7f1000 rw-s 00000000 00:1a 42     /dev/shm/a b (deleted)"), &m), 0);
	assert_int_equal(m.start, 0x7f0000);
	assert_int_equal(m.end, 0x7f1000);
	assert_int_equal(m.minor, 0x1a);
	assert_int_equal(m.inode, 42);
	assert_true(m.deleted);
	assert_true(span_eq(m.path, "/dev/shm/a b"));
	assert_int_equal(shmtext_mapping_parse(SPAN("1000-2000 rw-p 00000000 00:00 0 "), &m), 0);
	assert_int_equal(m.inode, 0);
	assert_int_equal(m.path.len, 0);
}

static void broken_lines_of_maps_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "1000",
					  "2000-1000 rw-p 0 00:00 0",
					  "1000-2000 rw 0 00:00 0",
					  "1000-2000 rw-p 0 00 0",
					  "1000-2000 rw-p 0 00:00 x"};
	struct shmtext_mapping m;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(shmtext_mapping_parse(span_of(bad[i]), &m), -EBADMSG);
}

static void a_link_says_what_kind_of_memory_it_is(void **state)
{
	(void)state;
	static const struct {
		const char *link, *name;
		enum shm_kind kind;
	} links[] = {
		{"/dev/shm/x", "x", SHM_FILE},
		{"/dev/shm/x (deleted)", "x", SHM_DELETED},
		{"/memfd:m (deleted)", "m", SHM_MEMFD},
		{"/SYSV00000005 (deleted)", "00000005", SHM_SYSV},
		{"/dev/zero (deleted)", "/dev/zero", SHM_ANON},
		{"/dev/zero", "/dev/zero", SHM_NONE},
		{"/SYSV", "/SYSV", SHM_NONE},
		{"/data/dev/shm/x", "/data/dev/shm/x", SHM_NONE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		struct span name;
		assert_int_equal(shmtext_link_kind(span_of(links[i].link), &name), links[i].kind);
		assert_true(span_eq(name, links[i].name));
	}
	assert_string_equal(shm_kind_name(SHM_ANON), "anonymous");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_maps_is_read_with_its_file),
		cmocka_unit_test(broken_lines_of_maps_are_refused),
		cmocka_unit_test(a_link_says_what_kind_of_memory_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
