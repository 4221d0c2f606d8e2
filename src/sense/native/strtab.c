#include "sense/native/strtab.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"

#define COPIED_MAX (4 * MIB)
#define ANY_MAX (256 * MIB) /* larger tables are not copied, even when no descriptor is left */

struct strtab_name {
	uint32_t at;
	char *name; /* owned; NULL: free slot */
};

int strtab_open(const struct elf *e, uint64_t offset, uint64_t len, struct strtab *ret)
{
	struct strtab t = {.fd = -1, .offset = offset, .len = len};
	if (offset > e->size || len > e->size - offset || len > UINT32_MAX)
		return ELF_NOT;
	if (len > COPIED_MAX) {
		t.fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 3);
		if (t.fd >= 0) {
			*ret = t;
			return 0;
		}
		if (len > ANY_MAX)
			return ELF_NONE;
	}
	cleanup(freep) char *text = malloc(len + 1);
	if (!text)
		return -ENOMEM;
	int r = elf_read(e, offset, text, len);
	if (r)
		return r;
	text[len] = '\0';
	t.text = take(&text);
	*ret = t;
	return 0;
}

void strtab_done(struct strtab *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		free(t->slots[i].name);
	free(t->slots);
	free(t->text);
	closep(&t->fd);
	*t = (struct strtab){.fd = -1};
}

bool strtab_peek(const struct strtab *t, uint32_t at, char *dst, size_t cap)
{
	size_t n = 0;
	if (at >= t->len)
		return false;
	if (t->text) {
		text_copy(dst, cap, t->text + at);
		return true;
	}
	if (file_read_from(t->fd, t->offset + at, dst, MIN(cap - 1, t->len - at), &n) < 0)
		return false;
	dst[n] = '\0';
	return true;
}

/* Reads a malloc'ed copy from the file. */
static char *name_read(const struct strtab *t, uint32_t at)
{
	size_t cap = 256;
	for (;;) {
		size_t n = 0;
		cleanup(freep) char *name = malloc(cap);
		if (!name || file_read_from(t->fd, t->offset + at, name, MIN(cap, t->len - at), &n) < 0)
			return NULL;
		if (memchr(name, '\0', n))
			return take(&name);
		if (n < cap || cap >= STRTAB_NAME_MAX)
			return NULL;
		cap *= 4;
	}
}

static struct strtab_name *strtab_slot(struct strtab_name *slots, size_t n, uint32_t at)
{
	size_t i = hash_slot(at, n - 1);
	while (slots[i].name && slots[i].at != at)
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static bool slots_grow(struct strtab *t)
{
	size_t n = t->n_slots ? t->n_slots * 2 : 64;
	struct strtab_name *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].name)
			*strtab_slot(slots, n, t->slots[i].at) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	return true;
}

const char *strtab_name(struct strtab *t, uint32_t at)
{
	if (at >= t->len)
		return NULL;
	if (t->text)
		return strnlen(t->text + at, STRTAB_NAME_MAX) < STRTAB_NAME_MAX ? t->text + at : NULL;
	if (2 * (t->n_used + 1) > t->n_slots && !slots_grow(t))
		return NULL;
	struct strtab_name *slot = strtab_slot(t->slots, t->n_slots, at);
	if (!slot->name) {
		char *name = name_read(t, at);
		if (!name)
			return NULL;
		*slot = (struct strtab_name){.at = at, .name = name};
		t->n_used++;
	}
	return slot->name;
}
