#include <string.h>

#include "tell/stacks/flame_parts.h"

#include "base/vec.h"

struct stack {
	uint32_t *ids; /* owned */
	size_t cap;
};

static void stack_done(struct stack *s)
{
	free(s->ids);
}

static void flame_speedscope_put_frames(struct sink *k, const struct stackset *s)
{
	size_t n, used = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++)
		if (nodes[i].parent != i)
			used = MAX(used, (size_t)nodes[i].frame + 1);
	for (uint32_t i = 0; i < used; i++) {
		const struct frame *f = stackset_frame(s, i);
		const char *file = *f->file ? f->file : f->module;
		sink_text(k, i ? ",\n{\"name\":" : "\n{\"name\":");
		sink_json(k, *f->name ? f->name : "[unknown]");
		if (*file) {
			sink_text(k, ",\"file\":");
			sink_json(k, file);
		}
		if (f->line > 0) {
			sink_text(k, ",\"line\":");
			sink_i64(k, f->line);
		}
		sink_text(k, "}");
	}
}

/* Writes a stack with the root first. */
static int put_stack(struct sink *k, const struct stack_node *nodes, uint32_t node, struct stack *s)
{
	size_t n = 0;
	for (; nodes[node].parent != node; node = nodes[node].parent) {
		if (vec_room(&s->ids, &s->cap, n + 1) < 0)
			return -ENOMEM;
		s->ids[n++] = nodes[node].frame;
	}
	sink_text(k, "[");
	for (; n > 0; n--) {
		sink_u64(k, s->ids[n - 1]);
		if (n > 1)
			sink_text(k, ",");
	}
	sink_text(k, "]");
	return 0;
}

/* Node numbers with own time, lane by lane, in order; ends[lane] is where a lane's end. */
static int by_lane(const struct stackset *s, uint32_t **ret_nodes, uint32_t **ret_ends)
{
	size_t n, n_lanes;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	(void)stackset_lanes(s, &n_lanes);
	cleanup(freep) uint32_t *ends = calloc(n_lanes + 1, sizeof(*ends));
	uint32_t *order = calloc(n + 1, sizeof(*order));
	if (!ends || !order) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if (stack_node_weight(&nodes[i]) > 0)
			ends[nodes[i].lane + 1]++;
	for (size_t i = 0; i < n_lanes; i++)
		ends[i + 1] += ends[i];
	/* ends[lane] is the lane's begin; filling moves it to the lane's end */
	for (uint32_t i = 0; i < n; i++)
		if (stack_node_weight(&nodes[i]) > 0)
			order[ends[nodes[i].lane]++] = i;
	*ret_nodes = order;
	*ret_ends = take(&ends);
	return 0;
}

static const char *unit_of(const struct stackset *s)
{
	if (stackset_meta_of(s)->unit == STACK_BYTES)
		return "bytes";
	return flame_counts_only(s) ? "none" : "nanoseconds";
}

static int put_profile(struct sink *k, const struct stackset *s, uint32_t lane, const uint32_t *list, size_t n)
{
	cleanup(stack_done) struct stack stack = {0};
	size_t n_all;
	char name[256];
	const struct stack_node *nodes = stackset_nodes(s, &n_all);
	const struct stack_lane *l = stackset_lanes(s, &n_all) + lane;
	uint64_t sum = 0;
	bool one = n_all == 1 && l->pid == 0;
	sink_text(k, "{\"type\":\"sampled\",\"name\":");
	sink_json(k, one ? "all" : flame_lane_name(l, name, sizeof(name)));
	sink_text(k, ",\"unit\":");
	sink_json(k, unit_of(s));
	sink_text(k, ",\n\"samples\":[");
	for (size_t i = 0; i < n; i++) {
		sink_text(k, i ? "," : "");
		int r = put_stack(k, nodes, list[i], &stack);
		if (r < 0 || k->r < 0)
			return r < 0 ? r : k->r;
	}
	sink_text(k, "],\n\"weights\":[");
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = stack_node_weight(&nodes[list[i]]);
		sink_text(k, i ? "," : "");
		sink_u64(k, ns);
		sum = add_cap(sum, ns);
	}
	sink_text(k, "],\n\"startValue\":0,\"endValue\":");
	sink_u64(k, sum);
	sink_text(k, "}");
	return 0;
}

static int put_profiles(struct sink *k, const struct stackset *s)
{
	cleanup(freep) uint32_t *list = NULL, *ends = NULL;
	size_t n_lanes;
	bool any = false;
	(void)stackset_lanes(s, &n_lanes);
	int r = by_lane(s, &list, &ends);
	uint32_t from = 0;
	for (uint32_t lane = 0; lane < n_lanes && r == 0; lane++) {
		if (ends[lane] > from) {
			sink_text(k, any ? ",\n" : "\n");
			r = put_profile(k, s, lane, list + from, ends[lane] - from);
			any = true;
		}
		from = ends[lane];
	}
	if (!any && r == 0) /* speedscope refuses a file without a profile */
		sink_text(k, "{\"type\":\"sampled\",\"name\":\"nothing was recorded\",\"unit\":\"nanoseconds\","
			     "\"samples\":[],\"weights\":[],\"startValue\":0,\"endValue\":0}");
	return r;
}

int flame_speedscope_write(const struct stackset *s, FILE *to)
{
	struct sink k;
	const struct stackset_meta *m = stackset_meta_of(s);
	sink_open(&k, to);
	sink_text(&k, "{\"$schema\":\"https://www.speedscope.app/"
		      "file-format-schema.json\",\"exporter\":\"vigil " VIGIL_VERSION "\",\"name\":");
	sink_json(&k, m->title[0] ? m->title : "vigil flame");
	sink_text(&k, ",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
	flame_speedscope_put_frames(&k, s);
	sink_text(&k, "]},\n\"profiles\":[");
	int r = put_profiles(&k, s);
	sink_text(&k, "]}\n");
	int closed = sink_close(&k);
	return r < 0 ? r : closed;
}
