/* Busy waiting: a thread that asks again and again whether something has come, and never waits for it. */
#include "base/buf.h"
#include "judge/speed/speed_parts.h"

/* Fewer instants and sweeps tell nothing. Of the calls, so many that ask for each one that does something. */
#define LEAST_CAUGHT 40
#define LEAST_SWEEPS 4
#define ASKS_EACH 8

/* Where nothing is gained by it but a processor for others: enough to be said, after all that costs time. */
static const double in_vain = 0.12;

/* True of a thread that uses a processor to ask again and again, and asks the kernel for hardly anything else. */
static bool only_asks(const struct speedfacts *f, const struct speed_thread *t)
{
	/* Who works between two calls is in them for a smaller part: an event loop that never rests, for a tenth. */
	return t->caught >= LEAST_CAUGHT && t->ask_sweeps >= LEAST_SWEEPS && t->asks * 4 >= t->caught &&
	       (t->calls - t->asks) * ASKS_EACH <= t->asks && speed_share(f, t, "R") >= 0.25;
}

/* How many times as fast the others are that want a processor beside it. */
static double gain_of_processor(const struct speedview *v, double asking)
{
	const double others = v->wanted - asking;
	if (others < 0.1)
		return 1;
	const double now = speed_has(v, v->wanted) * others / v->wanted;
	return speed_fair(v, others) / MAX(now, 0.01);
}

void speed_ask_rules(const struct speedview *v, struct findings *all)
{
	const struct speed_thread *who = NULL;
	size_t n = 0;
	double asking = 0;
	for (size_t i = 0; i < v->f->n_threads; i++) {
		const struct speed_thread *t = &v->f->thread[i];
		if (!only_asks(v->f, t))
			continue;
		n++;
		asking += speed_share(v->f, t, "R");
		who = !who || t->run > who->run ? t : who;
	}
	if (!who)
		return;
	const double cost = 1 - 1 / gain_of_processor(v, asking);
	const bool gains = cost >= SPEED_LEAST_COST;
	char whose[SPEED_WHO];
	struct finding *f =
		speed_add(v, all, "busy-waiting", "medium", 0, gains ? -cost : -in_vain,
			  "thread %d (%s) of %s waits without sleeping: it uses %.2f processors to ask again "
			  "and again whether something has come (%s)",
			  who->tid, who->comm, speed_who(&v->f->process[who->process], whose), who->run, who->ask);
	if (!f)
		return;
	finding_evidence(f, "of %u instants at which it ran it was asking at %u, and in another system call at %u",
			 who->caught, who->asks, who->calls - who->asks);
	if (n > 1)
		finding_evidence(f, "%zu threads of the job do so", n);
	if (gains)
		finding_evidence(f,
				 "others of the job want that processor; whoever shares it with them is the last to be "
				 "done, so the gain is larger than their mean loss, and none is told");
	else
		finding_evidence(f, "nothing of the job waits for that processor now, so no gain is told");
	finding_advice(f,
		       "wait for the event itself (queue.get, Event.wait, join, ray.wait or poll with a time-out); if "
		       "the short delay of asking is meant, all is well");
}
