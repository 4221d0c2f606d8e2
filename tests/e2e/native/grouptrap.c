/*
 * Loaded into vigil by LD_PRELOAD in the end-to-end tests. All of vigil is killed when it makes or removes a control
 * group: GROUPTRAP is "made" or "removed", and how many times that has been done before.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void count(const char *what)
{
	static int done;
	const char *wanted = getenv("GROUPTRAP");
	size_t n = strlen(what);
	if (wanted && strncmp(wanted, what, n) == 0 && done++ == wanted[n] - '0')
		(void)kill(0, SIGKILL);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	int r = (int)syscall(SYS_mkdirat, dir, path, mode);
	if (strstr(path, "vigil-"))
		count("made");
	return r;
}

int unlinkat(int dir, const char *path, int flags)
{
	int r = (int)syscall(SYS_unlinkat, dir, path, flags);
	if ((flags & AT_REMOVEDIR) && strstr(path, "vigil-"))
		count("removed");
	return r;
}
