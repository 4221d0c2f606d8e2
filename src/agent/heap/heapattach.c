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
#include "base/private.h"
#include "judge/host/access.h"
#include "preload/heapattach.h"
#include "preload/heapregion.h"
#include "sense/proc/access.h"
#include "sense/proc/procfile.h"

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

/*
 * The folder of the profile, and what was made in it. All of it is done with the rights of the process's user and below
 * the process's root: the user may have put anything where the folder is to be.
 */
struct place {
	struct foreign_user user;
	struct procfile_who who; /* whose user that is */
	int root_fd, fd; /* of the process; the folder */
	char inner[PATH_MAX]; /* its path as the process sees it */
	char prepared[128]; /* the file that was prepared in it; "": none */
	bool ours; /* in our state directory, which we made */
};

static void place_done(struct place *p)
{
	closep(&p->fd);
	closep(&p->root_fd);
}

static struct foreign_place below_root(const struct place *p, unsigned flags)
{
	return (struct foreign_place){.dirfd = p->root_fd, .as = &p->user, .flags = FOREIGN_IN_ROOT | flags};
}

static bool is_same_folder(int a, int b)
{
	struct stat x, y;
	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Makes a folder in our state directory: the process itself makes the file. */
static int state_folder(const char *state, const char *folder, int *ret_fd)
{
	char above[PATH_MAX];
	TEXT_COPY(above, folder);
	if (!path_cut(above))
		return -EINVAL;
	int r = private_state(state);
	if (r == 0)
		r = private_passed_folder(above);
	if (r < 0)
		return r;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	cleanup(closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

/* True: the user reaches the folder of our state directory by this path, and it is the user's. */
static bool reaches(const struct place *p, int ours)
{
	const struct foreign_place at = below_root(p, 0);
	cleanup(closep) int theirs = -1;
	struct stat st;
	return foreign_folder(&at, p->inner, &theirs) == 0 && is_same_folder(ours, theirs) && fstat(theirs, &st) == 0 &&
	       st.st_uid == p->user.uid;
}

static int in_state(const struct heapattach_want *want, pid_t pid, uint64_t start, struct place *p,
		    struct heapattach_result *ret)
{
	cleanup(closep) int fd = -1;
	TEXT_FORMAT(ret->folder, "%s/heap/pid-%d-%llu", want->state, (int)pid, (unsigned long long)start);
	int r = state_folder(want->state, ret->folder, &fd);
	if (r < 0)
		return r;
	if (realpath(ret->folder, p->inner) && strlen(p->inner) < sizeof(ret->folder) && reaches(p, fd)) {
		TEXT_COPY(ret->folder, p->inner);
		p->fd = take_fd(&fd);
		p->ours = true;
		return 0;
	}
	(void)rmdir(ret->folder);
	return -ENOENT;
}

/* A folder that the process sees, made by its user. */
static int of_user(const char *inner, pid_t pid, struct place *p, struct heapattach_result *ret)
{
	const struct foreign_place at = below_root(p, FOREIGN_ABOVE);
	cleanup(closep) int seen = -1;
	TEXT_COPY(p->inner, inner);
	int r = foreign_mkdir(&at, inner, 0700, &p->fd);
	if (r)
		return r < 0 ? r : -EEXIST;
	/* Where we have another root, the folder is reached through the process. */
	const struct foreign_place ours = {.dirfd = AT_FDCWD, .as = &p->user};
	ret->own_folder = foreign_folder(&ours, inner, &seen) != 0 || !is_same_folder(seen, p->fd);
	char through[32] = "";
	if (ret->own_folder)
		TEXT_FORMAT(through, "/%s/%d/root", "proc", (int)pid);
	return text_format(ret->folder, sizeof(ret->folder), "%s%s", through, inner) < (int)sizeof(ret->folder)
		       ? 0
		       : -ENAMETOOLONG;
}

static int heapattach_folder_make(const struct world *w, pid_t pid, const struct heapattach_want *want,
				  struct heap_attach *a, struct heapattach_result *ret, struct place *p)
{
	struct proc_stat st;
	char inner[128];
	int r = proc_stat_read(w, pid, &st);
	if (r == 0)
		r = procfile_user(w, pid, &p->user);
	if (r == 0)
		r = procfile_root(w, pid, &p->root_fd);
	if (r)
		return r;
	if (want->start_ticks && want->start_ticks != st.start_ticks)
		return WORLD_GONE;
	p->who = (struct procfile_who){.pid = pid, .uid = p->user.uid, .start_ticks = st.start_ticks};
	/* Another user gets no folder where our state is: it would be a place on our disk without that user's quota. */
	r = want->folder	       ? of_user(want->folder, pid, p, ret)
	    : p->user.uid == geteuid() ? in_state(want, pid, st.start_ticks, p, ret)
				       : -ENOENT;
	if (r || strlen(p->inner) >= sizeof(a->dir)) {
		closep(&p->fd);
		TEXT_FORMAT(inner, "/tmp/vigil-heap-%d-%llu", (int)pid, (unsigned long long)st.start_ticks);
		r = of_user(inner, pid, p, ret);
		ret->own_folder = true;
	}
	if (r == 0)
		TEXT_COPY(a->dir, p->inner);
	return r;
}

/*
 * Makes the file of the profile before any thread stands still (heapattach.h). Failure is no error here: the process
 * tries for itself and reports why it cannot.
 */
static void heapattach_file_make(const struct world *w, pid_t pid, struct place *p, struct heap_attach *a)
{
	static const uint8_t zeros[HEAP_PREPARED_LEN];
	const struct foreign_place in = {.dirfd = p->fd, .as = &p->user};
	struct proc_stat st;
	struct proc_status status;
	cleanup(closep) int fd = -1;
	if (proc_stat_read(w, pid, &st) != 0 || proc_status_read(w, pid, &status) != 0)
		return;
	for (uint32_t g = 0; g < GENERATIONS && fd < 0; g++) {
		char generation[16] = "";
		if (g)
			TEXT_FORMAT(generation, ".%u", g);
		TEXT_FORMAT(p->prepared, "%d.%llu%s.heap", (int)(status.ns_pid > 0 ? status.ns_pid : pid),
			    (unsigned long long)st.start_ticks, generation);
		int r = foreign_create(&in, p->prepared, 0600, &fd);
		if (r && r != -EEXIST)
			break;
		a->prepared = g + 1;
	}
	bool fine = fd >= 0 && ftruncate(fd, HEAP_PREPARED_BYTES) == 0 &&
		    pwrite(fd, zeros, HEAP_PREPARED_HEAD_BYTES, 0) == HEAP_PREPARED_HEAD_BYTES &&
		    pwrite(fd, zeros, sizeof(zeros), HEAP_PREPARED_AT) == (ssize_t)sizeof(zeros);
	if (fine)
		return;
	if (fd >= 0)
		ignore(foreign_unlink(&in, p->prepared, 0), "the process then finds it, and takes another name");
	p->prepared[0] = '\0';
	a->prepared = 0;
}

/* Removes what was made for nothing. A folder that is not empty stays. */
static void place_clear(const struct place *p, const struct heapattach_result *ret, bool file, bool folder)
{
	const struct foreign_place in = {.dirfd = p->fd, .as = &p->user}, at = below_root(p, 0);
	if (file && p->prepared[0])
		ignore(foreign_unlink(&in, p->prepared, 0), "it is the user's to keep");
	if (folder && p->ours)
		(void)rmdir(ret->folder);
	else if (folder)
		ignore(foreign_unlink(&at, p->inner, AT_REMOVEDIR), "it is the user's to keep");
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
	/* The block comes back from the process: its text need not end. */
	char dir[sizeof(a->dir)];
	span_copy((struct span){a->dir, strnlen(a->dir, sizeof(a->dir) - 1)}, dir, sizeof(dir));
	const char *text = a->why < ARRAY_SIZE(why) && why[a->why] ? why[a->why] : "the library refused";
	return fault_set(f, INJECT_FAILED, "process %d: %s (%s)%s%s", (int)pid, text,
			 strerror(a->error > 0 ? a->error : (int)-value), dir[0] ? ", in " : "", dir);
}

/* Argument of the function that inject_library calls between two calls in the program. */
struct progress {
	struct heap_attach block; /* first member: it is copied into the program */
	struct heapattach_result *result;
	const struct procfile_who *who; /* NULL: of no matter */
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
				   .who = p->who,
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
	cleanup(place_done) struct place place = {.root_fd = -1, .fd = -1};
	*ret = (struct heapattach_result){.files = 0};
	int r = heapattach_folder_make(w, pid, want, &p.block, ret, &place);
	if (r == WORLD_DENIED)
		return denied(w, pid, WORLD_DENIED, f);
	if (r == -EACCES || r == -EPERM) /* the folder is refused to its user, not the process to us */
		return fault_set(f, WORLD_DENIED,
				 "no folder for the profile of process %d could be made: %s, as its user: %s; the "
				 "profile needs a place that this user can write",
				 (int)pid, place.inner[0] ? place.inner : ret->folder, strerror(-r));
	if (r == WORLD_GONE)
		return fault_set(f, r, "process %d has ended", (int)pid);
	if (r)
		return fault_set(f, r, "no folder for the profile of process %d: %s", (int)pid,
				 strerror(r < 0 ? -r : EIO));
	heapattach_file_make(w, pid, &place, &p.block);
	p.who = &place.who;
	r = call_patiently(w, pid, "vigil_heap_attach", false, &p, f);
	/* Files that are not tied yet are found by later samples, so the profile goes on. */
	if (r && p.begun)
		r = 0;
	place_clear(&place, ret, !p.took, r != 0);
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
