#include "tell/stacks/flame_parts.h"

#include <string.h>

#include "base/gzip.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tell/text/textids.h"

/*
 * Field numbers of profile.proto. A message is put together in memory, then
 * written behind its tag and length; messages are small but for a sample's
 * stack. Strings are numbered as they come and written last.
 */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_LINES = 9 };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_LINE = 4, LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

/* Growing bytes; a failed allocation is remembered. */
struct bytes {
	unsigned char *p; /* owned */
	size_t len, cap;
	bool failed;
};

struct pprof {
	const struct stackset *s;
	struct gzip *gz;
	struct textids *texts;
	struct bytes message, part;
	uint64_t *function; /* of each frame: the id of its function */
	uint32_t *mapping; /* of each text: its mapping's id, 0 none */
	size_t n_mapping_texts;
	int r;
};

static void pprof_done(struct pprof *p)
{
	gzip_free(p->gz);
	textids_free(p->texts);
	free(p->message.p);
	free(p->part.p);
	free(p->function);
	free(p->mapping);
}

static void add_bytes(struct bytes *b, const void *data, size_t len)
{
	if (vec_room(&b->p, &b->cap, b->len + len) < 0) {
		b->failed = true;
		return;
	}
	if (len > 0)
		memcpy(b->p + b->len, data, len);
	b->len += len;
}

static size_t varint(uint64_t v, unsigned char dst[static 10])
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		dst[n++] = (unsigned char)(v | 0x80);
	dst[n++] = (unsigned char)v;
	return n;
}

static void add_varint(struct bytes *b, uint64_t v)
{
	unsigned char raw[10];
	add_bytes(b, raw, varint(v, raw));
}

/* An absent field means zero. */
static void add_u64(struct bytes *b, uint32_t field, uint64_t v)
{
	if (v == 0)
		return;
	add_varint(b, (uint64_t)field << 3);
	add_varint(b, v);
}

static void add_part(struct bytes *b, uint32_t field, const void *data, size_t len)
{
	add_varint(b, (uint64_t)field << 3 | 2);
	add_varint(b, len);
	add_bytes(b, data, len);
}

static void write_part(struct pprof *p, uint32_t field, const void *data, size_t len)
{
	unsigned char head[20];
	size_t n = varint((uint64_t)field << 3 | 2, head);
	n += varint(len, head + n);
	if (p->r == 0 && (p->message.failed || p->part.failed))
		p->r = -ENOMEM;
	if (p->r == 0)
		p->r = gzip_write(p->gz, head, n);
	if (p->r == 0 && len > 0)
		p->r = gzip_write(p->gz, data, len);
}

static void write_message(struct pprof *p, uint32_t field)
{
	write_part(p, field, p->message.p, p->message.len);
	p->message.len = 0;
}

static void write_u64(struct pprof *p, uint32_t field, uint64_t v)
{
	p->message.len = 0;
	add_u64(&p->message, field, v);
	if (p->r == 0 && p->message.len > 0)
		p->r = gzip_write(p->gz, p->message.p, p->message.len);
	p->message.len = 0;
}

static uint32_t text_id(struct pprof *p, const char *text)
{
	uint32_t id = 0;
	bool is_new;
	if (p->r == 0)
		p->r = textids_of(p->texts, text, &id, &is_new);
	return id;
}

/* Literals: each has one address, as the texts of a frame table have. */
static const char word_objects[] = "inuse_objects", word_space[] = "inuse_space", word_bytes[] = "bytes";
static const char word_samples[] = "samples", word_count[] = "count", word_wall[] = "wall", word_ns[] = "nanoseconds";
static const char word_thread[] = "thread", word_tid[] = "tid", word_pid[] = "pid", word_rank[] = "rank",
		  word_role[] = "role", word_state[] = "state";
static const char *const state_words[] = {"running", "idle", "waiting for the GIL"};

static void add_value_type(struct pprof *p, const char *type, const char *unit)
{
	add_u64(&p->message, 1, text_id(p, type));
	add_u64(&p->message, 2, text_id(p, unit));
}

static void add_label(struct pprof *p, const char *key, const char *text, uint64_t number)
{
	p->part.len = 0;
	add_u64(&p->part, LABEL_KEY, text_id(p, key));
	if (text)
		add_u64(&p->part, LABEL_STR, text_id(p, text));
	else
		add_u64(&p->part, LABEL_NUM, number);
	add_part(&p->message, SAMPLE_LABEL, p->part.p, p->part.len);
}

static void write_sample(struct pprof *p, const struct stack_node *nodes, uint32_t node, enum sample_state state)
{
	size_t n_lanes;
	const struct stack_lane *l = stackset_lanes(p->s, &n_lanes) + nodes[node].lane;
	p->part.len = 0;
	for (uint32_t at = node; nodes[at].parent != at; at = nodes[at].parent)
		add_varint(&p->part, (uint64_t)nodes[at].frame + 1);
	add_part(&p->message, SAMPLE_LOCATION_ID, p->part.p, p->part.len);
	p->part.len = 0;
	add_varint(&p->part, nodes[node].self_samples[state]);
	if (!flame_counts_only(p->s))
		add_varint(&p->part, nodes[node].self_weight[state]);
	add_part(&p->message, SAMPLE_VALUE, p->part.p, p->part.len);
	if (stackset_meta_of(p->s)->unit == STACK_TIME)
		add_label(p, word_state, state_words[state], 0);
	if (l->thread[0])
		add_label(p, word_thread, l->thread, 0);
	if (l->tid > 0)
		add_label(p, word_tid, NULL, (uint64_t)l->tid);
	if (l->pid > 0)
		add_label(p, word_pid, NULL, (uint64_t)l->pid);
	if (l->rank != NO_RANK)
		add_label(p, word_rank, NULL, (uint64_t)l->rank);
	if (l->role[0])
		add_label(p, word_role, l->role, 0);
	write_message(p, PROFILE_SAMPLE);
}

static void write_samples(struct pprof *p)
{
	size_t n;
	const struct stack_node *nodes = stackset_nodes(p->s, &n);
	for (uint32_t i = 0; i < n && p->r == 0; i++)
		for (enum sample_state state = 0; state < SAMPLE_STATE_MAX; state++)
			if (nodes[i].self_samples[state] > 0 || nodes[i].self_weight[state] > 0)
				write_sample(p, nodes, i, state);
}

static size_t frames_used(const struct stackset *s)
{
	size_t n, used = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++)
		if (nodes[i].parent != i)
			used = MAX(used, (size_t)nodes[i].frame + 1);
	return used;
}

/* One mapping for each library, so that the reader can fold by it. Numbers count from 1. */
static uint32_t mapping_of(struct pprof *p, const struct frame *f, uint32_t *count)
{
	if (f->kind != FRAME_NATIVE || !*f->module)
		return 0;
	uint32_t text = text_id(p, f->module);
	if (text >= p->n_mapping_texts) {
		size_t n = ((size_t)text + 1) * 2;
		uint32_t *mapping = reallocarray(p->mapping, n, sizeof(*mapping));
		if (!mapping) {
			p->r = -ENOMEM;
			return 0;
		}
		memset(mapping + p->n_mapping_texts, 0, (n - p->n_mapping_texts) * sizeof(*mapping));
		p->mapping = mapping;
		p->n_mapping_texts = n;
	}
	if (p->mapping[text] == 0) {
		p->mapping[text] = ++*count;
		add_u64(&p->message, MAPPING_ID, *count);
		add_u64(&p->message, MAPPING_FILENAME, text);
		add_u64(&p->message, MAPPING_HAS_FUNCTIONS, 1);
		add_u64(&p->message, MAPPING_HAS_LINES, 1);
		write_message(p, PROFILE_MAPPING);
	}
	return p->mapping[text];
}

static int by_function(const void *x, const void *y, void *context)
{
	const struct pprof *p = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct frame *f = stackset_frame(p->s, a), *g = stackset_frame(p->s, b);
	int r = strcmp(f->name, g->name);
	if (r == 0)
		r = strcmp(f->file, g->file);
	if (r == 0)
		r = strcmp(f->module, g->module);
	return r ? r : a < b ? -1 : a > b;
}

static bool same_function(const struct frame *f, const struct frame *g)
{
	return f->name == g->name && f->file == g->file && f->module == g->module;
}

static void write_functions(struct pprof *p, size_t n_frames)
{
	cleanup(freep) uint32_t *order = calloc(n_frames + 1, sizeof(*order));
	p->function = calloc(n_frames + 1, sizeof(*p->function));
	if (!order || !p->function) {
		p->r = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < n_frames; i++)
		order[i] = i;
	qsort_r(order, n_frames, sizeof(*order), by_function, p);
	uint64_t id = 0;
	for (size_t i = 0; i < n_frames && p->r == 0; i++) {
		const struct frame *f = stackset_frame(p->s, order[i]);
		if (i == 0 || !same_function(f, stackset_frame(p->s, order[i - 1]))) {
			uint32_t name = text_id(p, *f->name ? f->name : "[unknown]");
			add_u64(&p->message, FUNCTION_ID, ++id);
			add_u64(&p->message, FUNCTION_NAME, name);
			add_u64(&p->message, FUNCTION_SYSTEM_NAME, name);
			add_u64(&p->message, FUNCTION_FILENAME, text_id(p, *f->file ? f->file : f->module));
			write_message(p, PROFILE_FUNCTION);
		}
		p->function[order[i]] = id;
	}
}

static void write_locations(struct pprof *p, size_t n_frames)
{
	uint32_t n_mappings = 0;
	for (uint32_t i = 0; i < n_frames && p->r == 0; i++) {
		const struct frame *f = stackset_frame(p->s, i);
		uint32_t mapping = mapping_of(p, f, &n_mappings);
		p->part.len = 0;
		add_u64(&p->part, LINE_FUNCTION_ID, p->function[i]);
		add_u64(&p->part, LINE_LINE, f->line > 0 ? (uint64_t)f->line : 0);
		add_u64(&p->message, LOCATION_ID, (uint64_t)i + 1);
		add_u64(&p->message, LOCATION_MAPPING_ID, mapping);
		add_part(&p->message, LOCATION_LINE, p->part.p, p->part.len);
		write_message(p, PROFILE_LOCATION);
	}
}

/* Strings of a protocol buffer are UTF-8. */
static void write_text(struct pprof *p, const char *text)
{
	size_t len = strlen(text);
	p->part.len = 0;
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_char(text + i, len - i, &code);
		add_bytes(&p->part, n ? text + i : "?", MAX(n, 1));
		i += MAX(n, 1);
	}
	write_part(p, PROFILE_STRING_TABLE, p->part.p, p->part.len);
}

static void write_head(struct pprof *p, const char *comment)
{
	const struct stackset_meta *m = stackset_meta_of(p->s);
	bool bytes = m->unit == STACK_BYTES;
	const char *weight = bytes ? word_space : word_wall, *unit = bytes ? word_bytes : word_ns;
	add_value_type(p, bytes ? word_objects : word_samples, word_count);
	write_message(p, PROFILE_SAMPLE_TYPE);
	if (!flame_counts_only(p->s)) {
		add_value_type(p, weight, unit);
		write_message(p, PROFILE_SAMPLE_TYPE);
		add_value_type(p, weight, unit);
		write_message(p, PROFILE_PERIOD_TYPE);
		write_u64(p, PROFILE_DEFAULT_SAMPLE_TYPE, text_id(p, weight));
	}
	if (bytes)
		write_u64(p, PROFILE_PERIOD, m->period_bytes);
	else if (m->rate_hz >= 1e-3)
		write_u64(p, PROFILE_PERIOD, (uint64_t)((double)NS_PER_S / m->rate_hz));
	if (m->start_unix_ms > 0)
		write_u64(p, PROFILE_TIME_NANOS, (uint64_t)m->start_unix_ms * NS_PER_MS);
	write_u64(p, PROFILE_DURATION_NANOS, m->duration_ns);
	write_u64(p, PROFILE_COMMENT, text_id(p, comment));
}

int flame_pprof_write(const struct stackset *s, FILE *to)
{
	cleanup(pprof_done) struct pprof p = {.s = s};
	char comment[600];
	flame_losses(stackset_meta_of(s), comment, sizeof(comment));
	p.texts = textids_new();
	if (!p.texts)
		return -ENOMEM;
	p.r = gzip_open(to, &p.gz);
	write_head(&p, comment);
	size_t n_frames = frames_used(s), n;
	write_samples(&p);
	write_functions(&p, n_frames);
	if (p.r == 0)
		write_locations(&p, n_frames);
	const char *const *texts = textids_all(p.texts, &n);
	for (size_t i = 0; i < n && p.r == 0; i++)
		write_text(&p, texts[i]);
	return p.r == 0 ? gzip_finish(p.gz) : p.r;
}
