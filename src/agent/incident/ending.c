#include "agent/incident/ending.h"

#include "agent/jobs/jobran.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"

/* The end of a job without a stored incident, in the form of an incident. */
static struct incident incident_of(const struct job *j)
{
	struct incident i = {.attempt = j->attempt, .victim = {.rank = NO_RANK}, .time_unix_ms = j->ended_unix_ms};
	TEXT_COPY(i.job, j->id);
	TEXT_COPY(i.node, j->node);
	TEXT_COPY(i.log_dir, j->log_dir);
	return i;
}

static void ending_done(const struct job *j, struct incident *i)
{
	char ran[24];
	i->kind = INCIDENT_CLEAN_EXIT;
	i->killer = KILLER_NONE;
	if (!j->has_exit) { /* adopted: the child of another process */
		i->kind = INCIDENT_NONE;
		TEXT_FORMAT(i->summary,
			    "Job %s has ended after %s. Nothing was seen that ended it; its exit status is known only "
			    "to its parent, because vigil did not start it.",
			    j->id, job_ran(j, 0, ran));
		return;
	}
	TEXT_FORMAT(i->summary, "Job %s ended as it should, with exit status 0 after %s.", j->id, job_ran(j, 0, ran));
}

static void ending_failed(const struct job *j, struct incident *i)
{
	static const int signals = 128; /* as a shell says it: so much more than the signal that ended it */
	i->kind = INCIDENT_ERROR_EXIT;
	i->killer = j->has_exit && j->exit_status < signals ? KILLER_NONE : KILLER_UNKNOWN;
	if (j->has_exit) {
		i->victim.valid = i->victim.has_exit_code = true;
		i->victim.exit_code = j->exit_status;
		TEXT_FORMAT(i->summary, "Job %s ended with exit status %d; no report was written about it.", j->id,
			    j->exit_status);
	} else {
		TEXT_FORMAT(i->summary, "Job %s failed; no report was written about it.", j->id);
	}
	incident_advice_add(i, "Read what it printed last: vigil logs %s --tail 50", j->id);
}

/* The vigil in charge of the job is gone: reports what is known. */
static void ending_lost(const struct job *j, struct incident *i)
{
	if (j->ended_unix_ms > 0) { /* that a vigil was killed is an incident, whose report may be missing here */
		const bool missing = j->last_incident[0] != '\0';
		TEXT_FORMAT(i->summary, "Vigil %s job %s; what became of it since is not known.",
			    missing ? "watches no longer over" : "was told to stop watching", j->id);
		i->kind = INCIDENT_NONE;
		i->killer = KILLER_NONE;
		return;
	}
	int64_t boot_unix_ms = clock_unix_ms() - (int64_t)(clock_boot_ns() / NS_PER_MS);
	bool restarted = j->started_unix_ms > 0 && j->started_unix_ms < boot_unix_ms;
	char when[24];
	i->kind = INCIDENT_KILLED_BY;
	i->killer = KILLER_UNKNOWN;
	TEXT_COPY(i->cause.id, restarted ? "machine_restarted" : "supervisor_lost");
	i->cause.confidence = restarted ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	TEXT_FORMAT(i->summary,
		    "Job %s is lost: the vigil in charge of it (pid %ld) is gone and did not say how the job ended.",
		    j->id, (long)j->supervisor_pid);
	if (restarted) {
		TEXT_FORMAT(i->cause.text,
			    "The machine was started at %s, after the job: it was restarted or lost power while the "
			    "job ran.",
			    time_format(boot_unix_ms, when));
		incident_evidence_add(i, "clock", "CLOCK_BOOTTIME", boot_unix_ms, "the machine was started");
		incident_advice_add(i, "Look at the end of the previous boot's journal: journalctl -b -1 -e");
	} else {
		TEXT_FORMAT(i->cause.text,
			    "Vigil itself was ended, most likely by SIGKILL, which no program can answer. The job's "
			    "processes may have been ended with it or may still run: vigil ps %s",
			    j->id);
		incident_advice_add(i, "Look for what ended it: journalctl -k --since '%s'",
				    time_format(j->started_unix_ms, when));
		incident_advice_add(i, "Or its end could not be kept: see whether the disk of the state directory is "
				       "full (df)");
	}
	incident_advice_add(i, "Read what the job printed last: vigil logs %s --tail 50", j->id);
}

bool job_ending(const struct job *j, struct incident *ret)
{
	if (job_is_open(j))
		return false;
	*ret = incident_of(j);
	if (j->state == JOB_DONE)
		ending_done(j, ret);
	else if (j->state == JOB_LOST)
		ending_lost(j, ret);
	else
		ending_failed(j, ret);
	return true;
}
