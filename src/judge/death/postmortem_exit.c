/* Verdicts from what the process itself leaves: crashes, a full /dev/shm, exit codes, unknown ends. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

static bool shm_nearly_full(const struct death *d)
{
	return d->has_shm && d->shm_total_bytes > 0 && d->shm_free_bytes < d->shm_total_bytes / 20;
}

static void shm_evidence(struct pm *p)
{
	char free_words[16], total[16];
	if (p->d->has_shm)
		incident_evidence_add(p->i, "shm", "/dev/shm", 0, "%s free of %s after the death",
				      size_format(p->d->shm_free_bytes, free_words),
				      size_format(p->d->shm_total_bytes, total));
}

/* The kernel said that there was no room, whatever is free in the /dev/shm that is seen from here. */
static void shm_refused(struct pm *p, const struct log_hint *h)
{
	char who[PM_WHO], size[16], free_words[16];
	pm_verdict(p, INCIDENT_SHM_FULL, KILLER_NONE, "shm_full", CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because there was no room left in its /dev/shm.", pm_who(p->d, who));
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	pm_text(p,
		"After the death %s of %s are free in the /dev/shm of vigil: what the dead processes had there is free "
		"again, or theirs is another one, as a container has.",
		size_format(p->d->shm_free_bytes, free_words), size_format(p->d->shm_total_bytes, size));
	shm_evidence(p);
	incident_advice_add(p->i, "Where the program runs in a container of its own, df -h /dev/shm in there says how "
				  "large it is; docker run --shm-size=… makes it larger.");
	pm_advise_less_shm(p);
}

/* Touching a page of a file in /dev/shm for which there is no room raises SIGBUS. */
bool pm_shm(struct pm *p)
{
	const struct death *d = p->d;
	const struct log_hint *h = pm_hint(d, "dataloader_bus_error");
	if (!h)
		h = pm_hint(d, "shm_no_space");
	bool bus = p->end.reported == SIGBUS, full = shm_nearly_full(d);
	/* Most of it is free: either the dead processes' files were freed with them, or it never was full. */
	bool doubtful =
		d->has_shm && !full && d->shm_total_bytes > 64 * MIB && d->shm_free_bytes > d->shm_total_bytes / 2;
	if (!p->end.failed || !p->end.known || (!h && !(bus && full)))
		return false;
	/* The signal is certain, that room was missing is a guess of torch's: pm_crash() tells what may raise it. */
	if (doubtful && p->end.signal == SIGBUS)
		return false;
	const struct log_hint *refused = pm_hint(d, "shm_no_space");
	if (doubtful && refused && strstr(refused->text, "No space left on device")) {
		shm_refused(p, refused);
		return true;
	}
	char who[PM_WHO], size[16], free_words[16];
	pm_who(d, who);
	const bool docker_default = d->has_shm && d->shm_total_bytes <= 64 * MIB;
	pm_verdict(p, INCIDENT_SHM_FULL, KILLER_NONE, "shm_full",
		   doubtful			   ? CONFIDENCE_LOW
		   : h && (full || docker_default) ? CONFIDENCE_HIGH
						   : CONFIDENCE_MEDIUM);
	pm_summary(p, "%s %s %s /dev/shm was full%s%s.", who, bus ? "got a bus error" : "failed",
		   doubtful ? "perhaps because" : "because", d->has_shm ? ": it holds " : "",
		   d->has_shm ? size_format(d->shm_total_bytes, size) : "");
	pm_text(p, "%s", p->i->summary);
	if (d->has_shm)
		pm_text(p,
			"After the death %s were free; what the dead processes alone had mapped is free again by then.",
			size_format(d->shm_free_bytes, free_words));
	shm_evidence(p);
	if (doubtful)
		incident_advice_add(p->i,
				    "A bus error has other causes, too: a file that was cut short while it was mapped, "
				    "network storage that went away, bad memory (the kernel's log says so).");
	pm_advise_shm(p);
	return true;
}

static const struct {
	int signal;
	const char *id, *words;
} crashes[] = {
	{SIGSEGV, "sigsegv", "touched memory that is not its own (segmentation fault)"},
	{SIGBUS, "sigbus",
	 "touched a page with nothing behind it (bus error: a file cut short, a full tmpfs, bad memory)"},
	{SIGABRT, "sigabrt", "gave up by itself (abort)"},
	{SIGFPE, "sigfpe", "made an arithmetic error (division by zero or overflow)"},
	{SIGILL, "sigill", "ran an instruction that this CPU does not know"},
	{SIGTRAP, "sigtrap", "hit a trap (breakpoint or a failed check)"},
	{SIGSYS, "sigsys", "made a system call that its seccomp filter forbids"},
};

static void timeout_of_one_rank(struct pm *p, const struct log_hint *h)
{
	char who[PM_WHO];
	pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, "collective_timeout", CONFIDENCE_MEDIUM);
	pm_summary(p, "%s ended itself because a collective operation did not end in time; no other rank takes part.",
		   pm_who(p->d, who));
	pm_text(p,
		"NCCL's watchdog aborts the process. The job has one rank, so the operation waited for nothing but the "
		"device: work that was queued there before it did not end. %s",
		h->text);
	incident_advice_add(p->i, "Look for a kernel that does not end: CUDA_LAUNCH_BLOCKING=1 stops at the line that "
				  "starts it; vigil gpus shows errors of the device (Xid).");
}

/* The message before abort() is the cause. */
static bool abort_reason(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "collective_timeout");
	char who[PM_WHO];
	pm_who(p->d, who);
	if (h && p->d->world_size == 1) {
		timeout_of_one_rank(p, h);
		return true;
	}
	if (h) {
		pm_verdict(p, INCIDENT_PEER_LOST, KILLER_NONE, "collective_timeout", CONFIDENCE_MEDIUM);
		pm_summary(p, "%s ended itself because a collective operation timed out: a peer did not take part.",
			   who);
		pm_text(p,
			"NCCL's watchdog aborts the process; the rank that never arrived is the cause, not this one. "
			"%s",
			h->text);
		return true;
	}
	h = pm_hint(p->d, "bad_alloc");
	if (!h)
		return false;
	pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, "bad_alloc", CONFIDENCE_HIGH);
	pm_summary(p, "%s aborted because C++ code could not allocate memory (std::bad_alloc).", who);
	pm_text(p, "An allocation was refused at once: an address space limit (ulimit -v), strict overcommit, or an "
		   "absurd size. It is not the kernel's OOM killer, which ends with SIGKILL.");
	pm_advise_less_memory(p);
	return true;
}

bool pm_is_crash(int signal)
{
	for (size_t c = 0; c < ARRAY_SIZE(crashes); c++)
		if (crashes[c].signal == signal)
			return true;
	return false;
}

/*
 * True when it sent itself the signal of a fault (kill -SEGV, raise()), so no memory fault happened. abort() sends
 * itself a signal by design and does not count, nor does a handler that sends once more what the kernel had sent for a
 * fault, as Python's faulthandler does.
 */
static bool sent_itself(const struct death *d, int signal)
{
	bool own = false;
	for (size_t n = 0; n < d->n_signals && signal != SIGABRT; n++) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target != d->pid || s->signal != signal || !pm_time_fits(d, s->time_unix_ms, 60000))
			continue;
		if (s->from_kernel)
			return false;
		own |= s->sender == d->pid;
	}
	return own;
}

/* The address that a fault touched lies where the stack would have grown to; the numbers are the kernel's. */
static bool at_stack_s_end(uint64_t addr, uint64_t sp)
{
	const uint64_t near_bytes = 64 * KIB; /* a frame with large arrays reaches down that far at once */
	return addr != 0 && sp != 0 && (addr > sp ? addr - sp : sp - addr) < near_bytes;
}

static bool stack_was_full(const struct pm *p)
{
	const struct death *d = p->d;
	for (size_t n = 0; n < d->n_signals; n++) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target == d->pid && s->signal == SIGSEGV && s->from_kernel &&
		    pm_time_fits(d, s->time_unix_ms, 60000))
			return at_stack_s_end(s->fault_addr, s->stack_pointer);
	}
	const struct killer_line *l = pm_fault_line(d);
	return l && l->fault.has_address && at_stack_s_end(l->fault.address, l->fault.sp);
}

/* What stands before the last line, or the cause that it was told with. */
static void before_last_told(struct pm *p, const struct log_hint *last)
{
	if (last->first[0])
		pm_quote(p, last->direct ? "Its cause was" : "Before it came", last->first, false);
	if (last->frame[0])
		pm_text(p, "The stack below it leads first to the program's own files %s.", last->frame);
}

static void last_words_told(struct pm *p, const struct log_hint *last)
{
	pm_quote(p, "The last line of its output is", last->text, false);
	before_last_told(p, last);
}

/* What the C library or C++ says before abort(), where the last line may be of another process; else the last line. */
static void abort_words_told(struct pm *p)
{
	const struct log_hint *said = pm_hint(p->d, "abort_words"), *last = pm_last_line(p->d);
	if (said && (p->d->worker_of[0] || !last))
		pm_quote(p, "It had said", said->text, false);
	else if (last)
		last_words_told(p, last);
}

/* A shell says that its command was ended by a signal; what runs it may then speak of a number only. */
static void shell_s_words_told(struct pm *p, const struct log_hint *last)
{
	static const char *const ids[] = {"segfault", "bus_error", "killed_word"};
	const uint32_t near_lines = 10;
	for (size_t k = 0; k < ARRAY_SIZE(ids); k++) {
		const struct log_hint *h = pm_hint(p->d, ids[k]);
		if (h && h->pid > 0 && h->to_end <= near_lines && !strstr(last->text, h->text))
			pm_quote(p, "The shell had said", h->text, false);
	}
}

/* An MPI library says which rank aborted the world; why, that rank has said before. */
static void mpi_abort_told(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "mpi_abort");
	if (!h || h->rank == NO_RANK)
		return;
	pm_text(p, "By MPI's words rank %d called MPI_Abort, which ends all ranks.", h->rank);
	if (p->i->n_culprits == 0)
		pm_culprit(p, h->rank);
}

/*
 * Whether its end by this signal was seen to be a fault or its own: the signal's record, or the kernel's line. Where
 * nobody could watch signals, another process may have sent it.
 */
static bool end_was_seen(const struct death *d, int signal)
{
	if (!pm_unavailable(d, "signals"))
		return true;
	for (size_t n = 0; n < d->n_signals; n++)
		if (d->signals[n].target == d->pid && d->signals[n].signal == signal)
			return true;
	return pm_fault_line(d) != NULL;
}

/* What a library or runtime says right before it aborts; faulthandler says "Aborted" of a signal from anybody. */
static bool said_before_abort(const struct death *d)
{
	const struct log_hint *fatal = pm_hint(d, "python_fatal");
	return pm_hint(d, "abort_words") || (fatal && !strstr(fatal->text, "Python error: Aborted"));
}

static enum confidence crash_confidence(const struct pm *p, bool seen)
{
	const struct ending *e = &p->end;
	if (!e->signal)
		return seen ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	if (end_was_seen(p->d, e->signal) || (e->signal == SIGABRT && said_before_abort(p->d)))
		return CONFIDENCE_HIGH;
	return e->signal == SIGABRT ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM;
}

/* A fault is seldom sent by another process; SIGABRT is what a watchdog sends (systemd's, timeout -s ABRT). */
static void crash_unseen(struct pm *p)
{
	const int signal = p->end.signal;
	if (signal == SIGABRT)
		pm_text(p, "Another process can send this signal too, as watchdogs do; whether one did was not seen, "
			   "as signals could not be watched.");
	else
		pm_text(p, "Another process can send this signal too, which is rare; signals could not be watched.");
}

bool pm_crash(struct pm *p)
{
	const struct ending *e = &p->end;
	char who[PM_WHO];
	size_t c = 0;
	while (c < ARRAY_SIZE(crashes) && crashes[c].signal != e->reported)
		c++;
	if (!e->known || c == ARRAY_SIZE(crashes))
		return false;
	if (e->reported == SIGABRT && abort_reason(p))
		return true;
	const struct log_hint *fatal = pm_hint(p->d, "python_fatal");
	bool seen = e->signal || fatal || pm_hint(p->d, "segfault") || pm_hint(p->d, "bus_error");
	char id[48];
	TEXT_COPY(id, crashes[c].id);
	if (!e->signal)
		TEXT_FORMAT(id, "exit_%d", e->code);
	const enum confidence confidence = crash_confidence(p, seen);
	pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, id, confidence);
	if (sent_itself(p->d, e->reported))
		pm_summary(p, "%s ended by %s, which it sent itself: no fault was seen.", pm_who(p->d, who),
			   signame(e->reported));
	else if (e->signal == SIGABRT && confidence == CONFIDENCE_LOW)
		pm_summary(p, "%s ended by SIGABRT: it gave up by itself (abort), or was sent the signal.",
			   pm_who(p->d, who));
	else if (e->signal || seen)
		pm_summary(p, "%s crashed with %s: it %s.", pm_who(p->d, who), signame(e->reported), crashes[c].words);
	else
		pm_summary(p, "%s ended with exit status %d, which may stand for %s.", pm_who(p->d, who), e->code,
			   signame(e->reported));
	pm_text(p, "%s", p->i->summary);
	if (!e->signal)
		pm_text(p,
			"Exit status %d is 128+%d: a shell or a container run-time reports so that its child died of "
			"%s, but any program may exit with that number.",
			e->code, e->reported, signame(e->reported));
	if (e->signal && confidence != CONFIDENCE_HIGH)
		crash_unseen(p);
	if (fatal)
		pm_text(p, "Python said: %s", fatal->text);
	else if (e->reported == SIGABRT)
		abort_words_told(p);
	if (e->reported == SIGBUS)
		shm_evidence(p);
	if (e->reported == SIGSEGV && stack_was_full(p))
		pm_stack_overflow(p);
	else
		pm_fault_told(p);
	pm_fault_evidence(p);
	pm_advise_core(p);
	return true;
}

static void sigkill_unknown(struct pm *p)
{
	char who[PM_WHO];
	pm_who(p->d, who);
	if (p->end.signal) {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "sigkill_unknown", CONFIDENCE_LOW);
		pm_summary(p, "%s was killed by SIGKILL; who sent it is unknown.", who);
		pm_text(p, "A SIGKILL proves only that somebody sent one: the kernel, a daemon, a scheduler, a user. "
			   "Nothing that was looked at names the sender.");
	} else {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "exit_137", CONFIDENCE_LOW);
		pm_summary(p, "%s exited with status 137 (128+9); who killed what is unknown.", who);
		pm_text(p, "137 is how a shell or a container run-time reports that its child died of SIGKILL. It does "
			   "not prove lack of memory, and any program may exit with that number.");
	}
	pm_advise_unknown_kill(p);
}

/* The kernel sends these at a limit of the process, and it had none. */
static bool limit_signal_without_limit(struct pm *p)
{
	const struct death *d = p->d;
	const int signal = p->end.signal;
	const size_t limit = signal == SIGXCPU ? RLIMIT_CPU : RLIMIT_FSIZE;
	char who[PM_WHO];
	if ((signal != SIGXCPU && signal != SIGXFSZ) || !d->has_limits || d->soft_limit[limit] != UINT64_MAX)
		return false;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, signal == SIGXCPU ? "sigxcpu_unknown" : "sigxfsz_unknown",
		   CONFIDENCE_LOW);
	pm_summary(p, "%s ended by %s; who sent it is unknown.", pm_who(d, who), signame(signal));
	pm_text(p,
		"The kernel sends it at a limit of %s, and the process had none: somebody else sent it, as some "
		"schedulers do shortly before a limit of their own.",
		signal == SIGXCPU ? "processor time (RLIMIT_CPU)" : "a file's size (RLIMIT_FSIZE)");
	pm_advise_sender(p);
	return true;
}

static void unknown_sender_told(struct pm *p)
{
	const struct ending *e = &p->end;
	if (e->signal == SIGHUP && p->d->has_status && !p->d->stopping)
		pm_text(p, "A terminal or session that is closed sends it to vigil as well, which got none.");
	if (e->signal == SIGTERM)
		pm_text(p, "A scheduler sends it at a time limit or to make room, a container run-time or a service "
			   "manager to stop what it runs, and a person by kill.");
	pm_text(p, "Nothing that was looked at names the sender.");
	pm_advise_sender(p);
}

static void other_signal(struct pm *p)
{
	static const struct {
		int signal;
		const char *id, *words;
	} known[] = {
		{SIGTERM, "sigterm_unknown", "was asked to end by SIGTERM; who sent it is unknown"},
		{SIGINT, "sigint_unknown", "was interrupted by SIGINT, as Ctrl-C sends it; who sent it was not seen"},
		{SIGHUP, "sighup_unknown", "ended by SIGHUP; who sent it is unknown"},
		{SIGPIPE, "sigpipe", "ended by SIGPIPE: it wrote into a pipe or socket that nobody reads any more"},
		{SIGXCPU, "cpu_limit", "used up its CPU time limit (RLIMIT_CPU, ulimit -t)"},
		{SIGXFSZ, "file_size_limit", "wrote a file beyond its size limit (RLIMIT_FSIZE, ulimit -f)"},
	};
	const struct ending *e = &p->end;
	const char *name = signame(e->reported);
	char who[PM_WHO], id[48];
	pm_who(p->d, who);
	if (limit_signal_without_limit(p))
		return;
	for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
		if (known[k].signal != e->reported)
			continue;
		bool kernel = e->reported == SIGPIPE || e->reported == SIGXCPU || e->reported == SIGXFSZ;
		TEXT_COPY(id, known[k].id);
		if (!e->signal)
			TEXT_FORMAT(id, "exit_%d", e->code);
		pm_verdict(p, INCIDENT_KILLED_BY, kernel ? KILLER_SIGNAL : KILLER_UNKNOWN, id,
			   kernel && e->signal ? CONFIDENCE_HIGH : CONFIDENCE_LOW);
		pm_summary(p, "%s %s.", who, known[k].words);
		if (!e->signal)
			pm_text(p,
				"Exit status %d is 128+%d, as a shell or a container run-time reports a child's %s; a "
				"program may also choose that number when it handles the signal.",
				e->code, e->reported, name);
		else if (!kernel)
			unknown_sender_told(p);
		return;
	}
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "signal_unknown", CONFIDENCE_LOW);
	pm_summary(p, "%s ended by signal %d (%s); who sent it is unknown.", who, e->reported, name ? name : "no name");
	if (e->signal)
		unknown_sender_told(p);
}

/* An exit status that nothing explains but, perhaps, the last line of the output. */
static void exit_leftover(struct pm *p)
{
	const int code = p->end.code;
	const struct log_hint *ray = pm_hint(p->d, "ray_worker_died"), *last = pm_last_line(p->d);
	const char *words = code == 127	  ? " (a shell's way to say: command not found)"
			    : code == 126 ? " (a shell's way to say: not executable)"
			    : code == 2 && !(last && last->frame[0]) ? " (often: wrong usage)"
					  : "";
	bool errors = last && strstr(last->source, "stderr");
	char who[PM_WHO], id[48];
	TEXT_FORMAT(id, "exit_%d", code);
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, ray ? "ray_worker_died" : id,
		   code == 126 || code == 127 || (errors && !ray && !last->loop && !last->out_went_on)
			   ? CONFIDENCE_MEDIUM
			   : CONFIDENCE_LOW);
	if (ray || !last) {
		pm_summary(p, "%s ended by itself with exit status %d%s.", pm_who(p->d, who), code, words);
		pm_text(p, "%s", ray ? pm_ray_words : "It gave no reason in what was kept of its output.");
		return;
	}
	pm_summary(p, "%s ended by itself with exit status %d%s; its last %s: %.200s", pm_who(p->d, who), code, words,
		   last->of_error ? "error in the output" : "line", last->text);
	if (!errors && !last->of_error) /* what stands there last need not have to do with the end */
		pm_text(p, "It gave no reason that vigil knows.");
	pm_quote(p,
		 last->of_error ? "The last error in its output is"
		 : errors	? "The last line that it wrote to stderr is"
				: "The last line of its output is",
		 last->text, strlen(last->text) + 1 >= sizeof(last->text));
	before_last_told(p, last);
	pm_peer_doubted(p, last);
	shell_s_words_told(p, last);
	pm_left_child_told(p);
	pm_notice_told(p);
	mpi_abort_told(p);
	if (last->loop && code == 1 &&
	    pm_latest_traceback(p->d)) /* another thread's bar may go on after the last exception */
		pm_quote(p, "The last exception in its log, after which it said more, was",
			 pm_latest_traceback(p->d)->text, false);
}

/* Signals and ends were watched, and SIGKILL was sent to nobody and ended nobody. */
static bool nobody_killed(const struct death *d)
{
	if (pm_unavailable(d, "signals"))
		return false;
	for (size_t n = 0; n < d->n_signals; n++)
		if (d->signals[n].signal == SIGKILL && pm_time_fits(d, d->signals[n].time_unix_ms, 120000))
			return false;
	for (size_t k = 0; k < d->n_ends; k++)
		if (WIFSIGNALED(d->ends[k].wait_status) && WTERMSIG(d->ends[k].wait_status) == SIGKILL)
			return false;
	return true;
}

/* It left with 137, and no process of the job was killed. */
static void chosen_137(struct pm *p)
{
	exit_leftover(p);
	p->i->cause.confidence = CONFIDENCE_LOW;
	pm_text(p, "137 is 128+9, as shells and container run-times report on signal 9, but no process of the job "
		   "was seen to end by it: the program chose that status, or it is that of a process elsewhere.");
}

void pm_leftover(struct pm *p)
{
	const struct ending *e = &p->end;
	char who[PM_WHO];
	pm_who(p->d, who);
	if (!e->known) {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "end_unseen", CONFIDENCE_LOW);
		pm_summary(p, "%s is gone; how it ended was not seen, because it was not a child of vigil.", who);
		pm_text(p, "Nothing that was looked at names it.");
		pm_advise_unknown_kill(p);
	} else if (e->exited && e->reported == SIGKILL && p->d->n_ends > 0 && nobody_killed(p->d)) {
		chosen_137(p);
	} else if (e->reported == SIGKILL) {
		sigkill_unknown(p);
	} else if (e->signal || (e->reported < PM_REAL_TIME && signame(e->reported))) {
		other_signal(p);
	} else {
		exit_leftover(p);
	}
}

static const struct {
	const char *source, *words;
} sources_read[] = {
	{"kmsg", "kernel log: no OOM kill of this process"},
	{"journal", "journal: no killer or supervisor names it"},
	{"cgroup", "OOM counters of its group and those above: no growth that it explains"},
	{"vmstat", "the machine's count of OOM kills"},
	{"signals", "signals seen being sent: none that fits"},
	{"log", "the last lines of its output: nothing that names a killer"},
	{"shm", "/dev/shm: not full"},
};

void pm_sources_read(struct pm *p)
{
	const struct death *d = p->d;
	for (size_t l = 0; l < ARRAY_SIZE(sources_read); l++) {
		const char *source = sources_read[l].source;
		if (pm_unavailable(d, source) || (strcmp(source, "cgroup") == 0 && d->n_groups == 0) ||
		    (strcmp(source, "shm") == 0 && (!d->has_shm || shm_nearly_full(d))))
			continue;
		if (strcmp(source, "vmstat") == 0) {
			if (d->has_vmstat)
				incident_evidence_add(p->i, "looked_at", source, 0, "%s: %llu at the start, %llu now",
						      sources_read[l].words, (unsigned long long)d->vmstat_oom_before,
						      (unsigned long long)d->vmstat_oom_after);
			continue;
		}
		incident_evidence_add(p->i, "looked_at", source, 0, "%s", sources_read[l].words);
	}
}
