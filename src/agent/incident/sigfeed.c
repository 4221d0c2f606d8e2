#include "agent/incident/sigfeed.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/incident/endwatch.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "model/jobs/role.h"
#include "sense/bpf/bpfload.h"
#include "sense/death/sigwatch.h"
#include "sense/ns.h"
#include "sense/proc/proc.h"

#define BAD_ENDS 64

struct bad_end {
	pid_t parent;
	int64_t time_unix_ms;
};

struct sigfeed {
	const struct world *w;
	bool first_namespace; /* our pids are the machine's */
	char unavailable[200]; /* why signals cannot be watched */
	struct bpf_sigwatch_fds fds;
	struct sigwatch watch;
	bool below; /* only signals to the job's processes and our helpers are seen */
	_Atomic bool watching; /* set by the loading thread, read by ours */
	int64_t since_unix_ms; /* with watching: signals that were sent before are not seen */
	_Atomic bool blind_set;
	struct endwatch *ends; /* with blind_set; NULL: none */
	struct bad_end bad[BAD_ENDS]; /* the last ones that ends told of */
	size_t n_bad;
	struct sigfeed_reader *first;
	void (*each_end)(void *ctx, const struct process_end *e, struct span command); /* NULL: nobody */
	void *each_ctx;
};

struct sigfeed *sigfeed_new(const struct world *w)
{
	char ns[64] = "";
	struct sigfeed *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->w = w;
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", ns, sizeof(ns) - 1);
	f->first_namespace = n > 0 && strcmp(ns, PID_NAMESPACE_FIRST_TEXT) == 0;
	return f;
}

struct sigfeed *sigfeed_free(struct sigfeed *f)
{
	if (!f)
		return NULL;
	if (atomic_load(&f->watching)) {
		sigwatch_close(&f->watch);
		closep(&f->fds.link_fd);
		closep(&f->fds.end_link_fd);
		closep(&f->fds.env_link_fd);
		closep(&f->fds.ring_fd);
	}
	endwatch_free(f->ends);
	free(f);
	return NULL;
}

/* WORLD_ABSENT, WORLD_DENIED, -errno: signals are not seen, f->unavailable says why. */
static int programs_load(struct sigfeed *f, pid_t below, int *ret_iter_link_fd)
{
	char why[160];
	if (ret_iter_link_fd && bpf_start_load(below, ret_iter_link_fd, &f->fds) == 0)
		return 0;
	if (ret_iter_link_fd)
		ignore(bpf_tasks_load(ret_iter_link_fd, why, sizeof(why)),
		       "the guard reads /proc where BPF is not to be had");
	return bpf_sigwatch_load(below, &f->fds, f->unavailable, sizeof(f->unavailable));
}

static void blind_begin(struct sigfeed *f)
{
	f->ends = f->below ? endwatch_new(f->w) : NULL;
	atomic_store(&f->blind_set, true);
}

void sigfeed_load(struct sigfeed *f, pid_t below, int *ret_iter_link_fd)
{
	f->below = below != 0;
	if (ret_iter_link_fd)
		*ret_iter_link_fd = -1;
	if (programs_load(f, below, ret_iter_link_fd) != 0) {
		blind_begin(f);
		return;
	}
	if (sigwatch_open(f->fds.ring_fd, f->fds.ring_bytes, &f->watch) != 0) {
		TEXT_COPY(f->unavailable, "the ring of signals could not be mapped");
		blind_begin(f);
		return;
	}
	f->since_unix_ms = f->w->unix_ms();
	atomic_store(&f->watching, true);
}

void sigfeed_join(struct sigfeed *f, struct sigfeed_reader *r)
{
	r->told = false;
	r->joined_unix_ms = f->w->unix_ms();
	r->next = f->first;
	f->first = r;
	deathfacts_signals_unavailable(r->facts, DEATH_UNWATCHED);
}

void sigfeed_leave(struct sigfeed *f, struct sigfeed_reader *r)
{
	for (struct sigfeed_reader **at = &f->first; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			return;
		}
}

void sigfeed_ends(struct sigfeed *f, void (*each)(void *ctx, const struct process_end *e, struct span command),
		  void *ctx)
{
	f->each_end = each;
	f->each_ctx = ctx;
}

int sigfeed_fd(const struct sigfeed *f)
{
	if (!f)
		return -1;
	if (atomic_load(&f->blind_set))
		return f->ends ? endwatch_fd(f->ends) : -1;
	return atomic_load(&f->watching) ? f->fds.ring_fd : -1;
}

void sigfeed_know(struct sigfeed *f, const struct process_end *who)
{
	if (f && atomic_load(&f->blind_set) && f->ends && strncmp(who->name, "vigil", 5) != 0)
		endwatch_know(f->ends, who);
}

/* Another child of its parent had ended badly: launchers then end the others, at last by SIGKILL. */
static bool had_bad_sibling(const struct sigfeed *f, const struct process_end *e)
{
	const int64_t missed_ms = 120000;
	for (size_t i = 0; i < MIN(f->n_bad, (size_t)BAD_ENDS); i++)
		if (f->bad[i].parent == e->parent && e->time_unix_ms - f->bad[i].time_unix_ms < missed_ms)
			return true;
	return false;
}

/*
 * By whom a process was asked to end is not known here, and jobs ask their own: pools and launchers by SIGTERM, then by
 * SIGKILL. So such an end is not handed on, as it would be taken for a stranger's. Nor is a small program's status that
 * was met by chance: scripts ask such programs again and again, and the others were not seen.
 */
static bool sigfeed_is_plain(const struct sigfeed *f, const struct process_end *e)
{
	static const int own[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
	const int64_t brief_ms = 2000;
	const int signal = WIFSIGNALED(e->wait_status) ? WTERMSIG(e->wait_status) : 0;
	if (!signal)
		return e->wait_status == 0 || e->rank != NO_RANK || e->time_unix_ms - e->start_unix_ms >= brief_ms;
	bool is_own = false;
	for (size_t i = 0; i < ARRAY_SIZE(own) && !is_own; i++)
		is_own = signal == own[i];
	return is_own || (signal == SIGKILL && !had_bad_sibling(f, e));
}

static void plain_end_keep(void *ctx, const struct process_end *e)
{
	struct sigfeed *f = ctx;
	const bool plain = sigfeed_is_plain(f, e);
	for (struct sigfeed_reader *r = f->first; r && plain; r = r->next)
		deathfacts_end(r->facts, e);
	if (e->wait_status != 0)
		f->bad[f->n_bad++ % BAD_ENDS] = (struct bad_end){e->parent, e->time_unix_ms};
}

/* The guard and other helpers, which are children of the supervisor too. */
static bool is_vigils(const struct world *w, pid_t pid)
{
	struct proc_stat st;
	return proc_stat_read(w, pid, &st) == 0 && span_starts(span_of(st.comm), "vigil");
}

static void end_keep(struct sigfeed *f, const struct sigwatch_event *e)
{
	struct process_end end = e->end;
	if (!f->first_namespace) {
		end.pid = e->end_inner;
		end.parent = e->end_parent_inner;
	}
	end.rank = role_numbers_of((struct span){e->end_ranks, e->end_ranks_len}).rank;
	if (strncmp(end.name, "vigil", 5) == 0) /* our helpers are children of the supervisor too */
		return;
	if (f->each_end)
		f->each_end(f->each_ctx, &end, (struct span){e->end_command, e->end_command_len});
	for (struct sigfeed_reader *r = f->first; r; r = r->next)
		deathfacts_end(r->facts, &end);
}

static void signal_keep(struct sigfeed *f, const struct sigwatch_event *e)
{
	struct signal_sent s = {
		.signal = e->signal,
		.target = f->first_namespace ? e->target : e->target_inner,
		.target_start_ticks = e->target_start_ticks,
		.sender = e->from_kernel       ? 0
			  : f->first_namespace ? e->sender
					       : e->sender_inner,
		.sender_uid = e->sender_uid,
		.from_kernel = e->from_kernel,
		.of_timer = e->code == SI_TIMER,
		.fault_addr = e->fault_addr,
		.stack_pointer = e->stack_pointer,
		.time_unix_ms = e->time_unix_ms,
	};
	s.of_job = f->below && !is_vigils(f->w, s.target);
	TEXT_COPY(s.sender_comm, e->sender_comm);
	if (!e->from_kernel && proc_command_read(f->w, s.sender, s.sender_command, sizeof(s.sender_command)) != 0)
		s.sender_command[0] = '\0'; /* the sender has ended: only its name is left */
	for (struct sigfeed_reader *r = f->first; r; r = r->next)
		deathfacts_signal(r->facts, &s);
}

/* Once for each reader: that signals are watched, or why they are not. */
static void readers_tell(struct sigfeed *f)
{
	bool watching = atomic_load(&f->watching);
	if (!watching && !atomic_load(&f->blind_set))
		return;
	for (struct sigfeed_reader *r = f->first; r; r = r->next) {
		if (!r->told && watching)
			deathfacts_signals_from(r->facts, MAX(f->since_unix_ms, r->joined_unix_ms));
		if (!r->told)
			deathfacts_signals_unavailable(r->facts, watching ? NULL : f->unavailable);
		r->told = true;
	}
}

void sigfeed_take(struct sigfeed *f)
{
	struct sigwatch_event events[64];
	size_t n = 0;
	if (!f)
		return;
	readers_tell(f);
	if (atomic_load(&f->blind_set) && f->ends)
		endwatch_take(f->ends, plain_end_keep, f);
	if (!atomic_load(&f->watching))
		return;
	do {
		if (sigwatch_read(&f->watch, f->w, events, ARRAY_SIZE(events), &n) < 0)
			return;
		for (size_t i = 0; i < n; i++) {
			if (events[i].is_end)
				end_keep(f, &events[i]);
			else
				signal_keep(f, &events[i]);
		}
	} while (n == ARRAY_SIZE(events));
}
