#include "agent/jobs/members.h"

#include <string.h>

#include "agent/jobs/raysession.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/lockwait.h"

#define ENVIRON_CAP (128 * 1024)

enum { IN = 1, ROLE_DONE = 2, CLAIMED = 4 /* by its environment alone */ };

struct members_sweep {
	const struct world *w;
	const struct tasks *t;
	const struct members_want *want;
	uint8_t *flags; /* for each task row */
	uint32_t *place; /* row of a task in members, for those that are in */
	char *environ;
	struct members *m;
};

static void sweep_done(struct members_sweep *g)
{
	free(g->flags);
	free(g->place);
	free(g->environ);
}

static bool group_matches(const struct members_sweep *g, pid_t pid)
{
	const char *group = g->want->group;
	if (!group || group[0] == '\0' || strcmp(group, "/") == 0)
		return false;
	char path[32], text[4096];
	size_t len, n = strlen(group);
	TEXT_FORMAT(path, "%d/cgroup", pid);
	if (file_read_at(g->w->proc_fd, path, text, sizeof(text), &len) != 0)
		return false;
	struct span rest = {text, len}, line;
	while (span_line(&rest, &line)) {
		struct span name = span_after(span_after(line, ":"), ":");
		if (name.p && span_starts(name, group) && (name.len == n || name.p[n] == '/'))
			return true;
	}
	return false;
}

static bool environ_matches(struct members_sweep *g, pid_t pid)
{
	if (!g->want->job_id || g->want->job_id[0] == '\0')
		return false;
	size_t len;
	int r = proc_environ_read(g->w, pid, g->environ, ENVIRON_CAP, &len);
	if (r == WORLD_DENIED)
		g->m->n_denied++;
	if (r != 0)
		return false;
	struct span value = environ_get((struct span){g->environ, len}, "VIGIL_JOB_ID");
	return value.p && span_eq(value, g->want->job_id);
}

/* True if the job has a process of this user that was not found by its environment. */
static bool has_user(const struct members_sweep *g, uid_t uid)
{
	struct proc_status st;
	for (size_t i = 0; i < g->t->n; i++)
		if (g->flags[i] & IN && !(g->flags[i] & CLAIMED) &&
		    proc_status_read(g->w, g->t->rows[i].pid, &st) == 0 && st.uid == uid)
			return true;
	return false;
}

static bool claims(struct members_sweep *g, pid_t pid)
{
	struct proc_status st;
	return environ_matches(g, pid) && proc_status_read(g->w, pid, &st) == 0 &&
	       (st.uid == g->want->uid || has_user(g, st.uid));
}

static size_t index_of(const struct tasks *t, pid_t pid)
{
	const struct task_row *row = pid > 0 ? tasks_find(t, pid) : NULL;
	return row ? (size_t)(row - t->rows) : SIZE_MAX;
}

/* Adds children of members; repeated until nothing changes, because a child's pid may be lower than its parent's. */
static void descend(struct members_sweep *g)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < g->t->n; i++) {
			if (g->flags[i] & IN)
				continue;
			size_t parent = index_of(g->t, g->t->rows[i].ppid);
			if (parent == SIZE_MAX || !(g->flags[parent] & IN))
				continue;
			g->flags[i] |= IN;
			changed = true;
		}
	}
}

/* Of a job with a raylet, the rest of Ray's own programs on the node: an adopted one begins with its raylet. */
static void ray_choose(struct members_sweep *g)
{
	struct raysession session = {.name = ""};
	for (size_t i = 0; i < g->t->n; i++) {
		if (!(g->flags[i] & IN) || !raysession_of(g->w, &g->t->rows[i], &session))
			continue;
		for (size_t k = 0; k < g->t->n; k++)
			if (!(g->flags[k] & IN) && raysession_has(g->w, &session, &g->t->rows[k]))
				g->flags[k] |= IN;
	}
}

static void members_choose(struct members_sweep *g)
{
	for (size_t i = 0; i < g->t->n; i++) {
		pid_t pid = g->t->rows[i].pid;
		if (!g->want || members_is_root(g->want, pid) || group_matches(g, pid))
			g->flags[i] |= IN;
	}
	if (!g->want)
		return;
	descend(g);
	for (size_t i = 0; i < g->t->n; i++)
		if (!(g->flags[i] & IN) && claims(g, g->t->rows[i].pid))
			g->flags[i] |= IN | CLAIMED;
	if (g->want->job_id && g->want->job_id[0])
		ray_choose(g);
	descend(g);
}

/* Row of the parent, if it is a member; pid 1 does not count as a parent. */
static struct member *parent_of(const struct members_sweep *g, const struct member *m)
{
	size_t i = m->task->ppid > 1 ? index_of(g->t, m->task->ppid) : SIZE_MAX;
	return i != SIZE_MAX && g->flags[i] & IN ? &g->m->row[g->place[i]] : NULL;
}

static void role_fill(struct members_sweep *g, struct member *m, const struct member *parent)
{
	size_t len = 0;
	struct span block = {"", 0};
	pid_t pid = m->task->pid;
	if (proc_environ_read(g->w, pid, g->environ, ENVIRON_CAP, &len) == 0 && len == 0) {
		pid = proc_living_thread(g->w, pid); /* the main thread has ended, others live */
		if (pid && proc_environ_read(g->w, pid, g->environ, ENVIRON_CAP, &len) != 0)
			len = 0;
	}
	block.len = len;
	if (len)
		block.p = g->environ;
	ignore(proc_command_read(g->w, pid, m->command, sizeof(m->command)),
	       "gone or hidden: the role is then 'other'");
	struct span job = environ_get(block, "VIGIL_JOB_ID");
	if (job.p)
		span_copy(job, m->job, sizeof(m->job));
	struct role_input in = {
		.comm = span_of(m->task->comm),
		.command = span_of(m->command),
		.numbers = role_numbers_of(block),
		.parent = parent ? &parent->who : NULL,
		.parent_comm = span_of(parent ? parent->task->comm : ""),
		.parent_command = span_of(parent ? parent->command : ""),
	};
	role_of(&in, &m->who);
}

#define DEPTH_MAX 256

/* Parents are judged before their children; the way up is walked without recursion. */
static void role_resolve(struct members_sweep *g, struct member *m)
{
	struct member *chain[DEPTH_MAX];
	size_t n = 0;
	for (struct member *p = m; p && n < DEPTH_MAX; p = parent_of(g, p)) {
		if (g->flags[(size_t)(p->task - g->t->rows)] & ROLE_DONE)
			break;
		chain[n++] = p;
	}
	while (n-- > 0) {
		role_fill(g, chain[n], parent_of(g, chain[n]));
		g->flags[(size_t)(chain[n]->task - g->t->rows)] |= ROLE_DONE;
	}
}

const struct member *member_find(const struct members *m, pid_t pid)
{
	const size_t at = bisect(m->n, i, m->row[i].task->pid < pid);
	return at < m->n && m->row[at].task->pid == pid ? &m->row[at] : NULL;
}

void members_done(struct members *m)
{
	free(m->row);
	*m = (struct members){.n = 0};
}

/* The helper that asks for us is of nobody's job (sense/lockwait). */
static void helper_leave_out(struct members_sweep *g)
{
	pid_t helper = lockwait_helper();
	for (size_t i = 0; helper > 0 && i < g->t->n; i++)
		if (g->t->rows[i].pid == helper)
			g->flags[i] &= (uint8_t)~IN;
}

static int members_fill(struct members_sweep *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->t->n; i++)
		n += g->flags[i] & IN ? 1 : 0;
	g->m->row = calloc(n ? n : 1, sizeof(*g->m->row));
	if (!g->m->row)
		return -ENOMEM;
	for (size_t i = 0; i < g->t->n; i++) {
		if (!(g->flags[i] & IN))
			continue;
		g->place[i] = (uint32_t)g->m->n;
		g->m->row[g->m->n++] = (struct member){
			.task = &g->t->rows[i], .who = {.rank = NO_RANK, .local_rank = NO_RANK, .role = ROLE_OTHER}};
	}
	for (size_t k = 0; k < g->m->n; k++)
		role_resolve(g, &g->m->row[k]);
	return 0;
}

/* Most children that may be ranks and are read in one call. */
#define ASK_MOST 128

static int own_ranks(struct members_sweep *g)
{
	cleanup(freep) struct spawnranks *once = g->want->spawned ? NULL : spawnranks_new();
	cleanup(freep) struct ownranks_process *own = calloc(g->m->n ? g->m->n : 1, sizeof(*own));
	struct spawnranks *asked = g->want->spawned ? g->want->spawned : once;
	if (!asked || !own)
		return -ENOMEM;
	for (size_t i = 0; i < g->m->n; i++) {
		const struct member *m = &g->m->row[i];
		own[i] = (struct ownranks_process){
			.pid = m->task->pid, .ppid = m->task->ppid, .start_ticks = m->task->start_ticks, .who = m->who};
	}
	ignore(spawnranks_update(asked, g->w, own, g->m->n, 0, ASK_MOST, true), "they are named in any case");
	for (size_t i = 0; i < g->m->n; i++)
		g->m->row[i].who = own[i].who;
	return 0;
}

/* All are about to be read: a thread that may wait for none of them asks them together. */
static void members_survey(const struct members_sweep *g)
{
	cleanup(freep) pid_t *pids = calloc(g->t->n ? g->t->n : 1, sizeof(*pids));
	for (size_t i = 0; pids && i < g->t->n; i++)
		pids[i] = g->t->rows[i].pid;
	if (pids)
		lockwait_survey(g->w->proc_fd, pids, g->t->n);
}

int members_read(const struct world *w, const struct tasks *t, const struct members_want *want, struct members *ret)
{
	struct members m = {.n = 0};
	cleanup(sweep_done) struct members_sweep g = {.w = w, .t = t, .want = want, .m = &m};
	g.flags = calloc(t->n ? t->n : 1, sizeof(*g.flags));
	g.place = calloc(t->n ? t->n : 1, sizeof(*g.place));
	g.environ = malloc(ENVIRON_CAP);
	if (!g.flags || !g.place || !g.environ)
		return -ENOMEM;
	members_survey(&g);
	members_choose(&g);
	helper_leave_out(&g);
	int r = members_fill(&g);
	for (size_t i = 0; want && r == 0 && i < t->n; i++)
		lockwait_shown(t->rows[i].pid, g.flags[i] & IN);
	if (r == 0 && want && want->ask)
		r = own_ranks(&g);
	if (r) {
		members_done(&m);
		return r;
	}
	*ret = m;
	return 0;
}
