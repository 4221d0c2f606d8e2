/*
 * One string table of an ELF file. A small one is copied; of a large one (libtorch has hundreds of MiB) only the names
 * asked for are read, through a descriptor that stays open. Foreign bytes: a name that does not end within the table,
 * or is longer than STRTAB_NAME_MAX, counts as missing.
 */
#pragma once

#include "sense/native/elffile.h"

#define STRTAB_NAME_MAX (64 * KIB)

struct strtab {
	char *text;     /* owned: the whole table, terminated; NULL: it is read through fd */
	uint64_t len;
	int fd;         /* owned */
	uint64_t offset;
	struct strtab_name *slots; /* owned: names read so far, by hash */
	size_t n_slots, n_used;
};

/* len bytes at offset of the file. ELF_NOT, ELF_NONE (too large, and no descriptor is left). */
int must_check strtab_open(const struct elf *e, uint64_t offset, uint64_t len, struct strtab *ret);
void strtab_done(struct strtab *t);
/* Borrowed for the table's life; NULL: there is no such name. */
const char *strtab_name(struct strtab *t, uint32_t at);
/* Copies at most cap - 1 bytes of the name, without keeping it. */
bool strtab_peek(const struct strtab *t, uint32_t at, char *dst, size_t cap);
