#include "sense/proc/access.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/ns.h"
#include "sense/proc/proc.h"

/* Maximum number of generations between a process and vigil. */
#define ANCESTORS_MAX 256

static bool file_text(const struct world *w, const char *path, char *buf, size_t cap, struct span *ret)
{
	size_t len;
	if (file_read_at(w->proc_fd, path, buf, cap, &len) < 0)
		return false;
	*ret = (struct span){buf, len};
	return true;
}

/* "Uid:	1000	1000	1000	1000": real, effective, saved */
static bool ids_read(struct span status, const char *key, uint32_t id[3])
{
	struct span rest, word;
	uint64_t v;
	if (text_field(status, key, &rest) < 0)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (!span_word(&rest, &word) || span_u64(word, &v) < 0 || v > UINT32_MAX)
			return false;
		id[i] = (uint32_t)v;
	}
	return true;
}

static void read_ours(const struct world *w, struct access_facts *a)
{
	char text[4096], link[64];
	struct span status;
	uint32_t id[3];
	uint64_t seccomp;
	struct proc_status s;
	if (!file_text(w, "self/status", text, sizeof(text), &status))
		return;
	if (ids_read(status, "Uid", id)) {
		a->our_uid = id[0];
		a->our_euid = id[1];
	}
	if (ids_read(status, "Gid", id))
		a->our_gid = id[0];
	if (text_field_u64(status, "Seccomp", &seccomp) == 0 && seccomp <= 2) {
		a->has_seccomp = true;
		a->our_seccomp = (int)seccomp;
	}
	if (proc_status_parse(status, &s) == 0) {
		a->our_ptrace_cap = s.cap_effective >> CAP_SYS_PTRACE & 1;
		a->our_admin_cap = s.cap_effective >> CAP_SYS_ADMIN & 1;
	}
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = '\0';
		a->in_container = strcmp(link, PID_NAMESPACE_FIRST_TEXT) != 0;
	}
}

int access_same_namespace(const struct world *w, pid_t pid, const char *name)
{
	char ours[64] = "", theirs[64] = "", path[64];
	TEXT_FORMAT(path, "self/ns/%s", name);
	if (readlinkat(w->proc_fd, path, ours, sizeof(ours) - 1) <= 0)
		return -1;
	TEXT_FORMAT(path, "%d/ns/%s", pid, name);
	if (readlinkat(w->proc_fd, path, theirs, sizeof(theirs) - 1) <= 0)
		return -1;
	return strcmp(ours, theirs) == 0;
}

/* The id map is readable by all, unlike the link of the namespace; different maps mean different namespaces. */
static bool id_maps_differ(const struct world *w, pid_t pid)
{
	char a[512], b[512], path[32];
	struct span ours, theirs;
	TEXT_FORMAT(path, "%d/uid_map", pid);
	return file_text(w, "self/uid_map", a, sizeof(a), &ours) && file_text(w, path, b, sizeof(b), &theirs) &&
	       (ours.len != theirs.len || memcmp(ours.p, theirs.p, ours.len) != 0);
}

static void read_namespaces(const struct world *w, struct access_facts *a)
{
	int same = access_same_namespace(w, a->pid, "user");
	if (same < 0 && id_maps_differ(w, a->pid))
		same = 0;
	a->has_user_ns = same >= 0;
	a->same_user_ns = same == 1;
	a->other_pid_ns = a->other_pid_ns || access_same_namespace(w, a->pid, "pid") == 0;
	a->other_mount_ns = access_same_namespace(w, a->pid, "mnt") == 0;
}

static void read_tracer(const struct world *w, pid_t tracer, struct access_facts *a)
{
	struct proc_stat stat;
	a->tracer = tracer;
	TEXT_COPY(a->tracer_name, "?");
	if (proc_stat_read(w, tracer, &stat) == 0)
		TEXT_COPY(a->tracer_name, stat.comm);
}

static void read_status(const struct world *w, struct access_facts *a)
{
	char text[4096], path[32];
	struct span status;
	struct proc_status s;
	struct stat st;
	uint32_t uid[3], gid[3];
	TEXT_FORMAT(path, "%d/status", a->pid);
	if (!file_text(w, path, text, sizeof(text), &status))
		return;
	if (ids_read(status, "Uid", uid) && ids_read(status, "Gid", gid)) {
		a->has_ids = true;
		a->uid = uid[0];
		a->euid = uid[1];
		a->suid = uid[2];
		a->gid = gid[0];
		a->egid = gid[1];
		a->sgid = gid[2];
	}
	if (proc_status_parse(status, &s) == 0) {
		a->other_pid_ns = s.ns_pid != a->pid;
		if (s.tracer > 0)
			read_tracer(w, s.tracer, a);
	}
	/*
	 * The files (not the folder) of a non-dumpable process belong to root; for processes of root this proves
	 * nothing.
	 */
	TEXT_FORMAT(path, "%d/stat", a->pid);
	if (!w->recorded && a->has_ids && a->euid != 0 && fstatat(w->proc_fd, path, &st, 0) == 0) {
		a->has_dumpable = true;
		a->dumpable = st.st_uid == a->euid;
	}
}

static pid_t our_pid(const struct world *w)
{
	char link[32] = "";
	uint64_t pid;
	if (readlinkat(w->proc_fd, "self", link, sizeof(link) - 1) <= 0 || span_u64(span_of(link), &pid) < 0)
		return 0;
	return (pid_t)pid;
}

static bool is_descendant(const struct world *w, pid_t pid)
{
	const pid_t us = our_pid(w);
	struct proc_stat stat;
	for (int i = 0; i < ANCESTORS_MAX && us > 0; i++) {
		if (proc_stat_read(w, pid, &stat) != 0 || stat.ppid <= 0)
			return false;
		if (stat.ppid == us)
			return true;
		pid = stat.ppid;
	}
	return false;
}

/* EFAULT means that the read is allowed: the access check precedes the check of the address. */
static bool readv_refused(pid_t pid)
{
	char byte;
	struct iovec into = {&byte, 1}, from = {NULL, 1};
	return process_vm_readv(pid, &into, 1, &from, 1, 0) < 0 &&
	       (errno == EPERM || errno == ENOSYS || errno == EACCES);
}

/*
 * A ptrace request to a process that is not traced fails with ESRCH and does nothing; another error comes from a
 * filter.
 */
static bool ptrace_filtered(pid_t pid)
{
	errno = 0;
	return ptrace(PTRACE_PEEKDATA, pid, NULL, NULL) < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
}

static void try_now(const struct world *w, struct access_facts *a)
{
	char path[32];
	TEXT_FORMAT(path, "%d/mem", a->pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	a->refused_mem = fd < 0 && (errno == EACCES || errno == EPERM);
	a->refused_readv = readv_refused(a->pid);
	a->filtered = readv_refused(getpid()) || ptrace_filtered(getpid());
	a->refused_ptrace = a->tracer > 0 || a->refused_mem || ptrace_filtered(a->pid);
}

int access_read(const struct world *w, pid_t pid, struct access_facts *ret)
{
	struct access_facts a = {.pid = pid};
	struct proc_stat stat;
	char text[32];
	struct span scope;
	uint64_t yama;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	read_ours(w, &a);
	int r = proc_stat_read(w, pid, &stat);
	if (r < 0)
		return r;
	a.exists = r == 0;
	if (r != 0) {
		*ret = a;
		return 0;
	}
	a.kernel_thread = stat.kernel_thread;
	a.zombie = proc_is_over(&stat);
	read_status(w, &a);
	read_namespaces(w, &a);
	if (file_text(w, "sys/kernel/yama/ptrace_scope", text, sizeof(text), &scope) &&
	    span_u64(span_trim(scope), &yama) == 0 && yama <= 3) {
		a.has_yama = true;
		a.yama_scope = (int)yama;
	}
	a.descendant = is_descendant(w, pid);
	if (!w->recorded)
		try_now(w, &a);
	*ret = a;
	return 0;
}
