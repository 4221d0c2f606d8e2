#include "sense/native/debugfile.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"

#define LINK_MAX 4096
/* Larger files are not checked: the checksum reads the whole file, 2 s for 1 GiB. */
#define CHECKED_MAX GIB

struct wanted {
	const struct world *world;
	const struct rootfile_view *view;
	const struct elf *elf;
	char link[256]; /* name of the debug file; "": no link */
	uint32_t crc;
};

static void hex_of(const struct elf *e, size_t from, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = from; i < e->n_build_id; i++)
		buf_printf(&b, "%02x", e->build_id[i]);
}

/* Layout of .gnu_debuglink: the name, zeroes up to a multiple of four, the checksum. */
static void link_read(struct wanted *wanted)
{
	const Elf64_Shdr *s = elf_section(wanted->elf, ".gnu_debuglink");
	cleanup(freep) void *bytes = NULL;
	size_t len = 0;
	if (!s || elf_section_load(wanted->elf, s, LINK_MAX, &bytes, &len) != 0)
		return;
	size_t name = strlen(bytes), at = (name + 4) & ~(size_t)3;
	/* A name with a slash would lead outside the debug folders. */
	if (name == 0 || name >= sizeof(wanted->link) || strchr(bytes, '/') || at + 4 > len)
		return;
	memcpy(&wanted->crc, (char *)bytes + at, 4);
	memcpy(wanted->link, bytes, name + 1);
}

/* CRC-32 as in zlib and IEEE 802.3. */
static int crc_of(const struct elf *e, uint32_t *ret)
{
	uint32_t table[256], crc = UINT32_MAX;
	cleanup(freep) unsigned char *chunk = malloc(MIB);
	if (!chunk || e->size > CHECKED_MAX)
		return chunk ? ELF_NONE : -ENOMEM;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
	}
	for (uint64_t at = 0; at < e->size; at += MIB) {
		size_t n = MIN(MIB, e->size - at);
		int r = elf_read(e, at, chunk, n);
		if (r)
			return r;
		for (size_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ chunk[i]) & 255];
	}
	*ret = ~crc;
	return 0;
}

static bool fits(const struct wanted *wanted, const struct elf *debug)
{
	const struct elf *e = wanted->elf;
	uint32_t crc;
	if (e->n_build_id || debug->n_build_id)
		return e->n_build_id == debug->n_build_id && memcmp(e->build_id, debug->build_id, e->n_build_id) == 0;
	return wanted->link[0] && crc_of(debug, &crc) == 0 && crc == wanted->crc;
}

/* ours: 0, or ROOTFILE_OURS. */
static bool try_path(const struct wanted *wanted, unsigned ours, const char *path, struct elf *ret)
{
	int fd = -1;
	struct elf e = {.fd = -1};
	if (rootfile_open_as(wanted->world, wanted->view, path, ROOTFILE_LINKS | ours, &fd) != 0 ||
	    elf_open_fd(fd, &e) != 0)
		return false;
	if (fits(wanted, &e)) {
		*ret = e;
		return true;
	}
	elf_done(&e);
	return false;
}

static bool try_root(const struct wanted *wanted, unsigned ours, const char *path, struct elf *ret)
{
	char full[4500], rest[2 * ELF_BUILD_ID_MAX + 1];
	if (wanted->elf->n_build_id > 1) {
		hex_of(wanted->elf, 1, rest, sizeof(rest));
		TEXT_FORMAT(full, "/usr/lib/debug/.build-id/%02x/%s.debug", wanted->elf->build_id[0], rest);
		if (try_path(wanted, ours, full, ret))
			return true;
	}
	const char *slash = strrchr(path, '/');
	if (!wanted->link[0] || !slash || path[0] != '/')
		return false;
	static const char *const forms[][2] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		TEXT_FORMAT(full, "%s%.*s%s%s", forms[i][0], (int)(slash - path), path, forms[i][1], wanted->link);
		if (strcmp(full, path) != 0 && try_path(wanted, ours, full, ret))
			return true;
	}
	return false;
}

static bool try_fetched(const struct wanted *wanted, struct elf *ret)
{
	char path[1024], id[2 * ELF_BUILD_ID_MAX + 1];
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (!wanted->elf->n_build_id)
		return false;
	hex_of(wanted->elf, 0, id, sizeof(id));
	if (own)
		TEXT_FORMAT(path, "%s/%s/debuginfo", own, id);
	else if (cache)
		TEXT_FORMAT(path, "%s/debuginfod_client/%s/debuginfo", cache, id);
	else if (home)
		TEXT_FORMAT(path, "%s/.cache/debuginfod_client/%s/debuginfo", home, id);
	else
		return false;
	return try_path(wanted, ROOTFILE_OURS, path, ret);
}

int debugfile_open(const struct world *w, const struct rootfile_view *view, const struct elf *e, const char *path,
		   struct elf *ret)
{
	struct wanted wanted = {.world = w, .view = view, .elf = e};
	link_read(&wanted);
	if (!e->n_build_id && !wanted.link[0])
		return WORLD_ABSENT;
	if (try_root(&wanted, 0, path, ret))
		return 0;
	if (rootfile_differs(w, view->pid) && try_root(&wanted, ROOTFILE_OURS, path, ret))
		return 0;
	return try_fetched(&wanted, ret) ? 0 : WORLD_ABSENT;
}
