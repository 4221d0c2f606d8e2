#include "agent/hanggather.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/hangbook.h"
#include "agent/hangshares.h"
#include "agent/snapshot.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/native/unwind.h"
#include "sense/proc.h"
#include "tell/stack_show.h"

/* One set of stacks takes no longer; main processes come first. */
static const uint64_t dump_budget_ns = 6 * NS_PER_S;
static const uint64_t collective_gap_ns = 200 * NS_PER_MS;
#define DUMP_PIDS 512
#define ENVIRON_CAP (128 * 1024)
#define SOURCE_MOST (4 * MIB)

static void blind(struct hang_case *c, const char *fmt, ...) printf_like(2, 3);
static void blind(struct hang_case *c, const char *fmt, ...)
{
	va_list ap;
	if (c->n_blind == HANG_BLIND)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(c->blind[c->n_blind++], sizeof(c->blind[0]), fmt, ap);
	va_end(ap);
}

void hanggather_begin(struct hanggather *g, const struct hang_step *step, uint64_t now_ns)
{
	hanggather_end(g);
	g->step = *step;
	g->busy = true;
	g->next_ns = now_ns;
	g->dumps_over = !(step->want & HANG_WANT_STACKS);
	if (step->want & HANG_WANT_STACKS)
		g->natives = natives_new();
	if (step->want & HANG_WANT_SHARES)
		g->shares = calloc(1, sizeof(*g->shares));
}

void hanggather_end(struct hanggather *g)
{
	for (size_t i = 0; i < g->n_dumps; i++)
		stackdump_done(&g->dump[i]);
	hangshares_free(g->sampler);
	natives_free(g->natives);
	free(g->shares);
	free(g->book);
	struct hangcollective asks = g->asks;
	hangcollective_end(&asks);
	memset(g, 0, sizeof(*g));
	g->asks = asks; /* a child that hangs is remembered */
}

/* Stacks ------------------------------------------------------------------- */

static size_t pids_choose(const struct crew *c, pid_t *pids, size_t cap)
{
	size_t n = 0;
	/* a job may have thousands of processes: those that stand for a rank, then those that feed them, then the rest */
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < c->n_now && n < cap; i++) {
			const struct crew_member *m = &c->now[i];
			int of = m->main ? 0 : m->who.role == ROLE_LOADER ? 1 : 2;
			if (of == turn && m->state != 'Z')
				pids[n++] = m->pid;
		}
	}
	return n;
}

static void names_fill(const struct crew *c, struct stackdump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct crew_member *m = crew_find(c, d->processes[i].pid);
		if (!m)
			continue;
		d->processes[i].rank = m->who.rank;
		/* what stands for the rank is its main process, even where it is a shell or unknown */
		TEXT_COPY(d->processes[i].role, role_name(m->main ? ROLE_MAIN : m->who.role));
	}
}

static void dump_take(struct hanggather *g, const struct world *w, const struct hangeye *e)
{
	static pid_t pids[DUMP_PIDS];
	struct fault f = {.text = ""};
	struct snapshot_want want = {.pids = pids, .native = true, .natives = g->natives, .budget_ns = dump_budget_ns};
	want.n_pids = pids_choose(e->crew, pids, ARRAY_SIZE(pids));
	int r = snapshot_take(w, &want, &g->dump[g->n_dumps], &f);
	if (r != 0) {
		blind(&g->hcase, g->n_dumps ? "stacks: they could not be taken again: %s" : "stacks: %s",
		      f.text[0] ? f.text : "none could be read");
		g->dumps_over = true;
		return;
	}
	names_fill(e->crew, &g->dump[g->n_dumps]);
	if (g->dump[g->n_dumps].cut)
		blind(&g->hcase, "stacks: some are missing, reading all would have taken too long");
	g->n_dumps++;
	g->dumps_over = g->n_dumps >= MIN(MAX(g->step.dumps, UINT32_C(1)), (uint32_t)HANG_DUMPS);
}

/* Sources ------------------------------------------------------------------ */

/* Only what the job's owner could read as well: the path is the job's word. */
static int source_open(const struct world *w, pid_t pid, const char *file)
{
	char path[600];
	struct stat st, owner;
	if (file[0] == '/')
		TEXT_FORMAT(path, "%d/root%s", pid, file);
	else
		TEXT_FORMAT(path, "%d/cwd/%s", pid, file);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	TEXT_FORMAT(path, "%d", pid);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatat(w->proc_fd, path, &owner, 0) < 0)
		return -1;
	bool allowed = (st.st_mode & S_IROTH) || (st.st_uid == owner.st_uid && (st.st_mode & S_IRUSR));
	return allowed && (uint64_t)st.st_size <= SOURCE_MOST ? take_fd(&fd) : -1;
}

static bool source_line(const struct world *w, pid_t pid, const char *file, int32_t number, char *dst, size_t cap)
{
	cleanup(closep) int fd = source_open(w, pid, file);
	cleanup(freep) char *text = fd < 0 ? NULL : malloc(SOURCE_MOST);
	size_t len;
	struct span line;
	if (!text || file_read_from(fd, 0, text, SOURCE_MOST, &len) < 0)
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

static void sources_read(struct hanggather *g, const struct world *w)
{
	static struct stackgroups groups; /* large */
	const struct stackdump *newest = g->n_dumps ? &g->dump[g->n_dumps - 1] : NULL;
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
		g->n_source += source_line(w, r->process->pid, f->file, f->line, s->line, sizeof(s->line));
	}
}

/* Environments --------------------------------------------------------------- */

static void variable_copy(struct span block, const char *const *names, size_t n, char *dst, size_t cap)
{
	for (size_t i = 0; i < n; i++) {
		struct span v = environ_get(block, names[i]);
		if (v.p && v.len) {
			span_copy(v, dst, cap);
			return;
		}
	}
}

#define VARIABLE(block, to, ...)                                                                                       \
	do {                                                                                                           \
		static const char *const names_[] = {__VA_ARGS__};                                                     \
		variable_copy(block, names_, ARRAY_SIZE(names_), to, sizeof(to));                                      \
	} while (0)

static void environment_of(struct span block, struct hang_environment *e)
{
	VARIABLE(block, e->rank_text, "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "HOROVOD_RANK",
		 "SLURM_PROCID", "RANK_ID");
	VARIABLE(block, e->world_text, "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "HOROVOD_SIZE", "SLURM_NTASKS",
		 "RANK_SIZE");
	VARIABLE(block, e->local_world_text, "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "HOROVOD_LOCAL_SIZE");
	VARIABLE(block, e->master_addr, "MASTER_ADDR");
	VARIABLE(block, e->master_port, "MASTER_PORT");
	VARIABLE(block, e->device_text, "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES",
		 "DEVICE_ID");
}

static void environments_read(struct hanggather *g, const struct world *w, const struct hangeye *e)
{
	cleanup(freep) char *text = malloc(ENVIRON_CAP);
	size_t len, unreadable = 0;
	for (size_t i = 0; text && i < e->crew->n_now && g->n_environment < HANG_RANKS; i++) {
		const struct crew_member *m = &e->crew->now[i];
		if (!m->main || m->state == 'Z')
			continue;
		struct hang_environment *one = &g->environment[g->n_environment++];
		*one = (struct hang_environment){.rank = m->who.rank};
		one->readable = proc_environ_read(w, m->pid, text, ENVIRON_CAP, &len) == 0;
		unreadable += !one->readable;
		if (one->readable)
			environment_of((struct span){text, len}, one);
	}
	if (unreadable)
		blind(&g->hcase, "environment: that of %zu processes may not be read", unreadable);
}

/* The book, and the collective library ----------------------------------------- */

/*
 * The rules over everything that is text. A further source (stacks, environments, counters as lines) is one more call of
 * hangbook_text here.
 */
static void book_ask(struct hanggather *g, const struct world *w, const struct hangeye *e, const char *rules,
		     int64_t since_unix_ms)
{
	char why[120];
	struct hangbook *b = hangbook_open(w, rules, why);
	if (!b) {
		blind(&g->hcase, "%s", why);
		return;
	}
	hangbook_logs(b, &e->job);
	if (e->job.log_dir[0] == '\0')
		blind(&g->hcase, "log: vigil does not keep this job's output");
	int r = hangbook_kernel(b, w, e->crew, since_unix_ms);
	if (r == WORLD_DENIED)
		blind(&g->hcase, "kmsg: not permitted (CAP_SYSLOG)");
	else if (r != 0)
		blind(&g->hcase, "kmsg: there is no kernel log here");
	g->book = malloc(sizeof(*g->book));
	if (g->book)
		hangbook_judge(b, g->book);
	hangbook_close(b);
}

/* Beside the stacks: it takes some seconds, most of them waiting. False: not all is there yet. */
static bool collective_ask(struct hanggather *g, const struct world *w, const struct hangeye *e)
{
	if (!(g->step.want & HANG_WANT_COLLECTIVE))
		return true;
	if (!g->asked) {
		uint64_t stands_ns = g->step.since_ns ? sub_floor(w->mono_ns(), g->step.since_ns) : 0;
		hangcollective_begin(&g->asks, w, e->crew, w->unix_ms() - (int64_t)(stands_ns / NS_PER_MS));
		g->asked = true;
	}
	return hangcollective_done(&g->asks, w);
}

static void collective_take(struct hanggather *g)
{
	char note[HANGCOLLECTIVE_NOTES][120];
	size_t n = hangcollective_take(&g->asks, &g->collective, note);
	for (size_t i = 0; i < n; i++)
		blind(&g->hcase, "%s", note[i]);
}

/* ---------------------------------------------------------------------------- */

static void complete(struct hanggather *g, const struct world *w, const struct hangeye *e, const char *rules,
		     int64_t since_unix_ms)
{
	if (g->step.want & HANG_WANT_ENVIRONMENT)
		environments_read(g, w, e);
	if (g->step.want & HANG_WANT_STACKS)
		sources_read(g, w);
	if (g->step.want & HANG_WANT_BOOK)
		book_ask(g, w, e, rules, since_unix_ms);
	if (g->step.want & HANG_WANT_COLLECTIVE)
		collective_take(g);
	struct hang_case *c = &g->hcase;
	c->now_unix_ms = w->unix_ms();
	for (size_t i = 0; i < g->n_dumps; i++)
		c->dumps[i] = &g->dump[i];
	c->n_dumps = g->n_dumps;
	c->book = g->book;
	c->collective = g->collective.valid ? &g->collective : NULL;
	c->shares = g->shares;
	c->environment = g->environment;
	c->n_environment = g->n_environment;
	c->source = g->source;
	c->n_source = g->n_source;
}

bool hanggather_step(struct hanggather *g, const struct world *w, const struct hangeye *e, const char *rules,
		     int64_t since_unix_ms)
{
	uint64_t now_ns = w->mono_ns();
	if (now_ns < g->next_ns)
		return false;
	bool answered = collective_ask(g, w, e);
	if (!g->dumps_over) {
		dump_take(g, w, e);
		g->next_ns = w->mono_ns() + (g->dumps_over ? 0 : g->step.gap_ns);
		return false;
	}
	if (g->shares && g->shares->looks < g->step.samples) {
		if (!g->sampler)
			g->sampler = hangshares_new(w, e->crew);
		uint32_t before = g->shares->looks;
		if (g->sampler)
			hangshares_look(g->sampler, g->shares);
		g->next_ns = now_ns + g->step.sample_gap_ns;
		if (g->shares->looks > before)
			return false;
		g->step.samples = 0; /* nobody can be looked at any more */
	}
	if (!answered) {
		g->next_ns = now_ns + collective_gap_ns;
		return false;
	}
	complete(g, w, e, rules, since_unix_ms);
	return true;
}

/* Stacks as JSON ----------------------------------------------------------------- */

static size_t text_take(const struct stackdump *d, char *dst, size_t cap)
{
	cleanup(js_freep) struct js *j = stack_incident_json(d);
	cleanup(freep) char *text = js_text(j, 0);
	size_t len = text ? strlen(text) : 0;
	if (!len || len >= cap)
		return 0;
	memcpy(dst, text, len + 1);
	return len;
}

/* The same dump with at most so many threads a process; frames stay with their owner. */
static size_t text_of(const struct stackdump *d, size_t threads, char *dst, size_t cap)
{
	struct stackdump less = *d;
	cleanup(freep) struct dump_process *p = calloc(d->n ? d->n : 1, sizeof(*p));
	if (!p)
		return 0;
	memcpy(p, d->processes, d->n * sizeof(*p));
	for (size_t i = 0; i < d->n; i++)
		p[i].n_threads = MIN(p[i].n_threads, threads); /* the main one comes first */
	less.processes = p;
	return text_take(&less, dst, cap);
}

size_t hanggather_stacks(const struct hanggather *g, char *dst, size_t cap)
{
	static const size_t most[] = {SIZE_MAX, 64, 16, 4, 1};
	for (size_t i = 0; g->n_dumps && i < ARRAY_SIZE(most); i++) {
		size_t len = text_of(&g->dump[g->n_dumps - 1], most[i], dst, cap);
		if (len)
			return len;
	}
	return 0;
}
