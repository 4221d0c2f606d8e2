#include "sense/framework/rayretry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"

#define TAIL_BYTES (1 << 20) /* of a driver's log */
#define BEFORE_MS 2000 /* the death may be noticed before vigil has written it down */
#define AFTER_MS 60000
#define STAMP_LEN 23 /* "2026-11-24 12:51:03,833" */

static bool stamp_in(struct span line, const char *from, const char *to)
{
	if (line.len < STAMP_LEN + 1 || line.p[0] != '[')
		return false;
	return memcmp(line.p + 1, from, STAMP_LEN) >= 0 && memcmp(line.p + 1, to, STAMP_LEN) <= 0;
}

/* "task c8ef… retries left: 1, oom retries left: -1": keeps it for the line that says which task that is. */
static void left_read(struct span line, struct rayretry *r)
{
	struct span id = span_after(line, ": task "), left = span_after(id, " retries left: ");
	if (!left.p)
		return;
	r->has_left = span_i64(span_before(left, ","), &r->left) == 0;
	span_copy(span_before(id, " "), r->task_id, sizeof(r->task_id));
}

/* "Will resubmit task …, task_id=c8ef…, task_name=leak, …, attempt_number=1, …" */
static bool again_read(struct span line, const char *name, struct rayretry *r)
{
	struct span id = span_after(line, " task_id="), named = span_after(line, " task_name=");
	struct span attempt = span_after(line, " attempt_number=");
	char task[sizeof(r->task_id)];
	size_t n = strlen(name);
	/* a name may have commas in it */
	if (!span_has(line, "Will resubmit task ") || !id.p || !named.p || named.len < n + 2 ||
	    memcmp(named.p, name, n) != 0 || named.p[n] != ',' || named.p[n + 1] != ' ')
		return false;
	span_copy(span_before(id, ","), task, sizeof(task));
	if (strcmp(task, r->task_id) != 0)
		r->has_left = false; /* the number is of another task */
	TEXT_COPY(r->task_id, task);
	if (!attempt.p || span_u64_prefix(attempt, &r->attempt) < 0)
		r->attempt = 0;
	span_copy((struct span){line.p + 1, STAMP_LEN}, r->when, sizeof(r->when));
	return true;
}

bool rayretry_parse(struct span log, const char *name, const char *from, const char *to, struct rayretry *ret)
{
	struct rayretry r = {.left = 0};
	struct span line;
	if (strlen(from) != STAMP_LEN || strlen(to) != STAMP_LEN)
		return false;
	while (span_line(&log, &line)) {
		if (!stamp_in(line, from, to))
			continue;
		left_read(line, &r);
		if (!again_read(line, name, &r))
			continue;
		*ret = r;
		return true;
	}
	return false;
}

static void stamp_of(int64_t unix_ms, char dst[static STAMP_LEN + 1])
{
	time_t s = (time_t)(unix_ms / 1000);
	struct tm tm;
	char text[32] = "";
	if (localtime_r(&s, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	text_format(dst, STAMP_LEN + 1, "%s,%03d", text, (int)(unix_ms % 1000));
}

static bool is_drivers(const char *name, const char *job_id)
{
	static const char begin[] = "python-core-driver-";
	size_t n = strlen(name);
	return strncmp(name, begin, sizeof(begin) - 1) == 0 && n > 4 && strcmp(name + n - 4, ".log") == 0 &&
	       strncmp(name + sizeof(begin) - 1, job_id, strlen(job_id)) == 0;
}

/* The end of one log. -1: it cannot be read. */
static int tail_open(const struct foreign_place *at, const char *name, char *text, size_t *ret_len)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	if (foreign_open(at, name, &fd) != 0 || fstat(fd, &st) < 0)
		return -1;
	uint64_t from = st.st_size > TAIL_BYTES ? (uint64_t)st.st_size - TAIL_BYTES : 0;
	return file_read_from(fd, from, text, TAIL_BYTES, ret_len) < 0 ? -1 : 0;
}

int rayretry_look(const struct raylogs *logs, const char *job_id, const char *name, int64_t at_unix_ms,
		  struct rayretry *ret)
{
	char from[STAMP_LEN + 1], to[STAMP_LEN + 1];
	cleanup(closedirp) DIR *d = NULL;
	cleanup(freep) char *text = malloc(TAIL_BYTES);
	int r = raylogs_list(logs, &d);
	if (r || !text)
		return r ? r : -ENOMEM;
	stamp_of(at_unix_ms - BEFORE_MS, from);
	stamp_of(at_unix_ms + AFTER_MS, to);
	const struct foreign_place at = {.dirfd = dirfd(d), .as = &logs->user};
	for (const struct dirent *e; (e = readdir(d));) {
		size_t len;
		if (is_drivers(e->d_name, job_id) && tail_open(&at, e->d_name, text, &len) == 0 &&
		    rayretry_parse((struct span){text, len}, name, from, to, ret))
			return 0;
	}
	return WORLD_ABSENT;
}

int rayretry_read(const struct world *w, pid_t via, const char *logs, const char *job_id, const char *name,
		  int64_t at_unix_ms, struct rayretry *ret)
{
	cleanup(raylogs_done) struct raylogs l = RAYLOGS_NONE;
	int r = raylogs_open(w, via, logs, &l);
	return r ? r : rayretry_look(&l, job_id, name, at_unix_ms, ret);
}
