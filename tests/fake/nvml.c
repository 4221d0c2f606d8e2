/*
 * A libnvidia-ml.so.1 that is whatever its script says (script.h, named by
 * FAKE_NVML). Built twice: with FAKE_NVML_OLD it lacks what old drivers lack.
 */
#include "script.h"
#include "sense/gpu/nvml_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define VARIABLE "FAKE_NVML"

struct nvml_device {
	int index;
};
static struct nvml_device devices[SCRIPT_DEVICES];
static int initialised;

#define ENTER(device)                                                                                                  \
	do {                                                                                                           \
		int code_ = script_enter(VARIABLE, __func__, (device));                                                \
		if (code_)                                                                                             \
			return code_;                                                                                  \
		if (!initialised && strncmp(__func__, "nvmlInit", 8) != 0)                                             \
			return 1;                                                                                      \
	} while (0)

static int text_of(nvml_device d, const char *key, char *dst, uint32_t cap)
{
	const struct script_line *l = script_find(d->index, key);
	if (!l)
		return NVML_NOT_SUPPORTED;
	size_t at = 0;
	dst[0] = '\0';
	for (int i = 3; i < l->n && at < cap; i++)
		at += (size_t)snprintf(dst + at, cap - at, "%s%s", i > 3 ? " " : "", l->word[i]);
	return at < cap ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

static int u32_of(nvml_device d, const char *key, uint32_t *ret)
{
	uint64_t v;
	if (!script_value(d->index, key, &v))
		return NVML_NOT_SUPPORTED;
	*ret = (uint32_t)v;
	return NVML_OK;
}

static int u64_of(nvml_device d, const char *key, uint64_t *ret)
{
	return script_value(d->index, key, ret) ? NVML_OK : NVML_NOT_SUPPORTED;
}

#define INIT(name)                                                                                                     \
	EXPORT int name(void);                                                                                         \
	EXPORT int name(void)                                                                                          \
	{                                                                                                              \
		ENTER(-1);                                                                                             \
		initialised = 1;                                                                                       \
		return NVML_OK;                                                                                        \
	}
#define COUNT(name)                                                                                                    \
	EXPORT int name(uint32_t *n);                                                                                  \
	EXPORT int name(uint32_t *n)                                                                                   \
	{                                                                                                              \
		ENTER(-1);                                                                                             \
		*n = (uint32_t)script_devices();                                                                       \
		return NVML_OK;                                                                                        \
	}
#define BY_INDEX(name)                                                                                                 \
	EXPORT int name(uint32_t i, nvml_device *d);                                                                   \
	EXPORT int name(uint32_t i, nvml_device *d)                                                                    \
	{                                                                                                              \
		ENTER((int)i);                                                                                         \
		if ((int)i >= script_devices())                                                                        \
			return 2;                                                                                      \
		devices[i].index = (int)i;                                                                             \
		*d = &devices[i];                                                                                      \
		return NVML_OK;                                                                                        \
	}
#define TEXT(name, key)                                                                                                \
	EXPORT int name(nvml_device d, char *dst, uint32_t cap);                                                       \
	EXPORT int name(nvml_device d, char *dst, uint32_t cap)                                                        \
	{                                                                                                              \
		ENTER(d->index);                                                                                       \
		return text_of(d, key, dst, cap);                                                                      \
	}
#define NUMBER(name, type, of, key)                                                                                    \
	EXPORT int name(nvml_device d, type *ret);                                                                     \
	EXPORT int name(nvml_device d, type *ret)                                                                      \
	{                                                                                                              \
		ENTER(d->index);                                                                                       \
		return of(d, key, ret);                                                                                \
	}
/* A number with a kind: 1 is of the SMs, 2 of the memory. */
#define CLOCK(name, sm_key, memory_key)                                                                                \
	EXPORT int name(nvml_device d, int kind, uint32_t *ret);                                                       \
	EXPORT int name(nvml_device d, int kind, uint32_t *ret)                                                        \
	{                                                                                                              \
		ENTER(d->index);                                                                                       \
		return u32_of(d, kind == 2 ? memory_key : sm_key, ret);                                                \
	}

INIT(nvmlInit)
COUNT(nvmlDeviceGetCount)
BY_INDEX(nvmlDeviceGetHandleByIndex)
TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
NUMBER(nvmlDeviceGetMinorNumber, uint32_t, u32_of, "minor")
NUMBER(nvmlDeviceGetPowerUsage, uint32_t, u32_of, "power")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, uint32_t, u32_of, "power_limit")
CLOCK(nvmlDeviceGetTemperature, "temperature", "temperature")
CLOCK(nvmlDeviceGetClockInfo, "sm_clock", "memory_clock")
CLOCK(nvmlDeviceGetMaxClockInfo, "sm_clock_max", "memory_clock_max")
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, uint64_t, u64_of, "reasons")

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	ENTER(-1);
	initialised = 0;
	return NVML_OK;
}

EXPORT int nvmlSystemGetDriverVersion(char *dst, uint32_t cap);
EXPORT int nvmlSystemGetDriverVersion(char *dst, uint32_t cap)
{
	ENTER(-1);
	(void)snprintf(dst, cap, "%ld.00", script_setting("driver", 580));
	return NVML_OK;
}

EXPORT int nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *u);
EXPORT int nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *u)
{
	ENTER(d->index);
	int r = u32_of(d, "busy", &u->gpu);
	return r ? r : u32_of(d, "memory_busy", &u->memory);
}

EXPORT int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *m);
EXPORT int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *m)
{
	uint64_t reserved = 0;
	ENTER(d->index);
	if (u64_of(d, "memory_total", &m->total) || u64_of(d, "memory_used", &m->used))
		return NVML_NOT_SUPPORTED;
	(void)u64_of(d, "memory_reserved", &reserved);
	m->used += reserved; /* the old call counts it in */
	m->free = m->total - m->used;
	return NVML_OK;
}

/* stride: of the records; spare bytes of the 24-byte form stay as they are. */
static int list_of(nvml_device d, const char *list, uint32_t *count, void *to, size_t stride)
{
	uint32_t n = 0, cap = *count;
	for (int i = 0; i < script.n; i++) {
		const struct script_line *l = &script.line[i];
		if (!script_is(l, 0, "process") || script_number(l, 1) != d->index || !script_is(l, 2, list))
			continue;
		struct nvml_process_535 p = {
			.pid = (uint32_t)script_number(l, 3),
			.used_bytes = script_is(l, 4, "unknown") ? UINT64_MAX : (uint64_t)script_number(l, 4),
			.gpu_instance = UINT32_MAX,
			.compute_instance = UINT32_MAX,
		};
		if (n < cap)
			memcpy((char *)to + n * stride, &p, stride);
		n++;
	}
	*count = n;
	return n > cap ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

#define LIST(name, list, stride)                                                                                       \
	EXPORT int name(nvml_device d, uint32_t *count, void *to);                                                     \
	EXPORT int name(nvml_device d, uint32_t *count, void *to)                                                      \
	{                                                                                                              \
		ENTER(d->index);                                                                                       \
		return list_of(d, list, count, to, (size_t)(stride));                                                  \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, "compute", 16)
LIST(nvmlDeviceGetGraphicsRunningProcesses, "graphics", 16)

#ifndef FAKE_NVML_OLD
INIT(nvmlInit_v2)
COUNT(nvmlDeviceGetCount_v2)
BY_INDEX(nvmlDeviceGetHandleByIndex_v2)
NUMBER(nvmlDeviceGetTotalEnergyConsumption, uint64_t, u64_of, "energy")
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, uint64_t, u64_of, "reasons")
NUMBER(nvmlDeviceGetPcieReplayCounter, uint32_t, u32_of, "pcie_replays")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, uint32_t, u32_of, "pcie_generation")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, uint32_t, u32_of, "pcie_generation_max")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, uint32_t, u32_of, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, uint32_t, u32_of, "pcie_width_max")
LIST(nvmlDeviceGetComputeRunningProcesses_v2, "compute", 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics", 24)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, "mps", 24)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, "compute", script_setting("stride", 24))
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics", script_setting("stride", 24))
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps", script_setting("stride", 24))

EXPORT int nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci *p);
EXPORT int nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci *p)
{
	ENTER(d->index);
	memset(p, 0, sizeof(*p));
	return u32_of(d, "bus", &p->bus);
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct nvml_memory_v2 *m);
EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct nvml_memory_v2 *m)
{
	ENTER(d->index);
	if (m->version != NVML_MEMORY_V2)
		return NVML_VERSION_MISMATCH;
	if (u64_of(d, "memory_total", &m->total) || u64_of(d, "memory_used", &m->used))
		return NVML_NOT_SUPPORTED;
	m->reserved = 0;
	(void)u64_of(d, "memory_reserved", &m->reserved);
	m->free = m->total - m->used - m->reserved;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetTotalEccErrors(nvml_device d, int kind, int counter, uint64_t *ret);
EXPORT int nvmlDeviceGetTotalEccErrors(nvml_device d, int kind, int counter, uint64_t *ret)
{
	ENTER(d->index);
	(void)counter;
	return u64_of(d, kind ? "ecc_uncorrected" : "ecc_corrected", ret);
}

EXPORT int nvmlDeviceGetRemappedRows(nvml_device d, uint32_t *c, uint32_t *u, uint32_t *pending, uint32_t *failed);
EXPORT int nvmlDeviceGetRemappedRows(nvml_device d, uint32_t *c, uint32_t *u, uint32_t *pending, uint32_t *failed)
{
	ENTER(d->index);
	if (u32_of(d, "rows_correctable", c) || u32_of(d, "rows_uncorrectable", u) ||
	    u32_of(d, "rows_pending", pending))
		return NVML_NOT_SUPPORTED;
	return u32_of(d, "rows_failed", failed);
}

EXPORT int nvmlDeviceGetMigMode(nvml_device d, uint32_t *now, uint32_t *pending);
EXPORT int nvmlDeviceGetMigMode(nvml_device d, uint32_t *now, uint32_t *pending)
{
	ENTER(d->index);
	*pending = 0;
	return u32_of(d, "mig", now);
}

EXPORT int nvmlDeviceGetFieldValues(nvml_device d, int n, struct nvml_field *f);
EXPORT int nvmlDeviceGetFieldValues(nvml_device d, int n, struct nvml_field *f)
{
	ENTER(d->index);
	for (int i = 0; i < n; i++) {
		char key[32];
		(void)snprintf(key, sizeof(key), "field%u", f[i].id);
		f[i].type = f[i].id == NVML_FIELD_RECOVERY ? NVML_U32 : NVML_U64;
		f[i].value.u64 = 0;
		f[i].result = u64_of(d, key, &f[i].value.u64);
	}
	return NVML_OK;
}

EXPORT int nvmlDeviceGetProcessUtilization(nvml_device d, struct nvml_process_use *u, uint32_t *count, uint64_t since);
EXPORT int nvmlDeviceGetProcessUtilization(nvml_device d, struct nvml_process_use *u, uint32_t *count, uint64_t since)
{
	uint32_t n = 0;
	ENTER(d->index);
	for (int i = 0; i < script.n; i++) {
		const struct script_line *l = &script.line[i];
		if (!script_is(l, 0, "process") || script_number(l, 1) != d->index || l->n < 7)
			continue;
		if (n < *count)
			u[n] = (struct nvml_process_use){.pid = (uint32_t)script_number(l, 3),
							 .time_us = since + 1000000,
							 .sm = (uint32_t)script_number(l, 5),
							 .memory = (uint32_t)script_number(l, 6)};
		n++;
	}
	int r = n == 0 ? NVML_NOT_FOUND : n > *count ? NVML_INSUFFICIENT_SIZE : NVML_OK;
	*count = n;
	return r;
}

static uint64_t event_mask[SCRIPT_DEVICES];

EXPORT int nvmlEventSetCreate(nvml_events *set);
EXPORT int nvmlEventSetCreate(nvml_events *set)
{
	ENTER(-1);
	*set = (nvml_events)event_mask;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetSupportedEventTypes(nvml_device d, uint64_t *mask);
EXPORT int nvmlDeviceGetSupportedEventTypes(nvml_device d, uint64_t *mask)
{
	ENTER(d->index);
	*mask = 0x1f;
	return NVML_OK;
}

EXPORT int nvmlDeviceRegisterEvents(nvml_device d, uint64_t mask, nvml_events set);
EXPORT int nvmlDeviceRegisterEvents(nvml_device d, uint64_t mask, nvml_events set)
{
	(void)set;
	ENTER(d->index);
	if (mask & ~UINT64_C(0x1f))
		return 2; /* what is not supported must not be asked for */
	event_mask[d->index] = mask;
	return NVML_OK;
}

EXPORT int nvmlEventSetWait_v2(nvml_events set, struct nvml_event *e, uint32_t ms);
EXPORT int nvmlEventSetWait_v2(nvml_events set, struct nvml_event *e, uint32_t ms)
{
	static int told;
	int seen = 0;
	(void)set;
	ENTER(-1);
	for (int i = 0; i < script.n; i++) {
		const struct script_line *l = &script.line[i];
		long device = script_number(l, 1);
		if (!script_is(l, 0, "event") || seen++ < told)
			continue;
		told++;
		if (device < 0 || device >= SCRIPT_DEVICES || !(event_mask[device] & (uint64_t)script_number(l, 2)))
			continue;
		*e = (struct nvml_event){.device = &devices[device],
					 .type = (uint64_t)script_number(l, 2),
					 .data = (uint64_t)script_number(l, 3)};
		return NVML_OK;
	}
	(void)poll(NULL, 0, (int)ms);
	return NVML_TIMEOUT;
}
#endif
