/*
 * The shared region of the heap sampler: one file per process image, written by libvigil_heap.so inside the process,
 * read by vigil at any time, also after SIGKILL. docs/formats/heap.md describes it in words.
 *
 * Native byte order, 64-bit machines only. Every table begins at an offset that the header names, with its number of
 * rows and the size of one, so a reader need not know how large this writer made them. A reader must check: magic and
 * version; that each table is 8-byte aligned, lies behind the header and within the file; that item_bytes is at least
 * what it knows (larger: a newer writer, skip the rest); and each index, offset and length it follows. A file shorter
 * than file_bytes is damaged. Bytes never touched are 0.
 *
 * How rows appear: a row is filled first and its `state` (of a live slot: its `ptr`) is stored last with release order,
 * so a writer that was killed leaves no half-written row visible. There is no lock in the file. Sums are single 64-bit
 * words, added to atomically: each is whole, but two of them may be one sample apart.
 */
#pragma once

#include <stdint.h>

#define HEAP_MAGIC UINT64_C(0x3150484c49474956) /* "VIGILHP1"; stored last, so a header with it is complete */
#define HEAP_VERSION 1 /* another format has another number; additions at the end of rows and the header keep it */
#define HEAP_FILE_BYTES_MAX (16u << 20)
#define HEAP_CONTROL_MAGIC UINT64_C(0x314c544c49474956) /* "VIGILTL1" */

#define HEAP_RATE_DEFAULT (512u << 10)
#define HEAP_RATE_MIN 4096u
#define HEAP_RATE_MAX (16u << 20)

#define HEAP_FRAMES_MAX 64 /* frames of each kind in one stack: of more, the innermost 48 and the outermost 16 */
#define HEAP_FRAMES_INNER 48
#define HEAP_LIFETIMES 12 /* [0] < 1 ms, [1] < 4 ms, [k] < 4^k ms, [11] all longer */

/* How this image of the process got a region. */
enum heap_origin { HEAP_BY_START, HEAP_BY_FORK, HEAP_BY_EXEC, HEAP_BY_ATTACH };

enum heap_state { HEAP_RUNNING = 1, HEAP_ENDED = 2, HEAP_DETACHED = 3 };

/*
 * The allocator that was asked for the memory. The same bytes can be in MMAP and, divided, in another one: never add
 * MMAP_PYTHON and OBJECT + MEM (the writer leaves out the first while it counts the others).
 */
enum heap_domain {
	HEAP_MALLOC, /* malloc and its relatives, C++ new included */
	HEAP_MMAP, /* anonymous memory from mmap, mremap */
	HEAP_MMAP_PYTHON, /* arenas that Python's object allocator mapped */
	HEAP_OBJECT, /* PyObject_Malloc, with VIGIL_HEAP_OBJECTS=1 */
	HEAP_MEM, /* PyMem_Malloc: the same */
	HEAP_DOMAINS,
	HEAP_STACKS_RESERVED = 8, /* stack row d < 8: domain d, no frames, for samples that fit in no other row */
};

/* Samples that are not in the tables, by reason. Their bytes are in heap_header.lost_bytes. */
enum heap_lost {
	HEAP_LOST_LIVE_FULL, /* counted in total, not in live: the table of live samples is full */
	HEAP_LOST_NO_SPACE, /* the file system is full */
	HEAP_LOST_NESTED, /* taken inside of the sampler, by a signal handler that interrupted it */
	HEAP_LOST_STACK_FULL, /* counted, in a reserved row: the table of stacks is full */
	HEAP_LOST_AT_BEGIN, /* another thread was creating the region */
	HEAP_LOST_REASONS = 8,
};

/* Reasons for no sampling, or less of it: python_why of the header, struct heap_status, the name of an .off file. */
enum heap_why {
	HEAP_FINE = 0,
	HEAP_WHY_NO_DIR = 1, /* VIGIL_HEAP_DIR is not set, or cannot be opened here */
	HEAP_WHY_NOT_MADE = 2, /* the file cannot be created: read-only, denied, no file descriptor */
	HEAP_WHY_NO_SPACE = 3, /* no space for its first bytes, or a file system that cannot reserve space */
	HEAP_WHY_NOT_MAPPED = 4,
	HEAP_WHY_NO_SYMBOL = 5, /* the allocator's functions were not found */
	HEAP_WHY_NO_PYTHON = 6, /* no CPython here, or not yet */
	HEAP_WHY_PYTHON_UNKNOWN = 7, /* its layout is unknown: native frames only */
	HEAP_WHY_BAD_FILE = 8, /* a descriptor that was passed in is no region of this version */
	HEAP_WHY_NOT_MINE = 9, /* a child of vfork or of a raw clone */
};

/* Estimates. Each sample of Z bytes at rate R adds w = Z / (1 - exp(-Z / R)), so sums are unbiased. */
struct heap_sum {
	uint64_t bytes; /* sum of w */
	uint64_t count_256; /* estimated number of blocks, times 256: sum of 256 w / Z */
	uint64_t variance; /* of bytes, in units of 1024 square bytes: sum of w (w - Z) / 1024 */
	uint64_t samples; /* number of samples in the sums */
};

struct heap_table {
	uint64_t at; /* offset in the file, multiple of 8 */
	uint32_t n; /* capacity in rows */
	uint32_t item_bytes;
	uint64_t used; /* rows in use, for tables filled in order; may be more than n when the table is full */
};

/* At offset 0; the tables follow. */
struct heap_header {
	uint64_t magic;
	uint32_t version, header_bytes; /* sizeof(struct heap_header) */
	uint64_t file_bytes;
	struct {
		/* uint32_t: 0, or 1 + number of a stack, by hash; used by the writer only */
		struct heap_table stack_index;
		struct heap_table stacks; /* struct heap_stack, in order */
		struct heap_table frames; /* uint64_t, in order */
		struct heap_table live_ptr; /* uint64_t: HEAP_SLOT_* or the address; row i belongs to row i of live */
		struct heap_table live; /* struct heap_live */
		struct heap_table codes; /* struct heap_code; open addressing by address */
		struct heap_table modules; /* struct heap_module, in order */
		struct heap_table bytes; /* names and line tables, in order */
	} table;

	/* The process. pid, ppid: in its own pid namespace, which may differ from the reader's. */
	int32_t pid, ppid;
	uint64_t start_ticks; /* field 22 of stat; exec does not change it */
	uint32_t generation; /* 0, plus one for each exec that kept pid and start_ticks */
	uint32_t origin; /* enum heap_origin */
	uint64_t parent_start_ticks; /* of the process that forked it, if BY_FORK; ppid at that time is ppid */
	uint64_t begun_unix_ns, begun_mono_ns;

	/* Its state. */
	uint32_t state; /* enum heap_state; RUNNING in a process that has ended: it was killed */
	uint32_t copied_of; /* in a copy that vigil made of another user's: 1 + that uid; else 0 */
	uint64_t last_mono_ns; /* coarse clock at the latest sample or free of a sample */

	/* Control: the only words that other processes write. Each thread reads them when its countdown has run out. */
	/* mean distance of samples; 0: dormant, threads read it again after each MiB they allocate */
	uint64_t rate_bytes;

	/* Counts. */
	uint64_t requested_bytes; /* exact sum of all requests, except for each thread's current gap */
	uint64_t samples, frees; /* samples taken; samples freed again */
	struct heap_sum live, total; /* sums over all stacks */
	uint64_t lost[HEAP_LOST_REASONS];
	uint64_t lost_bytes; /* estimated, of the samples lost by LIVE_FULL, NO_SPACE and NESTED */
	uint64_t threads; /* number of threads that have allocated since the region began */

	/*
	 * A moment near the one with most live bytes: row peak_which of the arrays here and of heap_stack.peak. Updated
	 * when live is 5 % above the last peak, and as often as the time for the copies allows. peak_which is stored
	 * last, because the other row may be half written.
	 */
	uint64_t peak_which;
	uint64_t peak_bytes[2], peak_mono_ns[2];
	uint64_t peak_requested_bytes[2];

	/* Python. */
	uint32_t python_version; /* PY_VERSION_HEX; 0: none found */
	uint8_t python_free_threaded, objects_mode, unused8[2];
	uint32_t python_why; /* enum heap_why */
	uint32_t module_epoch; /* how often the modules were read again after one was unmapped */

	char comm[16];
	char exe[256]; /* all NUL-ended, cut to fit */
	char allocator[256]; /* the file that provides malloc */
	char command[1024]; /* arguments, each ended by NUL, and another NUL at the end */
	/* Version 1 first ended here: a header of 2080 bytes has none of the following. */
	/* live when it was largest; its bytes are the largest ever, the rest may be of a sample later */
	struct heap_sum highest;
	uint64_t highest_mono_ns;
	uint64_t peak_rows; /* stacks looked at for copies of the peak; used by the writer only */
};

enum { HEAP_ROW_EMPTY, HEAP_ROW_WRITING, HEAP_ROW_READY };

struct heap_stack {
	uint32_t state; /* HEAP_ROW_* */
	uint32_t frames_at; /* row of frames: n_native addresses, then n_python words, each innermost first */
	uint16_t n_native, n_python;
	uint8_t domain, flags; /* enum heap_domain, HEAP_CUT_* */
	uint16_t unused16;
	uint64_t hash;
	uint32_t module_epoch; /* native addresses belong to modules with since <= this < until */
	uint32_t tid; /* the first thread that had this stack */
	struct heap_sum live, total, peak[2];
	uint64_t freed_bytes[HEAP_LIFETIMES]; /* freed bytes by lifetime */
	/* Version 1 first ended here: a row of 256 bytes has none of the following. */
	uint64_t freed_early_bytes[HEAP_LIFETIMES]; /* the part of freed_bytes[k] that lived less than half of 4^k ms */
	uint64_t lived_kib_ms; /* freed bytes times lifetime: KiB times ms */
	uint64_t later[3]; /* reserved, 0 */
};

/*
 * More than HEAP_FRAMES_MAX: frames are missing after the HEAP_FRAMES_INNER innermost ones. BROKEN: missing at the end.
 */
enum { HEAP_CUT_NATIVE = 1, HEAP_CUT_PYTHON = 2, HEAP_BROKEN_PYTHON = 4 };

/*
 * A native frame is an address: of the frame's next instruction, so use the byte before it. A Python frame: bits 0..31
 * byte offset of the instruction in its code (int32_t, negative: not begun), 32..55 row of codes, 56: entry frame, at
 * which the interpreter was entered anew (one native eval loop ends here).
 */
#define HEAP_PYTHON_OFFSET(word) ((int32_t)(uint32_t)(word))
#define HEAP_PYTHON_CODE(word) ((uint32_t)((word) >> 32) & 0xffffffu)
#define HEAP_PYTHON_ENTRY(word) ((word) >> 56 & 1)
#define HEAP_PYTHON_NO_CODE 0xffffffu /* the table of codes had no room */

enum { HEAP_SLOT_EMPTY, HEAP_SLOT_WRITING, HEAP_SLOT_FREED, HEAP_SLOT_FIRST_PTR = 4096 };

/* Reading while the process runs: read ptr, the row, ptr again; if ptr changed, skip the row. */
struct heap_live {
	uint64_t size; /* as requested; for a mapping the bytes that are left of it */
	uint64_t weight; /* w, its share of heap_sum.bytes */
	uint64_t born_mono_ns; /* coarse clock */
	uint32_t stack, tid;
};

struct heap_code {
	uint32_t state;
	int32_t first_line;
	/* as in the process; together with first_line they identify the code */
	uint64_t address, name_ptr, file_ptr, table_ptr;
	uint32_t name_at, file_at, table_at; /* offsets of bytes; length 0: there was no room */
	uint16_t name_len, file_len; /* UTF-8, the qualified name if the version has it */
	uint32_t table_len; /* co_linetable; before 3.10 co_lnotab */
	uint32_t code_len; /* bytes of bytecode; 0: unknown */
};

/* An executable mapping of a file, as in maps. */
struct heap_module {
	uint32_t state, since, until; /* epochs; until UINT32_MAX: still mapped */
	uint32_t path_at, path_len;
	uint32_t dev_major, dev_minor, unused32;
	uint64_t start, end, offset, inode;
};

/*
 * The file "control" in the directory: each process reads it when it creates its region, so one store switches on all
 * later processes. Processes that have a region already are switched by its rate_bytes: store here first, then there.
 */
struct heap_control {
	uint64_t magic; /* HEAP_CONTROL_MAGIC */
	uint64_t rate_bytes;
};

/* The exported variable vigil_heap_status of the library, for processes without a region. */
struct heap_status {
	uint64_t magic; /* HEAP_MAGIC */
	uint32_t why; /* enum heap_why */
	int32_t error; /* errno of why */
	uint64_t region; /* address of the header in the process; 0: none */
};
