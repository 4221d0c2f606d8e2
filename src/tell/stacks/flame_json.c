#include "tell/stacks/flame_parts.h"

static void put_key(struct sink *k, const char *key)
{
	sink_json(k, key);
	sink_text(k, ":");
}

/* JSON readers, vigil's included, take whole numbers up to 2^63 - 1. */
static void put_u64(struct sink *k, const char *key, uint64_t v)
{
	sink_text(k, ",");
	put_key(k, key);
	sink_u64(k, MIN(v, (uint64_t)INT64_MAX));
}

/* Values that do not apply are absent. */
static void put_u64_if(struct sink *k, const char *key, uint64_t v)
{
	if (v > 0)
		put_u64(k, key, v);
}

static void put_text_if(struct sink *k, const char *key, const char *text)
{
	if (!*text)
		return;
	sink_text(k, ",");
	put_key(k, key);
	sink_json(k, text);
}

static void put_double_if(struct sink *k, const char *key, double v)
{
	if (!(v > 0))
		return;
	sink_text(k, ",");
	put_key(k, key);
	sink_double(k, v, 9);
}

static void put_bool_if(struct sink *k, const char *key, bool v)
{
	if (!v)
		return;
	sink_text(k, ",");
	put_key(k, key);
	sink_text(k, "true");
}

void flame_put_meta(struct sink *k, const struct stackset_meta *m)
{
	put_key(k, "samples");
	sink_u64(k, MIN(m->samples, (uint64_t)INT64_MAX));
	if (m->unit == STACK_BYTES)
		put_text_if(k, "unit", "bytes");
	put_u64_if(k, "period_bytes", m->period_bytes);
	put_text_if(k, "title", m->title);
	put_text_if(k, "node", m->node);
	put_u64_if(k, "start_unix_ms", m->start_unix_ms > 0 ? (uint64_t)m->start_unix_ms : 0);
	put_u64_if(k, "duration_ns", m->duration_ns);
	put_double_if(k, "rate_hz", m->rate_hz);
	put_double_if(k, "rate_got_hz", m->rate_got_hz);
	put_u64(k, "dropped", m->dropped);
	put_u64_if(k, "shortened", m->shortened);
	put_u64(k, "unproved", m->unproved);
	put_u64(k, "late", m->late);
	put_u64_if(k, "merged", m->merged);
	put_u64_if(k, "approximate", m->approximate);
	put_u64_if(k, "native_missing", m->native_missing);
	put_u64_if(k, "incomplete", m->incomplete);
	put_u64_if(k, "pauses", m->pauses);
	put_u64_if(k, "pauses_caught", m->pauses_caught);
	put_u64_if(k, "pause_ns_max", m->pause_ns_max);
	put_u64_if(k, "pause_ns_median", m->pause_ns_median);
	put_u64_if(k, "pause_ns_sum", m->pause_ns_sum);
	if (m->has_wrong_ratio) {
		sink_text(k, ",");
		put_key(k, "wrong_ratio");
		sink_double(k, m->wrong_ratio, 12);
		sink_text(k, ",");
		put_key(k, "moved_ratio");
		sink_double(k, m->moved_ratio, 12);
	}
	put_bool_if(k, "native", m->native);
	put_bool_if(k, "idle", m->idle);
	put_bool_if(k, "gil_only", m->gil_only);
	put_bool_if(k, "interrupted", m->interrupted);
	put_text_if(k, "missing", m->missing);
}

void flame_put_lanes(struct sink *k, const struct stackset *s)
{
	size_t n;
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	sink_text(k, "[");
	for (size_t i = 0; i < n; i++) {
		sink_text(k, i ? ",\n{" : "{");
		put_key(k, "pid");
		sink_i64(k, lanes[i].pid);
		put_u64_if(k, "tid", lanes[i].tid > 0 ? (uint64_t)lanes[i].tid : 0);
		if (lanes[i].rank >= 0)
			put_u64(k, "rank", (uint64_t)lanes[i].rank);
		put_text_if(k, "role", lanes[i].role);
		put_text_if(k, "process", lanes[i].process);
		put_text_if(k, "thread", lanes[i].thread);
		sink_text(k, "}");
	}
	sink_text(k, "]");
}

static void flame_json_put_frames(struct sink *k, const struct stackset *s, size_t n)
{
	sink_text(k, "[");
	for (uint32_t i = 0; i < n; i++) {
		const struct frame *f = stackset_frame(s, i);
		sink_text(k, i ? ",\n{" : "{");
		put_key(k, "kind");
		sink_json(k, frame_kind_name(f->kind));
		put_text_if(k, "name", f->name);
		put_text_if(k, "file", f->file);
		put_text_if(k, "module", f->module);
		put_u64_if(k, "line", f->line > 0 ? (uint64_t)f->line : 0);
		put_u64_if(k, "first_line", f->first_line > 0 ? (uint64_t)f->first_line : 0);
		sink_text(k, "}");
	}
	sink_text(k, "]");
}

/* The count ends after the last frame that a node names. */
static size_t frames_used(const struct stackset *s)
{
	size_t n, used = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++)
		if (nodes[i].parent != i)
			used = MAX(used, (size_t)nodes[i].frame + 1);
	return used;
}

static void put_place(struct sink *k, const struct stack_node *n, size_t i)
{
	if (n->parent == i) {
		put_key(k, "lane");
		sink_u64(k, n->lane);
		return;
	}
	put_key(k, "parent");
	sink_u64(k, n->parent);
	put_u64(k, "frame", n->frame);
}

static void put_node(struct sink *k, const struct stack_node *n, size_t i)
{
	static const char *const ns[] = {"running_ns", "idle_ns", "gil_wait_ns"};
	static const char *const samples[] = {"running", "idle", "gil_wait"};
	sink_text(k, i ? ",\n{" : "{");
	put_place(k, n, i);
	for (size_t state = 0; state < SAMPLE_STATE_MAX; state++) {
		put_u64_if(k, samples[state], n->self_samples[state]);
		put_u64_if(k, ns[state], n->self_weight[state]);
	}
	put_u64_if(k, "gil_ns", n->gil_weight);
	sink_text(k, "}");
}

int flame_json_write(const struct stackset *s, FILE *to)
{
	struct sink k;
	size_t n;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	sink_open(&k, to);
	sink_text(&k, "{\"schema\":\"vigil.flame/1\",\n\"meta\":{");
	flame_put_meta(&k, stackset_meta_of(s));
	sink_text(&k, "},\n\"lanes\":");
	flame_put_lanes(&k, s);
	sink_text(&k, ",\n\"frames\":");
	flame_json_put_frames(&k, s, frames_used(s));
	sink_text(&k, ",\n\"nodes\":[");
	for (size_t i = 0; i < n && k.r == 0; i++)
		put_node(&k, &nodes[i], i);
	sink_text(&k, "]}\n");
	return sink_close(&k);
}

int flame_json_diff(const struct flame_pair *p, FILE *to)
{
	struct sink k;
	size_t n;
	const struct stack_node *nodes = stackset_nodes(p->both, &n);
	sink_open(&k, to);
	sink_text(&k, "{\"schema\":\"vigil.flame_diff/1\",\n\"a\":{");
	flame_put_meta(&k, stackset_meta_of(p->a));
	sink_text(&k, "},\n\"b\":{");
	flame_put_meta(&k, stackset_meta_of(p->b));
	sink_text(&k, "},\n\"frames\":");
	flame_json_put_frames(&k, p->both, frames_used(p->both));
	sink_text(&k, ",\n\"nodes\":[");
	for (size_t i = 0; i < n && k.r == 0; i++) {
		sink_text(&k, i ? ",\n{" : "{");
		put_place(&k, &nodes[i], i);
		put_u64_if(&k, "a_samples", p->rows[i].a_samples);
		put_u64_if(&k, "b_samples", p->rows[i].b_samples);
		put_u64_if(&k, "a_ns", p->rows[i].a_weight);
		put_u64_if(&k, "b_ns", p->rows[i].b_weight);
		sink_text(&k, "}");
	}
	sink_text(&k, "]}\n");
	return sink_close(&k);
}
