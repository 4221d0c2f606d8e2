/* Every text of shared memory, fed with the same bytes. */
#include <stdint.h>

#include "sense/memory/shmtext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int segment_seen(void *ctx, const struct shmtext_sysv *s)
{
	*(uint64_t *)ctx += s->size_bytes;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size}, rest = text, line, name;
	uint64_t sum = 0;
	pid_t pid;
	while (span_line(&rest, &line)) {
		struct shmtext_mapping m;
		if (shmtext_mapping_parse(line, &m) == 0 && m.end < m.start)
			__builtin_trap();
		if (shmtext_link_kind(line, &name) > SHM_ANON || name.len > line.len)
			__builtin_trap();
		(void)shmtext_maker(line, &pid);
		if (pid < 0)
			__builtin_trap();
	}
	int r = shmtext_sysv_parse(text, segment_seen, &sum);
	if (r > 0)
		__builtin_trap();
	return 0;
}
