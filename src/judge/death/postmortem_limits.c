/* Verdicts on resource limits (setrlimit(2)), a full disk and a port in use: what the kernel refuses to give. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

static bool limited(const struct death *d, int resource)
{
	return d->has_limits && d->soft_limit[resource] != UINT64_MAX;
}

/* The soft limit of the process, or of a child that ended just before with the same status; UINT64_MAX: none known. */
static uint64_t limit_of_it(const struct death *d, int resource)
{
	if (limited(d, resource))
		return d->soft_limit[resource];
	for (size_t k = d->n_ends; k-- > 0;) {
		const struct process_end *e = &d->ends[k];
		if (e->wait_status == d->wait_status && pm_time_fits(d, e->time_unix_ms, 5000))
			return e->soft_limit[resource];
	}
	return UINT64_MAX;
}

static void limit_advice(struct pm *p, const char *option)
{
	incident_advice_add(p->i,
			    "Raise the limit before the next run: ulimit -%s (or setrlimit, or the scheduler's or "
			    "the unit's own setting, such as Limit…= in systemd).",
			    option);
}

/* The signal itself was seen to come from the kernel. */
static bool kernel_sent(const struct death *d, int signal)
{
	for (size_t n = 0; n < d->n_signals; n++)
		if (d->signals[n].target == d->pid && d->signals[n].signal == signal && d->signals[n].from_kernel &&
		    pm_time_fits(d, d->signals[n].time_unix_ms, 60000))
			return true;
	return false;
}

/*
 * True when it had used up the processor time of its limit. The kernel counts whole ticks for this limit, which on a
 * busy or virtual machine are more than the time that a process is told to have used.
 */
static bool cpu_used_up(const struct death *d, const uint64_t *limit, int signal)
{
	if (!d->has_limits || !d->has_cpu || limit[RLIMIT_CPU] == UINT64_MAX)
		return false;
	uint64_t least_percent = kernel_sent(d, signal) ? 50 : 80;
	return d->cpu_ns / NS_PER_MS >= limit[RLIMIT_CPU] * 10 * least_percent;
}

static void cpu_verdict(struct pm *p, const char *which, uint64_t limit_s)
{
	char who[PM_WHO], used[24], limit[24];
	const char *name = signame(p->end.reported);
	pm_who(p->d, who);
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "cpu_limit",
		   kernel_sent(p->d, p->end.reported) || p->end.reported == SIGXCPU ? CONFIDENCE_HIGH
										    : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "the kernel, at the limit of processor time");
	duration_format(limit_s * NS_PER_S, limit);
	pm_summary(p, "%s used up its CPU time: the %s limit is %s (RLIMIT_CPU, ulimit -t).", who, which, limit);
	pm_text(p,
		"The kernel ends a process with %s when it has used %llu s of processor time, however little of it "
		"went into the work that mattered.",
		name ? name : "a signal", (unsigned long long)limit_s);
	incident_evidence_add(p->i, "limit", "RLIMIT_CPU", 0, "it used %s of processor time, its %s limit is %llu s",
			      duration_format(p->d->cpu_ns, used), which, (unsigned long long)limit_s);
	limit_advice(p, "t");
}

static void file_size_verdict(struct pm *p)
{
	char who[PM_WHO], size[16];
	pm_who(p->d, who);
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "file_size_limit", CONFIDENCE_HIGH);
	pm_killer_text(p, "the kernel, at the limit of the size of files");
	if (limited(p->d, RLIMIT_FSIZE))
		pm_summary(p, "%s wrote a file beyond its size limit of %s (RLIMIT_FSIZE, ulimit -f).", who,
			   size_format(p->d->soft_limit[RLIMIT_FSIZE], size));
	else
		pm_summary(p, "%s wrote a file beyond its size limit (RLIMIT_FSIZE, ulimit -f).", who);
	pm_text(p,
		"The kernel ends a process with SIGXFSZ when it writes beyond that size; the disk need not be full.");
	limit_advice(p, "f");
}

bool pm_limit_signal(struct pm *p)
{
	const struct death *d = p->d;
	const int sig = p->end.reported;
	if (!p->end.known)
		return false;
	if (sig == SIGKILL && cpu_used_up(d, d->hard_limit, sig)) {
		cpu_verdict(p, "hard", d->hard_limit[RLIMIT_CPU]);
		return true;
	}
	if (sig == SIGXCPU && cpu_used_up(d, d->soft_limit, sig)) {
		cpu_verdict(p, "soft", d->soft_limit[RLIMIT_CPU]);
		return true;
	}
	if (sig == SIGXFSZ && (p->end.signal || limited(d, RLIMIT_FSIZE))) {
		file_size_verdict(p);
		return true;
	}
	return false;
}

/* What a refused call is called in a log, and the limit that refuses it. */
static const struct refusal {
	const char *hint;
	int resource;
	bool bytes;
	const char *id, *limit, *option, *words;
} refusals[] = {
	{"file_too_large", RLIMIT_FSIZE, true, "file_size_limit", "RLIMIT_FSIZE", "f",
	 "could not write a file beyond its size limit"},
	{"too_many_files", RLIMIT_NOFILE, false, "open_files_limit", "RLIMIT_NOFILE", "n",
	 "had as many files open as it may"},
	{"no_room_for_process", RLIMIT_NPROC, false, "processes_limit", "RLIMIT_NPROC", "u",
	 "could not start one more thread or process: its user has as many as it may"},
	{"numpy_memory_error", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused memory at the limit of its address space"},
	{"torch_cpu_oom", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused memory at the limit of its address space"},
	{"python_memory_error", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused memory at the limit of its address space"},
	{"cannot_fork", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused memory at the limit of its address space"},
	{"bad_alloc", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused memory at the limit of its address space"},
	/* a thread needs address space for its stack */
	{"no_room_for_process", RLIMIT_AS, true, "address_space_limit", "RLIMIT_AS", "v",
	 "was refused room for one more thread at the limit of its address space"},
	{"numpy_memory_error", RLIMIT_DATA, true, "data_limit", "RLIMIT_DATA", "d",
	 "was refused memory at the limit of its data"},
	{"python_memory_error", RLIMIT_DATA, true, "data_limit", "RLIMIT_DATA", "d",
	 "was refused memory at the limit of its data"},
};

static void refusal_verdict(struct pm *p, const struct refusal *r, const struct log_hint *h)
{
	const struct death *d = p->d;
	uint64_t limit = limit_of_it(d, r->resource);
	char who[PM_WHO], size[24], asked[16];
	if (r->bytes)
		size_format(limit, size);
	else
		TEXT_FORMAT(size, "%llu", (unsigned long long)limit);
	/* A limit above all memory of the machine need not be what refused it. */
	bool sure = !r->bytes || r->resource == RLIMIT_FSIZE || !d->has_node_memory || limit < d->node_total_bytes;
	pm_verdict(p, p->end.signal ? INCIDENT_CRASH : INCIDENT_ERROR_EXIT, KILLER_NONE, r->id,
		   sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_summary(p, "%s %s: the limit is %s (%s, ulimit -%s).", pm_who(d, who), r->words, size, r->limit, r->option);
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	if (h->bytes)
		pm_text(p, "It had asked for %s more.", size_format(h->bytes, asked));
	if (r->resource == RLIMIT_AS || r->resource == RLIMIT_DATA)
		pm_text(p, "Nobody killed it, and the machine need not have been short of memory.");
	incident_evidence_add(p->i, "limit", r->limit, 0, "soft limit %s", size);
	limit_advice(p, r->option);
	if (r->resource == RLIMIT_AS)
		pm_advise_less_memory(p);
}

/* The group's limit is known to have refused one: the user's own limit need not have been reached. */
static bool group_refused(struct pm *p)
{
	const struct death *d = p->d;
	const struct log_hint *h = pm_hint(d, "no_room_for_process");
	char who[PM_WHO];
	if (!h || !d->pids.group[0])
		return false;
	pm_verdict(p, p->end.signal ? INCIDENT_CRASH : INCIDENT_ERROR_EXIT, KILLER_NONE, "group_processes_limit",
		   CONFIDENCE_HIGH);
	pm_summary(
		p,
		"%s could not start one more thread or process: its control group may have %llu of them (pids.max of "
		"%s).",
		pm_who(d, who), (unsigned long long)d->pids.max, d->pids.group);
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	incident_evidence_add(p->i, "limit", "pids.events", 0, "pids.max %llu; refused %llu times during this attempt",
			      (unsigned long long)d->pids.max, (unsigned long long)d->pids.refused);
	incident_advice_add(
		p->i, "Raise the group's limit: docker run --pids-limit, TasksMax= of the systemd unit, podPidsLimit "
		      "of the kubelet.");
	incident_advice_add(p->i, "Or start fewer: num_workers of data loaders, OMP_NUM_THREADS, thread pools.");
	return true;
}

bool pm_limit_words(struct pm *p)
{
	if (group_refused(p))
		return true;
	for (size_t k = 0; k < ARRAY_SIZE(refusals); k++) {
		const struct log_hint *h = pm_hint(p->d, refusals[k].hint);
		if (!h || limit_of_it(p->d, refusals[k].resource) == UINT64_MAX)
			continue;
		refusal_verdict(p, &refusals[k], h);
		return true;
	}
	return false;
}

void pm_stack_overflow(struct pm *p)
{
	char size[16];
	TEXT_COPY(p->i->cause.id, "stack_overflow");
	if (limited(p->d, RLIMIT_STACK)) {
		size_format(p->d->soft_limit[RLIMIT_STACK], size);
		pm_text(p,
			"The address that it touched is at the end of its stack: the stack had grown to its limit of "
			"%s (RLIMIT_STACK, ulimit -s), mostly by a recursion without an end.",
			size);
		limit_advice(p, "s");
	} else {
		pm_text(p, "The address that it touched is at the end of its stack, mostly by a recursion without an "
			   "end.");
	}
}

/* ---- a port */

static void port_holder_text(struct pm *p, bool named)
{
	const struct death_port *t = &p->d->port;
	if (!t->looked || t->port == 0)
		pm_text(p, "Which port it wanted is not in its message.");
	else if (!named)
		pm_text(p,
			"Which port it wanted is not in its message; of those in its command and its environment this "
			"one is taken.");
	if (t->port == 0)
		return;
	if (t->pid > 0)
		incident_evidence_add(p->i, "port", "net/tcp", 0, "port %u %s pid %d (%s)%s%s", (unsigned)t->port,
				      t->listens ? "is listened on by" : "is held by", (int)t->pid, t->name,
				      t->command[0] ? ", command " : "", t->command);
	else if (t->any)
		pm_text(p,
			"A socket %s, but its process was not found: it belongs to another user or container, or "
			"has ended.",
			t->listens ? "listens on it" : "of a connection still has it");
	else
		pm_text(p, "Right after the death no socket had the port any more: whoever had it has ended since, "
			   "perhaps with this job.");
}

bool pm_port(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "port_in_use");
	const struct death_port *t = &p->d->port;
	char who[PM_WHO], port[24] = "a port", holder[200] = "";
	if (!h)
		return false;
	if (h->port || t->any)
		TEXT_FORMAT(port, "port %u", (unsigned)(h->port ? h->port : t->port));
	if (t->pid > 0)
		TEXT_FORMAT(holder, ": %s (pid %d) has it", t->name, (int)t->pid);
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "port_in_use", CONFIDENCE_HIGH);
	pm_summary(p, "%s failed because %s was already in use%s.", pm_who(p->d, who), port, holder);
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	port_holder_text(p, h->port != 0);
	if (h->rank != NO_RANK)
		pm_culprit(p, h->rank);
	if (t->pid > 0)
		incident_advice_add(p->i,
				    "End pid %d (%s) if it is left over from an earlier run, or give this job "
				    "another port.",
				    (int)t->pid, t->command[0] ? t->command : t->name);
	else
		incident_advice_add(p->i, "ss -ltnp shows who listens on which port; or give this job another port.");
	incident_advice_add(p->i, "Launchers take the port from MASTER_PORT, --master-port or --rdzv-endpoint; port 0 "
				  "lets the kernel choose a free one where the program passes it on.");
	return true;
}

/* ---- a disk */

static void disk_evidence(struct pm *p)
{
	char free_words[16], total[16], inodes[80];
	for (size_t i = 0; i < p->d->n_disks; i++) {
		const struct death_disk *k = &p->d->disks[i];
		inodes[0] = '\0';
		if (k->total_inodes)
			TEXT_FORMAT(inodes, ", %llu free of %llu inodes", (unsigned long long)k->free_inodes,
				    (unsigned long long)k->total_inodes);
		incident_evidence_add(p->i, "disk", k->path, 0, "%s: %s free of %s%s after the death", k->path,
				      size_format(k->free_bytes, free_words), size_format(k->total_bytes, total),
				      inodes);
	}
}

/* There is room, but no file more: each file and folder takes an inode, of which there is a fixed number. */
static bool inodes_full(struct pm *p, const struct death_disk *disk, const struct log_hint *said)
{
	char who[PM_WHO], size[16];
	if (!disk || !disk->no_inodes || !said)
		return false;
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "inodes_full", CONFIDENCE_HIGH);
	pm_summary(p,
		   "%s failed because the file system at %s has no inodes left for another file (No space left on "
		   "device).",
		   pm_who(p->d, who), disk->path);
	pm_quote(p, "Its log says", said->text, strlen(said->text) + 1 >= sizeof(said->text));
	pm_text(p,
		"All %llu inodes are in use, one for each file and folder; %s are free, so room is not what it wants.",
		(unsigned long long)disk->total_inodes, size_format(disk->free_bytes, size));
	if (said->rank != NO_RANK && said->rank != p->d->rank)
		pm_culprit(p, said->rank);
	disk_evidence(p);
	incident_advice_add(
		p->i, "Remove small files on %s (df -i; du --inodes -sh), or keep them in archives (tar, WebDataset).",
		disk->path);
	return true;
}

/*
 * The full file system that it wrote to: the one of the path in its message. Where there is no path, as writes have
 * none, the first one that was written to when it ended: another one may be full since long ago.
 */
static const struct death_disk *disk_of(const struct death *d, const struct log_hint *h)
{
	const char *path = strstr(h->text, "'/");
	const struct death_disk *best = NULL;
	for (size_t i = 0; i < d->n_disks && !path; i++)
		if (!d->disks[i].unwritten)
			return &d->disks[i];
	for (size_t i = 0; i < d->n_disks && path; i++) {
		const size_t n = strlen(d->disks[i].path);
		bool below = strncmp(path + 1, d->disks[i].path, n) == 0 && (n == 1 || path[1 + n] == '/');
		if (below && (!best || n > strlen(best->path)))
			best = &d->disks[i];
	}
	return best;
}

bool pm_disk(struct pm *p)
{
	const struct death *d = p->d;
	const struct log_hint *said = pm_hint(d, "disk_full"), *torch = pm_hint(d, "torch_write_failed");
	const struct log_hint *h = said ? said : torch;
	char who[PM_WHO], where[200] = "a file system", size[16];
	const struct death_disk *disk = h ? disk_of(d, h) : NULL;
	if (!h || (!said && !disk))
		return false;
	if (inodes_full(p, disk, said))
		return true;
	if (disk)
		TEXT_FORMAT(where, "the file system at %s (%s)", disk->path, size_format(disk->total_bytes, size));
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "disk_full", said ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because %s was full%s.", pm_who(d, who), where,
		   said ? " (No space left on device)" : ": it could not write its file");
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	if (!said)
		pm_text(p, "PyTorch's writer of files does not say why a write fell short; there is no room where it "
			   "may have written.");
	else if (!disk && d->n_disks > 0)
		pm_text(p, "Which one that is it does not say. %s is full, but nothing was seen to have been written "
			   "there at the end.", d->disks[0].path);
	if (h->rank != NO_RANK && h->rank != d->rank)
		pm_culprit(p, h->rank);
	disk_evidence(p);
	incident_advice_add(p->i, "Make room%s%s (df -h, du -sh), or keep fewer checkpoints.", disk ? " on " : "",
			    disk ? disk->path : "");
	return true;
}
