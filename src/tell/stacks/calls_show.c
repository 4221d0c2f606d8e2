#include "tell/stacks/calls_show.h"

#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "model/incident/incident.h" /* NO_RANK */
#include "tell/text/textout.h"

#define NAME_MAX_SHOWN 1024

/* "file:line(function)", and "{built-in …}" for what has no file. */
static void name_put(const struct call_function *f, FILE *to)
{
	char name[NAME_MAX_SHOWN], file[NAME_MAX_SHOWN];
	textout_clean(f->name, name, sizeof(name));
	size_t len = strlen(name);
	if (strcmp(f->file, "~") == 0 && f->line == 0) {
		bool angled = len > 1 && name[0] == '<' && name[len - 1] == '>';
		if (angled)
			fprintf(to, "{%.*s}", (int)(len - 2), name + 1);
		else
			fputs(name, to);
		return;
	}
	textout_clean(f->file, file, sizeof(file));
	if (f->line == 0) /* samples: the first line of native functions is not known */
		fprintf(to, "%s(%s)", file, name);
	else
		fprintf(to, "%s:%d(%s)", file, f->line, name);
}

static void ncalls_put(const struct call_function *f, FILE *to)
{
	char text[64];
	if (f->n_calls != f->n_primitive)
		TEXT_FORMAT(text, "%llu/%llu", (unsigned long long)f->n_calls, (unsigned long long)f->n_primitive);
	else
		TEXT_FORMAT(text, "%llu", (unsigned long long)f->n_calls);
	fprintf(to, "%9s", text);
}

static void per_call_put(double s, uint64_t n, FILE *to)
{
	if (n)
		fprintf(to, " %8.3f", s / (double)n);
	else
		fputs("         ", to);
}

static void spread_put(const struct calls *c, const struct call_function *f, FILE *to)
{
	const struct call_spread s = calls_spread(c, f);
	fprintf(to, " %8.3f %8.3f %8.3f", s.min_s, s.mean_s, s.max_s);
	if (s.max_rank == NO_RANK)
		fputs("    -", to);
	else
		fprintf(to, " %4d", s.max_rank);
}

static void row_put(const struct calls *c, const struct call_function *f, const struct calls_want *want, FILE *to)
{
	if (calls_sampled(c)) {
		fprintf(to, "%9llu %8.3f %8.3f", (unsigned long long)f->n_calls, f->own_s, f->cumulative_s);
	} else {
		ncalls_put(f, to);
		fprintf(to, " %8.3f", f->own_s);
		per_call_put(f->own_s, f->n_calls, to);
		fprintf(to, " %8.3f", f->cumulative_s);
		per_call_put(f->cumulative_s, f->n_primitive, to);
	}
	if (want->ranks)
		spread_put(c, f, to);
	fputc(' ', to);
	name_put(f, to);
	fputc('\n', to);
}

static size_t calls_show_counted(const struct calls *c)
{
	size_t n = 0;
	for (uint32_t i = 0; i < calls_len(c); i++)
		n += call_function_is_counted(calls_get(c, i));
	return n;
}

static void head_put(const struct calls *c, const struct calls_want *want, FILE *to)
{
	static const char *const order[] = {"internal time", "cumulative time", "call count"};
	const struct calls_sum sum = calls_total(c);
	if (calls_sampled(c)) {
		fprintf(to, "         %llu samples in %.3f seconds; samples are estimates, not counts of calls\n",
			(unsigned long long)sum.n_primitive, sum.own_s);
	} else {
		fprintf(to, "         %llu function calls ", (unsigned long long)sum.n_calls);
		if (sum.n_calls != sum.n_primitive)
			fprintf(to, "(%llu primitive calls) ", (unsigned long long)sum.n_primitive);
		fprintf(to, "in %.3f seconds\n", sum.own_s);
	}
	fprintf(to, "\n   Ordered by: %s\n", order[want->sort]);
	size_t all = calls_show_counted(c);
	if (want->limit && want->limit < all)
		fprintf(to, "   List reduced from %zu to %zu due to restriction <%zu>\n", all, want->limit,
			want->limit);
	fputs(calls_sampled(c) ? "\n  samples    own s  total s" : "\n   ncalls  tottime  percall  cumtime  percall",
	      to);
	if (want->ranks)
		fprintf(to, "      min     mean      max %s", calls_parts(c) > 0 ? "rank" : "   -");
	fputs(" filename:lineno(function)\n", to);
}

int calls_table(const struct calls *c, const struct calls_want *want, FILE *to)
{
	cleanup(freep) uint32_t *order = NULL;
	int r = calls_sorted(c, want->sort, &order);
	if (r < 0)
		return r;
	head_put(c, want, to);
	size_t shown = 0;
	for (size_t i = 0; i < calls_len(c) && (want->limit == 0 || shown < want->limit); i++) {
		const struct call_function *f = calls_get(c, order[i]);
		if (!call_function_is_counted(f))
			continue;
		row_put(c, f, want, to);
		shown++;
	}
	fputs("\n\n", to);
	return ferror(to) ? -EIO : 0;
}

static void remark(char (*ret)[400], size_t cap, size_t *n, const char *fmt, ...) printf_like(4, 5);
static void remark(char (*ret)[400], size_t cap, size_t *n, const char *fmt, ...)
{
	va_list ap;
	if (*n >= cap)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(ret[(*n)++], sizeof(*ret), fmt, ap);
	va_end(ap);
}

size_t calls_remarks(const struct calls *c, const struct call_sources *s, char (*ret)[400], size_t cap)
{
	size_t n = 0, unfinished = 0, mixed = 0, profiles = 0, lost = 0;
	for (size_t i = 0; s && i < s->n; i++) {
		const struct call_source *one = &s->items[i];
		unfinished += one->has_note && one->has_profile && !one->complete;
		profiles += one->has_profile;
		lost += one->has_note && !one->has_profile && !one->aside[0];
		mixed += one->threads_mixed;
		if (one->fault[0])
			remark(ret, cap, &n, "left out  %s: %s", one->path, one->fault);
		if (one->aside[0])
			remark(ret, cap, &n, "process %d (%.80s): %s", (int)one->pid,
			       one->command[0] ? one->command : one->path, one->aside);
	}
	if (unfinished)
		remark(ret, cap, &n,
		       "unfinished profiles  %zu of %zu: the process still runs or was killed, so calls that had not "
		       "returned "
		       "at the last write are missing",
		       unfinished, profiles);
	if (lost)
		remark(ret, cap, &n,
		       "missing profiles  %zu process%s: killed, or became another program, before the first profile "
		       "was "
		       "written (0.05 s after the start as a rule); --json lists %s",
		       lost, lost == 1 ? "" : "es", lost == 1 ? "it" : "them");
	if (mixed)
		remark(ret, cap, &n,
		       "mixed threads  %zu process%s: several threads shared cProfile's one stack (CPython 3.12 and "
		       "later), so "
		       "numbers of calls are right, times and callers are not",
		       mixed, mixed == 1 ? "" : "es");
	if (c && calls_sampled(c))
		remark(ret, cap, &n, "samples only  functions that ran too shortly to be sampled are missing");
	return n;
}
