#include "meter.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"

static int open_in(const char *dir, const char *file, int flags, int *ret_fd)
{
	cleanup(closep) int d = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = d < 0 ? -1 : openat(d, file, flags | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static int read_text(struct meter *m, int fd, struct span *ret)
{
	size_t n = 0;
	int r = file_read_fd(fd, m->text, sizeof(m->text), &n);

	if (r < 0)
		return r;
	*ret = (struct span){m->text, n};
	return 0;
}

static int field(struct meter *m, int fd, const char *key, uint64_t *ret)
{
	struct span s;
	int r = read_text(m, fd, &s);

	return r < 0 ? r : text_field_u64(s, key, ret);
}

static int number(struct meter *m, int fd, uint64_t *ret)
{
	struct span s;
	int r = read_text(m, fd, &s);

	return r < 0 ? r : span_u64(span_trim(s), ret);
}

static int group_open(struct meter *m, const char *dir)
{
	cleanup(closep) int limit = -1;
	int r;

	m->group = true;
	m->v2 = open_in(dir, "memory.max", O_RDONLY, &limit) == 0;
	r = m->v2 ? 0 : open_in(dir, "memory.limit_in_bytes", O_RDONLY, &limit);
	if (r == 0)
		r = open_in(dir, m->v2 ? "memory.current" : "memory.usage_in_bytes", O_RDONLY, &m->usage_fd);
	if (r == 0)
		r = open_in(dir, "memory.stat", O_RDONLY, &m->stat_fd);
	if (r == 0)
		r = open_in(dir, m->v2 ? "memory.events" : "memory.oom_control", O_RDONLY, &m->events_fd);
	return r == 0 ? number(m, limit, &m->total_bytes) : r;
}

static int machine_open(struct meter *m)
{
	int r = open_in("/proc", "meminfo", O_RDONLY, &m->usage_fd);

	if (r == 0)
		r = open_in("/proc", "vmstat", O_RDONLY, &m->events_fd);
	if (r == 0)
		r = field(m, m->usage_fd, "MemTotal", &m->total_bytes);
	m->total_bytes *= r == 0 ? KIB : 0;
	return r;
}

int meter_open(struct meter *m, const char *memcg)
{
	int r;

	*m = (struct meter){.usage_fd = -1, .stat_fd = -1, .events_fd = -1, .kmsg_fd = -1};
	r = memcg ? group_open(m, memcg) : machine_open(m);
	if (r == 0 && open_in("/dev", "kmsg", O_RDONLY | O_NONBLOCK, &m->kmsg_fd) == 0)
		lseek(m->kmsg_fd, 0, SEEK_END);
	return r;
}

int meter_available(struct meter *m, uint64_t *ret_bytes)
{
	uint64_t usage = 0, active = 0, inactive = 0, kb = 0;
	struct span s;
	int r;

	if (!m->group) {
		r = field(m, m->usage_fd, "MemAvailable", &kb);
		*ret_bytes = r == 0 ? kb * KIB : *ret_bytes;
		return r;
	}
	r = number(m, m->usage_fd, &usage);
	if (r == 0)
		r = read_text(m, m->stat_fd, &s);
	if (r == 0)
		r = text_field_u64(s, m->v2 ? "active_file" : "total_active_file", &active);
	if (r == 0)
		r = text_field_u64(s, m->v2 ? "inactive_file" : "total_inactive_file", &inactive);
	if (r == 0)
		*ret_bytes = sub_floor(m->total_bytes, sub_floor(usage, active + inactive));
	return r;
}

uint64_t meter_kills_logged(struct meter *m, const char *name)
{
	char quoted[24];
	uint64_t kills = 0;
	ssize_t n;

	snprintf(quoted, sizeof(quoted), "(%s)", name);
	while (m->kmsg_fd >= 0 && ((n = read(m->kmsg_fd, m->text, sizeof(m->text))) > 0 || errno == EPIPE)) {
		struct span s = {m->text, n > 0 ? (size_t)n : 0};

		kills += span_has(s, "Killed process") && span_has(s, quoted);
	}
	return kills;
}

uint64_t meter_kills_counted(struct meter *m)
{
	uint64_t n = 0;

	return field(m, m->events_fd, "oom_kill", &n) == 0 ? n : 0;
}

int meter_usage(struct meter *m, uint64_t *ret_bytes)
{
	return m->group ? number(m, m->usage_fd, ret_bytes) : -EOPNOTSUPP;
}
