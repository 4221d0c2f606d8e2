#include "sense/speed/cpustat.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "sense/memory/cgroup.h"

/* user nice system idle iowait irq softirq steal; guest time is part of user. */
enum { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ, CPU_STEAL, CPU_FIELDS };

static bool fields_parse(struct span line, uint64_t field[static CPU_FIELDS])
{
	struct span word;
	for (size_t i = 0; i < CPU_FIELDS; i++)
		if (!span_word(&line, &word) || span_u64(word, &field[i]) < 0)
			return false;
	return true;
}

static void cpu_line(struct span name, struct span rest, struct cpustat *s, bool *ret_any)
{
	uint64_t f[CPU_FIELDS], cpu;
	if (!fields_parse(rest, f))
		return;
	if (name.len == 3) {
		*ret_any = true;
		s->busy = f[CPU_USER] + f[CPU_NICE] + f[CPU_SYSTEM] + f[CPU_IRQ] + f[CPU_SOFTIRQ];
		s->idle = f[CPU_IDLE];
		s->iowait = f[CPU_IOWAIT];
		s->steal = f[CPU_STEAL];
	} else if (span_u64((struct span){name.p + 3, name.len - 3}, &cpu) == 0 && cpu < CPUTOPO_MAX) {
		s->cpu_idle[cpu] = f[CPU_IDLE] + f[CPU_IOWAIT];
	}
}

int cpustat_parse(struct span text, struct cpustat *ret)
{
	struct span line, name;
	bool any = false;
	memset(ret, 0, sizeof(*ret));
	while (span_line(&text, &line)) {
		if (!span_word(&line, &name))
			continue;
		if (span_starts(name, "cpu"))
			cpu_line(name, line, ret, &any);
	}
	return any ? 0 : -EBADMSG;
}

int cpustat_read(const struct world *w, struct cpustat *ret)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	int r = file_slurp(w->proc_fd, "stat", 4 * MIB, &text, &len);
	return r < 0 ? r : cpustat_parse((struct span){text, len}, ret);
}

int loadavg_parse(struct span text, struct loadavg *ret)
{
	struct span word = {NULL, 0};
	uint64_t last;
	for (size_t i = 0; i < 4; i++)
		if (!span_word(&text, &word))
			return -EBADMSG;
	if (!span_has(word, "/") || span_u64(span_before(word, "/"), &ret->running) != 0)
		return -EBADMSG;
	if (!span_word(&text, &word) || span_u64(word, &last) != 0 || last > INT32_MAX)
		return -EBADMSG;
	ret->last_pid = (pid_t)last;
	return 0;
}

int loadavg_read(const struct world *w, struct loadavg *ret)
{
	char text[128];
	size_t len;
	int r = file_read_at(w->proc_fd, "loadavg", text, sizeof(text), &len);
	return r < 0 ? r : loadavg_parse((struct span){text, len}, ret);
}

int swapstat_read(const struct world *w, struct swapstat *ret)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	if (file_slurp(w->proc_fd, "vmstat", MIB, &text, &len) < 0)
		return WORLD_ABSENT;
	struct span all = {text, len};
	if (text_field_u64(all, "pswpin", &ret->in_pages) < 0 || text_field_u64(all, "pswpout", &ret->out_pages) < 0)
		return WORLD_ABSENT;
	return 0;
}

int cpuquota_max_parse(struct span text, double *ret)
{
	struct span quota, period;
	uint64_t q, p;
	if (!span_word(&text, &quota) || !span_word(&text, &period) || span_u64(span_trim(period), &p) < 0 || p == 0)
		return -EBADMSG;
	if (span_eq(quota, "max")) {
		*ret = 0;
		return 0;
	}
	if (span_u64(quota, &q) < 0)
		return -EBADMSG;
	*ret = (double)q / (double)p;
	return 0;
}

static bool group_file(const struct world *w, const char *group, const char *file, char *text, size_t cap,
		       struct span *ret)
{
	char path[CGROUP_PATH_MAX + 32];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", group, file);
	if (file_read_at(w->cgroup_fd, path, text, cap, &len) != 0)
		return false;
	*ret = span_trim((struct span){text, len});
	return true;
}

/* The quota of one group, of either version; 0: none. */
static double quota_of(const struct world *w, const char *group)
{
	char text[128];
	struct span all;
	int64_t quota;
	uint64_t period;
	double cores;
	if (group_file(w, group, "cpu.max", text, sizeof(text), &all))
		return cpuquota_max_parse(all, &cores) == 0 ? cores : 0;
	if (!group_file(w, group, "cpu.cfs_quota_us", text, sizeof(text), &all) || span_i64(all, &quota) < 0 ||
	    quota <= 0)
		return 0;
	if (!group_file(w, group, "cpu.cfs_period_us", text, sizeof(text), &all) || span_u64(all, &period) < 0 ||
	    period == 0)
		return 0;
	return (double)quota / (double)period;
}

int cpuquota_read(const struct world *w, pid_t pid, struct cpuquota *ret)
{
	char group[CGROUP_PATH_MAX], text[1024];
	struct cgroup_place place;
	struct cpuquota best = {.cores = 0};
	struct span all;
	bool any = false;
	int r = cgroup_place_read(w, pid, &place);
	if (r)
		return r;
	if (place.cpu[0] == '\0')
		return WORLD_ABSENT;
	TEXT_COPY(group, place.cpu);
	do {
		if (!group_file(w, group, "cpu.stat", text, sizeof(text), &all))
			continue;
		any = true;
		double cores = quota_of(w, group);
		if (cores <= 0 || (best.cores > 0 && cores >= best.cores))
			continue;
		best.cores = cores;
		TEXT_COPY(best.group, group);
		if (text_field_u64(all, "nr_periods", &best.periods) < 0 ||
		    text_field_u64(all, "nr_throttled", &best.throttled) < 0)
			best.periods = best.throttled = 0;
		uint64_t us = 0;
		if (text_field_u64(all, "throttled_time", &best.throttled_ns) < 0)
			best.throttled_ns = text_field_u64(all, "throttled_usec", &us) == 0 ? us * NS_PER_US : 0;
	} while (path_cut(group));
	if (!any)
		return WORLD_ABSENT;
	*ret = best;
	return 0;
}
