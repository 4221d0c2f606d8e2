#include "agent/incident/autopsy.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/incident/deathfacts.h"
#include "agent/incident/sigfeed.h"
#include "agent/host/host.h"
#include "agent/jobs/pagesignal.h"
#include "base/buf.h"
#include "base/text.h"
#include "sense/ns.h"

#define PAGE_SIGNALS 64

struct autopsy {
	const struct world *w;
	struct deathfacts *facts;
	bool first_namespace; /* our pids are the machine's */
	struct sigfeed *feed; /* borrowed; NULL without memory */
	struct sigfeed_reader reader;
};

struct autopsy *autopsy_new(const struct world *w, const struct cgroup_place *place, struct sigfeed *feed)
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
	a->feed = feed;
	a->reader.facts = a->facts;
	if (feed)
		sigfeed_join(feed, &a->reader);
	else
		deathfacts_signals_unavailable(a->facts, DEATH_UNWATCHED);
	return a;
}

static bool bad_end_text(struct autopsy *a, pid_t parent, struct deathfacts_span when, char *dst, size_t cap,
			 int64_t *ret_unix_ms)
{
	const struct signal_sent *sent = NULL;
	if (a && a->feed)
		sigfeed_take(a->feed);
	const struct process_end *end = a ? deathfacts_bad_end(a->facts, parent, when, &sent) : NULL;
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

bool autopsy_child_end(struct autopsy *a, pid_t parent, char *dst, size_t cap, int64_t *ret_unix_ms)
{
	return bad_end_text(a, parent, (struct deathfacts_span){0, 0}, dst, cap, ret_unix_ms);
}

bool autopsy_end_between(struct autopsy *a, int64_t from_ms, int64_t to_ms, char *dst, size_t cap, int64_t *ret_unix_ms)
{
	return bad_end_text(a, 0, (struct deathfacts_span){from_ms, to_ms}, dst, cap, ret_unix_ms);
}

bool autopsy_ended_before(struct autopsy *a, const struct proc_id *one, const struct proc_id *other)
{
	if (a && a->feed)
		sigfeed_take(a->feed);
	return a && deathfacts_ended_before(a->facts, one, other);
}

int64_t autopsy_ended_unix_ms(const struct autopsy *a, const struct proc_id *who)
{
	return a ? deathfacts_ended_unix_ms(a->facts, who) : 0;
}

const struct signal_sent *autopsy_signal_next(const struct autopsy *a, uint64_t *at)
{
	return deathfacts_signal_next(a->facts, at);
}

struct autopsy *autopsy_free(struct autopsy *a)
{
	if (!a)
		return NULL;
	if (a->feed)
		sigfeed_leave(a->feed, &a->reader);
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
	d->after_signal = who->after_signal;
	d->start_unix_ms = who->start_unix_ms;
	d->end_unix_ms = who->end_unix_ms;
	d->has_limits = who->has_limits;
	memcpy(d->soft_limit, who->soft_limit, sizeof(d->soft_limit));
	memcpy(d->hard_limit, who->hard_limit, sizeof(d->hard_limit));
	d->has_cpu = who->has_cpu;
	d->cpu_ns = who->cpu_ns;
	d->ranks = who->ranks;
	d->n_ranks = who->n_ended;
	d->world_size = who->n_ranks; /* vigil runs all of them itself, or it is not known */
	d->stopping = who->stopping;
	d->stop_signal = who->stop_signal;
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		d->has_core_limit = true;
		d->core_limit_bytes = core.rlim_cur == RLIM_INFINITY ? UINT64_MAX : core.rlim_cur;
	}
}

/* The lines that were found, and one more. */
static void told_add(const struct killer_line *told, struct death *d)
{
	static struct killer_line all[64];
	const size_t n = MIN(d->n_killer_lines, ARRAY_SIZE(all) - 1);
	if (!told)
		return;
	if (n > 0)
		memcpy(all, d->killer_lines, n * sizeof(all[0]));
	all[n] = *told;
	d->killer_lines = all;
	d->n_killer_lines = n + 1;
}

/* Without its status, that it was asked to end from the page shortly before is what is known of its end. */
static void page_signals_add(struct autopsy *a, const struct autopsy_subject *who, struct death *d)
{
	const int64_t shortly_ms = 15000;
	static struct signal_sent sent[PAGE_SIGNALS];
	const size_t n = pagesignal_read(who->store, who->job_dir, who->job, sent, ARRAY_SIZE(sent));
	for (size_t i = 0; i < n; i++) {
		const int64_t before_ms = d->end_unix_ms - sent[i].time_unix_ms;
		if (sent[i].target == d->pid && (before_ms < 0 || sent[i].target_start_ticks != who->start_ticks))
			continue; /* it had ended by itself, or was another one then */
		deathfacts_page_signal(a->facts, &sent[i]);
		if (!d->has_status && !d->after_signal && sent[i].target == d->pid && before_ms <= shortly_ms)
			d->after_signal = sent[i].signal;
	}
}

void autopsy_of(struct autopsy *a, const struct autopsy_subject *who, struct incident *ret)
{
	static struct death d; /* large */
	memset(&d, 0, sizeof(d));
	autopsy_subject_read(a, who, &d);
	sigfeed_take(a->feed);
	page_signals_add(a, who, &d);
	const struct deathfacts_logs logs = {.out = who->log_out,
					     .err = who->log_err,
					     .order = who->order,
					     .rules = who->rules,
					     .error_dir = who->error_dir,
					     .n_ranks = who->n_ranks};
	deathfacts_read(a->facts, &logs, &d);
	told_add(who->told, &d);
	postmortem(&d, ret);
}
