#include <string.h>
#include <sys/syscall.h>

#include "act/inject/inject_parts.h"

/* FUTEX_WAIT or FUTEX_WAIT_PRIVATE (linux/futex.h) with value 2, which marks a held lock (lowlevellock.h of glibc). */
#define FUTEX_PLAIN_WAIT(op) (((op)&0x7f) == 0)
#define LOCK_CONTENDED 2

bool inject_is_libc(const char *file)
{
	return strncmp(file, "libc.so.6", 9) == 0 || strncmp(file, "libc-2.", 7) == 0 ||
	       strncmp(file, "libpthread", 10) == 0 || strncmp(file, "libdl", 5) == 0;
}

bool inject_is_loader(const char *file)
{
	return strncmp(file, "ld-linux", 8) == 0 || strncmp(file, "ld-2.", 5) == 0 || strncmp(file, "ld.so", 5) == 0;
}

/* True for a call in which malloc, the loader or fork may be waiting. A running thread is in no call. */
static bool call_is_suspect(int64_t nr, uint64_t op, uint64_t value)
{
	static const int64_t suspect[] = {
		SYS_brk,	SYS_mmap,     SYS_munmap,	SYS_mprotect,	     SYS_madvise,
		SYS_mremap,	SYS_clone,    SYS_execve,	SYS_clone3,	     SYS_exit,
		SYS_exit_group, SYS_execveat, SYS_rt_sigreturn, SYS_set_robust_list, SYS_pkey_mprotect,
		SYS_arch_prctl,
#ifdef SYS_fork
		SYS_fork,	SYS_vfork,
#endif
	};
	for (size_t i = 0; i < ARRAY_SIZE(suspect); i++)
		if (suspect[i] == nr)
			return true;
	return nr == SYS_futex && FUTEX_PLAIN_WAIT(op) && (uint32_t)value == LOCK_CONTENDED;
}

static bool name_is_suspect(const char *name)
{
	static const char *const words[] = {
		"alloc",   "free",	  "memalign", "dl_",	"dlopen",	   "dlsym",
		"dlclose", "dladdr",	  "dlmopen",  "dlinfo", "pthread_create",  "pthread_exit",
		"fork",	   "clone",	  "exit",     "abort",	"spawn",	   "tls_get_addr",
		"nptl_",   "posix_spawn", "system",   "popen",	"pthread_getattr", "mtrace",
		"cxa_",	   "exec",	  "malloc_",  "malloc", "iconv",	   "gconv",
		"nss",	   "resolv",
	};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static bool is_allocator(const char *path, const char *const *allocators, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(path, allocators[i]) == 0)
			return true;
	return false;
}

/*
 * Static functions of a stripped libc have no name. One that was called by a named function is judged by that function.
 */
static bool libc_frame_is_safe(const struct inject_frame *f, size_t depth, bool waits)
{
	if (f->name[0])
		return !name_is_suspect(f->name);
	/*
	 * A running thread is refused: free() jumps into an unnamed function, and code inside libc may hold any lock.
	 */
	return waits && depth < 4;
}

/* True for the first function of a thread or of the program. */
static bool is_first_function(const char *name, bool last)
{
	return name[0] == '\0' || strstr(name, "start") || (last && strstr(name, "clone"));
}

bool inject_is_safe(const struct inject_frame *frames, size_t n, bool complete, int64_t syscall, uint64_t arg1,
		    uint64_t arg2, const char *const *allocators, size_t n_allocators)
{
	bool waits = syscall >= 0;
	if (n == 0 || !complete)
		return false;
	if (waits && call_is_suspect(syscall, arg1, arg2))
		return false;
	/* The outermost frames, which start a thread or main, are functions of libc too; they hold no lock. */
	for (size_t i = 0; i < n; i++) {
		const struct inject_frame *f = &frames[i];
		bool outermost = i + 3 >= n && i > 0;
		if (inject_is_loader(f->file))
			return false;
		if (is_allocator(f->path, allocators, n_allocators))
			return false;
		if (!inject_is_libc(f->file))
			continue;
		if (!waits && i == 0)
			return false;
		if (outermost && is_first_function(f->name, i + 1 == n))
			continue;
		if (!libc_frame_is_safe(f, i, waits))
			return false;
	}
	return true;
}
