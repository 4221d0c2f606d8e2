#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/standstill/hang_ask.h"
#include "model/hang/rankerrors.h"

static const size_t stack_lines = 12;

void hang_is(struct hang_work *w, const char *id, enum confidence c)
{
	w->v->kind = HANG_HANG;
	w->v->confidence = c;
	TEXT_COPY(w->v->id, id);
	w->v->text[0] = '\0';
	w->v->n_advice = 0;
	w->advice = NULL;
	w->v->n_culprits = 0;
}

void hang_says(struct hang_work *w, const char *fmt, ...)
{
	struct buf b = {.text = w->v->text, .len = strlen(w->v->text), .cap = sizeof(w->v->text)};
	va_list ap;
	if (b.len > 0)
		buf_add(&b, " ");
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
}

void hang_advise(struct hang_work *w, const char *fmt, ...)
{
	if (w->v->n_advice == HANG_ADVICE)
		return;
	struct buf b = BUF_ON(w->v->advice[w->v->n_advice]);
	va_list ap;
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	w->v->n_advice++;
}

void hang_evidence(struct hang_work *w, const char *kind, const char *source, const char *fmt, ...)
{
	if (w->v->n_evidence == HANG_EVIDENCE)
		return;
	struct buf b = BUF_ON(w->v->evidence[w->v->n_evidence].text);
	va_list ap;
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	TEXT_COPY(w->v->evidence[w->v->n_evidence].kind, kind);
	TEXT_COPY(w->v->evidence[w->v->n_evidence].source, source);
	w->v->n_evidence++;
}

void hang_accuse(struct hang_work *w, int32_t rank)
{
	if (rank == NO_RANK || w->v->n_culprits == HANG_CULPRITS)
		return;
	size_t at = 0;
	while (at < w->v->n_culprits && w->v->culprits[at] < rank)
		at++;
	if (at < w->v->n_culprits && w->v->culprits[at] == rank)
		return;
	memmove(&w->v->culprits[at + 1], &w->v->culprits[at], (w->v->n_culprits - at) * sizeof(rank));
	w->v->culprits[at] = rank;
	w->v->n_culprits++;
}

const char *hang_who(int32_t rank, char dst[static HANG_WHO])
{
	if (rank == NO_RANK)
		text_copy(dst, HANG_WHO, "the job");
	else
		text_format(dst, HANG_WHO, "rank %d", rank);
	return dst;
}

void hang_ranks_text(const int32_t *ranks, size_t n, char *dst, size_t cap)
{
	const size_t most = 8;
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	buf_add(&b, n == 1 ? "rank " : "ranks ");
	size_t told = buf_runs(&b, ranks, n, most, " and ");
	if (told < n)
		buf_printf(&b, " and %zu more", n - told);
}

static const char *source_line(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->c->n_source; i++)
		if (w->c->source[i].rank == rank)
			return w->c->source[i].line;
	return "";
}

bool hang_reads_a_clock(const struct hang_work *w, const struct stackgroup_rank *r)
{
	static const char *const words[] = {"time()", "monotonic", "perf_counter", "clock", "now()", "elapsed"};
	const char *line = r->activity.user ? source_line(w, r->rank) : "";
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

static uint64_t sleep_written(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const char *line = r->activity.user ? source_line(w, r->rank) : "";
	const char *at = strstr(line, "sleep(");
	if (!at)
		return 0;
	double s = 0, unit = 1;
	bool point = false, any = false;
	for (at += strlen("sleep("); (*at >= '0' && *at <= '9') || (*at == '.' && !point) || *at == '_'; at++) {
		if (*at == '_')
			continue;
		if (*at == '.') {
			point = true;
			continue;
		}
		any = true;
		s = s * 10 + (*at - '0');
		unit *= point ? 10 : 1;
	}
	s /= unit;
	return any && *at == ')' && s < 1e9 ? (uint64_t)(s * 1e9) : 0;
}

/* The line it stands at; "" where that is of an earlier moment: the kernel has more left of the sleep than it says. */
static const char *line_of(const struct hang_work *w, const struct stackgroup_rank *r)
{
	uint64_t said = sleep_written(w, r);
	bool stale = said && r->acting && r->acting->wait.sleep_left_ns > said;
	return r->activity.user && !stale ? source_line(w, r->rank) : "";
}

void hang_doing(const struct hang_work *w, const struct stackgroup_rank *r, char *dst, size_t cap)
{
	const struct activity_found *f = &r->activity;
	const char *line = line_of(w, r);
	if (f->kind == ACTIVITY_SLEEP && strstr(line, "sleep(")) {
		text_format(dst, cap, "%s at %s:%d", line, frame_file_short(f->user->file), f->user->line);
		return;
	}
	activity_text(f, dst, cap);
	struct buf b = {.text = dst, .len = strlen(dst), .cap = cap};
	if (*line)
		buf_printf(&b, " (%s)", line);
	if (b.len == 0 && r->acting && r->acting->n_frames > 0)
		buf_printf(&b, "in %s", r->acting->frames[0].name);
	if (b.len == 0 && r->acting && r->acting->wait.text[0])
		buf_add(&b, r->acting->wait.text);
	if (b.len == 0)
		buf_add(&b, "at a place that could not be read");
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The dumps show until when it sleeps. Two different times mean that one sleep is no longer than the time between them.
 */
uint64_t hang_sleep_made_again(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct threadwait *now = &r->acting->wait;
	uint64_t most = UINT64_MAX;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct stackdump *d = w->c->dumps[i];
		for (size_t k = 0; k < d->n; k++)
			for (size_t t = 0; d->processes[k].pid == r->process->pid && t < d->processes[k].n_threads;
			     t++) {
				const struct dump_thread *before = &d->processes[k].threads[t];
				uint64_t until = before->tid == r->acting->tid ? before->wait.sleep_until_ns : 0;
				if (until && until != now->sleep_until_ns)
					most = MIN(most, apart(until, now->sleep_until_ns));
			}
	}
	if (w->m->sleep_until_ns && w->m->sleep_rank == r->rank) {
		if (w->m->sleep_until_ns != now->sleep_until_ns)
			most = MIN(most, apart(w->m->sleep_until_ns, now->sleep_until_ns));
		if (w->m->sleep_ns)
			most = MIN(most, w->m->sleep_ns);
	}
	return most == UINT64_MAX ? 0 : MAX(most, now->sleep_left_ns);
}

uint64_t hang_sleep_ns_of(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct threadwait *now = r->acting ? &r->acting->wait : NULL;
	if (now && now->sleep_ns)
		return now->sleep_ns;
	uint64_t again = now && now->sleep_until_ns ? hang_sleep_made_again(w, r) : 0;
	uint64_t said = again ? again : sleep_written(w, r);
	return said && now ? MAX(said, now->sleep_left_ns) : said;
}

/* The key of a store that its thread waits for: "key "ready/1" of the store"; "": unknown, or none. */
static const char *store_key_of(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *n = w->c->graph && r->process && r->acting
						 ? waitgraph_thread(w->c->graph, r->process->pid, r->acting->tid)
						 : NULL;
	return n && n->hint && n->hint->kind == WAITHINT_KEY ? n->hint->text : "";
}

bool hang_waits_for_key(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_waits(w, &w->g.rank[i]) && store_key_of(w, &w->g.rank[i])[0])
			return true;
	return false;
}

void hang_store_key_says(struct hang_work *w)
{
	int32_t ranks[STACKGROUP_RANKS];
	char text[200];
	const char *key = "";
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const char *own = hang_waits(w, &w->g.rank[i]) ? store_key_of(w, &w->g.rank[i]) : "";
		key = key[0] ? key : own;
		if (own[0] && strcmp(own, key) == 0)
			ranks[n++] = w->g.rank[i].rank;
	}
	if (n == 0)
		return;
	hang_ranks_text(ranks, n, text, sizeof(text));
	text[0] = 'R'; /* "ranks" begins a sentence here */
	hang_says(w, "%s wait%s for %s.", text, n == 1 ? "s" : "", key);
}

/* "Ranks 0-2 wait in all_reduce at train.py:40 in step." */
void hang_says_who_waits(struct hang_work *w)
{
	int32_t ranks[STACKGROUP_RANKS];
	char text[200], doing[300];
	size_t n = 0;
	const struct stackgroup_rank *one = hang_first_waiting(w);
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_waits(w, &w->g.rank[i]))
			ranks[n++] = w->g.rank[i].rank;
	if (!one)
		return;
	hang_ranks_text(ranks, n, text, sizeof(text));
	hang_doing(w, one, doing, sizeof(doing));
	text[0] = 'R'; /* "ranks" begins a sentence here */
	hang_says(w, "%s wait%s for the others: %s.", text, n == 1 ? "s" : "", doing);
	hang_store_key_says(w);
}

void hang_groups(struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n_groups; i++) {
		if (w->v->n_groups == HANG_GROUPS) {
			w->v->n_groups_dropped++;
			continue;
		}
		struct hang_group *to = &w->v->group[w->v->n_groups++];
		const struct stackgroup_rank *r = &w->g.rank[w->g.group[i].first];
		*to = (struct hang_group){.n = (uint32_t)w->g.group[i].n, .unchanged = r->unchanged};
		stackgroups_ranks_text(&w->g, i, to->ranks, sizeof(to->ranks));
		hang_doing(w, r, to->activity, sizeof(to->activity));
		stackgroups_stack_text(&w->g, i, stack_lines, to->stack, sizeof(to->stack));
		for (size_t k = 0; k < w->g.n; k++)
			to->unchanged &= w->g.rank[k].group != i || w->g.rank[k].unchanged;
	}
}

/* Adds "GPU 3 97 % busy at 150 W", and how the GPU is known to be the rank's where no driver says so. */
static void gpu_counters(const struct liveness *l, struct buf *b)
{
	static const char *const by[GPU_BYS] = {
		[GPU_BY_MAPPED] = " (its device file is mapped by the rank; the driver does not name the process)",
		[GPU_BY_VISIBLE] = " (its device file is open, and CUDA_VISIBLE_DEVICES names it; the driver does not "
				   "name the process)",
		[GPU_BY_OPEN] = " (its device file is open, which does not prove that it is used; the driver does not "
				"name the process)",
	};
	const struct liveness_counters *s = &l->seen;
	if (!(s->gpu_has & (1u << LIVENESS_GPU_BUSY | 1u << LIVENESS_GPU_POWER)))
		return;
	buf_printf(b, "%sGPU%s%s", b->len ? ", " : "", s->gpu_which[0] ? " " : "", s->gpu_which);
	if (s->gpu_has >> LIVENESS_GPU_BUSY & 1)
		buf_printf(b, " %.0f %% busy", s->gpu[LIVENESS_GPU_BUSY]);
	if (s->gpu_has >> LIVENESS_GPU_POWER & 1)
		buf_printf(b, " at %.0f W%s", s->gpu[LIVENESS_GPU_POWER], l->gpu_spins ? " (it only spins)" : "");
	if (by[s->gpu_by])
		buf_add(b, by[s->gpu_by]);
}

/* Of a job that stands, what moved before it came to a stand counts for nothing. */
static double rate_now(const struct hang_work *w, const struct liveness *l, enum liveness_counter c)
{
	const struct liveness_trace *t = &l->trace[c];
	return w->standstill_ns > 0 ? liveness_rate_since(t, w->p->now_ns - w->standstill_ns + NS_PER_S) : t->rate;
}

static void counters_of(struct hang_work *w, const struct liveness *l)
{
	char who[HANG_WHO], text[300], size[16], ago[32], usual[24];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (l->trace[LIVENESS_CPU].known)
		buf_printf(&b, "processor %.1f %% of a core", rate_now(w, l, LIVENESS_CPU) / 1e7);
	static const enum liveness_counter bytes[] = {LIVENESS_READ,	     LIVENESS_WRITTEN,	LIVENESS_DISK_READ,
						      LIVENESS_DISK_WRITTEN, LIVENESS_NET_SENT, LIVENESS_NET_RECEIVED};
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		if (l->trace[bytes[i]].known && rate_now(w, l, bytes[i]) >= 1)
			buf_printf(&b, "%s%s %s/s", b.len ? ", " : "", liveness_counter_name(bytes[i]),
				   size_format((uint64_t)rate_now(w, l, bytes[i]), size));
	if (l->trace[LIVENESS_LOG_LINES].known && rate_now(w, l, LIVENESS_LOG_LINES) > 0)
		buf_printf(&b, "%slog %.1f lines/s", b.len ? ", " : "", rate_now(w, l, LIVENESS_LOG_LINES));
	double usual_s, missed_s;
	if (cadence_known(&l->log, &usual_s, &missed_s))
		buf_printf(&b, "%sits last line %s (usual: one in %s)", b.len ? ", " : "",
			   ago_format(sub_floor(w->p->now_ns, l->log.last_ns), ago),
			   duration_format((uint64_t)(usual_s * 1e9), usual));
	gpu_counters(l, &b);
	if (l->seen.has_progress && l->seen.progress.has_epoch)
		buf_printf(&b, "%sepoch %.6g", b.len ? ", " : "", l->seen.progress.epoch);
	if (l->seen.has_progress && l->seen.progress.has_step)
		buf_printf(&b, "%sstep %llu", b.len ? ", " : "", (unsigned long long)l->seen.progress.step);
	if (b.len)
		hang_evidence(w, "counters", "counters of processes and devices", "%s: %s", hang_who(l->rank, who),
			      text);
}

static bool accused(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->v->n_culprits; i++)
		if (w->v->culprits[i] == rank)
			return true;
	return false;
}

/* The culprits' counters, and those of one other rank to compare with. */
static void counters(struct hang_work *w)
{
	size_t n = 0;
	bool other = false;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves)
			continue;
		bool is = accused(w, l->rank);
		if ((is && n < 4) || (!is && !other)) {
			counters_of(w, l);
			n += is;
			other |= !is;
		}
	}
	const struct liveness *l = NULL;
	for (size_t i = 0; i < w->p->n && !l; i++)
		if (w->p->rank[i].seen.has_progress && w->p->rank[i].seen.progress.loss_broken)
			l = &w->p->rank[i];
	if (l)
		hang_evidence(w, "note", "log",
			      "the loss became NaN or infinite at step %llu; that alone stops nothing",
			      (unsigned long long)l->seen.progress.loss_broken_step);
}

static void error_shown(struct hang_work *w, const struct rank_error *e)
{
	char text[600], when[32];
	rank_error_text(e, text, sizeof(text));
	hang_evidence(w, "error_file", e->source, "rank %d at %s: %s", e->rank,
		      e->time_unix_ms ? time_format_utc(e->time_unix_ms, when) : "an unknown time", text);
}

static void errors(struct hang_work *w)
{
	const size_t most = 4;
	const struct rank_error *root = rank_error_root(w->c->errors, w->c->n_errors);
	if (root)
		error_shown(w, root);
	for (size_t i = 0, n = 1; i < w->c->n_errors && n < most; i++) {
		if (&w->c->errors[i] == root)
			continue;
		error_shown(w, &w->c->errors[i]);
		n++;
	}
}

void hang_common_evidence(struct hang_work *w)
{
	errors(w);
	for (size_t i = 0; i < w->v->n_groups; i++) {
		const struct hang_group *g = &w->v->group[i];
		hang_evidence(w, "stacks", "stacks of all ranks", "%s%s: %s%s",
			      !g->ranks[0] ? "the job"
			      : g->n == 1  ? "rank "
					   : "ranks ",
			      g->ranks, g->activity,
			      w->c->n_dumps < 2 ? ""
			      : g->unchanged	? "; unchanged"
						: "; it changed between looks");
	}
	hang_refused_evidence(w);
	counters(w);
	if (w->c->collective && w->c->collective->valid)
		hang_evidence(w, "collective", w->c->collective->source, "%s",
			      w->c->collective->text[0] ? w->c->collective->text : "nothing wrong was found");
	if (w->c->book && w->c->book->valid && w->v->usual_per_s <= 0)
		for (size_t i = 0; i < MIN(w->c->book->n_evidence, 3); i++)
			hang_evidence(w, "log", w->c->book->evidence[i].source, "%s", w->c->book->evidence[i].text);
	for (size_t i = 0; i < w->c->n_unavailable; i++)
		hang_evidence(w, "not_read", "", "%s", w->c->unavailable[i]);
}
