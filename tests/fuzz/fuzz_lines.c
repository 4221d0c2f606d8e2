/*
 * Debug information, as the reader of source lines is given it: a whole file, or the lengths of its sections (32 bits
 * each, in the order of the table below) and their contents, of which a file is made. What libdw cannot stand ends the
 * process that reads, and there is a new one; who asked goes on, and has an answer in time that is a text.
 */
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/native/lineserver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES_EACH 1000

static const char *const section_names[] = {
	".debug_abbrev", ".debug_info",	    ".debug_line", ".debug_str",   ".debug_line_str",	 ".debug_aranges",
	".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_types", ".debug_str_offsets",
};
#define SECTIONS ARRAY_SIZE(section_names)
#define SIZES (SECTIONS * sizeof(uint32_t))

struct made {
	Elf64_Ehdr head;
	Elf64_Shdr section[SECTIONS + 2]; /* the first is none, the last their names */
	char names[SECTIONS * 24];
};

/* A length that leads behind the end is cut. */
static void file_make(int fd, const uint8_t *data, size_t size)
{
	struct made m = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_shoff = offsetof(struct made, section),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = SECTIONS + 2,
				  .e_shstrndx = SECTIONS + 1}};
	size_t at = SIZES;
	for (size_t i = 0; i < SECTIONS; i++) {
		uint32_t len = 0;
		memcpy(&len, data + i * sizeof(len), sizeof(len));
		len = (uint32_t)MIN((size_t)len, size - at);
		text_copy(&m.names[(i * 24) + 1], 23, section_names[i]);
		m.section[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)(i * 24) + 1,
						.sh_type = SHT_PROGBITS,
						.sh_offset = sizeof(m) + at - SIZES,
						.sh_size = len,
						.sh_addralign = 1};
		at += len;
	}
	m.section[SECTIONS + 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names), .sh_size = sizeof(m.names)};
	assert(file_write_all(fd, &m, sizeof(m)) == 0 && file_write_all(fd, data + SIZES, size - SIZES) == 0);
}

static void find(struct lineserver *s, uint32_t number, uint64_t vaddr)
{
	char file[300];
	for (unsigned inlined = 0; inlined < 2; inlined++) {
		uint32_t line = 0;
		if (lineserver_find(s, number, vaddr, inlined, file, sizeof(file), &line))
			assert(line > 0 && line <= INT32_MAX && strlen(file) < sizeof(file));
	}
}

static struct lineserver *server_new(void)
{
	static const struct lineserver_limits limits = {.memory_bytes = 256 * MIB, .cpu_s = 2};
	static const struct foreign_user self;
	static struct world w = {.proc_fd = -1};
	if (w.proc_fd < 0)
		w.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return lineserver_new(&w, &self, &limits);
}

/* A server that lives: one that reads no more what it has read before is replaced by one that does. */
static struct lineserver *server(int good)
{
	static struct lineserver *s;
	static unsigned asked;
	if (s && asked++ % FILES_EACH != 0 && (good < 0 || lineserver_add(s, good) > 0))
		return s;
	lineserver_free(s);
	s = server_new();
	assert(s && (good < 0 || lineserver_add(s, good) > 0));
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int good = -1; /* the first file that had debug information */
	uint64_t last = 0;
	struct lineserver *s = server(good);
	cleanup(closep) int fd = memfd_create("elf", MFD_CLOEXEC);
	assert(fd >= 0);
	if (size > SIZES && memcmp(data, ELFMAG, SELFMAG) != 0)
		file_make(fd, data, size);
	else
		assert(file_write_all(fd, data, size) == 0);
	uint32_t number = lineserver_add(s, fd);
	if (number == 0)
		return 0;
	if (good < 0)
		good = dup(fd);
	if (size >= sizeof(last))
		memcpy(&last, data + size - sizeof(last), sizeof(last));
	const uint64_t some[] = {0, 1, 0x1000, last, UINT64_MAX};
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		find(s, number, some[i]);
	for (uint64_t at = 0x200; at < 0x300; at += 11) /* where the seeds have code */
		find(s, number, at);
	return 0;
}
