#include "model/stacks/frame.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "base/utf8.h"

/* Frames are kept in blocks that never move, so that pointers from frametab_at stay valid. */
#define BLOCK_FRAMES 256
#define TEXT_BLOCK_BYTES (64 * KIB)

/* A block of texts; a text longer than a block has a block of its own. */
struct text_block {
	struct text_block *next;
	size_t used, cap;
	char bytes[];
};

/* Hash tables with open addressing, a power of two long, at most half full. */
struct texts {
	const char **slots; /* NULL: empty */
	size_t cap, n;
};
struct ids {
	uint32_t *slots; /* frame id + 1; 0: empty */
	size_t cap;
};

struct frametab {
	struct frame **blocks;
	size_t n_blocks, len;
	struct text_block *text;
	struct texts texts;
	struct ids ids;
};

const char *frame_kind_name(enum frame_kind k)
{
	static const char *const names[] = {
		[FRAME_PYTHON] = "python", [FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel", [FRAME_NOTE] = "note"};
	return k < FRAME_KIND_MAX ? names[k] : "native";
}

static uint64_t text_hash(const char *text, size_t len)
{
	return hash_mix(hash_bytes(HASH_START, text, len));
}

/* Hashes the addresses of texts, because equal texts share one address. */
static uint64_t frame_hash(const struct frame *f)
{
	uint64_t h = hash_mix((uintptr_t)f->name);
	h = hash_mix(h + (uintptr_t)f->file);
	h = hash_mix(h + (uintptr_t)f->module);
	return hash_mix(h + ((uint64_t)(uint32_t)f->line << 3) + f->kind);
}

struct frametab *frametab_new(void)
{
	return calloc(1, sizeof(struct frametab));
}

struct frametab *frametab_free(struct frametab *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n_blocks; i++)
		free(t->blocks[i]);
	free(t->blocks);
	while (t->text) {
		struct text_block *next = t->text->next;
		free(t->text);
		t->text = next;
	}
	free(t->texts.slots);
	free(t->ids.slots);
	free(t);
	return NULL;
}

static int grow_texts(struct texts *t)
{
	size_t cap = t->cap ? t->cap * 2 : 256;
	const char **slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->cap; i++) {
		if (!t->slots[i])
			continue;
		size_t at = text_hash(t->slots[i], strlen(t->slots[i])) & (cap - 1);
		while (slots[at])
			at = (at + 1) & (cap - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	return 0;
}

static char *text_keep(struct frametab *t, const char *text, size_t len)
{
	if (!t->text || t->text->cap - t->text->used < len + 1) {
		size_t cap = MAX(TEXT_BLOCK_BYTES, len + 1);
		struct text_block *b = malloc(sizeof(*b) + cap);
		if (!b)
			return NULL;
		*b = (struct text_block){.next = t->text, .cap = cap};
		t->text = b;
	}
	char *at = t->text->bytes + t->text->used;
	memcpy(at, text, len + 1);
	t->text->used += len + 1;
	return at;
}

static const char *text_intern(struct frametab *t, const char *text)
{
	if (!text)
		text = "";
	size_t len = strlen(text);
	if (t->texts.n * 2 >= t->texts.cap && grow_texts(&t->texts) < 0)
		return NULL;
	size_t at = text_hash(text, len) & (t->texts.cap - 1);
	for (; t->texts.slots[at]; at = (at + 1) & (t->texts.cap - 1))
		if (strcmp(t->texts.slots[at], text) == 0)
			return t->texts.slots[at];
	char *kept = text_keep(t, text, len);
	if (!kept)
		return NULL;
	t->texts.slots[at] = kept;
	t->texts.n++;
	return kept;
}

const struct frame *frametab_at(const struct frametab *t, uint32_t id)
{
	assert(id < t->len);
	return &t->blocks[id / BLOCK_FRAMES][id % BLOCK_FRAMES];
}

static void ids_put(const struct frametab *t, uint32_t *slots, size_t cap, uint32_t id)
{
	size_t at = frame_hash(frametab_at(t, id)) & (cap - 1);
	while (slots[at])
		at = (at + 1) & (cap - 1);
	slots[at] = id + 1;
}

static int grow_ids(struct frametab *t)
{
	size_t cap = t->ids.cap ? t->ids.cap * 2 : 256;
	uint32_t *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 0; id < t->len; id++)
		ids_put(t, slots, cap, id);
	free(t->ids.slots);
	t->ids.slots = slots;
	t->ids.cap = cap;
	return 0;
}

static int grow_blocks(struct frametab *t)
{
	struct frame **blocks = reallocarray(t->blocks, t->n_blocks + 1, sizeof(struct frame *));
	if (!blocks)
		return -ENOMEM;
	t->blocks = blocks;
	struct frame *b = calloc(BLOCK_FRAMES, sizeof(*b));
	if (!b)
		return -ENOMEM;
	t->blocks[t->n_blocks++] = b;
	return 0;
}

static bool frame_equals(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->file == b->file && a->module == b->module && a->line == b->line &&
	       a->kind == b->kind;
}

int frametab_intern(struct frametab *t, const struct frame *f, uint32_t *ret)
{
	struct frame kept = {.kind = f->kind < FRAME_KIND_MAX ? f->kind : FRAME_NATIVE,
			     .line = f->line,
			     .first_line = f->first_line};
	kept.name = text_intern(t, f->name);
	kept.file = text_intern(t, f->file);
	kept.module = text_intern(t, f->module);
	if (!kept.name || !kept.file || !kept.module)
		return -ENOMEM;
	if (t->len * 2 >= t->ids.cap && grow_ids(t) < 0)
		return -ENOMEM;
	size_t at = frame_hash(&kept) & (t->ids.cap - 1);
	for (; t->ids.slots[at]; at = (at + 1) & (t->ids.cap - 1)) {
		if (!frame_equals(frametab_at(t, t->ids.slots[at] - 1), &kept))
			continue;
		*ret = t->ids.slots[at] - 1;
		return 0;
	}
	/* UINT32_MAX means "no frame" in nodes, and slots hold id + 1 */
	if (t->len >= UINT32_MAX - 2 || (t->len == t->n_blocks * BLOCK_FRAMES && grow_blocks(t) < 0))
		return -ENOMEM;
	uint32_t id = (uint32_t)t->len++;
	t->blocks[id / BLOCK_FRAMES][id % BLOCK_FRAMES] = kept;
	t->ids.slots[at] = id + 1;
	*ret = id;
	return 0;
}

static bool digits(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.len > 0;
}

/* The part of the path after "/lib/python3.12/" or "/lib64/python3.12t/"; NULL if there is none. */
static const char *behind_stdlib(const char *file)
{
	const char *found = NULL;
	for (const char *p = file; (p = strstr(p, "/python")); p++) {
		struct span version = {p + 7, strcspn(p + 7, "/")};
		struct span minor = span_after(version, ".");
		if (minor.len > 0 && minor.p[minor.len - 1] == 't')
			minor.len--;
		if (digits(span_before(version, ".")) && digits(minor) && version.p[version.len] == '/')
			found = version.p + version.len + 1;
	}
	return found;
}

const char *frame_file_short(const char *file)
{
	static const char *const homes[] = {"/site-packages/", "/dist-packages/"};
	const char *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		const char *p = file;
		while ((p = strstr(p, homes[i]))) {
			p += strlen(homes[i]);
			if (!found || p > found)
				found = p;
		}
	}
	if (!found)
		found = behind_stdlib(file);
	/* "<frozen importlib._bootstrap>" is not a path, and a relative path may be shortened already */
	if (!found && file[0] == '/')
		found = path_name(file);
	return found && *found ? found : file;
}

/* ';' separates frames and a newline stacks, so neither may stand in a name. Bytes that are not UTF-8 become '?'. */
static void add_clean(struct buf *b, const char *text)
{
	size_t len = strlen(text);
	while (len > 0) {
		uint32_t code = 0;
		size_t n = utf8_char(text, len, &code);
		if (n == 0)
			buf_add_n(b, "?", 1);
		else if (code == ';')
			buf_add_n(b, ":", 1);
		else if (utf8_hidden(code))
			buf_add_n(b, " ", 1);
		else if (b->cap - 1 - b->len >= n)
			buf_add_n(b, text, n);
		else
			return;
		n = MAX(n, 1);
		text += n;
		len -= n;
	}
}

void frame_label(const struct frame *f, char *dst, size_t cap)
{
	if (cap == 0)
		return;
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	add_clean(&b, *f->name ? f->name : "[unknown]");
	switch (f->kind) {
	case FRAME_PYTHON:
		if (!*f->file)
			break;
		buf_add(&b, " (");
		add_clean(&b, frame_file_short(f->file));
		if (f->line > 0)
			buf_printf(&b, ":%d", f->line);
		buf_add(&b, ")");
		break;
	case FRAME_NATIVE:
		if (!*f->module)
			break;
		buf_add(&b, " [");
		add_clean(&b, f->module);
		buf_add(&b, "]");
		break;
	case FRAME_KERNEL:
		buf_add(&b, " [kernel]");
		break;
	case FRAME_NOTE:
	case FRAME_KIND_MAX:
		break;
	}
}
