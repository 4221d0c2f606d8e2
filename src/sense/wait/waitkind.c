#include <string.h>
#include <sys/syscall.h>

#include "sense/wait/threadwait_parts.h"

#define NR(name, shape)                                                                                                \
	{                                                                                                              \
		SYS_##name, shape                                                                                      \
	}

/* Calls that the architecture lacks have no SYS_ macro and are left out. */
static const struct {
	int64_t nr;
	enum call_shape shape;
} shapes[] = {
	NR(read, CALL_FD),
	NR(write, CALL_FD),
	NR(readv, CALL_FD),
	NR(writev, CALL_FD),
	NR(pread64, CALL_FD),
	NR(pwrite64, CALL_FD),
	NR(preadv, CALL_FD),
	NR(pwritev, CALL_FD),
	NR(fsync, CALL_FD),
	NR(fdatasync, CALL_FD),
	NR(sync_file_range, CALL_FD),
	NR(ftruncate, CALL_FD),
	NR(fallocate, CALL_FD),
	NR(flock, CALL_FD),
	NR(fcntl, CALL_FD),
	NR(fstat, CALL_FD),
	NR(ioctl, CALL_FD),
	NR(getdents64, CALL_FD),
	NR(close, CALL_FD),
	NR(recvfrom, CALL_FD),
	NR(recvmsg, CALL_FD),
	NR(recvmmsg, CALL_FD),
	NR(sendto, CALL_FD),
	NR(sendmsg, CALL_FD),
	NR(sendmmsg, CALL_FD),
	NR(connect, CALL_FD),
	NR(accept, CALL_FD),
	NR(accept4, CALL_FD),
	NR(sendfile, CALL_FD),
	NR(splice, CALL_FD),
	NR(copy_file_range, CALL_FD),
	NR(syncfs, CALL_FD),
	NR(lseek, CALL_FD),
	NR(io_uring_enter, CALL_FD),
	NR(preadv2, CALL_FD),
	NR(pwritev2, CALL_FD),
	NR(openat, CALL_FILE),
	NR(openat2, CALL_FILE),
	NR(newfstatat, CALL_FILE),
	NR(statx, CALL_FILE),
	NR(unlinkat, CALL_FILE),
	NR(renameat2, CALL_FILE),
	NR(mkdirat, CALL_FILE),
	NR(faccessat, CALL_FILE),
	NR(statfs, CALL_FILE),
	NR(mount, CALL_FILE),
	NR(umount2, CALL_FILE),
	NR(sync, CALL_FILE),
	NR(readlinkat, CALL_FILE),
	NR(linkat, CALL_FILE),
	NR(truncate, CALL_FILE),
	NR(execve, CALL_FILE),
	NR(io_getevents, CALL_FILE),
	NR(msync, CALL_FILE),
	NR(futex, CALL_LOCK),
	NR(nanosleep, CALL_SLEEP),
	NR(clock_nanosleep, CALL_SLEEP),
	NR(ppoll, CALL_POLL),
	NR(pselect6, CALL_POLL),
	NR(epoll_pwait, CALL_POLL),
	NR(wait4, CALL_CHILD),
	NR(waitid, CALL_CHILD),
	NR(rt_sigsuspend, CALL_SIGNAL),
	NR(rt_sigtimedwait, CALL_SIGNAL),
	NR(mmap, CALL_MEMORY),
	NR(munmap, CALL_MEMORY),
	NR(mprotect, CALL_MEMORY),
	NR(madvise, CALL_MEMORY),
	NR(brk, CALL_MEMORY),
	NR(mremap, CALL_MEMORY),
	NR(mlock, CALL_MEMORY),
	NR(clone, CALL_VFORK),
	NR(restart_syscall, CALL_RESTART),
#ifdef SYS_clone3
	NR(clone3, CALL_VFORK),
#endif
#ifdef SYS_futex_waitv
	NR(futex_waitv, CALL_LOCK),
#endif
#ifdef SYS_futex_wait
	NR(futex_wait, CALL_LOCK),
#endif
#ifdef SYS_epoll_pwait2
	NR(epoll_pwait2, CALL_POLL),
#endif
#ifdef SYS_renameat
	NR(renameat, CALL_FILE),
#endif
#ifdef SYS_open
	NR(open, CALL_FILE),
	NR(stat, CALL_FILE),
	NR(lstat, CALL_FILE),
	NR(access, CALL_FILE),
	NR(unlink, CALL_FILE),
	NR(rename, CALL_FILE),
	NR(mkdir, CALL_FILE),
	NR(rmdir, CALL_FILE),
	NR(poll, CALL_POLL),
	NR(select, CALL_POLL),
	NR(epoll_wait, CALL_POLL),
	NR(pause, CALL_SIGNAL),
	NR(vfork, CALL_VFORK),
	NR(fork, CALL_VFORK),
	NR(getdents, CALL_FD),
	NR(readlink, CALL_FILE),
#endif
};

enum call_shape call_shape(int64_t nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].nr == nr)
			return shapes[i].shape;
	return CALL_OTHER;
}

enum wait_kind wait_kind_of_fd(enum fd_kind k)
{
	switch (k) {
	case FD_FILE:
		return WAIT_FILE;
	case FD_PIPE:
		return WAIT_PIPE;
	case FD_SOCKET:
		return WAIT_SOCKET;
	case FD_TTY:
		return WAIT_TTY;
	case FD_GPU:
		return WAIT_GPU;
	case FD_EPOLL:
	case FD_EVENT:
	case FD_INOTIFY:
	case FD_PIDFD:
		return WAIT_POLL;
	case FD_TIMER:
		return WAIT_SLEEP;
	case FD_SIGNAL:
		return WAIT_SIGNAL;
	default:
		return WAIT_UNKNOWN;
	}
}

struct wchan_kind {
	const char *prefix;
	enum wait_kind kind;
};

static enum wait_kind wchan_look_up(const struct wchan_kind *table, size_t n, const char *wchan)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(wchan, table[i].prefix, strlen(table[i].prefix)) == 0)
			return table[i].kind;
	return WAIT_UNKNOWN;
}

/* Interruptible waits: kernel functions of tasks in state S, or of tasks frozen in that state. */
static const struct wchan_kind interruptible[] = {
	{"futex_", WAIT_LOCK},
	{"__futex_", WAIT_LOCK},
	{"hrtimer_nanosleep", WAIT_SLEEP},
	{"do_nanosleep", WAIT_SLEEP},
	{"poll_schedule", WAIT_POLL},
	{"do_poll", WAIT_POLL},
	{"do_sys_poll", WAIT_POLL},
	{"do_select", WAIT_POLL},
	{"ep_poll", WAIT_POLL},
	{"do_epoll_", WAIT_POLL},
	{"pipe_", WAIT_PIPE},
	{"anon_pipe_", WAIT_PIPE},
	{"do_wait", WAIT_CHILD},
	{"unix_", WAIT_SOCKET},
	{"sk_wait_", WAIT_SOCKET},
	{"inet_csk_", WAIT_SOCKET},
	{"tcp_", WAIT_SOCKET},
	{"__skb_wait_", WAIT_SOCKET},
	{"skb_", WAIT_SOCKET},
	{"n_tty_", WAIT_TTY},
	{"wait_woken", WAIT_SOCKET},
	{"do_sigtimedwait", WAIT_SIGNAL},
	{"sigsuspend", WAIT_SIGNAL},
	{"do_signalfd", WAIT_SIGNAL},
};

enum wait_kind wait_kind_of_wchan(const char *wchan, char state)
{
	static const struct wchan_kind uninterruptible[] = {
		{"__refrigerator", WAIT_STOPPED},
		{"kernel_clone", WAIT_CHILD},
		{"wait_for_vfork_done", WAIT_CHILD},
		{"_do_fork", WAIT_CHILD},
		{"handle_userfault", WAIT_MEMORY},
		{"mem_cgroup_", WAIT_MEMORY},
		{"__mem_cgroup_", WAIT_MEMORY},
		{"do_swap_page", WAIT_MEMORY},
		{"swap_", WAIT_MEMORY},
		{"try_to_free_", WAIT_MEMORY},
		{"shrink_", WAIT_MEMORY},
		{"do_try_to_free_", WAIT_MEMORY},
		{"throttle_direct_reclaim", WAIT_MEMORY},
		{"reclaim_throttle", WAIT_MEMORY},
		{"filemap_fault", WAIT_MEMORY},
		{"__lock_page_or_retry", WAIT_MEMORY},
		{"__folio_lock_or_retry", WAIT_MEMORY},
	};
	static const struct wchan_kind trapped[] = {
		{"do_freezer_trap", WAIT_STOPPED},
		{"get_signal", WAIT_STOPPED},
		{"handle_userfault", WAIT_MEMORY},
	};
	if (state == 'D')
		return wchan_look_up(uninterruptible, ARRAY_SIZE(uninterruptible), wchan);
	enum wait_kind k = wchan_look_up(trapped, ARRAY_SIZE(trapped), wchan);
	return k != WAIT_UNKNOWN ? k : wchan_look_up(interruptible, ARRAY_SIZE(interruptible), wchan);
}

bool wchan_of_frozen(const char *wchan)
{
	return strcmp(wchan, "__refrigerator") == 0 || strcmp(wchan, "get_signal") == 0 ||
	       strstr(wchan, "do_syscall_64") || strcmp(wchan, "do_notify_resume") == 0 ||
	       strncmp(wchan, "exit_to_user_mode", 17) == 0 ||
	       wchan_look_up(interruptible, ARRAY_SIZE(interruptible), wchan) != WAIT_UNKNOWN;
}
