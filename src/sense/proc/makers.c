#include "sense/proc/makers.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/statfs.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "sense/proc/proc.h"

struct makers {
	int fd;
};

#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE 0x200 /* Linux 5.19: the mark goes when the kernel needs the memory of the folder's inode */
#endif

/*
 * The right to have more marks than usual is the one to be told whose the events are. Who has it not does not ask: the
 * service's filter has no place for this call.
 */
static bool may_be_told(const struct world *w)
{
	const size_t most = 16384;
	cleanup(freep) char *text = NULL;
	struct proc_status s;
	size_t len;
	return file_slurp(w->proc_fd, "self/status", most, &text, &len) == 0 &&
	       proc_status_parse((struct span){text, len}, &s) == 0 && (s.cap_effective >> CAP_SYS_ADMIN & 1);
}

int makers_open(const struct world *w, struct makers **ret)
{
	if (w->recorded)
		return WORLD_ABSENT;
	if (!may_be_told(w))
		return WORLD_DENIED;
	struct makers *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_MARKS,
			      O_RDONLY | O_CLOEXEC);
	if (k->fd >= 0) {
		*ret = k;
		return 0;
	}
	const int e = errno;
	free(k);
	return e == EPERM || e == EACCES ? WORLD_DENIED : e == ENOSYS || e == EINVAL ? WORLD_ABSENT : -e;
}

struct makers *makers_free(struct makers *k)
{
	if (k)
		closep(&k->fd);
	free(k);
	return NULL;
}

/* File systems that this machine alone writes (linux/magic.h; XFS and ZFS have theirs in their own sources). */
static bool is_local(uint32_t type)
{
	static const uint32_t types[] = {
		0xef53 /* ext4 */,     0x58465342 /* XFS */,	  0x9123683e /* btrfs */, 0x01021994 /* tmpfs */,
		0x794c7630 /* overlay */, 0xf2f52010 /* F2FS */, 0x2fc12fc1 /* ZFS */,	  0x858458f6 /* ramfs */,
	};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

static uint64_t folder_hash(const void *fsid, size_t fsid_len, int type, const void *handle, size_t len)
{
	uint64_t h = hash_bytes(HASH_START, fsid, fsid_len);
	h = hash_bytes(h, &type, sizeof(type));
	return hash_mix(hash_bytes(h, handle, len));
}

int makers_folder(int folder_fd, uint64_t *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	struct statfs fs;
	int mount;
	if (fstatfs(folder_fd, &fs) < 0 || name_to_handle_at(folder_fd, "", &u.handle, &mount, AT_EMPTY_PATH) < 0)
		return WORLD_ABSENT;
	*ret = folder_hash(&fs.f_fsid, sizeof(fs.f_fsid), u.handle.handle_type, u.room + sizeof(u.handle),
			   u.handle.handle_bytes);
	return 0;
}

int makers_watch(const struct makers *k, int folder_fd)
{
	const uint64_t what = FAN_CREATE | FAN_DELETE | FAN_MOVED_TO | FAN_MOVED_FROM | FAN_ONDIR;
	const unsigned how = FAN_MARK_ADD | FAN_MARK_ONLYDIR;
	struct statfs fs;
	if (fstatfs(folder_fd, &fs) < 0 || !is_local((uint32_t)fs.f_type))
		return WORLD_ABSENT;
	if (fanotify_mark(k->fd, how | FAN_MARK_EVICTABLE, what, folder_fd, NULL) == 0 ||
	    (errno == EINVAL && fanotify_mark(k->fd, how, what, folder_fd, NULL) == 0))
		return 0;
	const int e = errno;
	return e == EOPNOTSUPP || e == ENODEV || e == EXDEV || e == EINVAL ? WORLD_ABSENT : -e;
}

int makers_read(const struct makers *k, char buf[static MAKERS_BYTES], size_t *ret_len)
{
	const ssize_t n = read(k->fd, buf, MAKERS_BYTES);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	*ret_len = n > 0 ? (size_t)n : 0;
	return 0;
}

/* The folder and the name of an event, of the bytes behind its head. False: they are not there. */
static bool name_take(struct span info, struct makers_row *ret)
{
	struct fanotify_event_info_fid fid;
	struct file_handle handle;
	const size_t head = sizeof(fid) + sizeof(handle);
	if (info.len < head)
		return false;
	memcpy(&fid, info.p, sizeof(fid));
	memcpy(&handle, info.p + sizeof(fid), sizeof(handle));
	if (fid.hdr.info_type != FAN_EVENT_INFO_TYPE_DFID_NAME || fid.hdr.len > info.len || fid.hdr.len < head ||
	    handle.handle_bytes > fid.hdr.len - head)
		return false;
	const char *name = info.p + head + handle.handle_bytes;
	const size_t room = fid.hdr.len - head - handle.handle_bytes, len = strnlen(name, room);
	if (len == 0 || len == room || len >= sizeof(ret->name))
		return false;
	ret->folder = folder_hash(&fid.fsid, sizeof(fid.fsid), handle.handle_type, info.p + head, handle.handle_bytes);
	memcpy(ret->name, name, len + 1);
	return true;
}

bool makers_next(struct span *rest, struct makers_row *ret)
{
	struct fanotify_event_metadata m;
	while (rest->len >= sizeof(m)) {
		memcpy(&m, rest->p, sizeof(m));
		if (m.vers != FANOTIFY_METADATA_VERSION || m.event_len < m.metadata_len ||
		    m.metadata_len < sizeof(m) || m.event_len > rest->len)
			return false;
		const struct span info = {rest->p + m.metadata_len, m.event_len - m.metadata_len};
		*rest = (struct span){rest->p + m.event_len, rest->len - m.event_len};
		*ret = (struct makers_row){
			.pid = m.pid,
			.came = m.mask & (FAN_CREATE | FAN_MOVED_TO),
			.went = m.mask & (FAN_DELETE | FAN_MOVED_FROM),
			.is_folder = m.mask & FAN_ONDIR,
			.lost = m.mask & FAN_Q_OVERFLOW,
		};
		if (ret->lost || name_take(info, ret))
			return true;
	}
	return false;
}
