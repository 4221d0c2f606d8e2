#include "cli/host/memgather.h"

#include <stdlib.h>

#include "tell/store/store.h"

/* Jobs of the store that have not ended. */
struct known {
	struct job job[FOOTPRINT_JOBS];
	size_t n;
};

static int known_add(void *ctx, const struct job *j)
{
	struct known *k = ctx;
	if (j->ended_unix_ms == 0 && k->n < ARRAY_SIZE(k->job))
		k->job[k->n++] = *j;
	return 0;
}

/* Without a store, or with one that may not be read, the limits of jobs are not shown. */
static void known_read(const char *state, struct known *k)
{
	cleanup(store_closep) struct store *store = NULL;
	char note[256];
	struct fault f;
	if (store_open(state, STORE_READ, &store, note, &f) == 0)
		ignore(store_each_job(store, 0, known_add, k), "what was read until then is shown");
}

int memgather(const struct world *w, const char *state, const struct memgather_want *what, struct footprint *ret,
	      struct fault *f)
{
	const struct subject *s = what->subject;
	const struct members_want members = s ? subject_members(s) : (struct members_want){.root = 0};
	cleanup(freep) struct known *known = calloc(1, sizeof(*known));
	if (!known)
		return fault_set(f, -ENOMEM, "out of memory");
	if (s && s->is_job)
		(void)known_add(known, &s->job);
	else if (!s)
		known_read(state, known);
	const struct memory_want want = {.members = s ? &members : NULL,
					 .subject = s ? s->text : "",
					 .jobs = known->job,
					 .n_jobs = known->n,
					 .gpus = what->gpus,
					 .all = what->all};
	return memory_gather(w, &want, ret, f);
}
