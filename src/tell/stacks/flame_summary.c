#include "tell/stacks/flame_parts.h"

#include "base/units.h"

/* A line is only there if it has something to say: people read this after every recording. */
static void pauses_tell(const struct stackset_meta *m, FILE *to)
{
	char most[24], sum[24], median[24];
	(void)fprintf(to, "threads were paused %llu times, ", (unsigned long long)m->pauses);
	if (m->pauses_caught)
		(void)fprintf(to, "%llu of them without being stopped", (unsigned long long)m->pauses_caught);
	else
		(void)fputs("stopped each time (to interrupt them for less takes Linux 5.17 with BTF, and root or CAP_BPF and "
			    "CAP_PERFMON)",
			    to);
	(void)fprintf(to, ": half of them at most %s, all at most %s, %s in all\n", duration_format(m->pause_ns_median, median),
		      duration_format(m->pause_ns_max, most), duration_format(m->pause_ns_sum, sum));
}

void flame_summary(const struct stackset *s, FILE *to)
{
	const struct stackset_meta *m = stackset_meta_of(s);
	char length[24];
	size_t n_lanes;
	const struct stack_lane *lanes = stackset_lanes(s, &n_lanes);
	const char *one = n_lanes > 0 && lanes[0].tid ? "thread" : "process",
		   *more = n_lanes > 0 && lanes[0].tid ? "s" : "es";
	(void)fprintf(to, "%llu stacks of %zu %s%s", (unsigned long long)m->samples, n_lanes, one,
		      n_lanes == 1 ? "" : more);
	if (m->duration_ns > 0)
		(void)fprintf(to, " in %s", duration_format(m->duration_ns, length));
	if (m->rate_hz > 0)
		(void)fprintf(to, ", %.4g of %.4g times a second", m->rate_got_hz, m->rate_hz);
	(void)fprintf(to, "%s\n", m->interrupted ? " (ended early)" : "");
	uint64_t tried = add_cap(m->samples, m->dropped);
	if (m->rate_hz > 0 && tried > 0)
		(void)fprintf(to,
			      "%llu dropped (%.2g %%), %llu shortened (%.2g %%), %llu kept without proof that they are "
			      "of one instant, %llu late\n",
			      (unsigned long long)m->dropped, 100.0 * (double)m->dropped / (double)tried,
			      (unsigned long long)m->shortened,
			      m->samples ? 100.0 * (double)m->shortened / (double)m->samples : 0,
			      (unsigned long long)m->unproved, (unsigned long long)m->late);
	if (m->has_wrong_ratio)
		(void)fprintf(to,
			      "wrong (put together of two moments): at most %.2g %% of those shown; on the line of another "
			      "call: at most %.2g %%\n",
			      100 * m->wrong_ratio, 100 * m->moved_ratio * STACK_LINE_OF_MOVED);
	else if (m->rate_hz > 0)
		(void)fputs("too few were read to tell how many may be wrong\n", to);
	if (m->native)
		(void)fprintf(to,
			      "native and Python frames matched in %llu stacks, attached by best guess in %llu, "
			      "without native "
			      "frames %llu\n",
			      (unsigned long long)m->merged, (unsigned long long)m->approximate,
			      (unsigned long long)m->native_missing);
	if (m->missing[0])
		(void)fprintf(to, "less is shown than could be: %s\n", m->missing);
	if (m->incomplete > 0)
		(void)fprintf(to,
			      "in %llu stacks no native frames were found further out than some function that does not "
			      "tell its caller\n",
			      (unsigned long long)m->incomplete);
	if (m->pauses > 0)
		pauses_tell(m, to);
	else if (m->rate_hz > 0)
		(void)fputs("nothing was paused\n", to);
}
