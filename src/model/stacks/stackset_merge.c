#include "model/stacks/stackset_parts.h"

#include <string.h>

#include "base/buf.h"

static bool same_thread(const struct stack_lane *a, const struct stack_lane *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->rank == b->rank && strcmp(a->process, b->process) == 0;
}

static int merge_lane(struct stackset *s, const struct stack_lane *lane, bool same_node, uint32_t *ret)
{
	uint32_t found;
	size_t before, n;
	(void)stackset_lanes(s, &before);
	int r = same_node ? stackset_lane(s, lane, &found) : stackset_lane_new(s, lane, &found);
	if (r < 0)
		return r;
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	/* the number was used again by another process */
	if (n == before && !same_thread(&lanes[found], lane))
		r = stackset_lane_new(s, lane, &found);
	if (r == 0)
		*ret = found;
	return r;
}

static void merge_wrong(struct stackset_meta *m, const struct stackset_meta *add)
{
	double sum = (double)m->samples + (double)add->samples;
	if (!m->has_wrong_ratio || !add->has_wrong_ratio) {
		m->has_wrong_ratio = false;
		m->wrong_ratio = m->moved_ratio = 0;
	} else if (sum > 0) {
		const double a = (double)m->samples / sum, b = (double)add->samples / sum;
		m->wrong_ratio = m->wrong_ratio * a + add->wrong_ratio * b;
		m->moved_ratio = m->moved_ratio * a + add->moved_ratio * b;
	}
}

static void merge_meta(struct stackset_meta *m, const struct stackset_meta *add)
{
	int64_t end_a = m->start_unix_ms + (int64_t)(m->duration_ns / NS_PER_MS);
	int64_t end_b = add->start_unix_ms + (int64_t)(add->duration_ns / NS_PER_MS);
	merge_wrong(m, add);
	if (strcmp(m->node, add->node) != 0)
		TEXT_COPY(m->node, "several");
	int64_t from = MIN(m->start_unix_ms, add->start_unix_ms);
	m->start_unix_ms = from;
	m->duration_ns = MAX(m->duration_ns, add->duration_ns);
	if (from > 0)
		m->duration_ns = MAX(m->duration_ns, (uint64_t)(MAX(end_a, end_b) - from) * NS_PER_MS);
	m->rate_hz = MAX(m->rate_hz, add->rate_hz);
	m->rate_got_hz = m->rate_got_hz > 0 ? MIN(m->rate_got_hz, add->rate_got_hz) : add->rate_got_hz;
	m->samples += add->samples;
	m->dropped += add->dropped;
	m->unproved += add->unproved;
	m->late += add->late;
	m->merged += add->merged;
	m->approximate += add->approximate;
	m->native_missing += add->native_missing;
	m->incomplete += add->incomplete;
	m->pause_ns_max = MAX(m->pause_ns_max, add->pause_ns_max);
	m->pause_ns_median = MAX(m->pause_ns_median, add->pause_ns_median); /* half of both are not longer */
	m->pause_ns_sum += add->pause_ns_sum;
	m->pauses += add->pauses;
	m->pauses_caught += add->pauses_caught;
	m->native |= add->native;
	if (!m->missing[0])
		TEXT_COPY(m->missing, add->missing);
	m->idle |= add->idle;
	m->gil_only &= add->gil_only;
	m->interrupted |= add->interrupted;
}

/* What an empty set was already told about itself stays. */
static void first_meta(struct stackset_meta *m, const struct stackset_meta *add)
{
	struct stackset_meta old = *m;
	*m = *add;
	if (old.title[0])
		TEXT_COPY(m->title, old.title);
	if (old.node[0])
		TEXT_COPY(m->node, old.node);
}

int stackset_merge(struct stackset *s, const struct stackset *add)
{
	size_t n, n_lanes, had;
	const struct stack_node *nodes = stackset_nodes(add, &n);
	const struct stack_lane *lanes = stackset_lanes(add, &n_lanes);
	(void)stackset_lanes(s, &had);
	bool same_node = strcmp(stackset_meta(s)->node, stackset_meta_of(add)->node) == 0;
	cleanup(freep) uint32_t *map = calloc(n + 1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t lane = 0, frame = 0;
		int r;
		if (nodes[i].parent == i) {
			r = merge_lane(s, &lanes[nodes[i].lane], same_node, &lane);
			if (r == 0)
				map[i] = stackset_root(s, lane);
		} else {
			r = frametab_intern(stackset_frames(s), stackset_frame(add, nodes[i].frame), &frame);
			if (r == 0)
				r = stackset_child(s, map[nodes[i].parent], frame, &map[i]);
		}
		if (r < 0)
			return r;
		stack_node_add(stackset_node(s, map[i]), &nodes[i]);
	}
	if (had == 0 && stackset_meta(s)->samples == 0)
		first_meta(stackset_meta(s), stackset_meta_of(add));
	else
		merge_meta(stackset_meta(s), stackset_meta_of(add));
	return 0;
}
