#include "sense/proc/procstats.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/proc.h"

enum { FILE_STAT, FILE_IO, FILE_SCHEDSTAT, FILES };

/* tid 0: the process as a whole. */
struct kept {
	pid_t pid, tid;
	uint32_t round;
	int fd[FILES];
};

struct procstats {
	const struct world *w;
	size_t most_fds, n_fds;
	uint32_t round;
	struct kept *item; /* an open hash table */
	size_t n, cap; /* cap: a power of two */
};

int procstats_io_parse(struct span text, struct procstats_io *ret)
{
	struct procstats_io io;
	if (text_field_u64(text, "rchar", &io.read_bytes) < 0 || text_field_u64(text, "wchar", &io.write_bytes) < 0 ||
	    text_field_u64(text, "syscr", &io.read_calls) < 0 || text_field_u64(text, "syscw", &io.write_calls) < 0 ||
	    text_field_u64(text, "read_bytes", &io.disk_read_bytes) < 0 ||
	    text_field_u64(text, "write_bytes", &io.disk_write_bytes) < 0)
		return -EBADMSG;
	*ret = io;
	return 0;
}

int procstats_schedstat_parse(struct span text, struct procstats_thread *ret)
{
	uint64_t v[3];
	struct span word;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (!span_word(&text, &word) || span_u64(word, &v[i]) < 0)
			return -EBADMSG;
	ret->run_ns = v[0];
	ret->queued_ns = v[1];
	ret->slices = v[2];
	ret->has_schedule = true;
	return 0;
}

/* ---- files that are kept open ---- */

static size_t procstats_slot(const struct procstats *v, pid_t pid, pid_t tid)
{
	size_t at = ((size_t)pid * 2654435761u + (size_t)tid * 40503u) & (v->cap - 1);
	while (v->item[at].pid && (v->item[at].pid != pid || v->item[at].tid != tid))
		at = (at + 1) & (v->cap - 1);
	return at;
}

static void kept_close(struct procstats *v, struct kept *k)
{
	for (size_t i = 0; i < FILES; i++) {
		v->n_fds -= k->fd[i] >= 0;
		closep(&k->fd[i]);
	}
}

struct procstats *procstats_new(const struct world *w, size_t most_fds)
{
	struct procstats *v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->w = w;
	v->most_fds = most_fds;
	v->cap = 256;
	v->item = calloc(v->cap, sizeof(*v->item));
	return v->item ? v : procstats_free(v);
}

struct procstats *procstats_free(struct procstats *v)
{
	if (!v)
		return NULL;
	for (size_t i = 0; v->item && i < v->cap; i++)
		if (v->item[i].pid)
			kept_close(v, &v->item[i]);
	free(v->item);
	free(v);
	return NULL;
}

/* Moves to a new table the files of the round before (or all), with room for as many more. */
static void rebuild(struct procstats *v, size_t cap, bool all)
{
	struct kept *old = v->item;
	size_t old_cap = v->cap;
	struct kept *fresh = calloc(cap, sizeof(*fresh));
	if (!fresh)
		return; /* the old table is kept when memory is short */
	v->item = fresh;
	v->cap = cap;
	v->n = 0;
	for (size_t i = 0; i < old_cap; i++) {
		if (!old[i].pid)
			continue;
		if (!all && old[i].round != v->round) {
			kept_close(v, &old[i]);
			continue;
		}
		v->item[procstats_slot(v, old[i].pid, old[i].tid)] = old[i];
		v->n++;
	}
	free(old);
}

void procstats_round(struct procstats *v)
{
	size_t stale = 0;
	for (size_t i = 0; i < v->cap; i++)
		stale += v->item[i].pid && v->item[i].round != v->round;
	if (stale)
		rebuild(v, v->cap, false);
	v->round++;
}

/* The kept files of a thread; NULL without memory: files are then opened for each read. */
static struct kept *kept_for(struct procstats *v, pid_t pid, pid_t tid)
{
	if (v->n * 2 >= v->cap)
		rebuild(v, v->cap * 2, true);
	if (v->n * 2 >= v->cap)
		return NULL;
	struct kept *k = &v->item[procstats_slot(v, pid, tid)];
	if (!k->pid) {
		*k = (struct kept){.pid = pid, .tid = tid, .fd = {-1, -1, -1}};
		v->n++;
	}
	k->round = v->round;
	return k;
}

static int procstats_text_read(struct procstats *v, struct kept *k, size_t file, pid_t pid, pid_t tid, char *buf,
			       size_t cap, size_t *ret_len)
{
	static const char *const names[] = {"stat", "io", "schedstat"};
	char path[64];
	if (k && k->fd[file] >= 0)
		return world_condition(file_read_once(k->fd[file], buf, cap, ret_len));
	if (tid)
		TEXT_FORMAT(path, "%d/task/%d/%s", pid, tid, names[file]);
	else
		TEXT_FORMAT(path, "%d/%s", pid, names[file]);
	cleanup(closep) int fd = openat(v->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	int r = world_condition(file_read_once(fd, buf, cap, ret_len));
	if (r == 0 && k && v->n_fds < v->most_fds) {
		k->fd[file] = take_fd(&fd);
		v->n_fds++;
	}
	return r;
}

/* The number may have been reused: the new process is read from the next round on. */
static int gone(struct procstats *v, struct kept *k, int r)
{
	if (r == WORLD_GONE && k)
		kept_close(v, k);
	return r;
}

static bool io_read(struct procstats *v, struct kept *k, pid_t pid, pid_t tid, struct procstats_io *ret)
{
	char text[512];
	size_t len;
	return procstats_text_read(v, k, FILE_IO, pid, tid, text, sizeof(text), &len) == 0 &&
	       procstats_io_parse((struct span){text, len}, ret) == 0;
}

static struct span last_word(struct span text)
{
	struct span word = {NULL, 0}, next;
	while (span_word(&text, &next))
		word = next;
	return word;
}

int procstats_process_read(struct procstats *v, pid_t pid, struct procstats_process *ret)
{
	char text[1024], text2[128];
	size_t len;
	struct proc_stat st;
	struct kept *k = kept_for(v, pid, 0);
	uint64_t tick_ns = NS_PER_S / v->w->ticks_per_s;
	int r = procstats_text_read(v, k, FILE_STAT, pid, 0, text, sizeof(text), &len);
	if (r)
		return gone(v, k, r);
	r = proc_stat_parse((struct span){text, len}, &st);
	if (r)
		return r;
	struct procstats_process p = {
		.pid = pid,
		.ppid = st.ppid,
		.start_ticks = st.start_ticks,
		.state = st.state,
		.threads = st.threads,
		.user_ns = st.utime_ticks * tick_ns,
		.system_ns = st.stime_ticks * tick_ns,
		.reaped_ns = st.reaped_ticks * tick_ns,
		.major_faults = st.major_faults,
	};
	TEXT_COPY(p.comm, st.comm);
	struct span last = last_word((struct span){text, len});
	struct procstats_thread main;
	if (procstats_text_read(v, k, FILE_SCHEDSTAT, pid, 0, text2, sizeof(text2), &len) == 0 &&
	    procstats_schedstat_parse((struct span){text2, len}, &main) == 0) {
		p.has_schedule = true;
		p.main_run_ns = main.run_ns;
		p.main_queued_ns = main.queued_ns;
	}
	p.has_io = io_read(v, k, pid, 0, &p.io);
	uint64_t status;
	/* a reader without the rights of a tracer gets 0 instead of the status */
	if (st.state == 'Z' && p.has_io && span_u64(last, &status) == 0 && status <= UINT16_MAX) {
		p.has_status = true;
		p.wait_status = (int32_t)status;
	}
	*ret = p;
	return 0;
}

static int thread_read(struct procstats *v, pid_t pid, pid_t tid, struct procstats_thread *ret)
{
	char text[1024];
	size_t len;
	struct proc_stat st;
	struct kept *k = kept_for(v, pid, tid);
	int r = procstats_text_read(v, k, FILE_STAT, pid, tid, text, sizeof(text), &len);
	if (r)
		return gone(v, k, r);
	r = proc_stat_parse((struct span){text, len}, &st);
	if (r)
		return r;
	struct procstats_thread t = {
		.tid = tid,
		.start_ticks = st.start_ticks,
		.state = st.state,
		.run_ns = (st.utime_ticks + st.stime_ticks) * (NS_PER_S / v->w->ticks_per_s),
	};
	TEXT_COPY(t.comm, st.comm);
	if (procstats_text_read(v, k, FILE_SCHEDSTAT, pid, tid, text, sizeof(text), &len) == 0)
		ignore(procstats_schedstat_parse((struct span){text, len}, &t), "the ticks of stat stay");
	t.has_io = io_read(v, k, pid, tid, &t.io);
	*ret = t;
	return 0;
}

int procstats_threads_read(struct procstats *v, pid_t pid, struct procstats_thread *ret, size_t cap, size_t *ret_n)
{
	char path[32];
	size_t n = 0, all = 0;
	TEXT_FORMAT(path, "%d/task", pid);
	int fd = openat(v->w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return -errno;
	for (const struct dirent *e; (e = readdir(d));) {
		uint64_t tid;
		if (span_u64(span_of(e->d_name), &tid) < 0 || tid > INT32_MAX)
			continue;
		all++;
		if (n < cap && thread_read(v, pid, (pid_t)tid, &ret[n]) == 0)
			n++;
		else if (n < cap)
			all--; /* a thread that ended */
	}
	if (all == 0)
		return WORLD_GONE;
	*ret_n = all;
	return 0;
}
