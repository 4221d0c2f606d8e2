#include "model/stacks/stackset_parts.h"

#include <string.h>

#include "base/buf.h"

struct view {
	const struct stackset *from;
	const struct stack_node *nodes;
	size_t n_nodes;
	const struct stack_lane *lanes;
	size_t n_lanes;
	const struct stack_want *want;
	bool gil, idle; /* the wish as applied: widened if it selects nothing */
	struct stackset *to;
	uint32_t root;
	uint32_t *map; /* for each node of `from`, the node of `to` */
	uint32_t *frames; /* for each frame of `from`, the frame of `to` + 1; 0: not yet copied */
	bool *wanted; /* for each node of `from`: the node or one below it is shown */
};

static void view_done(struct view *v)
{
	stackset_free(v->to);
	free(v->map);
	free(v->frames);
	free(v->wanted);
}

/* The part of a node that held the GIL, as running. The number of its samples follows its ratio of the weight. */
static struct stack_node gil_part(const struct stack_node *n)
{
	struct stack_node part = {0};
	uint64_t ns = stack_node_weight(n), samples = stack_node_samples(n);
	part.self_weight[SAMPLE_RUNNING] = part.gil_weight = n->gil_weight;
	if (n->gil_weight > 0 && ns > 0)
		part.self_samples[SAMPLE_RUNNING] =
			MAX((uint64_t)((double)samples * (double)n->gil_weight / (double)ns + 0.5), 1);
	return part;
}

static struct stack_node part_of(const struct view *v, const struct stack_node *n)
{
	if (v->gil)
		return gil_part(n);
	struct stack_node part = {0};
	stack_node_add(&part, n);
	for (size_t i = 0; !v->idle && i < SAMPLE_STATE_MAX; i++)
		if (i != SAMPLE_RUNNING)
			part.self_weight[i] = part.self_samples[i] = 0;
	return part;
}

static bool lane_wanted(const struct view *v, uint32_t lane)
{
	return !v->want->has_rank || v->lanes[lane].rank == v->want->rank;
}

/* Marks the nodes to show; true if there are any. */
static bool mark(struct view *v)
{
	bool any = false;
	memset(v->wanted, 0, v->n_nodes);
	for (size_t i = v->n_nodes; i > 0; i--) {
		const struct stack_node *n = &v->nodes[i - 1];
		struct stack_node part = part_of(v, n);
		if (lane_wanted(v, n->lane) && (stack_node_weight(&part) > 0 || stack_node_samples(&part) > 0))
			v->wanted[i - 1] = any = true;
		if (v->wanted[i - 1])
			v->wanted[n->parent] = true;
	}
	return any;
}

/* Writes "rank 3", "rank 3 loader 812", "python train.py (pid 800)" or "rank 3 MainThread 800". */
static void lane_name(const struct stack_lane *l, enum stack_lanes lanes, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	bool helper = l->role[0] && strcmp(l->role, "main") != 0;
	buf_reset(&b);
	if (l->rank != NO_RANK)
		buf_printf(&b, "rank %d", l->rank);
	if (helper)
		buf_printf(&b, "%s%s %d", b.len ? " " : "", l->role, l->pid);
	if (lanes == LANES_RANK && b.len > 0)
		return;
	if (lanes == LANES_THREAD && l->tid > 0) {
		buf_printf(&b, "%s%s %d", b.len ? " " : "", l->thread[0] ? l->thread : "thread", l->tid);
		if (b.len > 0 && l->rank == NO_RANK && !helper)
			buf_printf(&b, " of pid %d", l->pid);
	} else if (!helper) {
		buf_printf(&b, "%s%s (pid %d)", b.len ? " " : "", l->process[0] ? l->process : "process", l->pid);
	}
}

static int lane_node(struct view *v, uint32_t lane, uint32_t *ret)
{
	char name[200];
	const struct frame note = {.kind = FRAME_NOTE, .name = name, .file = "", .module = ""};
	if (v->want->keep_lanes) {
		uint32_t kept;
		int r = stackset_lane(v->to, &v->lanes[lane], &kept);
		if (r == 0)
			*ret = stackset_root(v->to, kept);
		return r;
	}
	if (v->want->lanes == LANES_ALL) {
		*ret = v->root;
		return 0;
	}
	lane_name(&v->lanes[lane], v->want->lanes, name, sizeof(name));
	uint32_t id;
	int r = frametab_intern(stackset_frames(v->to), &note, &id);
	return r < 0 ? r : stackset_child(v->to, v->root, id, ret);
}

static int view_frame(struct view *v, uint32_t id, uint32_t *ret)
{
	if (v->frames[id] == 0) {
		struct frame f = *stackset_frame(v->from, id);
		if (!v->want->lines)
			f.line = 0;
		uint32_t made;
		int r = frametab_intern(stackset_frames(v->to), &f, &made);
		if (r < 0)
			return r;
		v->frames[id] = made + 1;
	}
	*ret = v->frames[id] - 1;
	return 0;
}

static int view_node(struct view *v, uint32_t i)
{
	const struct stack_node *n = &v->nodes[i];
	uint32_t frame = 0;
	int r = n->parent == i ? lane_node(v, n->lane, &v->map[i]) : view_frame(v, n->frame, &frame);
	if (r == 0 && n->parent != i)
		r = stackset_child(v->to, v->map[n->parent], frame, &v->map[i]);
	if (r < 0)
		return r;
	struct stack_node part = part_of(v, n);
	stack_node_add(stackset_node(v->to, v->map[i]), &part);
	return 0;
}

static int view_prepare(struct view *v)
{
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane;
	size_t n_frames = 0;
	for (size_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i].parent != i)
			n_frames = MAX(n_frames, (size_t)v->nodes[i].frame + 1);
	v->map = calloc(v->n_nodes + 1, sizeof(*v->map));
	v->frames = calloc(n_frames + 1, sizeof(*v->frames));
	v->wanted = calloc(v->n_nodes + 1, sizeof(*v->wanted));
	v->to = stackset_new();
	if (!v->map || !v->frames || !v->wanted || !v->to)
		return -ENOMEM;
	if (v->want->keep_lanes)
		return 0;
	int r = stackset_lane(v->to, &all, &lane);
	if (r == 0)
		v->root = stackset_root(v->to, lane);
	return r;
}

/* Puts all stacks below a frame that says that they are not what was asked for. */
static int note_widened(struct view *v)
{
	const struct frame note = {.kind = FRAME_NOTE,
				   .name = v->want->gil && !v->gil ? "[nothing held the GIL]" : "[nothing ran]",
				   .file = "",
				   .module = ""};
	uint32_t id;
	if (v->gil == v->want->gil && v->idle == v->want->idle)
		return 0;
	int r = frametab_intern(stackset_frames(v->to), &note, &id);
	return r < 0 ? r : stackset_child(v->to, v->root, id, &v->root);
}

int stackset_view(const struct stackset *s, const struct stack_want *want, struct stackset **ret, bool *ret_only_idle)
{
	cleanup(view_done) struct view v = {.from = s, .want = want, .gil = want->gil, .idle = want->idle};
	v.nodes = stackset_nodes(s, &v.n_nodes);
	v.lanes = stackset_lanes(s, &v.n_lanes);
	int r = view_prepare(&v);
	if (r < 0)
		return r;
	bool only_idle = false;
	bool any = mark(&v);
	if (!any && v.gil) {
		v.gil = false;
		any = mark(&v);
	}
	if (!any && !v.idle) {
		v.idle = true;
		only_idle = mark(&v);
	}
	if (want->note_widened && !want->keep_lanes)
		r = note_widened(&v);
	for (size_t i = 0; i < v.n_nodes && r == 0; i++) {
		r = v.wanted[i] ? view_node(&v, (uint32_t)i) : 0;
		if (r < 0)
			return r;
	}
	*stackset_meta(v.to) = *stackset_meta_of(s);
	stackset_meta(v.to)->idle = v.idle;
	stackset_meta(v.to)->gil_only = v.gil;
	*ret = take(&v.to);
	*ret_only_idle = only_idle;
	return 0;
}
