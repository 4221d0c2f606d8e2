#include "cli/options/guard_options.h"

#include <string.h>

#include "agent/jobs/retention.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/memory/wish.h"

_Static_assert(2 * ARRAY_SIZE(((struct option_list *)0)->item) <= WISHES_MAX, "no pattern is left out");

int guard_pattern_check(const char *item, struct fault *f)
{
	if (strlen(item) < WISH_TEXT)
		return 0;
	return fault_set(f, -EINVAL, "'%.40s…' is %zu bytes long; a pattern of --prefer or --avoid has at most %d",
			 item, strlen(item), WISH_TEXT - 1);
}

struct watch_spec watch_spec_of(const struct guard_options *g, const struct hang_options *h, const char *rules,
				struct hang_settings *settings)
{
	return (struct watch_spec){
		.name = g->name,
		.rules = rules,
		.guard = {.threshold_ratio = g->memory_threshold,
			  .warn_ratio = g->warn_at,
			  .has_min_free = g->min_free > 0,
			  .min_free_bytes = g->min_free,
			  .limit_bytes = g->memory_limit ? g->memory_limit : CGROUP_NO_LIMIT,
			  .grace_ns = g->grace,
			  .prefer = g->prefer.item,
			  .n_prefer = g->prefer.n,
			  .avoid = g->avoid.item,
			  .n_avoid = g->avoid.n,
			  .dry_run = g->dry_run,
			  .policy = (enum victim_policy)g->policy,
			  .freeze = g->freeze},
		.hang = hang_settings_of(h, settings) ? settings : NULL,
		.progress = h->progress.item,
		.n_progress = h->progress.n,
		.on_hang = (enum on_hang)h->on_hang,
		.protect = g->protect,
		.quiet = g->quiet,
		.json = g->json,
	};
}

void guard_options_sweep(const struct guard_options *g, const struct world *w, const char *state_dir)
{
	const struct retention keep = {.most_bytes = g->keep_jobs, .longest_ns = g->keep_jobs_for};
	struct forgotten gone;
	struct fault f = {.text = ""};
	int r = retention_sweep(w, state_dir, &keep, clock_unix_ms(), &gone, &f);
	if (r < 0)
		log_debug("what ended jobs left was not looked through: %s", f.text);
	else if (gone.jobs > 0)
		log_debug("%zu ended jobs were forgotten (--keep-jobs, --keep-jobs-for)", gone.jobs);
}

void guard_options_stay(const struct guard_options *g, const struct world *w, const char *state_dir)
{
	const struct retention keep = {.most_bytes = g->keep_jobs, .longest_ns = g->keep_jobs_for};
	int r = retention_stay(w, state_dir, &keep);
	if (r < 0)
		log_warning("what ended jobs leave is not removed while this runs: %s", strerror(-r));
}
