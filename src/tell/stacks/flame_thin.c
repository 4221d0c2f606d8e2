#include "tell/stacks/flame_parts.h"

#define SMALL_NAME "[too small to be shown apart]"

/* Number of nodes with a total of at least `least`, roots included. */
static size_t count_from(const struct stackset *s, const uint64_t *totals, uint64_t least)
{
	size_t n, count = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++)
		count += nodes[i].parent == i || totals[i] >= least;
	return count;
}

static int thin_node(const struct stackset *s, uint32_t i, bool kept, uint32_t small, struct stackset *to,
		     uint32_t *map)
{
	size_t n, n_lanes;
	const struct stack_node *node = &stackset_nodes(s, &n)[i];
	int r = 0;
	if (node->parent == i) {
		uint32_t lane = 0;
		r = stackset_lane_new(to, &stackset_lanes(s, &n_lanes)[node->lane], &lane);
		if (r == 0)
			map[i] = stackset_root(to, lane);
	} else if (kept) {
		uint32_t frame = 0;
		r = frametab_intern(stackset_frames(to), stackset_frame(s, node->frame), &frame);
		if (r == 0)
			r = stackset_child(to, map[node->parent], frame, &map[i]);
	} else {
		/* below a node that is left out, the parent maps to the note frame */
		const struct stack_node *place = stackset_node(to, map[node->parent]);
		map[i] = map[node->parent];
		if (place->frame != small)
			r = stackset_child(to, map[node->parent], small, &map[i]);
	}
	if (r == 0)
		stack_node_add(stackset_node(to, map[i]), node);
	return r;
}

int flame_thin(const struct stackset *s, size_t most, struct stackset **ret)
{
	const struct frame note = {.kind = FRAME_NOTE, .name = SMALL_NAME, .file = "", .module = ""};
	cleanup(freep) uint64_t *totals = NULL;
	cleanup(stackset_freep) struct stackset *to = stackset_new();
	size_t n;
	(void)stackset_nodes(s, &n);
	cleanup(freep) uint32_t *map = calloc(n + 1, sizeof(*map));
	uint32_t small;
	int r = flame_totals(s, &totals);
	if (r == 0 && (!to || !map))
		r = -ENOMEM;
	if (r == 0)
		r = frametab_intern(stackset_frames(to), &note, &small);
	if (r < 0)
		return r;
	uint64_t least = 1;
	while (least < UINT64_MAX / 2 && count_from(s, totals, least) > most)
		least *= 2;
	for (uint32_t i = 0; i < n; i++) {
		r = thin_node(s, i, totals[i] >= least, small, to, map);
		if (r < 0)
			return r;
	}
	*stackset_meta(to) = *stackset_meta_of(s);
	*ret = take(&to);
	return 0;
}
