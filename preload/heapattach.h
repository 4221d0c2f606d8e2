/*
 * What vigil passes to libvigil_heap.so after it has loaded it into a process that was started without it (act/inject
 * calls vigil_heap_attach and vigil_heap_detach with this block), and what it gets back.
 */
#pragma once

#include <stdint.h>

#define HEAP_ATTACH_MAGIC UINT64_C(0x3354544148474956) /* "VIGHATT3" */

/*
 * One thread is stopped while the profile begins, and a file system may take tens of milliseconds to create a file and
 * allocate its first blocks. So vigil prepares the file before: of this size, with blocks where the first rows go.
 */
#define HEAP_PREPARED_BYTES 15994880u
#define HEAP_PREPARED_HEAD_BYTES 4096u /* bytes allocated at offset 0 */
#define HEAP_PREPARED_AT 0xc0000u
#define HEAP_PREPARED_LEN 0x10000u
/* After this time a call ends and the rest is left to the next one: see `more`. The program runs in between. */
#define HEAP_ATTACH_BUDGET_NS 300000u

struct heap_attach {
	uint64_t magic;
	uint64_t rate_bytes; /* as VIGIL_HEAP_RATE */
	uint32_t prepared; /* 1 + generation of the prepared file; 0: there is none */
	/* Results: */
	uint32_t why;        /* enum heap_why */
	/* files whose calls lead to the library now, and the number of changed words */
	uint32_t objects_patched, slots_patched;
	uint32_t slots_left; /* words that lead to another function of that name and are left unchanged */
	int32_t error;       /* errno of why */
	uint32_t took; /* the prepared file is in use */
	uint32_t more; /* work is left: call again */
	uint32_t on; /* it samples; if work is left, it is files, which samples find as well */
	char dir[512];       /* as VIGIL_HEAP_DIR, in the process's own view */
};
