#include "agent/incident/raycase.h"

#include <string.h>

#include "base/buf.h"
#include "model/jobs/raytitle.h"

#define LOOK_NS NS_PER_S
#define WAIT_NS (60 * NS_PER_S)

void raycases_done(struct raycases *r)
{
	raylogs_done(&r->logs);
	rayoom_done(&r->oom);
	*r = RAYCASES_NONE;
}

void raycases_learn(struct raycases *r, const struct world *w, pid_t worker)
{
	struct rayworker of;
	if (r->logs.fd < 0 && rayworker_read(w, worker, &of))
		ignore(raylogs_open(w, worker, of.logs, &r->logs), "the next worker may tell");
}

void raycases_victim(const struct raycases *r, struct incident *in)
{
	struct rayworker worker;
	struct raylogs_title title;
	if (r->logs.fd < 0 || !in->victim.valid || in->victim.pid <= 0 || in->victim.ray_worker_id[0] ||
	    !span_starts(span_of(in->victim.name), "ray::") ||
	    raylogs_worker(&r->logs, in->victim.pid, &worker, &title) != 0)
		return;
	TEXT_COPY(in->victim.ray_worker_id, worker.worker_id);
	TEXT_COPY(in->victim.ray_job_id, worker.job_id);
	TEXT_COPY(in->victim.ray_logs, worker.logs);
	if (!title.title[0])
		return;
	/* The kernel has 15 bytes of the name, with the method of an actor; the log has the whole name without. */
	if (!span_starts(span_of(in->victim.name), title.title))
		TEXT_COPY(in->victim.name, title.title);
	TEXT_COPY(in->victim.command, title.title);
	incident_evidence_add(in, "ray_worker", "Ray's logs", in->time_unix_ms,
			      "process %d was worker %s and ran %s, by the file of its output", (int)in->victim.pid,
			      worker.worker_id, title.title);
}

bool raycase_name(const struct incident *in, char *dst, size_t cap)
{
	struct raytitle title;
	if (!in->victim.ray_logs[0] || !raytitle_of(span_of(in->victim.command), &title))
		return false;
	span_copy(title.name, dst, cap);
	return true;
}

void raycases_expect(struct raycases *r, const struct incident *in, uint64_t now_ns)
{
	char name[sizeof(in->victim.command)];
	struct raycase *c = &r->wait[0];
	if (r->logs.fd < 0 || in->ray_retry.valid || !raycase_name(in, name, sizeof(name)))
		return;
	for (size_t i = 0; i < RAYCASES; i++)
		if (!r->wait[i].incident[0] || (c->incident[0] && r->wait[i].until_ns < c->until_ns))
			c = &r->wait[i]; /* a free place, or that of the oldest */
	TEXT_COPY(c->incident, in->id);
	c->until_ns = now_ns + WAIT_NS;
}

bool raycases_waits(const struct raycases *r)
{
	for (size_t i = 0; i < RAYCASES; i++)
		if (r->wait[i].incident[0])
			return true;
	return false;
}

void raycase_tell(struct incident *in, const struct rayretry *again)
{
	char left[48] = "";
	in->ray_retry.valid = true;
	TEXT_COPY(in->ray_retry.task_id, again->task_id);
	in->ray_retry.attempt = again->attempt;
	in->ray_retry.has_left = again->has_left;
	in->ray_retry.left = again->left;
	if (again->has_left && again->left < 0)
		TEXT_COPY(left, "; retries without end are left");
	else if (again->has_left)
		TEXT_FORMAT(left, "; retries left: %lld", (long long)again->left);
	incident_evidence_add(in, "ray_retry", "the driver's log", in->time_unix_ms,
			      "Ray runs %s again, attempt %llu of task %s%s", in->victim.name,
			      (unsigned long long)again->attempt, again->task_id, left);
}

/* The log may tell of it later: false. */
static bool retry_found(void *ctx, struct incident *in)
{
	const struct raycases *r = ctx;
	char name[sizeof(in->victim.command)];
	struct rayretry again;
	if (!raycase_name(in, name, sizeof(name)) ||
	    rayretry_look(&r->logs, in->victim.ray_job_id, name, in->time_unix_ms, &again) != 0)
		return false;
	raycase_tell(in, &again);
	return true;
}

void raycases_tick(struct raycases *r, struct recorder *k, const struct job *job, uint64_t now_ns)
{
	if (now_ns < r->look_ns || r->logs.fd < 0)
		return;
	r->look_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < RAYCASES; i++) {
		struct raycase *c = &r->wait[i];
		if (!c->incident[0])
			continue;
		const bool found = recorder_amend(k, c->incident, retry_found, r);
		if (found)
			recorder_event(k, job, "ray_retry", c->incident, "Ray has submitted the task again");
		if (found || now_ns >= c->until_ns)
			c->incident[0] = '\0';
	}
}
