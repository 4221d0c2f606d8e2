#include "agent/incident/deathfacts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sense/framework/errorfile.h"
#include "sense/framework/losslog.h"
#include "agent/incident/deatharound.h"
#include "agent/host/host.h"
#include "agent/host/helper.h"
#include "agent/rules/rulefiles.h"
#include "base/buf.h"
#include "base/file.h"
#include "judge/rules/causes.h"
#include "sense/death/corefile.h"
#include "sense/death/deathlog.h"
#include "sense/death/journal.h"
#include "sense/log/kmsg.h"
#include "sense/memory/meminfo.h"
#include "sense/memory/pidslimit.h"
#include "sense/death/oomlog.h"
#include "sense/ns.h"

#define MAX_KILLS 64
#define MAX_LINES 32
#define MAX_KMSG_LINES 8
#define MAX_HINTS 48
#define MAX_SIGNALS 1024
#define MAX_ENDS 512
#define MAX_ERRORS 64
/* A process takes some seconds from the write that fails to its end: it may write a report, and stop its threads. */
#define WRITTEN_MS 30000

/* What the child reads, in memory that both see; a part counts when its _done is set. */
/* systemd-coredump(8) */
#define SYSTEMD_CORES "/var/lib/systemd/coredump"

struct slow {
	struct log_hint hints[MAX_HINTS];
	size_t n_hints;
	struct killer_line lines[MAX_LINES];
	size_t n_lines;
	char log_why[2][120];
	int journal_result;
	char journal_why[120];
	struct rank_error errors[MAX_ERRORS];
	size_t n_errors;
	bool logs_done, rules_done, journal_done, core_done;
	char core_file[256];
	bool around_done;
	struct death_disk disks[DEATH_DISKS];
	size_t n_disks;
	struct death_port port;
	struct cause_verdict rules;
	char tail[DEATHLOG_TAIL];
};

struct deathfacts {
	const struct world *w;
	struct kmsg kmsg;
	int64_t began_unix_ms;
	int kmsg_result; /* of opening or reading: 0, WORLD_ABSENT, WORLD_DENIED, -errno */
	struct oomlog oom;
	struct kernel_kill kills[MAX_KILLS];
	struct killerlog kernel_talk; /* lines of other killers in the kernel's log, and its crash lines */
	struct killer_line kernel_lines[MAX_KMSG_LINES];
	struct killer_line lines[MAX_LINES + MAX_KMSG_LINES];
	struct log_hint hints[MAX_HINTS];
	struct rank_error errors[MAX_ERRORS];
	struct signal_sent signals[MAX_SIGNALS];
	size_t n_signals;
	uint64_t signals_noted; /* also those that have gone since */
	struct process_end ends[MAX_ENDS];
	size_t n_ends;
	char signals_why[100]; /* "": they are seen */
	int64_t signals_from_unix_ms; /* since then */
	struct cgroup_chain chain;
	struct cgroup_memory before[CGROUP_MAX_LEVELS];
	uint64_t peak_before[CGROUP_MAX_LEVELS]; /* 0: unknown */
	bool has_before[CGROUP_MAX_LEVELS];
	char names[CGROUP_MAX_LEVELS][256];
	bool has_chain;
	struct cgroup_place place;
	struct pidslimit pids_before;
	bool has_pids;
	uint64_t vmstat_before;
	bool has_vmstat;
	struct slow *slow;
};

bool deathfacts_oom_kills(const struct world *w, uint64_t *ret)
{
	char text[16384];
	size_t len;
	return file_read_at(w->proc_fd, "vmstat", text, sizeof(text), &len) == 0 &&
	       text_field_u64((struct span){text, len}, "oom_kill", ret) == 0;
}

/*
 * A level's path as the kernel names it: place->name is the whole path of the innermost group, and each level's path is
 * a prefix of it.
 */
static void names_set(struct deathfacts *g, const struct cgroup_place *place)
{
	size_t own = g->chain.n > 0 ? strlen(g->chain.level[0].path) : 0;
	for (size_t l = 0; l < g->chain.n; l++) {
		size_t off = own - MIN(own, strlen(g->chain.level[l].path)), len = strlen(place->name);
		len = len > off ? len - off : 0;
		span_copy((struct span){place->name, len}, g->names[l], sizeof(g->names[l]));
		if (g->names[l][0] == '\0')
			TEXT_COPY(g->names[l], "/");
	}
}

static void counters_begin(struct deathfacts *g, const struct cgroup_place *place)
{
	g->has_vmstat = deathfacts_oom_kills(g->w, &g->vmstat_before);
	if (!place || place->memory_version == CGROUP_NONE || cgroup_chain_open(g->w, place, &g->chain) != 0)
		return;
	g->has_chain = true;
	names_set(g, place);
	for (size_t l = 0; l < g->chain.n; l++) {
		g->has_before[l] = cgroup_read_full(&g->chain.level[l], &g->before[l]) == 0 && g->before[l].has_events;
		if (cgroup_peak_read(&g->chain.level[l], &g->peak_before[l]) != 0)
			g->peak_before[l] = 0;
	}
}

struct deathfacts *deathfacts_new(const struct world *w, const struct cgroup_place *place)
{
	struct deathfacts *g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	void *slow = mmap(NULL, sizeof(*g->slow), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slow == MAP_FAILED) {
		free(g);
		return NULL;
	}
	g->w = w;
	g->slow = slow;
	oomlog_init(&g->oom, w->page_bytes, g->kills, MAX_KILLS);
	killerlog_init(&g->kernel_talk, "kmsg", g->kernel_lines, MAX_KMSG_LINES);
	g->kmsg_result = kmsg_open(w, w->recorded ? KMSG_FROM_START : KMSG_FROM_END, &g->kmsg);
	if (g->kmsg_result != 0)
		g->kmsg.fd = -1;
	g->began_unix_ms = w->unix_ms();
	TEXT_COPY(g->signals_why, "no tracepoint is watched");
	counters_begin(g, place);
	if (place) {
		g->place = *place;
		g->has_pids = pidslimit_read(w, place, &g->pids_before) == 0 && g->pids_before.has_refused;
	}
	return g;
}

struct deathfacts *deathfacts_free(struct deathfacts *g)
{
	if (!g)
		return NULL;
	kmsg_close(&g->kmsg);
	if (g->has_chain)
		cgroup_chain_close(&g->chain);
	(void)munmap(g->slow, sizeof(*g->slow));
	free(g);
	return NULL;
}

void deathfacts_signal(struct deathfacts *g, const struct signal_sent *s)
{
	if (g->n_signals == MAX_SIGNALS) {
		memmove(g->signals, g->signals + 1, (MAX_SIGNALS - 1) * sizeof(g->signals[0]));
		g->n_signals--;
	}
	g->signals[g->n_signals++] = *s;
	g->signals_noted++;
}

/* The same signal: the page notes it a moment before it sends it. */
static bool is_page_signal(const struct signal_sent *seen, const struct signal_sent *noted)
{
	const int64_t moment_ms = 5000;
	const int64_t early_ms = 10; /* the kernel's time is told by another clock, in whole milliseconds */
	return seen->target == noted->target && seen->signal == noted->signal && !seen->from_kernel &&
	       (seen->target_start_ticks == 0 || noted->target_start_ticks == 0 ||
		seen->target_start_ticks == noted->target_start_ticks) &&
	       seen->sender == noted->sender && seen->time_unix_ms >= noted->time_unix_ms - early_ms &&
	       seen->time_unix_ms - noted->time_unix_ms <= moment_ms;
}

void deathfacts_page_signal(struct deathfacts *g, const struct signal_sent *s)
{
	for (size_t n = 0; n < g->n_signals; n++) {
		if (!is_page_signal(&g->signals[n], s))
			continue;
		TEXT_COPY(g->signals[n].page_role, s->page_role);
		return;
	}
	/* it is sent at once after it was noted, within the time that this takes */
	if (g->signals_why[0] || s->time_unix_ms <= g->signals_from_unix_ms)
		deathfacts_signal(g, s);
}

const struct signal_sent *deathfacts_signal_next(const struct deathfacts *g, uint64_t *at)
{
	const uint64_t gone = g->signals_noted - g->n_signals;
	*at = MAX(*at, gone);
	return *at < g->signals_noted ? &g->signals[(*at)++ - gone] : NULL;
}

void deathfacts_end(struct deathfacts *g, const struct process_end *e)
{
	size_t drop = 0;
	if (g->n_ends == MAX_ENDS) {
		while (drop < MAX_ENDS && g->ends[drop].wait_status != 0)
			drop++;
		drop = drop == MAX_ENDS ? 0 : drop;
		memmove(&g->ends[drop], &g->ends[drop + 1], (MAX_ENDS - 1 - drop) * sizeof(g->ends[0]));
		g->n_ends--;
	}
	g->ends[g->n_ends++] = *e;
}

static bool is_bad_end(const struct process_end *e, pid_t parent, struct deathfacts_span when)
{
	const int64_t lived_least_ms = 2000;
	if (e->wait_status == 0)
		return false;
	if (parent)
		return e->parent == parent;
	bool lived = WIFSIGNALED(e->wait_status) || e->time_unix_ms - e->start_unix_ms >= lived_least_ms;
	return lived && e->time_unix_ms >= when.from_unix_ms && e->time_unix_ms <= when.to_unix_ms;
}

const struct process_end *deathfacts_bad_end(const struct deathfacts *g, pid_t parent, struct deathfacts_span when,
					     const struct signal_sent **ret_signal)
{
	const struct process_end *end = NULL;
	*ret_signal = NULL;
	for (size_t i = 0; i < g->n_ends; i++)
		if (is_bad_end(&g->ends[i], parent, when))
			end = &g->ends[i];
	for (size_t i = 0; end && WIFSIGNALED(end->wait_status) && i < g->n_signals; i++) {
		const struct signal_sent *s = &g->signals[i];
		if (s->target == end->pid && s->target_start_ticks == end->start_ticks &&
		    s->signal == WTERMSIG(end->wait_status))
			*ret_signal = s;
	}
	return end;
}

bool deathfacts_ended_before(const struct deathfacts *g, const struct proc_id *one, const struct proc_id *other)
{
	bool seen = false;
	for (size_t i = 0; i < g->n_ends; i++) {
		const struct process_end *e = &g->ends[i];
		if (e->pid == one->pid && e->start_ticks == one->start_ticks)
			seen = true;
		else if (e->pid == other->pid && e->start_ticks == other->start_ticks)
			return seen;
	}
	return false;
}

int64_t deathfacts_ended_unix_ms(const struct deathfacts *g, const struct proc_id *who)
{
	for (size_t i = g->n_ends; i-- > 0;)
		if (g->ends[i].pid == who->pid && g->ends[i].start_ticks == who->start_ticks)
			return g->ends[i].time_unix_ms;
	return 0;
}

void deathfacts_signals_unavailable(struct deathfacts *g, const char *why)
{
	TEXT_COPY(g->signals_why, why ? why : "");
}

void deathfacts_signals_from(struct deathfacts *g, int64_t unix_ms)
{
	g->signals_from_unix_ms = unix_ms;
}

static void blind_add(struct death *d, const char *source, const char *why)
{
	if (d->n_unavailable < DEATH_UNAVAILABLE)
		TEXT_FORMAT(d->unavailable[d->n_unavailable++], "%s: %s", source, why);
}

struct kernel_lines {
	struct deathfacts *g;
	int64_t offset_ms, since_ms; /* what is older is not of this job */
};

static void kernel_record(const struct kmsg_record *r, void *data)
{
	struct kernel_lines *k = data;
	char text[1024];
	struct span s = {text, kmsg_unescape(r->text, text, sizeof(text))};
	int64_t when = kmsg_unix_ms(r, k->offset_ms);
	if (when < k->since_ms)
		return;
	if (r->facility == 0)
		oomlog_line(&k->g->oom, s, when);
	killerlog_line(&k->g->kernel_talk, r->facility == 0 ? SPAN("kernel") : SPAN("oomd"), s, when);
}

static void kernel_gather(struct deathfacts *g, struct death *d)
{
	struct kernel_lines k = {.g = g, .offset_ms = kmsg_unix_offset_ms(g->w)};
	size_t n;
	/* handed over since the job has begun, perhaps (sense/rightsdoor) */
	if (g->kmsg_result == WORLD_DENIED && g->kmsg.fd < 0) {
		g->kmsg_result = kmsg_open(g->w, KMSG_FROM_START, &g->kmsg);
		k.since_ms = g->began_unix_ms;
	}
	if (g->kmsg_result == 0)
		g->kmsg_result = kmsg_drain(&g->kmsg, 20000, kernel_record, &k, &n);
	if (g->kmsg_result == WORLD_ABSENT)
		blind_add(d, "kmsg", "there is no kernel log here, as in most containers");
	else if (g->kmsg_result == WORLD_DENIED)
		blind_add(d, "kmsg", "not permitted (needs CAP_SYSLOG, or kernel.dmesg_restrict=0)");
	else if (g->kmsg_result < 0)
		blind_add(d, "kmsg", strerror(-g->kmsg_result));
	d->kernel_kills = g->kills;
	d->n_kernel_kills = g->oom.n;
}

static void counters_gather(struct deathfacts *g, struct death *d)
{
	d->vmstat_oom_before = g->vmstat_before;
	d->has_vmstat = g->has_vmstat && deathfacts_oom_kills(g->w, &d->vmstat_oom_after);
	if (!d->has_vmstat)
		blind_add(d, "vmstat", "it has no count of OOM kills");
	if (!g->has_chain)
		blind_add(d, "cgroup", "the memory group of the job is not visible");
	for (size_t l = 0; g->has_chain && l < g->chain.n && d->n_groups < DEATH_GROUPS; l++) {
		struct group_counters *c = &d->groups[d->n_groups++];
		struct cgroup_memory now;
		TEXT_COPY(c->group, g->names[l]);
		c->local = g->chain.level[l].version == CGROUP_V1;
		c->valid = g->has_before[l] && cgroup_read_full(&g->chain.level[l], &now) == 0 && now.has_events;
		if (!c->valid) {
			if (l == 0)
				blind_add(d, "cgroup",
					  "the group of the job was removed before its counters could be read");
			continue;
		}
		c->oom_kills_before = g->before[l].oom_kills;
		c->oom_kills_after = now.oom_kills;
		c->max_events_before = g->before[l].max_events;
		c->max_events_after = now.max_events;
		c->limit_bytes = now.max_bytes == CGROUP_NO_LIMIT ? 0 : now.max_bytes;
		c->peak_before_bytes = g->peak_before[l];
		if (cgroup_peak_read(&g->chain.level[l], &c->peak_bytes) != 0)
			c->peak_bytes = 0;
	}
}

/* The group that refused a process or thread since the attempt began. */
static void pids_gather(const struct deathfacts *g, struct death *d)
{
	struct pidslimit now;
	if (!g->has_pids || pidslimit_read(g->w, &g->place, &now) != 0 || !now.group[0] ||
	    now.refused <= g->pids_before.refused)
		return;
	TEXT_COPY(d->pids.group, now.group);
	d->pids.max = now.max;
	d->pids.refused = now.refused - g->pids_before.refused;
}

static void around_gather(struct deathfacts *g, struct death *d)
{
	char text[8192], link[64];
	size_t len;
	struct statvfs fs;
	struct meminfo m;
	struct rlimit core;
	ssize_t n = readlinkat(g->w->proc_fd, "self/ns/pid", link, sizeof(link) - 1);
	/* the kernel's log uses the numbers of the first pid namespace */
	d->pid_namespaced = n > 0 && !span_eq((struct span){link, (size_t)n}, PID_NAMESPACE_FIRST_TEXT);
	if (g->w->shm_fd >= 0 && fstatvfs(g->w->shm_fd, &fs) == 0 && fs.f_blocks > 0) {
		d->has_shm = true;
		d->shm_total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
		d->shm_free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	}
	if (!d->has_node_memory && file_read_at(g->w->proc_fd, "meminfo", text, sizeof(text), &len) == 0 &&
	    meminfo_parse((struct span){text, len}, &m) == 0) {
		d->has_node_memory = true;
		d->node_total_bytes = m.bytes[MEMINFO_TOTAL];
		d->node_used_bytes = sub_floor(m.bytes[MEMINFO_TOTAL], m.bytes[MEMINFO_AVAILABLE]);
	}
	if (file_read_at(g->w->proc_fd, "sys/kernel/core_pattern", text, sizeof(text), &len) == 0)
		span_copy(span_trim((struct span){text, len}), d->core_pattern, sizeof(d->core_pattern));
	else
		blind_add(d, "core", "the core pattern cannot be read");
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		d->has_core_limit = true; /* ours, which the job inherited */
		d->core_limit_bytes = core.rlim_cur == RLIM_INFINITY ? UINT64_MAX : core.rlim_cur;
	}
	d->core_dumped = d->has_status && WIFSIGNALED(d->wait_status) && WCOREDUMP(d->wait_status);
}

/* ---- in the child */

/* The tail of a kept log, and where in the file it begins. False: it is not as long as what was kept. */
static bool tail_placed(struct slow *s, const char *path, uint64_t kept_bytes, struct span *ret_tail,
			uint64_t *ret_from)
{
	struct stat st;
	if (!path || deathlog_tail(AT_FDCWD, path, s->tail, sizeof(s->tail), ret_tail) != 0 || stat(path, &st) < 0 ||
	    (uint64_t)st.st_size != kept_bytes)
		return false;
	*ret_from = kept_bytes - ret_tail->len;
	return true;
}

/*
 * What in stderr was handled: on stdout the program's loop went on after it, before the last words in stderr or after
 * them. One burst may be what a failing program flushes at its end.
 */
static void steps_elsewhere(struct slow *s, const struct deathfacts_logs *logs, const char *err_source, size_t n)
{
	const uint32_t bursts_least = 3;
	struct streamorder_part end;
	struct span tail;
	uint64_t from = 0;
	if (!logs->order || !tail_placed(s, logs->err, logs->order->err_bytes, &tail, &from))
		return;
	const uint64_t err_from = from;
	if (!tail_placed(s, logs->out, logs->order->out_bytes, &tail, &from))
		return;
	const bool went_on = streamorder_after_last(logs->order, &end) && end.bursts >= bursts_least &&
			     deathlog_steps_between(tail, sub_floor(end.out_from, from), sub_floor(end.out_to, from));
	for (size_t i = 0; i < n; i++) {
		struct log_hint *h = &s->hints[i];
		struct streamorder_part part;
		if (strcmp(h->source, err_source) != 0)
			continue;
		h->out_went_on = went_on;
		const bool of_thread = strcmp(h->id, "earlier_traceback") == 0 && h->of_thread;
		if ((strcmp(h->id, "python_traceback") != 0 && !of_thread) || h->went_on ||
		    !streamorder_after(logs->order, err_from + h->at_bytes, &part) || part.bursts < bursts_least)
			continue;
		const bool steps =
			deathlog_steps_between(tail, sub_floor(part.out_from, from), sub_floor(part.out_to, from));
		if (of_thread) /* what it left undone may be felt later */
			h->out_went_on |= steps;
		else
			h->went_on = steps;
	}
}

static void tail_read(struct deathlog *log, struct span tail, const char *source, int32_t rank)
{
	struct log_hint loss;
	deathlog_parse(log, tail, source, rank);
	if (log->n < log->cap && losslog_parse(tail, source, rank, &loss))
		log->hints[log->n++] = loss;
}

static void logs_read(struct slow *s, const struct deathfacts_logs *logs, const struct death *d)
{
	const char *paths[] = {logs->out, logs->err}, *names[] = {"stdout", "stderr"};
	struct killerlog k;
	char source[64];
	killerlog_init(&k, "log", s->lines, MAX_LINES / 2);
	struct deathlog log = {.hints = s->hints, .cap = MAX_HINTS, .killers = &k};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct span tail;
		if (!paths[i])
			continue;
		if (d->rank == NO_RANK)
			TEXT_FORMAT(source, "log %s", names[i]);
		else
			TEXT_FORMAT(source, "log rank %d %s", d->rank, names[i]);
		int r = deathlog_tail(AT_FDCWD, paths[i], s->tail, sizeof(s->tail), &tail);
		if (r < 0)
			TEXT_FORMAT(s->log_why[i], "%s cannot be read (%s)", names[i], strerror(-r));
		else
			tail_read(&log, tail, source, d->rank);
	}
	steps_elsewhere(s, logs, source, log.n); /* source: that of stderr, the last */
	s->n_hints = log.n;
	s->n_lines = k.n;
	__atomic_store_n(&s->logs_done, true, __ATOMIC_RELEASE);
}

/* Each part is published when it is complete: a later one may block on a disk that does not answer. */
static void errors_read(struct slow *s, const struct deathfacts_logs *logs)
{
	char path[400];
	for (uint32_t i = 0; logs->error_dir && i < logs->n_ranks && s->n_errors < MAX_ERRORS; i++) {
		errorfile_path(logs->error_dir, (int32_t)i, path, sizeof(path));
		if (errorfile_read(path, (int32_t)i, &s->errors[s->n_errors]) == 0)
			__atomic_store_n(&s->n_errors, s->n_errors + 1, __ATOMIC_RELEASE);
	}
}

/*
 * Look for the core file where the pattern puts it: relative to the folder that we and so the job were started in, or
 * in systemd's store.
 */
static void core_find(struct slow *s, const struct world *w, const struct death *d)
{
	char text[16], cwd[PATH_MAX], exe[PATH_MAX], host[80];
	size_t len;
	if (!d->core_dumped)
		return;
	host_name(host, sizeof(host));
	TEXT_COPY(exe, d->command); /* only the program's name is needed, and its command line has that */
	exe[strcspn(exe, " ")] = '\0';
	struct corefile_facts f = {
		.pid = d->pid,
		.uid = getuid(),
		.gid = getgid(),
		.signal = WTERMSIG(d->wait_status),
		.start_unix_ms = d->start_unix_ms,
		.end_unix_ms = d->end_unix_ms,
		.comm = d->name,
		.exe = exe,
		.host = host,
		.cwd = getcwd(cwd, sizeof(cwd)),
	};
	f.uses_pid =
		file_read_at(w->proc_fd, "sys/kernel/core_uses_pid", text, sizeof(text), &len) == 0 && text[0] == '1';
	int r = strstr(d->core_pattern, "systemd-coredump")
			? corefile_find_kept(SYSTEMD_CORES, &f, s->core_file, sizeof(s->core_file))
			: corefile_find(d->core_pattern, &f, s->core_file, sizeof(s->core_file));
	__atomic_store_n(&s->core_done, r == 0, __ATOMIC_RELEASE);
}

/* The message names no port: the first number in its command or its environment that somebody listens on. */
static void port_guess(struct slow *s, const struct world *w, const struct death *d, uint64_t until_ns)
{
	char text[sizeof(d->command) + 32];
	const char *master = getenv("MASTER_PORT");
	TEXT_FORMAT(text, "%s %s", master ? master : "", d->command);
	for (const char *at = text; *at; at++) {
		uint64_t v;
		size_t n = strspn(at, "0123456789");
		if (n == 0)
			continue;
		if (n >= 2 && span_u64((struct span){at, n}, &v) == 0 && v <= UINT16_MAX) {
			deatharound_port(w, (uint16_t)v, until_ns, &s->port);
			if (s->port.listens)
				return;
		}
		at += n - 1;
	}
	s->port = (struct death_port){.port = 0};
}

/* Who has the port that a log names, and which disks are full: read only where a log makes one ask. */
static void around_read(struct slow *s, const struct world *w, const struct death *d, uint64_t deadline_ns)
{
	uint64_t until_ns = deadline_ns - DEATHFACTS_MS * NS_PER_MS / 2;
	bool disk = false;
	for (size_t i = 0; i < s->n_hints; i++) {
		const struct log_hint *h = &s->hints[i];
		disk |= strcmp(h->id, "disk_full") == 0 || strcmp(h->id, "torch_write_failed") == 0;
		if (h->port && !s->port.looked)
			deatharound_port(w, h->port, until_ns, &s->port);
		else if (strcmp(h->id, "port_in_use") == 0 && !s->port.looked)
			port_guess(s, w, d, until_ns);
	}
	if (disk)
		s->n_disks = deatharound_disks(w, d->end_unix_ms - WRITTEN_MS, until_ns, s->disks, DEATH_DISKS);
	__atomic_store_n(&s->around_done, true, __ATOMIC_RELEASE);
}

struct rules_found {
	struct cause_set set;
	uint32_t handled_until; /* line of the log that is read */
};

/* What the program went on after is no reason for its end. */
static void rule_matched(void *data, const struct rule_match *m)
{
	struct rules_found *f = data;
	if (m->event == RULE_MATCH && m->line <= f->handled_until)
		return;
	ignore(cause_set_add(&f->set, m), "without memory there is one match less");
}

static void environment_facts(struct cause_set *set)
{
	static const char *const names[] = {"NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]); /* ours, which the job inherited */
		if (value)
			ignore(cause_set_fact(set, names[i], value), "there is room for two");
	}
}

static int deathfacts_book_load(const struct world *w, const struct deathfacts_logs *logs, struct rulebook *b)
{
	struct fault f = {.text = ""};
	int r = rulefiles_own(w, b, &f);
	return r == 0 ? rulefiles_add_list(b, logs->rules, &f) : r;
}

/* Search the ends of the logs with the rule book. The texts are short, so no library is loaded for it. */
static void rules_read(struct slow *s, const struct world *w, const struct deathfacts_logs *logs, const struct death *d)
{
	const char *paths[] = {logs->out, logs->err};
	struct rulebook book = {.rules = NULL};
	struct rules_found found = {.set = {.groups = NULL}};
	struct rulescan *scan = NULL;
	struct span tail;
	int r = deathfacts_book_load(w, logs, &book);
	if (r == 0)
		r = rulescan_new(&book, LITERAL_OWN, rule_matched, &found, &scan);
	for (size_t i = 0; i < ARRAY_SIZE(paths) && r == 0; i++) {
		if (!paths[i] || deathlog_tail(AT_FDCWD, paths[i], s->tail, sizeof(s->tail), &tail) != 0)
			continue;
		found.handled_until = deathlog_handled_until(tail);
		r = rulescan_text(scan, RULE_LOG, i == 0 ? "stdout" : "stderr", d->rank, tail);
	}
	environment_facts(&found.set);
	if (r != 0 || causes_judge(&found.set, &s->rules) != 0)
		s->rules.valid = false;
	/* never freed: the process ends soon */
	__atomic_store_n(&s->rules_done, true, __ATOMIC_RELEASE);
}

/* A killer may log a moment after the kill: for a SIGKILL without any line, read once more. */
static void journal_read(struct slow *s, const struct world *w, const struct death *d, bool ask_again,
			 uint64_t deadline_ns)
{
	const int64_t before_ms = 120000, after_ms = 10000;
	int64_t since = MAX(d->start_unix_ms, d->end_unix_ms - before_ms);
	size_t read, n_logs = s->n_lines;
	for (int tries = 0; tries < (ask_again ? 4 : 1); tries++) {
		struct killerlog k;
		if (tries > 0)
			(void)poll(NULL, 0, 100);
		killerlog_init(&k, "journal", s->lines + n_logs, MAX_LINES - n_logs);
		s->journal_result = journal_read_killers(w, since, d->end_unix_ms + after_ms, deadline_ns, 5000, &k,
							 s->journal_why, &read);
		s->n_lines = n_logs + k.n;
		if (k.n > 0 || s->journal_result != 0)
			break;
	}
	__atomic_store_n(&s->journal_done, true, __ATOMIC_RELEASE);
}

/* ---- in the parent */

static bool kernel_named(const struct death *d)
{
	for (size_t k = 0; k < d->n_kernel_kills; k++)
		if (d->kernel_kills[k].pid == d->pid)
			return true;
	return false;
}

/* Wait for the child until the deadline. A child that hangs is killed and left for init or the supervisor to reap. */
static void child_wait(const struct world *w, pid_t pid, uint64_t deadline_ns)
{
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	for (;;) {
		uint64_t now = w->mono_ns();
		if (waitpid(pid, NULL, WNOHANG) != 0 || now >= deadline_ns)
			break;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t left_ms = (deadline_ns - now) / NS_PER_MS + 1;
		/* without a pidfd (kernels before 5.3) look every 5 ms */
		(void)poll(&p, fd >= 0 ? 1 : 0, fd >= 0 ? (int)left_ms : 5);
	}
	if (waitpid(pid, NULL, WNOHANG) == 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, WNOHANG);
	}
}

static void slow_take(struct deathfacts *g, struct death *d)
{
	struct slow *s = g->slow;
	if (__atomic_load_n(&s->core_done, __ATOMIC_ACQUIRE))
		TEXT_COPY(d->core_file, s->core_file);
	if (__atomic_load_n(&s->logs_done, __ATOMIC_ACQUIRE)) {
		d->n_hints = MIN(s->n_hints, (size_t)MAX_HINTS);
		memcpy(g->hints, s->hints, d->n_hints * sizeof(s->hints[0]));
		for (size_t i = 0; i < ARRAY_SIZE(s->log_why); i++)
			if (s->log_why[i][0])
				blind_add(d, "log", s->log_why[i]);
	} else {
		blind_add(d, "log", "reading took too long");
	}
	if (__atomic_load_n(&s->around_done, __ATOMIC_ACQUIRE)) {
		d->n_disks = MIN(s->n_disks, (size_t)DEATH_DISKS);
		memcpy(d->disks, s->disks, sizeof(d->disks));
		d->port = s->port;
	}
	if (__atomic_load_n(&s->rules_done, __ATOMIC_ACQUIRE))
		d->rules = s->rules;
	d->n_errors = MIN(__atomic_load_n(&s->n_errors, __ATOMIC_ACQUIRE), (size_t)MAX_ERRORS);
	memcpy(g->errors, s->errors, d->n_errors * sizeof(s->errors[0]));
	d->errors = g->errors;
	size_t n = MIN(__atomic_load_n(&s->n_lines, __ATOMIC_ACQUIRE), (size_t)MAX_LINES);
	memcpy(g->lines, s->lines, n * sizeof(s->lines[0]));
	if (!__atomic_load_n(&s->journal_done, __ATOMIC_ACQUIRE))
		blind_add(d, "journal", "reading took too long");
	else if (s->journal_result > 0)
		blind_add(d, "journal", s->journal_why);
	else if (s->journal_result < 0)
		blind_add(d, "journal", s->journal_why[0] ? s->journal_why : strerror(-s->journal_result));
	memcpy(g->lines + n, g->kernel_lines, g->kernel_talk.n * sizeof(g->lines[0]));
	d->killer_lines = g->lines;
	d->n_killer_lines = n + g->kernel_talk.n;
	d->hints = g->hints;
}

static void slow_gather(struct deathfacts *g, const struct deathfacts_logs *logs, struct death *d, uint64_t deadline_ns)
{
	bool killed = !d->has_status || (WIFSIGNALED(d->wait_status) && WTERMSIG(d->wait_status) == SIGKILL);
	bool ask_again = killed && !kernel_named(d) && !d->stopping;
	struct slow *s = g->slow;
	memset(s, 0, offsetof(struct slow, tail));
	pid_t pid = helper_fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		logs_read(s, logs, d);
		errors_read(s, logs);
		around_read(s, g->w, d, deadline_ns);
		core_find(s, g->w, d);
		rules_read(s, g->w, logs, d);
		journal_read(s, g->w, d, ask_again, deadline_ns);
		_exit(0);
	}
	if (pid > 0)
		child_wait(g->w, pid, deadline_ns);
	helper_reaped(pid);
	slow_take(g, d);
}

void deathfacts_read(struct deathfacts *g, const struct deathfacts_logs *logs, struct death *d)
{
	uint64_t deadline_ns = g->w->mono_ns() + DEATHFACTS_MS * NS_PER_MS;
	d->n_groups = d->n_unavailable = d->n_hints = d->n_killer_lines = d->n_errors = 0;
	d->rules.valid = false;
	kernel_gather(g, d);
	counters_gather(g, d);
	pids_gather(g, d);
	around_gather(g, d);
	if (g->signals_why[0])
		blind_add(d, "signals", g->signals_why);
	d->signals = g->signals;
	d->n_signals = g->n_signals;
	d->ends = g->ends;
	d->n_ends = g->n_ends;
	bool clean = d->has_status && WIFEXITED(d->wait_status) && WEXITSTATUS(d->wait_status) == 0;
	if (clean)
		return; /* nothing to explain */
	slow_gather(g, logs, d, deadline_ns);
}
