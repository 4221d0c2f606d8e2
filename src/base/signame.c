#include "base/signame.h"

#include <signal.h>
#include <string.h>

static const struct {
	int sig;
	const char *name;
	const char *words;
} table[] = {
	{SIGHUP, "SIGHUP", "Hangup"},
	{SIGINT, "SIGINT", "Interrupt"},
	{SIGQUIT, "SIGQUIT", "Quit"},
	{SIGILL, "SIGILL", "Illegal instruction"},
	{SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"},
	{SIGABRT, "SIGABRT", "Aborted"},
	{SIGBUS, "SIGBUS", "Bus error"},
	{SIGFPE, "SIGFPE", "Floating point exception"},
	{SIGKILL, "SIGKILL", "Killed"},
	{SIGUSR1, "SIGUSR1", "User defined signal 1"},
	{SIGSEGV, "SIGSEGV", "Segmentation fault"},
	{SIGUSR2, "SIGUSR2", "User defined signal 2"},
	{SIGPIPE, "SIGPIPE", "Broken pipe"},
	{SIGALRM, "SIGALRM", "Alarm clock"},
	{SIGTERM, "SIGTERM", "Terminated"},
	{SIGSTKFLT, "SIGSTKFLT", "Stack fault"},
	{SIGXCPU, "SIGXCPU", "CPU time limit exceeded"},
	{SIGXFSZ, "SIGXFSZ", "File size limit exceeded"},
	{SIGVTALRM, "SIGVTALRM", "Virtual timer expired"},
	{SIGPROF, "SIGPROF", "Profiling timer expired"},
	{SIGIO, "SIGIO", "I/O possible"},
	{SIGPWR, "SIGPWR", "Power failure"},
	{SIGSYS, "SIGSYS", "Bad system call"},
};

const char *signame(int sig)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].sig == sig)
			return table[i].name;
	return NULL;
}

int signame_parse(struct span s)
{
	uint64_t n;
	s = span_trim(s);
	if (span_u64(s, &n) == 0)
		return n > 0 && n < 65 ? (int)n : 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (span_eq(s, table[i].name) || span_eq(s, table[i].name + strlen("SIG")) ||
		    span_eq(s, table[i].words))
			return table[i].sig;
	return 0;
}
