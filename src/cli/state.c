#include "cli/state.h"

#include "base/buf.h"

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
		return fault_set(f, -ENOENT, "nowhere to keep jobs and reports: HOME is not set; use --state DIR");
	if (n < 0 || (size_t)n >= cap)
		return fault_set(f, -ENAMETOOLONG, "the state directory's path is longer than %zu bytes", cap - 1);
	return 0;
}
