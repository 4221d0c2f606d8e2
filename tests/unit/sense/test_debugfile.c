#include "elf_image.h"
#include "world_fixture.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/native/debugfile.h"
#include "sense/native/native_parts.h"
#include "sense/native/rootfile.h"

static const char link_text[16] = "lib.debug\0\0\0"; /* and the checksum, put in by the test */

struct made {
	struct image image;
	char link[16];
	unsigned char note[20];
	Elf64_Sym symbol[2];
};

/* A file, or its debug file: with_id: has the build id deadbeef, else a link by checksum. */
static void make(struct made *m, bool debug, bool with_id, uint32_t crc)
{
	static const unsigned char note[] = {4, 0, 0,	0,   4,	  0, 0,	   0,	 3,    0,
					     0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};
	*m = (struct made){.image = {.text_len = 4096, .n = 1}};
	memcpy(m->link, link_text, sizeof(m->link));
	memcpy(m->link + 12, &crc, 4);
	memcpy(m->note, note, sizeof(note));
	m->symbol[1] = (Elf64_Sym){.st_name = 1,
				   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
				   .st_shndx = 1,
				   .st_value = IMAGE_TEXT,
				   .st_size = 64};
	struct image_section *s = m->image.section;
	if (debug) {
		s[m->image.n++] = (struct image_section){".symtab", SHT_SYMTAB, m->symbol, sizeof(m->symbol), 2, 24};
		s[m->image.n++] = (struct image_section){".strtab", SHT_STRTAB, "\0hidden", 8};
	} else {
		s[m->image.n++] = (struct image_section){".gnu_debuglink", SHT_PROGBITS, m->link, sizeof(m->link)};
	}
	if (with_id)
		s[m->image.n++] = (struct image_section){".note", SHT_NOTE, m->note, sizeof(m->note)};
}

/* The plain way of zlib's crc32, for what debuglinks hold. */
static uint32_t crc_of(const unsigned char *p, size_t len)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

struct place {
	struct world w;
	char dir[32], path[64], debug[64];
};

static struct place place_new(void)
{
	struct place p = {.w = live_world(), .dir = "/tmp/vigil-debug-XXXXXX"};
	assert_non_null(mkdtemp(p.dir));
	TEXT_FORMAT(p.path, "%s/lib.so", p.dir);
	TEXT_FORMAT(p.debug, "%s/lib.debug", p.dir);
	return p;
}

static void place_done(struct place *p)
{
	unlink(p->debug);
	rmdir(p->dir);
	fixture_close(&p->w);
}

static int open_debug(struct place *p, struct made *file, struct elf *ret)
{
	struct elf e;
	assert_int_equal(elf_open_fd(image_fd(&file->image), &e), 0);
	int r = debugfile_open(&p->w, &(struct rootfile_view){.pid = getpid()}, &e, p->path, ret);
	elf_done(&e);
	return r;
}

static void the_linked_file_is_taken_by_its_checksum_only(void **state)
{
	(void)state;
	struct place p = place_new();
	struct made file, debug;
	struct elf found;
	size_t len = 0;
	make(&debug, true, false, 0);
	cleanup(freep) unsigned char *bytes = image_bytes(&debug.image, &len);
	make(&file, false, false, crc_of(bytes, len));
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	assert_int_equal(file_replace(p.debug, bytes, len, 0600), 0);
	assert_int_equal(open_debug(&p, &file, &found), 0);
	struct symtab *s;
	const char *name;
	uint64_t start;
	struct elf e;
	assert_int_equal(elf_open_fd(image_fd(&file.image), &e), 0);
	assert_int_equal(symtab_load(&e, &found, SIZE_MAX, &s), 0);
	assert_true(symtab_find(s, IMAGE_TEXT + 63, &name, &start));
	assert_string_equal(name, "hidden");
	symtab_free(s);
	elf_done(&e);
	elf_done(&found);
	bytes[len - 1] ^= 1;
	assert_int_equal(file_replace(p.debug, bytes, len, 0600), 0);
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	place_done(&p);
}

static void a_build_id_must_be_the_same_on_both_sides(void **state)
{
	(void)state;
	struct place p = place_new();
	struct made file, debug;
	struct elf found;
	size_t len = 0;
	make(&debug, true, true, 0);
	make(&file, false, true, 0);
	cleanup(freep) unsigned char *bytes = image_bytes(&debug.image, &len);
	assert_int_equal(file_replace(p.debug, bytes, len, 0600), 0);
	assert_int_equal(open_debug(&p, &file, &found), 0); /* its checksum need not be read */
	elf_done(&found);
	file.note[19] = 0xee;
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	make(&file, false, false, crc_of(bytes, len));
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	place_done(&p);
}

static void links_that_lead_elsewhere_are_not_followed(void **state)
{
	(void)state;
	struct place p = place_new();
	struct made file;
	struct elf found;
	make(&file, false, true, 0);
	memcpy(file.link, "../lib.debug", 12);
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	memset(file.link, 'x', sizeof(file.link)); /* no end */
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	assert_int_equal(mkfifo(p.debug, 0600), 0);
	make(&file, false, true, 0);
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	place_done(&p);
}

static void what_was_fetched_before_is_found(void **state)
{
	(void)state;
	struct place p = place_new();
	struct made file, debug;
	struct elf found;
	size_t len = 0;
	char dir[64];
	make(&debug, true, true, 0);
	make(&file, false, true, 0);
	file.image.section[1].len = 1; /* no link */
	cleanup(freep) unsigned char *bytes = image_bytes(&debug.image, &len);
	TEXT_FORMAT(dir, "%s/deadbeef", p.dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	TEXT_FORMAT(p.debug, "%s/debuginfo", dir);
	assert_int_equal(file_replace(p.debug, bytes, len, 0600), 0);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	assert_int_equal(open_debug(&p, &file, &found), WORLD_ABSENT);
	setenv("DEBUGINFOD_CACHE_PATH", p.dir, 1);
	assert_int_equal(open_debug(&p, &file, &found), 0);
	elf_done(&found);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unlink(p.debug);
	rmdir(dir);
	place_done(&p);
}

static void only_regular_files_below_a_root_are_opened(void **state)
{
	(void)state;
	struct place p = place_new();
	char link[64];
	int fd = -1;
	assert_int_equal(file_replace(p.debug, "x", 1, 0600), 0);
	TEXT_FORMAT(link, "%s/link", p.dir);
	assert_int_equal(symlink(p.debug, link), 0);
	assert_int_equal(rootfile_open(&p.w, getpid(), p.debug, 0, &fd), 0);
	closep(&fd);
	assert_int_equal(rootfile_open(&p.w, 0, p.debug, 0, &fd), 0);
	closep(&fd);
	assert_int_equal(rootfile_open(&p.w, getpid(), link, 0, &fd), WORLD_ABSENT);
	assert_int_equal(rootfile_open(&p.w, getpid(), link, ROOTFILE_LINKS, &fd), 0);
	closep(&fd);
	assert_int_equal(rootfile_open(&p.w, getpid(), p.dir, 0, &fd), WORLD_ABSENT);
	assert_int_equal(rootfile_open(&p.w, getpid(), "/dev/null", 0, &fd), WORLD_ABSENT);
	assert_int_equal(rootfile_open(&p.w, getpid(), "relative", 0, &fd), WORLD_ABSENT);
	assert_int_equal(rootfile_open(&p.w, 999999999, p.debug, 0, &fd), WORLD_GONE);
	assert_int_equal(fd, -1);
	assert_false(rootfile_differs(&p.w, getpid()));
	unlink(link);
	place_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_linked_file_is_taken_by_its_checksum_only),
		cmocka_unit_test(a_build_id_must_be_the_same_on_both_sides),
		cmocka_unit_test(links_that_lead_elsewhere_are_not_followed),
		cmocka_unit_test(what_was_fetched_before_is_found),
		cmocka_unit_test(only_regular_files_below_a_root_are_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
