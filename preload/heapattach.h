/*
 * What vigil hands to libvigil_heap.so when it has loaded it into a process
 * that was started without it (act/inject calls vigil_heap_attach and
 * vigil_heap_detach with this block), and what comes back.
 */
#pragma once

#include <stdint.h>

#define HEAP_ATTACH_MAGIC UINT64_C(0x3354544148474956) /* "VIGHATT3" */

/*
 * A thread stands still while the profile begins, and a file system may take
 * tens of milliseconds to make a file and to give it its first blocks. So vigil
 * does that before: a file of this size, with room where the first rows go.
 */
#define HEAP_PREPARED_BYTES 15994880u
#define HEAP_PREPARED_HEAD_BYTES 4096u /* at 0 */
#define HEAP_PREPARED_AT 0xc0000u
#define HEAP_PREPARED_LEN 0x10000u
/* After so long the rest is left to the next call: see `more`. The program gets on between two. */
#define HEAP_ATTACH_BUDGET_NS 300000u

struct heap_attach {
	uint64_t magic;
	uint64_t rate_bytes; /* as VIGIL_HEAP_RATE */
	uint32_t prepared; /* 1 + generation of the file that is there already; 0: none */
	/* Back: */
	uint32_t why;        /* enum heap_why */
	uint32_t objects_patched, slots_patched; /* files whose calls lead to the library now, and how many places that is */
	uint32_t slots_left; /* places that lead to another function of that name: not ours to change */
	int32_t error;       /* errno of why */
	uint32_t took; /* the prepared file is in use */
	uint32_t more; /* something is left: call again */
	uint32_t on; /* it samples; what is left, if anything, is files, which are also found by samples */
	char dir[512];       /* as VIGIL_HEAP_DIR, as the process sees it */
};
