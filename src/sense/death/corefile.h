/*
 * Where a process that crashed left its core: the kernel's core_pattern filled
 * in with what is known of the process, and a look whether such a file is
 * there. For systemd-coredump its own folder is searched. Source: core(5),
 * systemd-coredump(8).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct corefile_facts {
	pid_t pid, ns_pid; /* as we count, and as its own namespace does; 0: the same */
	uid_t uid;
	gid_t gid;
	int signal;
	int64_t start_unix_ms, end_unix_ms;
	const char *comm, *exe, *host, *cwd; /* NULL or "": not known; exe and cwd are paths */
	bool uses_pid; /* kernel.core_uses_pid */
};

enum {
	COREFILE_NONE = 1, /* there is none where it should be */
	COREFILE_PIPED = 2, /* it was handed to a program, or the pattern asks for what is not known */
};

/* time_s: what %t stands for. A relative pattern begins in cwd. COREFILE_PIPED, -ENAMETOOLONG. Pure. */
int must_check corefile_expand(const char *pattern, const struct corefile_facts *f, int64_t time_s, char *dst,
			       size_t cap);
/* A regular file that was written since the process began. COREFILE_NONE, COREFILE_PIPED. May wait for a disk. */
int must_check corefile_find(const char *pattern, const struct corefile_facts *f, char *dst, size_t cap);
/* As corefile_find, in the folder where systemd-coredump keeps what it was handed. */
int must_check corefile_find_kept(const char *folder, const struct corefile_facts *f, char *dst, size_t cap);
