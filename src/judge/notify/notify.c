#include "judge/notify/notify.h"

#include <string.h>

#include "base/buf.h"

static const struct delivery_group *group_of(const struct delivery *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->group[i].key, key) == 0)
			return &l->group[i];
	return NULL;
}

/* The time since a stamp. A stamp in the future was made by a clock that has been set back since: INT64_MAX. */
static int64_t since(int64_t stamp_ms, int64_t now_ms)
{
	return stamp_ms > now_ms ? INT64_MAX : now_ms - stamp_ms;
}

static double tokens(const struct delivery *l, const struct notify_rules *r, int64_t now_ms)
{
	int64_t passed = since(l->tokens_ms, now_ms);
	double back = passed == INT64_MAX ? r->per_minute : (double)passed / 60000.0 * r->per_minute;
	double used = l->tokens_used > back ? l->tokens_used - back : 0;
	return (r->per_minute > 1 ? r->per_minute : 1) - used;
}

static void spend(struct delivery *l, const struct notify_rules *r, int64_t now_ms)
{
	double most = r->per_minute > 1 ? r->per_minute : 1;
	l->tokens_used = MIN(most - tokens(l, r, now_ms) + 1, most);
	l->tokens_ms = now_ms;
}

static int64_t gathering_ms(const struct notify_rules *r, uint32_t sent)
{
	int64_t wait = r->group_ms;
	for (uint32_t i = 1; i < sent && wait < r->repeat_ms; i++)
		wait *= 2;
	return MIN(wait, r->repeat_ms);
}

/* Notices of one key that follow each other, and are all open or all resolved. */
struct batch {
	size_t first;
	size_t n;
	bool resolved;
	bool all_same; /* every id is the one that was sent last */
	bool followed; /* the key's next batch is a resolved one */
};

static struct batch batch_at(const struct delivery *l, const struct notify_item *items, size_t n, size_t first)
{
	struct batch b = {.first = first, .resolved = items[first].resolved, .all_same = true};
	const struct delivery_group *g = group_of(l, items[first].key);
	for (size_t i = first; i < n; i++) {
		if (strcmp(items[i].key, items[first].key) != 0)
			continue;
		if (items[i].resolved != b.resolved) {
			b.followed = !b.resolved;
			break;
		}
		b.all_same &= g && strcmp(g->id, items[i].id) == 0;
		b.n++;
	}
	return b;
}

static void take_batch(const struct notify_item *items, size_t n, const struct batch *b, struct notify_step *s)
{
	size_t left = b->n;
	for (size_t i = b->first; i < n && left > 0; i++)
		if (strcmp(items[i].key, items[b->first].key) == 0) {
			s->taken[i] = true;
			left--;
		}
}

enum when { NOW, LATER, NEVER };

static enum when when_of(const struct notify_rules *r, const struct delivery *l, const struct notify_item *items,
			 const struct batch *b, int64_t now_ms, int64_t *ret_due_ms)
{
	const struct delivery_group *g = group_of(l, items[b->first].key);
	bool open = g && g->open;
	if (b->resolved)
		return open ? NOW : NEVER;
	if (!open || since(g->sent_ms, now_ms) >= r->repeat_ms)
		return NOW;
	if (b->all_same)
		return NEVER;
	if (b->followed)
		return NEVER; /* it was reported, and is over already */
	int64_t wait = gathering_ms(r, g->sent);
	if (since(g->sent_ms, now_ms) >= wait)
		return NOW;
	*ret_due_ms = g->sent_ms + wait;
	return LATER;
}

static bool is_first_of_key(const struct notify_item *items, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(items[k].key, items[i].key) == 0)
			return false;
	return true;
}

/* The batches in `due` are due: decides how they go out. */
static void send_due(const struct notify_rules *r, const struct delivery *l, const struct notify_item *items, size_t n,
		     const struct batch *due, size_t n_due, int64_t now_ms, struct notify_step *ret)
{
	double have = tokens(l, r, now_ms);
	if (have < 1) {
		ret->act = NOTIFY_WAIT;
		ret->until_ms =
			now_ms + 1 + (int64_t)((1 - have) * 60000.0 / (r->per_minute > 0.01 ? r->per_minute : 0.01));
		return;
	}
	bool digest = r->digest && n_due > 1 && (double)n_due > have;
	ret->act = digest ? NOTIFY_DIGEST : NOTIFY_SEND;
	for (size_t i = 0; i < (digest ? n_due : 1); i++)
		take_batch(items, n, &due[i], ret);
}

void notify_judge(const struct notify_rules *r, const struct delivery *l, const struct notify_item *items, size_t n,
		  int64_t now_ms, struct notify_step *ret)
{
	struct batch due[NOTIFY_ITEMS];
	size_t n_due = 0;
	int64_t next_ms = INT64_MAX;
	*ret = (struct notify_step){.act = NOTIFY_IDLE};
	n = MIN(n, (size_t)NOTIFY_ITEMS);
	for (size_t i = 0; i < n; i++) {
		if (!is_first_of_key(items, i))
			continue;
		struct batch b = batch_at(l, items, n, i);
		int64_t due_ms = 0;
		switch (when_of(r, l, items, &b, now_ms, &due_ms)) {
		case NOW:
			due[n_due++] = b;
			break;
		case LATER:
			next_ms = MIN(next_ms, due_ms);
			break;
		case NEVER:
			ret->act = NOTIFY_DROP;
			take_batch(items, n, &b, ret);
			return;
		}
	}
	bool resting = l->fails > 0 && now_ms < l->retry_ms && since(l->failed_ms, now_ms) != INT64_MAX;
	if (n > 0 && resting && n_due > 0) {
		ret->act = NOTIFY_WAIT;
		ret->until_ms = l->retry_ms;
	} else if (n_due > 0) {
		send_due(r, l, items, n, due, n_due, now_ms, ret);
	} else if (n > 0) {
		ret->act = NOTIFY_WAIT;
		ret->until_ms = next_ms;
	}
}

/* The place of a key. Where all are taken a closed one makes room, else the one that was sent longest ago. */
static struct delivery_group *place_for(struct delivery *l, const char *key)
{
	struct delivery_group *worst = &l->group[0];
	for (size_t i = 0; i < l->n; i++) {
		struct delivery_group *g = &l->group[i];
		if (strcmp(g->key, key) == 0)
			return g;
		bool worse = g->open != worst->open ? worst->open : g->sent_ms < worst->sent_ms;
		worst = worse ? g : worst;
	}
	struct delivery_group *g = l->n < DELIVERY_GROUPS ? &l->group[l->n++] : worst;
	*g = (struct delivery_group){.open = false};
	TEXT_COPY(g->key, key);
	return g;
}

void notify_delivered(struct delivery *l, const struct notify_rules *r, const struct notify_item *items, size_t n,
		      const struct notify_step *step, int64_t now_ms)
{
	for (size_t i = 0; i < MIN(n, (size_t)NOTIFY_ITEMS); i++) {
		if (!step->taken[i])
			continue;
		struct delivery_group *g = place_for(l, items[i].key);
		bool fresh = !g->open || since(g->sent_ms, now_ms) >= r->repeat_ms;
		bool sent_now = g->open && g->sent_ms == now_ms; /* by this very message */
		if (!sent_now)
			g->sent = fresh ? 1 : g->sent + 1;
		g->open = !items[i].resolved;
		g->sent_ms = now_ms;
		TEXT_COPY(g->id, items[i].id);
	}
	spend(l, r, now_ms);
	l->fails = 0;
	l->delivered++;
	l->delivered_ms = now_ms;
	l->trouble[0] = '\0';
}

void notify_failed(struct delivery *l, int64_t now_ms, int64_t retry_after_ms, double dice)
{
	int64_t wait = 1000;
	for (uint32_t i = 0; i < l->fails && wait < NOTIFY_BACKOFF_MAX_MS; i++)
		wait *= 2;
	wait = MIN(wait, (int64_t)NOTIFY_BACKOFF_MAX_MS);
	/* several nodes that failed together try again at different times */
	wait = wait / 2 + (int64_t)((double)(wait / 2) * dice);
	if (retry_after_ms > 0)
		wait = MIN(retry_after_ms, (int64_t)NOTIFY_RETRY_AFTER_MAX_MS);
	l->fails++;
	l->failed_ms = now_ms;
	l->retry_ms = now_ms + wait;
}

void notify_refused(struct delivery *l, const struct notify_rules *r, int64_t now_ms)
{
	spend(l, r, now_ms);
	l->fails = 0;
	l->rejected++;
	l->rejected_ms = now_ms;
}
