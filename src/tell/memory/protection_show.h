/*
 * What `vigil protect` did, for people and for programs ("vigil.protection/1").
 * This layer does not know act's outcome, so the caller hands over this plain form.
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/json.h"
#include "model/host/finding.h"

struct protection_show_process {
	pid_t pid;
	int before, after;
	const char *result; /* "done" "already" "partly" "raised" "refused" "gone" */
};
struct protection_show_value {
	const char *name, *how, *why_not; /* why_not empty when done */
	bool done, bytes;
	uint64_t before, after;
};
struct protection_show {
	const char *subject, *level, *group;
	bool dry_run;
	int wanted_adj;
	const struct protection_show_process *process;
	size_t n_processes, n_done, n_refused, n_raised;
	struct protection_show_value value[4];
	size_t n_values;
	const char *missing; /* the privilege that is missing, a sentence; empty: none */
	size_t notes_lost;
	const struct findings *threats;
};

struct js *protection_json(const struct protection_show *s);
void protection_text(const struct protection_show *s, bool colour, FILE *to);
