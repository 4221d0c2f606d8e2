#include "judge/memory/heapcopy.h"

#define COPY_NS (10 * NS_PER_S)
#define READ_NS (500 * NS_PER_MS)
#define READ_RATIO 20 /* a read may take this part of the time */

uint64_t heapcopy_read_due_ns(const struct heapcopy *last)
{
	return last->read_ns ? last->read_ns + MAX(READ_NS, last->took_ns * READ_RATIO) : 0;
}

bool heapcopy_is_due(const struct heapcopy *last, uint64_t now_ns, uint64_t live_bytes)
{
	return !last->copy_ns || now_ns - last->copy_ns >= COPY_NS || live_bytes / 9 * 8 >= last->live_bytes;
}
