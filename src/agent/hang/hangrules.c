#include "agent/hang/hangrules.h"

#include <string.h>
#include <sys/wait.h>

#include "sense/framework/errorfile.h"
#include "base/buf.h"
#include "sense/proc/proc.h"

#define COMMAND_MOST 2048

struct hangrules {
	const struct world *w;
	struct rulegather *g; /* NULL: the rules cannot be read */
	char why[HANGRULES_WHY]; /* g NULL: the reason, as a sentence */
	const struct hangprocs *procs;
	struct rulegather_rank rank[RULEGATHER_RANKS];
	size_t n;
	char path[2 * HANG_RANKS][352]; /* of the ranks' kept output */
	size_t n_paths;
	char error_path[HANG_RANKS][352];
	struct cause_fact fact[2];
	struct rulegather_want want;
	struct rulegather_result *result; /* large; NULL but between begin and end */
};

struct hangrules *hangrules_new(const struct world *w, const char *rules, const struct progress_patterns *progress,
				const struct hang_job *job, int64_t started_unix_ms)
{
	struct fault f = {.text = ""};
	struct hangrules *h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->w = w;
	int r = rulegather_new(w, rules[0] ? rules : NULL, getenv("VIGIL_RDMA_EXCLUDE"), started_unix_ms, &h->g, &f);
	if (r < 0)
		TEXT_FORMAT(h->why, "log: no cause book: %s", f.text[0] ? f.text : strerror(-r));
	if (h->g)
		rulegather_progress(h->g, progress);
	if (h->g)
		rulegather_baseline(h->g, job->n_ranks ? job->rank[0].pid : job->root);
	return h;
}

struct hangrules *hangrules_free(struct hangrules *h)
{
	if (!h)
		return NULL;
	rulegather_free(h->g);
	free(h->result);
	free(h);
	return NULL;
}

void hangrules_devices(struct hangrules *h, const struct hangdevices *d, const struct hangsample *sample)
{
	static struct gpu_set own; /* large */
	if (!h->g || !d->set)
		return;
	hangdevices_of(d, sample->gpus, sample->gpus_ever, sample->gpus_ever || sample->opens_gpus, &own);
	rulegather_gpus(h->g, &own);
}

/* ---- processes ---- */

static struct rulegather_rank *rank_add(struct hangrules *h, pid_t pid, int32_t rank)
{
	if (h->n == ARRAY_SIZE(h->rank))
		return NULL;
	struct rulegather_rank *r = &h->rank[h->n++];
	const struct hangprocs_member *m = hangprocs_find(h->procs, pid);
	*r = (struct rulegather_rank){.pid = pid, .rank = rank, .numbered = m && m->who.own_number};
	return r;
}

static int32_t exit_code(int32_t wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void ranks_add(struct hangrules *h, const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves)
			continue;
		struct rulegather_rank *r = rank_add(h, l->seen.exited ? 0 : l->seen.pid, l->rank);
		if (!r || !l->seen.exited)
			continue;
		r->ended = true;
		r->has_exit_code = l->seen.has_status;
		r->exit_code = l->seen.has_status ? exit_code(l->seen.wait_status) : 0;
	}
}

static bool same_command(const struct world *w, pid_t a, pid_t b)
{
	char one[COMMAND_MOST] = "", other[COMMAND_MOST] = "";
	return proc_command_read(w, a, one, sizeof(one)) == 0 && proc_command_read(w, b, other, sizeof(other)) == 0 &&
	       one[0] && strcmp(one, other) == 0;
}

/*
 * True if the process was started like a rank beside one: by the same launcher, with the same command. So it is if a
 * number was given twice or was left out. A process that a rank started is not one, nor is one whose parent has ended,
 * nor one below a launcher that has a rank itself, which its children inherit.
 */
static bool is_stray(const struct hangrules *h, const struct hangprocs_member *m)
{
	const struct hangprocs_member *up = hangprocs_find(h->procs, m->ppid);
	if (m->main || m->state == 'Z' || m->who.role != ROLE_MAIN || !up || up->who.rank != NO_RANK)
		return false;
	for (size_t i = 0; i < h->n; i++) {
		const struct hangprocs_member *rank = hangprocs_find(h->procs, h->rank[i].pid);
		if (rank && rank->who.rank != NO_RANK && rank->ppid == m->ppid && rank->who.role == ROLE_MAIN &&
		    same_command(h->w, rank->pid, m->pid))
			return true;
	}
	return false;
}

static void strays_add(struct hangrules *h)
{
	size_t ranks = h->n;
	for (size_t i = 0; i < h->procs->n_now && ranks > 0; i++) {
		const struct hangprocs_member *m = &h->procs->now[i];
		if (is_stray(h, m))
			ignore(rank_add(h, m->pid, m->who.rank) == NULL, "one too many is not compared");
	}
}

/* ---- logs ---- */

static const char *path_make(struct hangrules *h, const struct hang_job *job, int32_t rank, const char *end)
{
	if (h->n_paths == ARRAY_SIZE(h->path))
		return NULL;
	char *path = h->path[h->n_paths++];
	(void)text_format(path, sizeof(h->path[0]), "%s/rank-%d.%s", job->log_dir, MAX(rank, 0), end);
	return path;
}

/* A program started without a rank may have one, or several that all write into its output. */
static struct rulegather_rank *writer_of(struct hangrules *h, const struct hang_job *job, int32_t rank)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->rank[i].rank == rank || (rank == NO_RANK && job->n_ranks == 1 && h->n == 1))
			return &h->rank[i];
	return rank_add(h, 0, rank);
}

/* Adds the output files of a job that vigil did not start. */
static void own_logs_add(struct hangrules *h, const struct hang_job *job)
{
	struct rulegather_rank *r = job->own_log[0][0] || job->own_log[1][0] ? writer_of(h, job, NO_RANK) : NULL;
	for (size_t i = 0; r && i < 2; i++) {
		if (!job->own_log[i][0] || h->n_paths == ARRAY_SIZE(h->path))
			continue;
		char *path = h->path[h->n_paths++];
		text_copy(path, sizeof(h->path[0]), job->own_log[i]);
		*(i == 0 ? &r->out : &r->err) = path;
	}
}

static void logs_add(struct hangrules *h, const struct hang_job *job)
{
	own_logs_add(h, job);
	for (size_t i = 0; job->log_dir[0] && i < job->n_ranks; i++) {
		struct rulegather_rank *r = writer_of(h, job, job->rank[i].rank);
		if (!r)
			return;
		r->out = path_make(h, job, job->rank[i].rank, "out");
		r->err = path_make(h, job, job->rank[i].rank, "err");
		if (r->rank == NO_RANK || i >= ARRAY_SIZE(h->error_path))
			continue;
		errorfile_path(job->log_dir, r->rank, h->error_path[i], sizeof(h->error_path[0]));
		r->error_file = h->error_path[i];
	}
}

/* ---- facts ---- */

/* The facts for rules on checkpoints and copies: whether the job reads or writes. */
static void facts_add(struct hangrules *h, const struct liveness_set *p)
{
	bool reads = false, writes = false;
	for (size_t i = 0; i < p->n; i++) {
		reads |= liveness_reads(p, &p->rank[i]);
		writes |= liveness_writes(p, &p->rank[i]);
	}
	h->want.facts = h->fact;
	h->want.n_facts = 0;
	if (!writes)
		h->fact[h->want.n_facts++] = (struct cause_fact){.name = "save_without_io"};
	if (!writes && !reads)
		h->fact[h->want.n_facts++] = (struct cause_fact){.name = "no_progress_in_copy"};
}

static bool knows(const void *procs, pid_t pid)
{
	return hangprocs_knows(procs, pid);
}

void hangrules_begin(struct hangrules *h, const struct hangprocs *procs, const struct hang_job *job,
		     const struct liveness_set *p)
{
	if (!h->g)
		return;
	if (!h->result)
		h->result = malloc(sizeof(*h->result));
	if (!h->result)
		return;
	h->n = h->n_paths = 0;
	h->procs = procs;
	ranks_add(h, p);
	strays_add(h);
	logs_add(h, job);
	h->want = (struct rulegather_want){.ranks = h->rank, .n_ranks = h->n, .knows = knows, .knows_data = procs};
	facts_add(h, p);
	rulegather_begin(h->g, &h->want, h->result);
}

bool hangrules_reads(const struct hangrules *h)
{
	return h->g && rulegather_reads(h->g);
}

bool hangrules_step(struct hangrules *h)
{
	return !h->g || rulegather_step(h->g);
}

const struct rulegather_result *hangrules_finish(struct hangrules *h, const struct stackdump *stacks,
						 char why[static HANGRULES_WHY])
{
	if (h->g && h->result && rulegather_finish(h->g, stacks) == 0)
		return h->result;
	(void)text_format(why, HANGRULES_WHY, "%s",
			  h->g ? "log: the cause book could not be asked: no memory" : h->why);
	return NULL;
}

void hangrules_end(struct hangrules *h)
{
	if (!h->g || !h->result)
		return;
	rulegather_drop(h->g);
	free(h->result);
	h->result = NULL;
}
