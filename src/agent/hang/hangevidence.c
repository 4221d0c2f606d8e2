#include "agent/hang/hangevidence.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/hang/hangshares.h"
#include "agent/stacks/snapshot.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/native/unwind.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"
#include "tell/stacks/stack_show.h"

/* Limit for one dump of all stacks; main processes come first. */
static const uint64_t dump_budget_ns = 6 * NS_PER_S;
/* Pause between two polls of the child processes that read. */
static const uint64_t ask_gap_ns = 100 * NS_PER_MS;
/* A loop that looks twice while evidence is gathered runs at least this often. */
static const uint64_t stir_ns = 10 * NS_PER_S;
#define DUMP_PIDS 512
#define SOURCE_MOST (4 * MIB)

static void hangevidence_unavailable(struct hang_case *c, const char *fmt, ...) printf_like(2, 3);
static void hangevidence_unavailable(struct hang_case *c, const char *fmt, ...)
{
	va_list ap;
	if (c->n_unavailable == HANG_UNAVAILABLE)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(c->unavailable[c->n_unavailable++], sizeof(c->unavailable[0]), fmt, ap);
	va_end(ap);
}

/* A job that does not run looks for nothing: the program is loaded when it runs. */
static void lookups_try(struct hangevidence *g, const struct hangsample *e, uint64_t now_ns)
{
	if (g->counts_lookups || !g->waits.lookups || !hangprocs_stirred(e->procs, now_ns, stir_ns))
		return;
	g->counts_lookups = true;
	hanglookups_begin(g->waits.lookups, e->procs);
}

void hangevidence_begin(struct hangevidence *g, const struct hang_step *step, const struct hangsample *e,
			const struct liveness_set *p, const struct hangevidence_tools *tools, uint64_t now_ns)
{
	hangevidence_end(g);
	g->step = *step;
	g->busy = true;
	g->next_ns = g->dump_ns = now_ns;
	g->dumps_over = !(step->want & HANG_WANT_STACKS);
	g->natives = tools->natives;
	if (!g->dumps_over && step->dumps > 1) { /* a standstill is suspected */
		g->waits.lookups = tools->lookups;
		g->waits.files = tools->files;
		g->waits.alarms = tools->alarms;
		lookups_try(g, e, now_ns);
	}
	if (step->want & HANG_WANT_SHARES)
		g->shares = calloc(1, sizeof(*g->shares));
	if (step->want & HANG_WANT_BOOK && tools->rules) {
		g->rules = tools->rules;
		hangrules_begin(g->rules, e->procs, &e->job, p);
	}
}

void hangevidence_end(struct hangevidence *g)
{
	for (size_t i = 0; i < g->n_dumps; i++)
		stackdump_done(&g->dump[i]);
	if (g->rules)
		hangrules_end(g->rules);
	hangwaits_done(&g->waits);
	hangcollective_said_done(&g->said);
	hanggo_done(&g->go);
	hangshares_free(g->sampler);
	free(g->shares);
	free(g->ray);
	struct hangcollective asks = g->asks;
	hangcollective_end(&asks);
	memset(g, 0, sizeof(*g));
	g->asks = asks; /* keeps the pid of a child that hangs */
}

/* ---- stacks ---- */

static size_t pids_choose(const struct hangprocs *c, pid_t *pids, size_t cap)
{
	size_t n = 0;
	/* a job may have thousands of processes: main processes first, then data loaders, then the rest */
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < c->n_now && n < cap; i++) {
			const struct hangprocs_member *m = &c->now[i];
			int of = m->main ? 0 : role_serves(m->who.role) ? 1 : 2;
			if (of == turn && m->state != 'Z')
				pids[n++] = m->pid;
		}
	}
	return n;
}

static void names_fill(const struct hangprocs *c, struct stackdump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct hangprocs_member *m = hangprocs_find(c, d->processes[i].pid);
		if (!m)
			continue;
		d->processes[i].rank = m->who.rank;
		/* the main process of a rank is shown as such, even if it is a shell or of unknown role */
		TEXT_COPY(d->processes[i].role, role_name(m->main ? ROLE_MAIN : m->who.role));
	}
}

/*
 * True if a thread waits for a lock with a known owner: only then source lines of native frames are worth their cost.
 */
static bool locks_have_owners(const struct stackdump *d)
{
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++)
			if (d->processes[i].threads[k].wait.owner != 0)
				return true;
	return false;
}

static void dump_take(struct hangevidence *g, const struct world *w, const struct hangsample *e)
{
	static pid_t pids[DUMP_PIDS];
	struct fault f = {.text = ""};
	struct snapshot_want want = {.pids = pids,
				     .native = true,
				     .state = true,
				     .natives = g->natives,
				     .budget_ns = dump_budget_ns,
				     .patient = true};
	want.n_pids = pids_choose(e->procs, pids, ARRAY_SIZE(pids));
	want.lines = g->n_dumps > 0 && locks_have_owners(&g->dump[g->n_dumps - 1]);
	int r = snapshot_take(w, &want, &g->dump[g->n_dumps], &f);
	if (r != 0) {
		hangevidence_unavailable(&g->hcase,
					 g->n_dumps ? "stacks: they could not be taken again: %s" : "stacks: %s",
					 f.text[0] ? f.text : "none could be read");
		g->dumps_over = true;
		return;
	}
	names_fill(e->procs, &g->dump[g->n_dumps]);
	if (g->dump[g->n_dumps].cut)
		hangevidence_unavailable(&g->hcase, "stacks: some are missing, reading all would have taken too long");
	g->n_dumps++;
	g->dumps_over = g->n_dumps >= MIN(MAX(g->step.dumps, UINT32_C(1)), (uint32_t)HANG_DUMPS);
}

/* ---- source lines ---- */

/* Of source lines that are missing because their process is another user's than its stacks were. */
static void changed_say(struct hangevidence *g, pid_t pid)
{
	char text[sizeof(g->hcase.unavailable[0])];
	TEXT_FORMAT(text, "source line: process %d is another user's than when its stacks were read", (int)pid);
	for (size_t i = 0; i < g->hcase.n_unavailable; i++)
		if (strcmp(g->hcase.unavailable[i], text) == 0)
			return;
	hangevidence_unavailable(&g->hcase, "%s", text);
}

/* The path comes from the job: only what the user may read whose the process was when it named it is opened. */
static int source_open(struct hangevidence *g, const struct world *w, const struct dump_process *p, const char *file)
{
	struct stat st;
	uid_t owner;
	cleanup(closep) int fd = -1;
	const struct procfile_who who = {.pid = p->pid, .uid = p->uid, .start_ticks = p->start_ticks};
	int r = p->has_who ? procfile_open_of(w, &who, file, FOREIGN_LINKS, &fd) : WORLD_DENIED;
	if (r == PROCFILE_CHANGED || (r != 0 && procfile_owner(w, p->pid, &owner) == 0 && owner != p->uid))
		changed_say(g, p->pid);
	if (r != 0 || fstat(fd, &st) < 0)
		return -1;
	return (uint64_t)st.st_size <= SOURCE_MOST ? take_fd(&fd) : -1;
}

static bool source_line(int source, int32_t number, char *dst, size_t cap)
{
	cleanup(freep) char *text = source < 0 ? NULL : malloc(SOURCE_MOST);
	size_t len;
	struct span line;
	if (!text || file_read_from(source, 0, text, SOURCE_MOST, &len) < 0)
		return false;
	struct span rest = {text, len};
	for (int32_t i = 1; span_line(&rest, &line); i++) {
		if (i != number)
			continue;
		span_copy(span_trim(line), dst, cap);
		return true;
	}
	return false;
}

static void sources_read(struct hangevidence *g, const struct world *w)
{
	static struct stackgroups groups; /* large */
	const struct stackdump *newest = g->n_dumps ? &g->dump[g->n_dumps - 1] : NULL;
	g->n_source = 0;
	if (!newest)
		return;
	stackgroups_make(&newest, 1, &groups);
	for (size_t i = 0; i < groups.n && g->n_source < HANG_RANKS; i++) {
		const struct stackgroup_rank *r = &groups.rank[i];
		const struct dump_frame *f = r->activity.user;
		struct hang_source *s = &g->source[g->n_source];
		if (!f || !f->file || f->line <= 0 || !r->process)
			continue;
		*s = (struct hang_source){.rank = r->rank};
		cleanup(closep) int fd = source_open(g, w, r->process, f->file);
		g->n_source += source_line(fd, f->line, s->line, sizeof(s->line));
	}
}

/* ---- the rule book and the collective library ---- */

static void book_take(struct hangevidence *g, const struct hangsample *e)
{
	char why[HANGRULES_WHY];
	const struct stackdump *newest = g->n_dumps ? &g->dump[g->n_dumps - 1] : NULL;
	if (!g->rules)
		return;
	const struct rulegather_result *r = hangrules_finish(g->rules, newest, why);
	if (!r) {
		hangevidence_unavailable(&g->hcase, "%s", why);
		return;
	}
	g->book = r;
	g->hcase.book = &r->verdict;
	g->hcase.environment = &r->env;
	g->hcase.errors = r->errors;
	g->hcase.n_errors = r->n_errors;
	g->hcase.nobodys_error = r->nobodys_error;
	if (e->job.log_dir[0] == '\0' && !e->job.own_log[0][0] && !e->job.own_log[1][0])
		hangevidence_unavailable(&g->hcase, "log: vigil does not keep this job's output");
	for (size_t i = 0; i < r->n_unavailable; i++)
		hangevidence_unavailable(&g->hcase, "%s", r->unavailable[i]);
}

/* Runs beside the stacks: it takes some seconds, mostly waiting. False: it is not complete yet. */
static bool collective_ask(struct hangevidence *g, const struct world *w, const struct hangsample *e)
{
	if (!(g->step.want & HANG_WANT_COLLECTIVE))
		return true;
	if (!g->asked) {
		uint64_t stands_ns = g->step.since_ns ? sub_floor(w->mono_ns(), g->step.since_ns) : 0;
		hangcollective_begin(&g->asks, w, e->procs, w->unix_ms() - (int64_t)(stands_ns / NS_PER_MS));
		g->asked = true;
	}
	return hangcollective_done(&g->asks, w);
}

static void collective_take(struct hangevidence *g)
{
	hangcollective_take(&g->asks, &g->said);
	for (size_t i = 0; i < g->said.n_notes; i++)
		hangevidence_unavailable(&g->hcase, "%s", g->said.note[i]);
	g->waits.arrow = g->said.arrow;
	g->waits.n_arrows = g->said.n_arrows;
}

/* ---- all of it ---- */

static void stacks_put(struct hangevidence *g, const struct world *w, struct hang_case *c)
{
	if (g->step.want & HANG_WANT_STACKS)
		sources_read(g, w);
	c->now_unix_ms = w->unix_ms();
	for (size_t i = 0; i < g->n_dumps; i++)
		c->dumps[i] = &g->dump[i];
	c->n_dumps = g->n_dumps;
	c->source = g->source;
	c->n_source = g->n_source;
}

bool hangevidence_early(struct hangevidence *g, const struct world *w, struct hang_case *ret)
{
	if (!g->busy || g->n_dumps == 0)
		return false;
	*ret = g->hcase;
	stacks_put(g, w, ret);
	return true;
}

static void complete(struct hangevidence *g, const struct world *w, const struct hangsample *e)
{
	struct hang_case *c = &g->hcase;
	stacks_put(g, w, c);
	book_take(g, e);
	if (g->step.want & HANG_WANT_COLLECTIVE)
		collective_take(g);
	c->collective = g->said.verdict.valid ? &g->said.verdict : NULL;
	c->graph = hangwaits_make(&g->waits, w, g->n_dumps ? &g->dump[g->n_dumps - 1] : NULL, e->wakes);
	if (!c->graph && g->waits.note[0])
		hangevidence_unavailable(c, "waits: %s", g->waits.note);
	hanggo_compare(&g->go, w);
	c->go = g->go.stand;
	c->n_go = g->go.n;
	if (g->n_dumps > 1)
		g->ray = hangray_make(w, e->procs, c->dumps, c->n_dumps);
	c->ray = g->ray;
	c->shares = g->shares;
	g->complete = true;
}

bool hangevidence_step(struct hangevidence *g, const struct world *w, const struct hangsample *e)
{
	uint64_t now_ns = w->mono_ns();
	if (now_ns < g->next_ns)
		return false;
	if (g->complete)
		return true;
	lookups_try(g, e, now_ns);
	bool answered = collective_ask(g, w, e);
	answered &= !g->rules || hangrules_step(g->rules);
	g->next_ns = now_ns + ask_gap_ns;
	if (!g->dumps_over) {
		if (now_ns >= g->dump_ns) {
			/* Both looks between two dumps: taking stacks stops threads, so that they seem to have run. */
			if (g->n_dumps == 1)
				hangwaits_look(&g->waits, w, e->procs);
			dump_take(g, w, e);
			if (g->n_dumps == 1) {
				hangwaits_look(&g->waits, w, e->procs);
				hanggo_look(&g->go, w, e->procs);
			}
			g->dump_ns = w->mono_ns() + g->step.gap_ns;
		}
		/* the reading children are polled between two dumps */
		if (answered || g->dumps_over)
			g->next_ns = g->dumps_over ? w->mono_ns() : g->dump_ns;
		return false;
	}
	if (g->shares && g->shares->samples < g->step.samples) {
		if (!g->sampler)
			g->sampler = hangshares_new(w, e->procs, g->natives);
		uint32_t before = g->shares->samples;
		if (g->sampler)
			hangshares_sample(g->sampler, e->procs, g->shares);
		g->next_ns = now_ns + g->step.sample_gap_ns;
		if (g->shares->samples > before)
			return false;
		g->step.samples = 0; /* no process can be sampled any more */
	}
	if (!answered)
		return false;
	complete(g, w, e);
	return true;
}

/* ---- stacks as JSON ---- */

static size_t text_take(const struct stackdump *d, const struct waitgraph *waits, char *dst, size_t cap)
{
	cleanup(js_freep) struct js *j = stack_incident_json(d, waits);
	cleanup(freep) char *text = js_text(j, 0);
	size_t len = text ? strlen(text) : 0;
	if (!len || len >= cap)
		return 0;
	memcpy(dst, text, len + 1);
	return len;
}

/* JSON of the newest dump with at most `threads` threads for each process; g keeps its frames. */
static size_t hangevidence_text(const struct hangevidence *g, size_t threads, char *dst, size_t cap)
{
	const struct stackdump *d = &g->dump[g->n_dumps - 1];
	struct stackdump less = *d;
	cleanup(freep) struct dump_process *p = calloc(d->n ? d->n : 1, sizeof(*p));
	if (!p)
		return 0;
	memcpy(p, d->processes, d->n * sizeof(*p));
	for (size_t i = 0; i < d->n; i++)
		p[i].n_threads = MIN(p[i].n_threads, threads); /* the main one comes first */
	less.processes = p;
	return text_take(&less, g->waits.made ? &g->waits.graph : NULL, dst, cap);
}

size_t hangevidence_stacks(const struct hangevidence *g, char *dst, size_t cap)
{
	static const size_t most[] = {SIZE_MAX, 64, 16, 4, 1};
	for (size_t i = 0; g->n_dumps && i < ARRAY_SIZE(most); i++) {
		size_t len = hangevidence_text(g, most[i], dst, cap);
		if (len)
			return len;
	}
	return 0;
}
