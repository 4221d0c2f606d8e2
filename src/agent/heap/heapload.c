#include "agent/heap/heapload.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/heap/heapfolder.h"
#include "agent/jobs/jobfolder.h"
#include "agent/jobs/members.h"
#include "agent/heap/torchsnap.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/proc/maps.h"
#include "sense/proc/procfile.h"
#include "tell/store/series.h"
#include "tell/store/store.h"

#define TASKS_MAX 65536
#define ENVIRON_MAX (128 * 1024)
#define GENERATIONS 8

struct who {
	struct heapread_who *row; /* owned */
	size_t n, cap;
	bool failed;
};

static void who_done(struct who *w)
{
	free(w->row);
}

static void who_add(struct who *w, const struct heapread_who *one)
{
	if (vec_room(&w->row, &w->cap, w->n + 1) < 0)
		w->failed = true;
	else
		w->row[w->n++] = *one;
}

/* ---- processes ---- */

/* The pid of a process as it is numbered in its own container. */
static pid_t inner_pid(const struct world *w, pid_t pid)
{
	struct proc_status st;
	return proc_status_read(w, pid, &st) == 0 && st.ns_pid > 0 ? st.ns_pid : pid;
}

static void who_living(const struct world *w, const struct members_want *want, struct who *to)
{
	struct tasks t = {.n = 0};
	struct members m = {.n = 0};
	if (tasks_init(&t, TASKS_MAX, -1) < 0)
		return;
	if (tasks_scan(&t, w) == 0 && members_read(w, &t, want, &m) == 0) {
		for (size_t i = 0; i < m.n; i++) {
			struct heapread_who one = {.pid = m.row[i].task->pid,
						   .inner_pid = inner_pid(w, m.row[i].task->pid),
						   .start_ticks = m.row[i].task->start_ticks,
						   .rank = m.row[i].who.rank};
			TEXT_COPY(one.role, role_name(m.row[i].who.role));
			TEXT_COPY(one.name, m.row[i].command);
			who_add(to, &one);
		}
		members_done(&m);
	}
	tasks_done(&t);
}

static int who_dead(void *ctx, const struct job_process *p)
{
	struct heapread_who one = {.inner_pid = p->pid,
				   .start_ticks = p->start_ticks,
				   .rank = p->rank,
				   .has_status = p->has_status,
				   .wait_status = p->wait_status,
				   .ended_unix_ms = p->ended_unix_ms};
	TEXT_COPY(one.role, p->role);
	TEXT_COPY(one.name, p->command);
	who_add(ctx, &one);
	return 0;
}

/* Adds when workers ended, which only the series has; the store has the ranks' main processes. */
static void who_ended(const char *dir, struct who *to)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0, n_known = to->n;
	struct series_reader reader;
	struct series_record record;
	if (jobfolder_slurp(dir, SERIES_FILE, SERIES_MAX_BYTES, &text, &len) != 0 ||
	    series_reader_init(&reader, (struct span){text, len}) != 0)
		return;
	while (series_next(&reader, &record)) {
		const struct series_process *p = &record.process;
		struct heapread_who *known = NULL;
		if (record.kind != SERIES_PROCESS || p->ended_unix_ms == 0)
			continue;
		for (size_t i = 0; i < n_known && !known; i++)
			if (to->row[i].inner_pid == p->pid && to->row[i].start_ticks == p->start_ticks)
				known = &to->row[i];
		if (known && known->ended_unix_ms == 0 && known->pid == 0)
			known->ended_unix_ms = p->ended_unix_ms;
		if (known)
			continue;
		struct heapread_who one = {.inner_pid = p->pid,
					   .start_ticks = p->start_ticks,
					   .rank = p->rank,
					   .ended_unix_ms = p->ended_unix_ms};
		TEXT_COPY(one.role, p->role);
		TEXT_COPY(one.name, p->name);
		who_add(to, &one);
	}
}

/* Living processes are added first, so that a search finds them first. */
static void who_of_job(const struct world *w, const struct job *j, const struct heapload_want *want, const char *dir,
		       struct who *to)
{
	const struct members_want members = {
		.ask = true, .job_id = j->id, .uid = j->uid, .root = j->pid, .group = j->cgroup};
	struct store *s = NULL;
	char note[256];
	struct fault f;
	who_living(w, &members, to);
	if (store_open(want->state, STORE_READ, &s, note, &f) != 0)
		return;
	ignore(store_each_process(s, j->id, who_dead, to), "without it processes are shown without their ranks");
	store_close(s);
	who_ended(dir, to);
}

/* ---- loading ---- */

struct loading {
	struct heapset *set;
	struct heapread *reader;
};

static void loading_done(struct loading *l)
{
	heapread_free(l->reader);
	heapset_free(l->set);
}

static int loading_open(const struct world *w, const struct who *who, const struct heapload_want *want,
			struct loading *l)
{
	const struct heapread_want read = {
		.who = who ? who->row : NULL, .n_who = who ? who->n : 0, .resident_ns = want->resident_ns};
	l->set = heapset_new(HEAPSET_SAMPLED);
	l->reader = l->set ? heapread_new(w, l->set, &read) : NULL;
	return l->reader && (!who || !who->failed) ? 0 : -ENOMEM;
}

static void loaded(struct loading *l, struct heapload_loaded *ret)
{
	ret->n_remarks = heapread_remarks(l->reader, ret->remarks, ARRAY_SIZE(ret->remarks));
	ret->set = take(&l->set);
}

static int newest_attempt(const char *dir, uint32_t most, uint32_t *ret)
{
	for (uint32_t a = most + 1; a > 0; a--) {
		char path[PATH_MAX];
		struct stat st;
		TEXT_FORMAT(path, "%s/attempt-%u/heap", dir, a - 1);
		if (stat(path, &st) == 0) {
			*ret = a - 1;
			return 0;
		}
		if (errno == EACCES)
			return -EACCES;
	}
	return HEAPREAD_NONE;
}

static int denied(const struct job *j, struct fault *f)
{
	return fault_set(f, WORLD_DENIED,
			 "the heap profiles of job %s may be read by whoever started it, and by root: run vigil as one "
			 "of them",
			 j->id);
}

int heapload_job(const struct world *w, const struct job *j, const struct heapload_want *want,
		 struct heapload_loaded *ret, struct fault *f)
{
	cleanup(who_done) struct who who = {.n = 0};
	cleanup(loading_done) struct loading l = {.set = NULL};
	char dir[PATH_MAX], path[PATH_MAX];
	struct stat st;
	uint32_t attempt = want->attempt;
	TEXT_FORMAT(dir, "%s/jobs/%s", want->state, j->id);
	int r = want->has_attempt ? 0 : newest_attempt(dir, j->attempt, &attempt);
	if (r < 0)
		return denied(j, f);
	if (r && j->ended_unix_ms == 0)
		return fault_set(f, HEAPREAD_NONE,
				 "job %s has no heap profile: it was not started with --heap. 'vigil heap %s --attach' "
				 "begins one now in what runs; 'vigil run --heap -- %.160s' from the start",
				 j->id, j->id, j->command);
	if (r)
		return fault_set(f, HEAPREAD_NONE,
				 "job %s has no heap profile: it was not started with --heap. Start it with 'vigil run "
				 "--heap -- %.200s'",
				 j->id, j->command);
	if (text_format(path, sizeof(path), "%s/attempt-%u/heap%s", dir, attempt, want->warn ? "/warn" : "") >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	if (stat(path, &st) < 0 && errno == EACCES)
		return denied(j, f);
	if (stat(path, &st) < 0)
		return fault_set(f, errno == ENOENT ? HEAPREAD_NONE : -errno,
				 want->warn
					 ? "attempt %u of job %s has no copies: memory never got short"
					 : "attempt %u of job %s has no heap profile: it was not started with --heap",
				 attempt, j->id);
	who_of_job(w, j, want, dir, &who);
	r = loading_open(w, &who, want, &l);
	if (r == 0)
		r = heapread_folder(l.reader, AT_FDCWD, path, 0, f);
	if (r == HEAPREAD_NONE && !want->warn && j->ended_unix_ms > 0 && heapread_is_empty(l.reader))
		return fault_set(f, r,
				 "job %s has ended, and none of its processes left a heap profile: each had asked for "
				 "less than about a MiB, or is a program that the library cannot be loaded into (a "
				 "static one, or of musl), or asked in libraries that were opened with RTLD_DEEPBIND, "
				 "which are not seen; --what growth sees those while they run",
				 j->id);
	if (r == 0)
		loaded(&l, ret);
	return r;
}

/* Folder of the profile of a process that agent/heap/heapattach attached to. False: there is none. */
static bool attached_folder(const struct world *w, pid_t pid, const char *state, char *dst, size_t cap)
{
	cleanup(closep) int theirs = -1;
	struct proc_stat p;
	struct stat st;
	if (proc_stat_read(w, pid, &p) != 0)
		return false;
	(void)text_format(dst, cap, "%s/heap/pid-%d-%llu", state, (int)pid, (unsigned long long)p.start_ticks);
	if (stat(dst, &st) == 0)
		return true;
	(void)text_format(dst, cap, "/tmp/vigil-heap-%d-%llu", (int)pid, (unsigned long long)p.start_ticks);
	return procfile_folder(w, pid, dst, &theirs) == 0;
}

static bool is_in_state(const char *state, const char *dir)
{
	size_t len = strlen(state);
	return strncmp(dir, state, len) == 0 && dir[len] == '/' && !strstr(dir, "/../");
}

/*
 * A folder of our state directory: folders in it were given to users, whose links may lead nowhere else. Without root
 * nothing was given to anybody.
 */
static int state_folder_open(const char *state, const char *dir)
{
	int fd = -1;
	if (geteuid() != 0)
		return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closep) int top = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct foreign_place below = {.dirfd = top, .flags = FOREIGN_IN_ROOT};
	return top >= 0 && foreign_folder(&below, dir + strlen(state), &fd) == 0 ? fd : -1;
}

/*
 * Opens the folder that a process names, or that was made for it; -1: it cannot be. *ret_seen_by: 0 for a folder of our
 * own state directory, else the process, through which it is seen.
 */
static int heapload_folder_open(const struct world *w, pid_t pid, const char *state, const char *dir,
				pid_t *ret_seen_by)
{
	int fd = -1;
	bool ours = is_in_state(state, dir);
	*ret_seen_by = ours ? 0 : pid;
	if (ours)
		return state_folder_open(state, dir);
	return procfile_folder(w, pid, dir, &fd) == 0 ? fd : -1;
}

/* True: the folder has a profile of this process, by its own pid number. */
static bool has_profile(const struct world *w, pid_t pid, const char *state, const char *dir)
{
	pid_t seen_by;
	cleanup(closep) int fd = heapload_folder_open(w, pid, state, dir, &seen_by);
	struct proc_stat p;
	struct heapfolder all;
	bool has = false;
	pid_t inner = inner_pid(w, pid);
	if (fd < 0 || proc_stat_read(w, pid, &p) != 0 || heapfolder_read_fd(NULL, fd, &all) < 0)
		return false;
	for (size_t i = 0; i < all.n; i++)
		has |= all.file[i].pid == inner && all.file[i].start_ticks == p.start_ticks;
	heapfolder_done(&all);
	return has;
}

/*
 * Folder of an attached ancestor with a profile of this process: a child forked after the attach leaves its profile
 * there.
 */
static bool parents_folder(const struct world *w, pid_t pid, const char *state, char *dst, size_t cap)
{
	struct proc_stat p;
	pid_t up = pid;
	for (int i = 0; i < GENERATIONS && proc_stat_read(w, up, &p) == 0 && p.ppid > 1; i++) {
		up = p.ppid;
		if (attached_folder(w, up, state, dst, cap) && has_profile(w, pid, state, dst))
			return true;
	}
	return false;
}

/* False: the process has no loader, so no library can be loaded into it. True where its maps may not be read. */
static bool has_loader(const struct world *w, pid_t pid)
{
	struct maps maps;
	bool found = false;
	if (maps_read(w, pid, &maps) != 0)
		return true;
	for (size_t i = 0; i < maps.n && !found; i++) {
		const char *slash = strrchr(maps.rows[i].path, '/');
		found = slash && strncmp(slash, "/ld", 3) == 0;
	}
	maps_done(&maps);
	return found;
}

static int folder_of(const struct world *w, pid_t pid, const char *state, char *dst, size_t cap, struct fault *f)
{
	cleanup(freep) char *block = malloc(ENVIRON_MAX);
	size_t len = 0;
	if (!block)
		return -ENOMEM;
	int r = proc_environ_read(w, pid, block, ENVIRON_MAX, &len);
	if (r == WORLD_DENIED)
		return fault_set(f, r,
				 "we may not look into process %d: run vigil as its user or as root (it takes the "
				 "rights of a tracer)",
				 (int)pid);
	if (r)
		return fault_set(f, HEAPREAD_NONE, "process %d has ended", (int)pid);
	struct span dir = environ_get((struct span){block, len}, "VIGIL_HEAP_DIR");
	if ((!dir.p || dir.len == 0) &&
	    (attached_folder(w, pid, state, dst, cap) || parents_folder(w, pid, state, dst, cap)))
		return 0;
	if ((!dir.p || dir.len == 0) && !has_loader(w, pid))
		return fault_set(f, HEAPREAD_NONE,
				 "process %d is a static program: it leaves no heap profile, and no library can be "
				 "loaded into it. 'vigil heap %d --what growth' shows where its memory grows",
				 (int)pid, (int)pid);
	if (!dir.p || dir.len == 0)
		return fault_set(
			f, HEAPREAD_NONE,
			"process %d leaves no heap profile: it was not started with --heap. 'vigil heap %d --attach' "
			"begins one now; 'vigil run --heap -- COMMAND' from the start",
			(int)pid, (int)pid);
	(void)text_format(dst, cap, "%.*s", (int)dir.len, dir.p);
	return 0;
}

int heapload_pid(const struct world *w, pid_t pid, const struct heapload_want *want, struct heapload_loaded *ret,
		 struct fault *f)
{
	cleanup(who_done) struct who who = {.n = 0};
	cleanup(loading_done) struct loading l = {.set = NULL};
	char dir[PATH_MAX];
	const struct members_want members = {.ask = true, .root = pid};
	int r = folder_of(w, pid, want->state, dir, sizeof(dir), f);
	if (r)
		return r;
	who_living(w, &members, &who);
	r = loading_open(w, &who, want, &l);
	if (r)
		return r;
	pid_t seen_by;
	cleanup(closep) int at = heapload_folder_open(w, pid, want->state, dir, &seen_by);
	if (at < 0)
		return fault_set(f, HEAPREAD_NONE, "the folder of heap profiles of process %d cannot be opened: %s",
				 (int)pid, dir);
	size_t got = 0;
	heapread_as_seen_by(l.reader, seen_by);
	for (size_t i = 0; i < who.n; i++) {
		struct fault why = {.text = ""};
		int e = heapread_folder(l.reader, at, dir, who.row[i].pid, &why);
		got += e == 0;
		if (e && (r == 0 || who.row[i].pid == pid)) {
			r = e;
			*f = why;
		}
	}
	if (got == 0)
		return r ? r : fault_set(f, HEAPREAD_NONE, "process %d has ended", (int)pid);
	loaded(&l, ret);
	return 0;
}

/* Finds STATE/heap/pid-PID-START with the latest start. */
static int attached_dead(pid_t pid, const char *state, char *dst, size_t cap)
{
	char dir[PATH_MAX], prefix[32];
	uint64_t start, last = 0;
	TEXT_FORMAT(dir, "%s/heap", state);
	TEXT_FORMAT(prefix, "pid-%d-", (int)pid);
	DIR *d = opendir(dir);
	if (!d)
		return -errno;
	for (const struct dirent *e; (e = readdir(d));)
		if (span_starts(span_of(e->d_name), prefix) &&
		    span_u64(span_of(e->d_name + strlen(prefix)), &start) == 0)
			last = MAX(last, start);
	(void)closedir(d);
	(void)text_format(dst, cap, "%s/%s%llu", dir, prefix, (unsigned long long)last);
	return last ? 0 : HEAPREAD_NONE;
}

int heapload_dead(const struct world *w, pid_t pid, const struct heapload_want *want, struct heapload_loaded *ret,
		  struct fault *f)
{
	char dir[PATH_MAX];
	if (attached_dead(pid, want->state, dir, sizeof(dir)) != 0)
		return HEAPREAD_NONE;
	return heapload_path(w, dir, want, ret, f);
}

static int of_file(const struct world *w, const char *path, const struct heapload_want *want,
		   struct heapload_loaded *ret, struct fault *f)
{
	cleanup(loading_done) struct loading l = {.set = NULL};
	char head[16];
	size_t len = 0;
	const struct foreign_place at = {.dirfd = AT_FDCWD, .flags = FOREIGN_LINKS | FOREIGN_TYPED};
	cleanup(closep) int fd = -1;
	int r = foreign_open(&at, path, &fd);
	if (r > 0)
		return fault_set(f, -EINVAL, "%s is no file that could be read", path);
	if (r == 0)
		r = file_read_from(fd, 0, head, sizeof(head), &len);
	if (r < 0)
		return fault_set(f, r, "%s cannot be read: %s", path, strerror(-r));
	if (!heapregion_is(head, len) && torchsnap_is(head, len)) {
		struct heapset *set = NULL;
		r = torchsnap_read(path, &set, ret->remarks, ARRAY_SIZE(ret->remarks), &ret->n_remarks, f);
		if (r == 0)
			ret->set = set;
		return r == 0 || r < 0 ? r : HEAPREAD_DAMAGED;
	}
	r = loading_open(w, NULL, want, &l);
	if (r == 0)
		r = heapread_file(l.reader, path, f);
	if (r == 0)
		loaded(&l, ret);
	return r;
}

int heapload_path(const struct world *w, const char *path, const struct heapload_want *want,
		  struct heapload_loaded *ret, struct fault *f)
{
	cleanup(loading_done) struct loading l = {.set = NULL};
	struct stat st;
	if (stat(path, &st) < 0)
		return fault_set(f, -errno, "%s cannot be read: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return of_file(w, path, want, ret, f);
	int r = loading_open(w, NULL, want, &l);
	if (r == 0)
		r = heapread_folder(l.reader, AT_FDCWD, path, 0, f);
	if (r == 0)
		loaded(&l, ret);
	return r;
}
