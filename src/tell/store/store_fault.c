#include "tell/store/store_fault.h"

#include <string.h>
#include <sys/stat.h>

int store_explain(const char *db, const char *dir, enum store_mode mode, int r, struct fault *f)
{
	switch (r) {
	case STORE_NONE:
		return fault_set(f, r, "no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'",
				 dir);
	case -EPROTONOSUPPORT:
		return fault_set(f, r,
				 "%s was written by a newer vigil; use that version, or another --state directory", db);
	case -EPROTOTYPE:
		return fault_set(f, r, "%s was written by an older vigil; any 'vigil run' brings it up to date", db);
	case -EBADMSG:
		return fault_set(f, r,
				 "%s is damaged; the next 'vigil run' moves it aside and starts a new one ('sqlite3 %s "
				 ".recover' shows what is left)",
				 db, db);
	case -ENOSPC:
	case -EFBIG:
	case -EDQUOT:
		return fault_set(f, r, "no room to write %s (%s); free some space or choose another --state directory",
				 db, strerror(-r));
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return fault_set(f, r, "may not %s %s (%s); choose a directory of your own with --state",
				 mode == STORE_READ ? "read" : "write", db, strerror(-r));
	case -EBUSY:
		if (mode == STORE_HASTE)
			return fault_set(f, r, "%s is locked by another program", db);
		return fault_set(f, r, "%s is being written by another program for more than %d s; try again", db,
				 STORE_BUSY_S);
	default:
		return fault_set(f, r, "cannot open the store %s: %s", db, strerror(-r));
	}
}

int store_check_directory(const char *dir, enum store_mode mode, struct fault *f)
{
	struct stat st;
	if (stat(dir, &st) < 0)
		return fault_set(f, -errno, "cannot reach the state directory %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return fault_set(f, -ENOTDIR, "the state directory %s is not a directory", dir);
	if (access(dir, mode == STORE_READ ? X_OK : W_OK | X_OK) < 0)
		return fault_set(f, -errno, "may not %s the state directory %s (%s); choose another with --state",
				 mode == STORE_READ ? "enter" : "write to", dir, strerror(errno));
	return 0;
}
