#include "sense/gpu/gpu.h"

#include <stdarg.h>
#include <string.h>

#include "base/buf.h"

_Static_assert(GPU_VALUES <= 64, "one bit each in has");

static const struct gpu_value_name value_names[GPU_VALUES] = {
	[GPU_BUSY] = {"busy_ratio", .ratio = true},
	[GPU_MEMORY_BUSY] = {"memory_busy_ratio", .ratio = true},
	[GPU_MEMORY_TOTAL] = {"memory_total_bytes"},
	[GPU_MEMORY_USED] = {"memory_used_bytes"},
	[GPU_MEMORY_RESERVED] = {"memory_reserved_bytes"},
	[GPU_POWER] = {"power_mw"},
	[GPU_POWER_LIMIT] = {"power_limit_mw"},
	[GPU_ENERGY] = {"energy_mj"},
	[GPU_SM_CLOCK] = {"sm_clock_mhz"},
	[GPU_SM_CLOCK_MAX] = {"sm_clock_max_mhz"},
	[GPU_MEMORY_CLOCK] = {"memory_clock_mhz"},
	[GPU_MEMORY_CLOCK_MAX] = {"memory_clock_max_mhz"},
	[GPU_TEMPERATURE] = {"temperature_c"},
	[GPU_REASONS] = {"clock_reason_bits"},
	[GPU_ECC_CORRECTED] = {"ecc_corrected"},
	[GPU_ECC_UNCORRECTED] = {"ecc_uncorrected"},
	[GPU_ROWS_CORRECTABLE] = {"rows_remapped_correctable"},
	[GPU_ROWS_UNCORRECTABLE] = {"rows_remapped_uncorrectable"},
	[GPU_ROWS_PENDING] = {"rows_pending", .flag = true},
	[GPU_ROWS_FAILED] = {"rows_failed", .flag = true},
	[GPU_RECOVERY] = {"recovery_code"},
	[GPU_PCIE_TX] = {"pcie_tx_bytes"},
	[GPU_PCIE_RX] = {"pcie_rx_bytes"},
	[GPU_PCIE_REPLAYS] = {"pcie_replays"},
	[GPU_PCIE_GENERATION] = {"pcie_generation"},
	[GPU_PCIE_GENERATION_MAX] = {"pcie_generation_max"},
	[GPU_PCIE_WIDTH] = {"pcie_width"},
	[GPU_PCIE_WIDTH_MAX] = {"pcie_width_max"},
	[GPU_NVLINK_TX] = {"nvlink_tx_bytes"},
	[GPU_NVLINK_RX] = {"nvlink_rx_bytes"},
	[GPU_MIG] = {"mig", .flag = true},
	[GPU_HEALTH] = {"health_code"},
};

void gpu_value_set(struct gpu_sample *g, enum gpu_value v, uint64_t value)
{
	g->value[v] = value;
	g->has |= UINT64_C(1) << v;
}

const struct gpu_value_name *gpu_value_name(enum gpu_value v)
{
	return &value_names[v];
}

const char *gpu_vendor_name(enum gpu_vendor v)
{
	static const char *const names[] = {
		[GPU_NVIDIA] = "nvidia", [GPU_HUAWEI] = "huawei", [GPU_AMD] = "amd",
		[GPU_INTEL] = "intel",	 [GPU_OTHER] = "other",
	};
	return (size_t)v < ARRAY_SIZE(names) ? names[v] : "other";
}

const char *gpu_by_name(enum gpu_by by)
{
	static const char *const names[GPU_BYS] = {[GPU_BY_DRIVER] = "driver",
						   [GPU_BY_MAPPED] = "mapped",
						   [GPU_BY_VISIBLE] = "visible",
						   [GPU_BY_OPEN] = "open"};
	return (size_t)by < ARRAY_SIZE(names) ? names[by] : "open";
}

const char *gpu_trouble_name(enum gpu_trouble t)
{
	static const char *const names[] = {
		[GPU_BLOCKED] = "driver_blocked", [GPU_CRASHED] = "driver_crashed",   [GPU_LOST] = "gpu_lost",
		[GPU_RESET] = "reset_required",	  [GPU_MISMATCH] = "driver_mismatch", [GPU_FAILED] = "driver_failed",
	};
	return (size_t)t < ARRAY_SIZE(names) ? names[t] : "driver_failed";
}

const char *gpu_recovery_name(uint64_t action)
{
	static const char *const names[] = {"none",	 "gpu_reset",	    "node_reboot",
					    "drain_p2p", "drain_and_reset", "recover_imex"};
	return action < ARRAY_SIZE(names) ? names[action] : "unknown";
}

const char *gpu_reason_name(uint32_t bit)
{
	static const char *const names[] = {"idle",	  "app_clocks", "sw_power_cap", "hw_slowdown", "sync_boost",
					    "sw_thermal", "hw_thermal", "power_brake",	"display"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (bit == UINT32_C(1) << i)
			return names[i];
	return NULL;
}

struct gpu_process *gpu_process_at(struct gpu_sample *g, pid_t driver_pid)
{
	for (uint32_t i = 0; i < g->n_processes; i++)
		if (g->process[i].driver_pid == driver_pid)
			return &g->process[i];
	if (g->n_processes == GPU_PROCESSES) {
		g->n_processes_dropped++;
		return NULL;
	}
	struct gpu_process *p = &g->process[g->n_processes++];
	*p = (struct gpu_process){.driver_pid = driver_pid};
	return p;
}

bool gpu_process_found(struct gpu_sample *g, pid_t pid, enum gpu_by by)
{
	if (g->n_processes == GPU_PROCESSES) {
		g->n_processes_dropped++;
		return false;
	}
	g->process[g->n_processes++] = (struct gpu_process){.pid = pid, .by = by};
	return true;
}

struct gpu_finding *gpu_finding_add(struct gpu_set *s, enum gpu_trouble t, const char *call, const char *uuid,
				    const char *fmt, ...)
{
	static struct gpu_finding nowhere;
	struct gpu_finding *f = &nowhere;
	if (s->n_findings < GPU_FINDINGS)
		f = &s->finding[s->n_findings++];
	else
		s->n_findings_dropped++;
	*f = (struct gpu_finding){.trouble = t};
	TEXT_COPY(f->call, call);
	TEXT_COPY(f->uuid, uuid);
	struct buf b = BUF_ON(f->text);
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	return f;
}

/* How many of n fit into a list of at most `most` that has `have`. */
static uint32_t gpu_room(uint32_t have, uint32_t most, uint32_t n)
{
	return MIN(n, most - have);
}

void gpu_set_join(struct gpu_set *set, const struct gpu_set *more)
{
	uint32_t n = gpu_room(set->n, GPU_MAX, MIN(more->n, (uint32_t)GPU_MAX));
	memcpy(&set->gpu[set->n], more->gpu, n * sizeof(set->gpu[0]));
	set->n += n;
	set->n_dropped += more->n_dropped + (more->n - n);
	n = gpu_room(set->n_findings, GPU_FINDINGS, MIN(more->n_findings, (uint32_t)GPU_FINDINGS));
	memcpy(&set->finding[set->n_findings], more->finding, n * sizeof(set->finding[0]));
	set->n_findings += n;
	set->n_findings_dropped += more->n_findings_dropped + (more->n_findings - n);
	n = gpu_room(set->n_events, GPU_EVENTS, MIN(more->n_events, (uint32_t)GPU_EVENTS));
	memcpy(&set->event[set->n_events], more->event, n * sizeof(set->event[0]));
	set->n_events += n;
	n = gpu_room(set->n_drivers, GPU_DRIVERS, MIN(more->n_drivers, (uint32_t)GPU_DRIVERS));
	memcpy(&set->driver[set->n_drivers], more->driver, n * sizeof(set->driver[0]));
	set->n_drivers += n;
}
