/*
 * A call that a seccomp filter forbids may end the program, so the origin of its filters matters (docs/decisions/0019).
 * Sources: kernel userspace-api/seccomp_filter.rst, ptrace(2) PTRACE_SECCOMP_GET_FILTER.
 */
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "act/inject/inject_parts.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/proc.h"

#define ANCESTORS_MAX 1000
#define FILTERS_MAX 64
#define ROWS_MAX 4096 /* BPF_MAXINSNS */
#define MODE_STRICT 1

int inject_seccomp_read(const struct world *w, pid_t pid, pid_t tid, struct inject_seccomp *ret)
{
	char path[64], text[8192];
	size_t len;
	struct span ign;
	*ret = (struct inject_seccomp){.mode = 0};
	TEXT_FORMAT(path, "%d/task/%d/status", (int)pid, (int)tid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	struct span all = {text, len};
	ignore(text_field_u64(all, "Seccomp:", &ret->mode), "kernels without it filter nothing");
	ignore(text_field_u64(all, "Seccomp_filters:", &ret->filters), "older kernels do not count");
	if (text_field(all, "SigIgn:", &ign) == 0) {
		char hex[32];
		span_copy(span_trim(ign), hex, sizeof(hex));
		ret->ignored_signals = strtoull(hex, NULL, 16);
	}
	return 0;
}

bool inject_seccomp_same(const struct inject_seccomp *a, const struct inject_seccomp *b)
{
	return a->mode == b->mode && a->filters == b->filters;
}

static bool same_namespace(const struct world *w, pid_t a, pid_t b)
{
	const pid_t pids[2] = {a, b};
	char path[64], link[2][64];
	for (int i = 0; i < 2; i++) {
		TEXT_FORMAT(path, "%d/ns/pid", (int)pids[i]);
		ssize_t n = readlinkat(w->proc_fd, path, link[i], sizeof(link[i]) - 1);
		if (n <= 0)
			return false;
		link[i][n] = '\0';
	}
	return strcmp(link[0], link[1]) == 0;
}

/* The first process of the container: the outermost ancestor in the same pid namespace. */
static pid_t first_of_container(const struct world *w, pid_t pid)
{
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		struct proc_stat st;
		if (proc_stat_read(w, pid, &st) != 0 || st.ppid <= 0 || !same_namespace(w, pid, st.ppid))
			return pid;
		pid = st.ppid;
	}
	return pid;
}

enum inject_filters inject_seccomp_whose(const struct world *w, pid_t pid, const struct inject_seccomp *theirs)
{
	struct inject_seccomp ours, first;
	if (theirs->mode == 0)
		return FILTERS_NONE;
	if (inject_seccomp_read(w, getpid(), getpid(), &ours) == 0 && inject_seccomp_same(&ours, theirs) &&
	    same_namespace(w, getpid(), pid))
		return FILTERS_OURS;
	/* Kernels before 5.9 do not count filters, so nothing can be compared; strict mode allows none of our calls. */
	if (theirs->mode == MODE_STRICT || theirs->filters == 0)
		return FILTERS_OWN;
	pid_t top = first_of_container(w, pid);
	if (top == pid)
		return FILTERS_UNKNOWN;
	if (inject_seccomp_read(w, top, top, &first) != 0)
		return FILTERS_OWN;
	return inject_seccomp_same(&first, theirs) ? FILTERS_OF_CONTAINER : FILTERS_OWN;
}

int inject_seccomp_harmless(pid_t tid, const char **ret_call)
{
	cleanup(freep) struct sock_filter *rows = calloc(ROWS_MAX, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (unsigned long i = 0; i < FILTERS_MAX; i++) {
		long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, NULL);
		if (n < 0 && errno == ENOENT && i > 0)
			return 0;
		if (n < 0 || n > ROWS_MAX)
			return WORLD_ABSENT;
		if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, rows) != n)
			return WORLD_ABSENT;
		if (!inject_filter_lets(rows, (size_t)n, ret_call))
			return INJECT_REFUSED;
	}
	return WORLD_ABSENT;
}
