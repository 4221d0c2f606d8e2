#include "agent/hang/hangdevices.h"

#include <string.h>

#include "agent/gpu/gpus.h"
#include "base/buf.h"
#include "sense/gpu/gpupid.h"

static const uint64_t calm_ns = 10 * NS_PER_S, anxious_ns = 2 * NS_PER_S;
/* A driver that takes longer is late; what it has reported by then counts. */
static const struct gpuprobe_limits limits = {.call_ns = NS_PER_S, .total_ns = 2 * NS_PER_S};

static void ports_read(struct hangdevices *d, const struct world *w)
{
	d->has_rdma = ibports_read(w, getenv("VIGIL_RDMA_EXCLUDE"), d->port, IBPORT_MAX, &d->n_ports) == 0;
}

void hangdevices_open(struct hangdevices *d, const struct world *w)
{
	*d = (struct hangdevices){.n_probes = 0};
	d->n_probes = gpus_probes_init(w, limits, d->probe, HANGDEVICES_BACKENDS);
	if (d->n_probes) {
		d->set = calloc(1, sizeof(*d->set));
		d->fresh = calloc(1, sizeof(*d->fresh));
		d->holders = calloc(1, sizeof(*d->holders));
	}
	ports_read(d, w);
}

static void sample(struct hangdevices *d, const struct world *w)
{
	bool asked[HANGDEVICES_BACKENDS];
	memset(d->fresh, 0, sizeof(*d->fresh));
	for (size_t i = 0; i < d->n_probes; i++)
		asked[i] = gpuprobe_ask(&d->probe[i]) == 0;
	for (size_t i = 0; i < d->n_probes; i++)
		if (asked[i])
			gpuprobe_collect(&d->probe[i], d->fresh);
	d->pids_foreign = gpupid_fill(w, d->fresh);
	struct gpu_set *old = d->set;
	d->set = d->fresh;
	d->fresh = old;
}

void hangdevices_sample(struct hangdevices *d, const struct world *w, bool calm, uint64_t now_ns)
{
	/* when the job stops being calm, the short pause counts from the last sample */
	uint64_t due = d->sampled_ns + (calm ? calm_ns : anxious_ns);
	if (d->sampled_ns && now_ns < due)
		return;
	d->sampled_ns = now_ns;
	if (d->n_probes && d->set && d->fresh)
		sample(d, w);
	if (d->has_rdma)
		ports_read(d, w);
}

void hangdevices_ports(const struct hangdevices *d, struct liveness_sample *ret)
{
	for (size_t i = 0; d->has_rdma && i < d->n_ports; i++) {
		const struct ibport *p = &d->port[i];
		if (ibport_has(p, IB_XMIT_BYTES) && ibport_has(p, IB_RECV_BYTES)) {
			ret->has_rdma = true;
			ret->rdma_words += (p->value[IB_XMIT_BYTES] + p->value[IB_RECV_BYTES]) / 4;
		}
		if (ibport_has(p, IB_XMIT_WAIT)) {
			ret->has_rdma_wait = true;
			ret->rdma_wait += p->value[IB_XMIT_WAIT];
		}
	}
}

struct gpuclaim hangdevices_claim(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n,
				  const pid_t *own, size_t n_own)
{
	struct gpuclaim_rank rank = {.pids = pids, .n = n};
	struct gpuclaim c = {.devices = 0};
	if (!d->set)
		return c;
	c = gpuclaim_by_driver(d->set, &rank);
	uint32_t unsettled = gpuclaim_unsettled(d->set, d->pids_foreign);
	if (c.devices || !d->holders)
		return c;
	if (unsettled)
		gpuholders_read(d->holders, w, own, n_own, &rank, NULL);
	return gpuclaim_of(d->set, unsettled, &rank);
}

bool hangdevices_any_open(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n)
{
	struct gpuclaim_rank rank = {.n = 0};
	if (!d->holders)
		return false;
	gpuholders_read(d->holders, w, pids, n, &rank, NULL);
	return gpuheld_count(&rank.open) > 0;
}

static bool is_among(const struct gpu_set *set, uint32_t devices, const char *uuid)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (devices >> i & 1 && strcmp(set->gpu[i].uuid, uuid) == 0)
			return true;
	return false;
}

void hangdevices_of(const struct hangdevices *d, uint32_t devices, uint32_t ever, bool findings, struct gpu_set *ret)
{
	ret->n = ret->n_findings = ret->n_events = ret->n_drivers = 0;
	for (uint32_t i = 0; d->set && i < d->set->n; i++)
		if (devices >> i & 1)
			ret->gpu[ret->n++] = d->set->gpu[i];
	/* a lost device has no values any more, but its name is needed */
	for (uint32_t i = 0; d->set && i < d->set->n; i++)
		if (ever >> i & ~(devices >> i) & 1 && d->set->gpu[i].lost)
			ret->gpu[ret->n++] = d->set->gpu[i];
	for (uint32_t i = 0; d->set && i < d->set->n_findings; i++) {
		const struct gpu_finding *f = &d->set->finding[i];
		if (f->uuid[0] ? is_among(d->set, devices | ever, f->uuid) : findings)
			ret->finding[ret->n_findings++] = *f;
	}
	for (uint32_t i = 0; d->set && i < d->set->n_events; i++)
		if (is_among(d->set, devices | ever, d->set->event[i].uuid))
			ret->event[ret->n_events++] = d->set->event[i];
}

static struct series_device device_of(const struct gpu_sample *g, uint32_t index, int32_t rank)
{
	static const struct {
		enum gpu_value value;
		uint32_t bit;
	} known[] = {{GPU_BUSY, SERIES_HAS_BUSY},
		     {GPU_MEMORY_USED, SERIES_HAS_USED},
		     {GPU_MEMORY_TOTAL, SERIES_HAS_TOTAL}};
	struct series_device to = {.index = index,
				   .rank = rank,
				   .busy_percent = (uint32_t)MIN(g->value[GPU_BUSY], UINT64_C(100)),
				   .used_bytes = g->value[GPU_MEMORY_USED],
				   .total_bytes = g->value[GPU_MEMORY_TOTAL]};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (gpu_has(g, known[i].value))
			to.has |= known[i].bit;
	return to;
}

void hangdevices_publish(const struct hangdevices *d, const struct world *w, uint32_t devices,
			 const int32_t rank[static GPU_MAX], uint32_t attempt, struct hang_devices *to)
{
	_Static_assert(GPU_MAX <= SERIES_DEVICES_MAX, "every device has its place in a record");
	if (!d->set || (devices == 0 && to->n == 0))
		return;
	atomic_fetch_add(&to->seq, 1);
	to->attempt = attempt;
	to->mono_ns = d->sampled_ns;
	to->time_unix_ms = w->unix_ms() - (int64_t)(sub_floor(w->mono_ns(), d->sampled_ns) / NS_PER_MS);
	to->n = 0;
	for (uint32_t i = 0; i < d->set->n; i++)
		if (devices >> i & 1 && !d->set->gpu[i].lost)
			to->of[to->n++] = device_of(&d->set->gpu[i], i, rank[i]);
	atomic_fetch_add(&to->seq, 1);
}

void hangdevices_forget(struct hang_devices *to)
{
	uint32_t writing = atomic_load(&to->seq) | 1; /* also where a watcher has died while it wrote */
	atomic_store(&to->seq, writing);
	to->n = 0;
	to->mono_ns = 0;
	atomic_store(&to->seq, writing + 1);
}

/* Sums that become means at the end; of clocks the lowest is kept, reasons are or-ed. */
struct mean {
	double sum[LIVENESS_GPU_VALUES];
	uint32_t n[LIVENESS_GPU_VALUES];
};

static void mean_add(struct mean *m, const struct gpu_sample *g)
{
	static const struct {
		enum gpu_value from;
		enum liveness_gpu_value to;
		double unit;
	} rows[] = {
		{GPU_BUSY, LIVENESS_GPU_BUSY, 1},	{GPU_MEMORY_BUSY, LIVENESS_GPU_MEMORY_BUSY, 1},
		{GPU_POWER, LIVENESS_GPU_POWER, 1e-3},	{GPU_POWER_LIMIT, LIVENESS_GPU_POWER_LIMIT, 1e-3},
		{GPU_SM_CLOCK, LIVENESS_GPU_CLOCK, 1},	{GPU_SM_CLOCK_MAX, LIVENESS_GPU_CLOCK_MAX, 1},
		{GPU_REASONS, LIVENESS_GPU_REASONS, 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum liveness_gpu_value to = rows[i].to;
		if (!gpu_has(g, rows[i].from))
			continue;
		double v = (double)g->value[rows[i].from] * rows[i].unit;
		if (to == LIVENESS_GPU_CLOCK)
			m->sum[to] = m->n[to] ? MIN(m->sum[to], v) : v;
		else if (to == LIVENESS_GPU_REASONS)
			m->sum[to] = (double)((uint64_t)m->sum[to] | g->value[rows[i].from]);
		else
			m->sum[to] += v;
		m->n[to]++;
	}
}

void hangdevices_fill(const struct hangdevices *d, struct gpuclaim claim, struct liveness_counters *seen)
{
	struct buf which = BUF_ON(seen->gpu_which);
	struct mean m = {.n = {0}};
	uint64_t energy = 0;
	bool has_energy = false;
	for (uint32_t i = 0; d->set && i < d->set->n; i++) {
		const struct gpu_sample *g = &d->set->gpu[i];
		if (!(claim.devices >> i & 1))
			continue;
		mean_add(&m, g);
		buf_printf(&which, "%s%u", which.len ? "," : "", g->index);
		if (gpu_has(g, GPU_ENERGY)) {
			energy += g->value[GPU_ENERGY];
			has_energy = true;
		}
	}
	seen->gpu_by = claim.by;
	for (size_t v = 0; v < LIVENESS_GPU_VALUES; v++) {
		if (m.n[v] == 0)
			continue;
		bool whole = v == LIVENESS_GPU_CLOCK || v == LIVENESS_GPU_REASONS;
		seen->gpu_has |= 1u << v;
		seen->gpu[v] = whole ? m.sum[v] : m.sum[v] / m.n[v];
	}
	if (has_energy) {
		seen->has |= 1u << LIVENESS_GPU_ENERGY;
		seen->count[LIVENESS_GPU_ENERGY] = energy;
	}
}
