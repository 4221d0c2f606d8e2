#include "sense/native/names.h"

#include <string.h>

#include "base/hash.h"
#include "sense/native/cython.h"
#include "sense/native/demangle.h"

struct name {
	uint64_t hash;
	const char *readable; /* borrowed from another name; NULL: not demangled yet */
	struct name *next;
	char text[];
};

struct names {
	struct name **bucket; /* owned */
	size_t n_buckets, n; /* n_buckets is a power of two */
	size_t bytes;
};

struct names *names_new(void)
{
	struct names *n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->n_buckets = 256;
	n->bucket = calloc(n->n_buckets, sizeof(struct name *));
	return n->bucket ? n : names_free(n);
}

struct names *names_free(struct names *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; n->bucket && i < n->n_buckets; i++)
		for (struct name *e = n->bucket[i], *next; e; e = next) {
			next = e->next;
			free(e);
		}
	free(n->bucket);
	free(n);
	return NULL;
}

/* Without memory the chains get longer, which is only slower. */
static void grow(struct names *n)
{
	size_t many = n->n_buckets * 4;
	struct name **bucket = calloc(many, sizeof(struct name *));
	if (!bucket)
		return;
	for (size_t i = 0; i < n->n_buckets; i++)
		for (struct name *e = n->bucket[i], *next; e; e = next) {
			next = e->next;
			e->next = bucket[e->hash & (many - 1)];
			bucket[e->hash & (many - 1)] = e;
		}
	free(n->bucket);
	n->bucket = bucket;
	n->n_buckets = many;
}

static struct name *find_or_add(struct names *n, const char *text)
{
	size_t len = strlen(text) + 1;
	uint64_t hash = hash_bytes(HASH_START, text, len - 1);
	for (struct name *e = n->bucket[hash & (n->n_buckets - 1)]; e; e = e->next)
		if (e->hash == hash && strcmp(e->text, text) == 0)
			return e;
	if (n->bytes + len > NAMES_BYTES_MAX)
		return NULL;
	struct name *e = calloc(1, sizeof(*e) + len);
	if (!e)
		return NULL;
	if (n->n > 2 * n->n_buckets)
		grow(n);
	struct name **bucket = &n->bucket[hash & (n->n_buckets - 1)];
	memcpy(e->text, text, len);
	e->hash = hash;
	e->next = *bucket;
	*bucket = e;
	n->n++;
	n->bytes += sizeof(*e) + len;
	return e;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

const char *names_keep(struct names *n, const char *text)
{
	cleanup(freep) char *copy = NULL;
	if (!is_plain(text)) {
		copy = strdup(text);
		for (char *c = copy; c && *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
		text = copy ? copy : "";
	}
	const struct name *e = find_or_add(n, text);
	return e ? e->text : "(no room for its name)";
}

const char *names_readable(struct names *n, const char *linker_name)
{
	struct name *e = find_or_add(n, linker_name);
	if (e && e->readable)
		return e->readable;
	cleanup(freep) char *plain = strndup(linker_name, strcspn(linker_name, "@")); /* without @@GLIBC_2.34 */
	cleanup(freep) char *text = plain ? demangle(plain) : NULL;
	const char *kept = names_keep(n, text ? text : plain ? plain : linker_name);
	if (e)
		e->readable = kept;
	return kept;
}

const char *names_of_function(struct names *n, const char *linker_name, const char *module)
{
	char name[CYTHON_NAME_MAX];
	if (strncmp(linker_name, "__pyx_", 6) == 0 && cython_name(linker_name, module, name))
		return names_keep(n, name);
	return names_readable(n, linker_name);
}
