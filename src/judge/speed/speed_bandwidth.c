/* Memory that moves as much as it can: what is left to a job is to move less, or to share it with fewer. */
#include "base/buf.h"
#include "judge/speed/speed_parts.h"

/* Of what its channels could move, this much is as good as all (decision 63). */
#define BANDWIDTH_FULL 0.70
/* Who has this part of all that ran on the machine is nearly alone. */
#define BANDWIDTH_ALONE 0.80

enum bandwidth_whose {
	BANDWIDTH_OURS, /* most of it, or nobody else ran */
	BANDWIDTH_THEIRS,
	BANDWIDTH_UNKNOWN,
};

static double full_of(const struct speed_traffic *t)
{
	return t->limit_bytes > 0 ? t->bytes / t->limit_bytes : 0;
}

/* The busiest package's part of what its own channels can do, where they are spread evenly; 0: that is not known. */
static double full_part(const struct speed_traffic *t)
{
	if (t->limit_bytes <= 0 || t->parts < 2 || t->channels % t->parts != 0)
		return 0;
	const double full = t->part_bytes * t->parts / t->limit_bytes;
	return full <= 1 ? full : 0; /* more than all of it: they are not spread evenly */
}

static enum bandwidth_whose bandwidth_whose_is(const struct speedview *v)
{
	const struct speed_machine *m = &v->f->machine;
	if (m->traffic.has_job)
		return m->traffic.job_bytes >= 0.5 * m->traffic.bytes ? BANDWIDTH_OURS : BANDWIDTH_THEIRS;
	if (m->has_cpu && v->run >= BANDWIDTH_ALONE * m->busy)
		return BANDWIDTH_OURS;
	return BANDWIDTH_UNKNOWN;
}

static void whose_evidence(const struct speedview *v, struct finding *f)
{
	const struct speed_machine *m = &v->f->machine;
	const struct speed_traffic *t = &m->traffic;
	if (t->has_job)
		finding_evidence(f, "the job's own part is %.1f GB a second (its groups of resctrl)",
				 t->job_bytes / 1e9);
	else if (!m->has_cpu)
		finding_evidence(f, "whose it is was not seen: that takes a group of resctrl for the job alone");
	else if (bandwidth_whose_is(v) == BANDWIDTH_OURS)
		finding_evidence(f, "%.1f of the %.1f processors that worked were the job's, so most of it is its own",
				 MIN(v->run, m->busy), m->busy);
	else
		finding_evidence(f,
				 "only %.1f of the %.1f processors that worked were the job's: whose it is was not "
				 "seen, that takes a group of resctrl for the job alone",
				 MIN(v->run, m->busy), m->busy);
}

static void bandwidth_evidence(const struct speedview *v, double part, struct finding *f)
{
	const struct speed_traffic *t = &v->f->machine.traffic;
	finding_evidence(f,
			 "%s%.1f GB a second, counted %s; %u channel%s can move %.1f at most by the speed that the "
			 "firmware names",
			 t->least ? "at least " : "", t->bytes / 1e9,
			 t->source == SPEED_TRAFFIC_CONTROLLERS ? "by the memory controllers"
								: "behind the last caches, without devices",
			 t->channels, t->channels == 1 ? "" : "s", t->limit_bytes / 1e9);
	if (t->reads + t->writes > 0)
		finding_evidence(f, "%.0f %% of it were reads", 100 * t->reads / (t->reads + t->writes));
	if (part >= BANDWIDTH_FULL)
		finding_evidence(f, "the busiest of %u packages moves %.1f of the %.1f GB that its own channels can",
				 t->parts, t->part_bytes / 1e9, t->limit_bytes / t->parts / 1e9);
	whose_evidence(v, f);
	finding_evidence(f, "what moving less would gain depends on what else the programs do, so no gain is told");
}

static void bandwidth_advice(const struct speedview *v, bool one_part, enum bandwidth_whose of, struct finding *f)
{
	const struct speed_machine *m = &v->f->machine;
	if (one_part)
		finding_advice(f, "the memory of the other packages has room: spread it (numactl --interleave=all), or "
				  "give each rank its own node (numactl --cpunodebind=N --membind=N)");
	if (of == BANDWIDTH_THEIRS) {
		finding_advice(f, "move the job or the others to another machine, or let them run one after another");
		return;
	}
	if (v->wanted >= 2)
		finding_advice(
			f,
			"run fewer ranks or threads through the part that reads or writes much memory: try "
			"%.0f instead of %.0f; where memory is the limit that is no slower, and leaves processors free",
			MAX(v->wanted / 2, 1.0), v->wanted);
	finding_advice(f, "move less: smaller types (float32 for float64, bfloat16), blocks that fit into the caches, "
			  "one pass over an array instead of several");
	if (m->nodes > 1 && !one_part)
		finding_advice(f, "keep each rank and its memory on one node (numactl --cpunodebind=N --membind=N): "
				  "the way between nodes is narrower than the memory");
}

/* "80 % of what it can move"; of one package where only that is full. */
void speed_bandwidth_rules(const struct speedview *v, struct findings *all)
{
	const struct speed_traffic *t = &v->f->machine.traffic;
	const double full = full_of(t), part = full_part(t);
	const enum bandwidth_whose of = bandwidth_whose_is(v);
	const bool one_part = full < BANDWIDTH_FULL;
	/* More than all that the firmware's numbers allow: they are wrong. */
	if (t->source == SPEED_TRAFFIC_UNSEEN || full > 1.05 || MAX(full, part) < BANDWIDTH_FULL || v->run < 0.5)
		return;
	struct finding *f = speed_add(
		v, all, "memory-bandwidth", of == BANDWIDTH_OURS ? "medium" : "low", 0,
		of == BANDWIDTH_OURS ? -0.3 : -0.2,
		"the memory%s moves %.0f %% of what it could at most%s: programs wait for their data, and more "
		"threads do not help",
		one_part ? " of one package" : "", 100 * MAX(full, one_part ? part : full),
		of == BANDWIDTH_THEIRS ? ", most of it for other programs" : "");
	if (!f)
		return;
	bandwidth_evidence(v, part, f);
	bandwidth_advice(v, one_part, of, f);
}
