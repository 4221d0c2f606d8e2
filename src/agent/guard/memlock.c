#include "agent/guard/memlock.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Most stack that the guard uses; it is touched once so that its pages exist. */
#define STACK_BYTES (128 * 1024)

struct locker {
	bool good;
	bool first;
};

static bool lock_range(uintptr_t from, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = from & ~(page - 1);
	return mlock2((const void *)start, from + len - start, MLOCK_ONFAULT) == 0;
}

static int lock_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	struct locker *l = ctx;
	const char *name = info->dlpi_name;
	bool own = l->first; /* the program itself comes first */
	l->first = false;
	if (!own && !strstr(name, "/libc.so") && !strstr(name, "/ld-linux") && !strstr(name, "/ld-musl"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && !lock_range(info->dlpi_addr + p->p_vaddr, p->p_memsz))
			l->good = false;
	}
	return 0;
}

static bool lock_stack(void)
{
	volatile char room[STACK_BYTES];
	for (size_t i = 0; i < sizeof(room); i += 4096)
		room[i] = 0;
	return lock_range((uintptr_t)room, sizeof(room));
}

bool memlock_own(void *a, size_t a_len, void *b, size_t b_len)
{
	struct locker l = {.good = true, .first = true};
	struct rlimit r;
	if (getrlimit(RLIMIT_MEMLOCK, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_MEMLOCK, &r);
	}
	(void)dl_iterate_phdr(lock_object, &l);
	bool stack = lock_stack();
	return lock_range((uintptr_t)a, a_len) && lock_range((uintptr_t)b, b_len) && stack && l.good;
}

void memlock_populate(void *p, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)p & ~(page - 1);
	ignore(madvise((void *)start, (uintptr_t)p + len - start, MADV_POPULATE_WRITE),
	       "then they come when they are touched");
}
