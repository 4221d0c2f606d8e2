/*
 * The part of Huawei's DCMI (libdcmi.so, installed with the Ascend driver) that vigil uses, after its reference. The
 * driver fills these structs, so their sizes are checked at compile time. Every call returns 0 on success.
 */
#pragma once

#include "base/base.h"

struct dcmi_chip {
	unsigned char type[32], name[32], version[32];
	uint32_t cores;
};
struct dcmi_hbm {
	uint64_t size_mib;
	uint32_t clock_mhz;
	uint64_t used_mib;
	int32_t temperature;
	uint32_t bandwidth_percent;
};
#define DCMI_PROCESSES 32 /* rows of the array that callers pass */
struct dcmi_process {
	int32_t pid;
	unsigned long bytes;
};

_Static_assert(sizeof(struct dcmi_chip) == 100, "dcmi_chip_info");
_Static_assert(sizeof(struct dcmi_hbm) == 32, "dcmi_hbm_info");
_Static_assert(sizeof(struct dcmi_process) == 16, "dcmi_proc_mem_info");

enum { DCMI_USE_CORE = 2, DCMI_USE_HBM_BANDWIDTH = 10 };
enum { DCMI_CLOCK_HBM = 6, DCMI_CLOCK_CORE = 7, DCMI_CLOCK_CORE_MAX = 9 };
