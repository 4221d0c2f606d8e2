/* What went wrong with the store, in a sentence that says what to do. */
#pragma once

#include "base/fault.h"
#include "tell/store/store.h"

/* How long a write waits for another vigil's write. */
#define STORE_BUSY_S 5

/* db: the file's path. Returns r. */
int store_explain(const char *db, const char *dir, enum store_mode mode, int r, struct fault *f);
/* SQLite's own words about directories are vague, so look before it does. */
int must_check store_check_directory(const char *dir, enum store_mode mode, struct fault *f);
