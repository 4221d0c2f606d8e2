/*
 * The texts in which the kernel and programs describe shared memory: lines of /proc/PID/maps, links of /proc/PID/fd,
 * the table /proc/sysvipc/shm, and file names that show which library made a file. Pure; survives any bytes. Sources:
 * kernel filesystems/proc.rst, ipc/shm.c.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

struct shmtext_mapping {
	uint64_t start, end;
	uint64_t inode;
	uint32_t major, minor;
	struct span path; /* borrowed from the line; without " (deleted)" */
	bool deleted;
};
/* Parses one line. -EBADMSG: no line of maps; 0 with inode 0: anonymous memory. */
int must_check shmtext_mapping_parse(struct span line, struct shmtext_mapping *ret);

/* The kind of memory that a path in maps or a link of fd names. */
enum shm_kind {
	SHM_NONE,    /* an ordinary file */
	SHM_FILE,    /* a file below the shared memory file system */
	SHM_DELETED, /* an unlinked file, which exists while a process holds it */
	SHM_MEMFD,
	SHM_SYSV,
	SHM_ANON,    /* mmap(MAP_SHARED | MAP_ANONYMOUS), shared by fork */
};
/* *ret_name: file name below the mount, memfd's name, or the System V key; borrowed from path. */
enum shm_kind shmtext_kind(struct span path, bool deleted, struct span *ret_name);
/* The same for a link of /proc/PID/fd, whose " (deleted)" is removed first. */
enum shm_kind shmtext_link_kind(struct span link, struct span *ret_name);
const char *shm_kind_name(enum shm_kind k);

struct shmtext_sysv {
	uint32_t key;
	uint64_t id; /* the inode number that maps shows */
	uint64_t size_bytes, rss_bytes, swap_bytes;
	bool has_rss;
	pid_t creator_pid;
	uint64_t attached;
	uid_t uid;
	int64_t changed_unix_s;
};
typedef int shmtext_sysv_fn(void *ctx, const struct shmtext_sysv *segment);
/*
 * Calls fn for each row of the table. Columns are found by their heading, because their number differs between kernels.
 * Malformed rows are skipped. A result of fn other than 0 ends the loop and is returned. -EBADMSG without a heading.
 */
int must_check shmtext_sysv_parse(struct span text, shmtext_sysv_fn *fn, void *ctx);

/*
 * The library that gives its files such names ("PyTorch"); NULL: unknown. *ret_pid: pid of the maker if it is in the
 * name, else 0.
 */
const char *shmtext_maker(struct span name, pid_t *ret_pid);
