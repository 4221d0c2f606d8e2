/* ELF files made in memory: sections one behind the other, one segment over everything. */
#pragma once

#include <elf.h>
#include <sys/mman.h>

#include "testing.h"

#define IMAGE_SECTIONS 12
#define IMAGE_EH_FRAME_HDR 0x80000001 /* a section type for .eh_frame_hdr, which has none of its own */
#define IMAGE_TEXT 0x10000000 /* address of .text, which has no bytes in the file */

struct image_section {
	const char *name;
	uint32_t type;
	const void *bytes;
	size_t len;
	uint32_t link;
	uint64_t entsize;
};

struct image {
	struct image_section section[IMAGE_SECTIONS]; /* section[0] is left empty */
	size_t n;
	uint64_t text_len;
	bool no_headers; /* as after sstrip */
};

#if defined(__x86_64__)
#define IMAGE_MACHINE EM_X86_64
#else
#define IMAGE_MACHINE EM_AARCH64
#endif
#define IMAGE_PHDRS 5

static inline size_t image_align(size_t at)
{
	return (at + 15) & ~(size_t)15;
}

/* Address and file offset of a section. */
static inline uint64_t image_offset(const struct image *m, size_t k)
{
	size_t at = image_align(sizeof(Elf64_Ehdr) + IMAGE_PHDRS * sizeof(Elf64_Phdr));
	for (size_t i = 1; i < k; i++)
		at = image_align(at + m->section[i].len);
	return at;
}

static inline Elf64_Phdr image_segment(const struct image *m, uint32_t type, uint32_t kind)
{
	for (size_t i = 1; i < m->n; i++)
		if (m->section[i].type == kind) {
			uint64_t at = image_offset(m, i);
			return (Elf64_Phdr){.p_type = type,
					    .p_flags = PF_R,
					    .p_offset = at,
					    .p_vaddr = at,
					    .p_filesz = m->section[i].len,
					    .p_memsz = m->section[i].len};
		}
	return (Elf64_Phdr){.p_type = PT_NULL};
}

/* The bytes; *ret_len of them. Section m->n is the code, m->n + 1 the names of sections. */
static inline unsigned char *image_bytes(const struct image *m, size_t *ret_len)
{
	char names[512] = "";
	size_t names_len = 1, end = image_offset(m, m->n), n = m->n + 2;
	Elf64_Shdr s[IMAGE_SECTIONS + 2] = {};
	for (size_t i = 1; i < m->n + 2; i++) {
		const char *name = i < m->n ? m->section[i].name : i == m->n ? ".text" : ".shstrtab";
		s[i].sh_name = (uint32_t)names_len;
		memcpy(names + names_len, name, strlen(name) + 1);
		names_len += strlen(name) + 1;
	}
	for (size_t i = 1; i < m->n; i++) {
		s[i].sh_type = m->section[i].type;
		s[i].sh_offset = s[i].sh_addr = image_offset(m, i);
		s[i].sh_size = m->section[i].len;
		s[i].sh_link = m->section[i].link;
		s[i].sh_entsize = m->section[i].entsize;
		s[i].sh_flags = SHF_ALLOC;
	}
	s[m->n].sh_type = SHT_NOBITS;
	s[m->n].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	s[m->n].sh_addr = IMAGE_TEXT;
	s[m->n].sh_size = m->text_len;
	s[m->n + 1].sh_type = SHT_STRTAB;
	s[m->n + 1].sh_offset = end;
	s[m->n + 1].sh_size = names_len;
	size_t table = image_align(end + names_len), len = m->no_headers ? end : table + n * sizeof(s[0]);
	unsigned char *p = calloc(1, len + 1);
	assert_non_null(p);
	Elf64_Ehdr h = {.e_type = ET_DYN,
			.e_machine = IMAGE_MACHINE,
			.e_version = 1,
			.e_phoff = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = IMAGE_PHDRS,
			.e_ehsize = sizeof(h)};
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	if (!m->no_headers) {
		h.e_shoff = table;
		h.e_shentsize = sizeof(s[0]);
		h.e_shnum = (uint16_t)n;
		h.e_shstrndx = (uint16_t)(n - 1);
		memcpy(p + end, names, names_len);
		memcpy(p + table, s, n * sizeof(s[0]));
	}
	Elf64_Phdr ph[IMAGE_PHDRS] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = len, .p_memsz = len},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = IMAGE_TEXT, .p_memsz = m->text_len},
		image_segment(m, PT_DYNAMIC, SHT_DYNAMIC),
		image_segment(m, PT_NOTE, SHT_NOTE),
		image_segment(m, PT_GNU_EH_FRAME, IMAGE_EH_FRAME_HDR),
	};
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), ph, sizeof(ph));
	for (size_t i = 1; i < m->n; i++)
		memcpy(p + image_offset(m, i), m->section[i].bytes, m->section[i].len);
	*ret_len = len;
	return p;
}

static inline int bytes_fd(const void *bytes, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t at = 0; at < len;) {
		ssize_t n = write(fd, (const char *)bytes + at, len - at);
		assert_true(n > 0);
		at += (size_t)n;
	}
	return fd;
}

static inline int image_fd(const struct image *m)
{
	size_t len = 0;
	unsigned char *p = image_bytes(m, &len);
	int fd = bytes_fd(p, len);
	free(p);
	return fd;
}
