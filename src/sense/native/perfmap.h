/*
 * Names of code that a runtime generates: /tmp/perf-PID.map, lines of "start size name" with hexadecimal numbers (the
 * kernel's tools/perf/Documentation/jit-interface.txt). Written by CPython (-X perf), Node, Java agents, Numba, Triton
 * and others, which append to it while they run.
 *
 * Any user may put a file of that name into /tmp: it is used only if the process's own user or root owns it and it is
 * no symbolic link.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

struct perfmap_row {
	uint64_t start, end;
	uint32_t seq;  /* position in the file: later lines win */
	uint32_t name; /* offset in text */
};

struct perfmap {
	char *text;               /* owned: a copy of the file, names terminated */
	struct perfmap_row *rows; /* owned, by start, then by seq */
	size_t n;
	uint64_t file_bytes, inode; /* of the file when it was read */
	uint64_t mono_next_ns;    /* the file is not checked again before this time */
};

/* An unfinished last line (no newline) is left out; lines that cannot be parsed are skipped. -EFBIG, -ENOMEM. Pure. */
int must_check perfmap_parse(struct span text, struct perfmap *ret);
/* Reads the file if it is new or has grown. WORLD_ABSENT: there is no file that can be trusted; the old rows stay. */
int must_check perfmap_refresh(struct perfmap *m, const struct world *w, pid_t pid);
void perfmap_done(struct perfmap *m);
/* Borrowed until the next refresh. */
bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **ret_name, uint64_t *ret_start);
