/*
 * Samples of GPUs and NPUs of all makers, one per device. A backend (NVML, DCMI, files of the kernel) fills them in a
 * process of its own (sense/gpu/gpuprobe.h). All types have a fixed size, so that they can lie in memory shared with
 * that process, and values that were read before a call blocked are kept. A value is valid only if its bit in `has`
 * is set.
 *
 * GPU_BUSY is the share of time in which at least one kernel was running. It is 100 % also while a collective spins
 * without progress; power and memory activity distinguish this from work.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

#define GPU_MAX 32
#define GPU_PROCESSES 64
#define GPU_FINDINGS 32
#define GPU_EVENTS 32
#define GPU_DRIVERS 4

/* The evidence that a process is on a device, from strong to weak. */
enum gpu_by {
	GPU_BY_DRIVER, /* the driver's process list or its files name it */
	GPU_BY_MAPPED, /* it has mapped the device file */
	GPU_BY_VISIBLE, /* it has the device file open, and its environment makes the device visible */
	GPU_BY_OPEN, /* it has the device file open */
	GPU_BYS,
};

enum gpu_vendor { GPU_NVIDIA, GPU_HUAWEI, GPU_AMD, GPU_INTEL, GPU_OTHER };

enum gpu_value {
	GPU_BUSY, /* percent, as the driver reports it */
	GPU_MEMORY_BUSY, /* percent of time that the memory was read or written */
	GPU_MEMORY_TOTAL,
	GPU_MEMORY_USED, /* without the driver's own part, where it is reported separately */
	GPU_MEMORY_RESERVED,
	GPU_POWER,
	GPU_POWER_LIMIT,
	GPU_ENERGY, /* since the driver was loaded */
	GPU_SM_CLOCK,
	GPU_SM_CLOCK_MAX,
	GPU_MEMORY_CLOCK,
	GPU_MEMORY_CLOCK_MAX,
	GPU_TEMPERATURE, /* degrees Celsius */
	GPU_REASONS, /* why the clocks are not higher: bits of GPU_REASON_* */
	GPU_ECC_CORRECTED, /* since the driver was loaded */
	GPU_ECC_UNCORRECTED,
	GPU_ROWS_CORRECTABLE, /* memory rows replaced */
	GPU_ROWS_UNCORRECTABLE,
	GPU_ROWS_PENDING, /* 1: a replacement waits for a reset */
	GPU_ROWS_FAILED,
	GPU_RECOVERY, /* enum of gpu_recovery_name */
	GPU_PCIE_TX, /* bytes, a counter that wraps */
	GPU_PCIE_RX,
	GPU_PCIE_REPLAYS,
	GPU_PCIE_GENERATION,
	GPU_PCIE_GENERATION_MAX,
	GPU_PCIE_WIDTH,
	GPU_PCIE_WIDTH_MAX,
	GPU_NVLINK_TX, /* bytes over all links */
	GPU_NVLINK_RX,
	GPU_MIG, /* 1: divided into instances */
	GPU_HEALTH, /* DCMI: 0 ok, 1 minor, 2 major, 3 critical */
	GPU_VALUES,
};

#define GPU_REASON_IDLE 0x1u
#define GPU_REASON_HW_SLOWDOWN 0x8u
#define GPU_REASON_SW_THERMAL 0x20u
#define GPU_REASON_HW_THERMAL 0x40u
#define GPU_REASON_POWER_BRAKE 0x80u

struct gpu_process {
	pid_t driver_pid; /* in the outermost pid namespace; 0: the driver does not name it */
	pid_t pid; /* in our namespace; 0: not known */
	uint64_t memory_bytes;
	uint32_t sm_percent, memory_percent;
	uint32_t instance; /* MIG instance of a divided GPU */
	uint64_t busy_ns; /* of its engines, from the kernel's files; grows */
	bool has_memory, has_sm, has_instance, has_busy_ns;
	enum gpu_by by;
};

struct gpu_sample {
	enum gpu_vendor vendor;
	uint32_t index; /* in the driver's order */
	bool has_number;
	uint32_t number; /* in the name of its device file; see sense/gpu/gpuheld.h */
	char uuid[96], name[96], pci[32];
	uint64_t has;
	uint64_t value[GPU_VALUES];
	struct gpu_process process[GPU_PROCESSES];
	uint32_t n_processes, n_processes_dropped;
	bool has_processes; /* the list could be read, even if it is empty */
	bool lost; /* the driver reports it as lost: no more calls are made for it for a minute */
};

enum gpu_trouble {
	GPU_BLOCKED, /* a call did not answer */
	GPU_CRASHED, /* the driver's library died */
	GPU_LOST, /* fallen off the bus */
	GPU_RESET, /* must be reset */
	GPU_MISMATCH, /* library and kernel driver are of different versions */
	GPU_FAILED, /* any other error that matters */
};

struct gpu_finding {
	enum gpu_trouble trouble;
	char call[64]; /* "nvmlDeviceGetUtilizationRates" */
	int32_t code; /* as the driver returned it */
	char uuid[96]; /* empty: about the whole driver */
	char text[320];
};

/* An error that a driver reported by itself. */
struct gpu_event {
	uint64_t type; /* NVML's event bits */
	uint64_t data; /* the Xid's number, for an Xid */
	char uuid[96];
	int64_t time_unix_ms;
};

enum gpu_driver_state { GPU_DRIVER_ABSENT, GPU_DRIVER_READY, GPU_DRIVER_FAILED };

/* One driver that was tried. */
struct gpu_driver {
	char name[24]; /* "NVML" */
	enum gpu_driver_state state;
	char version[80];
	char text[320]; /* what was tried and the result */
};

struct gpu_set {
	struct gpu_sample gpu[GPU_MAX];
	uint32_t n, n_dropped;
	struct gpu_finding finding[GPU_FINDINGS];
	uint32_t n_findings, n_findings_dropped;
	struct gpu_event event[GPU_EVENTS];
	uint32_t n_events;
	struct gpu_driver driver[GPU_DRIVERS];
	uint32_t n_drivers;
};

void gpu_value_set(struct gpu_sample *g, enum gpu_value v, uint64_t value);
static inline bool gpu_has(const struct gpu_sample *g, enum gpu_value v)
{
	return g->has >> v & 1;
}
/* "busy_ratio", "power_mw": as in JSON. ratio: the value is percent and shown as a ratio; flag: as true or false. */
struct gpu_value_name {
	const char *name;
	bool ratio, flag;
};
const struct gpu_value_name *gpu_value_name(enum gpu_value v);
const char *gpu_vendor_name(enum gpu_vendor v);
/* "driver", "mapped", "visible", "open" */
const char *gpu_by_name(enum gpu_by by);
const char *gpu_trouble_name(enum gpu_trouble t);
const char *gpu_recovery_name(uint64_t action);
/* The name of one reason bit ("hw_thermal"); NULL if it has none. */
const char *gpu_reason_name(uint32_t bit);

/* The process with this driver pid, added if it is new. NULL if the list is full, which is counted. */
struct gpu_process *gpu_process_at(struct gpu_sample *g, pid_t driver_pid);
/* Adds a process that the driver does not name. False if the list is full, which is counted. */
bool gpu_process_found(struct gpu_sample *g, pid_t pid, enum gpu_by by);
/* Adds a finding and returns it. Never NULL: if the list is full it is counted and not kept. */
struct gpu_finding *gpu_finding_add(struct gpu_set *s, enum gpu_trouble t, const char *call, const char *uuid,
				    const char *fmt, ...) printf_like(5, 6);
/* Appends everything in more to set, as far as it fits. */
void gpu_set_join(struct gpu_set *set, const struct gpu_set *more);
