#include "judge/rules/hang_refine.h"

#include <string.h>

static const struct {
	const char *id;
	enum hang_refine refine;
} refines[] = {
	/* where it stands */
	{"hang_unknown", HANG_REFINE_BY_ANY},
	{"missing_rank", HANG_REFINE_BY_ANY},
	{"equal_count_stall", HANG_REFINE_BY_ANY},
	{"p2p_wait", HANG_REFINE_BY_ANY},
	{"rendezvous", HANG_REFINE_BY_ANY},
	{"rank_finishing", HANG_REFINE_BY_ANY},
	{"loader_stuck", HANG_REFINE_BY_ANY},
	{"checkpoint_stuck", HANG_REFINE_BY_ANY},
	{"network_wait", HANG_REFINE_BY_ANY},
	{"waits_for_process", HANG_REFINE_BY_ANY},
	{"waits_for_thread", HANG_REFINE_BY_ANY},
	/* a lock, or a wait whose other end is known: no slow storage and no slow call, whatever function it is in */
	{"lock_wait", HANG_REFINE_BY_REASON},
	{"orphaned_wait", HANG_REFINE_BY_REASON},
	{"abandoned_wait", HANG_REFINE_BY_REASON},
	{"waits_for_visitor", HANG_REFINE_BY_REASON},
	{"call_unanswered", HANG_REFINE_BY_REASON},
	{"lock_not_released", HANG_REFINE_BY_REASON},
	{"waits_for_input", HANG_REFINE_BY_REASON},
	{"terminal_stopped", HANG_REFINE_BY_REASON},
	/* the counters or the stacks say which ranks differ, and in what */
	{"dead_rank", HANG_REFINE_NEVER},
	{"uneven_last_epoch", HANG_REFINE_NEVER},
	{"steps_of_one", HANG_REFINE_NEVER},
	{"rank_not_started", HANG_REFINE_NEVER},
	{"rendezvous_mismatch", HANG_REFINE_NEVER},
	{"store_lost", HANG_REFINE_NEVER},
	{"store_key_not_set", HANG_REFINE_NEVER},
	{"mismatched_collective", HANG_REFINE_NEVER},
	{"collective_order", HANG_REFINE_NEVER},
	{"one_rank_failed", HANG_REFINE_NEVER},
	{"child_fails", HANG_REFINE_NEVER},
	/* Ray itself says what lacks */
	{"ray_no_place", HANG_REFINE_NEVER},
	{"ray_actors_wait", HANG_REFINE_NEVER},
	/* somebody has stopped it */
	{"rank_stopped", HANG_REFINE_NEVER},
	{"rank_traced", HANG_REFINE_NEVER},
	{"process_stopped", HANG_REFINE_NEVER},
	{"process_frozen", HANG_REFINE_NEVER},
	/* proofs */
	{"fork_lock", HANG_REFINE_NEVER},
	{"python_fork_lock", HANG_REFINE_NEVER},
	{"openmp_fork", HANG_REFINE_NEVER},
	{"deadlock", HANG_REFINE_NEVER},
	{"wait_circle", HANG_REFINE_NEVER},
	{"gil_held", HANG_REFINE_NEVER},
	{"storage_stall", HANG_REFINE_NEVER},
	{"loader_worker_dead", HANG_REFINE_NEVER},
	{"shm_full", HANG_REFINE_NEVER},
	/* the call by its name */
	{"data_copy_stuck", HANG_REFINE_NEVER},
	{"download_stuck", HANG_REFINE_NEVER},
	{"tensorboard_remote", HANG_REFINE_NEVER},
	{"sync_batch_norm", HANG_REFINE_NEVER},
	{"gpu_stuck", HANG_REFINE_NEVER},
	/* what it does */
	{"rank_sleeps", HANG_REFINE_NEVER},
	{"poll_loop", HANG_REFINE_NEVER},
	{"spin", HANG_REFINE_NEVER},
	{"busy_without_steps", HANG_REFINE_NEVER},
};

/* Rules of stacks in the book that know a place, in which a program may also stand for another reason. */
static const char *const places[] = {"writer_on_remote_store", "storage_stall",	       "sync_batch_norm",
				     "slow_checkpoint",	       "copy_to_object_store", "loader_waits"};

/* Of these the ones that tell of a store or a disk. */
static const char *const of_bytes[] = {"writer_on_remote_store", "storage_stall", "slow_checkpoint",
				       "copy_to_object_store"};

bool hang_refine_tells_of_bytes(const struct cause_verdict *by)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_bytes); i++)
		if (strcmp(of_bytes[i], by->id) == 0)
			return by->of_stack;
	return false;
}

enum hang_refine hang_refine_of(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(refines); i++)
		if (strcmp(refines[i].id, id) == 0)
			return refines[i].refine;
	return HANG_REFINE_NEVER;
}

static bool says_why(const struct cause_verdict *by)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strcmp(places[i], by->id) == 0)
			return !by->of_stack;
	return true;
}

bool hang_may_refine(const char *id, const struct cause_verdict *by)
{
	enum hang_refine r = hang_refine_of(id);
	return r == HANG_REFINE_BY_ANY || (r == HANG_REFINE_BY_REASON && says_why(by));
}
