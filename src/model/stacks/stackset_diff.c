#include "model/stacks/stackset_parts.h"

#include <string.h>

struct side {
	const struct stack_node *nodes;
	size_t n;
	uint32_t *map; /* for each node, the node of the merged set */
	uint32_t *frames; /* for each frame, the frame of the merged set + 1; 0: not yet copied */
};

static void side_done(struct side *s)
{
	free(s->map);
	free(s->frames);
}

static int side_frame(const struct stackset *from, struct side *s, uint32_t id, struct stackset *to, uint32_t *ret)
{
	if (s->frames[id] == 0) {
		int r = frametab_intern(stackset_frames(to), stackset_frame(from, id), ret);
		if (r < 0)
			return r;
		s->frames[id] = *ret + 1;
	}
	*ret = s->frames[id] - 1;
	return 0;
}

/* Adds all nodes of `from` with their self values to `to`. */
static int side_put(const struct stackset *from, struct side *s, struct stackset *to, uint32_t root)
{
	size_t n_frames = 0;
	s->nodes = stackset_nodes(from, &s->n);
	for (size_t i = 0; i < s->n; i++)
		if (s->nodes[i].parent != i)
			n_frames = MAX(n_frames, (size_t)s->nodes[i].frame + 1);
	s->map = calloc(s->n + 1, sizeof(*s->map));
	s->frames = calloc(n_frames + 1, sizeof(*s->frames));
	if (!s->map || !s->frames)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		const struct stack_node *n = &s->nodes[i];
		uint32_t frame = 0;
		int r = 0;
		s->map[i] = root;
		if (n->parent != i)
			r = side_frame(from, s, n->frame, to, &frame);
		if (r == 0 && n->parent != i)
			r = stackset_child(to, s->map[n->parent], frame, &s->map[i]);
		if (r < 0)
			return r;
		stack_node_add(stackset_node(to, s->map[i]), n);
	}
	return 0;
}

static void fill_rows(struct stack_diff_row *rows, const struct side *a, const struct side *b)
{
	for (size_t i = 0; i < a->n; i++) {
		struct stack_diff_row *row = &rows[a->map[i]];
		row->a_weight = add_cap(row->a_weight, stack_node_weight(&a->nodes[i]));
		row->a_samples = add_cap(row->a_samples, stack_node_samples(&a->nodes[i]));
	}
	for (size_t i = 0; i < b->n; i++) {
		struct stack_diff_row *row = &rows[b->map[i]];
		row->b_weight = add_cap(row->b_weight, stack_node_weight(&b->nodes[i]));
		row->b_samples = add_cap(row->b_samples, stack_node_samples(&b->nodes[i]));
	}
}

int stackset_diff(const struct stackset *a, const struct stackset *b, struct stackset **ret_merged,
		  struct stack_diff_row **ret_rows, size_t *ret_n)
{
	cleanup(stackset_freep) struct stackset *to = stackset_new();
	cleanup(side_done) struct side of_a = {0}, of_b = {0};
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane;
	if (!to)
		return -ENOMEM;
	int r = stackset_lane(to, &all, &lane);
	if (r == 0)
		r = side_put(a, &of_a, to, stackset_root(to, lane));
	if (r == 0)
		r = side_put(b, &of_b, to, stackset_root(to, lane));
	if (r < 0)
		return r;
	size_t n;
	(void)stackset_nodes(to, &n);
	struct stack_diff_row *rows = calloc(n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i].node = (uint32_t)i;
	fill_rows(rows, &of_a, &of_b);
	*stackset_meta(to) = *stackset_meta_of(b);
	*ret_merged = take(&to);
	*ret_rows = rows;
	*ret_n = n;
	return 0;
}
