/*
 * Finds the core file of a process that crashed: fills in the kernel's core_pattern with what is known about the
 * process and checks that such a file exists. Cores kept by systemd-coredump are searched for in its own folder.
 * Source: core(5), systemd-coredump(8).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct corefile_facts {
	pid_t pid, ns_pid; /* in our pid namespace, and in its own one; ns_pid 0: the same */
	uid_t uid;
	gid_t gid;
	int signal;
	int64_t start_unix_ms, end_unix_ms;
	const char *comm, *exe, *host, *cwd; /* NULL or "": unknown; exe and cwd are paths */
	bool uses_pid; /* kernel.core_uses_pid */
};

enum {
	COREFILE_NONE = 1, /* no core file at the expected path */
	COREFILE_PIPED = 2, /* the core went to a program, or the pattern contains a value that is unknown */
};

/* time_s: the value of %t. A relative pattern begins in cwd. COREFILE_PIPED, -ENAMETOOLONG. Pure. */
int must_check corefile_expand(const char *pattern, const struct corefile_facts *f, int64_t time_s, char *dst,
			       size_t cap);
/* Finds a regular file written since the process started. COREFILE_NONE, COREFILE_PIPED. May block on a disk. */
int must_check corefile_find(const char *pattern, const struct corefile_facts *f, char *dst, size_t cap);
/* As corefile_find, in the folder where systemd-coredump keeps cores. */
int must_check corefile_find_kept(const char *folder, const struct corefile_facts *f, char *dst, size_t cap);
