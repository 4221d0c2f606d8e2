#include "sense/framework/storekey.h"

#include <string.h>

#include "base/buf.h"

/* The frames between the system call and the program's own call take about 2 KiB. */
#define STACK_WORDS 1024u
/* The return address into PyTorch's library lies this near to the system call. */
#define NEAR_WORDS 32u
#define KEYS_MOST 64u
/* Reads of memory beside the stack, so that a stack full of pointers does not take long. */
#define READS_MOST 600u

/* std::string of libstdc++. */
struct far_string {
	uint64_t data, size;
	union {
		uint64_t capacity;
		char local[16];
	};
};

struct scan {
	const struct maps *m;
	struct remote *r;
	uint64_t sp;
	size_t n; /* words that were read */
	unsigned reads;
	uint64_t word[STACK_WORDS];
};

static bool storekey_is_mapped(const struct scan *s, uint64_t addr)
{
	const struct map_row *row = maps_find(s->m, addr);
	return row && (row->flags & MAP_READ) && (row->flags & MAP_WRITE);
}

static bool beside_read(struct scan *s, uint64_t addr, void *into, size_t len)
{
	return s->reads++ < READS_MOST && storekey_is_mapped(s, addr) && remote_read(s->r, addr, into, len) == 0;
}

static bool is_text(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return n > 0 && p[n] == '\0';
}

/* Takes the text of the string that lies at this address. */
static bool string_take(struct scan *s, uint64_t addr, const struct far_string *f, char dst[static STOREKEY_TEXT])
{
	if (f->size == 0 || f->size >= STOREKEY_TEXT)
		return false;
	if (f->data == addr + offsetof(struct far_string, local)) {
		if (f->size >= sizeof(f->local))
			return false;
		memcpy(dst, f->local, sizeof(f->local));
	} else if (f->capacity < sizeof(f->local) || f->capacity < f->size || f->capacity > (1u << 20) ||
		   !beside_read(s, f->data, dst, f->size + 1)) {
		return false;
	}
	return is_text(dst, f->size);
}

/* Takes the first of n strings that lie one behind the other; all must be strings. */
static bool strings_take(struct scan *s, uint64_t addr, size_t n, char dst[static STOREKEY_TEXT])
{
	struct far_string of[KEYS_MOST];
	char other[STOREKEY_TEXT];
	if (!beside_read(s, addr, of, n * sizeof(of[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!string_take(s, addr + i * sizeof(of[0]), &of[i], i == 0 ? dst : other))
			return false;
	return true;
}

/* The string, or the vector of strings, of which the words at this place are the head. ret_n: how many. */
static bool key_at(struct scan *s, size_t at, char dst[static STOREKEY_TEXT], size_t *ret_n)
{
	struct far_string f;
	const uint64_t *w = &s->word[at];
	memcpy(&f, w, sizeof(f));
	*ret_n = 1;
	if (string_take(s, s->sp + at * sizeof(*w), &f, dst))
		return true;
	uint64_t bytes = w[1] - w[0];
	if (w[0] == 0 || w[1] <= w[0] || w[2] < w[1] || bytes % sizeof(f) || bytes / sizeof(f) > KEYS_MOST)
		return false;
	*ret_n = bytes / sizeof(f);
	return strings_take(s, w[0], *ret_n, dst);
}

static bool in_torch(const struct scan *s)
{
	for (size_t i = 0; i < MIN(s->n, (size_t)NEAR_WORDS); i++) {
		const struct map_row *row = maps_find(s->m, s->word[i]);
		const char *name = row && (row->flags & MAP_EXEC) ? strrchr(row->path, '/') : NULL;
		if (name && strncmp(name, "/libtorch", strlen("/libtorch")) == 0)
			return true;
	}
	return false;
}

static int stack_read(struct scan *s, uint64_t sp)
{
	const struct map_row *row = maps_find(s->m, sp);
	if (!row || !(row->flags & MAP_WRITE) || sp % sizeof(s->word[0]))
		return STOREKEY_NONE;
	s->sp = sp;
	s->n = (size_t)MIN((row->end - sp) / sizeof(s->word[0]), (uint64_t)STACK_WORDS);
	int e = remote_read(s->r, sp, s->word, s->n * sizeof(s->word[0]));
	return e == REMOTE_FAULT ? STOREKEY_NONE : e;
}

static bool is_end_of(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return k <= n && strcmp(text + n - k, end) == 0;
}

int storekey_read(const struct maps *m, struct remote *r, uint64_t sp, struct storekey *ret)
{
	static const size_t head = sizeof(struct far_string) / sizeof(uint64_t);
	struct scan s = {.m = m, .r = r};
	struct storekey key = {.n = 0};
	char one[STOREKEY_TEXT];
	size_t n, seen = 0;
	int e = stack_read(&s, sp);
	if (e || !in_torch(&s))
		return e ? e : STOREKEY_NONE;
	for (size_t i = 0; i + head <= s.n; i++) {
		if (!key_at(&s, i, one, &n))
			continue;
		if (seen++ == 0) {
			TEXT_COPY(key.key, one);
			key.n = n;
		} else if (is_end_of(seen == 2 ? key.key : key.given, one)) {
			TEXT_COPY(key.given, one);
		} else {
			break;
		}
	}
	if (!key.given[0])
		return STOREKEY_NONE;
	*ret = key;
	return 0;
}
