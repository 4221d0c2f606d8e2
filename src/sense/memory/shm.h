/*
 * Shared memory and the processes that hold it. RSS minus shared leaves out memory in /dev/shm, memfds, System V
 * segments and shared anonymous maps: that memory outlives its readers and is freed by the last holder or by unlink.
 * This ledger lists every such object with the bytes really allocated, its holders, and the orphans that no process
 * holds any more.
 *
 * Bytes; sizes of files are allocated blocks, not their length. Sources: kernel filesystems/tmpfs.rst, proc.rst;
 * shm_overview(7).
 */
#pragma once

#include "sense/memory/shmtext.h"
#include "sense/world.h"

#define SHM_NAME_MAX 160

struct shm_item {
	enum shm_kind kind;
	char name[SHM_NAME_MAX]; /* path below the mount; memfd's name; "0x<key> id <id>" for System V */
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	bool has_bytes;
	uint64_t bytes;        /* allocated */
	uint64_t mapped_bytes; /* largest map of it that was seen: an upper bound when has_bytes is false */
	bool has_uid;
	uid_t uid;             /* owner of the file */
	int64_t since_unix_ms; /* created, or last written where the kernel keeps no creation time; 0 unknown */
	const char *maker;     /* library guessed from the name; static; NULL: unknown */
	pid_t maker_pid;       /* process that made it, from the name or the kernel; 0: unknown */
	bool maker_gone;       /* the process maker_pid has ended */
	bool elsewhere;        /* the file is in /dev/shm of another container */
	bool orphan;           /* no process that could be read holds it */
	uint32_t first_owner, n_owners;
};

struct shm_owner {
	uint32_t item;
	pid_t pid;
	bool mapped, open;
};

struct shm_ledger {
	struct shm_item *items; /* largest first; owned */
	size_t n;
	struct shm_owner *owners; /* grouped by item, by pid; owned */
	size_t n_owners;
	bool has_mount;      /* /dev/shm could be listed */
	bool has_space;
	uint64_t total_bytes, free_bytes; /* size and free space of the mount */
	uint64_t file_bytes;   /* sum of the files in the mount */
	uint64_t held_bytes;   /* sum of all else that is known: deleted files, memfd, System V, anonymous */
	uint64_t orphan_bytes;
	size_t n_processes;  /* looked at */
	size_t n_denied;     /* processes that could not be read: owners may be missing */
	size_t n_unscanned;  /* processes left when the time was up: owners may be missing */
	size_t n_dropped;    /* objects beyond the limit of the ledger, and folders left when the time was up */
	bool hidden;         /* /proc hides other users' processes (hidepid): owners may be missing */
};

/*
 * first: processes to read first (a job's). budget_ns: time to search for owners; the remaining processes are counted
 * in n_unscanned. Only -ENOMEM fails; what is absent or denied shows in the ledger.
 */
int must_check shm_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns,
			struct shm_ledger *ret);
void shm_done(struct shm_ledger *l);

/* True when every process could be read, so that an orphan is certain. */
static inline bool shm_complete(const struct shm_ledger *l)
{
	return l->n_denied == 0 && l->n_unscanned == 0 && !l->hidden;
}
/* "/dev/shm/x", "/dev/shm/x (deleted)", "memfd:x", "sysv:0x5 id 3", "shared anonymous memory". */
void shm_item_path(const struct shm_item *item, char *dst, size_t cap);
