#include "agent/collective/ncclrun.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/datadir.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/path.h"

#define LIBRARY "libvigil-nccl.so"
#define SHARED_MEMORY "/dev/shm"
#define KEPT_MAX 256 /* rings of at most half a MiB each, mostly holes */

int ncclrun_prepare(const struct world *w, struct ncclrun *n, struct fault *f)
{
	char library[PATH_MAX], looked[PATH_MAX];
	const char *was = getenv("NCCL_PROFILER_PLUGIN");
	*n = (struct ncclrun){.on = true};
	if (was && *was && !strstr(was, LIBRARY)) {
		n->users_own = true;
		return 0;
	}
	int r = datadir_library(w, LIBRARY, "plugins/nccl", library, looked);
	if (r < 0)
		return fault_set(f, r,
				 "NCCL's calls cannot be recorded: %s is not in %s; set VIGIL_DATA_DIR to the folder "
				 "that has it",
				 LIBRARY, looked);
	if (text_format(n->plugin, sizeof(n->plugin), "NCCL_PROFILER_PLUGIN=%s", library) >= (int)sizeof(n->plugin))
		return fault_set(f, -ENAMETOOLONG, "NCCL's calls cannot be recorded: the path of %s is too long",
				 LIBRARY);
	return 0;
}

void ncclrun_kept(const char *job_dir, uint32_t attempt, char *dst, size_t cap)
{
	(void)text_format(dst, cap, "%s/attempt-%u/nccl", job_dir, attempt);
}

/* Makes the folder in shared memory, or takes the one for kept rings where there is no shared memory. */
static int folder_make(struct ncclrun *n, const char *job_id, uint32_t attempt)
{
	char whole[PATH_MAX];
	TEXT_FORMAT(n->folder, SHARED_MEMORY "/vigil-nccl-%u-%s-%u", (unsigned)getuid(), job_id, attempt);
	if (mkdir(n->folder, 0700) == 0)
		return 0;
	/* an absolute path, since the job may change its directory */
	if (!realpath(n->keep, whole))
		return -errno;
	return text_format(n->folder, sizeof(n->folder), "%s", whole) < (int)sizeof(n->folder) ? 0 : -ENAMETOOLONG;
}

int ncclrun_attempt(struct ncclrun *n, const char *job_dir, uint32_t attempt)
{
	n->ring[0] = n->folder[0] = '\0';
	if (job_dir[0] == '\0')
		return -ENOENT;
	ncclrun_kept(job_dir, attempt, n->keep, sizeof(n->keep));
	int r = file_mkdirs(n->keep, 0700);
	if (r < 0)
		return r;
	r = folder_make(n, path_name(job_dir), attempt);
	if (r == 0 && text_format(n->ring, sizeof(n->ring), "VIGIL_NCCL_RING=%s/ring.", n->folder) >=
			      (int)sizeof(n->ring))
		r = -ENAMETOOLONG;
	if (r < 0)
		n->ring[0] = n->folder[0] = '\0';
	return r;
}

void ncclrun_keep(struct ncclrun *n)
{
	if (n->folder[0] == '\0')
		return;
	cleanup(closep) int to = open(n->keep, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = opendir(n->folder);
	struct stat here, there;
	bool moves = d && to >= 0 && fstat(dirfd(d), &here) == 0 && fstat(to, &there) == 0 &&
		     (here.st_dev != there.st_dev || here.st_ino != there.st_ino);
	unsigned kept = 0;
	struct foreign_user owner;
	const struct foreign_place in = {.dirfd = d ? dirfd(d) : -1, .as = d ? foreign_owner(dirfd(d), &owner) : NULL};
	for (struct dirent *e; moves && (e = readdir(d));) {
		if (strncmp(e->d_name, "ring.", 5) != 0)
			continue;
		if (kept++ < KEPT_MAX)
			ignore(foreign_copy(&in, e->d_name, to, e->d_name), "a full disk costs the ring only");
		(void)unlinkat(dirfd(d), e->d_name, 0);
	}
	if (moves)
		(void)rmdir(n->folder);
	/* removes the folder if it stayed empty: a job without NCCL */
	(void)rmdir(n->keep);
	n->ring[0] = n->folder[0] = '\0';
}
