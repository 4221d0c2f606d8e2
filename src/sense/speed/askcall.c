#include "sense/speed/askcall.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* struct timespec or timeval: both are two words. NULL waits for ever. */
static bool no_time(struct remote *r, uint64_t addr)
{
	uint64_t word[2];
	return addr != 0 && remote_read(r, addr, word, sizeof(word)) == 0 && word[0] == 0 && word[1] == 0;
}

/* A sleep until a time that has come: what Python makes of a sleep of zero. */
static bool is_past(struct remote *r, uint64_t clock, uint64_t addr)
{
	struct timespec until, now;
	if (clock > CLOCK_BOOTTIME || remote_read(r, addr, &until, sizeof(until)) != 0 ||
	    clock_gettime((clockid_t)clock, &now) < 0)
		return false;
	return until.tv_sec != now.tv_sec ? until.tv_sec < now.tv_sec : until.tv_nsec <= now.tv_nsec;
}

bool askcall_is(struct remote *r, uint32_t nr, const uint64_t arg[static 4])
{
	switch (nr) {
#ifdef SYS_poll
	case SYS_poll:
		return (int32_t)arg[2] == 0;
	case SYS_epoll_wait:
		return (int32_t)arg[3] == 0;
#endif
	case SYS_epoll_pwait:
		return (int32_t)arg[3] == 0;
	case SYS_ppoll:
		return no_time(r, arg[2]);
	case SYS_nanosleep:
		return no_time(r, arg[0]);
	case SYS_clock_nanosleep:
		return (arg[1] & TIMER_ABSTIME) ? is_past(r, arg[0], arg[2]) : no_time(r, arg[2]);
	case SYS_wait4:
		return (arg[2] & WNOHANG) != 0;
	case SYS_waitid:
		return (arg[3] & WNOHANG) != 0;
	case SYS_recvfrom:
		return (arg[3] & MSG_DONTWAIT) != 0;
	case SYS_recvmsg:
		return (arg[2] & MSG_DONTWAIT) != 0;
	case SYS_flock:
		return (arg[1] & LOCK_NB) != 0;
	case SYS_kill:
		return (int32_t)arg[1] == 0; /* no signal: whether there is such a process */
	default:
		return false;
	}
}
