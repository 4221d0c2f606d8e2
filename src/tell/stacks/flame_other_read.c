#include "tell/stacks/flame_parts.h"

#include <string.h>

#include "base/buf.h"

static uint64_t other_u64(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), INT64_C(0));
}

/* frames: the innermost first. */
static int stack_take(struct stackset *to, uint32_t root, const struct js *frames, const struct stack_node *add)
{
	uint32_t node = root, frame;
	for (size_t i = js_len(frames); i-- > 0;) {
		int r = flame_frame_read(js_at(frames, i), to, &frame);
		r = r < 0 ? r : stackset_child(to, node, frame, &node);
		if (r < 0)
			return r;
	}
	stack_node_add(stackset_node(to, node), add);
	return 0;
}

/* ---- vigil.heap/1 ---- */

int flame_heap_read(const struct js *j, struct stackset *to)
{
	struct stackset_meta *m = stackset_meta(to);
	const struct js *stacks = js_get(j, "stacks");
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane;
	m->unit = STACK_BYTES;
	m->samples = other_u64(js_get(j, "total"), "samples");
	m->period_bytes = other_u64(js_at(js_get(j, "processes"), 0), "rate_bytes");
	TEXT_FORMAT(m->title, "Memory (%.20s) of %.150s", js_get_text(j, "what", "live"),
		    js_get_text(j, "title", "a job"));
	int r = stackset_lane_new(to, &all, &lane);
	for (size_t i = 0; r == 0 && i < js_len(stacks); i++) {
		const struct js *one = js_at(stacks, i);
		const struct stack_node add = {.self_weight = {[SAMPLE_RUNNING] = other_u64(one, "bytes")},
					       .self_samples = {[SAMPLE_RUNNING] = other_u64(one, "objects")}};
		r = stack_take(to, stackset_root(to, lane), js_get(one, "frames"), &add);
	}
	return r;
}

/* ---- vigil.stacks/1 ---- */

static int thread_take(struct stackset *to, const struct js *process, const struct js *thread)
{
	/* it was looked at once, so each thread is one sample, and its width no time */
	static const struct stack_node once = {.self_weight = {[SAMPLE_RUNNING] = 1},
					       .self_samples = {[SAMPLE_RUNNING] = 1}};
	struct stack_lane l = {.pid = (pid_t)MIN(other_u64(process, "pid"), (uint64_t)INT32_MAX),
			       .tid = (pid_t)MIN(other_u64(thread, "tid"), (uint64_t)INT32_MAX)};
	const int64_t rank = js_get_i64(process, "rank", NO_RANK);
	uint32_t lane;
	l.rank = rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : NO_RANK;
	TEXT_COPY(l.role, js_get_text(process, "role", ""));
	TEXT_COPY(l.process, js_get_text(process, "name", ""));
	TEXT_COPY(l.thread, js_get_text(thread, "name", ""));
	if (js_len(js_get(thread, "frames")) == 0)
		return 0;
	int r = stackset_lane_new(to, &l, &lane);
	if (r == 0)
		r = stack_take(to, stackset_root(to, lane), js_get(thread, "frames"), &once);
	stackset_meta(to)->samples += r == 0;
	return r;
}

int flame_stacks_read(const struct js *j, struct stackset *to)
{
	const struct js *processes = js_get(j, "processes");
	struct stackset_meta *m = stackset_meta(to);
	int r = 0;
	m->start_unix_ms = (int64_t)MIN(other_u64(j, "captured_unix_ms"), UINT64_C(1) << 52);
	TEXT_COPY(m->title, "Where each thread stood");
	for (size_t i = 0; r == 0 && i < js_len(processes); i++) {
		const struct js *p = js_at(processes, i), *threads = js_get(p, "threads");
		for (size_t k = 0; r == 0 && k < js_len(threads); k++)
			r = thread_take(to, p, js_at(threads, k));
	}
	return r;
}
