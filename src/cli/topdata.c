#include "cli/topdata.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/world_open.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/memgather.h"
#include "cli/state.h"
#include "sense/proc/proc.h"

#define LOOK_SHARE 20

int topdata_open(struct topdata *d, const char *state, const char *what)
{
	struct fault f = {.text = ""};
	*d = (struct topdata){.has_subject = what != NULL};
	if (what)
		return subject_open(state, what, &d->w, d->state, sizeof(d->state), &d->subject);
	if (world_open(NULL, &d->w, &f) < 0 || state_dir(state, d->state, sizeof(d->state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	return 0;
}

/* The world stays open: a thread that reads proportional sizes may still use it. */
void topdata_done(struct topdata *d)
{
	if (d->looked)
		footprint_done(&d->footprint);
	d->looked = false;
	freep(&d->was);
	freep(&d->now);
}

static int topdata_by_pid(const void *a, const void *b)
{
	const struct toplist_look *x = a, *y = b;
	return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
}

static int looks_read(struct topdata *d)
{
	const uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	struct toplist_look *looks = calloc(d->footprint.n + 1, sizeof(*looks));
	size_t n = 0;
	if (!looks)
		return -ENOMEM;
	for (size_t i = 0; i < d->footprint.n; i++) {
		const struct footprint_row *p = &d->footprint.rows[i];
		struct proc_stat st;
		if (proc_stat_read(&d->w, p->pid, &st) != 0 || st.start_ticks != p->start_ticks)
			continue;
		looks[n++] = (struct toplist_look){.id = {p->pid, p->start_ticks},
						   .cpu_ns = (st.utime_ticks + st.stime_ticks) * tick_ns,
						   .state = st.state};
	}
	if (n > 0)
		qsort(looks, n, sizeof(*looks), topdata_by_pid);
	free(d->was);
	d->was = d->now;
	d->n_was = d->n_now;
	d->now = looks;
	d->n_now = n;
	return 0;
}

int topdata_look(struct topdata *d, struct fault *f)
{
	struct footprint next;
	uint64_t began_ns = clock_mono_ns();
	int r = memgather(&d->w, d->state, d->has_subject ? &d->subject : NULL, true, &next, f);
	if (r)
		return r;
	if (d->looked)
		footprint_done(&d->footprint);
	d->footprint = next;
	d->looked = true;
	d->was_ns = d->now_ns;
	d->now_ns = clock_mono_ns();
	r = looks_read(d);
	d->took_ns = clock_mono_ns() - began_ns;
	return r;
}

int topdata_list(const struct topdata *d, const struct toplist_want *want, struct toplist *ret)
{
	return toplist_make(&d->footprint, d->was, d->n_was, d->now, d->n_now, d->was_ns ? d->now_ns - d->was_ns : 0,
			    want, ret);
}

uint64_t topdata_due_ns(const struct topdata *d, uint64_t every_ns)
{
	return d->now_ns + MAX(every_ns, d->took_ns * LOOK_SHARE);
}
