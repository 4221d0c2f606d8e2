#include "sense/host/oom_daemons.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask/mask.h"
#include "sense/proc/proc.h"

#define ENVIRON_CAP (128 * KIB)

/* Of systemd and Debian: login.defs(5) gives plain users 1000 and more, DynamicUser= (systemd.exec(5)) takes these. */
enum { SYSTEM_UID_MAX = 999, DYNAMIC_UID_MIN = 61184, DYNAMIC_UID_MAX = 65519 };

static const char *const comms[OOM_DAEMON_MAX] = {
	[OOM_DAEMON_EARLYOOM] = "earlyoom", [OOM_DAEMON_NOHANG] = "nohang", [OOM_DAEMON_SYSTEMD_OOMD] = "systemd-oomd",
	[OOM_DAEMON_META_OOMD] = "oomd",    [OOM_DAEMON_RAY] = "raylet",    [OOM_DAEMON_KUBELET] = "kubelet",
	[OOM_DAEMON_SLURM] = "slurmstepd",  [OOM_DAEMON_LMKD] = "lmkd",
};

enum oom_daemon_kind oom_daemons_kind(struct span comm, struct span command)
{
	for (int k = OOM_DAEMON_NONE + 1; k < OOM_DAEMON_MAX; k++)
		if (span_eq(comm, comms[k]))
			return (enum oom_daemon_kind)k;
	/* A script that is started as "python3 /usr/sbin/nohang" has the comm of its interpreter. */
	struct span rest = command, word;
	for (int i = 0; i < 3 && span_word(&rest, &word); i++)
		if (span_starts(comm, "python") && (span_eq(word, "nohang") || span_has(word, "/nohang")))
			return OOM_DAEMON_NOHANG;
	return OOM_DAEMON_NONE;
}

/*
 * systemd-oomd and nohang run as users of their own, earlyoom as one that systemd made for it; Ray's raylet is
 * anybody's. A plain user's process ends nobody else's, so its name says nothing to others.
 */
bool oom_daemons_believed(enum oom_daemon_kind kind, uid_t of, uid_t reader)
{
	return kind == OOM_DAEMON_RAY || of == reader || of <= SYSTEM_UID_MAX ||
	       (of >= DYNAMIC_UID_MIN && of <= DYNAMIC_UID_MAX);
}

static struct span oom_daemons_name(const struct world *w, pid_t pid, char *dst, size_t cap)
{
	char path[32];
	size_t len = 0;
	TEXT_FORMAT(path, "%d/comm", pid);
	if (file_read_at(w->proc_fd, path, dst, cap, &len) != 0)
		return (struct span){"", 0};
	return span_trim((struct span){dst, len});
}

/* Anybody's process may have such a name, and stand with its memory lock: it is not waited for. */
static struct span oom_daemons_command(const struct world *w, pid_t pid, char *dst, size_t cap)
{
	size_t len = 0;
	if (proc_arguments_read(w, pid, dst, cap, &len) != 0)
		return (struct span){"", 0};
	len = mask_args(dst, len);
	for (size_t i = 0; i < len; i++)
		if (dst[i] == '\0')
			dst[i] = ' ';
	return span_trim((struct span){dst, len});
}

/* False: its memory monitor is off. Settings within --system-config are not seen. */
static bool ray_settings(const struct world *w, pid_t raylet, struct oom_daemon_row *row)
{
	static const char threshold[] = "RAY_memory_usage_threshold";
	cleanup(freep) char *block = malloc(ENVIRON_CAP);
	char value[24];
	size_t len;
	if (!block || proc_environ_read(w, raylet, block, ENVIRON_CAP, &len) != 0)
		return true;
	const struct span all = {block, len}, ratio = environ_get(all, threshold);
	const struct span refresh = environ_get(all, "RAY_memory_monitor_refresh_ms");
	if (ratio.p && ratio.len > 0) {
		span_copy(ratio, value, sizeof(value));
		TEXT_FORMAT(row->setting, "%s=%s", threshold, value);
	}
	return !refresh.p || !span_eq(refresh, "0");
}

static void process_check(const struct world *w, pid_t pid, struct oom_daemons *g)
{
	char comm_text[64], command_text[512], path[32];
	struct stat st;
	struct proc_stat now;
	struct span comm = oom_daemons_name(w, pid, comm_text, sizeof(comm_text)), command = {"", 0};
	enum oom_daemon_kind kind = oom_daemons_kind(comm, command);
	if (kind != OOM_DAEMON_NONE || span_starts(comm, "python")) {
		command = oom_daemons_command(w, pid, command_text, sizeof(command_text));
		kind = oom_daemons_kind(comm, command);
	}
	if (kind == OOM_DAEMON_NONE || oom_daemons_find(g, kind) || g->n == OOM_DAEMONS_MAX)
		return;
	if (proc_stat_read(w, pid, &now) == 0 && proc_is_over(&now))
		return;
	TEXT_FORMAT(path, "%d", pid);
	if (fstatat(w->proc_fd, path, &st, 0) != 0 || !oom_daemons_believed(kind, st.st_uid, geteuid()))
		return;
	struct oom_daemon_row *row = &g->row[g->n];
	*row = (struct oom_daemon_row){.kind = kind};
	if (kind == OOM_DAEMON_RAY && !ray_settings(w, pid, row))
		return;
	g->n++;
	row->pid = pid;
	span_copy(command.len ? command : comm, row->command, sizeof(row->command));
}

int oom_daemons_read(const struct world *w, struct oom_daemons *ret)
{
	struct oom_daemons g = {.n = 0};
	cleanup(closep) int fd = openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	cleanup(closedirp) DIR *dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)take_fd(&fd);
	for (struct dirent *e; (e = readdir(dir));) {
		uint64_t pid;
		if (span_u64(span_of(e->d_name), &pid) == 0 && pid > 0 && pid <= INT_MAX)
			process_check(w, (pid_t)pid, &g);
	}
	*ret = g;
	return 0;
}
