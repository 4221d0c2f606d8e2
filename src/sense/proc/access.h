/*
 * The facts that decide whether vigil may read a process (PTRACE_MODE_ATTACH_REALCREDS
 * of ptrace(2), "Ptrace access mode checking"): ids, capabilities, user
 * namespaces, Yama, dumpability, seccomp, and its present tracer. Read only
 * after a refusal: judge/host/access.h turns the facts into a sentence.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct access_facts {
	pid_t pid;
	bool exists, kernel_thread, zombie;
	bool has_ids;
	uid_t our_uid, our_euid, uid, euid, suid;
	gid_t our_gid, gid, egid, sgid;
	bool our_ptrace_cap; /* CAP_SYS_PTRACE effective, in our user namespace */
	bool our_admin_cap; /* CAP_SYS_ADMIN */
	bool same_user_ns, has_user_ns;
	bool other_pid_ns, other_mount_ns;
	bool has_yama;
	int yama_scope; /* 0..3 */
	bool descendant; /* descendant of vigil, which scope 1 of Yama allows */
	bool has_dumpable, dumpable; /* derived from the owner of the files in /proc/PID */
	bool has_seccomp;
	int our_seccomp; /* 0 none, 1 strict, 2 filter */
	pid_t tracer; /* 0: none */
	char tracer_name[32];
	bool in_container; /* vigil runs in a container */
	bool refused_readv, refused_mem, refused_ptrace; /* result of a test call each */
	bool filtered; /* the calls fail even on vigil itself: seccomp, or a kernel without them */
};
int must_check access_read(const struct world *w, pid_t pid, struct access_facts *ret);
/* "pid", "time", …: 1: vigil and the process are in the same one, 0: in two, -1: unknown, as it may not be read. */
int access_same_namespace(const struct world *w, pid_t pid, const char *name);
