#include "agent/incident/lentrows.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/incident/recorder.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/log.h"
#include "tell/store/rowlog.h"

#define ROWS_MOST (64 * MIB)

/* False: there is no file of rows, or it cannot be read. */
static bool job_read(int jobs, const char *id, struct store *s)
{
	char path[300];
	cleanup(freep) char *text = NULL;
	cleanup(closep) int fd = -1;
	size_t len = 0, n = 0;
	const struct foreign_place at = {.dirfd = jobs};
	TEXT_FORMAT(path, "%s/" RECORDER_ROWS, id);
	if (foreign_open(&at, path, &fd) != 0 || file_slurp_fd(fd, ROWS_MOST, &text, &len) != 0)
		return false;
	int r = rowlog_replay((struct span){text, len}, s, &n);
	if (r < 0)
		log_debug("%s: %s", path, strerror(-r));
	return n > 0;
}

int lentrows_read(const char *folder, struct store *s, size_t *ret_jobs)
{
	char path[PATH_MAX];
	size_t jobs = 0;
	TEXT_FORMAT(path, "%s/jobs", folder);
	cleanup(closedirp) DIR *d = opendir(path);
	if (!d)
		return -errno;
	int r = store_lend_begin(s, folder);
	if (r < 0)
		return r;
	for (const struct dirent *e; (e = readdir(d));)
		jobs += e->d_name[0] != '.' && job_read(dirfd(d), e->d_name, s);
	*ret_jobs = jobs;
	return store_lend_end(s);
}
