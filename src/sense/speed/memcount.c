#include "sense/speed/memcount.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/keptfds.h"
#include "sense/speed/cputopo.h"

#define UNITS "bus/event_source/devices"

static int kernel_open(const struct pmuevent *e, uint32_t type, uint32_t cpu)
{
	struct perf_event_attr a = {
		.type = type,
		.size = sizeof(a),
		.config = e->config[0],
		.config1 = e->config[1],
		.config2 = e->config[2],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	const long fd = syscall(SYS_perf_event_open, &a, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int kernel_read(int fd, struct memcount_value *ret)
{
	struct memcount_value v;
	const ssize_t n = read(fd, &v, sizeof(v));
	if (n != (ssize_t)sizeof(v))
		return n < 0 ? -errno : -ENODATA;
	*ret = v;
	return 0;
}

const struct memcount_ops memcount_kernel = {.open = kernel_open, .read = kernel_read};

/* The kinds of units. Those of a later kind are not asked where one of an earlier kind counts: they count the same. */
static const struct memcount_kind {
	const char *prefix;
	const char *reads[2], *writes[2]; /* the beginnings of the names of events in /sys */
	const char *read_terms, *write_terms; /* or the events themselves */
} kinds[] = {
	{"uncore_imc", {"cas_count_read", "data_reads"}, {"cas_count_write", "data_writes"}, NULL, NULL},
	{"uncore_imc_free_running", {"read", "data_read"}, {"write", "data_write"}, NULL, NULL},
	{"amd_umc", {NULL, NULL}, {NULL, NULL}, "event=0x0a,rdwrmask=0x1", "event=0x0a,rdwrmask=0x2"},
};
#define UMC_BYTES 64

/* "uncore_imc" and "uncore_imc_3" are of the first kind, "uncore_imc_free_running_0" is not. */
static bool is_kind(const struct memcount_kind *k, const char *name)
{
	const size_t n = strlen(k->prefix);
	if (strncmp(name, k->prefix, n) != 0)
		return false;
	return name[n] == '\0' ||
	       (name[n] == '_' && name[n + 1] != '\0' && name[n + 1 + strspn(name + n + 1, "0123456789")] == '\0');
}

struct unit {
	int fd; /* its folder */
	uint32_t type;
	struct cpuset_bits cpus;
};

static int unit_text(const struct unit *u, const char *path, char *buf, size_t cap, struct span *ret)
{
	size_t len;
	const int r = file_read_at(u->fd, path, buf, cap, &len);
	if (r == 0)
		*ret = span_trim((struct span){buf, len});
	return r;
}

static bool unit_open(int units_fd, const char *name, struct unit *ret)
{
	char text[4096];
	struct span s;
	uint64_t type;
	struct unit u = {.fd = openat(units_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	if (u.fd < 0)
		return false;
	if (unit_text(&u, "type", text, sizeof(text), &s) == 0 && span_u64(s, &type) == 0 && type <= UINT32_MAX &&
	    unit_text(&u, "cpumask", text, sizeof(text), &s) == 0 && cpulist_parse(s, &u.cpus) == 0) {
		u.type = (uint32_t)type;
		*ret = u;
		return true;
	}
	closep(&u.fd);
	return false;
}

/* An event from its terms, each at the bits that the unit's format names. */
static bool event_of(const struct unit *u, struct span terms, struct pmuevent *ret)
{
	struct pmuevent e = {{0}};
	struct pmuterm t;
	int r;
	while ((r = pmuterm_next(&terms, &t)) == 0) {
		char path[64], text[256];
		struct span format = span_of(t.name);
		TEXT_FORMAT(path, "format/%s", t.name);
		if (unit_text(u, path, text, sizeof(text), &format) != 0 && strncmp(t.name, "config", 6) != 0)
			return false;
		if (pmuevent_put(&e, format, t.value) < 0)
			return false;
	}
	*ret = e;
	return r == -ENOENT;
}

/* Why counters could not be opened. */
struct refusals {
	size_t known, denied, other;
};

static void counter_add(struct memcount *m, const struct unit *u, const struct pmuevent *e, bool writes, double bytes,
			struct refusals *no)
{
	for (uint32_t cpu = 0; cpu < CPUTOPO_MAX; cpu++) {
		if (!cpuset_has(&u->cpus, cpu))
			continue;
		no->known++;
		if (m->n == MEMCOUNT_MOST || !keptfds_take()) {
			no->other++;
			continue;
		}
		const int fd = m->ops->open(e, u->type, cpu);
		if (fd < 0) {
			keptfds_give(1);
			no->denied += fd == -EACCES || fd == -EPERM;
			no->other += fd != -EACCES && fd != -EPERM;
			continue;
		}
		m->one[m->n++] = (struct memcount_one){.fd = fd, .cpu = cpu, .writes = writes, .bytes = bytes};
	}
}

/* What one count of a named event stands for; false: the unit does not tell, so it says nothing of bytes. */
static bool event_bytes(const struct unit *u, const char *event, double *ret)
{
	char path[320], text[128];
	struct span s;
	double scale, unit;
	TEXT_FORMAT(path, "events/%s.scale", event);
	if (unit_text(u, path, text, sizeof(text), &s) != 0 || pmuscale_parse(s, &scale) < 0)
		return false;
	TEXT_FORMAT(path, "events/%s.unit", event);
	if (unit_text(u, path, text, sizeof(text), &s) != 0 || pmuunit_parse(s, &unit) < 0)
		return false;
	*ret = scale * unit;
	return *ret >= 1 && *ret <= 65536;
}

/* "cas_count_read" itself, or that of one half of a channel, "cas_count_read_sch0". */
static bool is_event(const char *name, const char *const want[static 2])
{
	for (size_t i = 0; i < 2 && want[i]; i++) {
		const size_t n = strlen(want[i]);
		if (strncmp(name, want[i], n) == 0 &&
		    (name[n] == '\0' || (strncmp(name + n, "_sch", 4) == 0 && !strchr(name + n, '.'))))
			return true;
	}
	return false;
}

static void named_events(struct memcount *m, const struct memcount_kind *k, const struct unit *u, struct refusals *no)
{
	cleanup(closedirp) DIR *d = file_folder(openat(u->fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (struct dirent *e; d && (e = readdir(d));) {
		const bool writes = is_event(e->d_name, k->writes);
		char path[320], text[512];
		struct span terms;
		struct pmuevent event;
		double bytes;
		if (!writes && !is_event(e->d_name, k->reads))
			continue;
		TEXT_FORMAT(path, "events/%s", e->d_name);
		if (unit_text(u, path, text, sizeof(text), &terms) == 0 && event_of(u, terms, &event) &&
		    event_bytes(u, e->d_name, &bytes))
			counter_add(m, u, &event, writes, bytes, no);
	}
}

static void unit_count(struct memcount *m, const struct memcount_kind *k, int units_fd, const char *name,
		       struct refusals *no)
{
	struct unit u;
	struct pmuevent e;
	if (!unit_open(units_fd, name, &u))
		return;
	if (!k->read_terms) {
		named_events(m, k, &u, no);
	} else {
		if (event_of(&u, span_of(k->read_terms), &e))
			counter_add(m, &u, &e, false, UMC_BYTES, no);
		if (event_of(&u, span_of(k->write_terms), &e))
			counter_add(m, &u, &e, true, UMC_BYTES, no);
	}
	closep(&u.fd);
}

int memcount_open(const struct world *w, const struct memcount_ops *ops, struct memcount *ret)
{
	struct memcount m = {.ops = ops};
	struct refusals no = {0};
	cleanup(closedirp) DIR *d =
		w->sys_fd < 0 ? NULL : file_folder(openat(w->sys_fd, UNITS, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!d)
		return WORLD_ABSENT;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && m.n == 0; i++) {
		const size_t lost = no.denied + no.other;
		rewinddir(d);
		for (struct dirent *e; (e = readdir(d));) {
			if (!is_kind(&kinds[i], e->d_name))
				continue;
			if (!m.one && !(m.one = calloc(MEMCOUNT_MOST, sizeof(*m.one))))
				return -ENOMEM;
			unit_count(&m, &kinds[i], dirfd(d), e->d_name, &no);
		}
		m.lost = no.denied + no.other - lost;
	}
	if (m.n == 0) {
		memcount_close(&m);
		return no.known == 0 ? WORLD_ABSENT : no.denied > 0 ? WORLD_DENIED : MEMCOUNT_REFUSED;
	}
	*ret = m;
	return 0;
}

void memcount_begin(struct memcount *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->one[i].has_begun = m->ops->read(m->one[i].fd, &m->one[i].begun) == 0;
}

/*
 * What a counter would have counted if it had been on its unit all the time: others may use the unit as well, and the
 * kernel takes turns. False: it was not on it at all.
 */
static bool counted(const struct memcount *m, const struct memcount_one *c, double *ret)
{
	struct memcount_value v;
	if (!c->has_begun || m->ops->read(c->fd, &v) != 0 || v.count < c->begun.count ||
	    v.running_ns <= c->begun.running_ns || v.enabled_ns <= c->begun.enabled_ns)
		return false;
	const double running = (double)(v.running_ns - c->begun.running_ns),
		     enabled = (double)(v.enabled_ns - c->begun.enabled_ns);
	*ret = (double)(v.count - c->begun.count) * MAX(enabled / running, 1.0) * c->bytes;
	return running >= enabled / 100; /* less is no sample of the rest */
}

static void memcount_part_add(struct memcount_sum *s, uint32_t cpu, double bytes)
{
	size_t i = 0;
	while (i < s->n_parts && s->part[i].cpu != cpu)
		i++;
	if (i == MEMCOUNT_PARTS) {
		s->cut = true;
		return;
	}
	if (i == s->n_parts) {
		s->n_parts++;
		s->part[i].cpu = cpu;
		s->part[i].bytes = 0;
	}
	s->part[i].bytes += bytes;
}

int memcount_end(const struct memcount *m, struct memcount_sum *ret)
{
	struct memcount_sum s = {.lost = m->lost};
	for (size_t i = 0; i < m->n; i++) {
		double bytes;
		if (!counted(m, &m->one[i], &bytes)) {
			s.lost++;
			continue;
		}
		*(m->one[i].writes ? &s.writes : &s.reads) += bytes;
		memcount_part_add(&s, m->one[i].cpu, bytes);
	}
	if (!(s.reads + s.writes > 0))
		return WORLD_ABSENT;
	*ret = s;
	return 0;
}

void memcount_close(struct memcount *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->one[i].fd >= 0) {
			closep(&m->one[i].fd);
			keptfds_give(1);
		}
	free(m->one);
	*m = (struct memcount){.n = 0};
}
