/*
 * An ELF file, as far as reading a process needs it: its segments, named sections, build id, and symbols by name.
 * 64-bit little-endian only. Follows the System V ABI and <elf.h>. All bytes are foreign: each number is checked
 * against the file's size before it is used.
 *
 * Files are read with pread, not mapped: a mapped file that is truncated meanwhile would kill vigil with SIGBUS.
 */
#pragma once

#include <elf.h>

#include "base/base.h"
#include "sense/proc/maps.h"

enum {
	ELF_NOT = 6, /* not an ELF file, or one that contradicts itself */
	ELF_FOREIGN = 7, /* 32-bit, big-endian, or of a machine that this vigil was not built for */
	ELF_NONE = 8, /* there is no such section or symbol */
};

#define ELF_BUILD_ID_MAX 64

struct elf {
	int fd; /* owned */
	uint64_t size; /* of the file, in bytes */
	uint16_t type, machine;
	Elf64_Phdr *phdr; /* owned */
	size_t n_phdr;
	Elf64_Shdr *shdr; /* owned; none in some stripped files */
	size_t n_shdr;
	char *names; /* owned: section names, terminated */
	size_t names_len;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t n_build_id; /* 0: the file has none */
};

struct elf_symbol {
	uint64_t value, size; /* value: address before the load bias; size 0: not known */
	unsigned type; /* STT_* */
};

/* Takes fd, also on failure. ELF_NOT, ELF_FOREIGN. */
int must_check elf_open_fd(int fd, struct elf *ret);
/*
 * Opens the file behind a mapping of a process, in whichever mount namespace it is: by /proc/PID/map_files, else
 * /proc/PID/root + path, else /proc/PID/exe when it is that file. Checked to be the same inode. WORLD_GONE,
 * WORLD_DENIED, WORLD_ABSENT (replaced, or not reachable), ELF_NOT, ELF_FOREIGN.
 */
int must_check elf_open_map(const struct world *w, pid_t pid, const struct map_row *row, struct elf *ret);
void elf_done(struct elf *e);

/* Reads exactly len bytes of the file, or ELF_NOT; that also where a large range is mostly a hole of a sparse file. */
int must_check elf_read(const struct elf *e, uint64_t offset, void *into, size_t len);
/* True if so much of a range is not on disk that it is nothing a linker has written. */
bool elf_is_hollow(const struct elf *e, uint64_t offset, uint64_t len);
/* Loads a whole section, malloc'ed with a NUL behind it; at most max bytes. ELF_NONE (also for SHT_NOBITS). */
int must_check elf_section_load(const struct elf *e, const Elf64_Shdr *s, uint64_t max, void **ret, size_t *ret_len);
/* Borrowed; NULL: there is no section of that name. */
const Elf64_Shdr *elf_section(const struct elf *e, const char *name);
const Elf64_Phdr *elf_segment(const struct elf *e, uint32_t type);
/* The number to add to an address of the file to get one in the process, given the rows of this very file. */
int must_check elf_bias(const struct elf *e, const struct maps *m, const struct map_row *row, uint64_t *ret);
/* Finds one exported, defined symbol by its GNU hash table (a few reads); works in stripped files too. ELF_NONE. */
int must_check elf_find_export(const struct elf *e, const char *name, struct elf_symbol *ret);
/* The same; if it is not exported, searches all of .symtab, which may be hundreds of megabytes. */
int must_check elf_find_symbol(const struct elf *e, const char *name, struct elf_symbol *ret);
