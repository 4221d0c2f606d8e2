#include "sense/framework/lasterror.h"

#include <string.h>

#include "base/buf.h"
#include "sense/death/deathlog.h"
#include "sense/log/logline.h"
#include "sense/framework/progress.h"

#define HINTS 24

/* Messages about an error of the program itself. */
static const char *const own[] = {"python_traceback", "cuda_oom",  "python_memory_error", "numpy_memory_error",
				  "torch_cpu_oom",    "bad_alloc", "python_fatal",	  "segfault",
				  "cannot_fork",      "disk_full", "shm_no_space"};

/* Texts of exceptions whose cause is in another process. */
static const char *const consequences[] = {
	"Connection closed", "Connection reset", "Connection refused",
	"Broken pipe",	     "timed out",	 "Timed out",
	"Timeout",	     "timeout",		 "remote process",
	"NCCL error",	     "ncclRemote",	 "ncclSystemError",
	"DistBackendError",  "SIGTERM",		 "KeyboardInterrupt",
	"SignalException",   "ChildFailedError",
};

static bool lasterror_is_own(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(own[i], id) == 0)
			return true;
	return false;
}

bool lasterror_follows(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(consequences); i++)
		if (strstr(text, consequences[i]))
			return true;
	return false;
}

static bool goes_on(struct span rest, const struct progress_patterns *user)
{
	struct span line;
	struct progress_line p;
	while (rest.len > 0) {
		size_t n = 0;
		while (n < rest.len && rest.p[n] != '\n' && rest.p[n] != '\r')
			n++;
		line = (struct span){rest.p, n};
		n += n < rest.len;
		rest.p += n;
		rest.len -= n;
		if (line.len > 0 && progress_parse(line, user, &p) == 0 && (p.has_step || p.has_epoch))
			return true;
	}
	return false;
}

/* Position of the last error in the output. Hints have no position, so the text is searched from the end. */
static const char *lasterror_place(struct span tail, const struct log_hint *h)
{
	char key[80];
	text_copy(key, sizeof(key), h->text);
	key[strcspn(key, "?")] = '\0'; /* control bytes were replaced by "?" */
	return key[0] ? span_rfind(tail, key) : NULL;
}

int lasterror_find(struct span tail, int32_t stream_rank, const struct progress_patterns *user, struct lasterror *ret)
{
	struct log_hint hints[HINTS];
	struct deathlog d = {.hints = hints, .cap = HINTS};
	const struct log_hint *last = NULL;
	const char *last_at = NULL;
	deathlog_parse(&d, tail, "", stream_rank);
	for (size_t i = 0; i < d.n; i++) {
		const char *at = lasterror_is_own(hints[i].id) ? lasterror_place(tail, &hints[i]) : NULL;
		if (at && (!last_at || at > last_at)) {
			last = &hints[i];
			last_at = at;
		}
	}
	if (!last)
		return LASTERROR_NONE;
	size_t from = (size_t)(last_at - tail.p) + MIN(strlen(last->text), tail.len - (size_t)(last_at - tail.p));
	if (goes_on((struct span){tail.p + from, tail.len - from}, user))
		return LASTERROR_NONE;
	*ret = (struct lasterror){.rank = last->rank != NO_RANK ? last->rank : stream_rank,
				  .follows = lasterror_follows(last->text)};
	TEXT_COPY(ret->text, last->text);
	return 0;
}

static bool next_line(struct span *rest, struct span *ret)
{
	size_t n = 0;
	if (rest->len == 0)
		return false;
	while (n < rest->len && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	n += n < rest->len; /* including its newline */
	*ret = (struct span){rest->p, n};
	rest->p += n;
	rest->len -= n;
	return true;
}

static int32_t lasterror_rank(struct span line)
{
	struct logline l;
	logline_parse(line, &l);
	return l.rank;
}

/* Copies the lines of one rank to scratch. */
static struct span lines_of(struct span tail, int32_t rank, char *scratch)
{
	struct span line, mine = {scratch, 0};
	while (next_line(&tail, &line)) {
		if (lasterror_rank(line) != rank)
			continue;
		memcpy(scratch + mine.len, line.p, line.len);
		mine.len += line.len;
	}
	return mine;
}

size_t lasterror_each(struct span tail, int32_t stream_rank, const struct progress_patterns *user, char *scratch,
		      struct lasterror *ret, size_t cap, bool *ret_named)
{
	int32_t ranks[LASTERROR_RANKS] = {NO_RANK};
	size_t n_ranks = 1, n = 0;
	struct span rest = tail, line;
	*ret_named = false;
	if (stream_rank != NO_RANK)
		return cap > 0 && lasterror_find(tail, stream_rank, user, ret) == 0 ? 1 : 0;
	while (next_line(&rest, &line)) {
		int32_t rank = lasterror_rank(line);
		size_t i = 0;
		while (i < n_ranks && ranks[i] != rank)
			i++;
		*ret_named |= rank != NO_RANK;
		if (i == n_ranks && n_ranks < ARRAY_SIZE(ranks))
			ranks[n_ranks++] = rank;
	}
	for (size_t i = 0; i < n_ranks && n < cap; i++)
		n += lasterror_find(lines_of(tail, ranks[i], scratch), ranks[i], user, &ret[n]) == 0;
	return n;
}
