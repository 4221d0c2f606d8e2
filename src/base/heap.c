#include "base/heap.h"

#include <malloc.h>
#include <sys/prctl.h>

#include "base/base.h"

void heap_keep_sparse(void)
{
	ignore(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), "the tables then take more memory");
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
