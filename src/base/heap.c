#include "base/heap.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/text.h"

static bool huge_pages_were_on;

void heap_huge_pages_undo(void)
{
	if (huge_pages_were_on)
		ignore(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), "it was taken as well");
}

void heap_huge_pages_redo(void)
{
	if (huge_pages_were_on)
		ignore(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), "the tables then take more memory");
}

void heap_keep_sparse(void)
{
	huge_pages_were_on = huge_pages_were_on || prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
	heap_huge_pages_redo();
#ifdef M_MMAP_THRESHOLD
	/* Setting it ends its growth. The buffer of opendir(3), 32 KiB, is better off in the heap. */
	ignore(mallopt(M_MMAP_THRESHOLD, 36 * KIB) == 0, "the tables then take more memory");
	ignore(mallopt(M_TRIM_THRESHOLD, 256 * KIB) == 0, "the heap then keeps more of what was freed");
#endif
}

void heap_give_back(void)
{
#ifdef M_MMAP_THRESHOLD
	ignore(malloc_trim(0), "there was nothing to give back");
#endif
}

/* The kernel's limit counts all mappings, so it lies above what there are now. */
bool heap_limit(int proc_fd, uint64_t bytes)
{
	char text[128];
	size_t len;
	uint64_t pages;
	if (file_read_at(proc_fd, "self/statm", text, sizeof(text), &len) != 0 ||
	    span_u64_prefix((struct span){text, len}, &pages) != 0)
		return false;
	const uint64_t most = pages * (uint64_t)sysconf(_SC_PAGESIZE) + bytes;
	return setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) == 0;
}
