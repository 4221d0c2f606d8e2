#include "tell/incident/report.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"
#include "tell/text/textcols.h"
#include "tell/text/textout.h"

/* Of an end by a signal for which nobody else is to blame; NULL: somebody else is. */
static const char *own_end(const struct incident *i)
{
	static const struct {
		const char *cause, *words;
	} known[] = {
		{"own_timer", "ended by a timer of its own"},
		{"timeout_expired", "ended at its time limit"},
		{"cpu_limit", "ended at a resource limit"},
		{"file_size_limit", "ended at a resource limit"},
		{"sigpipe", "ended: nobody reads what it writes"},
		{"terminal_hangup", "ended with its terminal"},
	};
	for (size_t n = 0; n < ARRAY_SIZE(known); n++)
		if (strcmp(known[n].cause, i->cause.id) == 0)
			return known[n].words;
	return span_starts(span_of(i->killer_text), "the process itself") ? "ended itself by a signal" : NULL;
}

static const char *headline(const struct incident *i)
{
	static const char *const titles[INCIDENT_KIND_MAX] = {
		[INCIDENT_NONE] = "incident",
		[INCIDENT_MEMORY_KILL] = "ended by vigil for memory",
		[INCIDENT_KERNEL_OOM] = "killed by the kernel: machine out of memory",
		[INCIDENT_CGROUP_OOM] = "killed by the kernel: memory limit of its group",
		[INCIDENT_SYSTEMD_OOMD] = "killed by systemd-oomd",
		[INCIDENT_OTHER_OOM_DAEMON] = "killed by an out-of-memory daemon",
		[INCIDENT_KILLED_BY] = "killed by someone else",
		[INCIDENT_CRASH] = "crashed",
		[INCIDENT_ERROR_EXIT] = "ended with an error",
		[INCIDENT_GPU_OOM] = "GPU out of memory",
		[INCIDENT_SHM_FULL] = "shared memory full",
		[INCIDENT_HANG] = "hung",
		[INCIDENT_STRAGGLER] = "one rank is slow",
		[INCIDENT_SLOWDOWN] = "became slow",
		[INCIDENT_PEER_LOST] = "lost a peer",
		[INCIDENT_CLEAN_EXIT] = "ended as it should",
	};
	if (i->kind == INCIDENT_HANG && i->hang_over)
		return "hung, and moves again";
	if (i->kind == INCIDENT_HANG && i->killer == KILLER_VIGIL)
		return "ended by vigil: it hung";
	if (i->kind == INCIDENT_KILLED_BY && incident_asked(i->cause.id))
		return "stopped on request";
	if (i->kind == INCIDENT_KILLED_BY && own_end(i))
		return own_end(i);
	if (i->kind == INCIDENT_KILLED_BY && i->killer == KILLER_UNKNOWN)
		return "killed; by whom is not known";
	return titles[i->kind < INCIDENT_KIND_MAX ? i->kind : INCIDENT_NONE];
}

static const char where_separator[] = "  ·  ";

/* where: begins with the separator. Behind the headline, or wrapped below it where a terminal has no room for that. */
static void print_where(const struct textout *p, size_t used, const char *where)
{
	if (p->width > 0 && where[0] && used + textout_columns(where, strlen(where)) > p->width) {
		fputs("\n  ", p->to);
		textout_text(p, 2, "%s", where + strlen(where_separator));
	} else {
		(void)textout_cut(p, where, SIZE_MAX);
		fputc('\n', p->to);
	}
	fputc('\n', p->to);
}

static void print_head(const struct textout *p, const struct incident *i)
{
	char when[24] = "";
	if (i->time_unix_ms > 0)
		(void)time_format(i->time_unix_ms, when);
	textout_ink(p, i->kind == INCIDENT_CLEAN_EXIT ? INK_GREEN : INK_RED);
	fprintf(p->to, "%s", headline(i));
	textout_ink(p, INK_PLAIN);
	char where[256];
	struct buf b = BUF_ON(where);
	buf_reset(&b);
	if (i->job[0])
		buf_printf(&b, "%sjob %s, attempt %u", where_separator, i->job, i->attempt);
	if (i->node[0])
		buf_printf(&b, "%s%s", where_separator, i->node);
	if (when[0])
		buf_printf(&b, "%s%s", where_separator, when);
	print_where(p, textout_columns(headline(i), strlen(headline(i))), where);
	textout_ink(p, INK_BOLD);
	if (i->summary[0])
		textout_text(p, 0, "%s", i->summary);
	else
		textout_text(p, 0, "Nothing more is known about it.");
	textout_ink(p, INK_PLAIN);
}

/* A hang that nothing resolved: what became of the job is one line below it. */
static void print_ended(const struct textout *p, const struct incident *i)
{
	if (!i->ended.text[0])
		return;
	char when[24] = "", label[40] = "how it ended";
	if (i->ended.time_unix_ms > 0)
		TEXT_FORMAT(label, "ended at %s", time_format(i->ended.time_unix_ms, when) + 11);
	textout_value(p, label, "%s", i->ended.text);
	if (i->ended.incident[0])
		textout_value(p, "", "vigil why %s", i->ended.incident);
}

static void print_cause(const struct textout *p, const struct incident *i)
{
	if (!i->cause.id[0] && !i->cause.text[0])
		return;
	textout_heading(p, "Why");
	fputs("  ", p->to);
	textout_text(p, 2, "%s", i->cause.text[0] ? i->cause.text : i->cause.id);
	fputs("  ", p->to);
	textout_ink(p, INK_DIM);
	textout_text(p, 2, "(cause %s, confidence %s)", i->cause.id[0] ? i->cause.id : "unnamed",
		     confidence_name(i->cause.confidence));
	textout_ink(p, INK_PLAIN);
	if (i->n_culprits == 0)
		return;
	char ranks[512];
	struct buf b = BUF_ON(ranks);
	buf_reset(&b);
	for (size_t n = 0; n < i->n_culprits; n++)
		buf_printf(&b, "%s%d", n ? ", " : "", i->culprit_ranks[n]);
	textout_value(p, i->n_culprits == 1 ? "culprit rank" : "culprit ranks", "%s", ranks);
}

static char *growth_format(int64_t bytes_per_s, char dst[static 24])
{
	char size[16];
	uint64_t v = bytes_per_s < 0 ? (uint64_t)0 - (uint64_t)bytes_per_s : (uint64_t)bytes_per_s;
	(void)text_format(dst, 24, "%c%s/s", bytes_per_s < 0 ? '-' : '+', size_format(v, size));
	return dst;
}

static uint64_t ms_to_ns(uint64_t ms)
{
	return MIN(ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS;
}

static void print_memory(const struct textout *p, const struct incident *i)
{
	if (!i->memory.valid)
		return;
	char used[16], total[16], text[256];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_printf(&b, "%s used", size_format(i->memory.used_bytes, used));
	if (i->memory.total_bytes > 0)
		buf_printf(&b, " of %s (%.1f %%)", size_format(i->memory.total_bytes, total), i->memory.ratio * 100);
	if (i->memory.threshold_ratio > 0)
		buf_printf(&b, "; threshold %.4g %%", i->memory.threshold_ratio * 100);
	const char *scope = memory_scope_name(i->memory.scope);
	char label[40];
	TEXT_FORMAT(label, "%s memory", scope ? scope : "memory in");
	textout_value(p, scope ? label : "memory", "%s", text);
	if (i->memory.level[0])
		textout_value(p, "what ran out", "%s", i->memory.level);
	if (i->memory.threshold[0])
		textout_value(p, "threshold", "%s", i->memory.threshold);
	if (i->memory.kernel_used_bytes > 0 && i->memory.reclaimable_bytes > 0)
		textout_value(p, "page cache",
			      "%s of the %s that the kernel counts as used can be taken back and is not counted",
			      size_format(i->memory.reclaimable_bytes, used),
			      size_format(i->memory.kernel_used_bytes, total));
	if (i->memory.swap_total_bytes > 0)
		textout_value(p, "swap", "%s of %s free", size_format(i->memory.swap_free_bytes, used),
			      size_format(i->memory.swap_total_bytes, total));
	if (!i->memory.has_rate)
		return;
	char rate[24], left[24];
	char over[32] = "", span[24];
	if (i->memory.growth_over_ms)
		TEXT_FORMAT(over, " over the last %s", duration_format(ms_to_ns(i->memory.growth_over_ms), span));
	if (i->memory.time_to_limit_ms != UINT64_MAX)
		textout_value(p, "growth", "%s%s; the rest would have lasted %s",
			      growth_format(i->memory.growth_bytes_per_s, rate), over,
			      duration_format(ms_to_ns(i->memory.time_to_limit_ms), left));
	else
		textout_value(p, "growth", "%s%s", growth_format(i->memory.growth_bytes_per_s, rate), over);
}

static void print_victim(const struct textout *p, const struct incident *i)
{
	if (!i->victim.valid)
		return;
	char text[512], own[16], rss[16], shared[16], swap[16];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (i->victim.name[0])
		buf_printf(&b, "%s", i->victim.name);
	if (i->victim.pid > 0)
		buf_printf(&b, "%spid %ld", b.len ? ", " : "", (long)i->victim.pid);
	if (i->victim.rank != NO_RANK)
		buf_printf(&b, "%srank %d", b.len ? ", " : "", i->victim.rank);
	if (i->victim.signal > 0) {
		const char *name = sigabbrev_np(i->victim.signal);
		buf_printf(&b, "%sdied of signal %d%s%s", b.len ? "; " : "", i->victim.signal,
			   name ? " SIG" : "", name ? name : "");
	} else if (i->victim.has_exit_code) {
		buf_printf(&b, "%sexit status %d", b.len ? "; " : "", i->victim.exit_code);
	}
	if (b.len > 0)
		textout_value(p, "process", "%s", text);
	if (i->victim.command[0])
		textout_value(p, "command", "%s", i->victim.command);
	if (i->victim.ray_worker_id[0])
		textout_value(p, "Ray worker", "%s%s%s", i->victim.ray_worker_id,
			      i->victim.ray_job_id[0] ? ", of Ray's job " : "", i->victim.ray_job_id);
	if (i->victim.has_memory)
		textout_value(p, "its memory", "%s of its own (%s resident less %s shared), %s swapped out",
			      size_format(i->victim.own_bytes, own), size_format(i->victim.rss_bytes, rss),
			      size_format(i->victim.shared_bytes, shared), size_format(i->victim.swap_bytes, swap));
}

static void print_action(const struct textout *p, const struct incident *i)
{
	if (!i->action.valid)
		return;
	static const struct {
		const char *what;
		size_t offset;
	} steps[] = {
		{"noticed", offsetof(struct incident, action.notice_us)},
		{"frozen", offsetof(struct incident, action.freeze_us)},
		{"killed", offsetof(struct incident, action.kill_us)},
		{"gone", offsetof(struct incident, action.dead_us)},
		{"memory back", offsetof(struct incident, action.freed_us)},
	};
	char text[320], t[24];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	for (size_t n = 0; n < ARRAY_SIZE(steps); n++) {
		uint64_t us;
		memcpy(&us, (const char *)i + steps[n].offset, sizeof(us));
		bool stayed = n == ARRAY_SIZE(steps) - 1 && i->memory.shm_left_bytes > 0;
		if (us > 0)
			buf_printf(&b, "%s%s after %s", b.len ? ", " : "",
				   stayed ? "its own memory back" : steps[n].what, duration_format(us * NS_PER_US, t));
	}
	if (b.len > 0)
		textout_value(p, "what vigil did", "%s", text);
	char freed[16];
	if (i->action.freed_bytes > 0)
		textout_value(p, "freed", "%s by ending %u process%s", size_format(i->action.freed_bytes, freed),
			      i->action.processes_ended, i->action.processes_ended == 1 ? "" : "es");
	if (i->action.method[0])
		textout_value(p, "how", "%s", i->action.method);
}

static void print_retry(const struct textout *p, const struct incident *i)
{
	if (!i->retry.valid)
		return;
	char delay[24];
	const char *reason = i->retry.reason, *dash = reason[0] ? ": " : "";
	if (i->retry.next == RETRY_RETRY && reason[0])
		textout_value(p, "retry", "%s", reason);
	else if (i->retry.next == RETRY_RETRY)
		textout_value(p, "retry", "%u of %u starts in %s", i->retry.attempt + 1, i->retry.max,
			      duration_format(MIN(i->retry.delay_ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS, delay));
	else if (i->retry.next == RETRY_GIVE_UP)
		textout_value(p, "retry", "given up after %u of %u%s%s", i->retry.attempt, i->retry.max, dash, reason);
	else
		textout_value(p, "retry", "none%s%s", dash, reason);
}

static void print_numbers(const struct textout *p, const struct incident *i)
{
	bool others = i->killer_text[0] && i->killer != KILLER_VIGIL;
	if (!i->memory.valid && !i->victim.valid && !i->action.valid && !i->retry.valid && !others)
		return;
	textout_heading(p, "Numbers");
	print_memory(p, i);
	print_victim(p, i);
	if (i->killer != KILLER_NONE && i->killer != KILLER_VIGIL)
		textout_value(p, "killed by", "%s%s%s", killer_name(i->killer), i->killer_text[0] ? ": " : "",
			      i->killer_text);
	print_action(p, i);
	print_retry(p, i);
}

/* One column for each sample, the newest at the right; the scale begins at the smallest value. */
static void print_spark(const struct textout *p, const char *label, const struct incident *i, bool job)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint64_t low = UINT64_MAX, high = 0, last = 0;
	for (size_t n = 0; n < i->n_history; n++) {
		last = job ? i->history[n].job_bytes : i->history[n].used_bytes;
		low = MIN(low, last);
		high = MAX(high, last);
	}
	if (high == 0)
		return;
	fprintf(p->to, "  %-5s ", label);
	for (size_t n = 0; n < i->n_history; n++) {
		uint64_t v = job ? i->history[n].job_bytes : i->history[n].used_bytes;
		double share = high > low ? (double)(v - low) / (double)(high - low) : 0.5;
		fputs(bars[MIN((size_t)(share * 8), (size_t)7)], p->to);
	}
	char from[16], to[16];
	fprintf(p->to, "  %s … %s\n", size_format(low, from), size_format(high, to));
}

static void grower_line(const struct textout *p, const struct incident_grower *g)
{
	char text[300], rate[24], own[16], grown[16], span[24];
	struct buf b = BUF_ON(text);
	buf_printf(&b, "%8ld  %12s  %10s  ", (long)g->pid, growth_format(g->growth_bytes_per_s, rate),
		   size_format(g->own_bytes, own));
	if (g->over_ms)
		buf_printf(&b, "(+%s in %s)  ", size_format(g->grown_bytes, grown),
			   duration_format(ms_to_ns(g->over_ms), span));
	buf_printf(&b, "%.50s", g->name);
	if (g->role[0])
		buf_printf(&b, ", %s", g->role);
	if (g->rank != NO_RANK)
		buf_printf(&b, " of rank %d", g->rank);
	textout_line(p, 2, text, 300);
}

static void print_history(const struct textout *p, const struct incident *i)
{
	if (i->n_history >= 2) {
		char span[24];
		textout_heading(p, "Memory over the last %s",
				duration_format((uint64_t)i->history[0].age_ms * NS_PER_MS, span));
		print_spark(p, "used", i, false);
		print_spark(p, "job", i, true);
	}
	if (i->n_growers == 0)
		return;
	textout_heading(p, "Who grew");
	for (size_t n = 0; n < i->n_growers; n++)
		grower_line(p, &i->growers[n]);
}

/* A terminal this narrow gets fewer columns, and the reasons in lines of their own. */
static bool is_narrow(const struct textout *p)
{
	return p->width > 0 && p->width < TEXTOUT_WIDTH - 6;
}

static size_t candidate_name_columns(const struct textout *p)
{
	return is_narrow(p) && p->width < 50 ? 10 : 20;
}

static void candidate_heads(const struct textout *p)
{
	textout_ink(p, INK_DIM);
	fputs("    ", p->to);
	textout_cell(p, "NAME", candidate_name_columns(p));
	if (is_narrow(p))
		fprintf(p->to, " %4s %8s %10s", "RANK", "PID", "OWN");
	else
		fprintf(p->to, " %4s %8s %5s %10s %14s  WHY", "RANK", "PID", "PROCS", "OWN", "GROWTH");
	textout_ink(p, INK_PLAIN);
	fputc('\n', p->to);
}

/* A worker: what it runs is Ray's to run again. The names of Ray's agents are cut by the kernel. */
static bool candidate_is_rays(const struct incident_candidate *c)
{
	struct span name = span_of(c->name);
	return span_starts(name, "ray::") && !span_starts(name, "ray::DashboardA") &&
	       !span_starts(name, "ray::RuntimeEnv");
}

static void candidate_line(const struct textout *p, const struct incident_candidate *c)
{
	enum { WHY_COLUMN = 71, NARROW_WHY_COLUMN = 6 };
	char rank[12] = "-", pid[16] = "-", procs[12] = "-", own[16], rate[24], why[200];
	if (c->rank != NO_RANK)
		TEXT_FORMAT(rank, "%d", c->rank);
	if (c->pid > 0)
		TEXT_FORMAT(pid, "%ld", (long)c->pid);
	if (c->processes > 0)
		TEXT_FORMAT(procs, "%u", c->processes);
	const char *retry = c->retriable ? "" : candidate_is_rays(c) ? "Ray may run it again" : "cannot be retried";
	TEXT_FORMAT(why, "%s%s%s", c->why, !retry[0] || !c->why[0] ? "" : "; ", retry);
	(void)size_format(c->own_bytes, own);
	(void)growth_format(c->growth_bytes_per_s, rate);
	if (c->chosen)
		textout_ink(p, INK_RED);
	fputs(c->chosen ? "  > " : "    ", p->to);
	textout_cell(p, c->name, candidate_name_columns(p));
	if (is_narrow(p)) {
		fprintf(p->to, " %4s %8s %10s\n%*s", rank, pid, own, NARROW_WHY_COLUMN, "");
		textout_text(p, NARROW_WHY_COLUMN, "%s%s%s", rate, why[0] ? "; " : "", why);
	} else {
		fprintf(p->to, " %4s %8s %5s %10s %14s  ", rank, pid, procs, own, rate);
		textout_text(p, WHY_COLUMN, "%s", why);
	}
	textout_ink(p, INK_PLAIN);
}

static void print_candidates(const struct textout *p, const struct incident *i)
{
	if (i->n_candidates > 0 || i->policy.name[0]) {
		textout_heading(p, "Who could have been ended (policy %s)",
				i->policy.name[0] ? i->policy.name : "none");
		if (i->policy.reason[0]) {
			fputs("  ", p->to);
			textout_text(p, 2, "Chosen because %s.", i->policy.reason);
		}
	}
	if (i->n_candidates == 0)
		return;
	candidate_heads(p);
	for (size_t n = 0; n < i->n_candidates; n++)
		candidate_line(p, &i->candidates[n]);
	if (i->n_candidates_all > i->n_candidates)
		fprintf(p->to, "    and %zu more\n", i->n_candidates_all - i->n_candidates);
	if (i->policy.next[0])
		textout_value(p, "next would be", "%s", i->policy.next);
}

static const struct textcol top_columns[] = {
	{.head = "PID", .width = 8},
	{.head = "RANK", .width = 4, .spare = 1},
	{.head = "OWN", .width = 10},
	{.head = "RESIDENT", .width = 10, .spare = 2},
	{.head = "SHARED", .width = 10, .spare = 4},
	{.head = "PSS", .width = 10, .spare = 3},
	{.head = "COMMAND", .width = 12, .gap = 2, .most = TEXTOUT_WIDTH - 61},
};

static void print_top(const struct textout *p, const struct incident *i)
{
	if (i->n_top == 0)
		return;
	textout_heading(p, "Top %zu memory users (own = resident less shared)", i->n_top);
	textcols_head(p, top_columns, ARRAY_SIZE(top_columns), 2, true);
	uint32_t aged = 0;
	bool sampled = false;
	for (size_t n = 0; n < i->n_top; n++) {
		const struct incident_process *t = &i->top[n];
		char rank[12] = "-", own[16], rss[16], shared[16], size[16], pss[20] = "-", pid[16];
		if (t->rank != NO_RANK)
			TEXT_FORMAT(rank, "%d", t->rank);
		if (t->has_pss) {
			size_format(t->pss_bytes, size);
			TEXT_FORMAT(pss, "%s%s", t->pss_age_ms || t->pss_sampled ? "~" : "", size);
			aged = MAX(aged, t->pss_age_ms);
			sampled |= t->pss_sampled;
		}
		TEXT_FORMAT(pid, "%ld", (long)t->pid);
		const struct textcells cells = {
			.text = {pid, rank, size_format(t->own_bytes, own), size_format(t->rss_bytes, rss),
				 size_format(t->shared_bytes, shared), pss, t->command},
		};
		textcols_row(p, top_columns, ARRAY_SIZE(top_columns), 2, &cells);
	}
	const char *how = sampled ? ", of large processes by a sample of their pages" : "";
	if (aged)
		fprintf(p->to, "  ~ read %.1f s before, at most%s\n", (double)aged / 1000, how);
	else if (sampled)
		fprintf(p->to, "  ~ by a sample of its pages\n");
}

static void print_shm(const struct textout *p, const struct incident *i)
{
	enum { SHM_PATH_COLUMN = 14 };
	if (i->n_shm == 0)
		return;
	textout_heading(p, "Shared memory");
	for (size_t n = 0; n < i->n_shm; n++) {
		char size[16];
		fprintf(p->to, "  %10s  ", size_format(i->shm[n].bytes, size));
		textout_cut(p, i->shm[n].path, p->width > 0 ? MIN((size_t)44, p->width - SHM_PATH_COLUMN) : 44);
		const struct incident_shm *s = &i->shm[n];
		char whose[120];
		TEXT_FORMAT(whose, "%s%s", s->freed ? "freed with " : s->orphan ? "left behind by " : "", s->owners);
		if (s->orphan && !s->owners[0])
			TEXT_COPY(whose, "left behind: no process has it open");
		if (whose[0] && is_narrow(p))
			fprintf(p->to, "\n%*s", SHM_PATH_COLUMN, "");
		else if (whose[0])
			fputs("  ", p->to);
		textout_cut(p, whose, p->width > 0 ? MIN((size_t)36, p->width - SHM_PATH_COLUMN) : 36);
		fputc('\n', p->to);
	}
}

static bool is_blind(const struct incident_evidence *e)
{
	return strcmp(e->kind, "not_read") == 0;
}

static void print_evidence(const struct textout *p, const struct incident *i, bool blind)
{
	size_t shown = 0;
	for (size_t n = 0; n < i->n_evidence; n++) {
		const struct incident_evidence *e = &i->evidence[n];
		if (is_blind(e) != blind)
			continue;
		if (shown++ == 0)
			textout_heading(p, blind ? "What could not be read" : "Evidence");
		char when[24] = "";
		if (e->time_unix_ms > 0)
			(void)time_format(e->time_unix_ms, when);
		fputs("  - ", p->to);
		textout_text(p, 4, "%s", e->text);
		if (!when[0] && !e->source[0])
			continue;
		textout_ink(p, INK_DIM);
		fputs("    ", p->to);
		const char *clock = when[0] ? when + 11 : "";
		textout_text(p, 4, "%s%s%s", e->source, when[0] && e->source[0] ? ", " : "", clock);
		textout_ink(p, INK_PLAIN);
	}
	if (!blind && i->n_evidence_dropped > 0)
		fprintf(p->to, "  - and %zu more that did not fit\n", i->n_evidence_dropped);
}

static void print_advice(const struct textout *p, const struct incident *i)
{
	if (i->cause.n_advice == 0)
		return;
	textout_heading(p, "What to do");
	for (size_t n = 0; n < i->cause.n_advice; n++) {
		fprintf(p->to, "  %zu. ", n + 1);
		textout_text(p, 5, "%s", i->cause.advice[n]);
	}
}

static void print_foot(const struct textout *p, const struct incident *i)
{
	fputc('\n', p->to);
	if (i->log_dir[0])
		textout_value(p, "logs", "%s%s%s", i->log_dir, i->job[0] ? "  ·  vigil logs " : "", i->job);
	if (i->id[0])
		textout_value(p, "this report", "vigil why %s  ·  as JSON: vigil why %s --json", i->id, i->id);
}

void report_text(const struct incident *i, enum report_style style, FILE *to)
{
	const struct textout p = {.to = to, .colour = style == REPORT_COLOUR, .width = textout_width(to)};
	print_head(&p, i);
	print_ended(&p, i);
	print_cause(&p, i);
	print_advice(&p, i);
	print_numbers(&p, i);
	print_history(&p, i);
	print_candidates(&p, i);
	print_top(&p, i);
	print_shm(&p, i);
	print_evidence(&p, i, false);
	print_evidence(&p, i, true);
	print_foot(&p, i);
}
