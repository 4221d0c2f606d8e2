#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "sense/native/elffile.h"
#include "sense/collective/ncclversion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The whole file, as a foreign process might have mapped it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf e;
	struct elf_symbol s;
	struct maps m;
	uint64_t bias;
	int fd = memfd_create("elf", MFD_CLOEXEC);
	assert(fd >= 0 && file_write_all(fd, data, size) == 0);
	if (elf_open_fd(fd, &e) != 0)
		return 0;
	assert(e.n_build_id <= sizeof(e.build_id));
	static const char *const names[] = {"main", "_PyRuntime", "hidden", "", "x"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)!elf_find_symbol(&e, names[i], &s);
	static const char rows[] = "1000-3000 r--p 00000000 00:01 5 /x\n3000-9000 r-xp 00001000 00:01 5 /x\n";
	assert(maps_parse(SPAN(rows), &m) == 0);
	for (size_t i = 0; i < m.n; i++)
		(void)!elf_bias(&e, &m, &m.rows[i], &bias);
	struct ncclras_version version;
	(void)!nccl_version_of_elf(&e, &version);
	for (size_t i = 0; i < e.n_shdr; i++) {
		void *bytes;
		size_t len;
		if (elf_section_load(&e, &e.shdr[i], MIB, &bytes, &len) != 0)
			continue;
		assert(len <= size && ((char *)bytes)[len] == '\0');
		free(bytes);
	}
	maps_done(&m);
	elf_done(&e);
	return 0;
}
