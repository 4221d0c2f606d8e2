#include "sense/framework/raylogs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/procfile.h"

#define OUTPUT_BYTES (64 * KIB) /* of a worker's output, at its beginning and at its end */

int raylogs_open(const struct world *w, pid_t via, const char *folder, struct raylogs *ret)
{
	struct raylogs l = RAYLOGS_NONE;
	int r = procfile_user(w, via, &l.user);
	if (r == 0)
		r = procfile_folder(w, via, folder, &l.fd);
	if (r)
		return r;
	TEXT_COPY(l.folder, folder);
	*ret = l;
	return 0;
}

void raylogs_done(struct raylogs *l)
{
	closep(&l->fd);
	*l = RAYLOGS_NONE;
}

int raylogs_list(const struct raylogs *l, DIR **ret)
{
	/* a descriptor of its own: copies share the place in the list */
	int fd = openat(l->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	DIR *d = file_folder(fd);
	if (!d)
		return -errno;
	*ret = d;
	return 0;
}

void raylogs_title_parse(struct span output, struct raylogs_title *ret)
{
	static const char task[] = ":task_name:", actor[] = ":actor_name:", job[] = ":job_id:";
	struct raylogs_title t = {.title = ""};
	struct span line;
	char name[sizeof(t.title) - 8];
	while (span_line(&output, &line)) {
		struct span of = span_starts(line, task)    ? span_after(line, task)
				 : span_starts(line, actor) ? span_after(line, actor)
							    : (struct span){NULL, 0};
		if (span_starts(line, job))
			span_copy(span_after(line, job), t.job_id, sizeof(t.job_id));
		if (of.p && of.len > 0) {
			span_copy(of, name, sizeof(name));
			TEXT_FORMAT(t.title, "ray::%s", name);
		}
	}
	*ret = t;
}

/* "worker-<id>-<job>-<pid>.out" */
static bool is_output_of(const char *name, pid_t pid)
{
	char end[32];
	size_t n = strlen(name), m;
	TEXT_FORMAT(end, "-%d.out", (int)pid);
	m = strlen(end);
	return strncmp(name, "worker-", 7) == 0 && n > m && strcmp(name + n - m, end) == 0;
}

/* By the beginning of its output, where the job stands, and its end, where the last task does. */
static void title_read(int fd, const struct stat *st, struct raylogs_title *ret)
{
	cleanup(freep) char *text = malloc(OUTPUT_BYTES);
	struct raylogs_title end = {.title = ""};
	size_t len;
	uint64_t from = st->st_size > (off_t)OUTPUT_BYTES ? (uint64_t)st->st_size - OUTPUT_BYTES + 1 : 0;
	if (!text || file_read_from(fd, 0, text, OUTPUT_BYTES, &len) != 0)
		return;
	raylogs_title_parse((struct span){text, len}, ret);
	if (from == 0 || file_read_from(fd, from, text, OUTPUT_BYTES, &len) != 0)
		return;
	raylogs_title_parse((struct span){text, len}, &end);
	if (end.title[0])
		TEXT_COPY(ret->title, end.title);
	if (end.job_id[0])
		TEXT_COPY(ret->job_id, end.job_id);
}

int raylogs_worker(const struct raylogs *l, pid_t pid, struct rayworker *ret, struct raylogs_title *ret_title)
{
	cleanup(closedirp) DIR *d = NULL;
	int64_t latest = -1;
	int r = raylogs_list(l, &d);
	if (r)
		return r;
	const struct foreign_place at = {.dirfd = dirfd(d), .as = &l->user};
	for (const struct dirent *e; (e = readdir(d));) {
		cleanup(closep) int fd = -1;
		char path[sizeof(l->folder) + 300];
		struct rayworker worker;
		struct raylogs_title title = {.title = ""};
		struct stat st;
		TEXT_FORMAT(path, "%s/%s", l->folder, e->d_name);
		if (!is_output_of(e->d_name, pid) || !rayworker_parse(span_of(path), &worker) ||
		    foreign_open(&at, e->d_name, &fd) != 0 || fstat(fd, &st) < 0 || st.st_mtim.tv_sec < latest)
			continue;
		title_read(fd, &st, &title);
		latest = st.st_mtim.tv_sec;
		if (!worker.job_id[0])
			TEXT_COPY(worker.job_id, title.job_id);
		*ret = worker;
		*ret_title = title;
	}
	return latest < 0 ? WORLD_ABSENT : 0;
}
