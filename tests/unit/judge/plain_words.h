/*
 * What people read of a report has plain words: no placeholder that was left in, no "rank ?", no id of a cause (which
 * has a field of its own).
 */
#pragma once

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "testing.h"

#include "model/incident/incident.h"

static const char *const hang_cause_ids[] = {
	"dead_rank",	    "uneven_last_epoch",   "rank_not_started", "rendezvous_mismatch", "rendezvous",
	"store_lost",	    "rank_stopped",	   "rank_traced",      "fork_lock",	      "python_fork_lock",
	"deadlock",	    "wait_circle",	   "orphaned_wait",    "abandoned_wait",      "process_stopped",
	"process_frozen",   "waits_for_visitor",   "openmp_fork",      "gil_held",	      "storage_stall",
	"call_unanswered",  "store_key_not_set",
	"loader_worker_dead", "loader_stuck",	   "shm_full",	       "data_copy_stuck",     "download_stuck",
	"checkpoint_stuck", "tensorboard_remote",  "sync_batch_norm",  "missing_rank",	      "mismatched_collective",
	"collective_order", "p2p_wait",		   "equal_count_stall", "rank_finishing",     "one_rank_failed",
	"rank_sleeps",	    "poll_loop",	   "lock_wait",	       "waits_for_process",   "waits_for_thread",
	"spin",		    "busy_without_steps",  "gpu_stuck",	       "network_wait",	      "hang_unknown",
	"waits_for_input",  "terminal_stopped",	   "ray_no_place",
	"ray_actors_wait",  "child_fails",	   "lock_not_released", "steps_of_one",
};

static inline bool plain_part(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if the word stands alone in the text. */
static inline bool plain_has(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		/* "JOB 1234" and "std::bad_alloc" are meant */
		if ((at == text || (!plain_part(at[-1]) && at[-1] != ':')) && !plain_part(at[n]) &&
		    !(at[n] == ' ' && isdigit((unsigned char)at[n + 1])))
			return true;
	return false;
}

static inline void plain_text(const char *text, const char *id, const char *where)
{
	static const char *const placeholders[] = {"JOB", "PID", "FILE"};
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		if (plain_has(text, placeholders[i]))
			fail_msg("%s: %s is left in: %s", where, placeholders[i], text);
	if (strcasestr(text, "rank ?"))
		fail_msg("%s: a rank without a number: %s", where, text);
	if (strchr(id, '_') && plain_has(text, id))
		fail_msg("%s: %s is an id, not a word: %s", where, id, text);
	for (size_t i = 0; i < ARRAY_SIZE(hang_cause_ids); i++)
		if (strchr(hang_cause_ids[i], '_') && plain_has(text, hang_cause_ids[i]))
			fail_msg("%s: %s is an id, not a word: %s", where, hang_cause_ids[i], text);
}

/* in: as the judge made it; its advice gets the job's name, as in a report. */
static inline void plain_words(struct incident *in, const char *where)
{
	incident_advice_name_job(in);
	plain_text(in->summary, in->cause.id, where);
	plain_text(in->cause.text, in->cause.id, where);
	for (size_t i = 0; i < in->cause.n_advice; i++)
		plain_text(in->cause.advice[i], in->cause.id, where);
}
