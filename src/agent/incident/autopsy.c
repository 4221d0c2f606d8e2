#include "agent/incident/autopsy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "agent/incident/deathfacts.h"
#include "agent/host/host.h"
#include "base/buf.h"
#include "base/text.h"
#include "model/jobs/role.h"
#include "sense/bpf/bpfload.h"
#include "sense/ns.h"
#include "sense/proc/proc.h"
#include "sense/death/sigwatch.h"

struct autopsy {
	const struct world *w;
	struct deathfacts *facts;
	bool first_namespace; /* our pids are the machine's */
	char unavailable[200]; /* why signals cannot be watched */
	struct bpf_sigwatch_fds fds;
	struct sigwatch watch;
	bool below; /* only signals to the job's processes and our helpers are seen */
	_Atomic bool watching; /* set by the loading thread, read by ours */
	_Atomic bool blind_set;
	bool told; /* deathfacts was told why signals cannot be watched */
};

struct autopsy *autopsy_new(const struct world *w, const struct cgroup_place *place)
{
	char ns[64] = "";
	struct autopsy *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->w = w;
	a->facts = deathfacts_new(w, place);
	if (!a->facts) {
		free(a);
		return NULL;
	}
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", ns, sizeof(ns) - 1);
	a->first_namespace = n > 0 && strcmp(ns, PID_NAMESPACE_FIRST_TEXT) == 0;
	deathfacts_signals_unavailable(a->facts, DEATH_UNWATCHED);
	return a;
}

void autopsy_watch_signals(struct autopsy *a, pid_t below, int *ret_iter_link_fd)
{
	char why[160];
	a->below = below != 0;
	if (ret_iter_link_fd) {
		*ret_iter_link_fd = -1;
		ignore(bpf_tasks_load(ret_iter_link_fd, why, sizeof(why)),
		       "the guard reads /proc where BPF is not to be had");
	}
	if (bpf_sigwatch_load(below, &a->fds, a->unavailable, sizeof(a->unavailable)) != 0) {
		atomic_store(&a->blind_set, true);
		return;
	}
	if (sigwatch_open(a->fds.ring_fd, a->fds.ring_bytes, &a->watch) != 0) {
		TEXT_COPY(a->unavailable, "the ring of signals could not be mapped");
		atomic_store(&a->blind_set, true);
		return;
	}
	atomic_store(&a->watching, true);
}

int autopsy_signals_fd(const struct autopsy *a)
{
	return a && atomic_load(&a->watching) ? a->fds.ring_fd : -1;
}

/* The guard and other helpers, which are children of the supervisor too. */
static bool is_vigils(const struct world *w, pid_t pid)
{
	struct proc_stat st;
	return proc_stat_read(w, pid, &st) == 0 && span_starts(span_of(st.comm), "vigil");
}

static void end_keep(struct autopsy *a, const struct sigwatch_event *e)
{
	struct process_end end = e->end;
	if (!a->first_namespace) {
		end.pid = e->end_inner;
		end.parent = e->end_parent_inner;
	}
	end.rank = role_numbers_of((struct span){e->end_ranks, e->end_ranks_len}).rank;
	if (strncmp(end.name, "vigil", 5) != 0) /* our helpers are children of the supervisor too */
		deathfacts_end(a->facts, &end);
}

static void signal_keep(struct autopsy *a, const struct sigwatch_event *e)
{
	if (e->is_end) {
		end_keep(a, e);
		return;
	}
	struct signal_sent s = {
		.signal = e->signal,
		.target = a->first_namespace ? e->target : e->target_inner,
		.target_start_ticks = e->target_start_ticks,
		.sender = e->from_kernel       ? 0
			  : a->first_namespace ? e->sender
					       : e->sender_inner,
		.sender_uid = e->sender_uid,
		.from_kernel = e->from_kernel,
		.fault_addr = e->fault_addr,
		.stack_pointer = e->stack_pointer,
		.time_unix_ms = e->time_unix_ms,
	};
	s.of_job = a->below && !is_vigils(a->w, s.target);
	TEXT_COPY(s.sender_comm, e->sender_comm);
	if (!e->from_kernel && proc_command_read(a->w, s.sender, s.sender_command, sizeof(s.sender_command)) != 0)
		s.sender_command[0] = '\0'; /* the sender has ended: only its name is left */
	deathfacts_signal(a->facts, &s);
}

void autopsy_signals_take(struct autopsy *a)
{
	struct sigwatch_event events[64];
	size_t n = 0;
	if (!a)
		return;
	if (!a->told && atomic_load(&a->watching)) {
		deathfacts_signals_unavailable(a->facts, NULL);
		a->told = true;
	}
	if (!a->told && atomic_load(&a->blind_set)) {
		deathfacts_signals_unavailable(a->facts, a->unavailable);
		a->told = true;
	}
	if (!atomic_load(&a->watching))
		return;
	do {
		if (sigwatch_read(&a->watch, a->w, events, ARRAY_SIZE(events), &n) < 0)
			return;
		for (size_t i = 0; i < n; i++)
			signal_keep(a, &events[i]);
	} while (n == ARRAY_SIZE(events));
}

bool autopsy_child_end(struct autopsy *a, pid_t parent, char *dst, size_t cap, int64_t *ret_unix_ms)
{
	const struct signal_sent *sent = NULL;
	autopsy_signals_take(a);
	const struct process_end *end = a ? deathfacts_child_end(a->facts, parent, &sent) : NULL;
	struct buf b = {.text = dst, .cap = cap};
	if (!end)
		return false;
	buf_reset(&b);
	buf_printf(&b, "process %d (%s) ", (int)end->pid, end->name);
	if (!WIFSIGNALED(end->wait_status)) {
		buf_printf(&b, "ended with exit status %d", WEXITSTATUS(end->wait_status));
	} else {
		const char *name = sigabbrev_np(WTERMSIG(end->wait_status));
		buf_printf(&b, "was ended by SIG%s", name ? name : "?");
	}
	if (sent && sent->from_kernel)
		buf_add(&b, ", which the kernel sent");
	else if (sent && sent->sender == end->pid)
		buf_add(&b, ", which it sent itself");
	else if (sent)
		buf_printf(&b, ", which process %d (%s) sent", (int)sent->sender, sent->sender_comm);
	*ret_unix_ms = end->time_unix_ms;
	return true;
}

struct autopsy *autopsy_free(struct autopsy *a)
{
	if (!a)
		return NULL;
	if (atomic_load(&a->watching)) {
		sigwatch_close(&a->watch);
		closep(&a->fds.link_fd);
		closep(&a->fds.end_link_fd);
		closep(&a->fds.env_link_fd);
		closep(&a->fds.ring_fd);
	}
	deathfacts_free(a->facts);
	free(a);
	return NULL;
}

static void autopsy_subject_read(const struct autopsy *a, const struct autopsy_subject *who, struct death *d)
{
	struct rlimit core;
	TEXT_COPY(d->job, who->job);
	host_name(d->node, sizeof(d->node));
	d->attempt = who->attempt;
	d->pid = who->pid;
	d->rank = who->rank;
	TEXT_COPY(d->name, who->name);
	TEXT_COPY(d->command, who->command);
	TEXT_COPY(d->cgroup, who->cgroup ? who->cgroup : "");
	d->own_group = who->own_group;
	d->former = who->former;
	d->n_former = who->n_former;
	d->pid_namespaced = !a->first_namespace;
	d->has_status = who->has_status;
	d->wait_status = who->wait_status;
	d->start_unix_ms = who->start_unix_ms;
	d->end_unix_ms = who->end_unix_ms;
	d->has_limits = who->has_limits;
	memcpy(d->soft_limit, who->soft_limit, sizeof(d->soft_limit));
	memcpy(d->hard_limit, who->hard_limit, sizeof(d->hard_limit));
	d->has_cpu = who->has_cpu;
	d->cpu_ns = who->cpu_ns;
	d->ranks = who->ranks;
	d->n_ranks = who->n_ended;
	d->stopping = who->stopping;
	d->stop_signal = who->stop_signal;
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		d->has_core_limit = true;
		d->core_limit_bytes = core.rlim_cur == RLIM_INFINITY ? UINT64_MAX : core.rlim_cur;
	}
}

void autopsy_of(struct autopsy *a, const struct autopsy_subject *who, struct incident *ret)
{
	static struct death d; /* large */
	memset(&d, 0, sizeof(d));
	autopsy_subject_read(a, who, &d);
	autopsy_signals_take(a);
	const struct deathfacts_logs logs = {.out = who->log_out,
					     .err = who->log_err,
					     .order = who->order,
					     .rules = who->rules,
					     .error_dir = who->error_dir,
					     .n_ranks = who->n_ranks};
	deathfacts_read(a->facts, &logs, &d);
	postmortem(&d, ret);
}
