#include "sense/pylib/rayhandle.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sense/proc/maps.h"

enum {
	ACTOR_FIELD = 1,
	OWNER_FIELD = 2,
	JOB_FIELD = 4,
	NAME_FIELD = 10,
	NAMESPACE_FIELD = 11,
	NUMBER = 0, /* kinds of values */
	BYTES = 2,
	OWNER_BYTES = 24,
	JOB_BYTES = 4,
	VARINT_MOST = 10,
};

/* An arena of malloc's begins at a multiple of this. */
#define ARENA_BYTES (64 * MIB)
#define PART_BYTES MIB
#define SEARCHED_MOST (512 * MIB)

static bool varint_take(struct span *s, uint64_t *ret)
{
	uint64_t v = 0;
	for (size_t i = 0; i < MIN(s->len, (size_t)VARINT_MOST); i++) {
		const unsigned char c = (unsigned char)s->p[i];
		v |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		*s = (struct span){s->p + i + 1, s->len - i - 1};
		*ret = v;
		return true;
	}
	return false;
}

/* Takes one field; of numbers the value is left out. False: it ends too early, or is of a kind that is not used. */
static bool message_field_take(struct span *s, uint64_t *ret_field, struct span *ret)
{
	uint64_t tag, v;
	if (!varint_take(s, &tag) || !varint_take(s, &v))
		return false;
	*ret_field = tag >> 3;
	*ret = (struct span){NULL, 0};
	if ((tag & 7) == NUMBER)
		return true;
	if ((tag & 7) != BYTES || v > s->len)
		return false;
	*ret = (struct span){s->p, (size_t)v};
	*s = (struct span){s->p + v, s->len - (size_t)v};
	return true;
}

static bool is_bytes(struct span s, const void *bytes, size_t n)
{
	return s.p && s.len == n && memcmp(s.p, bytes, n) == 0;
}

/* Each actor has a namespace, so that a handle without a name is known by it. */
bool rayhandle_parse(struct span bytes, const struct raycall_actor *a, struct span *ret_name)
{
	struct span rest = {bytes.p, MIN(bytes.len, (size_t)RAYHANDLE_BYTES)}, value, name = {NULL, 0};
	uint64_t field = 0, before = 0;
	bool actor = false, owner = false, job = false;
	while (before < NAMESPACE_FIELD && message_field_take(&rest, &field, &value) && field > before) {
		before = field;
		actor |= field == ACTOR_FIELD && is_bytes(value, a->id, sizeof(a->id));
		owner |= field == OWNER_FIELD && value.p && value.len == OWNER_BYTES;
		job |= field == JOB_FIELD && is_bytes(value, a->id + sizeof(a->id) - JOB_BYTES, JOB_BYTES);
		if (field == NAME_FIELD)
			name = value;
	}
	if (field != NAMESPACE_FIELD || before != NAMESPACE_FIELD || !actor || !owner || !job)
		return false;
	*ret_name = name;
	return true;
}

/* False: there is no handle in these bytes. */
static bool part_search(struct span part, const struct raycall_actor *a, char *dst)
{
	char head[2 + sizeof(a->id)] = {ACTOR_FIELD << 3 | BYTES, sizeof(a->id)};
	memcpy(head + 2, a->id, sizeof(a->id));
	struct span name;
	const char *at;
	while ((at = memmem(part.p, part.len, head, sizeof(head))) != NULL) {
		const struct span from = {at, part.len - (size_t)(at - part.p)};
		if (rayhandle_parse(from, a, &name)) {
			span_copy(name, dst, RAYHANDLE_NAME);
			return true;
		}
		part = (struct span){at + 1, from.len - 1};
	}
	return false;
}

/* Parts overlap by the longest message. *left: what may still be read of the process. */
static int row_search(struct remote *r, const struct map_row *m, const struct raycall_actor *a, char *buffer,
		      uint64_t *left, char *dst)
{
	for (uint64_t at = m->start; at < m->end && *left >= PART_BYTES; at += PART_BYTES) {
		const uint64_t end = MIN(m->end, at + PART_BYTES + RAYHANDLE_BYTES);
		*left -= PART_BYTES;
		const int e = remote_read(r, at, buffer, (size_t)(end - at));
		if (e == WORLD_GONE || e == WORLD_DENIED)
			return e;
		if (e == 0 && part_search((struct span){buffer, (size_t)(end - at)}, a, dst))
			return 0;
	}
	return REMOTE_FAULT;
}

static bool is_of_malloc(const struct map_row *m)
{
	const bool own = (m->flags & MAP_READ) && (m->flags & MAP_WRITE) && !(m->flags & MAP_IS_SHARED);
	return own && (strcmp(m->path, "[heap]") == 0 || (!m->path[0] && m->start % ARENA_BYTES == 0));
}

int rayhandle_name_read(const struct world *w, struct remote *r, const struct raycall_actor *a,
			char dst[static RAYHANDLE_NAME])
{
	cleanup(maps_done) struct maps m = {.n = 0};
	cleanup(freep) char *buffer = malloc(PART_BYTES + RAYHANDLE_BYTES);
	uint64_t left = SEARCHED_MOST;
	int e = buffer ? maps_read(w, r->pid, &m) : -ENOMEM;
	if (e)
		return e;
	for (size_t i = 0; i < m.n; i++) {
		e = is_of_malloc(&m.rows[i]) ? row_search(r, &m.rows[i], a, buffer, &left, dst) : REMOTE_FAULT;
		if (e != REMOTE_FAULT)
			return e;
	}
	return REMOTE_FAULT;
}
