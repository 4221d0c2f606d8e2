#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "sense/native/native_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A whole file: its symbol tables, and what is told of its evaluation loop. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf e;
	struct symtab *t = NULL;
	struct evalparts parts;
	int fd = memfd_create("elf", MFD_CLOEXEC);
	assert(fd >= 0 && file_write_all(fd, data, size) == 0);
	if (elf_open_fd(fd, &e) != 0)
		return 0;
	if (symtab_load(&e, NULL, SIZE_MAX, &t) != 0)
		t = NULL;
	for (uint64_t at = 0; t && at < 0x20000; at += 0x31) {
		const char *name;
		uint64_t start;
		uint64_t vaddr = at < 0x10000 ? at : UINT64_C(0x10000000) - 0x10000 + at;
		if (symtab_find(t, vaddr, &name, &start))
			assert(start <= vaddr && name[0] != '\0' && strlen(name) < size);
	}
	evalparts_find(&e, t, &parts);
	for (size_t i = 0; i < parts.n; i++)
		assert(parts.part[i].start < parts.part[i].end);
	symtab_free(t);
	elf_done(&e);
	return 0;
}
