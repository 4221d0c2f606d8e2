#include "cli/jobs/topdata.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/host.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/host/memgather.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"
#include "tell/store/store.h"

#define LOOK_SHARE 20
/* Jobs that have begun are looked for so often, among so many of the newest; a supervisor is waited for so long. */
#define LIVE_AGAIN_NS (5 * NS_PER_S)
#define JOBS_LOOKED 200
#define LIVE_WAIT_NS (200 * NS_PER_MS)

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
	for (size_t i = 0; i < TOPDATA_LIVES; i++)
		d->live[i].follow = livefollow_close(d->live[i].follow);
	freep(&d->was);
	freep(&d->now);
}

static int topdata_by_pid(const void *a, const void *b)
{
	const struct toplist_look *x = a, *y = b;
	return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
}

/* Whose it is; names that are known already are not asked for again. */
static void owner_read(const struct topdata *d, const struct toplist_look *before, size_t n, struct toplist_look *l)
{
	l->has_uid = procfile_owner(&d->w, l->id.pid, &l->uid) == 0;
	if (!l->has_uid)
		return;
	for (size_t i = 0; i < n + d->n_now; i++) {
		const struct toplist_look *k = i < n ? &before[i] : &d->now[i - n];
		if (k->has_uid && k->uid == l->uid) {
			TEXT_COPY(l->user, k->user);
			return;
		}
	}
	host_account(l->uid, l->user, sizeof(l->user));
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
		looks[n] = (struct toplist_look){.id = {p->pid, p->start_ticks},
						 .cpu_ns = (st.utime_ticks + st.stime_ticks) * tick_ns,
						 .state = st.state};
		owner_read(d, looks, n, &looks[n]);
		n++;
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

/* ---- what supervisors say ---- */

static bool is_shown(const struct topdata *d, const char *job)
{
	for (size_t i = 0; i < d->footprint.n_jobs; i++)
		if (strcmp(d->footprint.job[i].id, job) == 0)
			return true;
	return false;
}

static bool is_followed(const struct topdata *d, const char *job)
{
	for (size_t i = 0; i < TOPDATA_LIVES; i++)
		if (strcmp(d->live[i].job, job) == 0)
			return true;
	return false;
}

/* Of jobs of other state directories nothing is known here. */
static int live_begin(void *ctx, const struct job *j)
{
	struct topdata *d = ctx;
	struct topdata_live *l = NULL;
	for (size_t i = 0; i < TOPDATA_LIVES && !l; i++)
		l = d->live[i].job[0] ? NULL : &d->live[i];
	if (!l)
		return 1;
	if (!job_is_open(j) || !is_shown(d, j->id) || is_followed(d, j->id) || livefollow_open(j, &l->follow) != 0)
		return 0;
	TEXT_COPY(l->job, j->id);
	if (livefollow_take(l->follow, LIVE_WAIT_NS) != 0)
		l->follow = livefollow_close(l->follow);
	return 0;
}

static void lives_begin(struct topdata *d)
{
	cleanup(store_closep) struct store *store = NULL;
	char note[256];
	struct fault f;
	d->lives_ns = clock_mono_ns();
	if (store_open(d->state, STORE_READ, &store, note, &f) == 0)
		ignore(store_each_job(store, JOBS_LOOKED, live_begin, d), "tried again");
}

static void lives_look(struct topdata *d)
{
	for (size_t i = 0; i < TOPDATA_LIVES; i++) {
		struct topdata_live *l = &d->live[i];
		if (l->follow && livefollow_take(l->follow, 0) != 0)
			l->follow = livefollow_close(l->follow);
		if (!l->follow)
			l->job[0] = '\0';
	}
	if (d->lives_ns == 0 || clock_mono_ns() - d->lives_ns > LIVE_AGAIN_NS)
		lives_begin(d);
}

const struct live_state *topdata_live(const struct topdata *d, size_t i)
{
	return livefollow_state(d->live[i].follow);
}

/* A process whose environment names no job, or no rank, is known to the supervisor that started it. */
static void rows_name(struct topdata *d)
{
	for (size_t i = 0; i < d->footprint.n; i++) {
		struct footprint_row *row = &d->footprint.rows[i];
		for (size_t k = 0; k < TOPDATA_LIVES; k++) {
			const struct live_state *s = topdata_live(d, k);
			const struct live_process *p = s ? live_find(s, row->pid, row->start_ticks) : NULL;
			if (p && !row->job[0])
				TEXT_COPY(row->job, d->live[k].job);
			if (p && row->who.rank == NO_RANK)
				row->who.rank = p->rank;
		}
	}
}

int topdata_look(struct topdata *d, struct fault *f)
{
	struct footprint next;
	uint64_t began_ns = clock_mono_ns();
	int r = memgather(&d->w, d->state,
			  &(struct memgather_want){.subject = d->has_subject ? &d->subject : NULL, .all = true}, &next,
			  f);
	if (r)
		return r;
	if (d->looked)
		footprint_done(&d->footprint);
	d->footprint = next;
	d->looked = true;
	d->was_ns = d->now_ns;
	d->now_ns = clock_mono_ns();
	lives_look(d);
	rows_name(d);
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
