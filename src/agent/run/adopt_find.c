#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/run/adopt_parts.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "model/jobs/crowd.h"
#include "sense/proc/proc.h"
#include "sense/proc/slurmjob.h"
#include "sense/speed/cpustat.h"

static bool known(const struct adopt *a, pid_t pid, const char *cgroup)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active &&
		    ((pid && a->job[i].id.pid == pid) || (cgroup && strcmp(a->job[i].cgroup, cgroup) == 0)))
			return true;
	return false;
}

/* Warn at once of what cannot be done for another user's process, not only in the first report. */
static void may_not_say(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/mem", (int)pid); /* opening it needs the same rights as reading stacks */
	cleanup(closep) int memory = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	bool unseen = memory < 0 && (errno == EACCES || errno == EPERM);
	bool kept = kill(pid, 0) < 0 && errno == EPERM;
	if (unseen && kept)
		log_warning("pid %d belongs to another user: vigil can watch and report, but may neither end it nor "
			    "see its "
			    "stacks, which tell why it hangs; be its user, or root",
			    (int)pid);
	else if (unseen)
		log_warning("vigil may not see the stacks of pid %d, which tell why it hangs; `vigil stack %d` says "
			    "what is "
			    "missing",
			    (int)pid, (int)pid);
	else if (kept)
		log_warning("pid %d belongs to another user: vigil can watch and report, but may not end it", (int)pid);
}

static int adopt_pid(struct adopt *a, pid_t pid, const char *name)
{
	struct proc_stat st;
	char command[512];
	int r = proc_stat_read(a->w, pid, &st);
	if (r != 0 || proc_is_over(&st))
		return r < 0 ? r : WORLD_GONE;
	struct adopted *j = adopt_slot(a);
	if (!j)
		return -ENOSPC;
	*j = (struct adopted){.id = {pid, st.start_ticks}, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
	may_not_say(a->w, pid);
	if (proc_command_read(a->w, pid, command, sizeof(command)) != 0)
		TEXT_COPY(command, st.comm);
	adopt_begin(a, j, name ? name : proc_known_as(st.comm), command);
	return 0;
}

static struct adopted *slurm_known(struct adopt *a, uint32_t job)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && a->job[i].slurm == job)
			return &a->job[i];
	return NULL;
}

static int adopt_slurm(struct adopt *a, uint32_t job, const char *name)
{
	struct slurmjob s;
	char own[32], command[64];
	int r = slurmjob_find(a->w, job, geteuid(), &s);
	if (r != 0)
		return r;
	struct adopted *j = adopt_slot(a);
	if (!j)
		return -ENOSPC;
	*j = (struct adopted){.pidfd = -1, .slurm = job};
	TEXT_COPY(j->cgroup, s.group);
	j->cgroup_number = s.group[0] ? cgroup_number(a->w, s.group) : 0;
	TEXT_COPY(j->cgroup_name, s.group_name);
	if (s.n_roots > 0) {
		j->id = s.root[0];
		j->n_also = s.n_roots - 1;
		memcpy(j->also, s.root + 1, j->n_also * sizeof(j->also[0]));
		may_not_say(a->w, j->id.pid);
	}
	if (s.n_dropped > 0)
		log_warning("job %u has %zu tasks more than vigil can follow without control groups; they are not "
			    "watched",
			    job, s.n_dropped);
	TEXT_FORMAT(own, "slurm-%u", job);
	TEXT_FORMAT(command, "job %u of Slurm", job);
	adopt_begin(a, j, name ? name : own, command);
	return 0;
}

/* What came later takes the places of roots that have ended. */
void adopt_slurm_again(struct adopt *a, struct adopted *j)
{
	struct slurmjob s;
	struct proc_stat st;
	size_t kept = 0;
	bool more = false;
	if (!j->id.pid || slurmjob_find(a->w, j->slurm, geteuid(), &s) != 0)
		return;
	for (size_t i = 0; i < j->n_also; i++)
		if (proc_is_same(a->w, j->also[i], &st))
			j->also[kept++] = j->also[i];
	j->n_also = kept;
	for (size_t i = 0; i < s.n_roots && j->n_also < ARRAY_SIZE(j->also); i++) {
		bool is_known = s.root[i].pid == j->id.pid;
		for (size_t k = 0; k < kept && !is_known; k++)
			is_known = s.root[i].pid == j->also[k].pid;
		if (is_known)
			continue;
		j->also[j->n_also++] = s.root[i];
		more = true;
		recorder_event(&j->recorder, &j->job, "job_adopted", NULL,
			       "a further process of job %u of Slurm, pid %d", j->slurm, (int)s.root[i].pid);
	}
	if (more)
		adopt_pass_on(a, (uint32_t)(j - a->job));
}

static int adopt_cgroup(struct adopt *a, const char *path, const char *name)
{
	struct stat st;
	while (*path == '/')
		path++;
	if (a->w->cgroup_fd < 0 || fstatat(a->w->cgroup_fd, path, &st, 0) < 0 || !S_ISDIR(st.st_mode))
		return WORLD_GONE;
	struct adopted *j = adopt_slot(a);
	if (!j)
		return -ENOSPC;
	*j = (struct adopted){.pidfd = -1, .cgroup_number = st.st_ino};
	TEXT_COPY(j->cgroup, path);
	char command[CGROUP_PATH_MAX + 16];
	TEXT_FORMAT(command, "control group %s", path);
	adopt_begin(a, j, name ? name : path_name(path), command);
	return 0;
}

/*
 * True if the command runs vigil, itself or through sudo and the like. Only a last path component counts: other
 * programs may be installed below a folder named vigil.
 */
static bool runs_vigil(const char *command)
{
	struct span rest = span_of(command), word;
	for (size_t i = 0; i < 4 && span_word(&rest, &word); i++) {
		size_t at = word.len;
		while (at > 0 && word.p[at - 1] != '/')
			at--;
		if (span_eq((struct span){word.p + at, word.len - at}, "vigil"))
			return true;
	}
	return false;
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

static struct adopted *job_of_process(struct adopt *a, const struct task_row *row)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && a->job[i].id.pid == row->pid && a->job[i].id.start_ticks == row->start_ticks)
			return &a->job[i];
	return NULL;
}

/* True for the outermost processes whose command lines have the text, but for our own. */
static bool matches(const struct adopt *a, const struct task_row *row, const char *text)
{
	static char command[4096], above[4096];
	if (is_helper(&a->services, row->pid) || proc_command_read(a->w, row->pid, command, sizeof(command)) != 0 ||
	    !strstr(command, text))
		return false;
	bool inner = proc_command_read(a->w, row->ppid, above, sizeof(above)) == 0 && strstr(above, text);
	return !inner && !runs_vigil(command);
}

/*
 * Adds the memory of each process to the program that it descends from. member_of: by row, place in m; SIZE_MAX: none.
 */
static void sizes_add(const struct tasks *t, const size_t *member_of, struct crowd_member *m)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct task_row *row = &t->rows[i];
		for (size_t depth = 0; row && depth < 64; depth++) {
			size_t at = member_of[row - t->rows];
			if (at != SIZE_MAX) {
				m[at].bytes += task_rss_bytes(&t->rows[i]);
				break;
			}
			row = row->ppid > 1 ? tasks_find(t, row->ppid) : NULL;
		}
	}
}

/* All that have a place by their command lines, and all that match and have none. Returns how many. */
static size_t crowd_find(struct adopt *a, const struct tasks *t, const char *text, struct crowd_member *m,
			 size_t *member_of)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct task_row *row = &t->rows[i];
		const struct adopted *j = job_of_process(a, row);
		struct proc_status st;
		member_of[i] = SIZE_MAX;
		if (j ? !j->by_command : !matches(a, row, text))
			continue;
		member_of[i] = n;
		m[n] = (struct crowd_member){.pid = row->pid, .start_ticks = row->start_ticks, .has_place = j != NULL};
		m[n++].uid = proc_status_read(a->w, row->pid, &st) == 0 ? st.uid : 0;
	}
	sizes_add(t, member_of, m);
	return n;
}

static void crowd_take(struct adopt *a, const struct tasks *t, const struct crowd_member *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct adopted *j = m[i].has_place ? job_of_process(a, tasks_find(t, m[i].pid)) : NULL;
		if (j && !m[i].chosen)
			adopt_release(a, j, "its place is taken by a larger one, or by one of a user who has fewer");
	}
	for (size_t i = 0; i < n; i++)
		if (m[i].chosen && !m[i].has_place && adopt_pid(a, m[i].pid, a->spec->watch.name) == 0)
			job_of_process(a, tasks_find(t, m[i].pid))->by_command = true;
}

void adopt_crowd_begin(struct adopt *a)
{
	a->crowd = (struct unguarded){.matching = 0};
}

void adopt_crowd_tell(struct adopt *a)
{
	char text[200];
	unguarded_note(a->w, a->spec->watch.state_dir, &a->crowd);
	if (a->crowd_told || a->crowd.matching <= a->crowd.guarded)
		return;
	a->crowd_told = true;
	unguarded_text(&a->crowd, text, sizeof(text));
	log_warning("%s; `vigil jobs` and `vigil doctor` say how many as long as it is so", text);
}

static void adopt_matching(struct adopt *a, const char *text)
{
	static struct tasks t;
	size_t places = UNIT_JOBS_MAX;
	if ((t.rows == NULL && tasks_init(&t, UNIT_KNOWN_MAX, -1) < 0) || tasks_scan(&t, a->w) < 0)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		places -= a->job[i].active && !a->job[i].by_command ? 1 : 0;
	cleanup(freep) struct crowd_member *m = calloc(t.n + 1, sizeof(*m));
	cleanup(freep) size_t *member_of = calloc(t.n + 1, sizeof(*member_of));
	if (!m || !member_of)
		return;
	size_t n = crowd_find(a, &t, text, m, member_of);
	if (guard_case_pending(a->services.guard.shm) || crowd_choose(m, n, places) < 0)
		return;
	a->crowd.matching += n;
	a->crowd.guarded += MIN(n, places);
	if (n > places)
		adopt_crowd_tell(a); /* to begin with many takes seconds */
	crowd_take(a, &t, m, n);
}

/* A thread has a number too, and its process's command line. */
static bool leads_threads(pid_t pid)
{
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd >= 0;
}

static bool newcomer_matches(struct adopt *a, pid_t pid)
{
	struct proc_stat st;
	bool fits = false;
	if (proc_stat_read(a->w, pid, &st) != 0 || proc_is_over(&st) || st.kernel_thread)
		return false;
	const struct task_row row = {.pid = pid, .ppid = st.ppid, .start_ticks = st.start_ticks};
	if (job_of_process(a, &row) || !leads_threads(pid))
		return false; /* before its command line is read, which is dear */
	for (size_t i = 0; i < a->spec->n_targets && !fits; i++)
		fits = a->spec->target[i].kind == ADOPT_COMMAND && matches(a, &row, a->spec->target[i].text);
	return fits;
}

void adopt_newcomers_begin(struct adopt *a)
{
	struct loadavg now;
	if (loadavg_read(a->w, &now) == 0)
		a->numbers[0] = a->numbers[1] = now.last_pid;
}

bool adopt_newcomer(struct adopt *a)
{
	const pid_t most = 1024;
	struct loadavg now;
	if (loadavg_read(a->w, &now) != 0)
		return false;
	const pid_t from = a->numbers[0], to = a->numbers[1];
	a->numbers[0] = to;
	a->numbers[1] = now.last_pid;
	if (to < from || to - from > most)
		return false;
	for (pid_t pid = from + 1; pid <= to; pid++)
		if (newcomer_matches(a, pid))
			return true;
	return false;
}

static int adopt_slurm_or_again(struct adopt *a, uint32_t job)
{
	struct adopted *j = slurm_known(a, job);
	if (!j)
		return adopt_slurm(a, job, a->spec->watch.name);
	adopt_slurm_again(a, j);
	return 0;
}

int adopt_target(struct adopt *a, const struct adopt_target *t)
{
	switch (t->kind) {
	case ADOPT_PID:
		return known(a, t->pid, NULL) ? 0 : adopt_pid(a, t->pid, a->spec->watch.name);
	case ADOPT_CGROUP:
		return known(a, 0, t->text) ? 0 : adopt_cgroup(a, t->text, a->spec->watch.name);
	case ADOPT_SLURM:
		return adopt_slurm_or_again(a, t->job);
	case ADOPT_COMMAND:
		adopt_matching(a, t->text);
		return 0;
	}
	return -EINVAL;
}
