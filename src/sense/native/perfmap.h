/*
 * Names of code that a runtime makes while it runs: /tmp/perf-PID.map, lines
 * of "start size name" with hexadecimal numbers (the kernel's
 * tools/perf/Documentation/jit-interface.txt). Written by CPython (-X perf),
 * Node, Java agents, Numba, Triton and others, and appended to as they go.
 *
 * Anybody may put a file of that name into /tmp: it is believed only when the
 * process's own user or root owns it, and it is not a link.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

struct perfmap_row {
	uint64_t start, end;
	uint32_t seq;  /* place in the file: later lines win */
	uint32_t name; /* in text */
};

struct perfmap {
	char *text;               /* owned: a copy of the file, names terminated */
	struct perfmap_row *rows; /* owned, by start, then by seq */
	size_t n;
	uint64_t file_bytes, inode; /* as it was read */
	uint64_t mono_next_ns;    /* not looked at again before */
};

/* A line without its newline is being written: it is left. Lines that are not understood are passed over. */
int must_check perfmap_parse(struct span text, struct perfmap *ret);
/* Reads the file if it is new or has grown. WORLD_ABSENT: none that can be trusted; the old rows stay. */
int must_check perfmap_refresh(struct perfmap *m, const struct world *w, pid_t pid);
void perfmap_done(struct perfmap *m);
/* Borrowed until the next refresh. */
bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **ret_name, uint64_t *ret_start);
