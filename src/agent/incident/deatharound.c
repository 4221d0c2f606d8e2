#include "agent/incident/deatharound.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/net/fdtarget.h"
#include "sense/net/sockpeer.h"
#include "sense/proc/proc.h"
#include "sense/wait/fdholders.h"
#include "sense/wait/kinship.h"

/* Less room than this counts as none: a writer stops at a block that does not fit, not at the last byte. */
static const uint64_t no_room_bytes = 4 * MIB;

static const uint64_t no_room_inodes = 4;

/* What is looked at of a full file system for a file that was just written to. */
#define WALK_DEPTH 8
#define WALK_ENTRIES 20000

static bool no_room(const char *path, struct death_disk *ret)
{
	struct statvfs fs;
	if (statvfs(path, &fs) < 0 || fs.f_blocks == 0 || (fs.f_flag & ST_RDONLY))
		return false;
	uint64_t total = (uint64_t)fs.f_blocks * fs.f_frsize, left = (uint64_t)fs.f_bavail * fs.f_frsize;
	bool no_inodes = fs.f_files > 0 && fs.f_favail < no_room_inodes;
	bool no_blocks = left < MIN(no_room_bytes, total / 50);
	if (!no_blocks && !no_inodes)
		return false;
	ret->no_inodes = no_inodes && !no_blocks;
	ret->total_inodes = fs.f_files;
	ret->free_inodes = fs.f_favail;
	TEXT_COPY(ret->path, path);
	ret->total_bytes = total;
	ret->free_bytes = left;
	return true;
}

/* "36 35 98:0 /root /mnt rw - ext4 /dev/sda rw": where it is mounted, unless its type is of no use here. */
static bool mount_of(struct span line, char *path, size_t cap)
{
	static const char *const no_disks[] = {"proc",	     "sysfs",	 "cgroup",  "cgroup2", "devpts",
					       "mqueue",     "efivarfs", "debugfs", "tracefs", "bpf",
					       "securityfs", "configfs", "pstore",  "autofs",  "squashfs"};
	struct span type = span_before(span_after(line, " - "), " "), at = {NULL, 0};
	for (int field = 0; field < 5; field++)
		if (!span_word(&line, &at))
			return false;
	if (!type.p || mount_is_remote(type) || at.len >= cap || memchr(at.p, '\\', at.len))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(no_disks); i++)
		if (span_eq(type, no_disks[i]))
			return false;
	span_copy(at, path, cap);
	return true;
}

static bool disk_known(const struct death_disk *disk, size_t n, const struct death_disk *one)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(disk[i].path, one->path) == 0)
			return true;
	return false;
}

/* The mount that a folder is on is known by its name there, not by the folder's own. */
static bool same_disk(const char *path, const char *folder)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(folder, &b) == 0 && a.st_dev == b.st_dev;
}

struct walk {
	const struct world *w;
	dev_t dev;
	int64_t from_unix_ms;
	uint64_t until_ns;
	uint32_t left; /* entries that are still looked at */
};

/* A folder is changed where a file in it is made or removed, as programs do with what they could not finish. */
static bool changed_since(const struct walk *k, const struct stat *st)
{
	return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) &&
	       (int64_t)st->st_mtim.tv_sec * 1000 >= k->from_unix_ms;
}

/* True if a file below the folder, which is closed, was written to since; what cannot be looked into has none. */
static bool written_below(struct walk *k, int folder, int depth)
{
	cleanup(closedirp) DIR *dir = fdopendir(folder);
	if (!dir) {
		close(folder);
		return false;
	}
	for (struct dirent *e; k->left > 0 && k->w->mono_ns() < k->until_ns && (e = readdir(dir));) {
		struct stat st;
		k->left--;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != k->dev)
			continue;
		if (changed_since(k, &st))
			return true;
		if (!S_ISDIR(st.st_mode) || depth >= WALK_DEPTH)
			continue;
		const int below = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0 && written_below(k, below, depth + 1))
			return true;
	}
	return false;
}

static bool written_since(const struct world *w, const char *path, int64_t from_unix_ms, uint64_t until_ns)
{
	struct walk k = {.w = w, .from_unix_ms = from_unix_ms, .until_ns = until_ns, .left = WALK_ENTRIES};
	struct stat st;
	const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	const bool known = fstat(folder, &st) == 0;
	if (!known || changed_since(&k, &st)) {
		close(folder);
		return known;
	}
	k.dev = st.st_dev;
	return written_below(&k, folder, 0);
}

size_t deatharound_disks(const struct world *w, int64_t from_unix_ms, uint64_t until_ns, struct death_disk *ret,
			 size_t cap)
{
	cleanup(freep) char *text = NULL;
	size_t len, n = 0;
	if (file_slurp(w->proc_fd, "self/mountinfo", 1 * MIB, &text, &len) != 0)
		return 0;
	struct span rest = {text, len}, line;
	while (n < cap && span_line(&rest, &line)) {
		char path[sizeof(ret->path)];
		struct death_disk one;
		if (!mount_of(line, path, sizeof(path)) || !no_room(path, &one) || disk_known(ret, n, &one))
			continue;
		const bool own = same_disk(path, ".");
		one.unwritten = !own && !written_since(w, path, from_unix_ms, until_ns);
		ret[n++] = one;
		if (n > 1 && own) {
			ret[n - 1] = ret[0];
			ret[0] = one;
		}
	}
	return n;
}

static void sockets_read(const struct world *w, const char *name, struct sockpeer_table *t, bool *looked)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	if (file_slurp(w->proc_fd, name, 16 * MIB, &text, &len) == 0 &&
	    sockpeer_text_parse((struct span){text, len}, false, 0, t) == 0)
		*looked = true;
}

static bool has_socket(const struct world *w, const struct kin *k, uint64_t inode)
{
	struct fdtable t = {.entry = NULL};
	bool found = false;
	if (k->kernel_thread || fdtable_read(w, k->pid, k->state == 'Z', &t) != 0)
		return false;
	for (size_t i = 0; i < t.n && !found; i++)
		found = t.entry[i].kind == FD_SOCKET && t.entry[i].number == inode;
	fdtable_done(&t);
	return found;
}

static void holder_find(const struct world *w, uint64_t inode, uint64_t until_ns, struct death_port *ret)
{
	struct kinship all = {.item = NULL};
	if (kinship_read(w, &all) == 0)
		for (size_t i = 0; i < all.n && ret->pid == 0 && w->mono_ns() < until_ns; i++) {
			if (!has_socket(w, &all.item[i], inode))
				continue;
			ret->pid = all.item[i].pid;
			TEXT_COPY(ret->name, all.item[i].comm);
			if (proc_command_read(w, ret->pid, ret->command, sizeof(ret->command)) != 0)
				ret->command[0] = '\0';
		}
	kinship_done(&all);
}

void deatharound_port(const struct world *w, uint16_t port, uint64_t until_ns, struct death_port *ret)
{
	struct sockpeer_table t = {.item = NULL};
	uint64_t inode = 0;
	*ret = (struct death_port){.port = port};
	sockets_read(w, "self/net/tcp", &t, &ret->looked);
	sockets_read(w, "self/net/tcp6", &t, &ret->looked);
	for (size_t i = 0; i < t.n; i++) {
		const struct sockpeer *s = &t.item[i];
		if (s->local_port != port || ret->listens)
			continue;
		ret->any = true;
		ret->listens = s->state == SOCKPEER_LISTEN;
		inode = s->inode ? s->inode : inode;
	}
	if (inode)
		holder_find(w, inode, until_ns, ret);
	sockpeer_table_done(&t);
}
