#include "cli/heap/heap_switch.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "act/inject/inject.h"
#include "agent/heap/heapattach.h"
#include "agent/heap/heapfiles.h"
#include "agent/jobs/members.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "sense/proc/procfile.h"

#define PROCESSES_MAX 8192

bool heap_switch_wanted(const struct heap_switch *o)
{
	return o->attach || o->detach || o->start || o->stop;
}

/* The folder of profiles: of a job's newest attempt, or as the environment of a process says; "" if there is none. */
static void folder_of(const struct world *w, const struct subject *s, char *dst, size_t cap)
{
	static char environ_text[256 * 1024];
	size_t len;
	dst[0] = '\0';
	if (s->is_job) {
		(void)text_format(dst, cap, "%s/attempt-%u/heap", s->job.log_dir, s->job.attempt);
		return;
	}
	if (proc_environ_read(w, s->pid, environ_text, sizeof(environ_text), &len) != 0)
		return;
	struct span dir = environ_get((struct span){environ_text, len}, "VIGIL_HEAP_DIR");
	if (dir.p)
		span_copy(dir, dst, cap);
}

/*
 * The folder of a job is ours; the one that a process names is opened, and written to, with the rights of its user, who
 * must still be the one whose environment was read.
 */
static bool folder_open(const struct world *w, const struct subject *s, const char *folder, uid_t named_by, int *ret_fd,
			struct foreign_user *ret_as)
{
	if (!s->is_job)
		return procfile_user(w, s->pid, ret_as) == 0 && ret_as->uid == named_by &&
		       procfile_folder(w, s->pid, folder, ret_fd) == 0;
	*ret_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd >= 0 && foreign_owner(*ret_fd, ret_as);
}

/*
 * True where the environment of a process is not its own: a set-user-ID program has that of whoever started it. Such a
 * program loads no library that its environment names, so it has no sampler to switch either.
 */
static bool environ_is_anothers(const struct world *w, const struct subject *s)
{
	struct procfile_start start;
	return !s->is_job && geteuid() == 0 && procfile_start(w, s->pid, &start) == 0 && start.secure;
}

static int switch_rate(const struct world *w, const struct subject *s, const struct heap_switch *o)
{
	char folder[400];
	struct foreign_user as, before = {.uid = (uid_t)-1};
	cleanup(closep) int fd = -1;
	size_t n = 0;
	if (environ_is_anothers(w, s)) {
		log_error("process %d runs a set-user-ID or set-group-ID program: its environment is that of who "
			  "started it, and root writes nothing into a folder that this names",
			  (int)s->pid);
		return EXIT_DENIED;
	}
	if (!s->is_job)
		ignore(procfile_user(w, s->pid, &before), "then nobody named the folder");
	folder_of(w, s, folder, sizeof(folder));
	if (!folder[0] || !folder_open(w, s, folder, before.uid, &fd, &as)) {
		log_error("%s was not started with --heap or --heap-dormant, so there is nothing to switch: 'vigil "
			  "heap %s --attach' loads the sampler into what runs",
			  s->text, s->is_job ? s->job.id : s->key);
		return EXIT_ABSENT;
	}
	int r = heapfiles_switch(fd, &as, o->stop ? 0 : o->rate, &n);
	if (r < 0) {
		log_error("%s: sampling cannot be switched in %s: %s", s->text, folder, strerror(-r));
		return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_PROBLEM;
	}
	char size[16];
	const char *whom = n == 1 ? "process" : "processes";
	if (o->stop)
		log_info("%s: sampling is off; %zu %s told", s->text, n, whom);
	else
		log_info("%s: one sample each %s; %zu %s told, others see it when they allocate", s->text,
			 size_format(o->rate, size), n, whom);
	return 0;
}

static int exit_of(int r)
{
	return r == 0				       ? 0
	       : r == WORLD_DENIED		       ? EXIT_DENIED
	       : r == WORLD_GONE || r == INJECT_ABSENT ? EXIT_ABSENT
						       : EXIT_PROBLEM;
}

static int switch_process(const struct world *w, const char *state, const char *folder, struct proc_id id,
			  const struct heap_switch *o)
{
	const struct heapattach_want want = {
		.state = state, .folder = folder, .rate_bytes = o->rate, .start_ticks = id.start_ticks};
	const pid_t pid = id.pid;
	struct heapattach_result got;
	struct fault f = {.text = ""};
	int r = o->attach ? heapattach(w, pid, &want, &got, &f) : heapdetach(w, pid, &got, &f);
	if (r) {
		log_error("%s", f.text);
		return exit_of(r);
	}
	double ms = (double)got.stopped_ns / 1e6;
	if (o->attach)
		log_info("process %d: sampling; one thread stood still for %.1f ms at once; the profile is in %s",
			 (int)pid, ms, got.folder);
	else
		log_info("process %d: sampling has ended, %u places in %u files are its own again; the library stays "
			 "loaded, unused, until it ends (a thread could be in it), and children that it has forked "
			 "meanwhile are sampled on: each is detached by its own number",
			 (int)pid, got.slots, got.files);
	return 0;
}

static int switch_job(const struct world *w, const char *state, const struct subject *s, const struct heap_switch *o)
{
	char folder[400];
	struct tasks tasks = {.n = 0};
	struct members m = {.n = 0};
	const struct members_want want = {
		.job_id = s->job.id, .uid = s->job.uid, .root = s->pid, .group = s->job.cgroup};
	int status = 0, r = tasks_init(&tasks, PROCESSES_MAX, -1);
	folder_of(w, s, folder, sizeof(folder));
	if (r == 0)
		r = tasks_scan(&tasks, w);
	if (r == 0)
		r = members_read(w, &tasks, &want, &m);
	for (size_t i = 0; r == 0 && i < m.n; i++) {
		const struct task_row *t = m.row[i].task;
		int e = switch_process(w, state, folder, (struct proc_id){t->pid, t->start_ticks}, o);
		status = status ? status : e;
	}
	if (r == 0 && m.n == 0) {
		log_error("%s has no running process", s->text);
		status = EXIT_ABSENT;
	}
	members_done(&m);
	tasks_done(&tasks);
	return r ? EXIT_PROBLEM : status;
}

int heap_switch_run(const struct world *w, const char *state, const struct subject *s, const struct heap_switch *asked)
{
	struct heap_switch with_rate = *asked, *o = &with_rate;
	if (o->rate == UINT64_MAX)
		o->rate = 512 * KIB;
	if (o->attach + o->detach + o->start + o->stop != 1) {
		log_error("one of --attach, --detach, --start and --stop is expected, not several");
		return EXIT_USAGE;
	}
	if (o->rate < 4 * KIB || o->rate > 16 * MIB) {
		log_error("--rate: expected 4 KiB to 16 MiB; 512K is right for most programs");
		return EXIT_USAGE;
	}
	if (o->start || o->stop)
		return switch_rate(w, s, o);
	const struct proc_id typed = {.pid = s->pid};
	return s->is_job ? switch_job(w, state, s, o) : switch_process(w, state, NULL, typed, o);
}
