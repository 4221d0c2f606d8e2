#include "sense/proc/fdinfo.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"

/* Parses a number of base 8 or 16 that is the whole span. */
static bool based_number(struct span s, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;
	if (s.len == 0 || s.len > (base == 16 ? 16 : 21))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		const char c = s.p[i];
		const unsigned d = c >= '0' && c <= '9'	  ? (unsigned)(c - '0')
				   : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							  : 99;
		if (d >= base)
			return false;
		v = v * base + d;
	}
	*ret = v;
	return true;
}

/* "(3597, 743060428)" of timers; (0, 0) is not set. */
static bool timer_is_set(struct span value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.p[i] >= '1' && value.p[i] <= '9')
			return true;
	return false;
}

/* "1: FLOCK  ADVISORY  WRITE 3817 fe:00:9977890 0 EOF" */
static uint8_t lock_kind(struct span value)
{
	struct span word;
	if (!span_word(&value, &word) || !span_word(&value, &word))
		return 0;
	return span_eq(word, "FLOCK")	 ? FDINFO_LOCK_FLOCK
	       : span_eq(word, "POSIX")	 ? FDINFO_LOCK_POSIX
	       : span_eq(word, "OFDLCK") ? FDINFO_LOCK_OFD
					 : 0;
}

static void field_take(struct fdinfo *f, struct span key, struct span value)
{
	uint64_t number;
	if (span_eq(key, "flags") && based_number(value, 8, &number)) {
		f->access = (int)(number & O_ACCMODE);
		f->has |= FDINFO_FLAGS;
	} else if (span_eq(key, "ino") && span_u64(value, &f->inode) == 0) {
		f->has |= FDINFO_INODE;
	} else if (span_eq(key, "mnt_id") && span_u64(value, &f->mount_id) == 0) {
		f->has |= FDINFO_MOUNT;
	} else if (span_eq(key, "eventfd-id") && span_u64(value, &f->eventfd_id) == 0) {
		f->has |= FDINFO_EVENTFD;
	} else if (span_eq(key, "Pid") && span_i64(value, &f->pid) == 0) {
		f->has |= FDINFO_PID;
	} else if (span_eq(key, "scm_fds") && span_u64(value, &f->in_flight) == 0) {
		f->has |= FDINFO_IN_FLIGHT;
	} else if (span_eq(key, "fuse_connection") && span_u64(value, &f->fuse_connection) == 0) {
		f->has |= FDINFO_FUSE;
	} else if (span_eq(key, "tty-index") && span_u64(value, &f->terminal) == 0) {
		f->has |= FDINFO_TERMINAL;
	} else if (span_eq(key, "UserFiles") && span_u64(value, &f->registered) == 0) {
		f->has |= FDINFO_REGISTERED;
	} else if (span_eq(key, "it_value")) {
		f->timer_set = timer_is_set(value);
		f->has |= FDINFO_TIMER;
	} else if (span_eq(key, "sigmask") && based_number(value, 16, &f->signals)) {
		f->has |= FDINFO_SIGNALS;
	} else if (span_eq(key, "lock")) {
		const uint8_t kind = lock_kind(value);
		f->locks |= kind;
		f->n_own += kind != 0 && kind != FDINFO_LOCK_POSIX;
	}
}

void fdinfo_parse(struct span text, struct fdinfo *ret)
{
	struct span line;
	*ret = (struct fdinfo){.has = 0};
	while (span_line(&text, &line)) {
		struct span value = span_after(line, ":");
		if (value.p)
			field_take(ret, span_before(line, ":"), span_trim(value));
	}
}

int fdinfo_text(const struct world *w, const char *dir, int fd, char *text, size_t cap, size_t *ret_len)
{
	char path[96];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%s/%d", dir, fd);
	cleanup(closep) int file = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	return world_condition(file < 0 ? -errno : file_read_once(file, text, cap, ret_len));
}

int fdinfo_access(const struct world *w, const char *dir, int fd, int *ret)
{
	char path[96], text[1024];
	struct stat st;
	struct fdinfo f;
	size_t len;
	const char *info = strstr(dir, "info");
	if (w->recorded || !info) {
		int r = fdinfo_text(w, dir, fd, text, sizeof(text), &len);
		if (r)
			return r;
		fdinfo_parse((struct span){text, len}, &f);
		if (!(f.has & FDINFO_FLAGS))
			return WORLD_ABSENT;
		*ret = f.access;
		return 0;
	}
	TEXT_FORMAT(path, "%.*s/%d", (int)(info - dir), dir, fd);
	if (fstatat(w->proc_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return world_condition(-errno);
	const bool reads = st.st_mode & S_IRUSR, writes = st.st_mode & S_IWUSR;
	*ret = reads && writes ? O_RDWR : writes ? O_WRONLY : O_RDONLY;
	return 0;
}

/* The value after "key:" in a line of several. */
static bool key_number(struct span line, const char *key, unsigned base, uint64_t *ret)
{
	struct span word, rest = span_after(line, key);
	return rest.p && span_word(&rest, &word) && based_number(word, base, ret);
}

bool epoll_member_next(struct span *rest, struct epoll_member *ret)
{
	struct span line, word;
	uint64_t fd, events, inode = 0;
	while (span_line(rest, &line)) {
		struct span after = line;
		if (!span_word(&after, &word) || !span_eq(word, "tfd:") || !span_word(&after, &word) ||
		    span_u64(word, &fd) < 0 || fd > INT32_MAX || !key_number(after, "events:", 16, &events))
			continue;
		ignore(key_number(after, " ino:", 16, &inode), "0 on kernels that do not tell it");
		*ret = (struct epoll_member){.fd = (int)fd, .events = (uint32_t)events, .inode = inode};
		return true;
	}
	return false;
}

bool inotify_watch_next(struct span *rest, struct inotify_watch *ret)
{
	struct span line;
	uint64_t inode, device;
	while (span_line(rest, &line)) {
		if (!span_starts(line, "inotify wd:") || !key_number(line, " ino:", 16, &inode) ||
		    !key_number(line, " sdev:", 16, &device) || device > UINT32_MAX)
			continue;
		/* As the kernel numbers devices inside. */
		*ret = (struct inotify_watch){inode, (uint32_t)(device >> 20), (uint32_t)(device & 0xfffff)};
		return true;
	}
	return false;
}
