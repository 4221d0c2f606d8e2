#include "sense/host/probe.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/memory/psi.h"
#include "sense/ns.h"
#include "sense/rightsdoor.h"

static enum probe_can can_of(int err)
{
	switch (err) {
	case 0:
		return PROBE_YES;
	case EPERM:
	case EACCES:
		return PROBE_DENIED;
	default:
		return PROBE_ABSENT;
	}
}

static struct span probe_text_read(int dirfd, const char *path, char *dst, size_t cap)
{
	size_t len = 0;
	if (dirfd < 0 || file_read_at(dirfd, path, dst, cap, &len) != 0)
		return (struct span){"", 0};
	return (struct span){dst, len};
}

static struct probe_number probe_number_read(const struct world *w, const char *path)
{
	char text[64];
	struct probe_number n = {.valid = false};
	struct span s = span_trim(probe_text_read(w->proc_fd, path, text, sizeof(text)));
	n.valid = s.len > 0 && span_i64(s, &n.value) == 0;
	return n;
}

static void identity_read(const struct world *w, struct probe *p)
{
	char text[8192];
	struct span status = probe_text_read(w->proc_fd, "self/status", text, sizeof(text)), caps;
	uint64_t v;
	p->uid = geteuid();
	p->seccomp = text_field_u64(status, "Seccomp", &v) == 0 && v <= 2 ? (int)v : -1;
	if (text_field(status, "CapEff", &caps) == 0) {
		caps = span_trim(caps);
		p->has_caps = caps.len > 0 && caps.len <= 16;
		for (size_t i = 0; i < caps.len && p->has_caps; i++) {
			const char *digit = memchr("0123456789abcdef", caps.p[i], 16);
			p->has_caps = digit != NULL;
			if (digit)
				p->cap_effective = p->cap_effective << 4 | (uint64_t)(digit - "0123456789abcdef");
		}
	}
	/* The first user namespace maps every id onto itself. */
	char map[256];
	struct span uid_map = probe_text_read(w->proc_fd, "self/uid_map", map, sizeof(map)), word;
	uint64_t inside = 0, outside = 0, count = 0;
	if (span_word(&uid_map, &word) && span_u64(word, &inside) == 0 && span_word(&uid_map, &word) &&
	    span_u64(word, &outside) == 0 && span_word(&uid_map, &word) && span_u64(word, &count) == 0)
		p->user_namespace = !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

static void psi_probe(const struct world *w, struct probe *p)
{
	struct psi now;
	int r = psi_read(w->proc_fd, "pressure/memory", &now);
	p->psi = r == 0 ? PROBE_YES : r == WORLD_DENIED ? PROBE_DENIED : PROBE_ABSENT;
	if (w->recorded || p->psi != PROBE_YES)
		return;
	cleanup(closep) int fd = -1;
	r = psi_trigger_open(w->proc_fd, "pressure/memory", false, 50000, 500000, &fd, &p->psi_window_us);
	p->psi_trigger = r == 0 ? PROBE_YES : r == WORLD_DENIED ? PROBE_DENIED : PROBE_ABSENT;
}

/* Lowers our own value by one, then restores it. Lowering needs CAP_SYS_RESOURCE in the first user namespace. */
static void adj_probe(const struct world *w, struct probe *p)
{
	char text[32];
	struct span s = span_trim(probe_text_read(w->proc_fd, "self/oom_score_adj", text, sizeof(text)));
	int64_t now;
	if (s.len == 0 || span_i64(s, &now) != 0 || now < -1000 || now > 1000)
		return;
	p->has_own_adj = true;
	p->own_adj = (int)now;
	if (w->recorded)
		return;
	if (now == -1000) {
		p->lower_adj = probe_has_cap(p, PROBE_CAP_SYS_RESOURCE) ? PROBE_YES : PROBE_DENIED;
		return;
	}
	TEXT_FORMAT(text, "%d", (int)now - 1);
	int r = file_write_at(w->proc_fd, "self/oom_score_adj", text);
	p->lower_adj = can_of(-r);
	if (r != 0)
		return;
	TEXT_FORMAT(text, "%d", (int)now);
	ignore(file_write_at(w->proc_fd, "self/oom_score_adj", text), "raising it again needs no privilege");
}

static enum probe_can bpf_probe(void)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	cleanup(closep) int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	return fd >= 0 ? PROBE_YES : can_of(errno);
}

static void calls_probe(const struct world *w, struct probe *p)
{
	p->btf = w->sys_fd >= 0 && faccessat(w->sys_fd, "kernel/btf/vmlinux", R_OK, 0) == 0 ? PROBE_YES : PROBE_ABSENT;
	if (w->recorded)
		return;
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	p->pidfd = fd >= 0 ? PROBE_YES : can_of(errno);
	/* No process is named, so a kernel that has the call answers EBADF. */
	long r = syscall(SYS_process_mrelease, -1, 0);
	p->mrelease = r < 0 && errno == EBADF ? PROBE_YES : can_of(errno);
	p->bpf = bpf_probe();
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	cleanup(closep) int seen = (int)syscall(SYS_openat2, w->proc_fd, "self", &how, sizeof(how));
	p->openat2 = seen >= 0 ? PROBE_YES : can_of(errno);
	bool tracing = probe_has_cap(p, PROBE_CAP_SYS_ADMIN) ||
		       (probe_has_cap(p, PROBE_CAP_BPF) && probe_has_cap(p, PROBE_CAP_PERFMON));
	if (p->bpf == PROBE_YES && !tracing)
		p->bpf = PROBE_DENIED; /* maps are allowed for every user, but iterators and tracepoints are not */
	struct stat ns;
	p->own_pids = fstatat(w->proc_fd, "self/ns/pid", &ns, 0) == 0 && ns.st_ino != PID_NAMESPACE_FIRST;
	int log;
	p->kmsg = w->kmsg_fd >= 0 || rightsdoor_kmsg(&log) == 0 ? PROBE_YES : PROBE_DENIED;
	p->ptrace_others = probe_has_cap(p, PROBE_CAP_SYS_PTRACE) ? PROBE_YES : PROBE_DENIED;
}

static uint64_t limit_read(int which)
{
	struct rlimit64 l;
	if (prlimit64(0, (__rlimit_resource_t)which, NULL, &l) != 0)
		return 0;
	return l.rlim_cur == RLIM64_INFINITY ? UINT64_MAX : l.rlim_cur;
}

static enum probe_can group_writable(const struct world *w, const char *path, const char *file)
{
	char full[CGROUP_PATH_MAX + 64];
	if (path[0] == '\0' || w->cgroup_fd < 0)
		return PROBE_ABSENT;
	TEXT_FORMAT(full, "%s%s%s", path, file[0] ? "/" : "", file);
	/* AT_EACCESS: writes use the effective ids. A read-only mount answers EROFS. */
	if (faccessat(w->cgroup_fd, full, W_OK, AT_EACCESS) == 0)
		return PROBE_YES;
	return errno == EROFS ? PROBE_DENIED : can_of(errno);
}

static void cgroup_probe(const struct world *w, struct probe *p)
{
	int r = cgroup_place_read(w, 0, &p->place);
	p->has_place = r == 0;
	if (!p->has_place)
		return;
	p->memory_version = p->place.memory_version;
	p->hybrid = p->place.memory_version == CGROUP_V1 && p->place.unified[0] != '\0';
	const char *path = p->place.memory[0] ? p->place.memory : p->place.unified;
	p->cgroup_write = group_writable(w, path, "");
	if (p->cgroup_write == PROBE_YES)
		p->cgroup_write = group_writable(w, path, "cgroup.procs");
	if (p->memory_version == CGROUP_NONE) {
		p->cgroup_memory = PROBE_ABSENT;
		return;
	}
	p->cgroup_memory = p->cgroup_write;
	if (p->memory_version == CGROUP_V2 && p->cgroup_memory == PROBE_YES)
		p->cgroup_memory = group_writable(w, path, "cgroup.subtree_control");
}

static void memory_probe(const struct world *w, struct probe *p)
{
	cleanup(closep) int fd = openat(w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	p->has_meminfo = fd >= 0 && meminfo_read(fd, &p->meminfo) == 0;
	struct statvfs v;
	if (w->recorded || w->shm_fd < 0 || fstatvfs(w->shm_fd, &v) != 0)
		return;
	p->has_shm = v.f_blocks > 0;
	p->shm_total_bytes = v.f_blocks * v.f_frsize;
	p->shm_free_bytes = v.f_bavail * v.f_frsize;
}

static void settings_read(const struct world *w, struct probe *p)
{
	p->panic_on_oom = probe_number_read(w, "sys/vm/panic_on_oom");
	p->oom_kill_allocating_task = probe_number_read(w, "sys/vm/oom_kill_allocating_task");
	p->oom_dump_tasks = probe_number_read(w, "sys/vm/oom_dump_tasks");
	p->overcommit_memory = probe_number_read(w, "sys/vm/overcommit_memory");
	p->overcommit_ratio = probe_number_read(w, "sys/vm/overcommit_ratio");
	p->ptrace_scope = probe_number_read(w, "sys/kernel/yama/ptrace_scope");
	p->perf_event_paranoid = probe_number_read(w, "sys/kernel/perf_event_paranoid");
	p->dmesg_restrict = probe_number_read(w, "sys/kernel/dmesg_restrict");
	p->unprivileged_bpf_disabled = probe_number_read(w, "sys/kernel/unprivileged_bpf_disabled");
	char text[256];
	span_copy(span_trim(probe_text_read(w->proc_fd, "sys/kernel/core_pattern", text, sizeof(text))),
		  p->core_pattern, sizeof(p->core_pattern));
	span_copy(span_trim(probe_text_read(w->proc_fd, "sys/kernel/osrelease", text, sizeof(text))), p->kernel,
		  sizeof(p->kernel));
	p->memlock_bytes = limit_read(RLIMIT_MEMLOCK);
	p->files_limit = limit_read(RLIMIT_NOFILE);
	p->core_limit_bytes = limit_read(RLIMIT_CORE);
}

const char *probe_container_of(struct span cgroup_text, struct span init_environ)
{
	static const struct {
		const char *mark, *name;
	} marks[] = {
		{"kubepods", "kubernetes"},
		{"/docker", "docker"},
		{"libpod", "podman"},
		{"/lxc", "lxc"},
		{"machine.slice/systemd-nspawn", "systemd-nspawn"},
		{"/garden/", "garden"},
		{"/apptainer", "apptainer"},
	};
	static const char *const values[] = {"docker", "podman", "lxc", "systemd-nspawn", "oci", "wsl"};
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (span_has(cgroup_text, marks[i].mark))
			return marks[i].name;
	while (init_environ.len > 0) {
		const char *end = memchr(init_environ.p, '\0', init_environ.len);
		size_t n = end ? (size_t)(end - init_environ.p) : init_environ.len;
		struct span entry = {init_environ.p, n}, value = span_after(entry, "container=");
		if (span_starts(entry, "container=") && value.len > 0) {
			for (size_t i = 0; i < ARRAY_SIZE(values); i++)
				if (span_eq(value, values[i]))
					return values[i];
			return "container";
		}
		if (span_starts(entry, "KUBERNETES_SERVICE_HOST="))
			return "kubernetes";
		init_environ.p += n + (end ? 1 : 0);
		init_environ.len -= n + (end ? 1 : 0);
	}
	return NULL;
}

static void container_probe(const struct world *w, struct probe *p)
{
	char groups[4096], environ_text[16384], path[sizeof(w->root) + 32];
	struct span group = probe_text_read(w->proc_fd, "self/cgroup", groups, sizeof(groups));
	struct span init = probe_text_read(w->proc_fd, "1/environ", environ_text, sizeof(environ_text));
	const char *name = probe_container_of(group, init);
	static const struct {
		const char *file, *name;
	} markers[] = {{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}, {"/.singularity.d", "singularity"}};
	for (size_t i = 0; i < ARRAY_SIZE(markers) && !name; i++) {
		TEXT_FORMAT(path, "%s%s", w->root, markers[i].file);
		if (faccessat(AT_FDCWD, path, F_OK, 0) == 0)
			name = markers[i].name;
	}
	TEXT_COPY(p->container, name ? name : "");
	p->proc_hidden = !w->recorded && faccessat(w->proc_fd, "1", F_OK, 0) != 0;
}

int probe_read(const struct world *w, struct probe *ret)
{
	struct probe p = {.psi = PROBE_UNKNOWN};
	identity_read(w, &p);
	psi_probe(w, &p);
	adj_probe(w, &p);
	calls_probe(w, &p);
	cgroup_probe(w, &p);
	memory_probe(w, &p);
	settings_read(w, &p);
	container_probe(w, &p);
	oomdconf_read(w, &p.oomd);
	int r = oom_daemons_read(w, &p.oom_daemons);
	if (r)
		return r;
	*ret = p;
	return 0;
}
