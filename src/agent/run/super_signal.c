#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "agent/run/super.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/signame.h"
#include "sense/proc/proc.h"

int super_signals_take(struct super *s)
{
	sigset_t set;
	(void)sigemptyset(&set);
	static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		(void)sigaddset(&set, taken[i]);
	if (sigprocmask(SIG_BLOCK, &set, &s->old_mask) < 0)
		return -errno;
	(void)signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? -errno : 0;
}

static struct rank *rank_by_pid(struct super *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running && s->rank[i].proc.pid == pid)
			return &s->rank[i];
	return NULL;
}

void super_children_reap(struct super *s)
{
	for (;;) {
		siginfo_t si = {.si_pid = 0};
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0)
			return;
		if (si.si_pid == s->services.guard.pid) {
			services_guard_died(&s->services);
			continue;
		}
		int status;
		struct rank *r = rank_by_pid(s, si.si_pid);
		if (r) {
			super_sample_last(s);
			super_rank_last_facts(s, r);
		}
		if (waitpid(si.si_pid, &status, 0) < 0)
			return;
		if (si.si_pid == s->group.scope.holder) { /* the scope was ended from outside */
			jobscope_holder_died(&s->group.scope);
			s->services.scope_holder = 0;
			continue;
		}
		if (services_reaped(&s->services, si.si_pid, status))
			continue;
		if (r)
			super_rank_ended(s, r, status);
	}
}

/* Give up processes stuck in the kernel after the user's second request to end. */
static void leave_behind(struct super *s)
{
	s->ending.left_behind = true;
	for (uint32_t i = 0; i < s->nproc; i++) {
		struct rank *r = &s->rank[i];
		if (!r->running)
			continue;
		log_warning("process %d is left behind: it ends once its storage or its device answers",
			    (int)r->proc.pid);
		recorder_event(&s->recorder, &s->job, "left_behind", NULL,
			       "process %d takes no signal, and vigil was told to end", (int)r->proc.pid);
		super_rank_ended(s, r, SIGKILL);
	}
}

/* Names the sender while it can be named: a scheduler's helper ends soon after. */
static void signal_event(struct super *s, const struct signalfd_siginfo *si)
{
	struct proc_stat st;
	const char *known = signame((int)si->ssi_signo), *name = known ? known : strsignal((int)si->ssi_signo);
	char whose[PROC_COMM_MAX + 4] = "";
	if (si->ssi_code == SI_KERNEL) {
		recorder_event(&s->recorder, &s->job, "signal", NULL, "%s from the terminal, which the job got as well",
			       name);
		return;
	}
	if (proc_stat_read(s->w, (pid_t)si->ssi_pid, &st) == 0)
		TEXT_FORMAT(whose, " (%s)", proc_known_as(st.comm));
	recorder_event(&s->recorder, &s->job, "signal", NULL, "%s from pid %u%s, passed on to the job", name,
		       si->ssi_pid, whose);
}

static void forward(struct super *s, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;
	bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
	if (ends) {
		s->ending.stopping = true;
		s->ending.stop_signal = sig;
		s->ending.interrupts++;
		signal_event(s, si);
	}
	if (ends && s->ending.said_stuck && s->phase == SUPER_ENDING) {
		leave_behind(s);
		return;
	}
	/* a signal typed at the terminal has already reached the whole foreground group */
	bool from_terminal = si->ssi_code == SI_KERNEL;
	if (!from_terminal)
		super_attempt_signal(s, sig);
	if (s->phase == SUPER_WAITING && ends)
		s->phase = SUPER_OVER;
	if (s->phase == SUPER_LINGERING && ends)
		super_end_others(s, ENDED_FOR_STOP, "you asked vigil to end");
	if (ends && s->ending.interrupts >= 3) {
		log_warning("third request to end: the job is killed now");
		super_attempt_signal(s, SIGKILL);
		ignore(jobgroup_kill(&s->group), "where there is no group, the signal did it");
		if (s->phase != SUPER_OVER) {
			s->phase = SUPER_ENDING; /* do not wait for processes left behind either */
			s->deadline_ns = s->w->mono_ns();
		}
	}
}

void super_signals_read(struct super *s)
{
	struct signalfd_siginfo si;
	while (read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue; /* children are reaped below */
		if (si.ssi_signo == SIGWINCH) {
			for (uint32_t i = 0; i < s->nproc; i++)
				if (s->rank[i].running)
					launch_resize(&s->rank[i].proc);
			continue;
		}
		forward(s, &si);
	}
	super_children_reap(s);
}
