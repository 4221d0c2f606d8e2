#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "act/target.h"
#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/log.h"

#define STRAYS_MAX 256
#define TREE_MAX 512

static bool is_task(const struct map *m, pid_t pid)
{
	for (uint32_t i = 0; i < m->n_runners; i++)
		if (m->runner[i]->pid == pid)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(m->earlier); i++)
		if (m->earlier[i] == pid)
			return true;
	return pid == m->warden.pid;
}

void map_strays_earlier(struct map *m)
{
	(void)proctree_children(m->w, m->earlier, ARRAY_SIZE(m->earlier));
}

void map_strays_reaped(struct map *m, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->earlier); i++)
		if (m->earlier[i] == pid)
			m->earlier[i] = 0;
}

static void stray_kill(struct map *m, pid_t pid)
{
	static struct proctree_row rows[TREE_MAX];
	size_t n = proctree_read(m->w, pid, rows, TREE_MAX);
	for (size_t i = 0; i < n; i++) {
		struct target t = {.id = rows[i].id, .pidfd = -1};
		if (target_open(m->w, &t, false) == 0)
			ignore(target_signal(m->w, &t, SIGKILL), "it has ended, or is another user's");
		target_close(&t);
	}
}

/* True if it was left by a task that still runs. */
static bool has_running_task(const struct map *m, pid_t pid)
{
	char variable[64];
	for (uint32_t i = 0; i < m->n_runners; i++) {
		TEXT_FORMAT(variable, "PARALLEL_SEQ=%llu", (unsigned long long)m->runner[i]->task->seq);
		if (mapleft_has(m->w, pid, variable))
			return true;
	}
	return false;
}

void map_strays_end(struct map *m, bool all)
{
	pid_t pids[STRAYS_MAX];
	size_t n = proctree_children(m->w, pids, STRAYS_MAX);
	for (size_t i = 0; i < n; i++)
		if (!is_task(m, pids[i]) &&
		    (all || (mapleft_has(m->w, pids[i], m->env_job) && !has_running_task(m, pids[i]))))
			stray_kill(m, pids[i]);
}

static bool any_stray(const struct map *m)
{
	pid_t pids[STRAYS_MAX];
	size_t n = proctree_children(m->w, pids, STRAYS_MAX);
	for (size_t i = 0; i < n; i++)
		if (!is_task(m, pids[i]))
			return true;
	return false;
}

void map_strays_last(struct map *m)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid;
		map_strays_end(m, true);
		/* those that were killed end in a moment, and leave their children to us */
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
			map_strays_reaped(m, pid);
			if (pid == m->warden.pid)
				m->warden.pid = 0;
		}
		if (!any_stray(m))
			return;
		struct timespec pause = {.tv_nsec = 10 * (long)NS_PER_MS};
		(void)nanosleep(&pause, NULL);
	}
	log_warning("processes that tasks have left do not end: they wait in the kernel, and are left behind");
}
