/* /proc/PID/mountinfo, whose mount points other users name. The text up to the first NUL is the path. */
#include <assert.h>
#include <string.h>

#include "sense/wait/waitfacts_parts.h"

static void mount_check(const struct waitmount *m, struct span all)
{
	assert(m->type.p >= all.p && m->type.p + m->type.len <= all.p + all.len);
	assert(m->source.p >= all.p && m->source.p + m->source.len <= all.p + all.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	struct waitmount m;
	if (!nul)
		return 0;
	const struct span path = {(const char *)data, (size_t)(nul - data)};
	const struct span mounts = {(const char *)nul + 1, size - path.len - 1};
	if (waitmount_by_path(mounts, path, &m))
		mount_check(&m, mounts);
	for (uint64_t id = 0; id < 64; id++)
		if (waitmount_by_id(mounts, id, &m))
			mount_check(&m, mounts);
	return 0;
}
