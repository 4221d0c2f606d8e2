/*
 * Samples NVIDIA GPUs through NVML, which is loaded at run time. Runs in the child of gpuprobe, because any of these
 * calls can block or crash. One sample of a healthy device takes about 20 calls.
 */
#include "sense/gpu/nvml_abi.h"

#include <dlfcn.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/dynlib.h"
#include "base/foreign_path.h"
#include "sense/gpu/gpuprobe.h"

#define LIBRARY "libnvidia-ml.so.1"
#define LOST_RETRY_NS (60 * NS_PER_S)
#define LIST_MAX 256

/* Member, its parameters, and its possible symbols, newest first. Only init, count and by_index are required. */
#define FUNCTIONS(F)                                                                                                   \
	F(init, (void), "nvmlInit_v2", "nvmlInit")                                                                     \
	F(count, (uint32_t *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                                          \
	F(by_index, (uint32_t, nvml_device *), "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex")          \
	F(shutdown, (void), "nvmlShutdown")                                                                            \
	F(driver_version, (char *, uint32_t), "nvmlSystemGetDriverVersion")                                            \
	F(name, (nvml_device, char *, uint32_t), "nvmlDeviceGetName")                                                  \
	F(uuid, (nvml_device, char *, uint32_t), "nvmlDeviceGetUUID")                                                  \
	F(minor, (nvml_device, uint32_t *), "nvmlDeviceGetMinorNumber")                                                \
	F(pci, (nvml_device, struct nvml_pci *), "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2")                 \
	F(utilization, (nvml_device, struct nvml_utilization *), "nvmlDeviceGetUtilizationRates")                      \
	F(memory_v2, (nvml_device, struct nvml_memory_v2 *), "nvmlDeviceGetMemoryInfo_v2")                             \
	F(memory, (nvml_device, struct nvml_memory *), "nvmlDeviceGetMemoryInfo")                                      \
	F(power, (nvml_device, uint32_t *), "nvmlDeviceGetPowerUsage")                                                 \
	F(power_limit, (nvml_device, uint32_t *), "nvmlDeviceGetEnforcedPowerLimit")                                   \
	F(energy, (nvml_device, uint64_t *), "nvmlDeviceGetTotalEnergyConsumption")                                    \
	F(temperature, (nvml_device, int, uint32_t *), "nvmlDeviceGetTemperature")                                     \
	F(clock, (nvml_device, int, uint32_t *), "nvmlDeviceGetClockInfo")                                             \
	F(clock_max, (nvml_device, int, uint32_t *), "nvmlDeviceGetMaxClockInfo")                                      \
	F(reasons, (nvml_device, uint64_t *), "nvmlDeviceGetCurrentClocksEventReasons",                                \
	  "nvmlDeviceGetCurrentClocksThrottleReasons")                                                                 \
	F(ecc, (nvml_device, int, int, uint64_t *), "nvmlDeviceGetTotalEccErrors")                                     \
	F(rows, (nvml_device, uint32_t *, uint32_t *, uint32_t *, uint32_t *), "nvmlDeviceGetRemappedRows")            \
	F(pcie_replays, (nvml_device, uint32_t *), "nvmlDeviceGetPcieReplayCounter")                                   \
	F(pcie_generation, (nvml_device, uint32_t *), "nvmlDeviceGetCurrPcieLinkGeneration")                           \
	F(pcie_generation_max, (nvml_device, uint32_t *), "nvmlDeviceGetMaxPcieLinkGeneration")                        \
	F(pcie_width, (nvml_device, uint32_t *), "nvmlDeviceGetCurrPcieLinkWidth")                                     \
	F(pcie_width_max, (nvml_device, uint32_t *), "nvmlDeviceGetMaxPcieLinkWidth")                                  \
	F(fields, (nvml_device, int, struct nvml_field *), "nvmlDeviceGetFieldValues")                                 \
	F(mig, (nvml_device, uint32_t *, uint32_t *), "nvmlDeviceGetMigMode")                                          \
	F(compute, (nvml_device, uint32_t *, void *), "nvmlDeviceGetComputeRunningProcesses_v3",                       \
	  "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses")                           \
	F(graphics, (nvml_device, uint32_t *, void *), "nvmlDeviceGetGraphicsRunningProcesses_v3",                     \
	  "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses")                         \
	F(mps, (nvml_device, uint32_t *, void *), "nvmlDeviceGetMPSComputeRunningProcesses_v3",                        \
	  "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses")                     \
	F(process_use, (nvml_device, struct nvml_process_use *, uint32_t *, uint64_t),                                 \
	  "nvmlDeviceGetProcessUtilization")                                                                           \
	F(events_create, (nvml_events *), "nvmlEventSetCreate")                                                        \
	F(events_supported, (nvml_device, uint64_t *), "nvmlDeviceGetSupportedEventTypes")                             \
	F(events_register, (nvml_device, uint64_t, nvml_events), "nvmlDeviceRegisterEvents")                           \
	F(events_wait, (nvml_events, struct nvml_event *, uint32_t), "nvmlEventSetWait_v2", "nvmlEventSetWait")

struct device {
	nvml_device handle;
	uint32_t index;
	bool has_number;
	uint32_t number;
	char uuid[96], name[96], pci[32];
	uint64_t lost_until_ns;
	uint64_t use_seen_us;
	bool bare; /* NVML gave no handle for it */
};

struct nvml {
	void *library;
	struct gpu_call *call;
	const struct world *world;
#define MEMBER(member, parameters, ...) int(*member) parameters;
	FUNCTIONS(MEMBER)
#define SYMBOL(member, parameters, ...) const char *member##_symbol;
	FUNCTIONS(SYMBOL)
	struct device device[GPU_MAX];
	uint32_t n, n_dropped;
	nvml_events events;
	bool guess_32; /* the library's symbols are those of the drivers with 32-byte process records */
	uint8_t list[32 * LIST_MAX];
	struct nvml_process_use use[LIST_MAX];
};

/* Calls a function with its name in *call. NVML_FUNCTION_NOT_FOUND if the library has no such function. */
#define CALL(nv, member, ...)                                                                                          \
	({                                                                                                             \
		int answer_ = NVML_FUNCTION_NOT_FOUND;                                                                 \
		if ((nv)->member) {                                                                                    \
			gpu_call_begin((nv)->call, (nv)->member##_symbol);                                             \
			answer_ = (nv)->member(__VA_ARGS__);                                                           \
			gpu_call_end((nv)->call);                                                                      \
		}                                                                                                      \
		answer_;                                                                                               \
	})

/* Sets slot to the first of the names that the library has, and *ret_name to that name. */
static void symbol_find(void *library, const char *const *names, void *slot, const char **ret_name)
{
	while (*names && !dynlib_symbol(library, *names, slot))
		names++;
	*ret_name = *names;
}

static bool symbol_exists(void *library, const char *name)
{
	void *at;
	return dynlib_symbol(library, name, &at);
}

static void symbols_bind(struct nvml *nv)
{
#define BIND(m, parameters, ...)                                                                                       \
	{                                                                                                              \
		static const char *const names[] = {__VA_ARGS__, NULL};                                                \
		symbol_find(nv->library, names, &nv->m, &nv->m##_symbol);                                              \
	}
	FUNCTIONS(BIND)
	nv->guess_32 = symbol_exists(nv->library, "nvmlDeviceGetConfComputeMemSizeInfo") &&
		       !symbol_exists(nv->library, "nvmlDeviceGetRunningProcessDetailList");
}

static const char *code_text(int code)
{
	switch (code) {
	case NVML_NO_PERMISSION:
		return "no permission";
	case NVML_DRIVER_NOT_LOADED:
		return "the kernel driver is not loaded";
	case NVML_GPU_IS_LOST:
		return "GPU is lost";
	case NVML_RESET_REQUIRED:
		return "reset required";
	case NVML_MISMATCH:
		return "library and kernel driver are of different versions";
	case NVML_UNKNOWN:
		return "unknown error";
	default:
		return "refused";
	}
}

/* Adds a finding if the code means trouble. True if no more calls should be made for the device. */
static bool trouble_report(struct nvml *nv, struct device *d, int code, const char *call, struct gpu_set *out)
{
	enum gpu_trouble t = code == NVML_GPU_IS_LOST	   ? GPU_LOST
			     : code == NVML_RESET_REQUIRED ? GPU_RESET
							   : GPU_MISMATCH;
	if (code != NVML_GPU_IS_LOST && code != NVML_RESET_REQUIRED && code != NVML_MISMATCH)
		return false;
	static const char *const what[] = {
		[GPU_LOST] = "the driver has lost this GPU (fallen off the bus, or its firmware does not answer): the "
			     "job on "
			     "it cannot go on; reset it or reboot the node, and look for Xid 79 in the kernel log",
		[GPU_RESET] = "this GPU needs a reset before it can be used again: end what uses it, then nvidia-smi "
			      "--gpu-reset, or reboot the node",
		[GPU_MISMATCH] =
			"the driver was exchanged while its old kernel part is loaded: new CUDA programs cannot start "
			"until the kernel module is loaded anew or the node is rebooted",
	};
	struct gpu_finding *f =
		gpu_finding_add(out, t, call, d ? d->uuid : "", "%s%s%s answered %d (%s): %s", d ? "GPU " : "",
				d && d->uuid[0] ? d->uuid : "", d ? "" : call, code, code_text(code), what[t]);
	f->code = code;
	if (d)
		d->lost_until_ns = nv->world->mono_ns() + LOST_RETRY_NS;
	return d != NULL;
}

/* The environment can name another library, for tests. */
static const char *library_path(void)
{
	const char *p = foreign_path_variable("VIGIL_NVML_PATH");
	return p ? p : LIBRARY;
}

static void devices_find(struct nvml *nv, struct gpu_set *out)
{
	uint32_t n = 0;
	int r = CALL(nv, count, &n);
	if (r != NVML_OK) {
		trouble_report(nv, NULL, r, nv->count_symbol, out);
		return;
	}
	nv->n = MIN(n, (uint32_t)GPU_MAX);
	nv->n_dropped = n - nv->n;
	for (uint32_t i = 0; i < nv->n; i++) {
		struct device *d = &nv->device[i];
		struct nvml_pci pci = {.domain = 0};
		*d = (struct device){.index = i};
		r = CALL(nv, by_index, i, &d->handle);
		if (r != NVML_OK) {
			d->bare = true;
			TEXT_FORMAT(d->uuid, "nvidia index %u", i);
			if (!trouble_report(nv, d, r, nv->by_index_symbol, out)) {
				struct gpu_finding *f = gpu_finding_add(
					out, GPU_FAILED, nv->by_index_symbol, d->uuid,
					"GPU %u cannot be opened: NVML answered %d (%s)", i, r, code_text(r));
				f->code = r;
			}
			continue;
		}
		ignore(CALL(nv, name, d->handle, d->name, sizeof(d->name)), "empty then");
		ignore(CALL(nv, uuid, d->handle, d->uuid, sizeof(d->uuid)), "empty then");
		d->has_number = CALL(nv, minor, d->handle, &d->number) == NVML_OK;
		if (CALL(nv, pci, d->handle, &pci) == NVML_OK)
			TEXT_FORMAT(d->pci, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
		d->name[sizeof(d->name) - 1] = d->uuid[sizeof(d->uuid) - 1] = '\0';
	}
}

static void events_begin(struct nvml *nv)
{
	if (CALL(nv, events_create, &nv->events) != NVML_OK) {
		nv->events = NULL;
		return;
	}
	for (uint32_t i = 0; i < nv->n; i++) {
		uint64_t can = 0;
		if (!nv->device[i].bare && CALL(nv, events_supported, nv->device[i].handle, &can) == NVML_OK)
			ignore(CALL(nv, events_register, nv->device[i].handle, can & NVML_EVENTS_WANTED, nv->events),
			       "the kernel log tells of Xids, too");
	}
}

static void open_nvml(const struct world *w, struct gpu_call *call, void **ret_state, struct gpu_set *out)
{
	static struct nvml nv; /* The child runs one backend only. */
	struct gpu_driver *d = &out->driver[out->n_drivers];
	*d = (struct gpu_driver){.name = "NVML", .state = GPU_DRIVER_ABSENT};
	nv = (struct nvml){.call = call, .world = w};
	gpu_call_begin(call, "dlopen");
	nv.library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
	gpu_call_end(call);
	*ret_state = &nv;
	if (!nv.library) {
		const char *why = dlerror();
		TEXT_FORMAT(d->text, "%s cannot be loaded (%s)", library_path(), why ? why : "no reason given");
		out->n_drivers++;
		return;
	}
	symbols_bind(&nv);
	d->state = GPU_DRIVER_FAILED;
	if (!nv.init || !nv.count || !nv.by_index) {
		TEXT_FORMAT(d->text, "%s lacks nvmlInit, nvmlDeviceGetCount or nvmlDeviceGetHandleByIndex",
			    library_path());
		out->n_drivers++;
		return;
	}
	int r = CALL(&nv, init);
	if (r != NVML_OK) {
		TEXT_FORMAT(d->text, "%s is here, but %s answered %d (%s)", library_path(), nv.init_symbol, r,
			    code_text(r));
		if (r == NVML_DRIVER_NOT_LOADED)
			d->state = GPU_DRIVER_ABSENT;
		trouble_report(&nv, NULL, r, nv.init_symbol, out);
		out->n_drivers++;
		return;
	}
	ignore(CALL(&nv, driver_version, d->version, sizeof(d->version)), "empty then");
	d->version[sizeof(d->version) - 1] = '\0';
	devices_find(&nv, out);
	events_begin(&nv);
	d->state = GPU_DRIVER_READY;
	TEXT_FORMAT(d->text, "%s: %u devices", library_path(), nv.n);
	out->n_drivers++;
}

struct reading {
	struct nvml *nv;
	struct device *d;
	struct gpu_sample *g;
	struct gpu_set *out;
};

/* True if the call succeeded. Marks the device as lost if it should not be called any more; ASK then skips it. */
static bool call_ok(const struct reading *a, int code, const char *call)
{
	if (code == NVML_OK)
		return true;
	if (trouble_report(a->nv, a->d, code, call, a->out))
		a->g->lost = true;
	return false;
}

/* True if the device is not lost and the call succeeded. */
#define ASK(a, member, ...)                                                                                            \
	(!(a)->g->lost && call_ok((a), CALL((a)->nv, member, (a)->d->handle, __VA_ARGS__), (a)->nv->member##_symbol))

static void use_read(const struct reading *a)
{
	struct nvml_utilization u = {0, 0};
	if (!ASK(a, utilization, &u))
		return;
	if (u.gpu <= 100)
		gpu_value_set(a->g, GPU_BUSY, u.gpu);
	if (u.memory <= 100)
		gpu_value_set(a->g, GPU_MEMORY_BUSY, u.memory);
}

static void memory_read(const struct reading *a)
{
	struct nvml_memory_v2 two = {.version = NVML_MEMORY_V2};
	struct nvml_memory one = {0, 0, 0};
	if (ASK(a, memory_v2, &two)) {
		gpu_value_set(a->g, GPU_MEMORY_TOTAL, two.total);
		gpu_value_set(a->g, GPU_MEMORY_USED, two.used);
		gpu_value_set(a->g, GPU_MEMORY_RESERVED, two.reserved);
	} else if (ASK(a, memory, &one)) {
		gpu_value_set(a->g, GPU_MEMORY_TOTAL, one.total);
		gpu_value_set(a->g, GPU_MEMORY_USED, one.used);
	}
}

static void rates_read(const struct reading *a)
{
	struct gpu_sample *g = a->g;
	uint32_t v = 0;
	uint64_t big = 0;
	if (ASK(a, power, &v))
		gpu_value_set(g, GPU_POWER, v);
	if (ASK(a, power_limit, &v))
		gpu_value_set(g, GPU_POWER_LIMIT, v);
	if (ASK(a, energy, &big))
		gpu_value_set(g, GPU_ENERGY, big);
	if (ASK(a, temperature, 0, &v) && v < 1000)
		gpu_value_set(g, GPU_TEMPERATURE, v);
	if (ASK(a, clock, 1, &v))
		gpu_value_set(g, GPU_SM_CLOCK, v);
	if (ASK(a, clock, 2, &v))
		gpu_value_set(g, GPU_MEMORY_CLOCK, v);
	if (ASK(a, clock_max, 1, &v))
		gpu_value_set(g, GPU_SM_CLOCK_MAX, v);
	if (ASK(a, clock_max, 2, &v))
		gpu_value_set(g, GPU_MEMORY_CLOCK_MAX, v);
	if (ASK(a, reasons, &big))
		gpu_value_set(g, GPU_REASONS, big);
}

static void health_read(const struct reading *a)
{
	struct gpu_sample *g = a->g;
	uint32_t v = 0, pending = 0, row[4] = {0, 0, 0, 0};
	uint64_t errors = 0;
	if (ASK(a, ecc, 0, 0, &errors))
		gpu_value_set(g, GPU_ECC_CORRECTED, errors);
	if (ASK(a, ecc, 1, 0, &errors))
		gpu_value_set(g, GPU_ECC_UNCORRECTED, errors);
	if (ASK(a, rows, &row[0], &row[1], &row[2], &row[3])) {
		gpu_value_set(g, GPU_ROWS_CORRECTABLE, row[0]);
		gpu_value_set(g, GPU_ROWS_UNCORRECTABLE, row[1]);
		gpu_value_set(g, GPU_ROWS_PENDING, row[2] != 0);
		gpu_value_set(g, GPU_ROWS_FAILED, row[3] != 0);
	}
	if (ASK(a, pcie_replays, &v))
		gpu_value_set(g, GPU_PCIE_REPLAYS, v);
	if (ASK(a, pcie_generation, &v))
		gpu_value_set(g, GPU_PCIE_GENERATION, v);
	if (ASK(a, pcie_generation_max, &v))
		gpu_value_set(g, GPU_PCIE_GENERATION_MAX, v);
	if (ASK(a, pcie_width, &v))
		gpu_value_set(g, GPU_PCIE_WIDTH, v);
	if (ASK(a, pcie_width_max, &v))
		gpu_value_set(g, GPU_PCIE_WIDTH_MAX, v);
	if (ASK(a, mig, &v, &pending))
		gpu_value_set(g, GPU_MIG, v != 0);
}

static bool field_u64(const struct nvml_field *f, uint64_t *ret)
{
	switch (f->result == NVML_OK ? f->type : -1) {
	case NVML_U32:
		*ret = f->value.u32;
		return true;
	case NVML_ULONG:
	case NVML_U64:
		*ret = f->value.u64;
		return true;
	case NVML_I64:
		*ret = (uint64_t)MAX(f->value.i64, 0);
		return true;
	case NVML_I32:
		*ret = (uint64_t)MAX(f->value.i32, 0);
		return true;
	case NVML_U16:
		*ret = f->value.u16;
		return true;
	default:
		return false;
	}
}

/* Reads all counters in one call. nvmlDeviceGetPcieThroughput would block for 20 ms per counter. */
static void fields_read(const struct reading *a)
{
	static const struct {
		uint32_t id, scope;
		enum gpu_value value;
		uint64_t unit;
	} wanted[] = {
		{NVML_FIELD_NVLINK_TX_KIB, NVML_ALL_LINKS, GPU_NVLINK_TX, KIB},
		{NVML_FIELD_NVLINK_RX_KIB, NVML_ALL_LINKS, GPU_NVLINK_RX, KIB},
		{NVML_FIELD_PCIE_TX, 0, GPU_PCIE_TX, 1},
		{NVML_FIELD_PCIE_RX, 0, GPU_PCIE_RX, 1},
		{NVML_FIELD_RECOVERY, 0, GPU_RECOVERY, 1},
	};
	struct nvml_field f[ARRAY_SIZE(wanted)];
	memset(f, 0, sizeof(f));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		f[i] = (struct nvml_field){.id = wanted[i].id, .scope = wanted[i].scope, .result = NVML_UNKNOWN};
	if (!ASK(a, fields, (int)ARRAY_SIZE(f), f))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		uint64_t v;
		if (field_u64(&f[i], &v))
			gpu_value_set(a->g, wanted[i].value, v * wanted[i].unit);
	}
}

static bool pid_sane(uint32_t pid)
{
	return pid > 0 && pid <= 4194304; /* the kernel's highest pid_max */
}

static size_t sane_pids(const uint8_t *raw, size_t n, size_t stride)
{
	size_t good = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t pid;
		memcpy(&pid, raw + i * stride, sizeof(pid));
		good += pid_sane(pid) ? 1 : 0;
	}
	return good;
}

size_t nvml_stride(const uint8_t *raw, size_t n, bool guess_32)
{
	bool untouched = true, zero = true;
	for (size_t i = 24 * n; i < 32 * n; i++) {
		untouched = untouched && raw[i] == NVML_POISON;
		zero = zero && raw[i] == 0;
	}
	size_t stride = untouched ? 24 : zero ? (guess_32 ? 32 : 24) : 32;
	size_t other = stride == 24 ? 32 : 24;
	return sane_pids(raw, n, other) > sane_pids(raw, n, stride) ? other : stride;
}

static void records_take(const struct reading *a, size_t n, size_t stride)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at = a->nv->list + i * stride;
		struct nvml_process_v2 record = {.gpu_instance = UINT32_MAX};
		memcpy(&record, at, MIN(stride, sizeof(record)));
		struct gpu_process *p = pid_sane(record.pid) ? gpu_process_at(a->g, (pid_t)record.pid) : NULL;
		if (!p)
			continue;
		if (record.used_bytes != UINT64_MAX) {
			/* One process can be in several lists, each time with all its memory. */
			p->memory_bytes = MAX(p->memory_bytes, record.used_bytes);
			p->has_memory = true;
		}
		if (stride >= 24 && record.gpu_instance != UINT32_MAX) {
			p->instance = record.gpu_instance;
			p->has_instance = true;
		}
	}
}

/* Reads one of the three process lists. The suffix of the symbol tells the size of its records. */
static void list_read(const struct reading *a, int (*fn)(nvml_device, uint32_t *, void *), const char *symbol)
{
	struct nvml *nv = a->nv;
	uint32_t n = LIST_MAX;
	if (!fn || a->g->lost)
		return;
	memset(nv->list, NVML_POISON, sizeof(nv->list));
	gpu_call_begin(nv->call, symbol);
	int r = fn(a->d->handle, &n, nv->list);
	gpu_call_end(nv->call);
	if (r == NVML_INSUFFICIENT_SIZE) {
		a->g->n_processes_dropped += n; /* more than LIST_MAX */
		return;
	}
	if (!call_ok(a, r, symbol))
		return;
	a->g->has_processes = true;
	size_t len = strlen(symbol), known = MIN(n, (uint32_t)LIST_MAX);
	size_t stride = len > 3 && strcmp(symbol + len - 3, "_v3") == 0	  ? nvml_stride(nv->list, known, nv->guess_32)
			: len > 3 && strcmp(symbol + len - 3, "_v2") == 0 ? sizeof(struct nvml_process_v2)
									  : sizeof(struct nvml_process_v1);
	records_take(a, known, stride);
}

static struct gpu_process *process_known(struct gpu_sample *g, uint32_t pid)
{
	for (uint32_t i = 0; i < g->n_processes; i++)
		if (g->process[i].driver_pid == (pid_t)pid)
			return &g->process[i];
	return NULL;
}

/* NVML also returns samples of ended processes, old ones and ones above 100 %; these are skipped. */
static void process_use_read(const struct reading *a)
{
	struct nvml *nv = a->nv;
	uint32_t n = LIST_MAX;
	uint64_t newest = a->d->use_seen_us;
	memset(nv->use, 0, sizeof(nv->use));
	if (a->g->n_processes == 0 || !ASK(a, process_use, nv->use, &n, a->d->use_seen_us))
		return;
	uint64_t seen[GPU_PROCESSES] = {0};
	for (uint32_t i = 0; i < MIN(n, (uint32_t)LIST_MAX); i++) {
		const struct nvml_process_use *u = &nv->use[i];
		struct gpu_process *p = process_known(a->g, u->pid);
		newest = MAX(newest, u->time_us);
		if (!p || u->sm > 100 || u->memory > 100 || u->time_us <= a->d->use_seen_us ||
		    u->time_us < seen[p - a->g->process])
			continue;
		seen[p - a->g->process] = u->time_us;
		p->sm_percent = u->sm;
		p->memory_percent = u->memory;
		p->has_sm = true;
	}
	a->d->use_seen_us = newest;
}

static void nvml_device_read(struct nvml *nv, struct device *d, struct gpu_set *out)
{
	if (out->n == GPU_MAX) {
		out->n_dropped++;
		return;
	}
	struct gpu_sample *g = &out->gpu[out->n];
	memset(g, 0, sizeof(*g));
	g->vendor = GPU_NVIDIA;
	g->index = d->index;
	g->has_number = d->has_number;
	g->number = d->number;
	TEXT_COPY(g->uuid, d->uuid);
	TEXT_COPY(g->name, d->name);
	TEXT_COPY(g->pci, d->pci);
	out->n++; /* If a later call blocks, the device is still reported, with the values read so far. */
	g->lost = d->bare || nv->world->mono_ns() < d->lost_until_ns;
	const struct reading a = {nv, d, g, out};
	use_read(&a);
	memory_read(&a);
	list_read(&a, nv->compute, nv->compute_symbol);
	list_read(&a, nv->graphics, nv->graphics_symbol);
	list_read(&a, nv->mps, nv->mps_symbol);
	process_use_read(&a);
	rates_read(&a);
	health_read(&a);
	fields_read(&a);
}

static void events_read(struct nvml *nv, struct gpu_set *out)
{
	struct nvml_event e = {.type = 0};
	while (nv->events && out->n_events < GPU_EVENTS && CALL(nv, events_wait, nv->events, &e, 0) == NVML_OK) {
		struct gpu_event *to = &out->event[out->n_events++];
		*to = (struct gpu_event){.type = e.type, .data = e.data, .time_unix_ms = nv->world->unix_ms()};
		for (uint32_t i = 0; i < nv->n; i++)
			if (nv->device[i].handle == e.device)
				TEXT_COPY(to->uuid, nv->device[i].uuid);
	}
}

static void sample_nvml(void *state, struct gpu_set *out)
{
	struct nvml *nv = state;
	out->n_dropped = nv->n_dropped;
	for (uint32_t i = 0; i < nv->n; i++)
		nvml_device_read(nv, &nv->device[i], out);
	events_read(nv, out);
}

const struct gpu_backend gpu_backend_nvml = {"NVML", LIBRARY, open_nvml, sample_nvml};
