#include "agent/heap/heapattach.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "act/inject/inject.h"
#include "agent/host/datadir.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "judge/host/access.h"
#include "preload/heapattach.h"
#include "preload/heapregion.h"
#include "sense/proc/access.h"

#define LIBRARY "libvigil_heap.so"
/* Most time to search a safe place for the call; the process runs meanwhile. */
#define DEADLINE_NS NS_PER_S
#define GENERATIONS 1000
/* Each call ties some files to the library; a program of 4,000 libraries needs about ten. */
#define CALLS_MAX 400
/* On a crowded machine no thread may come to a safe place in time: so much longer it is tried. */
#define UNSAFE_NS (10 * NS_PER_S)
#define BUSY_TRIES 60
#define BUSY_PAUSE_NS (5 * (long)NS_PER_MS)

static int library_find(const struct world *w, char dst[static PATH_MAX], struct fault *f)
{
	char looked[PATH_MAX];
	int r = datadir_library(w, LIBRARY, "preload", dst, looked);
	return r < 0 ? fault_set(f, r,
				 "nothing can be loaded: %s is not in %s; set VIGIL_DATA_DIR to the folder that has it",
				 LIBRARY, looked)
		     : 0;
}

/* True: the process would open this very folder by this path. */
static bool sees(const struct world *w, pid_t pid, const char *folder)
{
	char theirs[PATH_MAX + 32];
	struct stat ours, seen;
	TEXT_FORMAT(theirs, "%d/root%s", (int)pid, folder);
	return stat(folder, &ours) == 0 && fstatat(w->proc_fd, theirs, &seen, 0) == 0 && ours.st_dev == seen.st_dev &&
	       ours.st_ino == seen.st_ino;
}

/* Makes the process's user the owner, since the process itself makes the file, with its own rights. */
static int give_to(const char *folder, uid_t uid)
{
	struct stat st;
	if (stat(folder, &st) < 0)
		return -errno;
	if (st.st_uid == uid || geteuid() != 0)
		return 0;
	return chown(folder, uid, (gid_t)-1) < 0 ? -errno : 0;
}

/* True: the user can reach the folder. A folder above it that the user may not pass makes it useless. */
static bool may_write(const char *folder, uid_t uid)
{
	char path[PATH_MAX];
	struct stat st;
	if (uid == geteuid())
		return true;
	text_copy(path, sizeof(path), folder);
	if (stat(path, &st) < 0 || st.st_uid != uid)
		return false;
	while (path_cut(path) && path[0]) {
		if (stat(path, &st) < 0 || !(st.st_uid == uid ? st.st_mode & S_IXUSR : st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

/* Makes a folder in the process's own /tmp. inner: its path as the process sees it. */
static int own_folder(pid_t pid, uint64_t start, uid_t uid, char *folder, size_t cap, char *inner, size_t inner_cap)
{
	(void)text_format(inner, inner_cap, "/tmp/vigil-heap-%d-%llu", (int)pid, (unsigned long long)start);
	if (text_format(folder, cap, "/%s/%d/root%s", "proc", (int)pid, inner) >= (int)cap)
		return -ENAMETOOLONG;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	return give_to(folder, uid);
}

static int folder_make(const struct world *w, pid_t pid, const struct heapattach_want *want, struct heap_attach *a,
		       struct heapattach_result *ret)
{
	struct proc_stat st;
	struct proc_status status;
	char whole[PATH_MAX];
	int r = proc_stat_read(w, pid, &st);
	if (r == 0)
		r = proc_status_read(w, pid, &status);
	if (r)
		return r;
	if (want->folder)
		TEXT_COPY(ret->folder, want->folder);
	else
		TEXT_FORMAT(ret->folder, "%s/heap/pid-%d-%llu", want->state, (int)pid,
			    (unsigned long long)st.start_ticks);
	r = file_mkdirs(ret->folder, 0711);
	if (r == 0 && !want->folder)
		r = give_to(ret->folder, status.euid);
	if (r == 0 && realpath(ret->folder, whole) && sees(w, pid, whole) && may_write(whole, status.euid) &&
	    strlen(whole) < MIN(sizeof(a->dir), sizeof(ret->folder))) {
		TEXT_COPY(ret->folder, whole);
		TEXT_COPY(a->dir, whole);
		return 0;
	}
	if (!want->folder)
		(void)rmdir(ret->folder);
	ret->own_folder = true;
	return own_folder(pid, st.start_ticks, status.euid, ret->folder, sizeof(ret->folder), a->dir, sizeof(a->dir));
}

/*
 * Makes the file of the profile before any thread stands still (heapattach.h). Failure is no error here: the process
 * tries for itself and reports why it cannot.
 */
static void heapattach_file_make(const struct world *w, pid_t pid, const char *folder, struct heap_attach *a, char *dst,
				 size_t cap)
{
	static const uint8_t zeros[HEAP_PREPARED_LEN];
	struct proc_stat st;
	struct proc_status status;
	cleanup(closep) int fd = -1;
	dst[0] = '\0';
	if (proc_stat_read(w, pid, &st) != 0 || proc_status_read(w, pid, &status) != 0)
		return;
	for (uint32_t g = 0; g < GENERATIONS && fd < 0; g++) {
		char generation[16] = "";
		if (g)
			TEXT_FORMAT(generation, ".%u", g);
		if (text_format(dst, cap, "%s/%d.%llu%s.heap", folder, (int)(status.ns_pid > 0 ? status.ns_pid : pid),
				(unsigned long long)st.start_ticks, generation) >= (int)cap)
			break;
		fd = open(dst, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
		a->prepared = g + 1;
	}
	bool fine = fd >= 0 && ftruncate(fd, HEAP_PREPARED_BYTES) == 0 &&
		    pwrite(fd, zeros, HEAP_PREPARED_HEAD_BYTES, 0) == HEAP_PREPARED_HEAD_BYTES &&
		    pwrite(fd, zeros, sizeof(zeros), HEAP_PREPARED_AT) == (ssize_t)sizeof(zeros) &&
		    (status.euid == geteuid() || fchown(fd, status.euid, (gid_t)-1) == 0);
	if (fine)
		return;
	if (fd >= 0)
		(void)unlink(dst);
	dst[0] = '\0';
	a->prepared = 0;
}

static int denied(const struct world *w, pid_t pid, int r, struct fault *f)
{
	struct access_facts facts;
	if (r == WORLD_DENIED && access_read(w, pid, &facts) == 0)
		access_explain(&facts, f);
	return r;
}

static int heapattach_explain(pid_t pid, const struct heap_attach *a, int64_t value, struct fault *f)
{
	static const char *const why[] = {
		[HEAP_WHY_NO_DIR] = "it has no folder for the profile",
		[HEAP_WHY_NOT_MADE] = "it cannot make the file of the profile",
		[HEAP_WHY_NO_SPACE] = "there is no space for the profile, or its file system cannot reserve any",
		[HEAP_WHY_NOT_MAPPED] = "the file of the profile cannot be mapped",
		[HEAP_WHY_NO_SYMBOL] = "its allocator was not found",
	};
	if (value == -EBUSY)
		return fault_set(f, INJECT_UNSAFE, "process %d is loading or closing a library just now; try again",
				 (int)pid);
	const char *text = a->why < ARRAY_SIZE(why) && why[a->why] ? why[a->why] : "the library refused";
	return fault_set(f, INJECT_FAILED, "process %d: %s (%s)%s%s", (int)pid, text,
			 strerror(a->error > 0 ? a->error : (int)-value), a->dir[0] ? ", in " : "", a->dir);
}

/* Argument of the function that inject_library calls between two calls in the program. */
struct progress {
	struct heap_attach block; /* first member: it is copied into the program */
	struct heapattach_result *result;
	bool took, begun;
};

static bool go_on(void *arg)
{
	struct progress *p = arg;
	p->result->files += p->block.objects_patched;
	p->result->slots += p->block.slots_patched;
	p->took |= p->block.took != 0;
	p->begun |= p->block.on != 0;
	return p->block.why == HEAP_FINE && p->block.more && ++p->result->calls < CALLS_MAX;
}

static int call(const struct world *w, pid_t pid, const char *symbol, bool only_loaded, struct progress *p,
		struct fault *f)
{
	char library[PATH_MAX];
	struct inject_result got;
	struct inject_want want = {.library = library,
				   .only_loaded = only_loaded,
				   .symbol = symbol,
				   .arg = p,
				   .arg_bytes = sizeof(p->block),
				   .again = go_on,
				   .deadline_ns = DEADLINE_NS};
	int r = library_find(w, library, f);
	if (r)
		return r;
	for (int i = 0; i < BUSY_TRIES; i++) {
		const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
		got = (struct inject_result){.tid = 0};
		r = inject_library(w, pid, &want, &got, f);
		/* Another thread may be scanning for new libraries, as it does after each sample. */
		if (r || got.value != -EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	p->result->was_there = got.was_loaded;
	p->result->calls = got.calls;
	p->result->tries = got.tries;
	p->result->stopped_ns = got.stopped_ns;
	p->result->stopped_sum_ns = got.stopped_sum_ns;
	if (r)
		return denied(w, pid, r, f);
	return got.value == 0 ? 0 : heapattach_explain(pid, &p->block, got.value, f);
}

/* A process is left as it was, or with a library that does nothing yet, when no thread was at a safe place. */
static int call_patiently(const struct world *w, pid_t pid, const char *symbol, bool only_loaded, struct progress *p,
			  struct fault *f)
{
	uint64_t until_ns = w->mono_ns() + UNSAFE_NS;
	uint32_t tries = 0, calls = 0;
	for (;;) {
		*f = (struct fault){.text = ""};
		int r = call(w, pid, symbol, only_loaded, p, f);
		tries += p->result->tries;
		calls += p->result->calls;
		p->result->tries = tries;
		p->result->calls = calls;
		if (r != INJECT_UNSAFE || p->begun || w->mono_ns() > until_ns)
			return r;
	}
}

int heapattach(const struct world *w, pid_t pid, const struct heapattach_want *want, struct heapattach_result *ret,
	       struct fault *f)
{
	struct progress p = {.block = {.magic = HEAP_ATTACH_MAGIC, .rate_bytes = want->rate_bytes}, .result = ret};
	char prepared[512];
	*ret = (struct heapattach_result){.files = 0};
	int r = folder_make(w, pid, want, &p.block, ret);
	if (r == WORLD_DENIED || r == -EACCES || r == -EPERM)
		return denied(w, pid, WORLD_DENIED, f);
	if (r == WORLD_GONE)
		return fault_set(f, r, "process %d has ended", (int)pid);
	if (r)
		return fault_set(f, r, "no folder for the profile of process %d: %s", (int)pid,
				 strerror(r < 0 ? -r : EIO));
	heapattach_file_make(w, pid, ret->folder, &p.block, prepared, sizeof(prepared));
	r = call_patiently(w, pid, "vigil_heap_attach", false, &p, f);
	/* Files that are not tied yet are found by later samples, so the profile goes on. */
	if (r && p.begun)
		r = 0;
	if (prepared[0] && !p.took)
		(void)unlink(prepared);
	if (r) /* has an effect only on an empty folder */
		(void)rmdir(ret->folder);
	return r;
}

int heapdetach(const struct world *w, pid_t pid, struct heapattach_result *ret, struct fault *f)
{
	struct progress p = {.block = {.magic = HEAP_ATTACH_MAGIC}, .result = ret};
	*ret = (struct heapattach_result){.files = 0};
	int r = call_patiently(w, pid, "vigil_heap_detach", true, &p, f);
	return r == INJECT_ABSENT
		       ? fault_set(f, r,
				   "process %d is not sampled: vigil's heap library was never loaded into it, "
				   "so there is nothing to end",
				   (int)pid)
		       : r;
}
