#include "model/stacks/stackset_parts.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

/*
 * Children are found by a hash of (parent, frame). A slot holds the node's index and a part of its hash, so that most
 * look-ups read only the node they find. At most half of the slots are in use.
 */
struct slot {
	uint32_t node; /* 0: empty, node 0 is a root */
	uint32_t tag;
};

/* The path of the lane's last sample, root first. The next sample mostly begins with the same frames. */
struct last {
	uint32_t *frames, *nodes;
	size_t n, cap;
};

struct lane_more {
	uint32_t root;
	struct last last;
};

struct stackset {
	struct frametab *frames;
	struct stackset_meta meta;
	struct stack_node *nodes;
	uint32_t *last_child; /* of each node; new children are appended after it */
	size_t n_nodes, cap_nodes;
	struct stack_lane *lanes;
	struct lane_more *more;
	size_t n_lanes, cap_lanes;
	struct slot *slots;
	size_t n_slots;
	uint32_t *lane_slots; /* lane + 1, by (pid, tid) */
	size_t n_lane_slots;
};

struct stackset *stackset_new(void)
{
	struct stackset *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->frames = frametab_new();
	return s->frames ? s : stackset_free(s);
}

struct stackset *stackset_free(struct stackset *s)
{
	if (!s)
		return NULL;
	frametab_free(s->frames);
	for (size_t i = 0; i < s->n_lanes; i++) {
		free(s->more[i].last.frames);
		free(s->more[i].last.nodes);
	}
	free(s->nodes);
	free(s->last_child);
	free(s->lanes);
	free(s->more);
	free(s->slots);
	free(s->lane_slots);
	free(s);
	return NULL;
}

struct frametab *stackset_frames(struct stackset *s)
{
	return s->frames;
}

struct stackset_meta *stackset_meta(struct stackset *s)
{
	return &s->meta;
}

const struct stackset_meta *stackset_meta_of(const struct stackset *s)
{
	return &s->meta;
}

const struct stack_node *stackset_nodes(const struct stackset *s, size_t *ret_n)
{
	*ret_n = s->n_nodes;
	return s->nodes;
}

const struct stack_lane *stackset_lanes(const struct stackset *s, size_t *ret_n)
{
	*ret_n = s->n_lanes;
	return s->lanes;
}

const struct frame *stackset_frame(const struct stackset *s, uint32_t id)
{
	return frametab_at(s->frames, id);
}

uint32_t stackset_root(const struct stackset *s, uint32_t lane)
{
	assert(lane < s->n_lanes);
	return s->more[lane].root;
}

struct stack_node *stackset_node(struct stackset *s, uint32_t node)
{
	assert(node < s->n_nodes);
	return &s->nodes[node];
}

uint64_t stack_node_weight(const struct stack_node *n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < SAMPLE_STATE_MAX; i++)
		sum = add_cap(sum, n->self_weight[i]);
	return sum;
}

uint64_t stack_node_samples(const struct stack_node *n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < SAMPLE_STATE_MAX; i++)
		sum = add_cap(sum, n->self_samples[i]);
	return sum;
}

void stack_node_add(struct stack_node *to, const struct stack_node *from)
{
	for (size_t i = 0; i < SAMPLE_STATE_MAX; i++) {
		to->self_weight[i] = add_cap(to->self_weight[i], from->self_weight[i]);
		to->self_samples[i] = add_cap(to->self_samples[i], from->self_samples[i]);
	}
	to->gil_weight = add_cap(to->gil_weight, from->gil_weight);
}

static uint64_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_mix((uint64_t)a << 32 | b);
}

/* The upper half of the hash selects the slot; the lower half is the tag, which is thus independent of it. */
static size_t slot_of(uint64_t h, size_t n_slots)
{
	return (size_t)(h >> 32) & (n_slots - 1);
}

static int grow_slots(struct stackset *s)
{
	size_t n = s->n_slots ? s->n_slots * 2 : 1024;
	struct slot *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct stack_node *node = &s->nodes[i];
		if (node->parent == i)
			continue;
		uint64_t h = hash_pair(node->parent, node->frame);
		size_t at = slot_of(h, n);
		while (slots[at].node)
			at = (at + 1) & (n - 1);
		slots[at] = (struct slot){(uint32_t)i, (uint32_t)h};
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return 0;
}

static int grow_nodes(struct stackset *s)
{
	/* grows by half, not to double, to waste less memory on large recordings */
	size_t cap = s->cap_nodes ? s->cap_nodes + s->cap_nodes / 2 : 256;
	cap = MIN(cap, (size_t)UINT32_MAX);
	if (cap <= s->n_nodes)
		return -ENOMEM;
	struct stack_node *nodes = reallocarray(s->nodes, cap, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	s->nodes = nodes;
	uint32_t *last = reallocarray(s->last_child, cap, sizeof(*last));
	if (!last)
		return -ENOMEM;
	s->last_child = last;
	s->cap_nodes = cap;
	return 0;
}

static int node_new(struct stackset *s, const struct stack_node *like, uint32_t *ret)
{
	int r = s->n_nodes == s->cap_nodes ? grow_nodes(s) : 0;
	if (r < 0)
		return r;
	*ret = (uint32_t)s->n_nodes++;
	s->nodes[*ret] = *like;
	s->last_child[*ret] = 0;
	return 0;
}

static int child_new(struct stackset *s, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	const struct stack_node like = {.parent = parent, .lane = s->nodes[parent].lane, .frame = frame};
	int r = node_new(s, &like, ret);
	if (r < 0)
		return r;
	if (s->last_child[parent])
		s->nodes[s->last_child[parent]].next_sibling = *ret;
	else
		s->nodes[parent].first_child = *ret;
	s->last_child[parent] = *ret;
	return 0;
}

int stackset_child(struct stackset *s, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	int r = s->n_nodes * 2 >= s->n_slots ? grow_slots(s) : 0;
	if (r < 0)
		return r;
	uint64_t h = hash_pair(parent, frame);
	uint32_t tag = (uint32_t)h;
	size_t at = slot_of(h, s->n_slots);
	for (; s->slots[at].node; at = (at + 1) & (s->n_slots - 1)) {
		if (s->slots[at].tag != tag)
			continue;
		const struct stack_node *node = &s->nodes[s->slots[at].node];
		if (node->parent == parent && node->frame == frame) {
			*ret = s->slots[at].node;
			return 0;
		}
	}
	uint32_t made;
	r = child_new(s, parent, frame, &made);
	if (r < 0)
		return r;
	s->slots[at] = (struct slot){made, tag};
	*ret = made;
	return 0;
}

static int grow_lane_slots(struct stackset *s)
{
	size_t n = s->n_lane_slots ? s->n_lane_slots * 2 : 64;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_lanes; i++) {
		size_t at = slot_of(hash_pair((uint32_t)s->lanes[i].pid, (uint32_t)s->lanes[i].tid), n);
		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(s->lane_slots);
	s->lane_slots = slots;
	s->n_lane_slots = n;
	return 0;
}

static int grow_lanes(struct stackset *s)
{
	size_t cap = s->cap_lanes ? s->cap_lanes * 2 : 16;
	struct stack_lane *lanes = reallocarray(s->lanes, cap, sizeof(*lanes));
	if (!lanes)
		return -ENOMEM;
	s->lanes = lanes;
	struct lane_more *more = reallocarray(s->more, cap, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->more = more;
	s->cap_lanes = cap;
	return 0;
}

int stackset_lane_new(struct stackset *s, const struct stack_lane *lane, uint32_t *ret)
{
	int r = s->n_lanes == s->cap_lanes ? grow_lanes(s) : 0;
	if (r < 0)
		return r;
	if (s->n_lanes * 2 >= s->n_lane_slots && (r = grow_lane_slots(s)) < 0)
		return r;
	uint32_t id = (uint32_t)s->n_lanes;
	const struct stack_node like = {.parent = (uint32_t)s->n_nodes, .lane = id, .frame = UINT32_MAX};
	uint32_t root;
	r = node_new(s, &like, &root);
	if (r < 0)
		return r;
	s->lanes[id] = *lane;
	s->more[id] = (struct lane_more){.root = root};
	size_t at = slot_of(hash_pair((uint32_t)lane->pid, (uint32_t)lane->tid), s->n_lane_slots);
	while (s->lane_slots[at])
		at = (at + 1) & (s->n_lane_slots - 1);
	s->lane_slots[at] = id + 1;
	s->n_lanes++;
	*ret = id;
	return 0;
}

int stackset_lane(struct stackset *s, const struct stack_lane *lane, uint32_t *ret)
{
	if (s->n_lane_slots > 0) {
		size_t at = slot_of(hash_pair((uint32_t)lane->pid, (uint32_t)lane->tid), s->n_lane_slots);
		for (; s->lane_slots[at]; at = (at + 1) & (s->n_lane_slots - 1)) {
			uint32_t id = s->lane_slots[at] - 1;
			if (s->lanes[id].pid == lane->pid && s->lanes[id].tid == lane->tid) {
				s->lanes[id] = *lane;
				*ret = id;
				return 0;
			}
		}
	}
	return stackset_lane_new(s, lane, ret);
}

static int last_reserve(struct last *l, size_t n)
{
	if (n <= l->cap)
		return 0;
	size_t cap = MAX(n, l->cap * 2);
	uint32_t *frames = reallocarray(l->frames, cap, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	l->frames = frames;
	uint32_t *nodes = reallocarray(l->nodes, cap, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	l->nodes = nodes;
	l->cap = cap;
	return 0;
}

int stackset_add(struct stackset *s, uint32_t lane, const uint32_t *frames, size_t n, enum sample_state state,
		 bool holds_gil, uint64_t weight)
{
	assert(lane < s->n_lanes && state < SAMPLE_STATE_MAX);
	struct last *l = &s->more[lane].last;
	int r = last_reserve(l, n);
	if (r < 0)
		return r;
	size_t depth = 0, most = MIN(n, l->n);
	while (depth < most && l->frames[depth] == frames[n - 1 - depth])
		depth++;
	uint32_t node = depth > 0 ? l->nodes[depth - 1] : s->more[lane].root;
	/* A prefix of the last path leaves that path as it is. l->n grows by steps to be right after -ENOMEM too. */
	if (depth < n)
		l->n = depth;
	for (; depth < n; depth++) {
		r = stackset_child(s, node, frames[n - 1 - depth], &node);
		if (r < 0)
			return r;
		l->frames[depth] = frames[n - 1 - depth];
		l->nodes[depth] = node;
		l->n = depth + 1;
	}
	struct stack_node *leaf = &s->nodes[node];
	leaf->self_weight[state] += weight;
	leaf->self_samples[state]++;
	if (holds_gil)
		leaf->gil_weight += weight;
	s->meta.samples++;
	return 0;
}
