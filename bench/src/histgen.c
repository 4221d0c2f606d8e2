/*
 * Writes a state directory as a month of work leaves it, by vigil's own writers and faster than time goes:
 *
 *	histgen STATE DAYS JOBS RANKS PROCESSES
 *
 * One job of DAYS days with RANKS ranks and PROCESSES processes, looked at once a second, the ranks' GPUs each 10 s,
 * with a step each second; and JOBS jobs before it that took some hours each, a third of which died with a report.
 * Prints what the series of the long job cost: seconds of processor time for a day of samples, and its bytes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/rank.h"
#include "tell/store/series.h"
#include "tell/store/store.h"

#define DAY_S UINT64_C(86400)
#define REPORT_BYTES (60 * 1024)
#define LIFE_S 7200 /* a data loader lives so long */
#define LOADER_ROLE "dataloader"

static struct {
	const char *state;
	uint64_t days, jobs, ranks, processes;
	int64_t now_ms;
	struct store *store;
} gen;

static int fail(const char *what, int r)
{
	(void)fprintf(stderr, "histgen: %s: %s\n", what, strerror(-r));
	return 1;
}

static double cpu_s(void)
{
	struct timespec t;
	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec / 1e9 : 0;
}

static struct job job_of(uint64_t i, int64_t started_ms, int64_t ended_ms, bool died)
{
	struct job j = {.uid = getuid(),
			.nproc = (uint32_t)gen.ranks,
			.state = died ? JOB_FAILED : JOB_DONE,
			.started_unix_ms = started_ms,
			.ended_unix_ms = ended_ms,
			.has_exit = true,
			.exit_status = died ? 137 : 0,
			.peak_bytes = 40 * GIB,
			.memory_kills = died};
	TEXT_FORMAT(j.id, "%s-%08llx", i ? "hist" : "long", (unsigned long long)i);
	TEXT_COPY(j.name, i ? "hist" : "long");
	TEXT_COPY(j.command, "python train.py --model large");
	TEXT_COPY(j.node, "node-0");
	TEXT_COPY(j.user, "user");
	TEXT_FORMAT(j.log_dir, "%s/jobs/%s", gen.state, j.id);
	return j;
}

static void sample_at(struct series_sample *s, uint64_t mono_s, int64_t time_ms)
{
	*s = (struct series_sample){.time_unix_ms = time_ms,
				    .mono_ns = mono_s * NS_PER_S,
				    .node_used_bytes = 50 * GIB + mono_s % 977 * MIB,
				    .node_total_bytes = 512 * GIB,
				    .job_bytes = 40 * GIB + mono_s % 983 * MIB,
				    .n_lanes = (uint32_t)MIN(gen.ranks + 1, (uint64_t)SERIES_LANES)};
	for (uint32_t i = 0; i < s->n_lanes; i++)
		s->lane[i] = (struct series_lane){.rank = (int32_t)i - 1,
						  .has_io = true,
						  .processes = (uint32_t)(gen.processes / s->n_lanes),
						  .cpu_ns = mono_s * NS_PER_S * (i + 1),
						  .own_bytes = 4 * GIB + mono_s % (100 + i) * MIB,
						  .rss_bytes = 5 * GIB,
						  .read_bytes = mono_s * MIB,
						  .written_bytes = mono_s * KIB};
}

static int steps_add(struct series_writer *w, const struct series_sample *s, uint64_t step)
{
	static struct series_steps steps;
	steps = (struct series_steps){.time_unix_ms = s->time_unix_ms, .mono_ns = s->mono_ns};
	for (uint32_t i = 1; i < s->n_lanes; i++)
		steps.of[steps.n++] = (struct series_step){.rank = s->lane[i].rank, .step = step, .total = 1000000000};
	return series_add_steps(w, &steps);
}

static int devices_add(struct series_writer *w, const struct series_sample *s)
{
	static struct series_devices d;
	d = (struct series_devices){.time_unix_ms = s->time_unix_ms, .mono_ns = s->mono_ns};
	for (uint32_t i = 0; i < MIN(s->n_lanes - 1, 8U); i++)
		d.of[d.n++] = (struct series_device){.index = i,
						     .rank = (int32_t)i,
						     .has = SERIES_HAS_BUSY | SERIES_HAS_USED | SERIES_HAS_TOTAL,
						     .busy_percent = 90 + i,
						     .used_bytes = 60 * GIB + s->mono_ns % 7 * GIB,
						     .total_bytes = 80 * GIB};
	return series_add_devices(w, &d);
}

static int process_add(struct series_writer *w, uint64_t number, int64_t started_ms, int64_t ended_ms)
{
	struct series_process p = {.pid = (pid_t)(1000 + number % 4000000),
				   .ppid = 1000,
				   .start_ticks = 100 + number,
				   .rank = (int32_t)(number % MAX(gen.ranks, UINT64_C(1))),
				   .started_unix_ms = started_ms,
				   .ended_unix_ms = ended_ms};
	bool is_main = number < gen.ranks;
	TEXT_COPY(p.role, is_main ? "main" : LOADER_ROLE);
	TEXT_COPY(p.name, is_main ? "python" : "pt_data_worker");
	return series_add_process(w, &p);
}

/* The processes of a series: those of ranks for all its time, loaders come and go. */
static int processes_at(struct series_writer *w, uint64_t second, uint64_t seconds, int64_t time_ms)
{
	int r = 0;
	for (uint64_t k = 0; r == 0 && second == 0 && k < gen.processes; k++)
		r = process_add(w, k, time_ms, 0);
	if (second == 0 || second % LIFE_S || second >= seconds)
		return r;
	for (uint64_t k = gen.ranks; r == 0 && k < gen.processes; k++) {
		uint64_t round = second / LIFE_S * gen.processes;
		r = process_add(w, round - gen.processes + k, time_ms - LIFE_S * 1000, time_ms);
		if (r == 0)
			r = process_add(w, round + k, time_ms, 0);
	}
	return r;
}

/* each_s: between two looks. */
static int series_write(const struct job *j, uint64_t each_s, bool loaders)
{
	static struct series_sample s;
	char path[300];
	struct series_writer *w = NULL;
	uint64_t seconds = (uint64_t)(j->ended_unix_ms - j->started_unix_ms) / 1000;
	TEXT_FORMAT(path, "%s/%s", j->log_dir, SERIES_FILE);
	int r = file_mkdirs(j->log_dir, 0700);
	if (r == 0)
		r = series_create(path, SERIES_MAX_BYTES, &w);
	for (uint64_t at = 0; r == 0 && at < seconds; at += each_s) {
		sample_at(&s, at + 1, j->started_unix_ms + (int64_t)at * 1000);
		r = loaders || at == 0 ? processes_at(w, at, seconds, s.time_unix_ms) : 0;
		if (r == 0)
			r = series_add_sample(w, &s);
		if (r == 0)
			r = steps_add(w, &s, at);
		if (r == 0 && at % 10 == 0)
			r = devices_add(w, &s);
		if (r == 0)
			r = series_flush(w);
	}
	w = series_close(w);
	return r;
}

static int report_put(const struct job *j, char *text)
{
	char id[80];
	TEXT_FORMAT(id, "i-%s", j->id);
	struct store_incident i = {.id = id,
				   .job = j->id,
				   .kind = "memory",
				   .summary = "rank 3 was ended: the job was near its limit",
				   .json = text,
				   .time_unix_ms = j->ended_unix_ms,
				   .victim_pid = 1003};
	struct buf b = {.text = text, .cap = REPORT_BYTES};
	buf_printf(&b,
		   "{\"schema\":\"vigil.incident/1\",\"id\":\"%s\",\"job\":\"%s\",\"kind\":\"memory\","
		   "\"time_unix_ms\":%lld,\"summary\":\"%s\",\"evidence\":[",
		   id, j->id, (long long)j->ended_unix_ms, i.summary);
	for (int k = 0; k < 400; k++)
		buf_printf(&b, "%s{\"text\":\"process %d held 4.0 GiB of its own and grew by 12 MiB/s\"}", k ? "," : "",
			   1000 + k);
	buf_printf(&b, "]}");
	return store_put_incident(gen.store, &i);
}

static int rows_put(const struct job *j, char *text, uint64_t events)
{
	int r = store_put_job(gen.store, j);
	for (uint64_t k = 0; r == 0 && k < gen.ranks; k++) {
		struct job_process p = {.pid = (pid_t)(1000 + k),
					.ppid = 999,
					.start_ticks = 100 + k,
					.rank = (int32_t)k,
					.own_bytes = 4 * GIB,
					.rss_bytes = 5 * GIB,
					.started_unix_ms = j->started_unix_ms,
					.ended_unix_ms = j->ended_unix_ms};
		TEXT_COPY(p.job, j->id);
		TEXT_COPY(p.role, "main");
		TEXT_COPY(p.name, "python");
		TEXT_COPY(p.command, j->command);
		r = store_put_process(gen.store, &p);
	}
	for (uint64_t k = 0; r == 0 && k < events; k++) {
		uint64_t seq;
		int64_t all_ms = j->ended_unix_ms - j->started_unix_ms;
		struct job_event e = {.time_unix_ms = j->started_unix_ms + all_ms / (int64_t)events * (int64_t)k};
		TEXT_COPY(e.job, j->id);
		TEXT_COPY(e.kind, k == 0 ? "job_start" : k % 5 ? "suspect" : "freeze");
		TEXT_FORMAT(e.text, "event %llu of this job, as long as they usually are", (unsigned long long)k);
		r = store_add_event(gen.store, &e, &seq);
	}
	return r == 0 && j->state == JOB_FAILED ? report_put(j, text) : r;
}

static int short_jobs(char *text)
{
	int64_t span_ms = (int64_t)(gen.days * DAY_S) * 1000;
	int r = store_begin(gen.store);
	for (uint64_t i = 1; r == 0 && i <= gen.jobs; i++) {
		int64_t started_ms = gen.now_ms - span_ms + span_ms / (int64_t)(gen.jobs + 1) * (int64_t)i;
		struct job j = job_of(i, started_ms, started_ms + (int64_t)(1 + i % 8) * 3600 * 1000, i % 3 == 0);
		r = rows_put(&j, text, 20);
		if (r == 0)
			r = series_write(&j, 5, false);
	}
	return r == 0 ? store_commit(gen.store) : r;
}

static int long_job(char *text)
{
	struct stat st;
	char path[300];
	struct job j = job_of(0, gen.now_ms - (int64_t)(gen.days * DAY_S) * 1000, gen.now_ms, false);
	double began = cpu_s();
	int r = series_write(&j, 1, true);
	double took = cpu_s() - began;
	if (r == 0)
		r = rows_put(&j, text, 20000);
	TEXT_FORMAT(path, "%s/%s", j.log_dir, SERIES_FILE);
	if (r == 0 && stat(path, &st) < 0)
		r = -errno;
	if (r == 0)
		printf("{\"job\":\"%s\",\"cpu_s_per_day\":%.3f,\"core_percent\":%.5f,\"bytes\":%lld}\n", j.id,
		       took / (double)gen.days, 100 * took / (double)(gen.days * DAY_S), (long long)st.st_size);
	return r;
}

int main(int argc, char **argv)
{
	char note[256];
	cleanup(freep) char *text = malloc(REPORT_BYTES);
	uint64_t *const numbers[] = {&gen.days, &gen.jobs, &gen.ranks, &gen.processes};
	bool fine = argc == 6 && text;
	for (size_t i = 0; fine && i < ARRAY_SIZE(numbers); i++)
		fine = span_u64(span_of(argv[i + 2]), numbers[i]) == 0;
	if (!fine || gen.days == 0) {
		(void)fputs("usage: histgen STATE DAYS JOBS RANKS PROCESSES\n", stderr);
		return 2;
	}
	gen.state = argv[1];
	gen.now_ms = clock_unix_ms();
	int r = store_open(gen.state, STORE_WRITE, &gen.store, note, NULL);
	if (r != 0)
		return fail("cannot open the store", r);
	r = short_jobs(text);
	if (r == 0)
		r = long_job(text);
	gen.store = store_close(gen.store);
	return r == 0 ? 0 : fail("cannot write", r);
}
