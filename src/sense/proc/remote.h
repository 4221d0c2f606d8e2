/*
 * The memory of another process, read without stopping it.
 *
 * process_vm_readv(2) where the kernel has it and seccomp lets it through, else pread(2) on /proc/PID/mem: the switch
 * is made once and silently. The process runs meanwhile: two reads may be inconsistent, and any pointer may be invalid.
 * Nothing here allocates but remote_keep().
 *
 * Tests and fuzzers put their own `ops` in: garbage, cycles, short reads.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "sense/world.h"

enum {
	REMOTE_FAULT = 5, /* the address is not mapped, or only in part */
};

struct remote;
struct remote_ops {
	/* As process_vm_readv: bytes read (short where a remote part is not mapped) or -errno. */
	ssize_t (*readv)(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			 size_t n_from);
};

struct remote_page;
struct remote {
	pid_t pid;
	int mem_fd;     /* /proc/PID/mem; -1: not opened */
	bool by_file;   /* process_vm_readv is refused: mem_fd is used */
	int proc_fd;    /* borrowed from the world */
	const struct remote_ops *ops;
	void *ctx;      /* for the ops of a test */
	uint64_t calls, faults; /* counters for measurements */
	struct remote_page *page; /* that were kept; NULL: none are */
};

/* Never fails: whether the process can be read shows at the first read. */
void remote_open(const struct world *w, pid_t pid, struct remote *ret);
void remote_done(struct remote *r);

/* Reads all len bytes, or REMOTE_FAULT; WORLD_GONE: the process ended; WORLD_DENIED. */
int must_check remote_read(struct remote *r, uint64_t addr, void *into, size_t len);
static inline int must_check remote_u64(struct remote *r, uint64_t addr, uint64_t *ret)
{
	return remote_read(r, addr, ret, sizeof(*ret));
}
/*
 * Reads many parts in one call: the kernel copies them in the order given, which is what lets a reader bracket a copy
 * between two reads of one pointer. *ret_bytes: how many were copied before the first part that is not mapped; 0 bytes
 * is no error. At most IOV_MAX (1024) parts.
 */
int must_check remote_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			    size_t n_from, size_t *ret_bytes);
/*
 * From now on whole pages are read and kept, for many small reads of what lies together: remote_read, remote_u64 and
 * remote_text then tell of each page what it was at its first read, until remote_forget. What is read so has to be
 * read once more afterwards if it must not have changed. Without memory for it nothing is kept.
 */
void remote_keep(struct remote *r);
void remote_forget(struct remote *r);
/* A C string, cut to cap - 1; reads no further than the page that ends it. */
int must_check remote_text(struct remote *r, uint64_t addr, char *dst, size_t cap);
