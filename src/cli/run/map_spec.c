#include "cli/run/map_spec.h"

#include <stdio.h>
#include <string.h>

#include "agent/map/mapslots.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"

/* ---- options that are more than one number ---- */

static int jobs_of(const char *text, struct map_spec *spec)
{
	if (mapslots_parse(text ? text : "100%", &spec->slots) == 0)
		return 0;
	int r = mapslots_read(text, &spec->slots);
	if (r == 0) {
		spec->slots_path = text;
		return 0;
	}
	log_error(
		"--jobs '%s': expected a number of tasks such as 4, a share of the cores such as 50%%, +N or -N beside "
		"the cores, or a file with one of these in it%s%s",
		text, r == -ENOENT ? "" : ": ", r == -ENOENT ? "" : strerror(-r));
	return -EINVAL;
}

/* Letters after a backslash, and what they stand for. */
static const char escapes[] = "n\nt\tr\rf\fv\va\ab\b\\\\0\0";

static int delimiter_of(const struct map_options *o, struct map_spec *spec)
{
	const char *d = o->delimiter;
	spec->delimiter = o->null ? '\0' : '\n';
	if (!d)
		return 0;
	spec->split_items = true;
	spec->delimiter = d[0];
	if (d[0] && !d[1])
		return 0;
	if (d[0] == '\\' && d[1] && !d[2])
		for (size_t i = 0; i + 1 < sizeof(escapes); i += 2)
			if (escapes[i] == d[1]) {
				spec->delimiter = escapes[i + 1];
				return 0;
			}
	unsigned v;
	char after;
	if (d[0] == '\\' && d[1] == 'x' && strlen(d) <= 4 && sscanf(d + 2, "%2x%c", &v, &after) == 1) {
		spec->delimiter = (char)v;
		return 0;
	}
	log_error("--delimiter '%s': expected one character, or \\n, \\t, \\0 or \\xHH", d);
	return -EINVAL;
}

static int timeout_of(const char *text, struct map_spec *spec)
{
	struct fault f = {.text = ""};
	size_t len = text ? strlen(text) : 0;
	int r = 0;
	if (len > 0 && text[len - 1] == '%') {
		uint64_t percent;
		r = span_u64((struct span){text, len - 1}, &percent);
		if (r < 0 || percent == 0 || percent > 1000000)
			r = fault_set(&f, -EINVAL,
				      "'%s': expected a time such as 90 or 5m, or a share of the median such "
				      "as 200%%",
				      text);
		else
			spec->timeout_ratio = (double)percent / 100;
	} else if (text) {
		r = duration_parse(text, &spec->timeout_ns, &f);
	}
	if (r < 0)
		log_error("--timeout %s", f.text);
	return r;
}

static int record_end_of(const struct map_options *o, struct map_spec *spec)
{
	static char end[64];
	size_t n = 0;
	for (const char *p = o->recend; *p && n < sizeof(end) - 1; p++) {
		char c = *p;
		for (size_t i = 0; *p == '\\' && p[1] && p[1] != '0' && i + 1 < sizeof(escapes); i += 2)
			if (escapes[i] == p[1])
				c = escapes[i + 1];
		p += *p == '\\' && p[1] && (c != '\\' || p[1] == '\\');
		end[n++] = c;
	}
	end[n] = '\0';
	spec->record_end = end;
	if (n > 0 && n < sizeof(end) - 1)
		return 0;
	log_error("--recend '%.80s': expected a text of 1 to 62 bytes that ends a record, such as \\n", o->recend);
	return -EINVAL;
}

/* A table by the end of its name, as GNU parallel has it. */
static void results_of(const struct map_options *o, struct map_spec *spec)
{
	static const char *const ends[] = {".csv", ".tsv", ".json"};
	size_t len = o->results ? strlen(o->results) : 0;
	spec->results = o->results;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (len > strlen(ends[i]) && strcasecmp(o->results + len - strlen(ends[i]), ends[i]) == 0)
			spec->results_as = (enum map_results)(MAP_CSV + i);
}

/* ---- what follows the command ---- */

static int source_add(struct map_spec *spec, const struct map_source *s)
{
	if (spec->n_sources == MAP_SOURCES) {
		log_error("more than %d sources of inputs", MAP_SOURCES);
		return -E2BIG;
	}
	spec->source[spec->n_sources] = *s;
	spec->source[spec->n_sources++].linked |= spec->link;
	return 0;
}

static const struct separator {
	const char *word;
	bool files, linked;
} separators[] = {{":::", false, false}, {"::::", true, false}, {":::+", false, true}, {"::::+", true, true}};

static const struct separator *separator_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(separators); i++)
		if (strcmp(word, separators[i].word) == 0)
			return &separators[i];
	return NULL;
}

static int map_sources_add(struct map_spec *spec, const struct separator *s, char **argv, size_t n)
{
	if (!s->files)
		return source_add(spec, &(struct map_source){.item = argv, .n = n, .linked = s->linked});
	if (n == 0) {
		log_error("no file after %s", s->word);
		return -EINVAL;
	}
	for (size_t i = 0; i < n; i++)
		if (source_add(spec, &(struct map_source){.path = argv[i], .linked = s->linked}) < 0)
			return -EINVAL;
	return 0;
}

/* Takes the words apart: the command, then what follows each ::: or ::::. */
static int sources_of(const struct map_options *o, int argc, char **argv, struct map_spec *spec, size_t *ret_words)
{
	int r = 0, at = 0;
	for (size_t i = 0; i < o->files.n && r == 0; i++)
		r = source_add(spec, &(struct map_source){.path = o->files.item[i]});
	while (at < argc && !separator_of(argv[at]))
		at++;
	*ret_words = (size_t)at;
	while (at < argc && r == 0) {
		int from = at + 1, to = from;
		while (to < argc && !separator_of(argv[to]))
			to++;
		r = map_sources_add(spec, separator_of(argv[at]), argv + from, (size_t)(to - from));
		at = to;
	}
	if (r == 0 && spec->n_sources == 0)
		r = source_add(spec, &(struct map_source){.path = "-"});
	return r;
}

/* ---- what does not go together ---- */

static const char *inputs_conflict(const struct map_options *o)
{
	const int many = o->context_replace + o->multiple + o->xargs;
	return many > 1		 ? "-X, -m and --xargs exclude each other; give one"
	       : o->pipe && many ? "--pipe gives a task a block and no inputs; leave out -X, -m and --xargs"
	       : o->pipe && (o->shuf || o->colsep || o->link || o->xapply)
		       ? "--pipe reads a stream from its beginning; leave out --shuf, --colsep and --link"
	       : o->pipe && o->block == 0 ? "--block 0: expected a size such as 1M"
	       : o->pipe && strchr(o->halt ? o->halt : "", '%')
		       ? "--halt with a share needs the number of tasks, which with --pipe nobody knows"
	       : many && o->max_chars == 0 ? "--max-chars 0: a command needs some bytes"
	       : o->link && o->xapply	   ? "--link and --xapply are the same; give one"
					   : NULL;
}

static const char *output_conflict(const struct map_options *o)
{
	const bool lines = o->line_buffer || o->lb;
	return lines + o->ungroup + o->group > 1 ? "--group, --line-buffer and --ungroup exclude each other; give one"
	       : o->keep_order && (lines || o->ungroup)
		       ? "--keep-order needs a task's whole output; leave out --line-buffer and --ungroup"
	       : o->tag && o->ungroup ? "--tag changes lines, and with --ungroup vigil sees none; use --line-buffer"
	       : o->results && (lines || o->ungroup)
		       ? "--results keeps what is grouped; leave out --line-buffer and --ungroup"
		       : NULL;
}

static int options_conflict(const struct map_options *o, const struct map_spec *spec, size_t n_words)
{
	const char *why =
		n_words == 0 ? "no command to run; for example: vigil map gzip {} ::: *.txt; if each input is a line "
			       "of shell: "
			       "vigil map sh -c 'eval {}'"
		: o->jobs && o->max_procs ? "-j and -P are the same; give one"
		: (o->resume || o->resume_failed || o->retry_failed) && !o->joblog
			? "--resume and --retry-failed read what was run from a joblog; add --joblog FILE"
		: o->retries == 0 ? "--retries 0: a task is run at least once; expected 1 or more"
		: o->pipe && (spec->n_sources != 1 || !spec->source[0].path)
			? "--pipe cuts stdin, or one file (-a FILE), into blocks; leave out the inputs after :::"
			: inputs_conflict(o);
	why = why ? why : output_conflict(o);
	if (why)
		log_error("%s", why);
	return why ? -EINVAL : 0;
}

/* ---- the whole ---- */

static void spec_fill(const struct map_options *o, char **argv, struct map_spec *spec)
{
	*spec = (struct map_spec){.per_task = o->per_task ? o->per_task : o->max_args,
				  .shuffle = o->shuf,
				  .link = o->link || o->xapply,
				  .columns = o->colsep,
				  .many = o->context_replace	    ? MAP_CONTEXT
					  : o->multiple || o->xargs ? MAP_PARTED
								    : MAP_ONE,
				  .spread = o->context_replace || o->multiple,
				  .line_bytes = o->max_chars,
				  .pipe = o->pipe,
				  .block_bytes = o->block,
				  .gpus_per_task = o->gpus,
				  .delay_ns = o->delay,
				  .tries = o->retries,
				  .memory_limit_bytes = o->memory_limit ? o->memory_limit : UINT64_MAX,
				  .output = o->line_buffer || o->lb ? MAP_LINES
					    : o->ungroup	    ? MAP_UNGROUP
								    : MAP_GROUP,
				  .keep_order = o->keep_order,
				  .tag = o->tag,
				  .dry_run = o->dry_run,
				  .bar = o->bar,
				  .eta = o->eta,
				  .joblog = o->joblog,
				  .resume = o->resume,
				  .resume_failed = o->resume_failed || o->retry_failed,
				  .retry_failed = o->retry_failed,
				  .words = argv,
				  .name = o->name,
				  .quiet = o->quiet,
				  .json = o->json};
	results_of(o, spec);
}

/* The joblog says what is run: what was typed is ignored, as by GNU parallel. */
static void retry_fill(struct map_spec *spec, size_t *ret_words)
{
	static char sh[] = "sh", c[] = "-c", line[] = "{}";
	static char *const words[] = {sh, c, line, NULL};
	spec->words = words;
	*ret_words = ARRAY_SIZE(words) - 1;
	spec->n_sources = 0;
	spec->per_task = 0;
	spec->many = MAP_ONE;
	spec->columns = NULL;
	spec->pipe = spec->shuffle = spec->split_items = false;
}

int map_spec_of(const struct map_options *o, int argc, char **argv, struct map_spec *spec, size_t *ret_words)
{
	struct fault f = {.text = ""};
	spec_fill(o, argv, spec);
	if (sources_of(o, argc, argv, spec, ret_words) < 0)
		return -EINVAL;
	if (o->retry_failed)
		retry_fill(spec, ret_words);
	if (options_conflict(o, spec, *ret_words) < 0 || jobs_of(o->jobs ? o->jobs : o->max_procs, spec) < 0 ||
	    delimiter_of(o, spec) < 0 || record_end_of(o, spec) < 0 || timeout_of(o->timeout, spec) < 0)
		return -EINVAL;
	if (o->halt && halt_parse(o->halt, &spec->halt, &f) < 0) {
		log_error("--halt %s", f.text);
		return -EINVAL;
	}
	return 0;
}
