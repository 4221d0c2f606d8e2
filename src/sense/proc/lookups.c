#include "sense/proc/lookups.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "sense/bpf/bpfcall.h"
#include "sense/bpf/bpfload.h"
#include "sense/bpf/records.h"

struct lookups {
	struct bpf_lookups_fds fds;
	int link_fd;
};

/*
 * Calls that ask for a file, which of their arguments names it, and whether they do no more than ask; locks; sleeps;
 * and those that take nothing in.
 */
static const struct {
	int nr;
	uint16_t at;
} calls[] = {
#ifdef SYS_open
	{SYS_open, 1 | BPF_LOOKUP_OPENS},
	{SYS_readlink, 1},
	{SYS_mkdir, 1 | BPF_LOOKUP_MAKES},
	{SYS_stat, 1 | BPF_LOOKUP_ASKS},
	{SYS_lstat, 1 | BPF_LOOKUP_ASKS},
	{SYS_access, 1 | BPF_LOOKUP_ASKS},
	{SYS_select, 1 | BPF_LOOKUP_SLEEPS | BPF_LOOKUP_WAITS},
	{SYS_poll, 2 | BPF_LOOKUP_SLEEPS | BPF_LOOKUP_WAITS},
	{SYS_time, BPF_LOOKUP_SLEEPS},
	{SYS_epoll_wait, BPF_LOOKUP_WAITS},
#endif
	{SYS_pselect6, 1 | BPF_LOOKUP_SLEEPS | BPF_LOOKUP_WAITS},
	{SYS_ppoll, 2 | BPF_LOOKUP_SLEEPS | BPF_LOOKUP_WAITS},
	{SYS_nanosleep, BPF_LOOKUP_SLEEPS},
	{SYS_clock_nanosleep, BPF_LOOKUP_SLEEPS},
	{SYS_restart_syscall, BPF_LOOKUP_SLEEPS},
	{SYS_sched_yield, BPF_LOOKUP_SLEEPS},
	{SYS_wait4, BPF_LOOKUP_SLEEPS}, /* children are of the job, so their ends are seen */
	{SYS_waitid, BPF_LOOKUP_SLEEPS},
	{SYS_clock_gettime, BPF_LOOKUP_SLEEPS},
	{SYS_gettimeofday, BPF_LOOKUP_SLEEPS},
	{SYS_futex, BPF_LOOKUP_SLEEPS},
	{SYS_brk, BPF_LOOKUP_SLEEPS},
	{SYS_madvise, BPF_LOOKUP_SLEEPS},
	{SYS_munmap, BPF_LOOKUP_SLEEPS},
	{SYS_openat, 2 | BPF_LOOKUP_OPENS},
	{SYS_mkdirat, 2 | BPF_LOOKUP_MAKES},
	{SYS_readlinkat, 2},
	{SYS_newfstatat, 2 | BPF_LOOKUP_ASKS | BPF_LOOKUP_BY_FILE},
	{SYS_statx, 2 | BPF_LOOKUP_ASKS},
	{SYS_faccessat, 2 | BPF_LOOKUP_ASKS},
	{SYS_flock, BPF_LOOKUP_LOCKS},
	{SYS_fcntl, BPF_LOOKUP_LOCKS | BPF_LOOKUP_BY_COMMAND},
	{SYS_getpid, BPF_LOOKUP_GIVES},
	{SYS_gettid, BPF_LOOKUP_GIVES},
	{SYS_getppid, BPF_LOOKUP_GIVES},
	{SYS_mprotect, BPF_LOOKUP_GIVES},
	{SYS_mremap, BPF_LOOKUP_GIVES},
	{SYS_rt_sigprocmask, BPF_LOOKUP_GIVES},
	{SYS_rt_sigaction, BPF_LOOKUP_GIVES},
	{SYS_sigaltstack, BPF_LOOKUP_GIVES},
	{SYS_getrusage, BPF_LOOKUP_GIVES},
	{SYS_times, BPF_LOOKUP_GIVES},
	{SYS_sched_getaffinity, BPF_LOOKUP_GIVES},
	{SYS_sched_setaffinity, BPF_LOOKUP_GIVES},
	{SYS_set_robust_list, BPF_LOOKUP_GIVES},
	{SYS_membarrier, BPF_LOOKUP_GIVES},
	{SYS_prctl, BPF_LOOKUP_GIVES},
	{SYS_getrandom, BPF_LOOKUP_GIVES},
	{SYS_write, BPF_LOOKUP_GIVES},
	{SYS_writev, BPF_LOOKUP_GIVES},
	{SYS_pwrite64, BPF_LOOKUP_GIVES},
	{SYS_sendto, BPF_LOOKUP_GIVES},
	{SYS_sendmsg, BPF_LOOKUP_GIVES},
	{SYS_close, BPF_LOOKUP_GIVES},
	{SYS_fsync, BPF_LOOKUP_GIVES},
	{SYS_fdatasync, BPF_LOOKUP_GIVES},
	{SYS_timerfd_settime, BPF_LOOKUP_GIVES},
	{SYS_epoll_pwait, BPF_LOOKUP_WAITS},
	{SYS_socket, BPF_LOOKUP_GIVES},
	{SYS_bind, BPF_LOOKUP_GIVES},
	{SYS_listen, BPF_LOOKUP_GIVES},
	{SYS_setsockopt, BPF_LOOKUP_GIVES},
	{SYS_getsockname, BPF_LOOKUP_GIVES},
	{SYS_getpeername, BPF_LOOKUP_GIVES},
	{SYS_shutdown, BPF_LOOKUP_GIVES},
	{SYS_epoll_create1, BPF_LOOKUP_GIVES},
	{SYS_epoll_ctl, BPF_LOOKUP_GIVES},
	{SYS_clone, BPF_LOOKUP_GIVES},
#ifdef SYS_clone3
	{SYS_clone3, BPF_LOOKUP_GIVES},
#endif
#ifdef SYS_rseq
	{SYS_rseq, BPF_LOOKUP_GIVES},
#endif
	{SYS_accept, BPF_LOOKUP_ACCEPTS},
	{SYS_accept4, BPF_LOOKUP_ACCEPTS},
	{SYS_connect, BPF_LOOKUP_BY_FILE},
	{SYS_getsockopt, BPF_LOOKUP_BY_FILE},
	{SYS_recvfrom, BPF_LOOKUP_BY_FILE},
	{SYS_recvmsg, BPF_LOOKUP_BY_FILE},
	{SYS_readv, BPF_LOOKUP_BY_FILE},
	{SYS_read, BPF_LOOKUP_BY_FILE},
	{SYS_pread64, BPF_LOOKUP_BY_FILE},
	{SYS_fstat, BPF_LOOKUP_BY_FILE},
	{SYS_lseek, BPF_LOOKUP_BY_FILE},
	{SYS_ioctl, BPF_LOOKUP_BY_FILE},
	{SYS_mmap, BPF_LOOKUP_MAPS},
#ifdef SYS_openat2
	{SYS_openat2, 2},
#endif
#ifdef SYS_faccessat2
	{SYS_faccessat2, 2 | BPF_LOOKUP_ASKS},
#endif
};

static void arguments_fill(uint16_t argument[static BPF_LOOKUP_CALLS])
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr >= 0 && calls[i].nr < BPF_LOOKUP_CALLS)
			argument[calls[i].nr] = calls[i].at;
}

int lookups_open(const struct world *w, struct lookups **ret, char *why, size_t cap)
{
	uint16_t argument[BPF_LOOKUP_CALLS] = {};
	if (!bpf_sees_numbers(w)) {
		(void)text_copy(why, cap,
				"seeing which files are looked for takes the machine's own process numbers, and vigil "
				"runs in a container that has others");
		return WORLD_ABSENT;
	}
	struct lookups *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	*k = (struct lookups){.fds = {-1, -1, -1}, .link_fd = -1};
	arguments_fill(argument);
	int r = bpf_lookups_load(argument, &k->fds, why, cap);
	if (r == 0)
		r = lookups_on(k);
	if (r)
		k = lookups_free(k);
	*ret = k;
	return r;
}

struct lookups *lookups_free(struct lookups *k)
{
	if (!k)
		return NULL;
	closep(&k->link_fd);
	closep(&k->fds.prog_fd);
	closep(&k->fds.watched_fd);
	closep(&k->fds.rows_fd);
	free(k);
	return NULL;
}

static void lookups_forget(struct lookups *k)
{
	struct bpf_lookup_key key[BPF_ROWS_AT_ONCE];
	struct bpf_lookup_count value[BPF_ROWS_AT_ONCE];
	const struct bpf_rows rows = {k->fds.rows_fd, key, value, NULL, NULL};
	size_t n;
	bpf_numbers_clear(k->fds.watched_fd, BPF_LOOKUP_PROCESSES);
	ignore(bpf_rows_read(&rows, true, LOOKUPS_ROWS, &n), "what stays is of processes that are not asked for");
}

/* It is emptied here, not where it goes off: a call that ends at that moment may still be counted. */
int lookups_on(struct lookups *k)
{
	if (k->link_fd >= 0)
		return 0;
	lookups_forget(k);
	int fd = bpf_tracepoint_open(k->fds.prog_fd);
	if (fd < 0)
		return fd;
	k->link_fd = fd;
	return 0;
}

void lookups_off(struct lookups *k)
{
	closep(&k->link_fd);
}

int lookups_watch(struct lookups *k, pid_t pid)
{
	union bpf_attr a;
	const uint32_t key = (uint32_t)pid, value = 1;
	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)k->fds.watched_fd;
	a.key = (uint64_t)(uintptr_t)&key;
	a.value = (uint64_t)(uintptr_t)&value;
	a.flags = BPF_ANY;
	return bpf_call(BPF_MAP_UPDATE_ELEM, &a);
}

struct lookups_reading {
	struct lookups_row *row;
	struct bpf_lookup_key key[BPF_ROWS_AT_ONCE];
	struct bpf_lookup_count value[BPF_ROWS_AT_ONCE];
};

static void lookups_row_take(void *ctx, size_t row, size_t at)
{
	struct lookups_reading *reading = ctx;
	const struct bpf_lookup_key *key = &reading->key[at];
	struct lookups_row *ret = &reading->row[row];
	*ret = (struct lookups_row){
		.pid = (pid_t)key->tgid,
		.tid = (pid_t)key->tid,
		.folder = key->folder,
		.found = key->found == 1,
		.exists = key->found == 2,
		.dev = key->dev,
		.inode = key->inode,
		.calls = key->inode == 0 && key->path[0] == '\0' && key->folder == BPF_LOOKUP_CWD,
		.taken = key->folder == BPF_LOOKUP_TAKEN,
		.waited = key->folder == BPF_LOOKUP_WAITED,
		.asked = key->folder == BPF_LOOKUP_ASKED,
		.end = key->end,
		.other_end = key->other_end,
		.n = reading->value[at].n,
		.last_ns = reading->value[at].last_ns,
	};
	memcpy(ret->path, key->path, sizeof(ret->path) - 1);
}

int lookups_take(const struct lookups *k, struct lookups_row *row, size_t cap, size_t *ret_n)
{
	struct lookups_reading reading = {.row = row};
	const struct bpf_rows rows = {k->fds.rows_fd, reading.key, reading.value, lookups_row_take, &reading};
	return bpf_rows_read(&rows, false, cap, ret_n);
}

void lookups_path(const struct world *w, const struct lookups_row *r, char *dst, size_t cap)
{
	char link[40];
	size_t len = 0;
	if (r->folder == LOOKUPS_CWD)
		TEXT_FORMAT(link, "%d/cwd", (int)r->pid);
	else
		TEXT_FORMAT(link, "%d/fd/%d", (int)r->pid, r->folder);
	const ssize_t n = r->path[0] == '/' ? 0 : readlinkat(w->proc_fd, link, dst, cap - 1);
	if (n > 0 && (size_t)n + 2 < cap) {
		len = (size_t)n;
		dst[len++] = '/';
	}
	(void)text_copy(dst + len, cap - len, r->path);
}
