/* Devices under the names that DCGM's exporter gives them, with its units (percent, MiB, MHz, mJ, watt). */
#include <inttypes.h>
#include <string.h>

#include "tell/metrics/metricset.h"

struct gpu_field {
	enum gpu_value value;
	const char *name, *help;
	bool counter;
	double scale; /* the value is multiplied by it */
};

static const struct gpu_field fields[] = {
	{GPU_BUSY, "DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", false, 1},
	{GPU_MEMORY_BUSY, "DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", false, 1},
	{GPU_MEMORY_TOTAL, "DCGM_FI_DEV_FB_TOTAL", "Frame buffer memory (in MiB).", false, 1.0 / 1048576},
	{GPU_MEMORY_USED, "DCGM_FI_DEV_FB_USED", "Frame buffer memory used (in MiB).", false, 1.0 / 1048576},
	{GPU_MEMORY_RESERVED, "DCGM_FI_DEV_FB_RESERVED", "Frame buffer memory of the driver (in MiB).", false,
	 1.0 / 1048576},
	{GPU_POWER, "DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", false, 1.0 / 1000},
	{GPU_ENERGY, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy since the driver was loaded (in mJ).", true, 1},
	{GPU_SM_CLOCK, "DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz).", false, 1},
	{GPU_MEMORY_CLOCK, "DCGM_FI_DEV_MEM_CLOCK", "Memory clock (in MHz).", false, 1},
	{GPU_TEMPERATURE, "DCGM_FI_DEV_GPU_TEMP", "Temperature (in C).", false, 1},
	{GPU_REASONS, "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why the clocks are not higher (bits).", false, 1},
	{GPU_PCIE_REPLAYS, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe retries.", true, 1},
	{GPU_ECC_CORRECTED, "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected memory errors.", true, 1},
	{GPU_ECC_UNCORRECTED, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected memory errors.", true, 1},
	{GPU_ROWS_CORRECTABLE, "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows replaced for corrected errors.", true, 1},
	{GPU_ROWS_UNCORRECTABLE, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows replaced for uncorrected errors.",
	 true, 1},
	{GPU_ROWS_FAILED, "DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether replacing rows failed.", false, 1},
};

static void gpu_labels(struct metricset *s, struct metric_sample *m, const struct gpu_sample *g, const char *node)
{
	char index[16], device[32];
	TEXT_FORMAT(index, "%" PRIu32, g->index);
	TEXT_FORMAT(device, "nvidia%" PRIu32, g->has_number ? g->number : g->index);
	metricset_label(s, m, "gpu", index);
	metricset_label(s, m, "UUID", g->uuid);
	metricset_label(s, m, "device", g->vendor == GPU_NVIDIA ? device : gpu_vendor_name(g->vendor));
	metricset_label(s, m, "modelName", g->name);
	metricset_label(s, m, "Hostname", node);
}

static const char *zeros_past(const char *p)
{
	return p + strspn(p, "0");
}

/* The same device: "00000000:17:00.0" of the driver and "0000:17:00" of the kernel's log. */
static bool same_place(const char *a, const char *b)
{
	const char *x = zeros_past(a), *y = zeros_past(b);
	size_t domain = strcspn(x, ":"), len = domain + sizeof(":17:00") - 1;
	return strlen(x) >= len && strlen(y) >= len && strncasecmp(x, y, len) == 0;
}

/* The last error of each device since the machine began, as DCGM has it; 0: none. */
static void xids_last(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *family = metricset_family(s, METRIC_GAUGE, "DCGM_FI_DEV_XID_ERRORS", "",
							"Value of the last XID error encountered.");
	family->foreign = true;
	for (uint32_t k = 0; !f->gpus->kernel_log_denied && k < f->gpus->set.n; k++) {
		const struct gpu_sample *g = &f->gpus->set.gpu[k];
		uint32_t last = 0;
		for (size_t i = 0; i < f->gpus->n_xids; i++)
			if (!f->gpus->xid[i].is_switch && same_place(g->pci, f->gpus->xid[i].pci))
				last = f->gpus->xid[i].number;
		if (g->vendor == GPU_NVIDIA && g->pci[0])
			gpu_labels(s, metricset_add(s, family, last), g, f->node);
	}
}

static void memory_free(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *family =
		metricset_family(s, METRIC_GAUGE, "DCGM_FI_DEV_FB_FREE", "", "Frame buffer memory free (in MiB).");
	family->foreign = true;
	for (uint32_t k = 0; k < f->gpus->set.n; k++) {
		const struct gpu_sample *g = &f->gpus->set.gpu[k];
		uint64_t used = g->value[GPU_MEMORY_USED] +
				(gpu_has(g, GPU_MEMORY_RESERVED) ? g->value[GPU_MEMORY_RESERVED] : 0);
		if (gpu_has(g, GPU_MEMORY_USED) && gpu_has(g, GPU_MEMORY_TOTAL))
			gpu_labels(
				s,
				metricset_add(s, family, (double)sub_floor(g->value[GPU_MEMORY_TOTAL], used) / 1048576),
				g, f->node);
	}
}

void metrics_of_gpus(struct metricset *s, const struct metrics_facts *f)
{
	if (!f->gpus)
		return;
	xids_last(s, f);
	memory_free(s, f);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct metric_family *family = metricset_family(s, fields[i].counter ? METRIC_COUNTER : METRIC_GAUGE,
								fields[i].name, "", fields[i].help);
		family->foreign = true;
		for (uint32_t k = 0; k < f->gpus->set.n; k++) {
			const struct gpu_sample *g = &f->gpus->set.gpu[k];
			if (gpu_has(g, fields[i].value))
				gpu_labels(
					s,
					metricset_add(s, family, (double)g->value[fields[i].value] * fields[i].scale),
					g, f->node);
		}
	}
}
