/* The options and words of `vigil map`, and what they ask for. */
#pragma once

#include "agent/map/mapspec.h"
#include "cli/options/option.h"

struct map_options {
	const char *jobs, *max_procs;
	bool no_run_if_empty, will_cite; /* so it is always; there is nothing to cite */
	struct option_list files;
	bool null;
	const char *delimiter;
	uint32_t per_task, max_args;
	bool shuf;
	uint32_t gpus;
	uint64_t delay;
	const char *timeout;
	uint32_t retries;
	const char *halt;
	uint64_t memory_limit;
	bool keep_order, group, ungroup, line_buffer, lb, tag, dry_run, quote, bar, eta;
	const char *results, *joblog;
	bool resume, resume_failed, retry_failed;
	bool link, xapply;
	const char *colsep;
	bool context_replace, multiple, xargs;
	uint32_t max_chars;
	bool pipe;
	uint64_t block;
	const char *recend;
	const char *name, *state, *config;
	bool quiet, json;
};

/*
 * *ret_words: the words of spec->words that are the command. Everything is borrowed from argv. -EINVAL: it was said
 * why.
 */
int must_check map_spec_of(const struct map_options *o, int argc, char **argv, struct map_spec *spec,
			   size_t *ret_words);
