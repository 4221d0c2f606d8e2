#include "agent/incident/leftcase.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "agent/host/host.h"
#include "agent/incident/recorder.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

/* The largest first report that is read back: some hundred stacks. */
#define FIRST_REPORT_MOST (4 * MIB)
/* So many incidents of one job are looked at. */
#define INCIDENTS_MOST 64

/* Store the first report of a memory kill that nobody completed. Returns whether there was one. */
static bool first_report_store(struct recorder *k, const char *id)
{
	char path[PATH_MAX], summary[300];
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *all = NULL;
	struct fault f = {.text = ""};
	size_t len = 0;
	TEXT_FORMAT(path, "%s/incidents/%s.txt", k->job_dir, id);
	bool complete = access(path, F_OK) == 0; /* its files are, and only the store lacks it */
	TEXT_FORMAT(path, "%s/incidents/%s.json", k->job_dir, id);
	if (file_slurp(AT_FDCWD, path, FIRST_REPORT_MOST, &text, &len) != 0 || js_parse(text, len, &all, &f) != 0)
		return false;
	const struct js *victim = js_get(all, "victim");
	int pid = (int)js_get_i64(victim, "pid", 0);
	TEXT_FORMAT(summary,
		    "memory was over its threshold and vigil was about to end %s (pid %d) when vigil itself was killed "
		    "with all its helpers; whether it still did is not known",
		    js_get_text(victim, "name", "a process"), pid);
	if (complete)
		TEXT_COPY(summary, js_get_text(all, "summary", ""));
	js_put_text(all, "summary", summary);
	cleanup(freep) char *told = js_text(all, 0);
	if (!told || !k->store)
		return false;
	const struct store_incident i = {
		.id = id,
		.job = js_get_text(all, "job", ""),
		.attempt = (uint32_t)js_get_i64(all, "attempt", 0),
		.kind = js_get_text(all, "kind", "memory_kill"),
		.time_unix_ms = js_get_i64(all, "time_unix_ms", clock_unix_ms()),
		.victim_pid = pid,
		.summary = summary,
		.json = told,
	};
	return store_put_incident(k->store, &i) == 0;
}

/* Store what lies in the folder only; the ids are numbered from 1 without a gap. */
static uint32_t first_reports_store(struct recorder *k, const char *job, char last[static 80])
{
	uint32_t done = 0;
	for (uint32_t n = k->incidents + 1; n <= k->incidents + INCIDENTS_MOST; n++) {
		char id[80], path[PATH_MAX];
		TEXT_FORMAT(id, "%s.%u", job, n);
		TEXT_FORMAT(path, "%s/incidents/%s.json", k->job_dir, id);
		if (access(path, F_OK) != 0)
			break;
		if (!first_report_store(k, id))
			continue;
		(void)text_format(last, 80, "%s", id);
		done++;
	}
	return done;
}

static void describe(const struct job *row, const struct leftcase_facts *facts, struct incident *in)
{
	*in = (struct incident){.kind = INCIDENT_KILLED_BY,
				.killer = KILLER_UNKNOWN,
				.time_unix_ms = clock_unix_ms(),
				.attempt = row->attempt};
	TEXT_COPY(in->job, row->id);
	host_name(in->node, sizeof(in->node));
	in->victim.valid = true;
	in->victim.pid = facts->supervisor;
	in->victim.rank = NO_RANK;
	in->victim.signal = SIGKILL;
	TEXT_COPY(in->victim.name, "vigil");
	TEXT_FORMAT(in->summary, "vigil itself (pid %d), which kept watch over %s, was killed with all its helpers",
		    (int)facts->supervisor, row->name);
	TEXT_COPY(in->cause.id, "supervisor_killed");
	in->cause.confidence = CONFIDENCE_HIGH;
	TEXT_FORMAT(in->cause.text,
		    "All processes of vigil ended at once and without a word, so nobody saw how the job went on. This "
		    "was found by the next vigil, at the time of this report. The kernel had sent SIGTERM to the ranks "
		    "when the last of them was gone.%s",
		    facts->lifted ? " The limits that vigil had set for the job were lifted then." : "");
	incident_evidence_add(in, "cgroup", "cgroup.procs", in->time_unix_ms, "%zu processes of the job still run",
			      facts->running);
	incident_advice_add(in,
			    "look for who killed pid %d and its helpers: an administrator, a scheduler's limit, or the "
			    "kernel's OOM killer (dmesg)",
			    (int)facts->supervisor);
	incident_advice_add(in, "%s",
			    facts->running ? "the job goes on unwatched; 'vigil watch' takes it over"
					   : "start the job again; it continues from its last checkpoint, if it "
					     "writes any");
}

/* False: the job's end is known, or told. A job whose vigil died before it was stored gets a row of what is known. */
static bool row_find(struct recorder *k, const char *job, const struct leftcase_facts *facts, struct job *ret)
{
	if (!k->store)
		return false;
	if (store_find_job(k->store, job, ret) == 0)
		return job_is_open(ret);
	if (k->incidents > 0)
		return false;
	*ret = (struct job){.state = JOB_STARTING, .supervisor_pid = facts->supervisor, .nproc = 1};
	TEXT_COPY(ret->id, job);
	TEXT_COPY(ret->name, job);
	TEXT_COPY(ret->log_dir, k->job_dir);
	host_name(ret->node, sizeof(ret->node));
	host_user(ret->user, sizeof(ret->user));
	ret->uid = geteuid();
	ret->started_unix_ms = clock_unix_ms();
	return true;
}

bool leftcase_tell(const char *state_dir, const char *job, const struct leftcase_facts *facts)
{
	static struct incident in; /* large */
	char last[80] = "";
	struct recorder k;
	struct job row;
	recorder_open(&k, state_dir, job);
	k.complained = true; /* no job goes on; whoever reads tells what is wrong with the store */
	recorder_open_store(&k);
	k.complained = false;
	uint32_t n = 0;
	if (k.store && store_count_incidents(k.store, job, &n) == 0)
		k.incidents = n;
	bool tell = row_find(&k, job, facts, &row);
	if (tell) {
		uint32_t kills = first_reports_store(&k, row.id, last);
		if (kills == 0) {
			describe(&row, facts, &in);
			recorder_incident_id(&k, row.id, in.id, sizeof(in.id));
			recorder_incident(&k, &in, NULL, false);
			TEXT_COPY(last, in.id);
			row.other_deaths++;
		}
		row.state = JOB_LOST;
		row.ended_unix_ms = clock_unix_ms();
		row.pid = 0;
		row.memory_kills += kills;
		TEXT_COPY(row.last_incident, last);
		recorder_job(&k, &row);
		recorder_event(&k, &row, "vigil_killed", last, "vigil itself (pid %d) was killed with all its helpers",
			       (int)facts->supervisor);
	}
	recorder_close(&k);
	return tell;
}
