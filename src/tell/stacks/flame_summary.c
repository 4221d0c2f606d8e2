#include "tell/stacks/flame_parts.h"

#include "base/buf.h"
#include "base/units.h"

/* "2,013" */
static char *thousands(uint64_t n, char dst[static 32])
{
	char digits[24];
	size_t len = (size_t)text_format(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			dst[at++] = ',';
		dst[at++] = digits[i];
	}
	dst[at] = '\0';
	return dst;
}

/* "dropped            4 of 2,017 (0.2 %): sentence" */
static void ratio_line(FILE *to, const char *label, uint64_t n, uint64_t of, const char *sentence)
{
	char part[32], whole[32], share[16];
	double percent = of > 0 ? 100.0 * (double)n / (double)of : 0;
	(void)text_format(share, sizeof(share), percent >= 10 ? "%.0f" : "%.2g", percent);
	(void)fprintf(to, "%-18s %s of %s (%s %%): %s\n", label, thousands(n, part), thousands(of, whole), share,
		      sentence);
}

static void pauses_line(const struct stackset_meta *m, FILE *to)
{
	char most[24], sum[24], median[24], count[32], caught[32];
	(void)fprintf(to, "%-18s %s, ", "pauses", thousands(m->pauses, count));
	if (m->pauses_caught)
		(void)fprintf(to, "%s of them without stopping the thread", thousands(m->pauses_caught, caught));
	else
		(void)fputs("the thread was stopped each time", to);
	(void)fprintf(to, ": half took at most %s, the longest %s, all together %s\n",
		      duration_format(m->pause_ns_median, median), duration_format(m->pause_ns_max, most),
		      duration_format(m->pause_ns_sum, sum));
	if (!m->pauses_caught)
		(void)fprintf(to, "%-18s Linux 5.17 with BTF, and root or CAP_BPF and CAP_PERFMON\n", "shorter pauses");
}

static void quality_lines(const struct stackset_meta *m, FILE *to)
{
	ratio_line(to, "dropped", m->dropped, add_cap(m->samples, m->dropped), "changed while read; left out");
	ratio_line(to, "shortened", m->shortened, m->samples, "without callers that changed meanwhile");
	ratio_line(to, "unproved", m->unproved, m->samples, "maybe not of one moment, not proved");
	ratio_line(to, "late", m->late, m->samples, "taken more than one period too late");
	if (m->has_wrong_ratio)
		(void)fprintf(to,
			      "%-18s at most %.2g %%: frames of two moments in one stack\n"
			      "%-18s at most %.2g %%: a caller on the line of another call\n",
			      "wrong stacks", 100 * m->wrong_ratio, "wrong lines",
			      100 * m->moved_ratio * STACK_LINE_OF_MOVED);
	else
		(void)fprintf(to, "%-18s unknown: there are too few samples to give a limit\n", "wrong stacks");
}

static void native_lines(const struct stackset_meta *m, FILE *to)
{
	ratio_line(to, "matched stacks", m->merged, m->samples, "native and Python frames fit together");
	ratio_line(to, "guessed stacks", m->approximate, m->samples,
		   "native and Python frames did not fit and are joined by a best guess");
	ratio_line(to, "Python only", m->native_missing, m->samples,
		   "the thread could not be paused in time, so native frames are missing");
}

void flame_summary(const struct stackset *s, FILE *to)
{
	const struct stackset_meta *m = stackset_meta_of(s);
	char length[24], count[32];
	size_t n_lanes;
	const struct stack_lane *lanes = stackset_lanes(s, &n_lanes);
	const char *one = n_lanes > 0 && lanes[0].tid ? "thread" : "process",
		   *more = n_lanes > 0 && lanes[0].tid ? "s" : "es";
	(void)fprintf(to, "%s stacks of %zu %s%s", thousands(m->samples, count), n_lanes, one,
		      n_lanes == 1 ? "" : more);
	if (m->duration_ns > 0)
		(void)fprintf(to, " in %s", duration_format(m->duration_ns, length));
	if (m->rate_hz > 0)
		(void)fprintf(to, ", %.4g of %.4g times a second", m->rate_got_hz, m->rate_hz);
	(void)fprintf(to, "%s\n", m->interrupted ? " (ended early)" : "");
	if (m->rate_hz > 0)
		quality_lines(m, to);
	if (m->native)
		native_lines(m, to);
	if (m->missing[0])
		(void)fprintf(to, "%-18s %s\n", "not shown", m->missing);
	if (m->incomplete > 0)
		ratio_line(to, "incomplete stacks", m->incomplete, m->samples,
			   "their outermost native callers could not be found");
	if (m->pauses > 0)
		pauses_line(m, to);
	else if (m->rate_hz > 0)
		(void)fprintf(to, "%-18s 0: no thread was stopped\n", "pauses");
}
