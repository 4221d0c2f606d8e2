/*
 * Source lines (native/lines.h), read by a process of its own. Debug information is what a user's file says: it can
 * make libdw take any memory and time, and open further files by name (.gnu_debugaltlink), a FIFO or a device among
 * them. That process therefore has the rights of that user and no more, limits of memory and of processor time, and is
 * ended when it does not answer. From then on there are no lines; nothing else is lost.
 *
 * libdw can read behind the end of what it is given, and the answer then has what lies there. A program that can be
 * started as one that reads lines is therefore executed anew, so that nothing of this process's memory is in it, nor of
 * its environment. Others, as tests, do without.
 */
#pragma once

#include "base/foreign.h"
#include "sense/world.h"

#define LINESERVER_COMMAND "read-lines"

/* Called once by the program that calls lineserver_main when its first argument is LINESERVER_COMMAND. */
void lineserver_has_program(void);
/* Serves the socket on descriptor 0; the process is to end then. */
int lineserver_main(void);

struct lineserver_limits {
	uint64_t memory_bytes; /* beside what this process has */
	uint32_t cpu_s; /* all in all */
};

struct lineserver;
/* Starts the process, with the rights of this user where we are root. NULL: it cannot be had. */
struct lineserver *lineserver_new(const struct world *w, const struct foreign_user *as,
				  const struct lineserver_limits *limits);
struct lineserver *lineserver_free(struct lineserver *s);
uid_t lineserver_uid(const struct lineserver *s);
/* Gives it a file, whose descriptor stays the caller's. Returns the file's number; 0: it has no debug information. */
uint32_t lineserver_add(struct lineserver *s, int fd);
/* As lines_find and, for inlined, lines_find_inlined. */
bool lineserver_find(struct lineserver *s, uint32_t file_number, uint64_t vaddr, bool inlined, char *file, size_t cap,
		     uint32_t *ret_line);
