#include "cli/options/state.h"

#include <errno.h>
#include <sys/stat.h>
#include <limits.h>
#include <string.h>

#include "agent/incident/lentrows.h"
#include "base/buf.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "base/private.h"

/* Where a vigil of root keeps what it watches; tests name another one. */
#define NODE_STATE "/var/lib/vigil"

static const char *node_state(void)
{
	const char *env = getenv("VIGIL_NODE_STATE_DIR");
	return env && *env ? env : NODE_STATE;
}

/*
 * A folder below /tmp for a user without HOME, as in containers. It is refused unless it is a directory of this user
 * that others cannot write to, because any user can make something of that name there. -1: refused; dst has its path.
 */
static int homeless_dir(char *dst, size_t cap)
{
	struct stat st;
	int n = text_format(dst, cap, "/tmp/vigil-%u", (unsigned)geteuid());
	if (mkdir(dst, 0700) < 0 && errno != EEXIST)
		return -1;
	bool own = lstat(dst, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 0022) == 0;
	return own ? n : -1;
}

int state_dir(const char *given, char *dst, size_t cap, struct fault *f)
{
	const char *env = getenv("VIGIL_STATE_DIR"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;
	if (given && *given)
		n = text_format(dst, cap, "%s", given);
	else if (env && *env)
		n = text_format(dst, cap, "%s", env);
	else if (geteuid() == 0)
		n = text_format(dst, cap, NODE_STATE);
	else if (xdg && *xdg == '/')
		n = text_format(dst, cap, "%s/vigil", xdg);
	else if (home && *home == '/') /* another would be a folder below wherever the command is started */
		n = text_format(dst, cap, "%s/.local/state/vigil", home);
	else
		n = homeless_dir(dst, cap);
	if (n < 0)
		return fault_set(f, -ENOENT,
				 "nowhere to keep jobs and reports: HOME is not set, and %s cannot be used (it must be "
				 "a directory of your own that nobody else may write to); use --state DIR",
				 dst);
	if ((size_t)n >= cap)
		return fault_set(f, -ENAMETOOLONG, "the state directory's path is longer than %zu bytes", cap - 1);
	return 0;
}

#define OVERFLOW_UID 65534 /* whoever a user namespace does not know: there root is no root of the machine's */

void state_warn(const char *dir)
{
	struct foreign_user user;
	if (foreign_path_user(dir, &user) != 1 || user.uid == OVERFLOW_UID)
		return;
	log_warning("user %u can change what lies in the state directory %s, and could have root's vigil write "
		    "elsewhere; where that user is not to be trusted, name a folder of root's with --state",
		    (unsigned)user.uid, dir);
}

void state_lend(const char *given, struct store **s)
{
	char folder[PATH_MAX];
	size_t jobs = 0;
	if (geteuid() == 0 || (given && *given))
		return;
	TEXT_FORMAT(folder, "%s/users/%u", node_state(), (unsigned)geteuid());
	if (access(folder, R_OK | X_OK) < 0)
		return;
	bool made = !*s;
	int r = made ? store_open_empty(s) : 0;
	if (r == 0)
		r = lentrows_read(folder, *s, &jobs);
	if (r < 0 && r != -ENOENT)
		log_warning("cannot read what root's vigil keeps of your jobs in %s: %s", folder, strerror(-r));
	if (made && jobs == 0)
		*s = store_close(*s);
}

bool state_others(const char *given, char *dst, size_t cap)
{
	char db[PATH_MAX];
	if (geteuid() == 0 || (given && *given))
		return false;
	TEXT_FORMAT(db, "%s/" STORE_FILE, node_state());
	if (access(db, F_OK) < 0 || access(db, R_OK) == 0)
		return false;
	(void)text_format(dst, cap,
			  "jobs of other users that root's vigil keeps in %s are not shown: only root and the group "
			  "%s may read them",
			  node_state(), PRIVATE_GROUP);
	return true;
}
