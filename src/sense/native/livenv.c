#include "sense/native/livenv.h"

#include <string.h>

#include "base/path.h"
#include "sense/native/elffile.h"

/* Variables that are looked at, and how many pointers are read at a time. */
#define VARIABLES_MOST 4096
#define POINTERS 64

static bool is_libc(const char *file)
{
	return strncmp(file, "libc.so.6", 9) == 0 || strncmp(file, "libc-2.", 7) == 0 ||
	       strncmp(file, "ld-musl", 7) == 0 || strncmp(file, "libc.musl", 9) == 0;
}

/* The address of `environ` in the file behind a row; 0: it is not there. */
static int address_in(const struct world *w, pid_t pid, const struct maps *m, const struct map_row *row, uint64_t *ret)
{
	cleanup(elf_done) struct elf e = {.fd = -1};
	struct elf_symbol s;
	uint64_t bias;
	int r = elf_open_map(w, pid, row, &e);
	if (r < 0 || r == WORLD_GONE)
		return r;
	if (r == 0 && elf_bias(&e, m, row, &bias) == 0 && elf_find_export(&e, "environ", &s) == 0)
		*ret = bias + s.value;
	return 0;
}

/* The program goes first: what it has is what the library uses as well. */
static int address_find(const struct world *w, pid_t pid, uint64_t *ret)
{
	cleanup(maps_done) struct maps m = {};
	const struct map_row *row[2] = {NULL, NULL};
	int r = maps_read(w, pid, &m);
	*ret = 0;
	for (size_t i = 0; r == 0 && i < m.n; i++) {
		if (!m.rows[i].inode)
			continue;
		row[0] = row[0] ? row[0] : &m.rows[i];
		if (!row[1] && is_libc(path_name(m.rows[i].path)))
			row[1] = &m.rows[i];
	}
	for (size_t i = 0; r == 0 && *ret == 0 && i < ARRAY_SIZE(row); i++)
		if (row[i])
			r = address_in(w, pid, &m, row[i], ret);
	return r ? r : *ret ? 0 : WORLD_ABSENT;
}

/* True if the text at addr is NAME=...; a text that cannot be read is none. */
static bool is_it(struct remote *r, uint64_t addr, const char *name, size_t len)
{
	char head[64];
	return len + 1 < sizeof(head) && remote_read(r, addr, head, len + 1) == 0 && memcmp(head, name, len) == 0 &&
	       head[len] == '=';
}

int livenv_read(const struct world *w, struct remote *r, const char *name, char *dst, size_t cap)
{
	uint64_t at, list, text[POINTERS];
	size_t len = strlen(name);
	int e = address_find(w, r->pid, &at);
	if (e == 0)
		e = remote_u64(r, at, &list);
	for (size_t i = 0; e == 0 && list && i < VARIABLES_MOST; i++) {
		size_t k = i % POINTERS;
		/* The list may end right before a page that is not mapped. */
		if (k == 0 && remote_read(r, list + i * sizeof(*text), text, sizeof(text)) != 0) {
			memset(text, 0, sizeof(text));
			for (size_t n = 0; n < POINTERS; n++)
				if (remote_u64(r, list + (i + n) * sizeof(*text), &text[n]) != 0 || !text[n])
					break;
		}
		if (!text[k])
			break;
		if (is_it(r, text[k], name, len))
			return remote_text(r, text[k] + len + 1, dst, cap);
	}
	return e ? e : WORLD_ABSENT;
}
