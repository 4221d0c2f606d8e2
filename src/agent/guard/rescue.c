#include "agent/guard/rescue.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/oomadj.h"
#include "agent/guard/guardloop.h"
#include "agent/guard/guardrecover.h"
#include "agent/host/helper.h"

/* The guard begins to clear up within this time of the supervisor's end, or it is taken as stuck. */
static const uint64_t begin_ns = 2 * NS_PER_S;
/* It is done within this time: its pause between SIGTERM and SIGKILL, and the reports. */
static const uint64_t finish_ns = 15 * NS_PER_S;

/* Without a pidfd the end of the supervisor is looked for so often. */
static const int orphan_look_ms = 250;

/* pidfd -1: naps for so long. */
static void wait_for_end(int pidfd, int timeout_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	while (poll(&p, 1, timeout_ms) < 0 && errno == EINTR)
		continue;
}

/* True if the guard lives and has cleared up, or is gone and had. */
static bool guard_clears_up(struct guard_shm *shm, const struct world *w)
{
	uint64_t from_ns = w->mono_ns();
	struct target guard = {.id = shm->guard, .pidfd = -1};
	bool lives = shm->guard.pid > 0 && target_open(w, &guard, true) == 0;
	while (lives && !target_ended(w, &guard)) {
		uint64_t waited_ns = w->mono_ns() - from_ns;
		uint32_t phase = atomic_load(&shm->orphan_phase);
		if (waited_ns > (phase == GUARD_ORPHAN_NOT ? begin_ns : finish_ns)) {
			ignore(target_signal(w, &guard, SIGKILL), "gone is fine");
			wait_for_end(guard.pidfd, 1000);
			break;
		}
		wait_for_end(guard.pidfd, 100);
	}
	target_close(&guard);
	return atomic_load(&shm->orphan_phase) == GUARD_ORPHAN_DONE;
}

static _Noreturn void rescue_main(struct guard_shm *shm, const struct world *w)
{
	static const int quiet[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH};
	(void)setsid();
	(void)prctl(PR_SET_NAME, "vigil-rescue");
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		(void)signal(quiet[i], SIG_IGN);
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	ignore(oomadj_exempt_self(w), "the guard notes it for vigil doctor");
	/* -1 on old kernels, behind a filter or without free descriptors: an orphan has another parent */
	int supervisor = (int)syscall(SYS_pidfd_open, shm->supervisor, 0);
	while (getppid() == shm->supervisor)
		wait_for_end(supervisor, supervisor >= 0 ? -1 : orphan_look_ms);
	if (guard_clears_up(shm, w))
		_exit(0);
	guardrecover_finish(w, shm); /* needs no memory and reads no other process */
	guardloop_rescue(shm, w);
}

pid_t rescue_start(struct guard_shm *shm, const struct world *w)
{
	pid_t pid = helper_fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		rescue_main(shm, w);
	return pid;
}

void rescue_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	helper_reaped(pid);
}
