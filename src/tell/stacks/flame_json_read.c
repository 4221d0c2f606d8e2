#include "tell/stacks/flame_parts.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define SAFE_MS (INT64_C(1) << 52) /* times beyond the year 140000 are implausible */

struct reading {
	struct stackset *to;
	struct js *j; /* owned */
	uint32_t *lanes; /* number in the file: root in `to` */
	uint32_t *frames; /* … frame in `to` */
	uint32_t *nodes; /* … node in `to` */
	size_t n_lanes, n_frames, n_nodes;
	struct fault *fault;
};

static void reading_done(struct reading *r)
{
	js_free(r->j);
	free(r->lanes);
	free(r->frames);
	free(r->nodes);
}

static uint64_t flame_json_read_u64(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), 0);
}

static double get_ratio(const struct js *o, const char *key)
{
	double v = js_get_double(o, key, 0);
	return isfinite(v) && v > 0 ? v : 0;
}

static void read_meta(const struct js *o, struct stackset_meta *m)
{
	m->unit = strcmp(js_get_text(o, "unit", ""), "bytes") == 0 ? STACK_BYTES : STACK_TIME;
	m->period_bytes = flame_json_read_u64(o, "period_bytes");
	TEXT_COPY(m->title, js_get_text(o, "title", ""));
	TEXT_COPY(m->node, js_get_text(o, "node", ""));
	m->start_unix_ms = (int64_t)MIN(flame_json_read_u64(o, "start_unix_ms"), (uint64_t)SAFE_MS);
	m->duration_ns = flame_json_read_u64(o, "duration_ns");
	m->rate_hz = get_ratio(o, "rate_hz");
	m->rate_got_hz = get_ratio(o, "rate_got_hz");
	m->samples = flame_json_read_u64(o, "samples");
	m->dropped = flame_json_read_u64(o, "dropped");
	m->unproved = flame_json_read_u64(o, "unproved");
	m->late = flame_json_read_u64(o, "late");
	m->merged = flame_json_read_u64(o, "merged");
	m->approximate = flame_json_read_u64(o, "approximate");
	m->native_missing = flame_json_read_u64(o, "native_missing");
	m->incomplete = flame_json_read_u64(o, "incomplete");
	m->pauses = flame_json_read_u64(o, "pauses");
	m->pauses_caught = flame_json_read_u64(o, "pauses_caught");
	m->pause_ns_max = flame_json_read_u64(o, "pause_ns_max");
	m->pause_ns_median = flame_json_read_u64(o, "pause_ns_median");
	m->pause_ns_sum = flame_json_read_u64(o, "pause_ns_sum");
	m->has_wrong_ratio = js_get(o, "wrong_ratio") != NULL;
	m->wrong_ratio = get_ratio(o, "wrong_ratio");
	m->moved_ratio = get_ratio(o, "moved_ratio");
	m->shortened = flame_json_read_u64(o, "shortened");
	m->native = js_get_bool(o, "native", false);
	m->idle = js_get_bool(o, "idle", false);
	TEXT_COPY(m->missing, js_get_text(o, "missing", ""));
	m->gil_only = js_get_bool(o, "gil_only", false);
	m->interrupted = js_get_bool(o, "interrupted", false);
}

static int32_t get_i32(const struct js *o, const char *key, int32_t fallback)
{
	int64_t v = js_get_i64(o, key, fallback);
	return v >= 0 && v <= INT32_MAX ? (int32_t)v : fallback;
}

static int read_lane(struct reading *rd, const struct js *o, uint32_t *ret)
{
	struct stack_lane l = {
		.pid = get_i32(o, "pid", 0), .tid = get_i32(o, "tid", 0), .rank = get_i32(o, "rank", NO_RANK)};
	TEXT_COPY(l.role, js_get_text(o, "role", ""));
	TEXT_COPY(l.process, js_get_text(o, "process", ""));
	TEXT_COPY(l.thread, js_get_text(o, "thread", ""));
	uint32_t lane;
	/* not looked up by number: a recording of several nodes has the same numbers more than once */
	int r = stackset_lane_new(rd->to, &l, &lane);
	if (r == 0)
		*ret = stackset_root(rd->to, lane);
	return r;
}

int flame_frame_read(const struct js *o, struct stackset *to, uint32_t *ret)
{
	const char *kind = js_get_text(o, "kind", "native");
	struct frame f = {
		.kind = FRAME_NATIVE, .line = get_i32(o, "line", 0), .first_line = get_i32(o, "first_line", 0)};
	for (enum frame_kind k = 0; k < FRAME_KIND_MAX; k++)
		if (strcmp(kind, frame_kind_name(k)) == 0)
			f.kind = k;
	f.name = js_get_text(o, "name", "");
	f.file = js_get_text(o, "file", "");
	f.module = js_get_text(o, "module", "");
	return frametab_intern(stackset_frames(to), &f, ret);
}

static int bad_node(struct reading *rd, size_t i, const char *what)
{
	return fault_set(rd->fault, -EBADMSG, "node %zu names %s that does not stand before it", i, what);
}

static int read_node(struct reading *rd, const struct js *o, size_t i)
{
	int64_t parent = js_get_i64(o, "parent", -1);
	if (parent < 0) {
		int64_t lane = js_get_i64(o, "lane", -1);
		if (lane < 0 || (uint64_t)lane >= rd->n_lanes)
			return bad_node(rd, i, "a lane");
		rd->nodes[i] = rd->lanes[lane];
	} else {
		int64_t frame = js_get_i64(o, "frame", -1);
		if ((uint64_t)parent >= i)
			return bad_node(rd, i, "a parent");
		if (frame < 0 || (uint64_t)frame >= rd->n_frames)
			return bad_node(rd, i, "a frame");
		int r = stackset_child(rd->to, rd->nodes[parent], rd->frames[frame], &rd->nodes[i]);
		if (r < 0)
			return r;
	}
	const struct stack_node add = {
		.self_weight = {flame_json_read_u64(o, "running_ns"), flame_json_read_u64(o, "idle_ns"),
				flame_json_read_u64(o, "gil_wait_ns")},
		.self_samples = {flame_json_read_u64(o, "running"), flame_json_read_u64(o, "idle"),
				 flame_json_read_u64(o, "gil_wait")},
		.gil_weight = flame_json_read_u64(o, "gil_ns"),
	};
	stack_node_add(stackset_node(rd->to, rd->nodes[i]), &add);
	return 0;
}

static int read_lists(struct reading *rd)
{
	const struct js *lanes = js_get(rd->j, "lanes"), *frames = js_get(rd->j, "frames"),
			*nodes = js_get(rd->j, "nodes");
	rd->n_lanes = js_len(lanes);
	rd->n_frames = js_len(frames);
	rd->n_nodes = js_len(nodes);
	rd->lanes = calloc(rd->n_lanes + 1, sizeof(*rd->lanes));
	rd->frames = calloc(rd->n_frames + 1, sizeof(*rd->frames));
	rd->nodes = calloc(rd->n_nodes + 1, sizeof(*rd->nodes));
	if (!rd->lanes || !rd->frames || !rd->nodes)
		return -ENOMEM;
	int r = 0;
	for (size_t i = 0; i < rd->n_lanes && r == 0; i++)
		r = read_lane(rd, js_at(lanes, i), &rd->lanes[i]);
	for (size_t i = 0; i < rd->n_frames && r == 0; i++)
		r = flame_frame_read(js_at(frames, i), rd->to, &rd->frames[i]);
	for (size_t i = 0; i < rd->n_nodes && r == 0; i++)
		r = read_node(rd, js_at(nodes, i), i);
	return r;
}

int flame_json_read(struct span text, struct stackset *to, struct fault *f)
{
	cleanup(reading_done) struct reading rd = {.to = to, .fault = f};
	int r = js_parse(text.p, text.len, &rd.j, f);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return -EBADMSG;
	const char *schema = js_get_text(rd.j, "schema", "");
	if (strcmp(schema, "vigil.heap/1") == 0)
		return flame_heap_read(rd.j, to);
	if (strcmp(schema, "vigil.stacks/1") == 0)
		return flame_stacks_read(rd.j, to);
	if (strcmp(schema, "vigil.flame/1") != 0)
		return fault_set(f, -EBADMSG,
				 "this is not a recording: its schema is '%.60s', expected 'vigil.flame/1', "
				 "'vigil.heap/1' or 'vigil.stacks/1'", schema);
	read_meta(js_get(rd.j, "meta"), stackset_meta(to));
	return read_lists(&rd);
}
