#include "model/gpu/gpuwatch.h"

#include <string.h>

#include "base/buf.h"

#define GAP_NS (60 * NS_PER_S)
#define EVENT_XID 0x8u /* NVML's event bit */

/* Clock limits that hardware or heat imposes; a power cap is a deliberate setting. */
#define HELD_BACK (GPU_REASON_HW_SLOWDOWN | GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL | GPU_REASON_POWER_BRAKE)

static struct gpuwatch_row *gpuwatch_row_at(struct gpuwatch *g, const struct gpu_sample *s)
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

static const struct gpu_sample *by_uuid(const struct gpu_set *set, const char *uuid)
{
	for (size_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++)
		if (uuid[0] && strcmp(set->gpu[i].uuid, uuid) == 0)
			return &set->gpu[i];
	return NULL;
}

static void trouble_feed(struct gpuwatch *g, const struct gpu_set *set, const struct gpu_finding *f, uint64_t now_ns)
{
	const struct gpu_sample *s = by_uuid(set, f->uuid);
	char what[64];
	size_t i = 0;
	if (s)
		TEXT_FORMAT(what, "gpu%u", s->index);
	else
		TEXT_COPY(what, f->call);
	while (i < g->n_troubles && (g->trouble[i].trouble != f->trouble || strcmp(g->trouble[i].what, what) != 0))
		i++;
	if (i == GPUWATCH_TROUBLES)
		return;
	struct gpuwatch_trouble *t = &g->trouble[i];
	if (i == g->n_troubles) {
		*t = (struct gpuwatch_trouble){.trouble = f->trouble, .first_ns = now_ns};
		TEXT_COPY(t->what, what);
		g->n_troubles++;
	} else if (now_ns - t->seen_ns > GPUWATCH_TROUBLE_NS) {
		t->first_ns = now_ns;
	}
	t->seen_ns = now_ns;
}

static void xid_feed(struct gpuwatch *g, const struct gpu_set *set, const struct gpu_event *e)
{
	const struct gpu_sample *s = by_uuid(set, e->uuid);
	if (!s || !(e->type & EVENT_XID) || g->n_xids == GPUWATCH_XIDS)
		return;
	TEXT_COPY(g->xid[g->n_xids].pci, s->pci);
	g->xid[g->n_xids++].number = e->data;
}

void gpuwatch_feed(struct gpuwatch *g, const struct gpu_set *set, uint64_t now_ns)
{
	for (size_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++) {
		struct gpuwatch_row *r = gpuwatch_row_at(g, &set->gpu[i]);
		if (r)
			sample_feed(r, &set->gpu[i], now_ns);
	}
	for (size_t i = 0; i < MIN(set->n_findings, (uint32_t)GPU_FINDINGS); i++)
		trouble_feed(g, set, &set->finding[i], now_ns);
	for (size_t i = 0; i < MIN(set->n_events, (uint32_t)GPU_EVENTS); i++)
		xid_feed(g, set, &set->event[i]);
}

static void troubles_lines(const struct gpuwatch *g, uint64_t now_ns, gpuwatch_line_fn *fn, void *data)
{
	static const char *const names[] = {[GPU_BLOCKED] = "gpu_driver_blocked_s",
					    [GPU_LOST] = "gpu_lost_s",
					    [GPU_RESET] = "gpu_reset_required_s"};
	for (size_t i = 0; i < g->n_troubles; i++) {
		const struct gpuwatch_trouble *t = &g->trouble[i];
		char line[160];
		if ((size_t)t->trouble >= ARRAY_SIZE(names) || !names[t->trouble] ||
		    now_ns - t->seen_ns > GPUWATCH_TROUBLE_NS)
			continue;
		TEXT_FORMAT(line, "%s{%s} %llu", names[t->trouble], t->what,
			    (unsigned long long)((now_ns - t->first_ns) / NS_PER_S));
		fn(data, line);
	}
}

void gpuwatch_kernel_lines(const struct gpuwatch *g, gpuwatch_line_fn *fn, void *data)
{
	for (size_t i = 0; i < g->n_xids; i++) {
		char line[160], pci[32];
		TEXT_COPY(pci, g->xid[i].pci);
		/* the kernel log has the address without the function after the dot */
		char *dot = strrchr(pci, '.');
		if (dot)
			*dot = '\0';
		TEXT_FORMAT(line, "NVRM: Xid (PCI:%s): %llu, told by NVML", pci,
			    (unsigned long long)g->xid[i].number);
		fn(data, line);
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

void gpuwatch_lines(const struct gpuwatch *g, uint64_t now_ns, gpuwatch_line_fn *fn, void *data)
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
	troubles_lines(g, now_ns, fn, data);
}
