/*
 * A file system that stops answering, as a server of files does that is gone: deadfs FOLDER mounts it there, prints
 * "ready", and serves until it is ended. It has a file "data" of 1 MiB, which any name that begins so stands for. Who
 * opens it succeeds, who reads it waits in state D for as long as this lives, for the kernel's read-ahead holds the
 * page. Its file "paper" can be read: zeros. Files can be made; what is written to any file is never taken. With "hard"
 * as second argument not even SIGKILL ends who waits for that, as with a hard mount of NFS. Needs root.
 *
 * The protocol is that of /dev/fuse: linux/fuse.h, and man 4 fuse.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE (1u << 20)
#define FILE_NODE 2
#define MADE_NODE 3
#define PAPER_NODE 4

static int fd = -1;
static const char *folder;
static bool hard;

static void answer(uint64_t unique, int error, const void *data, size_t n)
{
	char out[512];
	struct fuse_out_header h = {.len = (uint32_t)(sizeof(h) + n), .error = -error, .unique = unique};
	memcpy(out, &h, sizeof(h));
	if (n > 0)
		memcpy(out + sizeof(h), data, n);
	if (write(fd, out, sizeof(h) + n) < 0 && errno != ENOENT)
		perror("deadfs: answer");
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = {.ino = node, .nlink = 1, .blksize = 4096};
	a.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : S_IFREG | 0666;
	a.size = node == FILE_NODE || node == PAPER_NODE ? SIZE : 0;
	return a;
}

static void entry(uint64_t unique, uint64_t node)
{
	struct fuse_entry_out e = {.nodeid = node, .entry_valid = 3600, .attr_valid = 3600, .attr = attr_of(node)};
	answer(unique, 0, &e, sizeof(e));
}

static void create(uint64_t unique)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = {.entry = {.nodeid = MADE_NODE, .entry_valid = 3600, .attr_valid = 3600, .attr = attr_of(MADE_NODE)}};
	answer(unique, 0, &out, sizeof(out));
}

static void begin(uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_readahead = in->max_readahead,
				    .flags = FUSE_ASYNC_READ & in->flags,
				    .max_background = 64,
				    .congestion_threshold = 48,
				    .max_write = 1 << 16};
	answer(unique, 0, &out, sizeof(out));
}

static void zeros(uint64_t unique, uint32_t n)
{
	static char out[sizeof(struct fuse_out_header) + SIZE];
	struct fuse_out_header h = {.len = (uint32_t)sizeof(h) + (n < SIZE ? n : SIZE), .unique = unique};
	memcpy(out, &h, sizeof(h));
	if (write(fd, out, h.len) < 0 && errno != ENOENT)
		perror("deadfs: answer");
}

static void serve(const char *request)
{
	const struct fuse_in_header *h = (const void *)request;
	const char *name = request + sizeof(*h);
	struct fuse_open_out open = {0};
	struct fuse_attr_out attr = {.attr_valid = 3600, .attr = attr_of(h->nodeid)};
	switch (h->opcode) {
	case FUSE_INIT:
		begin(h->unique, (const void *)name);
		return;
	case FUSE_LOOKUP:
		if (strncmp(name, "data", 4) == 0)
			entry(h->unique, FILE_NODE);
		else if (strcmp(name, "paper") == 0)
			entry(h->unique, PAPER_NODE);
		else
			answer(h->unique, ENOENT, NULL, 0);
		return;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(h->unique, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(h->unique, 0, &open, sizeof(open));
		return;
	case FUSE_CREATE:
		create(h->unique);
		return;
	case FUSE_READ: /* this is what it is about */
		if (h->nodeid == PAPER_NODE)
			zeros(h->unique, ((const struct fuse_read_in *)(const void *)name)->size);
		return;
	case FUSE_WRITE:
	case FUSE_FSYNC:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		return;
	case FUSE_FLUSH: /* a process that is ended waits for it, and then no signal reaches it any more */
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_READDIR:
		answer(h->unique, 0, NULL, 0);
		return;
	case FUSE_INTERRUPT: /* who waits is to be ended */
		if (!hard)
			answer(((const struct fuse_interrupt_in *)(const void *)name)->unique, EINTR, NULL, 0);
		return;
	default:
		answer(h->unique, ENOSYS, NULL, 0);
	}
}

static void end(int sig)
{
	(void)sig;
	(void)umount2(folder, MNT_DETACH);
	_exit(0);
}

int main(int argc, char **argv)
{
	static char request[1 << 17];
	char options[128];
	if (argc < 2)
		return 2;
	hard = argc > 2 && strcmp(argv[2], "hard") == 0;
	folder = argv[1];
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/fuse");
		return 77;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fd, getuid(),
		 getgid());
	if (mount("deadfs", folder, "fuse.deadfs", MS_NOSUID | MS_NODEV, options) < 0) {
		perror("mount");
		return 77;
	}
	signal(SIGTERM, end);
	signal(SIGINT, end);
	puts("ready");
	fflush(stdout);
	for (;;) {
		ssize_t n = read(fd, request, sizeof(request));
		if (n < 0 && errno == ENODEV)
			return 0;
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve(request);
	}
}
