#include "agent/hang/hangmakers.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/hang/hangrespawns.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/makers.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"

#define FOLDER_PATH 256 /* longer ones are not watched */
/* At one look so many processes are asked for their folders, main ones first, and so many arguments tried of each. */
#define PROCESSES_MOST 16
#define ARGUMENTS_MOST 8
static const uint64_t look_most_ns = 500 * NS_PER_MS;
#define FILES_MOST 32 /* descriptors of a main process that are looked at */
#define CURRENT_FOLDER (-1) /* in the place of a descriptor */
/* Of more files between two samples it would take too much time to learn who makes them: then it is given up. */
#define ROWS_MOST 2000

struct hangmakers_job {
	const struct hangprocs *procs; /* of its last sample; borrowed */
	struct filehist hist;
	char path[FILEHIST_FOLDERS][FOLDER_PATH]; /* of the folders that are watched, as the process names them */
	struct hang_end end[HANG_ENDS]; /* of its processes, those of the last seconds, the newest first */
	size_t n_ends;
	uint64_t steps;
	bool slow; /* opening its folders took long, as on storage that does not answer: it is not looked for more */
};

struct hangmakers {
	const struct world *w;
	struct makers *kernel; /* NULL: not needed so far, or not permitted */
	bool denied;
	struct hangmakers_job *job[HANG_JOBS]; /* NULL: nothing is learned of it */
	char arguments[8192], bytes[MAKERS_BYTES];
};

struct hangmakers *hangmakers_new(const struct world *w)
{
	struct hangmakers *h = calloc(1, sizeof(*h));
	if (h)
		h->w = w;
	return h;
}

void hangmakers_forget(struct hangmakers *h, size_t job)
{
	bool any = false;
	if (!h || job >= HANG_JOBS)
		return;
	free(h->job[job]);
	h->job[job] = NULL;
	for (size_t i = 0; i < HANG_JOBS; i++)
		any |= h->job[i] != NULL;
	if (!any)
		h->kernel = makers_free(h->kernel); /* and all its folders */
}

const struct filehist *hangmakers_of(const struct hangmakers *h, size_t job)
{
	return h && job < HANG_JOBS && h->job[job] ? &h->job[job]->hist : NULL;
}

/* ---- which folders ---- */

static bool is_known(const struct hangmakers_job *j, const char *path)
{
	for (size_t i = 0; i < j->hist.n_folders; i++)
		if (strcmp(j->path[i], path) == 0)
			return true;
	return false;
}

/* True of the system's own folders, in which a job makes nothing. */
static bool is_system_folder(const char *path)
{
	static const char *const tops[] = {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"};
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		const size_t len = strlen(tops[i]);
		if (strncmp(path, tops[i], len) == 0 && (path[len] == '/' || path[len] == '\0'))
			return true;
	}
	return strcmp(path, "/") == 0;
}

static void folder_watch(struct hangmakers *h, struct hangmakers_job *j, pid_t pid, const char *path)
{
	cleanup(closep) int fd = -1;
	const size_t at = j->hist.n_folders;
	uint64_t folder;
	if (path[0] != '/' || strlen(path) >= FOLDER_PATH || at == FILEHIST_FOLDERS || is_known(j, path) ||
	    is_system_folder(path) || procfile_folder(h->w, pid, path, &fd) != 0 || makers_folder(fd, &folder) != 0 ||
	    filehist_watches(&j->hist, folder) || makers_watch(h->kernel, fd) != 0)
		return;
	TEXT_COPY(j->path[at], path);
	ignore(filehist_watch(&j->hist, folder), "there is room");
}

/* The current folder of a process, or what it has open as fd; "": unknown. */
static void link_of(const struct world *w, pid_t pid, int fd, char *dst, size_t cap)
{
	char link[40];
	if (fd == CURRENT_FOLDER)
		TEXT_FORMAT(link, "%d/cwd", (int)pid);
	else
		TEXT_FORMAT(link, "%d/fd/%d", (int)pid, fd);
	const ssize_t n = readlinkat(w->proc_fd, link, dst, cap - 1);
	dst[n > 0 && (size_t)n < cap - 1 ? (size_t)n : 0] = '\0';
}

/* A word that may name a folder: what stands behind the first '=' of an option, if it has a '/' at all. */
static const char *folder_in(const char *word)
{
	const char *value = word[0] == '-' ? strchr(word, '=') : word;
	value = value && value != word ? value + 1 : value;
	return value && strchr(value, '/') ? value : NULL;
}

static void arguments_watch(struct hangmakers *h, struct hangmakers_job *j, pid_t pid, const char *cwd)
{
	char path[PATH_MAX];
	size_t len = 0, tried = 0;
	if (proc_arguments_read(h->w, pid, h->arguments, sizeof(h->arguments), &len) != 0)
		return;
	for (size_t at = 0; at < len && tried < ARGUMENTS_MOST; at += strlen(h->arguments + at) + 1) {
		const char *word = at > 0 ? folder_in(h->arguments + at) : NULL;
		if (!word)
			continue;
		tried++;
		if (word[0] == '/')
			TEXT_COPY(path, word);
		else
			TEXT_FORMAT(path, "%s/%s", cwd, word);
		folder_watch(h, j, pid, path);
	}
}

/* True if this descriptor lets it write. */
static bool may_write(const struct world *w, pid_t pid, int fd)
{
	char name[40];
	cleanup(freep) char *text = NULL;
	size_t len;
	TEXT_FORMAT(name, "%d/fdinfo/%d", (int)pid, fd);
	return file_slurp(w->proc_fd, name, 4096, &text, &len) == 0 && procfile_writes_parse(text);
}

/* The folders of files that it writes: logs, results. */
static void written_watch(struct hangmakers *h, struct hangmakers_job *j, pid_t pid)
{
	char path[FOLDER_PATH];
	for (int fd = 0; fd < FILES_MOST; fd++) {
		link_of(h->w, pid, fd, path, sizeof(path));
		char *name = strrchr(path, '/');
		if (path[0] != '/' || name == path)
			continue;
		*name = '\0';
		if (!is_known(j, path) && !is_system_folder(path) && may_write(h->w, pid, fd))
			folder_watch(h, j, pid, path);
	}
}

static void process_watch(struct hangmakers *h, struct hangmakers_job *j, pid_t pid, bool main)
{
	char cwd[FOLDER_PATH];
	link_of(h->w, pid, CURRENT_FOLDER, cwd, sizeof(cwd));
	if (!cwd[0])
		return;
	folder_watch(h, j, pid, cwd);
	if (!main)
		return;
	arguments_watch(h, j, pid, cwd);
	written_watch(h, j, pid);
}

/* Ever more rarely, as most programs go to their folder at the beginning. */
static bool is_time(uint64_t steps)
{
	return (steps & (steps - 1)) == 0;
}

static void folders_look(struct hangmakers *h, struct hangmakers_job *j, const struct hangprocs *procs)
{
	const uint64_t began_ns = h->w->mono_ns();
	size_t n = 0;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < procs->n_now && n < PROCESSES_MOST && !j->slow; i++) {
			const struct hangprocs_member *m = &procs->now[i];
			if (m->main != (turn == 0) || m->state == 'Z')
				continue;
			process_watch(h, j, m->pid, m->main);
			j->slow = h->w->mono_ns() - began_ns > look_most_ns;
			n++;
		}
}

/* ---- what was made ---- */

/* What a process of the job has made may be a folder, in which it makes files then. */
static void below_watch(struct hangmakers *h, struct hangmakers_job *j, const struct makers_row *r)
{
	char path[FOLDER_PATH * 2];
	for (size_t i = 0; i < j->hist.n_folders; i++) {
		if (j->hist.folder[i].folder != r->folder)
			continue;
		TEXT_FORMAT(path, "%s/%s", j->path[i], r->name);
		folder_watch(h, j, r->pid, path);
		return;
	}
}

/* Takes those of its processes that have ended so lately that no other one has their numbers yet. */
static void ends_take(struct hangmakers_job *j, const struct hang_respawns *ends, uint32_t attempt, int64_t now_unix_ms)
{
	const int64_t most_ms = 10000;
	const size_t n = hangrespawns_ends(ends, attempt, j->end);
	j->n_ends = 0;
	while (j->n_ends < n && now_unix_ms - j->end[j->n_ends].time_unix_ms < most_ms)
		j->n_ends++;
}

static bool has_just_ended(const struct hangmakers_job *j, pid_t pid)
{
	for (size_t i = 0; i < j->n_ends; i++)
		if (j->end[i].pid == pid)
			return true;
	return false;
}

static void row_give(struct hangmakers *h, const struct makers_row *r)
{
	for (size_t i = 0; i < HANG_JOBS; i++) {
		struct hangmakers_job *j = h->job[i];
		if (!j)
			continue;
		j->hist.lost |= r->lost;
		const bool ours = hangprocs_knows(j->procs, r->pid) || has_just_ended(j, r->pid);
		filehist_add(&j->hist, &(struct filehist_row){.folder = r->folder,
							      .name = r->name,
							      .pid = r->pid,
							      .ours = ours,
							      .came = r->came,
							      .went = r->went});
		if (r->is_folder && r->came && ours)
			below_watch(h, j, r);
	}
}

/* Nothing is learned any more, and what is known may have changed. */
static void give_up(struct hangmakers *h)
{
	for (size_t i = 0; i < HANG_JOBS; i++)
		if (h->job[i])
			h->job[i]->hist.lost = true;
	h->kernel = makers_free(h->kernel);
	h->denied = true;
}

static void rows_take(struct hangmakers *h)
{
	struct makers_row row;
	size_t n = 0, len = 0;
	while (makers_read(h->kernel, h->bytes, &len) == 0 && len > 0) {
		for (struct span rest = {h->bytes, len}; makers_next(&rest, &row); n++)
			row_give(h, &row);
		if (n > ROWS_MOST) {
			give_up(h);
			return;
		}
	}
}

void hangmakers_step(struct hangmakers *h, size_t job, const struct hangprocs *procs, const struct hang_respawns *ends,
		     uint32_t attempt)
{
	if (!h || h->denied || job >= HANG_JOBS)
		return;
	if (!h->kernel && makers_open(h->w, &h->kernel) != 0) {
		h->denied = true;
		return;
	}
	if (!h->job[job])
		h->job[job] = calloc(1, sizeof(*h->job[job]));
	struct hangmakers_job *j = h->job[job];
	if (!j)
		return;
	j->procs = procs;
	ends_take(j, ends, attempt, h->w->unix_ms());
	rows_take(h);
	for (size_t i = 0; i < j->n_ends; i++)
		filehist_end(&j->hist, j->end[i].pid, j->end[i].wait_status);
	if (h->kernel && !j->slow && is_time(++j->steps))
		folders_look(h, j, procs);
}
