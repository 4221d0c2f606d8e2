#include "sense/collective/ncclversion.h"

#include <string.h>

#include "base/buf.h"

#define WORDS "NCCL version "
#define CONSTANTS_MAX (256 * MIB)
#define CHUNK_BYTES (256 * KIB)
#define WORDS_BYTES 64 /* WORDS, a version and "+cuda" */

bool nccl_version_find(struct span text, char dst[static 16])
{
	struct span after = span_after(text, WORDS "2.");
	if (!after.p)
		return false;
	size_t len = 0;
	while (len < after.len && len < 8 && ((after.p[len] >= '0' && after.p[len] <= '9') || after.p[len] == '.'))
		len++;
	(void)text_format(dst, 16, "2.%.*s", (int)len, after.p);
	return true;
}

bool nccl_version_own(struct span text, struct ncclras_version *ret)
{
	for (struct span rest = span_after(text, WORDS); rest.p; rest = span_after(rest, WORDS)) {
		struct span near = {rest.p, MIN(rest.len, (size_t)24)}, number = span_before(near, "+cuda");
		/* Without "+cuda", span_before returns all of near. */
		if (number.len < near.len && ncclras_version_parse(number, ret))
			return true;
	}
	return false;
}

static int section_search(const struct elf *e, const Elf64_Shdr *s, struct ncclras_version *ret)
{
	cleanup(freep) char *room = malloc(CHUNK_BYTES);
	uint64_t end = MIN(s->sh_size, CONSTANTS_MAX);
	if (!room)
		return -ENOMEM;
	/* Chunks overlap, so that one of them has the whole text. */
	for (uint64_t at = 0; at < end; at += CHUNK_BYTES - WORDS_BYTES) {
		size_t n = (size_t)MIN(end - at, CHUNK_BYTES);
		int r = elf_read(e, s->sh_offset + at, room, n);
		if (r)
			return r;
		if (nccl_version_own((struct span){room, n}, ret))
			return 0;
	}
	return ELF_NONE;
}

int nccl_version_of_elf(const struct elf *e, struct ncclras_version *ret)
{
	static const char *const names[] = {".rodata", ".data"};
	int r = ELF_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(names) && r == ELF_NONE; i++) {
		const Elf64_Shdr *s = elf_section(e, names[i]);
		if (s && s->sh_type != SHT_NOBITS && s->sh_offset <= e->size)
			r = section_search(e, s, ret);
	}
	return r;
}

static bool ncclversion_by_name(const struct maps *m, struct ncclras_version *ret)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *name = strstr(m->rows[i].path, "/libnccl.so.");
		if (name && ncclras_version_parse(span_of(name), ret))
			return true;
	}
	return false;
}

static bool ncclversion_by_constants(const struct world *w, pid_t pid, const struct maps *m, const char *library,
				     struct ncclras_version *ret)
{
	uint64_t last_inode = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct map_row *row = &m->rows[i];
		struct elf e;
		if (!strstr(row->path, library) || row->inode == last_inode)
			continue;
		last_inode = row->inode; /* the segments of one file are adjacent */
		if (elf_open_map(w, pid, row, &e) != 0)
			continue;
		int r = nccl_version_of_elf(&e, ret);
		elf_done(&e);
		if (r == 0)
			return true;
	}
	return false;
}

bool nccl_version_of_process(const struct world *w, pid_t pid, struct ncclras_version *ret)
{
	struct maps m;
	if (maps_read(w, pid, &m) != 0)
		return false;
	/* Some builds of PyTorch link NCCL into libtorch_cuda. */
	bool found = ncclversion_by_name(&m, ret) || ncclversion_by_constants(w, pid, &m, "/libnccl", ret) ||
		     ncclversion_by_constants(w, pid, &m, "/libtorch_cuda", ret);
	maps_done(&m);
	return found;
}
