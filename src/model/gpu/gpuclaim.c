#include "model/gpu/gpuclaim.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(GPU_MAX <= 32, "one bit each");

static int pid_order(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

static bool is_of(const struct gpuclaim_rank *r, pid_t pid)
{
	return pid && bsearch(&pid, r->pids, r->n, sizeof(pid), pid_order);
}

static uint32_t listed(const struct gpu_set *set, const struct gpuclaim_rank *r, enum gpu_by by)
{
	uint32_t devices = 0;
	for (uint32_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++)
		for (uint32_t k = 0; k < set->gpu[i].n_processes; k++)
			if (set->gpu[i].process[k].by == by && is_of(r, set->gpu[i].process[k].pid))
				devices |= 1u << i;
	return devices;
}

/*
 * True if a process number of this vendor's driver names a process here. Then all of its numbers are valid in our
 * namespace.
 */
static bool has_known_pid(const struct gpu_set *set, enum gpu_vendor vendor)
{
	for (uint32_t i = 0; i < set->n; i++)
		for (uint32_t k = 0; set->gpu[i].vendor == vendor && k < set->gpu[i].n_processes; k++)
			if (set->gpu[i].process[k].pid && set->gpu[i].process[k].by == GPU_BY_DRIVER)
				return true;
	return false;
}

uint32_t gpuclaim_unsettled(const struct gpu_set *set, bool pids_foreign)
{
	uint32_t devices = 0;
	for (uint32_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++)
		if (!set->gpu[i].has_processes || (pids_foreign && !has_known_pid(set, set->gpu[i].vendor)))
			devices |= 1u << i;
	return devices;
}

static uint32_t held(const struct gpu_set *set, const struct gpuheld *h)
{
	uint32_t devices = 0;
	for (uint32_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++)
		if (gpuheld_has(h, &set->gpu[i]))
			devices |= 1u << i;
	return devices;
}

/*
 * By default CUDA orders equal devices by bus address and others by estimated speed, so the order is known for equal
 * devices or if by_bus is set.
 */
static bool order_is_known(const struct gpu_set *set, bool by_bus)
{
	const struct gpu_sample *first = NULL;
	for (uint32_t i = 0; i < set->n; i++) {
		const struct gpu_sample *g = &set->gpu[i];
		if (g->vendor != GPU_NVIDIA)
			continue;
		if (first && !by_bus && strcmp(first->name, g->name) != 0)
			return false;
		first = first ? first : g;
	}
	return set->n_dropped == 0;
}

static bool one_visible(const struct gpu_set *set, struct span word, uint32_t *ret)
{
	uint64_t n;
	bool number = span_u64(word, &n) == 0;
	*ret = 0;
	for (uint32_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++) {
		const struct gpu_sample *g = &set->gpu[i];
		if (g->vendor != GPU_NVIDIA)
			continue;
		if (number ? g->index == n : span_starts(span_of(g->uuid), "GPU-") && word.len > 4 &&
						      strlen(g->uuid) >= word.len &&
						      memcmp(g->uuid, word.p, word.len) == 0)
			*ret |= 1u << i;
	}
	return number;
}

bool gpuclaim_visible(const struct gpu_set *set, struct span text, bool by_bus, uint32_t *ret)
{
	uint32_t devices = 0;
	struct span rest = text;
	while (rest.p) {
		uint32_t one;
		struct span word = span_trim(span_before(rest, ","));
		rest = span_after(rest, ",");
		if (span_starts(word, "MIG-"))
			return false;
		if (one_visible(set, word, &one) && !order_is_known(set, by_bus))
			return false;
		if (one == 0)
			break;
		devices |= one;
	}
	*ret = devices;
	return true;
}

struct gpuclaim gpuclaim_by_driver(const struct gpu_set *set, const struct gpuclaim_rank *r)
{
	return (struct gpuclaim){listed(set, r, GPU_BY_DRIVER), GPU_BY_DRIVER};
}

struct gpuclaim gpuclaim_of(const struct gpu_set *set, uint32_t unsettled, const struct gpuclaim_rank *r)
{
	struct gpuclaim c = gpuclaim_by_driver(set, r);
	uint32_t visible;
	if (c.devices)
		return c;
	uint32_t mapped = held(set, &r->mapped) & unsettled;
	if (mapped)
		return (struct gpuclaim){mapped, GPU_BY_MAPPED};
	/* a device that fdinfo lists without memory or work is open, no more */
	uint32_t open = (held(set, &r->open) & unsettled) | listed(set, r, GPU_BY_OPEN);
	if (open && r->has_visible && gpuclaim_visible(set, r->visible, r->by_bus, &visible)) {
		uint32_t nvidia = 0;
		for (uint32_t i = 0; i < MIN(set->n, (uint32_t)GPU_MAX); i++)
			nvidia |= set->gpu[i].vendor == GPU_NVIDIA ? 1u << i : 0;
		uint32_t left = open & (visible | ~nvidia);
		/*
		 * No visible device is a deliberate setting. If the visible devices are not among the open ones, the
		 * setting proves nothing.
		 */
		if (left != open && (left || visible == 0))
			return (struct gpuclaim){left, GPU_BY_VISIBLE};
	}
	return (struct gpuclaim){open, GPU_BY_OPEN};
}
