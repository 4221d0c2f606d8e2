#include "agent/memory/protectjob.h"

#include <string.h>

#include "act/systemd_bus.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/vec.h"

#define TASKS_CAP 65536
#define ROUNDS 5 /* enough also for a job that forks faster: children inherit their parent's value */

static bool known(const struct protect_outcome *o, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->row[i].id.pid == pid && o->row[i].id.start_ticks == start_ticks)
			return true;
	return false;
}

static int targets_new(const struct members *m, const struct protect_outcome *seen, struct protect_target **ret,
		       size_t *ret_n)
{
	struct protect_target *t = calloc(m->n ? m->n : 1, sizeof(*t));
	size_t n = 0;
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++) {
		const struct member *one = &m->row[i];
		if (known(seen, one->task->pid, one->task->start_ticks))
			continue;
		t[n++] = (struct protect_target){
			.id = {.pid = one->task->pid, .start_ticks = one->task->start_ticks},
			.expendable = (one->who.role == ROLE_HELPER && !one->who.has_option) ||
				      one->who.role == ROLE_COMPILER,
		};
	}
	*ret = t;
	*ret_n = n;
	return 0;
}

static int outcome_append(struct protect_outcome *all, struct protect_outcome *more)
{
	struct protect_row *row = realloc(all->row, (all->n + more->n) * sizeof(*row));
	if (!row)
		return -ENOMEM;
	memcpy(row + all->n, more->row, more->n * sizeof(*row));
	all->row = row;
	all->n += more->n;
	all->n_done += more->n_done;
	all->n_refused += more->n_refused;
	all->n_raised += more->n_raised;
	return 0;
}

static void facts_members(const struct members *m, struct protect_facts *f)
{
	f->n_processes = m->n;
	f->own_bytes = 0;
	for (size_t i = 0; i < m->n; i++)
		f->own_bytes = add_cap(f->own_bytes, task_own_bytes(m->row[i].task));
}

/* One sweep over the processes; *ret_new: number of those not seen before. */
static int round_apply(const struct world *w, const struct protectjob_want *want, const struct protect_request *request,
		       struct tasks *t, struct protectjob *s, size_t *ret_new)
{
	struct members m;
	cleanup(freep) struct protect_target *targets = NULL;
	size_t n = 0;
	int r = tasks_scan(t, w);
	if (r == 0)
		r = members_read(w, t, want->members, &m);
	if (r)
		return r;
	bool first = s->outcome.n == 0;
	r = targets_new(&m, &s->outcome, &targets, &n);
	facts_members(&m, &s->facts);
	members_done(&m);
	*ret_new = n;
	if (r || n == 0)
		return r;
	struct cgroup_place place;
	bool placed = first && cgroup_place_read(w, targets[0].id.pid, &place) == 0;
	struct protect_outcome o;
	r = protect_apply(w, targets, n, placed ? &place : NULL, request, &o);
	if (r)
		return r;
	if (first) {
		s->outcome = o;
		return 0;
	}
	r = outcome_append(&s->outcome, &o);
	protect_outcome_done(&o);
	return r;
}

static void note_put(struct store *st, const struct protectjob_want *want, struct protectjob *s, const char *key,
		     int64_t value)
{
	char text[32], old[32];
	/* the first value is the one to restore, however often the job is protected */
	if (st && store_get_note(st, want->key, key, old, sizeof(old)) == 0)
		return;
	TEXT_FORMAT(text, "%lld", (long long)value);
	if (!st || store_put_note(st, want->key, key, text) != 0)
		s->notes_lost++;
}

static void value_note(struct store *st, const struct protectjob_want *want, struct protectjob *s, const char *name,
		       const struct protect_value *v)
{
	char key[2 * CGROUP_PATH_MAX + 64];
	if (!v->tried || !v->done || v->before == v->after)
		return;
	TEXT_FORMAT(key, "%s\t%s\t%s", name, s->outcome.group_path, s->outcome.group_name);
	note_put(st, want, s, key, v->before > INT64_MAX ? INT64_MAX : (int64_t)v->before);
}

static void notes_keep(struct store *st, const struct protectjob_want *want, struct protectjob *s)
{
	for (size_t i = 0; i < s->outcome.n; i++) {
		const struct protect_row *row = &s->outcome.row[i];
		char key[80];
		if (!row->has_values || row->before == row->after)
			continue;
		TEXT_FORMAT(key, "oom_score_adj\t%d\t%llu", row->id.pid, (unsigned long long)row->id.start_ticks);
		note_put(st, want, s, key, row->before);
	}
	value_note(st, want, s, "memory.low", &s->outcome.low);
	value_note(st, want, s, "memory.min", &s->outcome.min);
	value_note(st, want, s, "oomd_avoid", &s->outcome.avoid);
	value_note(st, want, s, "oomd_omit", &s->outcome.omit);
}

static void facts_adj(const struct protect_outcome *o, bool dry_run, int wish, struct protect_facts *f)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct protect_row *row = &o->row[i];
		if (!row->has_values || row->result == PROTECT_GONE)
			continue;
		/* a dry run reports the value that it would set */
		int value = dry_run && row->result == PROTECT_DONE ? wish : row->after;
		f->adj_lowest = f->has_adj ? MIN(f->adj_lowest, value) : value;
		f->adj_highest = f->has_adj ? MAX(f->adj_highest, value) : value;
		f->has_adj = true;
	}
	f->n_adj_refused = o->n_refused;
	f->n_raised = o->n_raised;
}

static void facts_group(const struct protect_outcome *o, struct protect_facts *f)
{
	TEXT_COPY(f->group, o->group_name);
	f->group_shared = o->group_shared;
	f->n_others = o->n_others;
	f->group_root_owned = o->has_group && o->group_owner == 0;
	f->avoid = o->avoid.tried && o->avoid.done;
	f->omit = o->omit.tried && o->omit.done;
	f->has_low = o->low.tried && o->low.done;
	f->low_bytes = o->low.after;
	f->min_bytes = o->min.after;
	f->effective_low_bytes = o->effective_low_bytes;
	TEXT_COPY(f->low_stopped_at, o->low_stopped_at);
}

/* True for a group that `vigil run` made: its limit is the guard's throttle, which moves before the job reaches it. */
static bool is_our_group(const char *path)
{
	return strncmp(path_name(path), "vigil-", strlen("vigil-")) == 0;
}

static void facts_limits(const struct world *w, pid_t pid, uint64_t total_cap, struct protect_facts *f)
{
	struct cgroup_place place;
	struct cgroup_chain chain = {.n = 0};
	if (cgroup_place_read(w, pid, &place) != 0 || cgroup_chain_open(w, &place, &chain) != 0)
		return;
	for (size_t i = 0; i < chain.n && f->n_limits < PROTECT_LEVELS; i++) {
		struct cgroup_memory m;
		/* memory.high slows a job down and does not end it */
		if (cgroup_read_full(&chain.level[i], &m) != 0 || m.max_bytes == CGROUP_NO_LIMIT ||
		    m.max_bytes > total_cap)
			continue;
		if (is_our_group(chain.level[i].path))
			continue;
		m.high_bytes = CGROUP_NO_LIMIT;
		f->limit[f->n_limits] = ledger_group_level(&m, LEDGER_CONTAINER, total_cap);
		TEXT_COPY(f->limit_name[f->n_limits], chain.level[i].path);
		f->n_limits++;
	}
	cgroup_chain_close(&chain);
}

/* Walks the group's name upwards to the first unit that systemd-oomd watches for pressure. */
static void facts_oomd(struct protect_facts *f)
{
	char name[sizeof(f->group)];
	TEXT_COPY(name, f->group);
	struct systemd_unit_oomd root;
	int r = systemd_bus_unit_oomd(SYSTEMD_SYSTEM, "-.slice", &root);
	f->swap_known = r == 0;
	f->swap_watched = r == 0 && root.swap_kill;
	if (r != 0)
		return; /* no bus: units cannot be asked, either */
	const char *manager = strstr(name, "/user@");
	for (char *slash = strrchr(name, '/'); slash && slash[1]; slash = strrchr(name, '/')) {
		struct systemd_unit_oomd unit;
		bool user = manager && slash > manager;
		if (systemd_bus_unit_oomd(user ? SYSTEMD_USER : SYSTEMD_SYSTEM, slash + 1, &unit) == 0 &&
		    unit.pressure_kill) {
			TEXT_COPY(f->pressure_unit, slash + 1);
			f->pressure_limit_ratio = unit.pressure_limit_ratio;
			/* user@UID.service and all units below it belong to that user, all others to root */
			f->pressure_same_owner = user || slash == manager ? !f->group_root_owned : f->group_root_owned;
			return;
		}
		*slash = '\0';
	}
}

static void judge_threats(const struct world *w, const struct protectjob_want *want, struct protectjob *s)
{
	struct protect_facts *f = &s->facts;
	f->level = want->level;
	f->guarded = want->guarded;
	f->machine = &s->probe;
	facts_adj(&s->outcome, want->dry_run, s->wish.oom_score_adj, f);
	facts_group(&s->outcome, f);
	if (s->outcome.n > 0)
		facts_limits(w, s->outcome.row[0].id.pid, s->probe.meminfo.bytes[MEMINFO_TOTAL], f);
	if (oom_daemons_find(&s->probe.oom_daemons, OOM_DAEMON_SYSTEMD_OOMD))
		facts_oomd(f);
	protect_threats(f, &s->threats);
}

void protectjob_done(struct protectjob *s)
{
	protect_outcome_done(&s->outcome);
}

static int protectjob_run(const struct world *w, const struct protectjob_want *want, struct store *st, struct tasks *t,
			  struct protectjob *s, struct fault *f)
{
	int r = probe_read(w, &s->probe);
	if (r)
		return fault_set(f, r, "cannot look at this machine: %s", strerror(-r));
	s->wish = protect_wish_of(want->level);
	struct protect_request request = {
		.oom_score_adj = s->wish.oom_score_adj,
		.low = s->wish.low,
		.min = s->wish.min,
		.avoid = s->wish.avoid,
		.omit = s->wish.omit,
		.raise_helpers = true,
		.dry_run = want->dry_run,
		.cannot_lower = s->probe.lower_adj != PROBE_YES,
	};
	size_t fresh = 1;
	for (int i = 0; i < ROUNDS && fresh > 0; i++) {
		r = round_apply(w, want, &request, t, s, &fresh);
		if (r)
			return fault_set(f, r < 0 ? r : -ENOENT, "cannot list or change the processes of %s: %s",
					 want->subject, r < 0 ? strerror(-r) : "no /proc");
		if (want->dry_run)
			break;
	}
	if (s->outcome.n == 0)
		return fault_set(f, PROTECTJOB_NO_PROCESS, "no process of %s is alive", want->subject);
	if (!want->dry_run)
		notes_keep(st, want, s);
	judge_threats(w, want, s);
	return 0;
}

int protectjob_apply(const struct world *w, const struct protectjob_want *want, struct store *s, struct protectjob *ret,
		     struct fault *f)
{
	struct tasks t;
	int r = tasks_init(&t, TASKS_CAP, -1);
	if (r)
		return fault_set(f, r, "out of memory");
	*ret = (struct protectjob){.notes_lost = 0};
	r = protectjob_run(w, want, s, &t, ret, f);
	tasks_done(&t);
	if (r)
		protectjob_done(ret);
	return r;
}

struct restore {
	const struct world *w;
	struct store *s;
	const char *key;
	struct protectjob_restored *sum;
	struct note {
		char key[2 * CGROUP_PATH_MAX + 64];
		int64_t value;
	} * note;
	size_t n, cap;
};

static int note_collect(void *ctx, const char *key, const char *value)
{
	struct restore *r = ctx;
	int64_t v;
	if (span_i64(span_of(value), &v) != 0 || !strchr(key, '\t'))
		return 0; /* not a note of this file */
	if (vec_room(&r->note, &r->cap, r->n + 1) < 0)
		return -ENOMEM;
	TEXT_COPY(r->note[r->n].key, key);
	r->note[r->n++].value = v;
	return 0;
}

static int note_restore(const struct restore *r, struct note *n)
{
	char *first = strchr(n->key, '\t'), *second = first ? strchr(first + 1, '\t') : NULL;
	if (!first || !second)
		return -EBADMSG;
	struct span name = {n->key, (size_t)(first - n->key)}, pid_text = {first + 1, (size_t)(second - first - 1)};
	if (span_eq(name, "oom_score_adj")) {
		uint64_t pid, start;
		if (span_u64(pid_text, &pid) != 0 || pid > INT32_MAX || span_u64(span_of(second + 1), &start) != 0)
			return -EBADMSG;
		struct proc_id id = {.pid = (pid_t)pid, .start_ticks = start};
		return protect_restore_adj(r->w, id, (int)n->value);
	}
	*first = *second = '\0';
	int result = -EBADMSG;
	if (strcmp(n->key, "memory.low") == 0 || strcmp(n->key, "memory.min") == 0)
		result = protect_restore_memory(r->w, first + 1, second + 1, n->key,
						n->value == INT64_MAX ? CGROUP_NO_LIMIT : (uint64_t)n->value);
	else if (strcmp(n->key, "oomd_avoid") == 0 || strcmp(n->key, "oomd_omit") == 0)
		result = protect_restore_preference(r->w, first + 1, second + 1, n->key, n->value != 0);
	*first = *second = '\t';
	return result;
}

int protectjob_restore(const struct world *w, struct store *s, const char *key, struct protectjob_restored *ret,
		       struct fault *f)
{
	struct protectjob_restored sum = {.n = 0};
	struct restore r = {.w = w, .s = s, .key = key, .sum = &sum};
	int e = store_each_note(s, key, note_collect, &r);
	cleanup(freep) struct note *notes = r.note;
	if (e < 0)
		return fault_set(f, e, "cannot read the old values from the store: %s", strerror(-e));
	if (r.n == 0)
		return fault_set(f, STORE_NONE,
				 "no old values are stored for %s: it was not protected, or was restored already", key);
	for (size_t i = 0; i < r.n; i++) {
		int done = note_restore(&r, &notes[i]);
		sum.n++;
		sum.n_done += done == 0 ? 1 : 0;
		sum.n_gone += done == WORLD_GONE ? 1 : 0;
		sum.n_refused += done != 0 && done != WORLD_GONE ? 1 : 0;
		if (done == 0 || done == WORLD_GONE)
			ignore(store_drop_note(s, key, notes[i].key), "a value restored twice does no harm");
	}
	*ret = sum;
	return 0;
}
