#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "agent/run/super.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/proc/proc.h"

/* Ranks that are ended because another one failed get this long between SIGTERM and SIGKILL. */
static const uint64_t end_grace_ns = 10 * NS_PER_S;

void super_poll_add(struct super *s, int fd, uint64_t key)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = key};
	if (fd >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		log_debug("epoll: %s", strerror(errno));
}

void super_attempt_signal(struct super *s, int signal)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			(void)kill(s->rank[i].proc.pid, signal);
}

void super_end_others(struct super *s, const char *ended_for, const char *why)
{
	pid_t pids[1024];
	size_t n = 0;
	for (uint32_t i = 0; i < s->nproc; i++) {
		if (!s->rank[i].running)
			continue;
		s->rank[i].ended_by_us = true;
		s->rank[i].asked_for = ended_for;
		n++;
	}
	super_attempt_signal(s, SIGTERM);
	size_t left = n == 0 ? super_leftovers(s, pids, ARRAY_SIZE(pids)) : 0;
	s->ending.asked_leftovers = n == 0;
	for (size_t i = 0; i < MIN(left, ARRAY_SIZE(pids)); i++)
		(void)kill(pids[i], SIGTERM);
	/* "more" than one that has ended by itself */
	const char *more = strcmp(ended_for, ENDED_FOR_RANK) == 0 ? " more" : "";
	if (n + left > 0) {
		recorder_event(&s->recorder, &s->job, "end_others", NULL, "%zu%s process%s ended: %s", n + left, more,
			       n + left == 1 ? " is" : "es are", why);
		if (!s->spec->watch.quiet && (n > 0 || s->ending.stopping))
			log_info("ending %zu%s process%s of the job: %s", n + left, more, n + left == 1 ? "" : "es",
				 why);
	}
	s->phase = SUPER_ENDING;
	s->deadline_ns = s->w->mono_ns() + end_grace_ns;
}

static bool is_helper(const struct services *s, pid_t pid)
{
	pid_t helper[SERVICES_HELPERS];
	size_t n = services_helpers(s, helper);
	for (size_t i = 0; i < n; i++)
		if (helper[i] == pid)
			return true;
	return false;
}

/* Our children but for our helpers: a process whose parents have ended becomes our child (subreaper). */
size_t super_leftovers(struct super *s, pid_t *pids, size_t cap)
{
	char text[8192], path[64];
	size_t len, n = 0;
	(void)snprintf(path, sizeof(path), "self/task/%d/children", (int)getpid());
	if (file_read_at(s->w->proc_fd, path, text, sizeof(text), &len) < 0)
		return 0;
	struct span rest = {text, len}, word;
	while (span_word(&rest, &word)) {
		uint64_t pid;
		struct proc_stat st;
		if (span_u64(word, &pid) < 0 || is_helper(&s->services, (pid_t)pid))
			continue;
		if (proc_stat_read(s->w, (pid_t)pid, &st) != 0 || st.state == 'Z')
			continue;
		if (n < cap)
			pids[n] = (pid_t)pid;
		n++;
	}
	return n;
}

bool super_any_running(const struct super *s)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			return true;
	return false;
}
