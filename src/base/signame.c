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

/* As shells list them (kill -l): 34 is the first that programs may use, the C library keeps 32 and 33. */
#define REAL_TIME_FIRST 34
#define REAL_TIME_LAST 64

static const char *const real_time[] = {
	"SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+2",  "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",
	"SIGRTMIN+7",  "SIGRTMIN+8",  "SIGRTMIN+9",  "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13",
	"SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX-13", "SIGRTMAX-12", "SIGRTMAX-11", "SIGRTMAX-10",
	"SIGRTMAX-9",  "SIGRTMAX-8",  "SIGRTMAX-7",  "SIGRTMAX-6",  "SIGRTMAX-5",  "SIGRTMAX-4",  "SIGRTMAX-3",
	"SIGRTMAX-2",  "SIGRTMAX-1",  "SIGRTMAX"};
_Static_assert(ARRAY_SIZE(real_time) == REAL_TIME_LAST - REAL_TIME_FIRST + 1, "a name for each");

const char *signame(int sig)
{
	if (sig >= REAL_TIME_FIRST && sig <= REAL_TIME_LAST)
		return real_time[sig - REAL_TIME_FIRST];
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
	for (int sig = REAL_TIME_FIRST; sig <= REAL_TIME_LAST; sig++)
		if (span_eq(s, signame(sig)) || span_eq(s, signame(sig) + strlen("SIG")))
			return sig;
	return 0;
}
