#include "agent/map/mapslots.h"

#include <fcntl.h>
#include <sched.h>

#include "agent/map/mapspec.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

uint32_t mapslots_cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)MAX(CPU_COUNT(&set), 1) : 1;
}

int mapslots_parse(const char *text, uint32_t *ret)
{
	uint64_t n = 0;
	bool more = text[0] == '+', less = text[0] == '-';
	struct span s = span_of(text);
	bool share = s.len > 1 && s.p[s.len - 1] == '%';
	if (more || less)
		s = (struct span){s.p + 1, s.len - 1};
	if (share)
		s.len--;
	if (span_u64(s, &n) < 0 || n > 1000000)
		return -EINVAL;
	uint64_t by = share ? (n * mapslots_cores() + 99) / 100 : n;
	if (more)
		by = mapslots_cores() + by;
	else if (less)
		by = sub_floor(mapslots_cores(), by);
	else if (!share && n == 0)
		by = MAP_SLOTS;
	*ret = (uint32_t)MIN(MAX(by, 1), MAP_SLOTS);
	return 0;
}

int mapslots_read(const char *path, uint32_t *ret)
{
	char text[128], word[64];
	size_t len = 0;
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	int r = file_read_from(fd, 0, text, sizeof(text) - 1, &len);
	if (r < 0)
		return r;
	struct span line = span_trim(span_before((struct span){text, len}, "\n"));
	if (line.len == 0 || line.len >= sizeof(word))
		return -EINVAL;
	span_copy(line, word, sizeof(word));
	return mapslots_parse(word, ret);
}
