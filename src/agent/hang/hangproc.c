#include "agent/hang/hangproc.h"

#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hang/hangwatch.h"
#include "agent/host/helper.h"
#include "base/buf.h"
#include "base/clock.h"

/* A watcher that dies is started again after 2 s, doubled with each death up to 64 s, at most this many times. */
#define DEATHS_MOST 8
static const uint64_t revive_ns = 2 * NS_PER_S;
static const uint64_t end_wait_ns = NS_PER_S;
/*
 * It looks at each job every 30 s at least, and at one for seconds at most; on a machine with a load of hundreds for
 * minutes. Looks are counted, not time: where all of vigil was frozen, or the machine asleep, there were none.
 */
static const uint64_t beat_look_ns = 30 * NS_PER_S;
#define BEATS_MISSED_MOST 10

void hangproc_progress(struct hangproc *h, const char *const *patterns, size_t n)
{
	if (!h->shm)
		return;
	h->shm->n_progress = (uint32_t)MIN(n, (size_t)PROGRESS_PATTERNS);
	for (size_t i = 0; i < h->shm->n_progress; i++)
		TEXT_COPY(h->shm->progress[i], patterns[i]);
}

int hangproc_open(struct hangproc *h, const struct world *w, const struct hang_settings *settings, const char *rules)
{
	*h = (struct hangproc){.w = w, .from_fd = -1, .due_ns = UINT64_MAX};
	if (!settings)
		return 0;
	void *p = mmap(NULL, sizeof(struct hang_shm), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	h->shm = p;
	h->shm->settings = *settings;
	TEXT_COPY(h->shm->rules, rules ? rules : "");
	h->from_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->from_fd >= 0)
		return 0;
	int r = -errno;
	hangproc_close(h);
	return r;
}

void hangproc_jobs_begin(struct hangproc *h)
{
	if (h->shm)
		atomic_fetch_add(&h->shm->jobs_seq, 1);
}

void hangproc_jobs_end(struct hangproc *h)
{
	if (!h->shm)
		return;
	atomic_fetch_add(&h->shm->jobs_seq, 1);
	(void)syscall(SYS_futex, &h->shm->jobs_seq, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void hangproc_want(struct hangproc *h, uint64_t delay_ns)
{
	if (h->shm && h->pid == 0 && h->due_ns == UINT64_MAX && h->deaths <= DEATHS_MOST)
		h->due_ns = h->w->mono_ns() + delay_ns;
}

uint64_t hangproc_due_ns(const struct hangproc *h)
{
	return h->pid ? h->beats_ns : h->due_ns;
}

/* Kills a watcher that waits for something that never comes: the jobs would not be looked at until their end. */
static void beat_check(struct hangproc *h)
{
	if (h->w->mono_ns() < h->beats_ns)
		return;
	const uint64_t beats = atomic_load(&h->shm->beats);
	h->beats_ns = h->w->mono_ns() + beat_look_ns;
	h->stood = beats == h->beats ? h->stood + 1 : 0;
	h->beats = beats;
	if (h->stood < BEATS_MISSED_MOST)
		return;
	h->stood = 0;
	h->stuck = true;
	(void)kill(h->pid, SIGKILL);
}

bool hangproc_tick(struct hangproc *h)
{
	if (h->shm && h->pid)
		beat_check(h);
	if (!h->shm || h->pid || h->w->mono_ns() < h->due_ns)
		return false;
	h->due_ns = UINT64_MAX;
	pid_t owner = getpid();
	pid_t pid = helper_fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != owner)
			_exit(0);
		hangwatch_main(h->shm, h->from_fd);
		_exit(0);
	}
	if (pid < 0) { /* no process can be made now: try later */
		h->due_ns = h->w->mono_ns() + revive_ns;
		return false;
	}
	h->pid = pid;
	h->beats = atomic_load(&h->shm->beats);
	h->beats_ns = h->w->mono_ns() + beat_look_ns;
	h->stood = 0;
	return true;
}

bool hangproc_reaped(struct hangproc *h, pid_t pid, int wait_status, char how[static 200])
{
	if (pid <= 0 || h->pid != pid)
		return false;
	helper_reaped(pid);
	h->pid = 0;
	h->deaths++;
	char what[100];
	if (h->stuck)
		TEXT_COPY(what, "it stood still for five minutes and was ended");
	else if (WIFSIGNALED(wait_status))
		TEXT_FORMAT(what, "signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	else
		TEXT_FORMAT(what, "exit status %d", WEXITSTATUS(wait_status));
	h->stuck = false;
	bool again = h->deaths <= DEATHS_MOST;
	h->due_ns = again ? h->w->mono_ns() + (revive_ns << MIN(h->deaths - 1, UINT32_C(5))) : UINT64_MAX;
	(void)text_format(
		how, 200, "the process that watches for hangs died (%s); the job and its guard are not affected%s",
		what, again ? ", it is started again" : ". It died too often: hangs are no longer looked for");
	return true;
}

const struct hang_own *hangproc_own(const struct hangproc *h, size_t job)
{
	return h->shm && job < HANG_JOBS ? &h->shm->own[job] : NULL;
}

const struct hang_steps *hangproc_steps(const struct hangproc *h, size_t job)
{
	return h->shm && job < HANG_JOBS ? &h->shm->steps[job] : NULL;
}

uint32_t hangproc_frameworks(const struct hangproc *h, size_t job, const char *id, uint32_t attempt)
{
	if (!h->shm || job >= HANG_JOBS)
		return 0;
	const struct hang_frameworks *f = &h->shm->frameworks[job];
	const uint64_t whose = hang_whose(id, attempt);
	if (atomic_load(&f->whose) != whose)
		return 0;
	uint32_t set = atomic_load(&f->set);
	return atomic_load(&f->whose) == whose ? set : 0;
}

const struct hang_devices *hangproc_devices(const struct hangproc *h, size_t job)
{
	return h->shm && job < HANG_JOBS ? &h->shm->devices[job] : NULL;
}

const struct hang_message *hangproc_message(struct hangproc *h)
{
	if (!h->shm)
		return NULL;
	uint32_t taken = atomic_load(&h->shm->taken);
	return taken == atomic_load(&h->shm->sent) ? NULL : &h->shm->message[taken % HANG_MESSAGES];
}

void hangproc_taken(struct hangproc *h)
{
	atomic_fetch_add(&h->shm->taken, 1);
}

/* One that waits in the kernel for something that never comes is left to init. */
static void watcher_end(pid_t pid)
{
	const uint64_t until_ns = clock_mono_ns() + end_wait_ns;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0 && clock_mono_ns() < until_ns)
		(void)poll(NULL, 0, 2);
}

void hangproc_close(struct hangproc *h)
{
	if (h->pid > 0)
		watcher_end(h->pid);
	h->pid = 0;
	h->due_ns = UINT64_MAX;
	closep(&h->from_fd);
	if (h->shm)
		(void)munmap(h->shm, sizeof(*h->shm));
	h->shm = NULL;
}
