#include "agent/incident/orphan.h"

#include <signal.h>
#include <string.h>

#include "agent/incident/orphancase.h"
#include "agent/incident/recorder.h"
#include "agent/incident/story.h"
#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"

static const char *kept_in;
static struct notifier *told;

static void orphan_describe(const struct guard_shm *shm, const struct guard_job *g, size_t job, size_t ended,
		     struct incident *in)
{
	char used[16];
	in->kind = INCIDENT_KILLED_BY;
	in->killer = KILLER_UNKNOWN;
	in->time_unix_ms = clock_unix_ms();
	in->attempt = g->attempt;
	TEXT_COPY(in->job, g->id);
	host_name(in->node, sizeof(in->node));
	in->victim.valid = true;
	in->victim.pid = shm->supervisor;
	in->victim.rank = NO_RANK;
	in->victim.signal = SIGKILL;
	TEXT_COPY(in->victim.name, "vigil");
	TEXT_FORMAT(in->summary, "vigil itself (pid %d), which kept watch over %s, was killed or crashed",
		    (int)shm->supervisor, g->name);
	TEXT_COPY(in->cause.id, "supervisor_killed");
	in->cause.confidence = CONFIDENCE_HIGH;
	if (g->unit.reaper)
		TEXT_FORMAT(in->cause.text,
			    "The process that kept watch over the job ended without a word, so its output had nowhere "
			    "to go; the guard, which was left, ended %zu processes of the job.",
			    ended);
	else
		TEXT_COPY(in->cause.text,
			  "The process that kept watch ended without a word; the job goes on, unwatched.");
	incident_advice_add(in,
			    "look for who killed pid %d: an administrator, a scheduler's limit, or the kernel's OOM "
			    "killer (dmesg)",
			    (int)shm->supervisor);
	if (g->unit.reaper)
		incident_advice_add(in, "start the job again; it continues from its last checkpoint, if it writes any");
	incident_evidence_add(in, "guard", "shared ring", in->time_unix_ms, "the job held %s when last seen",
			      size_format(shm->now.job_bytes[job], used));
}

/* The job's row after the death of its supervisor; cause: the incident that is shown as its last. */
static void row_ended(struct recorder *k, const struct guard_job *g, struct job *row, const char *cause)
{
	row->state = g->unit.reaper ? JOB_FAILED : JOB_LOST;
	row->ended_unix_ms = clock_unix_ms();
	row->pid = 0;
	TEXT_COPY(row->last_incident, cause);
	job_stopped_look(k->store, row);
	recorder_job(k, row);
}

/* Report what the supervisor had not stored, then its own death, if it still had something to watch. */
static void orphan_tell(struct recorder *k, struct guard_shm *shm, size_t job, size_t ended)
{
	static struct incident in;
	const struct guard_job *g = &shm->jobs[job];
	struct job found, *row = k->store && store_find_job(k->store, g->id, &found) == 0 ? &found : NULL;
	uint32_t kills = orphancase_replay(shm, job, k, row, ended);
	if (kills > 0) { /* its report tells of the supervisor's end too */
		if (row)
			row_ended(k, g, row, row->last_incident);
		return;
	}
	if (!g->unit.active)
		return; /* between two attempts, or over */
	memset(&in, 0, sizeof(in));
	orphan_describe(shm, g, job, ended, &in);
	recorder_incident_id(k, g->id, in.id, sizeof(in.id));
	recorder_incident(k, &in, NULL, true);
	if (!row)
		return;
	row->other_deaths++;
	row_ended(k, g, row, in.id);
	recorder_event(k, row, "vigil_killed", in.id, "%s", in.summary);
}

static void orphan_report(struct guard_shm *shm, size_t job, size_t ended)
{
	struct recorder k;
	uint32_t n = 0;
	if (!kept_in || shm->jobs[job].id[0] == '\0')
		return;
	recorder_open(&k, kept_in, shm->jobs[job].id);
	recorder_open_store(&k);
	k.notifier = told;
	if (k.store && store_count_incidents(k.store, shm->jobs[job].id, &n) == 0)
		k.incidents = n;
	orphan_tell(&k, shm, job, ended);
	recorder_close(&k);
	if (told)
		(void)notifier_tick(told);
}

void orphan_prepare(const char *state_dir, struct notifier *notifier)
{
	told = notifier;
	kept_in = state_dir;
	guardloop_on_orphan(orphan_report);
}
