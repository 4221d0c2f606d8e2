/*
 * The memory of another process, read without stopping it.
 *
 * process_vm_readv(2) where the kernel has it and seccomp lets it through,
 * else pread(2) on /proc/PID/mem: the switch is made once and silently. What
 * is read is a picture of a running process: two reads may not fit together,
 * and any pointer in it may lead nowhere. Nothing here allocates.
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

struct remote {
	pid_t pid;
	int mem_fd;     /* /proc/PID/mem; -1 while it is not needed */
	bool by_file;   /* process_vm_readv is refused: mem_fd is used */
	int proc_fd;    /* borrowed from the world */
	const struct remote_ops *ops;
	void *ctx;      /* of the ops of a test */
	uint64_t calls, faults; /* for whoever measures */
};

/* Never fails: whether the process can be read shows at the first read. */
void remote_open(const struct world *w, pid_t pid, struct remote *ret);
void remote_done(struct remote *r);

/* All of len bytes or REMOTE_FAULT; WORLD_GONE: the process ended; WORLD_DENIED: we may not. */
int must_check remote_read(struct remote *r, uint64_t addr, void *into, size_t len);
static inline int must_check remote_u64(struct remote *r, uint64_t addr, uint64_t *ret)
{
	return remote_read(r, addr, ret, sizeof(*ret));
}
/*
 * Many pieces in one call: the kernel copies them in the order given, which
 * is what lets a reader bracket a copy between two reads of one pointer.
 * *ret_bytes: how many were copied before the first piece that is not mapped;
 * 0 bytes is not a failure. At most IOV_MAX (1024) pieces.
 */
int must_check remote_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			    size_t n_from, size_t *ret_bytes);
/* A C string, cut to cap - 1; reads no further than the page that ends it. */
int must_check remote_text(struct remote *r, uint64_t addr, char *dst, size_t cap);
