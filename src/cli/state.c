#include "cli/state.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"

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
		n = text_format(dst, cap, "/var/lib/vigil");
	else if (xdg && *xdg == '/')
		n = text_format(dst, cap, "%s/vigil", xdg);
	else if (home && *home)
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
