#include <stdio.h>
#include <string.h>

#include "agent/gpu/gpus.h"
#include "agent/map/mapstate.h"
#include "base/buf.h"

/* The drivers are asked once, before the first task. */
static const uint64_t call_ns = 2 * NS_PER_S;

/* Those that we were given: "0,1", "GPU-3fa1…,GPU-…". */
static void given(struct map *m, const char *list)
{
	struct span rest = span_of(list);
	while (rest.len > 0 && m->n_gpus < MAP_GPUS) {
		struct span one = span_trim(span_before(rest, ",")), after = span_after(rest, ",");
		/* CUDA ends its list at the first name that is none */
		if (one.len == 0 || span_eq(one, "-1") || one.len >= sizeof(m->gpu[0]))
			return;
		span_copy(one, m->gpu[m->n_gpus++], sizeof(m->gpu[0]));
		rest = after.p ? after : (struct span){"", 0};
	}
}

static int found(struct map *m, struct fault *f)
{
	cleanup(freep) struct gpuview *view = calloc(1, sizeof(*view));
	const struct gpus_want want = {.subject = "", .call_ns = call_ns};
	int r = view ? gpus_gather(m->w, &want, view, f) : fault_set(f, -ENOMEM, "no memory to look for GPUs");
	for (size_t i = 0; r >= 0 && i < view->set.n && m->n_gpus < MAP_GPUS; i++)
		if (view->set.gpu[i].vendor == GPU_NVIDIA)
			TEXT_FORMAT(m->gpu[m->n_gpus++], "%u", view->set.gpu[i].index);
	return MIN(r, 0);
}

int map_gpus_find(struct map *m, struct fault *f)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	uint32_t per = m->spec->gpus_per_task;
	int r = 0;
	if (per == 0)
		return 0;
	if (list)
		given(m, list);
	else
		r = found(m, f);
	if (r == 0 && per > m->n_gpus)
		r = fault_set(f, -ENODEV, "--gpus-per-task %u: %u GPU%s found%s", per, m->n_gpus,
			      m->n_gpus == 1 ? " is" : "s are",
			      list ? " in CUDA_VISIBLE_DEVICES" : "; CUDA_VISIBLE_DEVICES can name them");
	if (r == 0)
		m->slots = MIN(m->slots, m->n_gpus / per);
	return r;
}

/* Each place has GPUs of its own, so that two tasks never share one. */
void map_gpus_of(struct map *m, uint32_t slot)
{
	uint32_t per = m->spec->gpus_per_task;
	struct buf b = BUF_ON(m->env_gpus);
	if (per == 0)
		return;
	buf_reset(&b);
	buf_add(&b, "CUDA_VISIBLE_DEVICES=");
	for (uint32_t i = 0; i < per; i++)
		buf_printf(&b, "%s%s", i ? "," : "", m->gpu[(slot - 1) * per + i]);
}
