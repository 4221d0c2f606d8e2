#include "sense/proc/remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sense/lockwait.h"

static ssize_t live_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	if (lockwait_reads(r->proc_fd, r->pid))
		return lockwait_readv(r->proc_fd, r->pid, into, n_into, from, n_from);
	ssize_t n = process_vm_readv(r->pid, into, n_into, from, n_from, 0);
	return n < 0 ? -errno : n;
}

static const struct remote_ops live_ops = {.readv = live_readv};

void remote_open(const struct world *w, pid_t pid, struct remote *ret)
{
	*ret = (struct remote){.pid = pid, .mem_fd = -1, .proc_fd = w->proc_fd, .ops = &live_ops};
}

/* Places for pages by the number of the page. */
enum { PAGE = 4096, PLACES = 1024 };

struct remote_page {
	uint64_t addr; /* 0: none */
	unsigned char byte[PAGE];
};

void remote_keep(struct remote *r)
{
	if (!r->page)
		r->page = calloc(PLACES, sizeof(*r->page));
}

void remote_forget(struct remote *r)
{
	free(r->page);
	r->page = NULL;
}

void remote_done(struct remote *r)
{
	remote_forget(r);
	closep(&r->mem_fd);
}

static int mem_open(struct remote *r)
{
	char path[48];
	if (r->mem_fd >= 0)
		return 0;
	TEXT_FORMAT(path, "%d/mem", r->pid);
	r->mem_fd = openat(r->proc_fd, path, O_RDONLY | O_CLOEXEC);
	return r->mem_fd < 0 ? -errno : 0;
}

/* Reads one part from the file; returns the bytes up to the first hole, or -errno. */
static ssize_t file_piece(struct remote *r, char *into, uint64_t from, size_t len)
{
	size_t done = 0;
	while (done < len) {
		if (from + done > INT64_MAX)
			break;
		ssize_t n = pread(r->mem_fd, into + done, len - done, (off_t)(from + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EIO && errno != EFAULT)
			return -errno;
		/*
		 * End of file: the whole memory is gone, not only this address (mem_rw of the kernel; not in proc(5)).
		 */
		if (n == 0)
			return -ESRCH;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Walks the parts of both sides together, as the kernel does. */
static ssize_t file_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	size_t i = 0, used = 0, total = 0;
	for (size_t k = 0; k < n_from; k++) {
		size_t at = 0;
		while (at < from[k].iov_len && i < n_into) {
			size_t len = MIN(from[k].iov_len - at, into[i].iov_len - used);
			ssize_t n = file_piece(r, (char *)into[i].iov_base + used,
					       (uint64_t)(uintptr_t)from[k].iov_base + at, len);
			if (n < 0)
				return n;
			total += (size_t)n;
			if ((size_t)n < len)
				return (ssize_t)total;
			at += len;
			used += len;
			if (used == into[i].iov_len) {
				i++;
				used = 0;
			}
		}
	}
	return (ssize_t)total;
}

static ssize_t readv_any(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			 size_t n_from)
{
	r->calls++;
	int stands = r->ops == &live_ops ? lockwait_ask(r->proc_fd, r->pid) : 0;
	if (stands != 0)
		return stands;
	if (!r->by_file) {
		ssize_t n = r->ops->readv(r, into, n_into, from, n_from);
		/* A seccomp filter may refuse the call with EPERM while the file can still be opened. */
		if (n >= 0 || r->ops != &live_ops || (n != -ENOSYS && n != -EPERM))
			return n;
		int e = mem_open(r);
		if (e < 0)
			return n == -EPERM ? -EPERM : e;
		r->by_file = true;
	}
	return file_readv(r, into, n_into, from, n_from);
}

int remote_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from, size_t n_from,
		 size_t *ret_bytes)
{
	ssize_t n = readv_any(r, into, n_into, from, n_from);
	if (n == -EFAULT)
		n = 0;
	if (n < 0)
		return world_condition((int)n);
	*ret_bytes = (size_t)n;
	return 0;
}

static int remote_part_read(struct remote *r, uint64_t addr, void *into, size_t len)
{
	struct iovec local = {into, len};
	struct iovec remote = {(void *)(uintptr_t)addr, len}; // NOLINT(performance-no-int-to-ptr): theirs, not ours
	size_t n = 0;
	int e = remote_readv(r, &local, 1, &remote, 1, &n);
	if (e)
		return e;
	if (n != len) {
		r->faults++;
		return REMOTE_FAULT;
	}
	return 0;
}

/* The kept page at this address; NULL: it cannot be read as a whole. */
static const struct remote_page *page_at(struct remote *r, uint64_t addr)
{
	struct remote_page *p = &r->page[addr / PAGE % PLACES];
	if (p->addr == addr)
		return p;
	p->addr = 0;
	if (addr == 0 || remote_part_read(r, addr, p->byte, PAGE) != 0)
		return NULL;
	p->addr = addr;
	return p;
}

/* False: not all of it lies in pages that can be kept. */
static bool pages_read(struct remote *r, uint64_t addr, unsigned char *into, size_t len)
{
	while (len > 0) {
		size_t at = (size_t)(addr % PAGE), n = MIN(len, PAGE - at);
		const struct remote_page *p = page_at(r, addr - at);
		if (!p)
			return false;
		memcpy(into, p->byte + at, n);
		addr += n;
		into += n;
		len -= n;
	}
	return true;
}

int remote_read(struct remote *r, uint64_t addr, void *into, size_t len)
{
	if (r->page && len <= PAGE && addr <= UINT64_MAX - len && pages_read(r, addr, into, len))
		return 0;
	return remote_part_read(r, addr, into, len);
}

int remote_text(struct remote *r, uint64_t addr, char *dst, size_t cap)
{
	size_t len = 0;
	while (len + 1 < cap) {
		size_t piece = MIN((size_t)(PAGE - (addr + len) % PAGE), cap - 1 - len);
		int e = remote_read(r, addr + len, dst + len, piece);
		if (e)
			return e;
		char *end = memchr(dst + len, '\0', piece);
		if (end)
			return 0;
		len += piece;
	}
	dst[len] = '\0';
	return 0;
}
