#include "sense/speed/threadcost.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask/mask.h"
#include "sense/proc/procstats.h"
#include "sense/wait/threadlist.h"

/* Fields of stat after the name in brackets, counted from the state, which is 0. */
enum {
	STAT_MINFLT = 7,
	STAT_MAJFLT = 9,
	STAT_UTIME = 11,
	STAT_STIME = 12,
	STAT_START = 19,
	STAT_CPU = 36,
	STAT_BLOCK = 39,
	STAT_N
};

int threadcost_stat_parse(struct span text, uint64_t ns_per_tick, struct threadcost *ret)
{
	const char *end = span_rfind(text, ")"), *name = span_find(text, "(");
	uint64_t v[STAT_N] = {0};
	if (!end || !name || name > end)
		return -EBADMSG;
	struct span rest = {end + 1, text.len - (size_t)(end + 1 - text.p)}, word;
	for (size_t i = 0; i < STAT_N; i++) {
		if (!span_word(&rest, &word))
			return -EBADMSG;
		if (span_u64(word, &v[i]) < 0)
			v[i] = 0; /* the state, and numbers below 0 */
	}
	span_copy((struct span){name + 1, (size_t)(end - name - 1)}, ret->comm, sizeof(ret->comm));
	mask_name(ret->comm);
	ret->minor_faults = v[STAT_MINFLT];
	ret->major_faults = v[STAT_MAJFLT];
	ret->system_ns = v[STAT_STIME] * ns_per_tick;
	if (!ret->has_schedule)
		ret->run_ns = (v[STAT_UTIME] + v[STAT_STIME]) * ns_per_tick;
	ret->start_ticks = v[STAT_START];
	ret->processor = (uint32_t)MIN(v[STAT_CPU], UINT32_MAX);
	ret->block_ns = v[STAT_BLOCK] * ns_per_tick;
	return 0;
}

int threadcost_status_parse(struct span text, struct threadcost *ret)
{
	uint64_t voluntary, involuntary;
	if (text_field_u64(text, "voluntary_ctxt_switches", &voluntary) < 0 ||
	    text_field_u64(text, "nonvoluntary_ctxt_switches", &involuntary) < 0)
		return -EBADMSG;
	ret->voluntary = voluntary;
	ret->involuntary = involuntary;
	return 0;
}

static void schedstat_parse(struct span text, struct threadcost *ret)
{
	struct span word;
	uint64_t v[3];
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (!span_word(&text, &word) || span_u64(word, &v[i]) < 0)
			return;
	ret->run_ns = v[0];
	ret->queued_ns = v[1];
	ret->slices = v[2];
	ret->has_schedule = true;
}

static int allowed_parse(struct span status, struct cpuset_bits *ret)
{
	struct span value;
	return text_field(status, "Cpus_allowed_list", &value) < 0 || cpulist_parse(value, ret) < 0 ? -EBADMSG : 0;
}

static int schedstat_read(const struct world *w, pid_t pid, pid_t tid, struct threadcost *ret)
{
	char text[128];
	size_t len;
	int r = task_file_read(w, pid, tid, "schedstat", text, sizeof(text), &len);
	if (r == 0)
		schedstat_parse((struct span){text, len}, ret);
	return r;
}

/* A file that is kept open is read at a third of what it costs to open one. */
static int schedstat_again(const struct world *w, pid_t pid, pid_t tid, int fd, struct threadcost *ret)
{
	char text[128];
	size_t len;
	if (fd < 0 || file_read_once(fd, text, sizeof(text), &len) != 0)
		return schedstat_read(w, pid, tid, ret);
	schedstat_parse((struct span){text, len}, ret);
	return 0;
}

int threadcost_again(const struct world *w, pid_t pid, pid_t tid, int fd, const struct threadcost *before,
		     struct threadcost *ret)
{
	struct threadcost c = {.run_ns = 0};
	if (before->has_schedule && schedstat_again(w, pid, tid, fd, &c) == 0 && c.run_ns == before->run_ns &&
	    c.slices == before->slices && c.queued_ns == before->queued_ns) {
		*ret = *before;
		return 0;
	}
	int r = threadcost_read(w, pid, tid, &c, NULL);
	if (r == 0 && c.start_ticks != before->start_ticks)
		r = WORLD_GONE;
	if (r == 0)
		*ret = c;
	return r;
}

int threadcost_read(const struct world *w, pid_t pid, pid_t tid, struct threadcost *ret, struct cpuset_bits *allowed)
{
	struct threadcost c = {.run_ns = 0};
	char text[8192];
	size_t len;
	ignore(schedstat_read(w, pid, tid, &c), "the times of stat do");
	int r = task_file_read(w, pid, tid, "stat", text, sizeof(text), &len);
	if (r)
		return r;
	if (threadcost_stat_parse((struct span){text, len}, NS_PER_S / w->ticks_per_s, &c) < 0)
		return WORLD_GONE;
	r = task_file_read(w, pid, tid, "status", text, sizeof(text), &len);
	if (r)
		return r;
	ignore(threadcost_status_parse((struct span){text, len}, &c), "an old kernel does not count switches");
	if (allowed && allowed_parse((struct span){text, len}, allowed) < 0)
		*allowed = (struct cpuset_bits){.word = {0}};
	*ret = c;
	return 0;
}

int threadcost_allowed_read(const struct world *w, pid_t pid, pid_t tid, struct cpuset_bits *ret)
{
	char text[8192];
	size_t len;
	int r = task_file_read(w, pid, tid, "status", text, sizeof(text), &len);
	if (r)
		return r;
	return allowed_parse((struct span){text, len}, ret) < 0 ? WORLD_ABSENT : 0;
}

int iocalls_read(const struct world *w, pid_t pid, struct iocalls *ret)
{
	char text[1024], path[32];
	struct procstats_io io;
	size_t len;
	TEXT_FORMAT(path, "%d/io", pid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	if (procstats_io_parse((struct span){text, len}, &io) < 0)
		return WORLD_GONE;
	*ret = (struct iocalls){.reads = io.read_calls,
				.writes = io.write_calls,
				.read_bytes = io.read_bytes,
				.write_bytes = io.write_bytes};
	return 0;
}

static const struct threadlib_row {
	unsigned bit;
	const char *file[3]; /* beginnings of the file's name */
} threadlibs[] = {
	{THREADLIB_OPENBLAS, {"libopenblas", "libscipy_openblas"}},
	{THREADLIB_MKL, {"libmkl_core", "libmkl_rt", "libmkl_intel_thread"}},
	{THREADLIB_GOMP, {"libgomp"}},
	{THREADLIB_IOMP, {"libiomp5", "libomp.", "libomp5"}},
	{THREADLIB_TBB, {"libtbb."}},
	{THREADLIB_TORCH, {"libtorch_cpu"}},
	{THREADLIB_NUMBA, {"workqueue.c", "omppool.c", "tbbpool.c"}},
	{THREADLIB_NUMEXPR, {"interpreter.c"}},
	{THREADLIB_BLIS, {"libblis"}},
};

unsigned threadlib_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < ARRAY_SIZE(threadlibs); i++) {
		const struct threadlib_row *r = &threadlibs[i];
		for (size_t k = 0; k < ARRAY_SIZE(r->file) && r->file[k]; k++)
			if (strncmp(name, r->file[k], strlen(r->file[k])) == 0 &&
			    (r->bit != THREADLIB_NUMBA || strstr(path, "/numba/")) &&
			    (r->bit != THREADLIB_NUMEXPR || strstr(path, "/numexpr/")))
				return r->bit;
	}
	/* Debian keeps it under the name of what it stands in for: openblas-pthread/libblas.so.3. */
	return strstr(path, "/openblas") ? THREADLIB_OPENBLAS : 0;
}

unsigned threadlibs_of(const struct maps *m)
{
	unsigned found = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].flags & MAP_EXEC)
			found |= threadlib_of(m->rows[i].path);
	return found;
}

int threadlibs_read(const struct world *w, pid_t pid, unsigned *ret)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	int r = maps_read(w, pid, &m);
	if (r == 0)
		*ret = threadlibs_of(&m);
	return r;
}
