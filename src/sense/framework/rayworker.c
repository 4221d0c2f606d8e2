#include "sense/framework/rayworker.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/net/fdtarget.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"
#include "sense/rank.h"

#define RANK_LIMIT 1000000 /* keeps implausible values out of tables */
#define TAIL_BYTES 16384 /* of a log; a line has about 1 KB */

static bool is_hex(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	return s.len > 0;
}

bool rayworker_parse(struct span path, struct rayworker *ret)
{
	struct rayworker r = {.job_id = ""};
	const char *at = span_rfind(path, "/worker-");
	if (!at || path.p[0] != '/')
		return false;
	struct span folder = {path.p, (size_t)(at - path.p)};
	struct span id = span_after((struct span){at, path.len - folder.len}, "/worker-");
	struct span job = span_after(id, "-"), rest = span_after(job, "-");
	id = span_before(id, "-");
	job = span_before(job, "-");
	if (!rest.p || !is_hex(id) || !is_hex(job) || id.len < 16 || id.len >= sizeof(r.worker_id) ||
	    job.len >= sizeof(r.job_id) || folder.len >= sizeof(r.logs) || span_has(rest, "/"))
		return false;
	span_copy(id, r.worker_id, sizeof(r.worker_id));
	if (!span_eq(job, "ffffffff"))
		span_copy(job, r.job_id, sizeof(r.job_id));
	span_copy(folder, r.logs, sizeof(r.logs));
	*ret = r;
	return true;
}

bool rayworker_read(const struct world *w, pid_t pid, struct rayworker *ret)
{
	for (int fd = 1; fd <= 2; fd++) {
		char link[512];
		struct fd_link kind;
		if (fd_link_read(w, pid, fd, &kind, link, sizeof(link)) == 0 && rayworker_parse(span_of(link), ret))
			return true;
	}
	return false;
}

static bool number_after(struct span line, const char *key, int32_t *ret)
{
	const char *at = span_rfind(line, key);
	uint64_t v;
	if (!at)
		return false;
	struct span value = span_after((struct span){at, line.len - (size_t)(at - line.p)}, key);
	if (span_u64_prefix(span_trim(value), &v) < 0 || v >= RANK_LIMIT)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* A text after a key, as far as it goes without an escape. */
static void text_after(struct span line, const char *key, char *dst, size_t cap)
{
	const char *at = span_rfind(line, key);
	if (!at)
		return;
	struct span value = span_trim(span_after((struct span){at, line.len - (size_t)(at - line.p)}, key));
	if (!span_starts(value, "\""))
		return;
	value = span_before(span_after(value, "\""), "\"");
	if (!span_has(value, "\\"))
		span_copy(value, dst, cap);
}

bool rayworker_train_parse(struct span log, struct rayworker_train *ret)
{
	struct span line;
	bool found = false;
	while (span_line(&log, &line)) {
		struct rayworker_train t = {.local_rank = NO_RANK};
		/* the program's own text comes first in a line, the rank behind it */
		if (!span_starts(line, "{") || !number_after(line, "\"world_rank\":", &t.rank))
			continue;
		ignore(number_after(line, "\"local_rank\":", &t.local_rank), "then it is not known");
		text_after(line, "\"run_name\":", t.run, sizeof(t.run));
		*ret = t;
		found = true;
	}
	return found;
}

bool rayworker_train_read(const struct world *w, pid_t pid, struct rayworker_train *ret)
{
	struct rayworker r;
	char command[64], path[512], text[TAIL_BYTES];
	struct stat st;
	size_t len;
	cleanup(closep) int fd = -1;
	if (proc_command_read(w, pid, command, sizeof(command)) != 0 ||
	    !(span_starts(span_of(command), "ray::RayTrainWorker") ||
	      span_starts(span_of(command), "ray::_RayTrainWorker")) ||
	    !rayworker_read(w, pid, &r))
		return false;
	TEXT_FORMAT(path, "%s/train/ray-train-sys-worker-%s.log", r.logs, r.worker_id);
	if (procfile_open(w, pid, path, 0, &fd) != 0 || fstat(fd, &st) < 0)
		return false;
	uint64_t from = st.st_size > TAIL_BYTES ? (uint64_t)st.st_size - TAIL_BYTES : 0;
	return file_read_from(fd, from, text, sizeof(text), &len) == 0 &&
	       rayworker_train_parse((struct span){text, len}, ret);
}
