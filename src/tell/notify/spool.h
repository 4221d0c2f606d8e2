/*
 * Notices that wait for their delivery, on disk: <state>/notify. One file a
 * notice and channel, put there by a rename, so that a reader sees all of it or
 * nothing; its name sorts by age and names the channel. What is remembered of a
 * channel (model/notify/delivery) is beside them. Survives every process and reboot.
 *
 * At most SPOOL_FILES files, SPOOL_BYTES each and SPOOL_AGE_MS old: the oldest
 * make room. Files that are not whole are removed when met. The folder is no link, and a vigil of root takes files of
 * root's only: in a user's state directory it neither sends nor removes what the user put there.
 */
#pragma once

#include "model/notify/delivery.h"
#include "tell/notify/notify.h"

#define SPOOL_FILES 1000
#define SPOOL_BYTES 65536
#define SPOOL_AGE_MS (INT64_C(24) * 3600 * 1000)

enum {
	SPOOL_BUSY = 1, /* another process delivers at the moment */
	SPOOL_NONE = 2, /* no such file (any more) */
};

struct spool {
	char dir[300];
};

struct spool_entry {
	char file[96];
	char channel[32];
	int64_t time_unix_ms; /* when it was put there */
};

struct spool_list {
	struct spool_entry *entry; /* oldest first; owned */
	size_t n;
};

void spool_at(struct spool *s, const char *state_dir);
void spool_list_done(struct spool_list *l);
/* Does not wait for the disk: no fsync, no lock. */
int must_check spool_put(const struct spool *s, const char *channel, const struct notice *n, int64_t now_unix_ms);
/* Lists everything that waits; removes files that are too old. */
int must_check spool_scan(const struct spool *s, int64_t now_unix_ms, struct spool_list *ret);
bool spool_is_empty(const struct spool *s);
/* SPOOL_NONE: no such file, or it was not whole and has been removed. */
int must_check spool_read(const struct spool *s, const char *file, struct notice *ret);
void spool_drop(const struct spool *s, const char *file);

/* what: "" for the whole spool, or a channel. *ret_fd holds the lock until it is closed. SPOOL_BUSY. */
int must_check spool_lock(const struct spool *s, const char *what, int *ret_fd);

/* A state that cannot be read is returned as a new one. */
void spool_delivery_read(const struct spool *s, const char *channel, struct delivery *ret);
int must_check spool_delivery_write(const struct spool *s, const char *channel, const struct delivery *l);
