#include "sense/ncclversion.h"

#include "base/buf.h"

bool nccl_version_find(struct span text, char dst[static 16])
{
	struct span after = span_after(text, "NCCL version 2.");
	if (!after.p)
		return false;
	size_t len = 0;
	while (len < after.len && len < 8 && ((after.p[len] >= '0' && after.p[len] <= '9') || after.p[len] == '.'))
		len++;
	(void)text_format(dst, 16, "2.%.*s", (int)len, after.p);
	return true;
}
