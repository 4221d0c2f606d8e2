#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "act/inject/inject_parts.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "sense/native/elffile.h"
#include "sense/proc/procfile.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait.h"

#define TRAP_BYTE 0xcc /* int3 */
#define TRAP_SEARCH (256 * 1024)
#define LIBRARY_BYTES_MAX (64 * MIB)
#define START_LOOKS 50
#define START_PAUSE_NS (2 * (long)NS_PER_MS)
/* Flag for __libc_dlopen_mode, used before glibc 2.34 (__RTLD_DLOPEN of its dlfcn.h). */
#define FLAG_DLOPEN 0x80000000u

/* ---- refusals ---- */

static int refuse_by_state(const struct proc_stat *st, const struct proc_status *status, pid_t pid, struct fault *f)
{
	if (st->kernel_thread)
		return fault_set(f, INJECT_REFUSED, "process %d (%s) is a thread of the kernel: it has no heap",
				 (int)pid, st->comm);
	if (st->state == 'Z' || st->state == 'X')
		return fault_set(
			f, INJECT_REFUSED,
			"process %d (%s) has ended and waits for its parent to take note: it has no memory any more",
			(int)pid, st->comm);
	if (status->tracer > 0)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d (%s) is traced by process %d (a debugger or strace), and only one may; end that "
			"one first",
			(int)pid, st->comm, (int)status->tracer);
	if (st->state == 'T' || st->state == 't')
		return fault_set(
			f, INJECT_REFUSED,
			"process %d (%s) is stopped, and nothing can be loaded into it until it runs: continue it "
			"(kill -CONT %d) and try again",
			(int)pid, st->comm, (int)pid);
	return 0;
}

static int inject_target_check(struct inject_target *t, struct fault *f)
{
	struct proc_stat st;
	struct proc_status status;
	struct threadwait wait;
	int r = proc_stat_read(t->w, t->pid, &st);
	if (r == 0)
		r = proc_status_read(t->w, t->pid, &status);
	if (r == 0)
		r = inject_seccomp_read(t->w, t->pid, t->pid, &t->seccomp);
	if (r)
		return r == WORLD_GONE ? fault_set(f, r, "process %d has ended", (int)t->pid) : r;
	t->start_ticks = st.start_ticks;
	r = refuse_by_state(&st, &status, t->pid, f);
	if (r)
		return r;
	if (threadwait_read(t->w, t->pid, t->pid, NULL, false, &wait) == 0 && wait.kind == WAIT_STOPPED)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d (%s) is frozen (its control group stands still), and nothing can be loaded into "
			"it until it runs",
			(int)t->pid, st.comm);
	t->filters = inject_seccomp_whose(t->w, t->pid, &t->seccomp);
	if (t->filters == FILTERS_OWN)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d (%s) has a seccomp filter that is not its container's (it gave itself one, or its "
			"service did): a call it forbids could kill the process, so nothing is loaded into it; start "
			"it with vigil run --heap instead",
			(int)t->pid, st.comm);
	return 0;
}

/* ---- addresses ---- */

static bool is_repeat(const struct maps *m, size_t i)
{
	return i > 0 && m->rows[i].inode == m->rows[i - 1].inode && m->rows[i].dev == m->rows[i - 1].dev;
}

static const struct map_row *inject_target_row(const struct maps *m, bool (*is)(const char *file))
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].inode && is(path_name(m->rows[i].path)))
			return &m->rows[i];
	return NULL;
}

/* Address of an exported function in the process; 0: no such function. */
static uint64_t address_of(const struct inject_target *t, const struct elf *e, const struct map_row *row,
			   const char *name)
{
	struct elf_symbol s;
	uint64_t bias;
	if (elf_bias(e, &t->maps, row, &bias) != 0 || elf_find_export(e, name, &s) != 0 || s.type != STT_FUNC)
		return 0;
	return bias + s.value;
}

static bool is_libc_itself(const char *file)
{
	return strncmp(file, "libc.so.6", 9) == 0 || strncmp(file, "libc-2.", 7) == 0;
}

static bool is_libdl(const char *file)
{
	return strncmp(file, "libdl.so.2", 10) == 0 || strncmp(file, "libdl-2.", 8) == 0;
}

static bool is_musl(const char *file)
{
	return strncmp(file, "ld-musl", 7) == 0 || strncmp(file, "libc.musl", 9) == 0;
}

static void find_loader(struct inject_target *t, const struct elf *libc, const struct map_row *row)
{
	t->dlopen_flags = RTLD_NOW | RTLD_LOCAL;
	t->dlopen = address_of(t, libc, row, "dlopen");
	t->dlsym = address_of(t, libc, row, "dlsym");
	t->dlerror = address_of(t, libc, row, "dlerror");
	const struct map_row *dl = t->dlopen ? NULL : inject_target_row(&t->maps, is_libdl);
	struct elf e;
	if (dl && elf_open_map(t->w, t->pid, dl, &e) == 0) {
		t->dlopen = address_of(t, &e, dl, "dlopen");
		t->dlsym = address_of(t, &e, dl, "dlsym");
		t->dlerror = address_of(t, &e, dl, "dlerror");
		elf_done(&e);
	}
	if (t->dlopen)
		return;
	t->dlopen = address_of(t, libc, row, "__libc_dlopen_mode");
	t->dlsym = address_of(t, libc, row, "__libc_dlsym");
	t->dlopen_flags = (int)((unsigned)RTLD_NOW | FLAG_DLOPEN);
}

/* Finds a byte of the code of libc that is a breakpoint instruction when jumped to. */
static void find_trap(struct inject_target *t, const struct map_row *row, uint64_t ignored_signals)
{
	static uint8_t code[TRAP_SEARCH];
	t->trap_signal = SIGSEGV;
	if (ignored_signals >> (SIGTRAP - 1) & 1)
		return;
	for (const struct map_row *x = row; x < t->maps.rows + t->maps.n && x->inode == row->inode; x++) {
		size_t len = MIN(sizeof(code), x->end - x->start);
		if (!(x->flags & MAP_EXEC) || remote_read(&t->remote, x->start, code, len) != 0)
			continue;
		const uint8_t *at = memchr(code, TRAP_BYTE, len);
		if (!at)
			continue;
		t->trap = x->start + (uint64_t)(at - code);
		t->trap_signal = SIGTRAP;
		return;
	}
}

static int find_libc(struct inject_target *t, struct fault *f)
{
	const struct map_row *row = inject_target_row(&t->maps, is_libc_itself);
	struct elf e;
	if (t->maps.n == 0)
		return fault_set(f, WORLD_GONE, "process %d has ended", (int)t->pid);
	if (!row && inject_target_row(&t->maps, is_musl))
		return fault_set(
			f, INJECT_REFUSED,
			"process %d runs with musl, and vigil's heap library needs glibc; --what growth shows where "
			"its memory grows without loading anything",
			(int)t->pid);
	if (!row)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d is a static program (or uses another C library than glibc): nothing can be loaded "
			"into it; --what growth shows where its memory grows without loading anything",
			(int)t->pid);
	int r = elf_open_map(t->w, t->pid, row, &e);
	if (r == ELF_FOREIGN)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d is a 32-bit program, or one of another machine; vigil's heap library is not for "
			"those",
			(int)t->pid);
	if (r == WORLD_DENIED || r == WORLD_GONE || r < 0)
		return r;
	if (r)
		return fault_set(f, INJECT_REFUSED,
				 "process %d: its libc (%s) cannot be read; it was replaced since the program started",
				 (int)t->pid, row->path);
	find_loader(t, &e, row);
	t->memfd_create = address_of(t, &e, row, "memfd_create");
	t->close = address_of(t, &e, row, "close");
	elf_done(&e);
	find_trap(t, row, t->seccomp.ignored_signals);
	if (t->trap_signal == SIGSEGV && (t->seccomp.ignored_signals >> (SIGSEGV - 1) & 1))
		return fault_set(
			f, INJECT_REFUSED,
			"process %d ignores both SIGTRAP and SIGSEGV, one of which is needed to load something into it",
			(int)t->pid);
	if (!t->dlopen || !t->dlsym)
		return fault_set(f, INJECT_REFUSED, "process %d: its libc (%s) has no dlopen", (int)t->pid, row->path);
	return 0;
}

static void note_allocator(struct inject_target *t, const struct map_row *row)
{
	const char *file = path_name(row->path);
	struct elf_symbol s;
	struct elf e;
	if (inject_is_libc(file) || inject_is_loader(file) || t->n_allocators == INJECT_ALLOCATORS)
		return;
	if (elf_open_map(t->w, t->pid, row, &e) != 0)
		return;
	if (elf_find_export(&e, "malloc", &s) == 0)
		t->allocator[t->n_allocators++] = row->path;
	elf_done(&e);
}

/* The mapping of the library, from its file or from a copy in memory; NULL: not loaded. */
static const struct map_row *library_row(const struct inject_target *t, const struct stat *st)
{
	uint32_t dev = (uint32_t)(major(st->st_dev) << 20 | minor(st->st_dev));
	for (size_t i = 0; i < t->maps.n; i++) {
		const struct map_row *row = &t->maps.rows[i];
		bool same = row->inode == st->st_ino && row->dev == dev;
		bool copy = row->deleted && (strncmp(path_name(row->path), "memfd:vigil-heap", 16) == 0 ||
					     strncmp(path_name(row->path), "vigil-heap-", 11) == 0);
		if (row->inode && (same || copy))
			return row;
	}
	return NULL;
}

/* Reads the whole file, which also brings it into the page cache: the loader of the program then waits for no disk. */
static void function_find(struct inject_target *t, const struct inject_want *want)
{
	cleanup(freep) char *all = NULL;
	struct elf_symbol s;
	struct elf e;
	size_t len;
	if (file_slurp(AT_FDCWD, want->library, LIBRARY_BYTES_MAX, &all, &len) != 0 || len < sizeof(t->head))
		return;
	memcpy(t->head, all, sizeof(t->head));
	int fd = open(want->library, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_open_fd(fd, &e) != 0)
		return;
	if (elf_find_export(&e, want->symbol, &s) == 0 && s.type == STT_FUNC)
		t->offset = s.value;
	elf_done(&e);
}

static int find_library(struct inject_target *t, const struct inject_want *want, struct fault *f)
{
	cleanup(closep) int theirs = -1;
	struct stat st, seen;
	struct elf e;
	if (want->library[0] != '/' || stat(want->library, &st) != 0)
		return fault_set(f, INJECT_REFUSED, "%s: vigil's own library is not there", want->library);
	t->sees_file = procfile_open(t->w, t->pid, want->library, FOREIGN_LINKS, &theirs) == 0 &&
		       fstat(theirs, &seen) == 0 && seen.st_dev == st.st_dev && seen.st_ino == st.st_ino;
	const struct map_row *row = library_row(t, &st);
	if (!row && want->only_loaded)
		return fault_set(f, INJECT_ABSENT, "process %d has not got vigil's heap library", (int)t->pid);
	if (!row)
		function_find(t, want);
	if (!row || elf_open_map(t->w, t->pid, row, &e) != 0)
		return 0;
	t->symbol = address_of(t, &e, row, want->symbol);
	elf_done(&e);
	return t->symbol ? 0
			 : fault_set(f, INJECT_FAILED,
				     "process %d has another version of vigil's heap library loaded, without %s",
				     (int)t->pid, want->symbol);
}

/* A program that has just started has a loader, but no libc yet. */
static int maps_begin(struct inject_target *t)
{
	const struct timespec pause = {.tv_nsec = START_PAUSE_NS};
	uint64_t loader = 0;
	int r = 0;
	for (int i = 0; i < START_LOOKS; i++) {
		maps_done(&t->maps);
		r = maps_read(t->w, t->pid, &t->maps);
		if (r || inject_target_row(&t->maps, is_libc_itself) || inject_target_row(&t->maps, is_musl))
			break;
		if (proc_auxv_read(t->w, t->pid, AT_BASE, &loader) != 0 || loader == 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return r ? r : maps_read(t->w, t->pid, &t->first);
}

/* Asked after the bytes were read that tell this program from the next one. */
static int starter_check(const struct inject_target *t, const struct inject_want *want, struct fault *f)
{
	struct procfile_start start;
	struct foreign_user user;
	int r = want->who ? procfile_user(t->w, t->pid, &user) : 0;
	if (r == 0 && want->who && (user.uid != want->who->uid || t->start_ticks != want->who->start_ticks))
		return fault_set(f, WORLD_GONE, "process %d ended, or became another program, meanwhile", (int)t->pid);
	if (r == 0 && geteuid() == 0)
		r = procfile_start(t->w, t->pid, &start);
	if (r == 0 && geteuid() == 0 && start.secure)
		return fault_set(f, INJECT_REFUSED,
				 "process %d runs a set-user-ID or set-group-ID program, or one with capabilities: "
				 "what it wrote for vigil would serve who started it, so nothing is loaded into it",
				 (int)t->pid);
	return r;
}

int inject_target_open(const struct world *w, pid_t pid, const struct inject_want *want, struct inject_target *ret,
		       struct fault *f)
{
	*ret = (struct inject_target){.w = w, .pid = pid};
	remote_open(w, pid, &ret->remote);
	int r = inject_target_check(ret, f);
	/* Read before everything else, so that a later exec is noticed. */
	if (r == 0)
		r = proc_auxv_read(w, pid, AT_RANDOM, &ret->program_id_addr);
	if (r == 0)
		r = remote_read(&ret->remote, ret->program_id_addr, ret->program_id, sizeof(ret->program_id));
	if (r > 0 && r < INJECT_REFUSED && r != WORLD_DENIED)
		r = WORLD_GONE; /* it became another program between the two */
	if (r == 0)
		r = starter_check(ret, want, f);
	if (r == 0)
		r = maps_begin(ret);
	if (r == 0)
		r = find_libc(ret, f);
	if (r == 0)
		r = find_library(ret, want, f);
	for (size_t i = 0; r == 0 && i < ret->first.n; i++)
		if (ret->first.rows[i].inode && ret->first.rows[i].path[0] == '/' && !is_repeat(&ret->first, i))
			note_allocator(ret, &ret->first.rows[i]);
	if (r)
		return r;
	ret->natives = natives_new();
	ret->native = ret->natives ? native_new(ret->natives, w, &ret->remote) : NULL;
	return ret->native ? 0 : -ENOMEM;
}

bool inject_target_same(struct inject_target *t)
{
	uint64_t program_id[2], addr;
	/*
	 * The process may have set its own vector (PR_SET_MM_MAP) to an address at which the next program has the same
	 * bytes. That one has the kernel's vector.
	 */
	return proc_auxv_read(t->w, t->pid, AT_RANDOM, &addr) == 0 && addr == t->program_id_addr &&
	       remote_read(&t->remote, t->program_id_addr, program_id, sizeof(program_id)) == 0 &&
	       memcmp(program_id, t->program_id, sizeof(program_id)) == 0;
}

void inject_target_renew(struct inject_target *t)
{
	struct maps again;
	if (maps_read(t->w, t->pid, &again) != 0)
		return;
	maps_done(&t->maps);
	t->maps = again;
	ignore(native_refresh(t->native), "the old ones are good enough");
}

void inject_target_close(struct inject_target *t)
{
	t->native = native_free(t->native);
	t->natives = natives_free(t->natives);
	maps_done(&t->maps);
	maps_done(&t->first);
	remote_done(&t->remote);
}
