#include "base/vec.h"

#define CAP_FIRST 16

int vec_reserve(void *items, size_t *cap, size_t need, size_t item_bytes)
{
	void **at = items;
	if (need <= *cap)
		return 0;
	size_t more = MAX(need, *cap > SIZE_MAX / 2 ? SIZE_MAX : MAX(*cap * 2, (size_t)CAP_FIRST));
	void *p = reallocarray(*at, more, item_bytes);
	if (!p)
		return -ENOMEM;
	*at = p;
	*cap = more;
	return 0;
}
