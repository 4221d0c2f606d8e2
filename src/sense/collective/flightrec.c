#include "sense/collective/flightrec.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/collective/flightrec_tree.h"
#include "sense/format/jsonmend.h"

/* Bytes of a text that is kept from the file, its NUL included. */
#define TEXT_MAX 240
/* Tensors of one call that are counted; bounds the time for a crafted file. */
#define TENSORS_MAX 65536
#define DIMS_MAX 64
#define FRAMES_MAX 256

struct filler {
	struct flightrec *out;
	uint32_t *group_of_id; /* FLIGHTREC_GROUPS slots, by the pg_id of the process; index plus one, or 0 */
	const char *last_text; /* the text kept last; consecutive entries often repeat it */
	bool no_memory;
};

/*
 * An uneven all_gather is recorded as a broadcast for each rank and "ALLGATHER_coalesced", an uneven reduce_scatter
 * likewise. A call that is named so and has no parts ("allreduce_coalesced") is one like any other.
 */
static bool ends_batch(struct span op)
{
	static const char end[] = "coalesced";
	return op.len >= sizeof(end) - 1 && memcmp(op.p + op.len - (sizeof(end) - 1), end, sizeof(end) - 1) == 0;
}

static const char *flightrec_keep(struct filler *f, struct span s)
{
	char text[TEXT_MAX];
	span_copy(s, text, sizeof(text));
	if (f->last_text && strcmp(f->last_text, text) == 0)
		return f->last_text;
	const char *kept = arena_text(&f->out->arena, text, strlen(text));
	f->no_memory |= !kept;
	return kept ? (f->last_text = kept) : "";
}

static const char *keep_text(struct filler *f, struct frtree t)
{
	struct span s;
	return frtree_text(t, &s) && s.len ? flightrec_keep(f, s) : "";
}

static struct flightrec_group *group_find(struct flightrec *r, struct span name)
{
	for (size_t i = r->n_groups; i-- > 0;)
		if (span_eq(name, r->groups[i].name))
			return &r->groups[i];
	return NULL;
}

static struct flightrec_group *group_add(struct filler *f, struct span name)
{
	struct flightrec *r = f->out;
	char cut[TEXT_MAX];
	span_copy(name, cut, sizeof(cut));
	struct flightrec_group *g = group_find(r, span_of(cut));
	if (g || r->n_groups == FLIGHTREC_GROUPS)
		return g;
	if ((r->n_groups & (r->n_groups - 1)) == 0) {
		size_t more = MAX(r->n_groups * 2, (size_t)1);
		struct flightrec_group *grown = arena_grow(&r->arena, r->groups, r->n_groups, more, sizeof(*grown));
		f->no_memory |= !grown;
		if (!grown)
			return NULL;
		r->groups = grown;
	}
	g = &r->groups[r->n_groups++];
	*g = (struct flightrec_group){.name = flightrec_keep(f, name), .desc = ""};
	return g;
}

/* ranks is the text "[0, 1]" or a list of numbers. */
static void group_ranks(struct filler *f, struct flightrec_group *g, struct frtree ranks)
{
	struct span text = SPAN("");
	bool is_text = frtree_text(ranks, &text);
	size_t most = is_text ? text.len / 2 + 1 : frtree_len(ranks), n = 0;
	if (most == 0 || (!is_text && frtree_len(ranks) == 0))
		return;
	int32_t *list = arena_alloc(&f->out->arena, MIN(most, (size_t)FLIGHTREC_MEMBERS) * sizeof(*list));
	f->no_memory |= !list;
	for (size_t i = 0; list && n < FLIGHTREC_MEMBERS; i++) {
		int64_t rank = -1;
		if (is_text) {
			while (text.len && (*text.p < '0' || *text.p > '9'))
				text = (struct span){text.p + 1, text.len - 1};
			uint64_t digits = 0;
			if (span_u64_prefix(text, &digits) != 0)
				break;
			while (text.len && *text.p >= '0' && *text.p <= '9')
				text = (struct span){text.p + 1, text.len - 1};
			rank = digits <= INT32_MAX ? (int64_t)digits : -1;
		} else if (i >= frtree_len(ranks) || !frtree_i64(frtree_at(ranks, i), &rank)) {
			break;
		}
		if (rank >= 0 && rank <= INT32_MAX)
			list[n++] = (int32_t)rank;
	}
	if (n) {
		g->ranks = list;
		g->n_ranks = n;
	}
}

static int each_group(void *ctx, struct span key, struct frtree value)
{
	struct filler *f = ctx;
	struct flightrec_group *g = group_add(f, key);
	if (!g)
		return 0;
	g->desc = keep_text(f, frtree_get(value, "desc"));
	group_ranks(f, g, frtree_get(value, "ranks"));
	return 0;
}

static int each_status(void *ctx, struct span key, struct frtree value)
{
	struct filler *f = ctx;
	struct flightrec_group *g = NULL;
	int64_t id;
	/* The key is the pg_id, which differs between processes; the entries say to which group it belongs. */
	if (span_i64(key, &id) == 0 && id >= 0 && id < FLIGHTREC_GROUPS && f->group_of_id[id])
		g = &f->out->groups[f->group_of_id[id] - 1];
	if (!g)
		g = group_find(f->out, key);
	if (!g)
		return 0;
	g->last_enqueued = g->last_started = g->last_completed = -1;
	g->has_status = frtree_i64(frtree_get(value, "last_enqueued_collective"), &g->last_enqueued);
	ignore(frtree_i64(frtree_get(value, "last_started_collective"), &g->last_started), "-1 then");
	ignore(frtree_i64(frtree_get(value, "last_completed_collective"), &g->last_completed), "-1 then");
	return 0;
}

static uint32_t entry_group(struct filler *f, struct frtree e)
{
	struct frtree pair = frtree_get(e, "process_group");
	struct span name, desc;
	int64_t id;
	struct flightrec_group *g = NULL;
	if (frtree_text(frtree_at(pair, 0), &name)) {
		g = group_add(f, name);
		if (g && !g->desc[0] && frtree_text(frtree_at(pair, 1), &desc))
			g->desc = flightrec_keep(f, desc);
	} else if (frtree_i64(frtree_get(e, "pg_id"), &id)) {
		/* Old versions have no group names. */
		char number[32];
		TEXT_FORMAT(number, "%lld", (long long)id);
		g = group_add(f, span_of(number));
	}
	if (!g)
		return FLIGHTREC_NO_GROUP;
	uint32_t at = (uint32_t)(g - f->out->groups);
	if (frtree_i64(frtree_get(e, "pg_id"), &id) && id >= 0 && id < FLIGHTREC_GROUPS)
		f->group_of_id[id] = at + 1;
	return at;
}

static bool take_number(struct span *s, int32_t *ret)
{
	uint64_t n;
	if (span_u64_prefix(*s, &n) != 0 || n > INT32_MAX)
		return false;
	while (s->len && *s->p >= '0' && *s->p <= '9')
		*s = (struct span){s->p + 1, s->len - 1};
	*ret = (int32_t)n;
	return true;
}

/* Parses "nccl:send 1->2", "nccl:recv 3<-0", "nccl:all_reduce", "nccl:all_reduce_barrier", "xccl:…". */
static void entry_op(struct filler *f, struct flightrec_entry *e, struct span name)
{
	struct span op = span_after(name, ":"), word;
	if (!op.p || op.len == 0)
		op = name;
	struct span rest = op;
	int32_t left, right;
	if (!span_word(&rest, &word)) {
		e->op = "";
		return;
	}
	e->op = flightrec_keep(f, word);
	e->sends = span_eq(word, "send");
	e->is_batch = ends_batch(word);
	if (!e->sends && !span_eq(word, "recv"))
		return;
	e->is_p2p = true;
	rest = span_trim(rest);
	if (!take_number(&rest, &left) || rest.len < 3)
		return;
	bool to = span_starts(rest, "->");
	if (!to && !span_starts(rest, "<-"))
		return;
	rest = (struct span){rest.p + 2, rest.len - 2};
	if (!take_number(&rest, &right))
		return;
	e->has_peers = true;
	e->source = to ? left : right;
	e->target = to ? right : left;
}

/* Returns a list of shapes as a text, "[[4096, 2], [1]]", and counts the elements of all its tensors. */
static const char *entry_sizes(struct filler *f, struct frtree list, bool *ret_has, uint64_t *ret_elements)
{
	char text[TEXT_MAX];
	struct buf b = BUF_ON(text);
	size_t n = MIN(frtree_len(list), (size_t)TENSORS_MAX);
	uint64_t sum = 0;
	buf_reset(&b);
	if (!frtree_is(list))
		return "";
	buf_add(&b, "[");
	for (size_t i = 0; i < n; i++) {
		struct frtree dims = frtree_at(list, i);
		uint64_t product = 1;
		buf_add(&b, i ? ", [" : "[");
		for (size_t d = 0; d < MIN(frtree_len(dims), (size_t)DIMS_MAX); d++) {
			int64_t size = 0;
			if (!frtree_i64(frtree_at(dims, d), &size) || size < 0)
				return "";
			if (size && product > UINT64_MAX / (uint64_t)size)
				return "";
			product *= (uint64_t)size;
			buf_printf(&b, d ? ", %lld" : "%lld", (long long)size);
		}
		buf_add(&b, "]");
		sum = add_cap(sum, product);
	}
	buf_add(&b, "]");
	*ret_has = true;
	*ret_elements = sum;
	return flightrec_keep(f, span_of(text));
}

static const char *entry_dtypes(struct filler *f, struct frtree list)
{
	char text[TEXT_MAX];
	struct buf b = BUF_ON(text);
	struct span one, before = SPAN("");
	buf_reset(&b);
	if (frtree_text(list, &one))
		return flightrec_keep(f, one);
	/* Repeated types are written once. */
	for (size_t i = 0; i < MIN(frtree_len(list), (size_t)TENSORS_MAX); i++) {
		if (!frtree_text(frtree_at(list, i), &one))
			continue;
		if (b.len && one.len == before.len && memcmp(one.p, before.p, one.len) == 0)
			continue;
		buf_add(&b, b.len ? ", " : "");
		buf_add_n(&b, one.p, MIN(one.len, (size_t)40));
		before = one;
	}
	return b.len ? flightrec_keep(f, span_of(text)) : "";
}

static bool is_library(struct span file)
{
	static const char *const parts[] = {"/torch/", "/site-packages/", "/dist-packages/", "<frozen", "/lib/python"};
	if (file.len == 0 || span_starts(file, "<"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (span_has(file, parts[i]))
			return true;
	return span_starts(file, "torch/") || !span_has(file, ".py");
}

static const char *entry_where(struct filler *f, struct frtree frames)
{
	char text[TEXT_MAX];
	size_t n = MIN(frtree_len(frames), (size_t)FRAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		struct frtree frame = frtree_at(frames, i);
		struct span file, name = SPAN("");
		int64_t line = 0;
		if (!frtree_text(frtree_get(frame, "filename"), &file) || is_library(file))
			continue;
		ignore(frtree_text(frtree_get(frame, "name"), &name), "empty then");
		ignore(frtree_i64(frtree_get(frame, "line"), &line), "0 then");
		TEXT_FORMAT(text, "%.*s:%lld (%.*s)", (int)MIN(file.len, (size_t)150), file.p, (long long)line,
			    (int)MIN(name.len, (size_t)60), name.p);
		return flightrec_keep(f, span_of(text));
	}
	return "";
}

static enum flightrec_state entry_state(struct frtree e)
{
	struct span text = SPAN("");
	int64_t when = 0;
	ignore(frtree_text(frtree_get(e, "state"), &text), "unknown then");
	if (span_eq(text, "completed") || frtree_true(frtree_get(e, "retired")))
		return FLIGHTREC_COMPLETED;
	if (frtree_i64(frtree_get(e, "time_discovered_completed_ns"), &when) && when > 0)
		return FLIGHTREC_COMPLETED;
	if (span_eq(text, "started"))
		return FLIGHTREC_STARTED;
	return span_eq(text, "scheduled") ? FLIGHTREC_SCHEDULED : FLIGHTREC_UNKNOWN;
}

static bool flightrec_number(struct frtree e, const char *key, uint64_t *ret)
{
	int64_t n;
	if (!frtree_i64(frtree_get(e, key), &n) || n < 0)
		return false;
	*ret = (uint64_t)n;
	return true;
}

/* False if the entry has nothing to compare with other ranks. */
static bool entry_fill(struct filler *f, struct frtree e, struct flightrec_entry *ret)
{
	struct span name;
	*ret = (struct flightrec_entry){.op = "", .in_sizes = "", .out_sizes = "", .where = ""};
	if (!frtree_text(frtree_get(e, "profiling_name"), &name))
		return false;
	entry_op(f, ret, name);
	ret->group = entry_group(f, e);
	ret->is_p2p |= frtree_true(frtree_get(e, "is_p2p"));
	ret->has_collective_seq = flightrec_number(e, "collective_seq_id", &ret->collective_seq);
	if (!ret->has_collective_seq) /* versions before 2.2 */
		ret->has_collective_seq = flightrec_number(e, "seq_id", &ret->collective_seq);
	ret->has_p2p_seq = flightrec_number(e, "p2p_seq_id", &ret->p2p_seq);
	ignore(flightrec_number(e, "op_id", &ret->op_id), "0 then");
	ignore(flightrec_number(e, "record_id", &ret->record_id), "0 then");
	ret->state = entry_state(e);
	ignore(frtree_i64(frtree_get(e, "time_created_ns"), &ret->created_ns), "0 then");
	ignore(frtree_i64(frtree_get(e, "time_discovered_started_ns"), &ret->started_ns), "0 then");
	ignore(frtree_i64(frtree_get(e, "time_discovered_completed_ns"), &ret->completed_ns), "0 then");
	ignore(frtree_i64(frtree_get(e, "timeout_ms"), &ret->timeout_ms), "0 then");
	ret->in_sizes = entry_sizes(f, frtree_get(e, "input_sizes"), &ret->has_in, &ret->in_elements);
	ret->out_sizes = entry_sizes(f, frtree_get(e, "output_sizes"), &ret->has_out, &ret->out_elements);
	ret->in_dtypes = entry_dtypes(f, frtree_get(e, "input_dtypes"));
	ret->out_dtypes = entry_dtypes(f, frtree_get(e, "output_dtypes"));
	ret->where = entry_where(f, frtree_get(e, "frames"));
	return ret->op[0] && ret->group != FLIGHTREC_NO_GROUP && (ret->is_p2p || ret->has_collective_seq);
}

/*
 * Marks the entries of each batch: those before its "coalesced" entry that have its group and number. They take its
 * state if it is further on than theirs.
 */
static void batches(struct flightrec *r)
{
	for (size_t i = 0; i < r->n_entries; i++) {
		const struct flightrec_entry *b = &r->entries[i];
		if (!b->is_batch)
			continue;
		uint32_t part = 0;
		for (size_t j = i; j-- > 0 && i - j < 4096;) {
			struct flightrec_entry *e = &r->entries[j];
			if (e->group != b->group)
				continue;
			if (e->is_batch ||
			    (b->is_p2p ? e->p2p_seq != b->p2p_seq : e->collective_seq != b->collective_seq))
				break;
			e->in_batch = true;
			e->part = ++part;
			e->state = MAX(e->state, b->state);
		}
	}
}

static int fill_entries(struct filler *f, struct frtree entries)
{
	size_t n = frtree_len(entries), from = n > FLIGHTREC_ENTRIES ? n - FLIGHTREC_ENTRIES : 0;
	struct flightrec *r = f->out;
	if (n == 0)
		return 0;
	r->entries = arena_alloc(&r->arena, (n - from) * sizeof(*r->entries));
	if (!r->entries)
		return -ENOMEM;
	r->n_skipped = from;
	for (size_t i = from; i < n && !f->no_memory; i++) {
		if (entry_fill(f, frtree_at(entries, i), &r->entries[r->n_entries]))
			r->n_entries++;
		else
			r->n_skipped++;
	}
	/* The last entry of a truncated file can be incomplete, and would then look like another call. */
	if (r->cut && r->n_entries)
		r->n_entries--;
	batches(r);
	return f->no_memory ? -ENOMEM : 0;
}

static int fill(struct flightrec *r, struct frtree root, struct fault *fault)
{
	struct filler f = {.out = r};
	struct frtree entries = frtree_get(root, "entries");
	if (!frtree_is(entries) && !frtree_is(frtree_get(root, "pg_config")) && !frtree_is(frtree_get(root, "version")))
		return fault_set(fault, FLIGHTREC_FOREIGN,
				 "not a Flight Recorder dump: it has none of version, pg_config and entries");
	struct span text = SPAN("");
	if (frtree_text(frtree_get(root, "version"), &text))
		span_copy(text, r->version, sizeof(r->version));
	if (frtree_text(frtree_get(root, "comm_lib_version"), &text) ||
	    frtree_text(frtree_get(root, "nccl_version"), &text))
		span_copy(text, r->comm_lib, sizeof(r->comm_lib));
	f.group_of_id = arena_alloc(&r->arena, FLIGHTREC_GROUPS * sizeof(*f.group_of_id));
	if (!f.group_of_id)
		return -ENOMEM;
	int e = frtree_each(frtree_get(root, "pg_config"), each_group, &f);
	if (e == 0)
		e = fill_entries(&f, entries);
	return e ? e : frtree_each(frtree_get(root, "pg_status"), each_status, &f);
}

static int parse_pickle(struct span bytes, struct flightrec *r, struct fault *f)
{
	cleanup(pickle_freep) struct pickle *p = NULL;
	struct fault why = {.text = ""};
	int e = pickle_parse(bytes, NULL, &p, &why);
	if (e < 0)
		return e;
	if (!p)
		return fault_set(f, FLIGHTREC_FOREIGN, "%s", why.text);
	r->cut = e != 0;
	TEXT_COPY(r->why, why.text);
	return fill(r, (struct frtree){.pickle = pickle_root(p)}, r->cut ? NULL : f);
}

static int parse_json(struct span bytes, struct flightrec *r, struct fault *f)
{
	cleanup(jsonmend_done) struct jsonmend m = {.text = NULL};
	cleanup(js_freep) struct js *j = NULL;
	struct fault why = {.text = ""};
	int e = jsonmend_text(bytes, &m);
	if (e == -ENOMEM)
		return e;
	if (e == 0)
		e = js_parse(m.text, m.len, &j, &why);
	if (e == -ENOMEM)
		return e;
	if (e)
		return fault_set(f, FLIGHTREC_FOREIGN, "not a Flight Recorder dump: %s",
				 why.text[0] ? why.text : "its brackets do not match");
	r->cut = m.cut;
	if (m.cut)
		TEXT_FORMAT(r->why, "the JSON is cut off after %zu bytes", bytes.len);
	return fill(r, (struct frtree){.json = j}, f);
}

int flightrec_parse(struct span bytes, struct flightrec *ret, struct fault *f)
{
	struct flightrec r = {.arena = {.max_bytes = 2 * GIB}};
	struct span start = span_trim((struct span){bytes.p, MIN(bytes.len, (size_t)64)});
	int e;
	if (bytes.len == 0)
		e = fault_set(f, FLIGHTREC_FOREIGN,
			      "the file is empty: its writer died before it wrote, or the disk is full");
	else if (bytes.p[0] == '\x80')
		e = parse_pickle(bytes, &r, f);
	else if (start.len && start.p[0] == '{')
		e = parse_json(bytes, &r, f);
	else
		e = fault_set(
			f, FLIGHTREC_FOREIGN,
			"not a Flight Recorder dump: neither a pickle (first byte 0x80) nor JSON (first byte '{')");
	/* A dump that is cut before its first entry still shows that the rank wrote one. */
	if (e == FLIGHTREC_FOREIGN && r.cut)
		e = 0;
	if (e) {
		flightrec_done(&r);
		return e;
	}
	*ret = r;
	return 0;
}

int flightrec_read(const struct foreign_place *at, const char *path, struct flightrec *ret, struct fault *f)
{
	cleanup(freep) char *bytes = NULL;
	size_t len = 0;
	cleanup(closep) int fd = -1;
	int r = foreign_open_own(at, path, &fd);
	if (r == 0)
		r = file_slurp_fd(fd, FLIGHTREC_FILE_MAX, &bytes, &len);
	if (r == FOREIGN_OTHER)
		return fault_set(f, FLIGHTREC_FOREIGN, "%s: it is no regular file, or another user's", path);
	if (r == -ENOENT || r == -ENOTDIR)
		return fault_set(f, FLIGHTREC_NONE, "%s: there is no such file", path);
	if (r < 0)
		return fault_set(f, r, "%s: cannot be read: %s", path, strerror(-r));
	struct fault why = {.text = ""};
	r = flightrec_parse((struct span){bytes, len}, ret, &why);
	if (r > 0)
		return fault_set(f, r, "%s: %s", path, why.text);
	return r;
}

void flightrec_done(struct flightrec *r)
{
	arena_done(&r->arena);
	*r = (struct flightrec){.groups = NULL};
}
