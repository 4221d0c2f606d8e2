#include "cli/heap/heap_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "cli/heap/heap_save.h"
#include "cli/options/commands.h"
#include "cli/screen/pager.h"
#include "cli/screen/view.h"
#include "cli/stacks/recording.h"
#include "tell/stacks/flame.h"

/* The indices are enum heap_format. */
const char *const heap_format_choices[] = {"table", "html", "svg", "folded", "pprof", "json", NULL};
static const char *const format_suffix[] = {"txt", "html", "svg", "folded", "pb.gz", "json"};
/* The indices are enum heap_by. */
const char *const heap_by_choices[] = {"job", "rank", "process", NULL};

/* By the name of the output where --format does not say it. */
static enum heap_format format_of(const struct heap_write_want *o)
{
	if (o->format >= 0)
		return (enum heap_format)o->format;
	size_t len = o->output ? strlen(o->output) : 0;
	for (int i = 0; heap_format_choices[i] && o->output; i++) {
		size_t n = strlen(format_suffix[i]);
		if (len > n && o->output[len - n - 1] == '.' && strcmp(o->output + len - n, format_suffix[i]) == 0)
			return (enum heap_format)i;
	}
	return HEAP_TABLE;
}

static int stacks_of(const struct heap_write_want *s, const struct heapset_want *part, enum heap_format format,
		     struct stackset **ret)
{
	static const enum stack_lanes lanes[] = {
		[HEAP_BY_JOB] = LANES_ALL, [HEAP_BY_RANK] = LANES_RANK, [HEAP_BY_PROCESS] = LANES_PROCESS};
	cleanup(stackset_freep) struct stackset *all = NULL;
	struct heapset_want want = *part;
	bool only_idle;
	/* html and pprof keep processes apart by themselves */
	bool whole = format == HEAP_HTML || format == HEAP_PPROF;
	want.by = whole ? LANES_PROCESS : lanes[s->by];
	int r = heapset_view(s->set, &want, &all);
	if (r < 0)
		return r;
	TEXT_FORMAT(stackset_meta(all)->title, "Memory (%s) of %s", heapset_what_name(part->what), s->name->title);
	if (whole || want.by == LANES_ALL) {
		*ret = take(&all);
		return 0;
	}
	const struct stack_want view = {.idle = true, .lanes = want.by, .lines = true};
	return stackset_view(all, &view, ret, &only_idle);
}

static int write_stacks(const struct heap_write_want *s, const struct heap_show_want *want, enum heap_format format,
			FILE *to, struct fault *f)
{
	static const enum flame_format flames[] = {[HEAP_HTML] = FLAME_HTML,
						   [HEAP_SVG] = FLAME_SVG,
						   [HEAP_FOLDED] = FLAME_FOLDED,
						   [HEAP_PPROF] = FLAME_PPROF};
	cleanup(stackset_freep) struct stackset *now = NULL;
	cleanup(stackset_freep) struct stackset *before = NULL;
	int r = stacks_of(s, &want->part, want->compare ? HEAP_SVG : format, &now);
	if (r == 0 && want->compare)
		r = stacks_of(s, &want->before, HEAP_SVG, &before);
	if (r < 0)
		return r;
	r = want->compare ? flame_diff_write(before, now, flames[format], to) : flame_write(now, flames[format], to);
	return r == -ENOTSUP
		       ? fault_set(f, r, "differences are written as a table, html, svg, folded or json, not as %s",
				   heap_format_choices[format])
		       : r;
}

static int heap_write(const struct heap_write_want *s, const struct heap_show_want *want, enum heap_format format,
		      FILE *to, struct fault *f)
{
	if (format == HEAP_JSON)
		return heap_json_write(s->set, want, to);
	if (format != HEAP_TABLE) {
		pager_whole_lines();
		return write_stacks(s, want, format, to, f);
	}
	const bool shown = to == stdout;
	const struct textout paper = {.to = to,
				      .colour = shown && view_colour(),
				      .width = shown ? textout_width(stdout) : 0};
	return heap_table(s->set, want, &paper);
}

static bool is_profile(const struct heap_write_want *o)
{
	size_t len = o->output ? strlen(o->output) : 0;
	return o->format < 0 && len > 5 && strcmp(o->output + len - 5, ".heap") == 0;
}

static int save_profiles(const struct heap_write_want *s, const struct heapset_want *part)
{
	struct fault f = {.text = ""};
	size_t n = 0;
	if (heap_save(s->world, s->set, part, s->output, &n, &f) != 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	log_info("%zu profile%s as of now in %s; 'vigil heap %s --diff %s' tells what changed since", n,
		 n == 1 ? "" : "s", s->output, s->name->key, s->output);
	return 0;
}

int heap_write_out(const struct heap_write_want *s)
{
	const struct heap_show_want *want = s->show;
	struct fault f = {.text = ""};
	struct recording_out out;
	enum heap_format format = format_of(s);
	if (is_profile(s))
		return save_profiles(s, &want->part);
	bool text = format == HEAP_TABLE || format == HEAP_FOLDED || s->json_flag;
	int r = recording_out_open(s->output, "vigil-heap", s->name->key, format_suffix[format], text, &out, &f);
	if (r == 0)
		r = recording_out_end(&out, heap_write(s, want, format, out.to, &f), &f);
	if (r) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (out.path[0])
		log_info("written to %s", out.path);
	for (size_t i = 0; format != HEAP_TABLE && format != HEAP_JSON && i < want->n_remarks; i++)
		log_warning("%s", want->remarks[i]);
	return 0;
}
