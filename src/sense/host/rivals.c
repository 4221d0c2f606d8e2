#include "sense/host/rivals.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

static const char *const comms[RIVAL_MAX] = {
	[RIVAL_EARLYOOM] = "earlyoom", [RIVAL_NOHANG] = "nohang", [RIVAL_SYSTEMD_OOMD] = "systemd-oomd",
	[RIVAL_META_OOMD] = "oomd", [RIVAL_RAY] = "raylet", [RIVAL_KUBELET] = "kubelet",
	[RIVAL_SLURM] = "slurmstepd", [RIVAL_LMKD] = "lmkd",
};

enum rival_kind rivals_kind(struct span comm, struct span command)
{
	for (int k = RIVAL_NONE + 1; k < RIVAL_MAX; k++)
		if (span_eq(comm, comms[k]))
			return (enum rival_kind)k;
	/* A script keeps its interpreter's name when started as "python3 /usr/sbin/nohang". */
	struct span rest = command, word;
	for (int i = 0; i < 3 && span_word(&rest, &word); i++)
		if (span_starts(comm, "python") && (span_eq(word, "nohang") || span_has(word, "/nohang")))
			return RIVAL_NOHANG;
	return RIVAL_NONE;
}

static struct span part_read(const struct world *w, pid_t pid, const char *file, char *dst, size_t cap)
{
	char path[32];
	size_t len = 0;
	TEXT_FORMAT(path, "%d/%s", pid, file);
	if (file_read_at(w->proc_fd, path, dst, cap, &len) != 0)
		return (struct span){"", 0};
	for (size_t i = 0; i < len; i++)
		if (dst[i] == '\0')
			dst[i] = ' ';
	return span_trim((struct span){dst, len});
}

static void process_look(const struct world *w, pid_t pid, struct rivals *g)
{
	char comm_text[64], command_text[512];
	struct span comm = part_read(w, pid, "comm", comm_text, sizeof(comm_text)), command = {"", 0};
	enum rival_kind kind = rivals_kind(comm, command);
	if (kind != RIVAL_NONE || span_starts(comm, "python")) {
		command = part_read(w, pid, "cmdline", command_text, sizeof(command_text));
		kind = rivals_kind(comm, command);
	}
	if (kind == RIVAL_NONE || rivals_find(g, kind) || g->n == RIVALS_MAX)
		return;
	struct rival_row *row = &g->row[g->n++];
	row->kind = kind;
	row->pid = pid;
	span_copy(command.len ? command : comm, row->command, sizeof(row->command));
}

int rivals_read(const struct world *w, struct rivals *ret)
{
	struct rivals g = {.n = 0};
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
			process_look(w, (pid_t)pid, &g);
	}
	*ret = g;
	return 0;
}
