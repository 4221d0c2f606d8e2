#include "agent/notify/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/inherit.h"
#include "act/oomadj.h"
#include "agent/host/host.h"
#include "agent/host/helper.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/mask/mask.h"

extern char **environ;

/* Time between two checks for notices that an earlier vigil left in the spool. */
static const uint64_t scan_ns = 60 * NS_PER_S;
/* Longest wait for delivery at the end: a working server has answered by then. */
static const uint64_t close_wait_ns = 700 * NS_PER_MS;
/* Shortest time between two reminders, whatever the configuration says. */
static const uint64_t remind_least_ns = NS_PER_S;

void notifier_open(struct notifier *n, const struct world *w, const char *state_dir, const struct channels *channels)
{
	*n = (struct notifier){.channels = channels, .program_fd = -1, .mono_ns = w->mono_ns, .unix_ms = w->unix_ms};
	if (!channels || channels->n == 0)
		return;
	TEXT_COPY(n->state_dir, state_dir);
	spool_at(&n->spool, state_dir);
	host_name(n->node, sizeof(n->node));
	n->program_fd = openat(w->proc_fd, "self/exe", O_PATH | O_CLOEXEC);
	if (n->program_fd < 0)
		log_warning("cannot open vigil's own program (%s): notices wait in %s for 'vigil notify flush'",
			    strerror(errno), n->spool.dir);
}

/* Reports are masked when they are made; warnings and ends of hangs come as they are. */
static void notifier_put(struct notifier *n, struct notice *notice)
{
	mask_text(notice->title);
	mask_text(notice->text);
	for (size_t i = 0; i < n->channels->n; i++) {
		const struct channel *c = &n->channels->item[i];
		if (!channel_wants(c, notice))
			continue;
		int r = spool_put(&n->spool, c->name, notice, n->unix_ms());
		n->due |= r == 0;
		n->put_any |= r == 0;
		if (r < 0 && !n->complained) {
			n->complained = true;
			log_warning("cannot keep a notice in %s (%s): it will not be sent; the report itself is not "
				    "affected",
				    n->spool.dir, strerror(-r));
		}
	}
}

static bool active(const struct notifier *n)
{
	return n && n->channels && n->channels->n > 0;
}

static struct notifier_reported *reported_of(struct notifier *n, const struct notice *notice)
{
	for (size_t i = 0; i < n->n_reported; i++)
		if (strcmp(n->reported[i].job, notice->job) == 0 && strcmp(n->reported[i].kind, notice->kind) == 0)
			return &n->reported[i];
	if (n->n_reported == NOTIFIER_REPORTED) {
		free(n->reported[0].lasts);
		memmove(&n->reported[0], &n->reported[1], sizeof(n->reported[0]) * --n->n_reported);
	}
	struct notifier_reported *t = &n->reported[n->n_reported++];
	*t = (struct notifier_reported){.lasts = NULL};
	TEXT_COPY(t->job, notice->job);
	TEXT_COPY(t->kind, notice->kind);
	return t;
}

/*
 * Time between two reminders: a quarter of the shortest repeat time of all channels. The deliverer knows when each
 * channel was last sent to and drops reminders that come too soon; one put into the spool only as often as it is sent
 * would come just too soon each time.
 */
static uint64_t reminder_ns(const struct notifier *n, const struct notice *notice)
{
	uint64_t least_ms = UINT64_MAX / NS_PER_S;
	for (size_t i = 0; i < n->channels->n; i++)
		if (channel_wants(&n->channels->item[i], notice))
			least_ms = MIN(least_ms, channel_repeat_ms(&n->channels->item[i]));
	return MAX(least_ms * NS_PER_MS / 4, remind_least_ns);
}

static void notifier_keep(struct notifier *n, const struct notice *notice, bool lasts)
{
	struct notifier_reported *t = reported_of(n, notice);
	free(take(&t->lasts));
	t->lasts = lasts ? malloc(sizeof(*t->lasts)) : NULL;
	if (!t->lasts)
		return;
	*t->lasts = *notice;
	t->again_ns = n->mono_ns() + reminder_ns(n, notice);
}

static void remind(struct notifier *n, uint64_t now_ns)
{
	for (size_t i = 0; i < n->n_reported; i++) {
		struct notifier_reported *t = &n->reported[i];
		if (!t->lasts || now_ns < t->again_ns)
			continue;
		notifier_put(n, t->lasts);
		t->again_ns = now_ns + reminder_ns(n, t->lasts);
	}
}

void notifier_ended(struct notifier *n, const char *job)
{
	for (size_t i = 0; n && i < n->n_reported; i++)
		if (strcmp(n->reported[i].job, job) == 0)
			free(take(&n->reported[i].lasts));
}

void notifier_incident(struct notifier *n, const struct incident *i)
{
	static struct notice notice;
	if (!active(n))
		return;
	notice_of_incident(i, &notice);
	notifier_keep(n, &notice, i->kind == INCIDENT_HANG);
	notifier_put(n, &notice);
}

void notifier_loss(struct notifier *n, const char *job, uint32_t attempt, const char *what)
{
	static struct notice notice;
	if (!active(n))
		return;
	notice_of_loss(job, n->node, attempt, what, n->unix_ms(), &notice);
	notifier_put(n, &notice);
}

void notifier_warning(struct notifier *n, const char *job, const char *node, const char *kind, const char *text)
{
	static struct notice notice;
	if (!active(n))
		return;
	notice_of_warning(job, node, kind, text, n->unix_ms(), &notice);
	notifier_keep(n, &notice, false);
	notifier_put(n, &notice);
}

void notifier_ok(struct notifier *n, const char *job)
{
	static struct notice notice;
	if (!active(n))
		return;
	size_t left = 0;
	for (size_t i = 0; i < n->n_reported; i++) {
		if (strcmp(n->reported[i].job, job) != 0) {
			n->reported[left++] = n->reported[i];
			continue;
		}
		free(take(&n->reported[i].lasts));
		notice_resolve(job, n->node, n->reported[i].kind, n->unix_ms(), &notice);
		notifier_put(n, &notice);
	}
	n->n_reported = left;
}

void notifier_over(struct notifier *n, const char *job, const char *kind, const char *why)
{
	static struct notice notice;
	if (!active(n))
		return;
	for (size_t i = 0; i < n->n_reported; i++) {
		if (strcmp(n->reported[i].job, job) != 0 || strcmp(n->reported[i].kind, kind) != 0)
			continue;
		notice_resolve(job, n->node, kind, n->unix_ms(), &notice);
		TEXT_COPY(notice.text, why);
		notifier_put(n, &notice);
		free(take(&n->reported[i].lasts));
		n->reported[i] = n->reported[--n->n_reported];
		return;
	}
}

/* Runs between fork and exec of a process with threads: system calls only. */
static void become_deliverer(const struct notifier *n)
{
	static char program[] = "vigil", command[] = "notify", what[] = "deliver", option[] = "--state";
	char *argv[] = {program, command, what, option, (char *)(uintptr_t)n->state_dir, NULL};
	(void)setsid();
	oomadj_restore();
	inherit_undo(); /* it starts programs of the user's */
	heap_huge_pages_undo();
	int null = file_null();
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		(void)dup2(null, fd);
	(void)syscall(SYS_execveat, n->program_fd, "", argv, environ, AT_EMPTY_PATH);
	_exit(127);
}

static void start(struct notifier *n)
{
	int fd = -1;
	n->due = false;
	if (n->program_fd < 0 || spool_lock(&n->spool, "", &fd) != 0)
		return; /* the process with the lock scans once more after it gives it back */
	closep(&fd);
	pid_t pid = helper_fork();
	if (pid == 0)
		become_deliverer(n);
	if (pid > 0) {
		n->deliverer = pid;
		n->changed = true;
	} else {
		log_warning("cannot start the process that sends notices: %s", strerror(errno));
	}
}

void notifier_reaped(struct notifier *n, pid_t pid)
{
	if (!n || pid <= 0 || n->deliverer != pid)
		return;
	helper_reaped(pid);
	n->deliverer = 0;
	n->changed = true;
}

uint64_t notifier_due_ns(const struct notifier *n)
{
	if (!active(n))
		return UINT64_MAX;
	uint64_t due = n->due ? 0 : n->next_scan_ns;
	for (size_t i = 0; i < n->n_reported; i++)
		due = n->reported[i].lasts ? MIN(due, n->reported[i].again_ns) : due;
	return due;
}

bool notifier_tick(struct notifier *n)
{
	if (!active(n))
		return false;
	uint64_t now = n->mono_ns();
	siginfo_t si = {.si_pid = 0};
	/* True when the deliverer was reaped elsewhere, or is reaped here. */
	if (n->deliverer && (waitid(P_PID, (id_t)n->deliverer, &si, WEXITED | WNOHANG) < 0 || si.si_pid != 0))
		notifier_reaped(n, n->deliverer);
	if (now >= n->next_scan_ns) {
		n->next_scan_ns = now + scan_ns;
		n->due |= !spool_is_empty(&n->spool);
	}
	remind(n, now);
	if (n->due)
		start(n);
	bool changed = n->changed;
	n->changed = false;
	return changed;
}

void notifier_close(struct notifier *n)
{
	if (!active(n))
		return;
	if (n->due)
		start(n);
	uint64_t until = n->mono_ns() + close_wait_ns;
	while (n->put_any && n->mono_ns() < until && !spool_is_empty(&n->spool))
		(void)poll(NULL, 0, 10);
	for (size_t i = 0; i < n->n_reported; i++)
		free(take(&n->reported[i].lasts));
	closep(&n->program_fd);
}
