#include "agent/incident/hangreport.h"

#include <stdio.h>
#include <string.h>

#include "agent/host/host.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "tell/incident/report.h"

static void put_groups(struct js *o, const struct hang_verdict *v)
{
	struct js *groups = js_array();
	for (size_t i = 0; i < v->n_groups; i++) {
		const struct hang_group *g = &v->group[i];
		struct js *one = js_object();
		struct span rest = span_of(g->stack), line;
		struct js *frames = js_array();
		char text[256];
		js_put_text_if(one, "ranks", g->ranks);
		js_put_u64(one, "count", g->n);
		js_put_text_if(one, "activity", g->activity);
		js_put_bool(one, "unchanged", g->unchanged);
		while (span_line(&rest, &line)) {
			span_copy(line, text, sizeof(text));
			js_add_text(frames, text);
		}
		js_put(one, "frames", frames);
		js_add(groups, one);
	}
	js_put(o, "groups", groups);
	if (v->n_groups_dropped)
		js_put_u64(o, "groups_dropped", v->n_groups_dropped);
}

/* "hang" of vigil.incident/1: docs/json.md. */
static struct js *hang_json(const struct hang_message *m)
{
	const struct hang_verdict *v = &m->verdict;
	struct js *o = js_object();
	js_put_bool(o, "resolved", false);
	js_put_u64(o, "standstill_ms", v->standstill_ns / NS_PER_MS);
	if (m->suspected_ns)
		js_put_u64(o, "suspected_ms", m->suspected_ns / NS_PER_MS);
	if (v->kind == HANG_HANG)
		js_put_bool(o, "steps_known", v->steps_known);
	if (v->kind == HANG_STRAGGLER || v->kind == HANG_SLOWDOWN) {
		js_put_double(o, "slower_ratio", v->ratio);
		js_put_text_if(o, "split", v->split);
	}
	put_groups(o, v);
	return o;
}

/* Who had the result that is waited for, if its end was seen. */
static void lost_say(const struct hangreport *e, pid_t parent, struct incident *in)
{
	char end[200];
	int64_t when_ms = 0;
	if (!parent || !e->autopsy || !autopsy_child_end(e->autopsy, parent, end, sizeof(end), &when_ms))
		return;
	struct buf b = {.text = in->cause.text, .len = strlen(in->cause.text), .cap = sizeof(in->cause.text)};
	buf_printf(&b, " A child of process %d did not end well: %s.", (int)parent, end);
	incident_evidence_add(in, "process_end", "ends of processes (BPF)", when_ms, "%s", end);
}

/* What ended badly when the job came to a stand, where nothing else says why it stands. */
static void end_before_say(const struct hangreport *e, const struct hang_message *m, struct incident *in)
{
	const int64_t before_ms = 15000, after_ms = 3000;
	char end[200];
	int64_t when_ms = 0, since_ms = m->time_unix_ms - (int64_t)(m->verdict.standstill_ns / NS_PER_MS);
	if (!m->verdict.unexplained || !e->autopsy ||
	    !autopsy_end_between(e->autopsy, since_ms - before_ms, since_ms + after_ms, end, sizeof(end), &when_ms))
		return;
	struct buf b = {.text = in->cause.text, .len = strlen(in->cause.text), .cap = sizeof(in->cause.text)};
	buf_printf(&b, " When it came to a stand, a process of the job did not end well: %s.", end);
	incident_evidence_add(in, "process_end", "ends of processes (BPF)", when_ms, "%s", end);
}

static void hangreport_fill(const struct hangreport *e, const struct hang_message *m, struct incident *in)
{
	*in = m->incident;
	TEXT_COPY(in->job, e->job->id);
	incident_advice_name_job(in);
	TEXT_COPY(in->node, e->job->node);
	host_ip(in->node_ip, sizeof(in->node_ip));
	in->attempt = m->attempt;
	in->time_unix_ms = m->time_unix_ms;
	in->killer = e->ends ? KILLER_VIGIL : KILLER_NONE;
	TEXT_COPY(in->killer_text, e->ends ? e->ends : "");
	lost_say(e, m->verdict.lost_pid, in);
	end_before_say(e, m, in);
	/* what is seen of a slow job is seen now; lines of a log have times of their own */
	bool slow = in->kind == INCIDENT_STRAGGLER || in->kind == INCIDENT_SLOWDOWN;
	for (size_t n = 0; slow && n < in->n_evidence; n++)
		if (in->evidence[n].time_unix_ms == 0)
			in->evidence[n].time_unix_ms = m->time_unix_ms;
	if (e->nproc > 0)
		TEXT_FORMAT(in->log_dir, "%s/attempt-%u", e->recorder->job_dir, m->attempt);
	recorder_incident_id(e->recorder, e->job->id, in->id, sizeof(in->id));
}

/* Print the message. The ranks' kept output does not get it, since that is read for signs of life. */
static void hangreport_show(const struct hangreport *e, const struct incident *in)
{
	char path[512];
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return;
	recorder_report_path(e->recorder, in->id, path, sizeof(path));
	report_kill_message(in, path[0] || recorder_keeps(e->recorder), f);
	if (e->next[0])
		(void)fprintf(f, "vigil: %s\n", e->next);
	if (path[0])
		(void)fprintf(f, "vigil: the full report: %s\n", path);
	if (fclose(f) == 0)
		log_text(text, len);
	free(text);
}

void hangreport_early(const struct hang_message *m, struct attachments *parts)
{
	attachments_hang(parts, hang_json(m), (struct span){m->stacks, MIN(m->stacks_len, sizeof(m->stacks))});
}

void hangreport_incident(const struct hangreport *e, const struct hang_message *m, struct incident *in,
			 struct attachments *parts)
{
	hangreport_fill(e, m, in);
	hangreport_early(m, parts);
	recorder_incident(e->recorder, in, parts, true);
	TEXT_COPY(e->job->last_incident, in->id);
	recorder_event(e->recorder, e->job, incident_kind_name(in->kind), in->id, "%s", in->summary);
	if (e->unsure)
		recorder_event(e->recorder, e->job, "hang_left", in->id, "%s", e->next);
	recorder_job(e->recorder, e->job);
	hangreport_show(e, in);
}

void hangreport_update(const struct hangreport *e, struct incident *in, const struct attachments *parts)
{
	recorder_incident(e->recorder, in, parts, false);
}

void hangreport_resolved(const struct hangreport *e, const struct hang_message *m, struct incident *in,
			 struct attachments *parts)
{
	in->hang_over = true;
	attachments_hang_resolved(parts, m->time_unix_ms);
	hangreport_update(e, in, parts);
	recorder_event(e->recorder, e->job, "hang_resolved", in->id, "%s", m->text[0] ? m->text : "it moves again");
	if (e->recorder->notifier)
		notifier_over(e->recorder->notifier, e->job->id, "hang", m->text[0] ? m->text : "It moves again.");
	if (!e->quiet)
		log_info("%s: the hang is over: %s", e->job->id, m->text[0] ? m->text : "it moves again");
}

void hangreport_fast(const struct hangreport *e, const struct hang_message *m, struct incident *in,
		     struct attachments *parts)
{
	in->hang_over = true;
	attachments_hang_resolved(parts, m->time_unix_ms);
	hangreport_update(e, in, parts);
	recorder_event(e->recorder, e->job, "straggler_over", in->id, "%s", m->text);
	if (e->recorder->notifier)
		notifier_over(e->recorder->notifier, e->job->id, "straggler", m->text);
	if (!e->quiet)
		log_info("%s: no rank is slow any more: %s", e->job->id, m->text);
}

void hangreport_benign(const struct hangreport *e, const struct hang_message *m)
{
	recorder_event(e->recorder, e->job, "standstill", NULL, "%s", m->text);
	if (!e->quiet)
		log_debug("%s: %s", e->job->id, m->text);
}

void hangreport_suspect(const struct hangreport *e, const struct hang_message *m)
{
	recorder_event(e->recorder, e->job, "suspected", NULL, "%s", m->text);
	if (!e->quiet)
		log_debug("%s: looked at closely: %s", e->job->id, m->text);
}

void hangreport_pace(const struct hangreport *e, const struct hang_message *m)
{
	recorder_event(e->recorder, e->job, "pace", NULL, "%s", m->text);
	if (!e->quiet)
		log_debug("%s: %s", e->job->id, m->text);
}

void hangreport_loss(const struct hangreport *e, const struct hang_message *m, bool first)
{
	recorder_event(e->recorder, e->job, "loss_broken", NULL, "%s", m->text);
	if (!first)
		return;
	notifier_loss(e->recorder->notifier, e->job->id, e->job->attempt, m->text);
	if (!e->quiet)
		log_warning("%s: %s", e->job->id, m->text);
}

void hangreport_wakers(const struct hangreport *e, const struct hang_message *m)
{
	recorder_wakers(e->recorder, m->stacks, MIN(m->stacks_len, sizeof(m->stacks)));
}
