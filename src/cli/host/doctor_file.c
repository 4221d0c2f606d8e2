#include "cli/host/doctor_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/speed/tracefile.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/screen/stopkey.h"
#include "cli/screen/view.h"
#include "judge/speed/tracejudge.h"
#include "tell/host/findings.h"

static struct js *sum_json(const struct tracefacts *t, const struct tracesum *s)
{
	struct js *j = js_object();
	js_put_u64(j, "events", t->n_events);
	js_put_u64(j, "bytes", t->n_bytes);
	js_put_u64(j, "rows", s->rows);
	js_put_u64(j, "workers", s->workers);
	js_put_u64(j, "tasks", s->tasks);
	js_put_double(j, "span_s", s->span_s);
	js_put_double(j, "any_s", s->any_s);
	js_put_double(j, "busy_s", s->busy_s);
	js_put_double(j, "longest_s", s->longest_s);
	js_put_double(j, "median_s", s->median_s);
	js_put_double(j, "gap_s", s->gap_s);
	js_put_double(j, "best_s", s->best_s);
	js_put_text(j, "kind", t->ray ? "ray" : s->device ? "gpu" : "rows");
	js_put_bool(j, "cut_off", t->cut_off);
	js_put_bool(j, "full", t->full);
	return j;
}

static void sum_text(const char *path, const struct tracefacts *t, const struct tracesum *s)
{
	printf("Read %" PRIu64
	       " events of %s. Judged are %zu %s of %zu %s%s within %.3g s: %.2f of them work at once while any "
	       "does.\n",
	       t->n_events, path, s->tasks,
	       t->ray	   ? "Ray tasks"
	       : s->device ? "kernels and copies"
			   : "outermost events",
	       s->workers, s->device ? "stream" : "worker", s->workers == 1 ? "" : "s", s->span_s,
	       s->any_s > 0 ? s->busy_s / s->any_s : 0);
	puts("Looked at: the length of tasks and the time between them, how many workers work at once, one that does "
	     "everything, unequal lengths, and times in which nobody works. A trace does not say which node is the "
	     "head "
	     "of a cluster, nor what a worker waits for.");
	if (t->cut_off)
		printf("The file ends within, or is damaged, after %" PRIu64
		       " bytes of its text: what stands before that "
		       "was judged.\n",
		       t->cut_at);
	if (t->full)
		puts("It has more rows or events than are kept: the first ones were judged.");
}

int doctor_file(const char *path, bool json)
{
	static struct findings all;
	struct tracefacts facts;
	struct tracesum sum;
	struct fault f = {.text = ""};
	int r = tracefile_read(path, stopkey_begin(false), &facts, &f);
	if (r) {
		log_error("%s", f.text);
		return r == -ENOENT ? EXIT_ABSENT : r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_PROBLEM;
	}
	r = trace_judge(&facts, &sum, &all);
	if (r < 0) {
		tracefacts_done(&facts);
		log_error("cannot judge %s: memory is short", path);
		return EXIT_PROBLEM;
	}
	if (json) {
		struct js *j = findings_json(&all);
		js_put(j, "trace", sum_json(&facts, &sum));
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		findings_text(&all, view_colour(), stdout);
		if (all.n == 0)
			puts("Nothing that I can see holds this back.");
		putchar('\n');
		sum_text(path, &facts, &sum);
	}
	tracefacts_done(&facts);
	return findings_worst(&all) >= SEVERITY_WARNING ? EXIT_PROBLEM : 0;
}
