#include "model/gpuwatch.h"

#include <string.h>

#include "base/buf.h"

#define GAP_NS (60 * NS_PER_S)

/* What hardware or heat imposes; a power cap that somebody set is a choice. */
#define HELD_BACK (GPU_REASON_HW_SLOWDOWN | GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL | GPU_REASON_POWER_BRAKE)

static struct gpuwatch_row *row_of(struct gpuwatch *g, const struct gpu_sample *s)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->row[i].index == s->index && strcmp(g->row[i].uuid, s->uuid) == 0)
			return &g->row[i];
	if (g->n == GPU_MAX)
		return NULL;
	struct gpuwatch_row *r = &g->row[g->n++];
	*r = (struct gpuwatch_row){.index = s->index};
	TEXT_COPY(r->uuid, s->uuid);
	return r;
}

static void since(bool now_so, bool *so, uint64_t *since_ns, uint64_t now_ns)
{
	if (now_so && !*so)
		*since_ns = now_ns;
	*so = now_so;
}

static void sample_feed(struct gpuwatch_row *r, const struct gpu_sample *s, uint64_t now_ns)
{
	bool works = gpu_has(s, GPU_BUSY) && s->value[GPU_BUSY] >= GPUWATCH_BUSY_PERCENT;
	uint64_t reasons = gpu_has(s, GPU_REASONS) ? s->value[GPU_REASONS] & HELD_BACK : 0;
	if (now_ns - r->seen_ns > GAP_NS)
		r->low = r->held = false;
	since(works && gpu_has(s, GPU_SM_CLOCK) && s->value[GPU_SM_CLOCK] < GPUWATCH_LOW_MHZ, &r->low, &r->low_since_ns,
	      now_ns);
	bool was = r->held;
	since(works && reasons != 0, &r->held, &r->held_since_ns, now_ns);
	r->held_by = was && r->held ? r->held_by | reasons : reasons;
	r->seen_ns = now_ns;
}

void gpuwatch_feed(struct gpuwatch *g, const struct gpu_set *set, uint64_t now_ns)
{
	for (size_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++) {
		struct gpuwatch_row *r = row_of(g, &set->gpu[i]);
		if (r)
			sample_feed(r, &set->gpu[i], now_ns);
	}
}

static void reasons_add(struct buf *b, uint64_t bits)
{
	const char *comma = " ";
	for (uint32_t bit = 1; bit != 0; bit <<= 1) {
		const char *name = bits & bit ? gpu_reason_name(bit) : NULL;
		if (name) {
			buf_printf(b, "%s%s", comma, name);
			comma = ",";
		}
	}
}

void gpuwatch_lines(const struct gpuwatch *g, gpuwatch_line_fn *fn, void *data)
{
	char line[200];
	struct buf b = BUF_ON(line);
	for (size_t i = 0; i < g->n; i++) {
		const struct gpuwatch_row *r = &g->row[i];
		if (r->low) {
			buf_reset(&b);
			buf_printf(&b, "sm_clock_low_s{gpu%u} %llu", r->index,
				   (unsigned long long)((r->seen_ns - r->low_since_ns) / NS_PER_S));
			fn(data, line);
		}
		if (r->held) {
			buf_reset(&b);
			buf_printf(&b, "gpu_held_back_s{gpu%u} %llu", r->index,
				   (unsigned long long)((r->seen_ns - r->held_since_ns) / NS_PER_S));
			reasons_add(&b, r->held_by);
			fn(data, line);
		}
	}
}
