#include "agent/heap/heaprun.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "agent/host/datadir.h"
#include "agent/heap/heapfit.h"
#include "agent/heap/heapfolder.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "sense/heap/heapregion.h"

#define LIBRARY "libvigil_heap.so"

static int preload_make(const char *library, char **ret)
{
	const char *was = getenv("LD_PRELOAD");
	bool has_old = was && *was;
	size_t cap = strlen("LD_PRELOAD=") + strlen(library) + 1 + (has_old ? strlen(was) : 0) + 1;
	char *text = malloc(cap);
	if (!text)
		return -ENOMEM;
	/*
	 * Ours goes first, so that it forwards to an allocator that the user preloads; but ASan refuses to be second.
	 */
	if (has_old && strstr(was, "libasan"))
		(void)text_format(text, cap, "LD_PRELOAD=%s:%s", was, library);
	else
		(void)text_format(text, cap, "LD_PRELOAD=%s%s%s", library, has_old ? ":" : "", has_old ? was : "");
	*ret = text;
	return 0;
}

int heaprun_prepare(const struct world *w, const struct heaprun_want *want, struct heaprun *h, struct fault *f)
{
	char library[PATH_MAX], looked[PATH_MAX];
	if (want->rate_bytes && (want->rate_bytes < HEAP_RATE_MIN || want->rate_bytes > HEAP_RATE_MAX))
		return fault_set(f, -EINVAL, "--heap-rate: expected 4 KiB to 16 MiB; 512K is right for most programs");
	int r = datadir_library(w, LIBRARY, "preload", library, looked);
	if (r < 0)
		return fault_set(
			f, r,
			"no heap profile can be made: %s is not in %s; set VIGIL_DATA_DIR to the folder that has it",
			LIBRARY, looked);
	if (strpbrk(library, ": \t"))
		return fault_set(
			f, -EINVAL,
			"no heap profile can be made: LD_PRELOAD cannot name %s, which has a blank or a colon in it",
			library);
	*h = (struct heaprun){.preload = NULL};
	TEXT_FORMAT(h->rate, "VIGIL_HEAP_RATE=%llu", (unsigned long long)want->rate_bytes);
	if (want->objects)
		TEXT_COPY(h->objects, "VIGIL_HEAP_OBJECTS=1");
	enum heapfit fit = heapfit_of(want->program, looked, sizeof(looked));
	if (fit != HEAPFIT_FINE)
		TEXT_FORMAT(h->unfit, "%.200s leaves no heap profile: %s", looked, heapfit_words(fit));
	if (fit == HEAPFIT_OTHER_LIBC)
		return 0;
	r = preload_make(library, &h->preload);
	return r < 0 ? fault_set(f, r, "no memory to start") : 0;
}

static bool in_memory(const char *dir)
{
	struct statfs s;
	return statfs(dir, &s) == 0 && (s.f_type == TMPFS_MAGIC || s.f_type == RAMFS_MAGIC);
}

/* True: the file system can reserve space, as the library does before it uses it. */
static bool can_reserve(const char *dir)
{
	char path[PATH_MAX];
	if (text_format(path, sizeof(path), "%s/probe", dir) >= (int)sizeof(path))
		return false;
	cleanup(closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool can = fd >= 0 && fallocate(fd, 0, 0, 4096) == 0;
	if (fd >= 0)
		(void)unlink(path);
	return can;
}

/* Makes a folder on a disk, and a link to it in place of the folder. */
static int elsewhere(const char *dir, const char *job_id, uint32_t attempt)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "/var/tmp/vigil-heap-%u-%s-%u", (unsigned)getuid(), job_id, attempt);
	if (mkdir(path, 0700) < 0)
		return -errno;
	if (in_memory(path) || !can_reserve(path) || rmdir(dir) < 0 || symlink(path, dir) < 0) {
		(void)rmdir(path);
		(void)mkdir(dir, 0700);
		return -EXDEV;
	}
	return 0;
}

int heaprun_attempt(struct heaprun *h, const char *job_dir, uint32_t attempt)
{
	char dir[400], whole[PATH_MAX];
	h->dir[0] = h->files.folder[0] = '\0';
	if (job_dir[0] == '\0')
		return -ENOENT;
	TEXT_FORMAT(dir, "%s/attempt-%u/heap", job_dir, attempt);
	int r = file_mkdirs(dir, 0700);
	if (r < 0)
		return r;
	if (in_memory(dir) || !can_reserve(dir))
		ignore(elsewhere(dir, path_name(job_dir), attempt), "then its pages count as the job's memory");
	if (!can_reserve(dir))
		return -EOPNOTSUPP;
	if (!realpath(dir, whole))
		return -errno;
	if (text_format(h->dir, sizeof(h->dir), "VIGIL_HEAP_DIR=%s", whole) >= (int)sizeof(h->dir)) {
		h->dir[0] = '\0';
		return -ENAMETOOLONG;
	}
	heapfiles_begin(&h->files, whole);
	return 0;
}

void heaprun_nothing(const struct heaprun *h, char *dst, size_t cap)
{
	struct heapfolder all;
	uint64_t why = 0;
	size_t n_off = 0;
	bool any = false;
	dst[0] = '\0';
	/* the reason was shown at the start */
	if (h->files.folder[0] == '\0' || h->unfit[0] || heapfolder_read(NULL, h->files.folder, &all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		any |= !all.file[i].is_off;
		struct span text = span_after(span_of(all.file[i].name), ".off-");
		n_off += all.file[i].is_off && text.p && span_u64(text, &why) == 0;
	}
	heapfolder_done(&all);
	if (!any && n_off > 0)
		(void)text_format(dst, cap, "no heap profile was left: %zu process%s could not have one: %s", n_off,
				  n_off == 1 ? "" : "es", heapregion_why_words((enum heap_why)why));
	else if (!any)
		(void)text_format(
			dst, cap,
			"no heap profile was left: each process had asked for less than about a MiB, or is one "
			"that takes no library (a static program, set-user-ID, another C library), or asked in "
			"libraries that were opened with RTLD_DEEPBIND, which are not seen");
}

void heaprun_done(struct heaprun *h)
{
	free(h->preload);
	*h = (struct heaprun){.preload = NULL};
}
