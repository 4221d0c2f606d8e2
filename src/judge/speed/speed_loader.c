/*
 * A program of PyTorch that reads its data itself, item by item, where loader processes could do it meanwhile; and one
 * that starts its loader processes again and again.
 */
#include <math.h>

#include "base/buf.h"
#include "judge/speed/speed_parts.h"

#define LOOKS_LEAST 30
#define TIMES_LEAST 3
/* Most loaders that are advised; a loader too many costs memory. */
#define LOADERS_MOST 32.0

/* The rest then takes all of the time, unless the processors are too few for both at once. */
static double reads_gain(const struct speedview *v, double part)
{
	const double have = v->beside ? v->run : MAX(v->wanted, v->run);
	return MIN(1 / MAX(1 - part, 0.02), speed_fair(v, v->cpus) / MAX(have, 0.01));
}

static void reads_itself(const struct speedview *v, const struct speed_loader *l, struct findings *all)
{
	const double part = (double)l->reads / l->looks, gain = reads_gain(v, part);
	if (gain < 1 / (1 - v->least_cost))
		return; /* there is no processor for it */
	struct finding *f = speed_add(v, all, "loader-in-main", "medium", l->gpu ? 0 : gain, l->gpu ? part : 0,
				      "process %d reads its data itself for %.0f %% of the time, and computes nothing "
				      "meanwhile: its DataLoader has no workers",
				      v->f->process[l->process].pid, part * 100);
	if (!f)
		return;
	finding_evidence(f,
			 "at %u of %u looks its main thread was in the dataset's items or their collation "
			 "(DataLoader with num_workers=0); %.2f of %.2f processors are used",
			 l->reads, l->looks, v->run, v->room);
	if (l->gpu)
		finding_evidence(f, "whether its GPU still works meanwhile is not seen, so no gain is told: it is at "
				    "most %.2f times as fast",
				 gain);
	finding_evidence(f, "passing a batch from a worker takes time as well, which is not counted");
	finding_advice(f,
		       "give the DataLoader num_workers=%.0f and persistent_workers=True, or keep the decoded data "
		       "in memory",
		       MIN(MAX(ceil(part * gain - 0.05), 1), LOADERS_MOST));
}

/* An epoch's end and the next one's begin are one time or two, so three are more than one epoch. */
static void restarts(const struct speedview *v, const struct speed_loader *l, struct findings *all)
{
	const double part = (double)(l->starts + l->ends) / l->looks;
	if (l->times < TIMES_LEAST)
		return;
	struct finding *f = speed_add(v, all, "loader-restarts", "medium", 0, part,
				      "process %d starts the workers of its DataLoader anew again and again, and ends "
				      "them: this takes %.0f %% of its time",
				      v->f->process[l->process].pid, part * 100);
	if (!f)
		return;
	finding_evidence(f,
			 "of %u looks its main thread was starting workers at %u and ending them at %u, at %u times in "
			 "%.0f s",
			 l->looks, l->starts, l->ends, l->times, v->f->watched_s);
	finding_evidence(f, "how much longer the first batch of new workers takes is not seen, so the gain is larger "
			    "than that");
	finding_advice(f, "give the DataLoader persistent_workers=True and make it once, not in each epoch; or longer "
			  "epochs, or fewer workers");
}

void speed_loader_rules(const struct speedview *v, struct findings *all)
{
	const struct speed_loader *l = &v->f->loader;
	/* Who cannot be read at many looks may do anything at these. */
	if (l->looks < LOOKS_LEAST || l->missed > l->looks / 2)
		return;
	reads_itself(v, l, all);
	restarts(v, l, all);
}
