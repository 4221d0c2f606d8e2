#include "agent/incident/orphancase.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "judge/memory/advice.h"

/* The largest first report that is read back: some hundred stacks. */
#define FIRST_REPORT_MOST (4 * MIB)

/* The victims' fate is known: they were killed by the guard, or by whoever carried its case through. */
static bool is_unstored_kill(const struct guard_case *c, size_t job)
{
	uint32_t phase = atomic_load(&c->phase);
	bool kill = phase == CASE_BEGUN || phase == CASE_DECIDED || phase == CASE_KILLED || phase == CASE_DONE;
	return kill && c->number > 0 && c->job == job && !atomic_load(&c->stored);
}

/* Text of the stacks in the first report, which was written while the victims were frozen. */
static char *stacks_kept(const struct recorder *k, const char *id)
{
	char path[600];
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *all = NULL;
	struct fault f = {.text = ""};
	size_t len = 0;
	TEXT_FORMAT(path, "%s/incidents/%s.json", k->job_dir, id);
	if (file_slurp(AT_FDCWD, path, FIRST_REPORT_MOST, &text, &len) != 0 || js_parse(text, len, &all, &f) != 0)
		return NULL;
	const struct js *stacks = js_get(all, "stacks");
	return stacks && js_len(stacks) > 0 ? js_text(stacks, 0) : NULL;
}

static void replay_one(const struct guard_shm *shm, const struct guard_case *c, struct recorder *k, struct job *row,
		       size_t left)
{
	static struct incident in; /* large */
	struct attachments parts = {.heap = NULL};
	in = c->incident;
	host_name(in.node, sizeof(in.node));
	host_ip(in.node_ip, sizeof(in.node_ip));
	if (in.id[0])
		k->incidents++;
	else
		recorder_incident_id(k, in.job, in.id, sizeof(in.id));
	in.victim.signal = SIGKILL;
	incident_evidence_add(
		&in, "guard", "shared ring", clock_unix_ms(),
		"vigil's supervisor (pid %d) was killed before it had stored this; the report is replayed "
		"from what it left, and %zu processes of the job were ended for want of a supervisor",
		(int)shm->supervisor, left);
	advice_memory_kill(&in, row ? row->nproc : 0);
	parts.hang_stacks = stacks_kept(k, in.id);
	recorder_incident(k, &in, &parts, true);
	attachments_done(&parts);
	if (!row)
		return;
	row->memory_kills++;
	TEXT_COPY(row->last_incident, in.id);
	recorder_event(k, row, "memory_kill", in.id, "%s", in.summary);
}

uint32_t orphancase_replay(struct guard_shm *shm, size_t job, struct recorder *k, struct job *row, size_t left)
{
	uint32_t last = atomic_load(&shm->cases_n), done = 0;
	uint32_t first = last > GUARD_CASES ? last - GUARD_CASES : 0;
	for (uint32_t number = first + 1; number <= last; number++) {
		struct guard_case *c = &shm->cases[(number - 1) % GUARD_CASES];
		if (c->number != number || !is_unstored_kill(c, job))
			continue;
		replay_one(shm, c, k, row, left);
		atomic_store(&c->stored, 1);
		done++;
	}
	return done;
}
