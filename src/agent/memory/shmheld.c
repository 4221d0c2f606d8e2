#include "agent/memory/shmheld.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sense/memory/shm.h"

/* A memory report may wait this long for the owners of shared memory. */
static const uint64_t report_budget_ns = 200 * NS_PER_MS;
#define HOLDERS_SHOWN 8

static void holders(const struct shm_ledger *l, const struct shm_item *item, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (uint32_t i = 0; i < item->n_owners && i < HOLDERS_SHOWN; i++)
		buf_printf(&b, "%s%d", i ? ", " : "", (int)l->owners[item->first_owner + i].pid);
	if (item->n_owners > HOLDERS_SHOWN)
		buf_printf(&b, " and %u more", item->n_owners - HOLDERS_SHOWN);
}

static bool is_unheld(const struct shm_ledger *l, const struct shm_item *item)
{
	return item->orphan && (shm_complete(l) || (geteuid() == 0 && l->n_unscanned == 0));
}

static void shmheld_row_fill(const struct shm_ledger *l, const struct shm_item *item, bool ours, struct shmheld *h)
{
	*h = (struct shmheld){
		.ours = ours, .dev_major = item->dev_major, .dev_minor = item->dev_minor, .inode = item->inode};
	shm_item_path(item, h->row.path, sizeof(h->row.path));
	h->row.bytes = item->bytes;
	h->row.orphan = item->orphan && shm_complete(l);
	holders(l, item, h->row.owners, sizeof(h->row.owners));
	h->since_unix_ms = item->since_unix_ms;
	h->unheld = is_unheld(l, item);
	h->has_uid = item->has_uid;
	h->uid = item->uid;
	h->n_owners = MIN(item->n_owners, (uint32_t)SHMHELD_OWNERS);
	for (uint32_t k = 0; k < h->n_owners; k++)
		h->owner[k] = l->owners[item->first_owner + k].pid;
}

/* Those of whom it is asked come first: others may have many that are larger. */
typedef bool ours_fn(const struct shm_ledger *l, const struct shm_item *item, const void *arg);
static size_t shmheld_rows(const struct shm_ledger *l, ours_fn *is_ours, const void *arg,
			   struct shmheld ret[static INCIDENT_SHM])
{
	size_t n = 0;
	for (int ours = 1; ours >= 0; ours--)
		for (size_t i = 0; i < l->n && n < INCIDENT_SHM; i++) {
			const struct shm_item *item = &l->items[i];
			if (item->has_bytes && item->bytes >= MIB && is_ours(l, item, arg) == ours)
				shmheld_row_fill(l, item, ours, &ret[n++]);
		}
	return n;
}

struct pids {
	const pid_t *pid;
	size_t n;
};

static bool held_by(const struct shm_ledger *l, const struct shm_item *item, const void *arg)
{
	const struct pids *of = arg;
	for (uint32_t k = 0; k < item->n_owners; k++)
		for (size_t i = 0; i < of->n; i++)
			if (l->owners[item->first_owner + k].pid == of->pid[i])
				return true;
	return false;
}

size_t shmheld_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns,
		    struct shmheld ret[static INCIDENT_SHM])
{
	struct shm_ledger l;
	if (shm_read(w, first, n_first, budget_ns, &l) < 0)
		return 0;
	size_t n = shmheld_rows(&l, held_by, &(struct pids){first, n_first}, ret);
	shm_done(&l);
	return n;
}

static bool is_there(const struct shm_ledger *l, const struct shmheld *h)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct shm_item *item = &l->items[i];
		if (item->inode == h->inode && item->dev_major == h->dev_major && item->dev_minor == h->dev_minor)
			return true;
	}
	return false;
}

/* An object without a holder gets the holders it had before: most likely they have just ended. */
static void name_former_holders(const struct shmheld *before, size_t n_before, const struct shmheld *now,
				struct incident_shm *row)
{
	for (size_t i = 0; i < n_before && row->owners[0] == '\0'; i++) {
		const struct shmheld *b = &before[i];
		if (b->inode != now->inode || b->dev_major != now->dev_major || b->dev_minor != now->dev_minor ||
		    !b->row.owners[0])
			continue;
		if (row->orphan)
			TEXT_COPY(row->owners, b->row.owners);
		else
			TEXT_FORMAT(row->owners, "%s, before the end", b->row.owners);
	}
}

static bool held_by_ended(const struct shmheld *before, size_t n_before, const struct shmheld *now,
			  const struct shmheld_job *job)
{
	for (size_t i = 0; i < n_before; i++) {
		const struct shmheld *b = &before[i];
		if (b->inode != now->inode || b->dev_major != now->dev_major || b->dev_minor != now->dev_minor)
			continue;
		for (uint32_t k = 0; k < b->n_owners; k++)
			for (size_t e = 0; e < job->n_ended; e++)
				if (b->owner[k] == job->ended[e].pid)
					return true;
	}
	return false;
}

static bool is_left(const struct shmheld *before, size_t n_before, const struct shmheld *now,
		    const struct shmheld_job *job)
{
	if (held_by_ended(before, n_before, now, job))
		return true;
	return now->unheld && job->charged_bytes / 8 * 9 >= now->row.bytes && job->since_unix_ms != 0 &&
	       now->since_unix_ms >= job->since_unix_ms && now->has_uid && now->uid == job->uid;
}

struct seen_before {
	const struct shmheld *before;
	size_t n;
	const struct shmheld_job *job;
};

/* The job's, as far as was seen, or what its user has made since it began and nobody holds. */
static bool was_held(const struct shm_ledger *l, const struct shm_item *item, const void *arg)
{
	const struct seen_before *s = arg;
	for (size_t i = 0; i < s->n; i++) {
		const struct shmheld *b = &s->before[i];
		if (b->ours && b->inode == item->inode && b->dev_major == item->dev_major &&
		    b->dev_minor == item->dev_minor)
			return true;
	}
	return s->job && s->job->since_unix_ms != 0 && item->since_unix_ms >= s->job->since_unix_ms && item->has_uid &&
	       item->uid == s->job->uid && is_unheld(l, item);
}

void shmheld_report(const struct world *w, const struct shmheld *before, size_t n_before, const struct shmheld_job *job,
		    struct incident *in)
{
	struct shm_ledger l;
	struct shmheld now[INCIDENT_SHM];
	if (shm_read(w, NULL, 0, report_budget_ns, &l) < 0)
		return;
	in->n_shm = shmheld_rows(&l, was_held, &(struct seen_before){before, n_before, job}, now);
	for (size_t i = 0; i < in->n_shm; i++) {
		in->shm[i] = now[i].row;
		name_former_holders(before, n_before, &now[i], &in->shm[i]);
		in->shm[i].left = job && is_left(before, n_before, &now[i], job);
		if (in->shm[i].left)
			in->memory.shm_left_bytes = add_cap(in->memory.shm_left_bytes, now[i].row.bytes);
	}
	bool whole = shm_complete(&l) && l.n_dropped == 0;
	for (size_t i = 0; i < n_before && whole && in->n_shm < INCIDENT_SHM; i++)
		if (before[i].row.owners[0] && !is_there(&l, &before[i])) {
			in->shm[in->n_shm] = before[i].row;
			in->shm[in->n_shm++].freed = true;
		}
	shm_done(&l);
}
