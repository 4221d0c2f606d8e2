#include "tell/heap/heap_show.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "model/heap/heapset_together.h"

#define PATH_FRAMES 256
/* Minimum number of samples for a symmetric error; with fewer the interval is visibly lopsided. */
#define EVEN_SAMPLES 20

uint64_t heap_whole(double bytes)
{
	return bytes > 0 ? (uint64_t)fmin(bytes + 0.5, 9e18) : 0;
}

static char *size(double bytes, char dst[static 16])
{
	return size_format(heap_whole(bytes), dst);
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

static char *error_text(const struct heap_amount *a, char dst[static 40])
{
	char low[16], high[16];
	const struct heap_interval in = heap_amount_interval(a);
	double up = in.high - a->bytes, down = a->bytes - in.low, half = fmax(up, down);
	dst[0] = '\0';
	if (half < a->bytes / 1000 || half < 1)
		text_copy(dst, 40, "exact");
	else if (a->samples >= EVEN_SAMPLES && fmin(up, down) > half / 2)
		text_format(dst, 40, "\xc2\xb1 %s", size(half, high));
	else
		text_format(dst, 40, "%s to %s", size(in.low, low), size(in.high, high));
	return dst;
}

char *heap_amount_text(const struct heap_amount *a, char dst[static 64])
{
	char bytes[16], error[40];
	error_text(a, error);
	bool range = error[0] != '\xc2';
	if (strcmp(error, "exact") == 0)
		text_format(dst, 64, "%s", size(a->bytes, bytes));
	else
		text_format(dst, 64, range ? "%s (%s)" : "%s %s", size(a->bytes, bytes), error);
	return dst;
}

/* ---- head and foot ------------------------------------------------------------------------------------------ */

/* How n processes ended, none of which runs. */
static const char *end_words(const size_t *lives, size_t n)
{
	if (lives[HEAPSET_DETACHED] == n)
		return ", detached: nothing is sampled any more";
	if (lives[HEAPSET_SAVED] == n)
		return ", a copy of a moment before";
	if (lives[HEAPSET_KILLED] == n)
		return ", killed";
	if (lives[HEAPSET_REPLACED] == n)
		return ", of a program that was replaced by exec";
	if (lives[HEAPSET_GONE] == n)
		return ", ended without leaving word";
	return ", ended";
}

static void put_sampling(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	size_t n, shown = 0, earlier = 0, lives[HEAPSET_LIFE_MAX] = {0};
	double seconds = 0;
	uint64_t rate = 0;
	char each[16], time[24];
	const struct heapset_process *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++) {
		if (!heapset_wants(&want->part, &all[i]))
			continue;
		earlier += all[i].earlier;
		shown += !all[i].earlier;
		lives[all[i].life] += !all[i].earlier;
		seconds = fmax(seconds, all[i].seconds);
		rate = MAX(rate, all[i].rate_bytes);
	}
	size_t running = lives[HEAPSET_RUNNING];
	(void)fprintf(p->to, "%s: %zu process%s", want->title, shown, shown == 1 ? "" : "es");
	if (running && running < shown)
		(void)fprintf(p->to, ", %zu of them running", running);
	else if (shown)
		(void)fputs(running ? ", running" : end_words(lives, shown), p->to);
	if (running < shown && lives[HEAPSET_KILLED] && lives[HEAPSET_KILLED] < shown)
		(void)fprintf(p->to, ", %zu of them killed", lives[HEAPSET_KILLED]);
	if (rate > 0)
		(void)fprintf(p->to, "; sampled each %s on average, for %s", size((double)rate, each),
			      duration_format((uint64_t)(seconds * 1e9), time));
	if (earlier > 0)
		(void)fprintf(p->to,
			      "; %zu earlier profile%s of the same process%s, from before exec or a detach: nothing of "
			      "%s is live",
			      earlier, earlier == 1 ? "" : "s", shown == 1 ? "" : "es", earlier == 1 ? "it" : "them");
	(void)fputs("\n", p->to);
}

/* The peak of several processes is known only within limits. */
static void put_together(const struct heapset_together *t, const struct textout *p)
{
	char least[16];
	if (t->n > 1)
		(void)fprintf(
			p->to,
			"common peak        an upper limit: %zu processes that lived at the same time, each at its "
			"own highest moment; the lower limit is %s, the largest of them\n",
			t->n, size(t->least_bytes, least));
	if (t->apart > 0)
		(void)fprintf(p->to,
			      "other times        %zu more profile%s of processes that ran at other times %s not in "
			      "the peak\n",
			      t->apart, t->apart == 1 ? "" : "s", t->apart == 1 ? "is" : "are");
	if (t->n > 1 && t->ends_unknown > 0)
		(void)fprintf(p->to, "unknown ends       %zu of %zu processes: they count as if they still ran\n",
			      t->ends_unknown, t->n);
}

static void put_totals(const struct heapset *h, const struct heap_show_want *want, const struct heapset_together *t,
		       const struct textout *p)
{
	char peak[64], live[64], total[16], at[24];
	struct heap_amount sum_peak = {.bytes = 0}, sum_live = {.bytes = 0};
	double requested = 0, peak_at = 0;
	size_t n;
	const struct heapset_process *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++) {
		if (!heapset_wants(&want->part, &all[i]))
			continue;
		heap_amount_add(&sum_live, &all[i].live);
		requested += (double)all[i].requested_bytes;
		if (!t->in[i])
			continue;
		heap_amount_add(&sum_peak, &all[i].peak);
		peak_at = all[i].peak_at_s;
	}
	(void)fprintf(p->to, "live %s, peak %s%s", heap_amount_text(&sum_live, live), t->n > 1 ? "at most " : "",
		      heap_amount_text(&sum_peak, peak));
	if (t->n == 1)
		(void)fprintf(p->to, " after %s", duration_format((uint64_t)(fmax(peak_at, 0) * 1e9), at));
	else if (want->part.what != HEAPSET_PEAK)
		(void)fprintf(p->to, " by %zu at one time", t->n);
	(void)fprintf(p->to, "; %s asked for in all\n", size(requested, total));
	if (want->part.what == HEAPSET_PEAK)
		put_together(t, p);
	if (want->part.what == HEAPSET_PEAK && t->stepped)
		(void)fprintf(p->to, "peak stacks        of a moment at most 5 %% below %s peak\n",
			      t->n > 1 ? "each" : "the");
	if (want->part.what == HEAPSET_PEAK && t->short_bytes >= 1)
		(void)fprintf(p->to, "peak stacks        %s below the peak%s: so much of it is in no line below\n",
			      size(t->short_bytes, total), t->n > 1 ? "s" : "");
}

static void put_held(const struct heapset *h, const struct heap_show_want *want, const struct heapset_row *rows,
		     size_t n, const struct textout *p)
{
	char text[64], time[24];
	const struct heap_amount all = heapset_total(h, &want->part);
	bool coarse = false;
	double alive = 0, total = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++)
			alive += rows[i].f.lives.alive_bytes[j];
		coarse |= rows[i].f.lives.coarse;
		total += rows[i].f.total.bytes;
	}
	(void)fprintf(
		p->to, "held on average over %s: %s, which is what each stack asked for times how long it lived\n",
		duration_format((uint64_t)(heapset_span_s(h, &want->part) * 1e9), time), heap_amount_text(&all, text));
	if (share(alive, total) >= 0.005)
		(void)fprintf(
			p->to,
			"not freed          %.0f %% of what was asked for, until now or until its process ended: its "
			"times are lower limits, marked '>'\n",
			100 * fmin(share(alive, total), 1));
	if (coarse)
		(void)fputs(
			"coarse times       an older library made this profile: each time may be wrong by half of it\n",
			p->to);
}

static double seconds_of(const struct heapset *h, const struct heap_show_want *want)
{
	size_t n;
	double seconds = 0;
	const struct heapset_process *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++)
		if (heapset_wants(&want->part, &all[i]))
			seconds = fmax(seconds, all[i].seconds);
	return seconds;
}

static void put_growth(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	char text[64], each[16];
	const struct heap_amount all = heapset_total(h, &want->part);
	(void)fprintf(p->to,
		      "memory touched for the first time: %s, %s/s; what was given back meanwhile is not subtracted\n",
		      heap_amount_text(&all, text), size(share(all.bytes, seconds_of(h, want)), each));
}

static void put_trace(const struct heapset_process *s, const struct textout *p)
{
	char peak[16], unknown[16], time[24];
	const struct heapset_trace *t = &s->trace;
	if (!t->valid)
		return;
	(void)fprintf(p->to, "  its history: %llu allocations, %llu frees in %s; at most %s in use",
		      (unsigned long long)t->allocations, (unsigned long long)t->frees,
		      duration_format((uint64_t)(t->seconds * 1e9), time), size_format(t->peak_bytes, peak));
	if (t->unknown_bytes)
		(void)fprintf(p->to, ", of these %s asked for before it begins",
			      size_format(t->unknown_bytes, unknown));
	(void)fprintf(p->to, "; %llu segments taken, %llu given back; out of memory %llu times\n",
		      (unsigned long long)t->segments_new, (unsigned long long)t->segments_gone,
		      (unsigned long long)t->ooms);
}

static void put_torch(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	size_t n;
	char a[16], b[16], c[16], d[16];
	const struct heapset_process *all = heapset_processes(h, &n);
	(void)fprintf(p->to, "%s: PyTorch memory snapshot\n", want->title);
	for (size_t i = 0; i < n; i++) {
		if (!heapset_wants(&want->part, &all[i]))
			continue;
		if (all[i].cut) { /* a segment without its blocks looks like one that is all free */
			(void)fprintf(p->to, "device %d: %s in use in the part of the snapshot that is there\n",
				      all[i].device, size_format(all[i].allocated_bytes, a));
			continue;
		}
		uint64_t idle = sub_floor(all[i].reserved_bytes, all[i].allocated_bytes);
		(void)fprintf(p->to,
			      "device %d: %s reserved in %llu segments, %s in use, %s free in %llu pieces (the largest "
			      "%s): %.0f %% of "
			      "what is free is in smaller pieces\n",
			      all[i].device, size_format(all[i].reserved_bytes, a), (unsigned long long)all[i].segments,
			      size_format(all[i].allocated_bytes, b), size_format(idle, c),
			      (unsigned long long)all[i].free_blocks, size_format(all[i].largest_free_bytes, d),
			      100 * share((double)sub_floor(idle, all[i].largest_free_bytes), (double)idle));
		if (all[i].note[0])
			(void)fprintf(p->to, "%s\n", all[i].note);
		put_trace(&all[i], p);
	}
}

#define NOT_EXPLAINED "room that the allocator keeps, thread stacks, what was there before the profile"

/* A page that several processes share counts once among them. */
static void put_family(const struct heapset_explained *e, const struct textout *p)
{
	char whole[16], own[16], inherited[16], rest[16];
	(void)fprintf(
		p->to,
		"%s with shared pages counted once among those that have them = %s of the stacks above + %s asked "
		"for by a process before it forked these + %s unattributed (%.0f %%): " NOT_EXPLAINED
		", or that process has freed\n",
		size(e->whole_bytes, whole), size(e->own_bytes, own), size(e->inherited_bytes, inherited),
		size(e->rest_bytes, rest), 100 * share(e->rest_bytes, e->whole_bytes));
}

/* Resident memory as the kernel counts it, and the part that the profile explains. */
static void put_ladder(const struct heapset_process *s, const struct textout *p)
{
	char rss[16], anon[16], file[16], shmem[16], swap[16], seen[16], rest[16];
	const struct heapset_breakdown *l = &s->breakdown;
	if (!l->valid)
		return;
	(void)fprintf(p->to, "pid %d: RSS %s = anonymous %s + files %s + shared %s", (int)s->pid,
		      size_format(l->rss_bytes, rss), size_format(l->anon_bytes, anon),
		      size_format(l->file_bytes, file), size_format(l->shmem_bytes, shmem));
	if (l->swap_bytes)
		(void)fprintf(p->to, "; %s in swap", size_format(l->swap_bytes, swap));
	(void)fputs("\n", p->to);
	const struct heapset_explained e = heapset_explained(s);
	if (!e.valid)
		return;
	if (e.whole_bytes < (double)l->anon_bytes - 4096 || e.inherited_bytes >= 4096) {
		(void)fprintf(p->to, "  anonymous %s, ", anon);
		put_family(&e, p);
		return;
	}
	double resident = e.own_bytes, unattributed = e.rest_bytes;
	(void)fprintf(p->to, "  anonymous %s = %s of the stacks above + %s unattributed (%.0f %%): " NOT_EXPLAINED "\n",
		      anon, size(resident, seen), size(unattributed, rest),
		      100 * share(unattributed, (double)l->anon_bytes));
}

/* The sum over many processes, of anonymous memory only: file pages that several map would count several times. */
static void put_ladders(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	size_t n, count = 0;
	char anon[16], seen[16], rest[16];
	struct heapset_explained sum = {.valid = true};
	const struct heapset_process *all = heapset_processes(h, &n);
	bool shares = true; /* all or none: shares of some and whole pages of others cannot be added */
	for (size_t i = 0; i < n; i++)
		shares &= !heapset_wants(&want->part, &all[i]) || !heapset_explained(&all[i]).valid ||
			  all[i].shares.valid;
	for (size_t i = 0; i < n; i++) {
		struct heapset_process one = all[i];
		one.shares.valid &= shares;
		const struct heapset_explained e = heapset_explained(&one);
		if (!heapset_wants(&want->part, &one) || !e.valid)
			continue;
		count++;
		sum.whole_bytes += e.whole_bytes;
		sum.own_bytes += e.own_bytes;
		sum.inherited_bytes += e.inherited_bytes;
		sum.rest_bytes += e.rest_bytes;
	}
	if (!(sum.whole_bytes > 0))
		return;
	(void)fprintf(p->to, "anonymous memory of %zu running processes: ", count);
	if (shares) {
		put_family(&sum, p);
		return;
	}
	(void)fprintf(p->to,
		      "%s = %s of the stacks above + %s unattributed (%.0f %%): " NOT_EXPLAINED
		      " or was inherited by fork; pages that several have are counted in each\n",
		      size(sum.whole_bytes, anon), size(sum.own_bytes, seen), size(sum.rest_bytes, rest),
		      100 * share(sum.rest_bytes, sum.whole_bytes));
}

static void heap_show_put_foot(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	size_t n, ladders = 0, notes = 0;
	char lost[16];
	uint64_t lost_bytes = 0, lost_samples = 0;
	const char *why = "";
	bool noted = false;
	const struct heapset_process *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++) {
		if (!heapset_wants(&want->part, &all[i]))
			continue;
		ladders += all[i].breakdown.valid;
		noted |=
			all[i].seen_unix_ms > 0 && (want->part.what == HEAPSET_PEAK || want->part.what == HEAPSET_LIVE);
		if (all[i].lost_samples > 0 && !why[0])
			why = all[i].lost_why;
		lost_bytes = add_cap(lost_bytes, all[i].lost_bytes);
		lost_samples = add_cap(lost_samples, all[i].lost_samples);
		if (all[i].note[0] && all[i].device < 0 && notes++ == 0)
			(void)fprintf(p->to, "pid %d: %s\n", (int)all[i].pid, all[i].note);
		if (all[i].peak_torn)
			(void)fprintf(p->to,
				      "possibly wrong     pid %d: the peak rose while it was read, so its stacks may "
				      "be of two moments\n",
				      (int)all[i].pid);
	}
	for (size_t i = 0; i < n && ladders <= 2; i++)
		if (heapset_wants(&want->part, &all[i]))
			put_ladder(&all[i], p);
	if (ladders > 2)
		put_ladders(h, want, p);
	if (noted)
		(void)fputs("in memory          the part that was in memory when memory got short\n", p->to);
	if (lost_samples > 0)
		(void)fprintf(p->to, "not in the table   %s in %llu samples: %s\n", size_format(lost_bytes, lost),
			      (unsigned long long)lost_samples, why);
	for (size_t i = 0; i < want->n_remarks; i++)
		(void)fprintf(p->to, "%s\n", want->remarks[i]);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static const char *life_text(struct heap_life l, char dst[static 24])
{
	char time[24];
	text_copy(dst, 24, "-");
	if (!l.known)
		return dst;
	/* the sampler's clock has steps, and each class of times has an upper end */
	bool below = !l.at_least && (l.below_s > 0 || l.seconds < HEAP_LIFE_STEP_S);
	double seconds = below ? fmax(l.below_s, HEAP_LIFE_STEP_S) : l.seconds;
	text_format(dst, 24, "%s%s",
		    l.at_least ? "> "
		    : below    ? "< "
			       : "",
		    duration_format((uint64_t)(seconds * 1e9), time));
	return dst;
}

/* The time by which half of what was freed had gone. */
static const char *freed_text(const struct heapset_figures *f, char dst[static 24])
{
	struct heap_lives freed = f->lives;
	memset(freed.alive_bytes, 0, sizeof(freed.alive_bytes));
	return life_text(heap_lives_gone(&freed, 0.5), dst);
}

static void put_resident(const struct heapset_row *row, const struct textout *p)
{
	char text[16];
	if (row->f.seen.bytes > 0)
		(void)fprintf(p->to, " %10s",
			      size(row->f.resident_bytes * share(row->f.live.bytes, row->f.seen.bytes), text));
	else
		(void)fprintf(p->to, " %10s", "-");
}

static void put_lives(const struct heapset_figures *f, const struct textout *p)
{
	char asked[16], mean[24], half[24], most[24];
	double alive = 0;
	for (size_t i = 0; i < HEAP_LIFE_CLASSES; i++)
		alive += f->lives.alive_bytes[i];
	(void)fprintf(p->to, " %10s %10s %10s %11s %4.0f %%", size(f->total.bytes, asked),
		      life_text(heap_lives_mean(&f->lives), mean), life_text(heap_lives_gone(&f->lives, 0.5), half),
		      life_text(heap_lives_gone(&f->lives, 0.9), most), 100 * fmin(share(alive, f->total.bytes), 1));
}

/* The amount of a moment near the peak may be exact without being that of the peak. */
static const char *row_error(const struct heapset_row *row, const struct heap_show_want *want,
			     const struct heapset_together *t, char dst[static 40])
{
	error_text(&row->amount, dst);
	if (want->part.what != HEAPSET_PEAK || strcmp(dst, "exact") != 0)
		return dst;
	return t->n > 1 ? "at each one's peak" : t->stepped || t->short_bytes >= 1 ? "at that moment" : dst;
}

static void put_columns(const struct heapset_row *row, const struct heap_show_want *want, double all, double seconds,
			const struct heapset_together *t, const struct textout *p)
{
	char a[16], error[40], more[24];
	double objects = row->amount.objects;
	(void)fprintf(p->to, "%10s  ", size(row->amount.bytes, a));
	textout_cell(p, row_error(row, want, t, error), 22);
	(void)fprintf(p->to, " %5.1f %%", 100 * share(row->amount.bytes, all));
	switch (want->part.what) {
	case HEAPSET_PEAK:
		(void)fprintf(p->to, " %10s", size(row->f.live.bytes, a));
		put_resident(row, p);
		break;
	case HEAPSET_LIVE:
		put_resident(row, p);
		(void)fprintf(p->to, " %9.0f", objects);
		break;
	case HEAPSET_LEAKS:
		(void)fprintf(p->to, " %10s/h %5.2f", size(row->f.leak.bytes_per_s * 3600, a), row->f.leak.score);
		break;
	case HEAPSET_WHAT_MAX:
	case HEAPSET_TEMPORARY:
		/* a part of a mapping, or a moved block, is no whole object */
		if (objects < 0.5)
			(void)fprintf(p->to, " %9s %9s", "-", freed_text(&row->f, more));
		else
			(void)fprintf(p->to, " %9.0f %9s", objects, freed_text(&row->f, more));
		break;
	case HEAPSET_GROWTH:
		(void)fprintf(p->to, " %10s/s", size(share(row->amount.bytes, seconds), a));
		break;
	case HEAPSET_LIFETIME:
		put_lives(&row->f, p);
		break;
	}
}

static void heap_show_put_head(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	static const char *const heads[] = {
		[HEAPSET_PEAK] = "  AT PEAK   95 % INTERVAL            SHARE   LIVE NOW  IN MEMORY  STACK",
		[HEAPSET_LIVE] = "     LIVE   95 % INTERVAL            SHARE  IN MEMORY   OBJECTS  STACK",
		[HEAPSET_LEAKS] = "     KEPT   95 % INTERVAL            SHARE       GROWTH SCORE  STACK",
		[HEAPSET_TEMPORARY] = "BRIEF (1s)  95 % INTERVAL            SHARE   OBJECTS HALF GONE  STACK",
		[HEAPSET_GROWTH] = "    GROWN   95 % INTERVAL            SHARE         RATE  STACK",
		[HEAPSET_LIFETIME] =
			("     HELD   95 % INTERVAL            SHARE  ASKED FOR       MEAN  HALF GONE   90 "
			 "% GONE  ALIVE  STACK"),
	};
	(void)fputs("\n", p->to);
	textout_ink(p, INK_BOLD);
	if (want->compare)
		(void)fputs("    BEFORE        NOW     CHANGE  SURE  STACK", p->to);
	else if (heapset_source_of(h) == HEAPSET_TORCH && want->part.what == HEAPSET_LIVE)
		(void)fputs("    IN USE   SHARE    BLOCKS  STACK", p->to);
	else
		(void)fputs(heads[want->part.what], p->to);
	textout_ink(p, INK_PLAIN);
	(void)fputs("\n", p->to);
}

/* Upper limit of an amount without any sample, 19 times of 20: three times the mean distance of samples. */
static double unseen(const struct heapset *h)
{
	size_t n;
	uint64_t rate = 0;
	const struct heapset_process *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++)
		rate = MAX(rate, all[i].rate_bytes);
	return 3.0 * (double)rate;
}

static void put_change(const struct heapset *h, const struct heapset_row *row, const struct textout *p)
{
	char a[16], b[16], c[16];
	double change = row->amount.bytes - row->before.bytes;
	double sigma = sqrt(fmax(row->amount.variance, 0) + fmax(row->before.variance, 0));
	double doubt = fmax(1.96 * sigma, row->amount.bytes > 0 && row->before.bytes > 0 ? 0 : unseen(h));
	(void)fprintf(p->to, "%10s %10s %c%9s  %s", size(row->before.bytes, a), size(row->amount.bytes, b),
		      change < 0 ? '-' : '+', size(fabs(change), c), fabs(change) > doubt ? "yes " : "no  ");
}

static void put_row(const struct heapset *h, const struct heapset_row *row, const struct heap_show_want *want,
		    double all, const struct heapset_together *t, const struct textout *p)
{
	char headline[400], a[16];
	const struct frame *path[PATH_FRAMES];
	if (want->compare)
		put_change(h, row, p);
	else if (heapset_source_of(h) == HEAPSET_TORCH && want->part.what == HEAPSET_LIVE)
		(void)fprintf(p->to, "%10s %5.1f %% %9.0f", size(row->amount.bytes, a),
			      100 * share(row->amount.bytes, all), row->amount.objects);
	else
		put_columns(row, want, all, seconds_of(h, want), t, p);
	(void)fputs("  ", p->to);
	heapset_headline(h, row->node, headline, sizeof(headline));
	textout_cut(p, headline, 200);
	if (row->processes > 1)
		(void)fprintf(p->to, " (%u processes)", row->processes);
	(void)fputs("\n", p->to);
	size_t n = heapset_path(h, row->node, path, MIN(want->frames, (size_t)PATH_FRAMES));
	for (size_t i = 0; i < n; i++) {
		char label[400];
		frame_label(path[i], label, sizeof(label));
		(void)fputs("               ", p->to);
		textout_cut(p, label, 200);
		(void)fputs("\n", p->to);
	}
}

/* A program that ends by itself frees all its memory, leaks included. */
static bool all_freed(const struct heapset *h, const struct heap_show_want *want)
{
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++)
		if (heapset_wants(&want->part, &p[i]) && p[i].life != HEAPSET_ENDED)
			return false;
	return n > 0;
}

static const char *nothing_words(const struct heapset *h, const struct heap_show_want *want)
{
	if (want->part.has_rank)
		return "nothing of that rank";
	switch (want->part.what) {
	case HEAPSET_LEAKS:
		if (all_freed(h, want))
			return "nothing that lived to the end had grown steadily. But what ends by itself gives most "
			       "back before: ask while it runs, or see --what peak and --what lifetime";
		return "nothing grew steadily: no stack whose memory was kept grew in each part of the time (a leak "
		       "needs some "
		       "minutes to show)";
	case HEAPSET_TEMPORARY:
		return "nothing lived for less than a second";
	case HEAPSET_GROWTH:
		return "nothing grew: hardly any memory was touched for the first time";
	case HEAPSET_LIFETIME:
		return "nothing was sampled";
	case HEAPSET_PEAK:
	case HEAPSET_LIVE:
	case HEAPSET_WHAT_MAX:
		break;
	}
	return "nothing that was sampled is alive";
}

static int rows_get(const struct heapset *h, const struct heap_show_want *want, struct heapset_row **ret, size_t *ret_n)
{
	return want->compare ? heapset_compare(h, &want->before, &want->part, ret, ret_n)
			     : heapset_rows(h, &want->part, ret, ret_n);
}

int heap_table(const struct heapset *h, const struct heap_show_want *want, const struct textout *p)
{
	cleanup(freep) struct heapset_row *rows = NULL;
	cleanup(heapset_together_done) struct heapset_together together = {.in = NULL};
	size_t n = 0;
	char rest[16];
	int r = heapset_together(h, &want->part, &together);
	if (r == 0)
		r = rows_get(h, want, &rows, &n);
	if (r == 0 && want->frames == 0)
		r = heapset_rows_by_line(h, rows, &n);
	if (r < 0)
		return r;
	double all = heapset_total(h, &want->part).bytes, left = 0;
	if (heapset_source_of(h) == HEAPSET_TORCH) {
		put_torch(h, want, p);
	} else {
		put_sampling(h, want, p);
		if (heapset_source_of(h) == HEAPSET_FAULTS)
			put_growth(h, want, p);
		else
			put_totals(h, want, &together, p);
	}
	if (want->part.what == HEAPSET_LIFETIME)
		put_held(h, want, rows, n, p);
	if (want->compare)
		(void)fprintf(p->to, "compared with %s\n", want->before_title ? want->before_title : "another");
	size_t shown = want->limit ? MIN(n, want->limit) : n;
	if (n == 0)
		(void)fprintf(p->to, "\n%s\n", nothing_words(h, want));
	else
		heap_show_put_head(h, want, p);
	for (size_t i = 0; i < shown; i++)
		put_row(h, &rows[i], want, all, &together, p);
	for (size_t i = shown; i < n; i++)
		left += rows[i].amount.bytes;
	if (shown < n)
		(void)fprintf(p->to, "%10s  in %zu further lines (--limit 0 shows all)\n", size(left, rest), n - shown);
	(void)fputs("\n", p->to);
	heap_show_put_foot(h, want, p);
	return ferror(p->to) ? -EIO : 0;
}
