#include "elf_image.h"
#include "world_fixture.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/native/elffile.h"

static int mapped(const struct world *w, const struct maps *m, const void *address, struct elf *e, uint64_t *bias)
{
	const struct map_row *row = maps_find(m, (uint64_t)(uintptr_t)address);
	assert_non_null(row);
	int r = elf_open_map(w, getpid(), row, e);
	return r ? r : elf_bias(e, m, row, bias);
}

struct walk {
	const struct world *w;
	struct maps m;
	size_t seen, several;
};

/* The dynamic linker knows the truth about every file, for each of its parts. */
static int check_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct walk *k = ctx;
	(void)size;
	size_t parts = 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct elf e = {.fd = -1};
		uint64_t bias = 1;
		if (p->p_type != PT_LOAD || p->p_memsz == 0 || p->p_filesz == 0)
			continue;
		uint64_t at = info->dlpi_addr + p->p_vaddr;
		const struct map_row *row = maps_find(&k->m, at);
		assert_non_null(row);
		if (!row->inode)
			continue; /* the vDSO */
		assert_int_equal(mapped(k->w, &k->m, (void *)at, &e, &bias), 0);
		if (p->p_flags & PF_X) {
			parts++;
			assert_int_equal(bias, info->dlpi_addr);
		}
		elf_done(&e);
		k->seen++;
	}
	k->several += parts > 1;
	return 0;
}

static void bias_is_what_the_dynamic_linker_says(void **state)
{
	(void)state;
	struct world w = live_world();
	struct walk k = {.w = &w};
	assert_int_equal(maps_read(&w, getpid(), &k.m), 0);
	dl_iterate_phdr(check_object, &k);
	assert_true(k.seen >= 4);
	maps_done(&k.m);
	fixture_close(&w);
}

/* Layouts that no compiler on this machine writes: rows as the kernel would make them. */
static void bias_of_several_segments_and_of_shared_pages(void **state)
{
	(void)state;
	Elf64_Phdr ph[] = {
		{.p_type = PT_NOTE},
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x800, .p_memsz = 0x800},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x800, .p_vaddr = 0x1800, .p_filesz = 0x1900},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x2100, .p_vaddr = 0x9100, .p_filesz = 0x700},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x2800, .p_vaddr = 0xb800, .p_filesz = 0x100},
	};
	const struct elf e = {.fd = -1, .phdr = ph, .n_phdr = ARRAY_SIZE(ph), .type = ET_DYN};
	struct maps m;
	const char text[] = "7f0000000000-7f0000001000 r--p 00000000 00:01 5 /x\n"
			    "7f0000001000-7f0000004000 r-xp 00000000 00:01 5 /x\n"
			    "7f0000009000-7f000000a000 r-xp 00002000 00:01 5 /x\n"
			    "7f000000b000-7f000000c000 rw-p 00002000 00:01 5 /x\n"
			    "7f0000100000-7f0000101000 r-xp 00010000 00:01 5 /x\n";
	assert_int_equal(maps_parse(SPAN(text), &m), 0);
	uint64_t bias = 7;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(elf_bias(&e, &m, &m.rows[i], &bias), 0);
		assert_int_equal(bias, UINT64_C(0x7f0000000000));
	}
	bias = 7;
	assert_int_equal(elf_bias(&e, &m, &m.rows[4], &bias), ELF_NOT);
	assert_int_equal(bias, 7);
	maps_done(&m);
}

static void bias_of_a_program_at_a_fixed_address_is_none(void **state)
{
	(void)state;
	Elf64_Phdr ph[] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x400000, .p_filesz = 0x500},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1000, .p_vaddr = 0x401000, .p_filesz = 0x300},
	};
	const struct elf e = {.fd = -1, .phdr = ph, .n_phdr = ARRAY_SIZE(ph), .type = ET_EXEC};
	struct maps m;
	uint64_t bias = 7;
	assert_int_equal(
		maps_parse(SPAN("400000-401000 r--p 00000000 00:01 5 /x\n401000-402000 r-xp 00001000 00:01 5 /x\n"),
			   &m),
		0);
	assert_int_equal(elf_bias(&e, &m, &m.rows[1], &bias), 0);
	assert_int_equal(bias, 0);
	maps_done(&m);
}

/* Every function that this C library exports, by what dlsym says. Those that are chosen at run time lie elsewhere. */
static void symbols_are_where_dlsym_finds_them(void **state)
{
	(void)state;
	struct world w = live_world();
	struct maps m;
	struct elf e;
	uint64_t bias = 0;
	size_t n_symbols = 0, n_names = 0, checked = 0;
	cleanup(freep) void *symbols = NULL;
	cleanup(freep) void *names = NULL;
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(libc);
	assert_int_equal(maps_read(&w, getpid(), &m), 0);
	assert_int_equal(mapped(&w, &m, dlsym(libc, "getpid"), &e, &bias), 0);
	const Elf64_Shdr *table = elf_section(&e, ".dynsym");
	assert_non_null(table);
	assert_int_equal(elf_section_load(&e, table, 64 * MIB, &symbols, &n_symbols), 0);
	assert_int_equal(elf_section_load(&e, &e.shdr[table->sh_link], 64 * MIB, &names, &n_names), 0);
	const Elf64_Sym *s = symbols;
	for (size_t i = 0; i < n_symbols / sizeof(*s); i++) {
		struct elf_symbol found;
		const char *name = (char *)names + s[i].st_name;
		Dl_info info;
		if (s[i].st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s[i].st_info) != STT_FUNC)
			continue;
		void *truth = dlsym(libc, name);
		assert_int_equal(elf_find_symbol(&e, name, &found), 0);
		/* Old versions of a function have the same name, and a sanitizer puts its own in front. */
		if (!truth || !dladdr(truth, &info) || (uint64_t)(uintptr_t)info.dli_fbase != bias ||
		    bias + found.value != (uint64_t)(uintptr_t)truth)
			continue;
		checked++;
	}
	assert_true(checked > 1500);
	struct elf_symbol none;
	assert_int_equal(elf_find_symbol(&e, "no_such_function_anywhere", &none), ELF_NONE);
	assert_int_equal(elf_find_symbol(&e, "", &none), ELF_NONE);
	elf_done(&e);
	maps_done(&m);
	dlclose(libc);
	fixture_close(&w);
}

static struct image small_image(void)
{
	static const Elf64_Sym symbols[] = {
		{},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_shndx = 1,
		 .st_value = IMAGE_TEXT,
		 .st_size = 16},
	};
	static const unsigned char note[] = {4, 0, 0,	0,   4,	  0, 0,	   0,	 3,    0,
					     0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};
	return (struct image){.text_len = 4096,
			      .n = 4,
			      .section = {{},
					  {".dynsym", SHT_DYNSYM, symbols, sizeof(symbols), 2, sizeof(symbols[0])},
					  {".dynstr", SHT_STRTAB, "\0main", 6},
					  {".note.gnu.build-id", SHT_NOTE, note, sizeof(note)}}};
}

static void a_whole_file_is_read_and_every_shorter_one_survived(void **state)
{
	(void)state;
	struct image image = small_image();
	size_t len = 0, opened = 0;
	cleanup(freep) unsigned char *p = image_bytes(&image, &len);
	struct elf_symbol s;
	struct elf e;
	assert_int_equal(elf_open_fd(bytes_fd(p, len), &e), 0);
	assert_int_equal(e.n_build_id, 4);
	assert_memory_equal(e.build_id, "\xde\xad\xbe\xef", 4);
	assert_int_equal(elf_find_symbol(&e, "main", &s), 0);
	assert_int_equal(s.value, IMAGE_TEXT);
	assert_int_equal(s.size, 16);
	elf_done(&e);
	for (size_t cut = 0; cut < len; cut++) {
		int r = elf_open_fd(bytes_fd(p, cut), &e);
		if (cut < sizeof(Elf64_Ehdr) + IMAGE_PHDRS * sizeof(Elf64_Phdr))
			assert_int_equal(r, ELF_NOT);
		if (r)
			continue;
		opened++;
		assert_int_equal(elf_find_symbol(&e, "main", &s), ELF_NONE); /* the table of sections is at the end */
		elf_done(&e);
	}
	assert_true(opened > 0);
}

static int opened_as(const unsigned char *p, size_t len)
{
	struct elf e;
	int r = elf_open_fd(bytes_fd(p, len), &e);
	if (r == 0)
		elf_done(&e);
	return r;
}

static void headers_that_lie_are_refused(void **state)
{
	(void)state;
	struct image image = small_image();
	size_t len = 0;
	cleanup(freep) unsigned char *p = image_bytes(&image, &len);
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)p, good = *h;
	p[0] = 'x';
	assert_int_equal(opened_as(p, len), ELF_NOT);
	*h = good;
	h->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(opened_as(p, len), ELF_FOREIGN);
	*h = good;
	h->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(opened_as(p, len), ELF_FOREIGN);
	*h = good;
	h->e_machine = EM_S390;
	assert_int_equal(opened_as(p, len), ELF_FOREIGN);
	*h = good;
	h->e_phoff = UINT64_MAX - 8;
	assert_int_equal(opened_as(p, len), ELF_NOT);
	*h = good;
	h->e_phnum = 65535;
	assert_int_equal(opened_as(p, len), ELF_NOT);
	*h = good;
	h->e_phentsize = 1;
	assert_int_equal(opened_as(p, len), ELF_NOT);
	/* Sections may be nonsense: the rest of the file is still of use. */
	*h = good;
	h->e_shoff = UINT64_MAX - 63;
	assert_int_equal(opened_as(p, len), 0);
	*h = good;
	h->e_shstrndx = 65000;
	assert_int_equal(opened_as(p, len), 0);
}

static void what_is_no_regular_file_is_never_waited_for(void **state)
{
	(void)state;
	struct world w = live_world();
	char dir[] = "/tmp/vigil-elf-XXXXXX", path[64];
	struct elf e;
	struct stat st;
	assert_non_null(mkdtemp(dir));
	TEXT_FORMAT(path, "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(stat(path, &st), 0);
	struct map_row row = {.inode = st.st_ino, .path = path, .flags = MAP_EXEC};
	assert_int_equal(elf_open_map(&w, getpid(), &row, &e), WORLD_ABSENT); /* without a writer, an open would hang */
	unlink(path);
	assert_int_equal(elf_open_fd(open(dir, O_RDONLY | O_DIRECTORY), &e), ELF_NOT);
	/* Another file at that path: it is not the one that was mapped. */
	TEXT_FORMAT(path, "%s/new\nline", dir);
	struct image image = small_image();
	size_t len = 0;
	cleanup(freep) unsigned char *p = image_bytes(&image, &len);
	assert_int_equal(file_replace(path, p, len, 0600), 0);
	assert_int_equal(stat(path, &st), 0);
	char shown[64];
	TEXT_FORMAT(shown, "%s/new\\012line", dir);
	row = (struct map_row){.inode = st.st_ino + 1, .path = shown};
	assert_int_equal(elf_open_map(&w, getpid(), &row, &e), WORLD_ABSENT);
	row.inode = st.st_ino;
	assert_int_equal(elf_open_map(&w, getpid(), &row, &e), 0);
	elf_done(&e);
	assert_int_equal(elf_open_map(&w, 999999999, &row, &e), WORLD_ABSENT);
	unlink(path);
	rmdir(dir);
	fixture_close(&w);
}

static void a_range_that_is_mostly_a_hole_is_no_table(void **state)
{
	(void)state;
	FILE *f = tmpfile();
	assert_non_null(f);
	struct elf e = {.fd = fileno(f), .size = 2 * GIB};
	const size_t len = 4 * MIB;
	cleanup(freep) char *bytes = calloc(1, len);
	assert_non_null(bytes);
	assert_int_equal(pwrite(e.fd, bytes, len, 0), (ssize_t)len);
	assert_int_equal(ftruncate(e.fd, (off_t)e.size), 0);
	if (lseek(e.fd, 0, SEEK_HOLE) == (off_t)e.size)
		skip(); /* this file system does not tell */
	assert_int_equal(elf_read(&e, 0, bytes, len), 0);
	assert_int_equal(elf_read(&e, GIB, bytes, len), ELF_NOT);
	assert_int_equal(elf_read(&e, GIB, bytes, 4096), 0);
	assert_true(elf_is_hollow(&e, 0, GIB) && !elf_is_hollow(&e, 0, len));
	(void)fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias_is_what_the_dynamic_linker_says),
		cmocka_unit_test(bias_of_several_segments_and_of_shared_pages),
		cmocka_unit_test(bias_of_a_program_at_a_fixed_address_is_none),
		cmocka_unit_test(symbols_are_where_dlsym_finds_them),
		cmocka_unit_test(a_whole_file_is_read_and_every_shorter_one_survived),
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(what_is_no_regular_file_is_never_waited_for),
		cmocka_unit_test(a_range_that_is_mostly_a_hole_is_no_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
