#include "tell/stacks/flame_parts.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "base/vec.h"

void flame_sum_up(const struct stackset *s, uint64_t *values)
{
	size_t n;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = n; i > 0; i--)
		if (nodes[i - 1].parent != i - 1)
			values[nodes[i - 1].parent] = add_cap(values[nodes[i - 1].parent], values[i - 1]);
}

int flame_totals(const struct stackset *s, uint64_t **ret)
{
	size_t n;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	uint64_t *totals = calloc(n + 1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		totals[i] = stack_node_weight(&nodes[i]);
	flame_sum_up(s, totals);
	*ret = totals;
	return 0;
}

void label_done(struct label *l)
{
	free(l->text);
	*l = (struct label){0};
}

int label_of(struct label *l, const struct frame *f)
{
	size_t need = strlen(f->name) + strlen(f->file) + strlen(f->module) + 40;
	if (vec_room(&l->text, &l->cap, need) < 0)
		return -ENOMEM;
	frame_label(f, l->text, l->cap);
	return 0;
}

enum flame_colour flame_colour_of(const struct frame *f)
{
	if (f->kind == FRAME_PYTHON)
		return COLOUR_PYTHON;
	if (f->kind == FRAME_KERNEL)
		return COLOUR_KERNEL;
	if (f->kind != FRAME_NOTE)
		return COLOUR_NATIVE;
	if (strstr(f->name, "GIL"))
		return COLOUR_GIL;
	if (strstr(f->name, "garbage"))
		return COLOUR_GC;
	return strncmp(f->name, "[idle", 5) == 0 ? COLOUR_IDLE : COLOUR_NOTE;
}

const char *flame_colour_name(enum flame_colour c)
{
	static const char *const names[] = {
		[COLOUR_PYTHON] = "Python",	    [COLOUR_NATIVE] = "native",
		[COLOUR_KERNEL] = "kernel",	    [COLOUR_NOTE] = "place",
		[COLOUR_IDLE] = "waiting",	    [COLOUR_GIL] = "waiting for the GIL",
		[COLOUR_GC] = "garbage collection",
	};
	return c < COLOUR_MAX ? names[c] : "native";
}

bool flame_counts_only(const struct stackset *s)
{
	const struct stackset_meta *m = stackset_meta_of(s);
	return m->unit == STACK_TIME && !(m->rate_hz > 0) && m->duration_ns == 0;
}

char *flame_amount(const struct stackset *s, uint64_t ns, char dst[static 40])
{
	if (stackset_meta_of(s)->unit == STACK_BYTES)
		size_format(ns, dst);
	else if (flame_counts_only(s))
		text_format(dst, 40, "%llu sample%s", (unsigned long long)ns, ns == 1 ? "" : "s");
	else
		duration_format(ns, dst);
	return dst;
}

static void add_share(struct buf *b, const char *what, uint64_t n, uint64_t of)
{
	if (of > 0)
		buf_printf(b, "; %llu %s (%.2g %%)", (unsigned long long)n, what, 100.0 * (double)n / (double)of);
}

/* A heap profile: the mean distance of samples, and what was lost. */
static void bytes_losses(const struct stackset_meta *m, struct buf *b)
{
	char text[24];
	buf_printf(b, "bytes of memory by the stack that asked for them; %llu blocks seen",
		   (unsigned long long)m->samples);
	if (m->period_bytes > 0)
		buf_printf(b, ", each %s on average", size_format(m->period_bytes, text));
	if (m->duration_ns > 0)
		buf_printf(b, ", of %s", duration_format(m->duration_ns, text));
	if (m->dropped > 0)
		buf_printf(b, "; %llu samples lost", (unsigned long long)m->dropped);
}

char *flame_losses(const struct stackset_meta *m, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	char time[24];
	buf_reset(&b);
	if (m->unit == STACK_BYTES) {
		bytes_losses(m, &b);
		return dst;
	}
	buf_printf(&b, "%llu samples", (unsigned long long)m->samples);
	if (m->rate_hz > 0)
		buf_printf(&b, " at %.4g of %.4g Hz", m->rate_got_hz, m->rate_hz);
	if (m->duration_ns > 0)
		buf_printf(&b, " in %s", duration_format(m->duration_ns, time));
	if (m->interrupted)
		buf_add(&b, " (ended early)");
	if (m->rate_hz > 0) {
		add_share(&b, "dropped", m->dropped, m->samples + m->dropped);
		add_share(&b, "shortened", m->shortened, m->samples);
		add_share(&b, "unproved to be of one moment", m->unproved, m->samples);
	}
	if (m->late > 0)
		buf_printf(&b, "; %llu late", (unsigned long long)m->late);
	if (m->has_wrong_ratio)
		buf_printf(&b, "; wrong stacks at most %.3g %%", 100 * m->wrong_ratio);
	if (m->native)
		buf_printf(&b, "; native frames: %llu matched, %llu guessed", (unsigned long long)m->merged,
			   (unsigned long long)m->approximate);
	if (m->pauses > 0) {
		buf_printf(&b, "; %llu pauses, longest %s", (unsigned long long)m->pauses,
			   duration_format(m->pause_ns_max, time));
		buf_printf(&b, ", all %s", duration_format(m->pause_ns_sum, time));
	}
	return dst;
}

char *flame_lane_name(const struct stack_lane *l, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (l->rank != NO_RANK)
		buf_printf(&b, "rank %d ", l->rank);
	if (l->role[0] && strcmp(l->role, "main") != 0)
		buf_printf(&b, "%s ", l->role);
	buf_printf(&b, "pid %d", l->pid);
	if (l->tid > 0)
		buf_printf(&b, " %s %d", l->thread[0] ? l->thread : "thread", l->tid);
	return dst;
}
