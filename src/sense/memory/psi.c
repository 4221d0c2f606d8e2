#include "sense/memory/psi.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/buf.h"
#include "base/file.h"

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

/* Unprivileged callers may only use windows that are multiples of this. */
#define PSI_COMMON_WINDOW_US UINT64_C(2000000)

/* Parses "12.34" (per cent) to a ratio 0..1. Digits beyond the fourth after the point are ignored. */
static int percent_parse(struct span s, double *ret_ratio)
{
	uint64_t whole;
	int r = span_u64_prefix(s, &whole);
	if (r == -ERANGE)
		whole = 100;
	else if (r < 0)
		return -EBADMSG;
	double v = (double)whole, unit = 0.1;
	struct span rest = span_after(s, ".");
	for (size_t i = 0; i < rest.len && i < 4 && rest.p[i] >= '0' && rest.p[i] <= '9'; i++, unit /= 10)
		v += (double)(rest.p[i] - '0') * unit;
	*ret_ratio = MIN(v, 100.0) / 100.0;
	return 0;
}

static int line_parse(struct span line, struct psi_line *ret)
{
	struct psi_line v = {};
	static const char *const names[] = {"avg10=", "avg60=", "avg300="};
	double *const ratios[] = {&v.avg10_ratio, &v.avg60_ratio, &v.avg300_ratio};
	unsigned seen = 0;
	struct span word;
	while (span_word(&line, &word)) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			if (!span_starts(word, names[i]))
				continue;
			int r = percent_parse(span_after(word, "="), ratios[i]);
			if (r < 0)
				return r;
			seen |= 1U << i;
		}
		if (span_starts(word, "total=") && span_u64_prefix(span_after(word, "="), &v.total_us) == 0)
			seen |= 8;
	}
	if (seen != 15)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int psi_parse(struct span text, struct psi *ret)
{
	struct psi p = {};
	bool has_some = false;
	struct span line;
	while (span_line(&text, &line)) {
		int r = 0;
		if (span_starts(line, "some ")) {
			r = line_parse(line, &p.some);
			has_some = r == 0;
		} else if (span_starts(line, "full ")) {
			r = line_parse(line, &p.full);
			p.has_full = r == 0;
		}
		if (r < 0)
			return r;
	}
	if (!has_some)
		return -EBADMSG;
	*ret = p;
	return 0;
}

/* A missing file and a kernel booted without psi=1 both mean that there is no PSI. */
static int psi_condition(int r)
{
	switch (r) {
	case -ENOENT:
	case -ENOTDIR:
	case -EBADF:
	case -EOPNOTSUPP:
		return WORLD_ABSENT;
	default:
		return world_condition(r);
	}
}

int psi_read(int dirfd, const char *file, struct psi *ret)
{
	char text[512];
	size_t len;
	if (dirfd < 0)
		return WORLD_ABSENT;
	int r = file_read_at(dirfd, file, text, sizeof(text), &len);
	if (r < 0)
		return psi_condition(r);
	return psi_parse((struct span){text, len}, ret);
}

/* True for a file of the live machine: a trigger is made by writing, and a recorded tree stays unchanged. */
static bool is_live(int fd)
{
	struct statfs fs;
	if (fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == PROC_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int trigger_write(int fd, bool full, uint64_t stall_us, uint64_t window_us)
{
	char text[64];
	int n = text_format(text, sizeof(text), "%s %llu %llu", full ? "full" : "some", (unsigned long long)stall_us,
			    (unsigned long long)window_us);
	/* The kernel expects the NUL, too. */
	if (write(fd, text, (size_t)n + 1) < 0)
		return -errno;
	return 0;
}

int psi_trigger_open(int dirfd, const char *file, bool full, uint64_t stall_us, uint64_t window_us, int *ret_fd,
		     uint64_t *ret_window_us)
{
	if (dirfd < 0)
		return WORLD_ABSENT;
	if (window_us == 0 || stall_us > window_us)
		return -EINVAL;
	cleanup(closep) int fd = openat(dirfd, file, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return psi_condition(-errno);
	if (!is_live(fd))
		return WORLD_ABSENT;
	int r = trigger_write(fd, full, stall_us, window_us);
	if ((r == -EINVAL || r == -EPERM) && window_us % PSI_COMMON_WINDOW_US != 0) {
		uint64_t scaled = (uint64_t)((double)stall_us / (double)window_us * (double)PSI_COMMON_WINDOW_US);
		window_us = PSI_COMMON_WINDOW_US;
		r = trigger_write(fd, full, MAX(scaled, 1), window_us);
	}
	if (r < 0)
		return psi_condition(r);
	*ret_fd = take_fd(&fd);
	*ret_window_us = window_us;
	return 0;
}
