#include "cli/run/run_threads.h"

#include <stdlib.h>
#include <string.h>

#include "agent/speed/threadroom.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/text.h"
#include "judge/speed/threadplan.h"

#define RUN_THREADS_MOST 4096

static bool is_set(void *ctx, const char *name)
{
	(void)ctx;
	const char *value = getenv(name);
	return value && *value;
}

/* 0: auto. */
static int number_of(const char *text, uint32_t *ret)
{
	uint64_t n;
	if (strcmp(text, "auto") == 0) {
		*ret = 0;
		return 0;
	}
	if (span_u64(span_of(text), &n) < 0 || n == 0 || n > RUN_THREADS_MOST)
		return -EINVAL;
	*ret = (uint32_t)n;
	return 0;
}

int run_threads_check(const char *text)
{
	uint32_t n;
	if (!text || strcmp(text, "keep") == 0 || number_of(text, &n) == 0)
		return 0;
	log_error("--threads '%s': expected auto, keep or a number from 1 to %d", text, RUN_THREADS_MOST);
	return -EINVAL;
}

static void run_threads_say(const struct threadplan *p, uint32_t threads, uint32_t ranks, const struct threadroom *room)
{
	char text[256];
	struct buf kept = BUF_ON(text);
	buf_reset(&kept);
	for (size_t i = 0; i < p->n_kept; i++)
		buf_printf(&kept, "%s%s", i ? ", " : "; as you have set them stay ", p->kept[i]);
	if (room)
		log_info("--threads auto: %u thread%s for each of %u rank%s on %u core%s%s%s", threads,
			 threads == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", room->cores,
			 room->cores == 1 ? "" : "s",
			 room->quota_cores > 0 && room->quota_cores < room->cores ? " under a quota" : "", kept.text);
	else
		log_info("--threads %u%s", threads, kept.text);
	if (room && ranks > room->cores)
		log_warning("--threads auto: %u ranks do not fit %u core%s even with one thread each; they take turns",
			    ranks, room->cores, room->cores == 1 ? "" : "s");
}

void run_threads_set(const char *text, const struct world *w, struct run_spec *spec)
{
	static struct threadplan plan; /* the job's environment points into it until the end */
	static const char *items[THREADPLAN_VARIABLES];
	const uint32_t ranks = MAX(spec->nproc, 1u);
	struct threadroom room;
	uint32_t threads;
	if (!text || strcmp(text, "keep") == 0 || number_of(text, &threads) < 0)
		return;
	const bool by_cores = threads == 0;
	if (by_cores) {
		threadroom_read(w, &room);
		threads = threadplan_threads(room.cores, room.quota_cores, ranks);
	}
	threadplan_make(threads, is_set, NULL, &plan);
	for (size_t i = 0; i < plan.n; i++)
		items[i] = plan.item[i];
	spec->env = items;
	spec->n_env = plan.n;
	if (!spec->watch.quiet)
		run_threads_say(&plan, threads, ranks, by_cores ? &room : NULL);
}
