#include "model/jobs/usage.h"

#include "base/bisect.h"

/* Longest chain of ended ancestors that is followed. */
#define CHAIN_MAX 64

static const struct usage_process *find(const struct usage_process *p, size_t n, pid_t pid)
{
	const size_t at = bisect(n, i, p[i].pid < pid);
	return at < n && p[at].pid == pid ? &p[at] : NULL;
}

/* Finds the same process, not a later one with the same pid. */
static const struct usage_process *find_same(const struct usage_process *p, size_t n, const struct usage_process *of)
{
	const struct usage_process *found = find(p, n, of->pid);
	return found && found->start_ticks == of->start_ticks ? found : NULL;
}

static struct usage_lane *usage_lane_at(struct usage *u, int32_t rank)
{
	if (u->n == 0)
		u->lane[u->n++] = (struct usage_lane){.rank = NO_RANK};
	for (size_t i = 0; i < u->n; i++)
		if (u->lane[i].rank == rank)
			return &u->lane[i];
	if (u->n == USAGE_LANES)
		return &u->lane[0];
	u->lane[u->n] = (struct usage_lane){.rank = rank};
	return &u->lane[u->n++];
}

struct step {
	const struct usage_process *was, *now;
	size_t n_was, n_now;
};

/* Usage of the children of heir that ended since the previous sample, as far as it was counted before. */
static void counted_of_ended(const struct step *s, const struct usage_process *heir, struct usage_process *ret)
{
	for (size_t i = 0; i < s->n_was; i++) {
		const struct usage_process *gone = &s->was[i], *up = gone;
		if (find_same(s->now, s->n_now, gone))
			continue;
		/* an ended parent passed on what it had inherited */
		for (size_t depth = 0; depth < CHAIN_MAX && up && !find_same(s->now, s->n_now, up); depth++) {
			if (up->ppid == heir->pid)
				break;
			up = find(s->was, s->n_was, up->ppid);
		}
		if (!up || up->ppid != heir->pid)
			continue;
		ret->cpu_ns = add_cap(ret->cpu_ns, add_cap(gone->cpu_ns, gone->reaped_cpu_ns));
		for (size_t k = 0; k < USAGE_IO_MAX; k++)
			ret->io_bytes[k] = add_cap(ret->io_bytes[k], gone->io_bytes[k]);
	}
}

static void add_inherited(const struct step *s, const struct usage_process *now, const struct usage_process *was,
			  struct usage_lane *lane)
{
	struct usage_process counted = {.cpu_ns = 0};
	if (now->reaped_faults > was->reaped_faults)
		counted_of_ended(s, now, &counted);
	uint64_t reaped = sub_floor(now->reaped_cpu_ns, was->reaped_cpu_ns);
	lane->cpu_ns = add_cap(lane->cpu_ns, sub_floor(reaped, counted.cpu_ns));
	for (size_t k = 0; k < USAGE_IO_MAX && now->has_io && was->has_io; k++) {
		uint64_t moved = sub_floor(now->io_bytes[k], was->io_bytes[k]);
		lane->io_bytes[k] = add_cap(lane->io_bytes[k], sub_floor(moved, counted.io_bytes[k]));
	}
}

static void add_new(const struct usage_process *now, struct usage_lane *lane)
{
	lane->cpu_ns = add_cap(lane->cpu_ns, add_cap(now->cpu_ns, now->reaped_cpu_ns));
	for (size_t k = 0; k < USAGE_IO_MAX && now->has_io; k++)
		lane->io_bytes[k] = add_cap(lane->io_bytes[k], now->io_bytes[k]);
}

void usage_step(struct usage *u, const struct usage_process *was, size_t n_was, const struct usage_process *now,
		size_t n_now)
{
	const struct step s = {.was = was, .now = now, .n_was = n_was, .n_now = n_now};
	for (size_t i = 0; i < u->n; i++) {
		u->lane[i].processes = 0;
		u->lane[i].own_bytes = u->lane[i].rss_bytes = 0;
	}
	for (size_t i = 0; i < n_now; i++) {
		const struct usage_process *p = &now[i], *before = find_same(was, n_was, p);
		struct usage_lane *lane = usage_lane_at(u, p->rank);
		lane->processes++;
		lane->own_bytes = add_cap(lane->own_bytes, p->own_bytes);
		lane->rss_bytes = add_cap(lane->rss_bytes, p->rss_bytes);
		lane->has_io |= p->has_io;
		if (before) {
			lane->cpu_ns = add_cap(lane->cpu_ns, sub_floor(p->cpu_ns, before->cpu_ns));
			add_inherited(&s, p, before, lane);
		} else if (p->young) {
			add_new(p, lane);
		}
	}
}

uint64_t usage_cpu_ns(const struct usage *u)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < u->n; i++)
		sum = add_cap(sum, u->lane[i].cpu_ns);
	return sum;
}
