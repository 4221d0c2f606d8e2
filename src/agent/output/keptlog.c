#include "agent/output/keptlog.h"

#include <fcntl.h>
#include <limits.h>

#include "agent/jobs/keptoutput.h"
#include "base/buf.h"

/* Holes begin and end at multiples of this, which is one of every file system's block. */
#define BLOCK (64 * KIB)

void keptlog_wrote(struct keptlog *k, size_t n)
{
	if (!k->job)
		return;
	k->size_bytes += n;
	k->job->kept_bytes += n;
}

uint64_t keptlog_bytes(const struct keptlog *k)
{
	return k->size_bytes - (k->hole_to - k->hole_from);
}

bool keptlogs_over(const struct keptlogs *job)
{
	return job->most_bytes > 0 && job->kept_bytes > MAX(job->most_bytes, job->quiet_bytes);
}

static void gave(struct keptlogs *job, uint64_t bytes)
{
	job->kept_bytes = sub_floor(job->kept_bytes, bytes);
	job->left_out_bytes += bytes;
}

/* Without holes: the beginning stays, and what comes is appended to it. */
static bool cut_back(struct keptlog *k, int fd, uint64_t from)
{
	if (ftruncate(fd, (off_t)from) < 0)
		return false;
	gave(k->job, k->size_bytes - from);
	k->size_bytes = from;
	return true;
}

bool keptlog_trim(struct keptlog *k, int fd)
{
	struct keptlogs *job = k->job;
	const uint64_t step = MAX(job->most_bytes / 16 / BLOCK * BLOCK, BLOCK);
	if (k->hole_from == k->hole_to) {
		k->hole_from = MIN(job->most_bytes, keptlog_bytes(k)) / 4 / BLOCK * BLOCK;
		k->hole_to = k->hole_from;
	}
	uint64_t to = k->hole_to + step;
	if (to + step <= k->size_bytes) {
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)k->hole_to,
			      (off_t)(to - k->hole_to)) == 0) {
			gave(job, to - k->hole_to);
			k->hole_to = to;
			return true;
		}
		if (cut_back(k, fd, k->hole_from))
			return true;
	}
	job->quiet_bytes = job->kept_bytes + step;
	return false;
}

void keptlogs_next_attempt(struct keptlogs *job, const char *dir, uint32_t next)
{
	char path[PATH_MAX];
	job->former_bytes = job->kept_bytes;
	for (uint32_t i = 0; job->most_bytes > 0 && i + 1 < next && job->former_bytes > job->most_bytes / 2; i++) {
		TEXT_FORMAT(path, "%s/attempt-%u", dir, i);
		uint64_t removed = keptoutput_remove(path);
		job->former_bytes = sub_floor(job->former_bytes, removed);
		gave(job, MIN(removed, job->kept_bytes));
	}
	job->quiet_bytes = 0;
}
