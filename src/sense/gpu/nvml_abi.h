/*
 * The part of NVIDIA's NVML interface (nvml.h, API version 13) that vigil uses, written from its documentation. The
 * driver fills these structs, so their sizes are checked at compile time. A version word is the struct's size, with
 * the struct's version in the top byte.
 */
#pragma once

#include "base/base.h"

enum {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_MISMATCH = 18,
	NVML_VERSION_MISMATCH = 25,
	NVML_UNKNOWN = 999,
};

typedef struct nvml_device *nvml_device;
typedef struct nvml_events *nvml_events;

struct nvml_utilization {
	uint32_t gpu, memory;
};
struct nvml_memory {
	uint64_t total, free, used;
};
#define NVML_MEMORY_V2 0x02000028u
struct nvml_memory_v2 {
	uint32_t version;
	uint64_t total, reserved, free, used;
};
struct nvml_pci {
	char bus_id_legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};
struct nvml_process_v1 {
	uint32_t pid;
	uint64_t used_bytes;
};
struct nvml_process_v2 {
	uint32_t pid;
	uint64_t used_bytes;
	uint32_t gpu_instance, compute_instance;
};
/* The record that drivers of the R535 branch write for a _v3 call. */
struct nvml_process_535 {
	uint32_t pid;
	uint64_t used_bytes;
	uint32_t gpu_instance, compute_instance;
	uint64_t protected_bytes;
};
struct nvml_process_use {
	uint32_t pid;
	uint64_t time_us;
	uint32_t sm, memory, encoder, decoder;
};
struct nvml_event {
	nvml_device device;
	uint64_t type, data;
	uint32_t gpu_instance, compute_instance;
};
struct nvml_field {
	uint32_t id, scope;
	int64_t time_us, latency_us;
	int32_t type, result;
	union {
		double d;
		uint32_t u32;
		uint64_t u64;
		int64_t i64;
		int32_t i32;
		uint16_t u16;
	} value;
};

_Static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(struct nvml_process_v2) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct nvml_process_535) == 32, "nvmlProcessInfo of 535");
_Static_assert(sizeof(struct nvml_process_use) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_event) == 32, "nvmlEventData_t");
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
_Static_assert(offsetof(struct nvml_field, value) == 32, "nvmlFieldValue_t.value");
_Static_assert(offsetof(struct nvml_process_535, protected_bytes) == 24, "nvmlProcessInfo of 535");
_Static_assert(offsetof(struct nvml_pci, bus_id) == 36, "nvmlPciInfo_t.busId");

/* Types of the value in struct nvml_field. */
enum { NVML_DOUBLE, NVML_U32, NVML_ULONG, NVML_U64, NVML_I64, NVML_I32, NVML_U16 };
enum {
	NVML_FIELD_NVLINK_TX_KIB = 138,
	NVML_FIELD_NVLINK_RX_KIB = 139,
	NVML_FIELD_PCIE_TX = 197,
	NVML_FIELD_PCIE_RX = 198,
	NVML_FIELD_RECOVERY = 230,
};
#define NVML_ALL_LINKS 0xffffffffu

#define NVML_EVENTS_WANTED 0xfc0bu /* ECC, Xid, page and row retirement, poison, gone, recovery action */
#define NVML_EVENT_XID 0x8u

/*
 * Returns the size of one record, 24 or 32 bytes, in a process list that a `_v3` call wrote over memory preset to
 * NVML_POISON. raw: n records in 32·n bytes. guess_32: what the library's symbols suggest; used when the bytes behind n
 * records of 24 bytes are all zero. The other size is taken if it gives more plausible pids.
 */
#define NVML_POISON 0xa5
size_t nvml_stride(const uint8_t *raw, size_t n, bool guess_32);
