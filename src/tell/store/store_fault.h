/* What calls of the store answer, and sentences that say what to do about an error. */
#pragma once

#include "base/fault.h"

/* STORE_HASTE: writes, but waits for others STORE_HASTE_MS only; see store_open. */
enum store_mode { STORE_READ, STORE_WRITE, STORE_HASTE };
enum {
	STORE_NONE = 1, /* no such job, incident or database */
	STORE_STOPPED = 2, /* a callback asked to stop */
};

/* How long a write waits for another vigil's write. */
#define STORE_BUSY_S 5
#define STORE_HASTE_MS 100

/* db: the file's path. Returns r. */
int store_explain(const char *db, const char *dir, enum store_mode mode, int r, struct fault *f);
/* Checks the directory before SQLite does, whose messages about directories are vague. */
int must_check store_check_directory(const char *dir, enum store_mode mode, struct fault *f);
