/*
 * The memory mappings of a process: /proc/PID/maps (kernel: filesystems/proc.rst).
 * Rows are in the order of their addresses, as the kernel gives them.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum { MAP_READ = 1, MAP_WRITE = 2, MAP_EXEC = 4, MAP_IS_SHARED = 8 };

struct map_row {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* in the file, bytes */
	uint64_t inode;      /* 0: no file */
	uint32_t dev;        /* major << 20 | minor */
	uint8_t flags;       /* MAP_* */
	bool deleted;        /* the file has been removed or replaced since */
	const char *path;    /* "" for anonymous memory; "[heap]"; without " (deleted)"; borrowed from text */
};

struct maps {
	struct map_row *rows; /* owned */
	size_t n;
	char *text;           /* owned; text that the paths borrow from */
};

/* Takes a copy of text. Lines that cannot be parsed are skipped. -ENOMEM. */
int must_check maps_parse(struct span text, struct maps *ret);
/* WORLD_GONE, WORLD_DENIED; a kernel thread has no rows. */
int must_check maps_read(const struct world *w, pid_t pid, struct maps *ret);
void maps_done(struct maps *m);
/* The mapping at addr; NULL: none. */
const struct map_row *maps_find(const struct maps *m, uint64_t addr);
