/* The families of metrics, with what each of their samples is. docs/formats/metrics.md has the same list for people. */
#include <inttypes.h>
#include <string.h>

#include "tell/metrics/metricset.h"

static double seconds_of(int64_t unix_ms)
{
	return (double)unix_ms / 1000;
}

static double ratio_of(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* A label with a name that a user chose. */
static void label_named(struct metricset *s, struct metric_sample *m, const char *label, const char *text)
{
	char safe[64];
	metricset_label(s, m, label, metrics_name(text, safe, sizeof(safe)));
}

static struct metric_sample *job_sample(struct metricset *s, struct metric_family *f, const struct metrics_job *j,
					double value)
{
	struct metric_sample *m = metricset_add(s, f, value);
	metricset_label(s, m, "job_id", j->job.id);
	return m;
}

static struct metric_sample *rank_sample(struct metricset *s, struct metric_family *f, const struct metrics_job *j,
					 int32_t rank, double value)
{
	char number[16];
	struct metric_sample *m = job_sample(s, f, j, value);
	TEXT_FORMAT(number, "%" PRId32, rank);
	metricset_label(s, m, "rank", rank == NO_RANK ? "none" : number);
	return m;
}

static void jobs_info(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *info =
		metricset_family(s, METRIC_INFO, "vigil_job", "", "A job that runs, or ended in the last ten minutes.");
	struct metric_family *state =
		metricset_family(s, METRIC_STATESET, "vigil_job_state", "",
				 "The state of the job; vigil_hang_state says whether a running one makes progress.");
	struct metric_family *ranks =
		metricset_family(s, METRIC_GAUGE, "vigil_job_ranks", "", "Ranks of the job on this node.");
	struct metric_family *started = metricset_family(s, METRIC_GAUGE, "vigil_job_start_timestamp_seconds",
							 "seconds", "When the job started.");
	struct metric_family *attempt = metricset_family(s, METRIC_GAUGE, "vigil_job_attempt", "",
							 "The attempt that runs or was the last one, from 0.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct metrics_job *j = &f->job[i];
		struct metric_sample *m = job_sample(s, info, j, 1);
		label_named(s, m, "job_name", j->job.name);
		label_named(s, m, "user", j->job.user);
		label_named(s, m, "node", j->job.node);
		if (j->framework[0])
			label_named(s, m, "framework", j->framework);
		for (int k = 0; k < METRICS_STATES; k++) {
			m = job_sample(s, state, j, strcmp(job_state_word(&j->job), metrics_state_name(k)) == 0);
			metricset_label(s, m, "vigil_job_state", metrics_state_name(k));
		}
		(void)job_sample(s, ranks, j, j->job.nproc);
		(void)job_sample(s, started, j, seconds_of(j->job.started_unix_ms));
		(void)job_sample(s, attempt, j, j->job.attempt);
	}
}

static void jobs_memory(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *used = metricset_family(
		s, METRIC_GAUGE, "vigil_job_memory_bytes", "bytes",
		"Memory of the job's control group, shared memory included; own memory of its ranks if it has none. "
		"Of a job that has not ended.");
	struct metric_family *peak = metricset_family(s, METRIC_GAUGE, "vigil_job_memory_peak_bytes", "bytes",
						      "The most memory that the job has had.");
	struct metric_family *limit = metricset_family(s, METRIC_GAUGE, "vigil_job_memory_limit_bytes", "bytes",
						       "The limit that --memory-limit gave the job.");
	struct metric_family *threshold =
		metricset_family(s, METRIC_GAUGE, "vigil_guard_threshold_ratio", "ratio",
				 "Share of the memory of node, container or job above which the job's guard acts.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct metrics_job *j = &f->job[i];
		uint64_t own = 0;
		for (uint32_t k = 0; k < j->n_ranks; k++)
			own = add_cap(own, j->rank[k].own_bytes);
		/* an ended job holds none: a sum over jobs is of those that live */
		if (j->sampled_unix_ms > 0 && job_is_open(&j->job))
			(void)job_sample(s, used, j, (double)(j->group_bytes ? j->group_bytes : own));
		if (j->job.peak_bytes > 0)
			(void)job_sample(s, peak, j, (double)j->job.peak_bytes);
		if (j->job.limit_bytes > 0)
			(void)job_sample(s, limit, j, (double)j->job.limit_bytes);
		if (j->threshold_ratio > 0)
			(void)job_sample(s, threshold, j, j->threshold_ratio);
	}
}

static void ranks_memory(struct metricset *s, const struct metrics_facts *f)
{
	static const char *const types[] = {"own", "resident", "shared"};
	struct metric_family *memory =
		metricset_family(s, METRIC_GAUGE, "vigil_rank_memory_bytes", "bytes",
				 "Memory of a rank with all its workers. own: what ending it would free.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		for (uint32_t k = 0; job_is_open(&f->job[i].job) && k < f->job[i].n_ranks; k++) {
			const struct metrics_rank *r = &f->job[i].rank[k];
			const uint64_t bytes[] = {r->own_bytes, r->rss_bytes, sub_floor(r->rss_bytes, r->own_bytes)};
			for (size_t t = 0; r->has_use && t < ARRAY_SIZE(types); t++) {
				struct metric_sample *m = rank_sample(s, memory, &f->job[i], r->rank, (double)bytes[t]);
				metricset_label(s, m, "memtype", types[t]);
			}
		}
	}
}

static void ranks_use(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *processes = metricset_family(s, METRIC_GAUGE, "vigil_rank_processes", "",
							   "Living processes of the rank, its workers included.");
	struct metric_family *cpu = metricset_family(s, METRIC_COUNTER, "vigil_rank_cpu_seconds", "seconds",
						     "Processor time of the rank's processes.");
	struct metric_family *read = metricset_family(s, METRIC_COUNTER, "vigil_rank_read_bytes", "bytes",
						      "Bytes that the rank's processes read from disks.");
	struct metric_family *written = metricset_family(s, METRIC_COUNTER, "vigil_rank_written_bytes", "bytes",
							 "Bytes that the rank's processes wrote to disks.");
	struct metric_family *sampled =
		metricset_family(s, METRIC_GAUGE, "vigil_job_sample_timestamp_seconds", "seconds",
				 "When memory, processor time and bytes of the job's ranks were read.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct metrics_job *j = &f->job[i];
		if (j->sampled_unix_ms > 0)
			(void)job_sample(s, sampled, j, seconds_of(j->sampled_unix_ms));
		for (uint32_t k = 0; k < j->n_ranks; k++) {
			const struct metrics_rank *r = &j->rank[k];
			if (!r->has_use)
				continue;
			if (job_is_open(&j->job))
				(void)rank_sample(s, processes, j, r->rank, r->processes);
			(void)rank_sample(s, cpu, j, r->rank, (double)r->cpu_ns / 1e9);
			if (!r->has_io)
				continue;
			(void)rank_sample(s, read, j, r->rank, (double)r->read_bytes);
			(void)rank_sample(s, written, j, r->rank, (double)r->written_bytes);
		}
	}
}

static void ranks_steps(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *steps =
		metricset_family(s, METRIC_COUNTER, "vigil_rank_steps", "",
				 "Steps of the rank by its own output; begins anew with an attempt or an epoch.");
	struct metric_family *total = metricset_family(s, METRIC_GAUGE, "vigil_rank_steps_wanted", "",
						       "Steps after which the rank will be done, by its own output.");
	struct metric_family *moved = metricset_family(s, METRIC_GAUGE, "vigil_last_progress_timestamp_seconds",
						       "seconds", "When the step of the rank was last seen to change.");
	struct metric_family *slower =
		metricset_family(s, METRIC_GAUGE, "vigil_straggler_ratio", "ratio",
				 "How many times slower than the other ranks this one is, while a report says so.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct metrics_job *j = &f->job[i];
		for (uint32_t k = 0; k < j->n_ranks; k++) {
			const struct metrics_rank *r = &j->rank[k];
			if (r->has_step)
				(void)rank_sample(s, steps, j, r->rank, (double)r->step);
			if (r->has_step && r->has_total)
				(void)rank_sample(s, total, j, r->rank, (double)r->total);
			if (r->moved_unix_ms > 0)
				(void)rank_sample(s, moved, j, r->rank, seconds_of(r->moved_unix_ms));
			if (r->slower_ratio > 0)
				(void)rank_sample(s, slower, j, r->rank, r->slower_ratio);
		}
	}
}

static void jobs_progress(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *hang =
		metricset_family(s, METRIC_STATESET, "vigil_hang_state", "", "Whether a running job makes progress.");
	struct metric_family *durations = metricset_family(
		s, METRIC_HISTOGRAM, "vigil_step_duration_seconds", "seconds",
		"Time that a step took, over all ranks; steps between two looks count with their mean.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct metrics_job *j = &f->job[i];
		for (int k = 0; job_is_open(&j->job) && k < METRICS_HANG_MAX; k++) {
			struct metric_sample *m = job_sample(s, hang, j, j->hang == (enum metrics_hang)k);
			metricset_label(s, m, "vigil_hang_state", metrics_hang_name((enum metrics_hang)k));
		}
		if (j->steps.count > 0)
			job_sample(s, durations, j, 0)->histogram = &j->steps;
	}
}

static void jobs_profiles(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *n =
		metricset_family(s, METRIC_COUNTER, "vigil_profiles", "", "Profiles that were made of the job.");
	struct metric_family *took = metricset_family(s, METRIC_COUNTER, "vigil_profile_seconds", "seconds",
						      "Time over which profiles of the job were recorded.");
	for (size_t i = 0; i < f->n_jobs; i++)
		for (size_t k = 0; k < METRICS_PROFILES && f->job[i].profiles[k].kind; k++) {
			const struct metrics_profiles *p = &f->job[i].profiles[k];
			metricset_label(s, job_sample(s, n, &f->job[i], (double)p->n), "kind", p->kind);
			metricset_label(s, job_sample(s, took, &f->job[i], (double)p->took_ns / 1e9), "kind", p->kind);
		}
}

static void jobs_own_cost(struct metricset *s, const struct metrics_facts *f)
{
	static const char *const names[] = {[METRICS_SUPERVISOR] = "supervisor", [METRICS_HELPERS] = "helpers"};
	struct metric_family *cpu = metricset_family(s, METRIC_COUNTER, "vigil_self_cpu_seconds", "seconds",
						     "Processor time of vigil's own living processes of this job.");
	struct metric_family *memory = metricset_family(s, METRIC_GAUGE, "vigil_self_memory_bytes", "bytes",
							"Resident memory of vigil's own processes of this job.");
	for (size_t i = 0; i < f->n_jobs; i++) {
		for (int k = 0; k < METRICS_OWN_MAX; k++) {
			const struct metrics_self *self = &f->job[i].self[k];
			if (!self->known)
				continue;
			metricset_label(s, job_sample(s, cpu, &f->job[i], (double)self->cpu_ns / 1e9), "process",
					names[k]);
			metricset_label(s, job_sample(s, memory, &f->job[i], (double)self->rss_bytes), "process",
					names[k]);
		}
	}
}

void metrics_of_jobs(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *states =
		metricset_family(s, METRIC_GAUGE, "vigil_jobs", "", "Jobs that the store has, by state.");
	struct metric_family *left =
		metricset_family(s, METRIC_GAUGE, "vigil_jobs_left_out", "", "Jobs without metrics of their own here.");
	for (int k = 0; f->has_store && k < METRICS_STATES; k++)
		metricset_label(s, metricset_add(s, states, (double)f->jobs_in_state[k]), "state",
				metrics_state_name(k));
	if (f->has_store)
		(void)metricset_add(s, left, (double)f->jobs_left_out);
	jobs_info(s, f);
	jobs_memory(s, f);
	ranks_memory(s, f);
	ranks_use(s, f);
	ranks_steps(s, f);
	jobs_progress(s, f);
	jobs_profiles(s, f);
	jobs_own_cost(s, f);
}

/* ---- counters over all jobs ---- */

void metrics_of_counts(struct metricset *s, const struct metrics_facts *f)
{
	static const struct {
		const char *name, *help, *label[METRICS_COUNT_LABELS];
	} of[] = {
		[METRICS_KILLS] = {"vigil_kills",
				   "Processes and jobs that something ended, with who did it, by which policy, the "
				   "name of the job, and the cause.",
				   {"killer", "policy", "name", "cause"}},
		[METRICS_INCIDENTS] = {"vigil_incidents", "Incidents of all jobs by kind.", {"kind"}},
		[METRICS_RETRIES] = {"vigil_retries",
				     "Ends of attempts after which vigil retried the job or gave it up.",
				     {"result"}},
		[METRICS_ENDED] = {"vigil_jobs_ended", "Jobs that have ended, by how.", {"state"}},
	};
	for (size_t w = 0; w < ARRAY_SIZE(of); w++) {
		struct metric_family *family = metricset_family(s, METRIC_COUNTER, of[w].name, "", of[w].help);
		for (size_t i = 0; i < f->n_counts; i++) {
			const struct metrics_count *c = &f->count[i];
			if ((size_t)c->what != w)
				continue;
			struct metric_sample *m = metricset_add(s, family, (double)c->n);
			m->incident = c->incident;
			m->incident_unix_ms = c->time_unix_ms;
			for (size_t k = 0; k < METRICS_COUNT_LABELS && of[w].label[k]; k++)
				metricset_label(s, m, of[w].label[k], c->label[k]);
		}
	}
}

/* ---- the node ---- */

static void processes_memory(struct metricset *s, const struct metrics_facts *f)
{
	static const char *const types[] = {"own", "resident", "shared", "swap", "pss"};
	struct metric_family *memory = metricset_family(s, METRIC_GAUGE, "vigil_process_memory_bytes", "bytes",
							"Memory of one process of a job (--processes).");
	struct metric_family *left = metricset_family(s, METRIC_GAUGE, "vigil_processes_left_out", "",
						      "Processes of jobs that are not listed (--processes).");
	for (size_t i = 0; i < f->n_processes; i++) {
		const struct metrics_process *p = &f->process[i];
		const uint64_t bytes[] = {p->own_bytes, p->rss_bytes, p->shared_bytes, p->swap_bytes, p->pss_bytes};
		char pid[16], rank[16];
		TEXT_FORMAT(pid, "%d", (int)p->pid);
		TEXT_FORMAT(rank, "%" PRId32, p->rank);
		for (size_t t = 0; t < ARRAY_SIZE(types) - (p->has_pss ? 0 : 1); t++) {
			struct metric_sample *m = metricset_add(s, memory, (double)bytes[t]);
			metricset_label(s, m, "job_id", p->job);
			metricset_label(s, m, "rank", p->rank == NO_RANK ? "none" : rank);
			metricset_label(s, m, "pid", pid);
			metricset_label(s, m, "role", p->role);
			label_named(s, m, "process", p->name);
			metricset_label(s, m, "memtype", types[t]);
		}
	}
	if (f->n_processes > 0)
		(void)metricset_add(s, left, (double)f->processes_left_out);
}

void metrics_of_node(struct metricset *s, const struct metrics_facts *f)
{
	struct metric_family *ratio =
		metricset_family(s, METRIC_GAUGE, "vigil_node_memory_used_ratio", "ratio",
				 "Used share of the node's memory, without cache that the kernel can drop.");
	struct metric_family *used =
		metricset_family(s, METRIC_GAUGE, "vigil_node_memory_used_bytes", "bytes", "Used memory of the node.");
	struct metric_family *total =
		metricset_family(s, METRIC_GAUGE, "vigil_node_memory_total_bytes", "bytes", "Memory of the node.");
	struct metric_family *box = metricset_family(s, METRIC_GAUGE, "vigil_container_memory_used_ratio", "ratio",
						     "The same of the fullest limited control group that vigil is in.");
	struct metric_family *limit = metricset_family(s, METRIC_GAUGE, "vigil_container_memory_limit_bytes", "bytes",
						       "The limit of that group.");
	struct metric_family *build = metricset_family(s, METRIC_INFO, "vigil_build", "", "The version of vigil.");
	if (f->has_node) {
		(void)metricset_add(s, ratio, ratio_of(f->node_used_bytes, f->node_total_bytes));
		(void)metricset_add(s, used, (double)f->node_used_bytes);
		(void)metricset_add(s, total, (double)f->node_total_bytes);
	}
	if (f->has_container) {
		(void)metricset_add(s, box, ratio_of(f->container_used_bytes, f->container_total_bytes));
		(void)metricset_add(s, limit, (double)f->container_total_bytes);
	}
	metricset_label(s, metricset_add(s, build, 1), "version", VIGIL_VERSION);
	processes_memory(s, f);
}
