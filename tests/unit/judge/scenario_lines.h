/* Lines of the hang scenarios that need nothing of the job that is played: what is handed to the judge as it is. */
#pragma once

#include "testing.h"

#include "judge/hang/hang.h"
#include "judge/scenario_words.h"
#include "wait_scenario.h"

struct refused_scenario {
	struct hang_refused row[HANG_REFUSED];
	uint64_t ago_ns[HANG_REFUSED]; /* its last attempt, from each look */
	size_t n;
};

/* <rank> <times> <address> ago <time> [silent]: an address that it tries to reach in vain */
static void refused_line(struct refused_scenario *s, struct span rest, const char *where)
{
	struct hang_refused r = {.rank = int_of(next(&rest, where)), .pid = 1000, .main = true};
	size_t i = 0;
	while (i < s->n && s->row[i].rank != r.rank)
		i++;
	assert_true(i < HANG_REFUSED);
	s->n = MAX(s->n, i + 1);
	r.n = (uint64_t)int_of(next(&rest, where));
	span_copy(next(&rest, where), r.address, sizeof(r.address));
	assert_true(span_eq(next(&rest, where), "ago"));
	s->ago_ns[i] = duration_of(next(&rest, where), where);
	r.error = span_trim(rest).len ? 0 : ECONNREFUSED;
	s->row[i] = r;
}

static void refused_put(struct refused_scenario *s, uint64_t now_ns, struct hang_case *ret)
{
	for (size_t i = 0; i < s->n; i++)
		s->row[i].last_ns = sub_floor(now_ns, s->ago_ns[i]);
	ret->refused = s->row;
	ret->n_refused = s->n;
}

struct asked_scenario {
	struct hang_asked row[HANG_ASKED];
	uint64_t ago_ns[HANG_ASKED];
	size_t n;
};

/* <pid> <times> <port> ago <time>: a port of this machine to which it has connected */
static void asked_line(struct asked_scenario *s, struct span rest, const char *where)
{
	assert_true(s->n < HANG_ASKED);
	struct hang_asked *a = &s->row[s->n];
	a->pid = int_of(next(&rest, where));
	a->n = (uint64_t)int_of(next(&rest, where));
	a->port = (uint16_t)int_of(next(&rest, where));
	assert_true(span_eq(next(&rest, where), "ago"));
	s->ago_ns[s->n++] = duration_of(next(&rest, where), where);
}

static void asked_put(struct asked_scenario *s, uint64_t now_ns, struct hang_case *ret)
{
	for (size_t i = 0; i < s->n; i++)
		s->row[i].last_ns = sub_floor(now_ns, s->ago_ns[i]);
	ret->asked = s->row;
	ret->n_asked = s->n;
}

static enum confidence confidence_read(struct span w)
{
	return span_eq(w, "high") ? CONFIDENCE_HIGH : span_eq(w, "medium") ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

/* collective KIND CONFIDENCE CULPRIT|- TEXT */
static void collective_line(struct hang_collective *c, struct span rest, const char *where)
{
	static const char *const kinds[] = {"none", "missing", "mismatch", "equal", "p2p",
					    "dead", "init",    "uneven",   "cycle", "device"};
	struct span w = next(&rest, where);
	*c = (struct hang_collective){.valid = true, .source = "NCCL RAS"};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_eq(w, kinds[i]))
			c->kind = (enum hang_collective_kind)i;
	c->confidence = confidence_read(next(&rest, where));
	w = next(&rest, where);
	if (!span_eq(w, "-"))
		c->culprits[c->n_culprits++] = int_of(w);
	span_copy(span_trim(rest), c->text, sizeof(c->text));
}

/* Children that fail and are started anew, from a moment on. */
struct anew_scenario {
	struct {
		struct respawn row; /* its counts are filled at each look */
		uint64_t every_ns, cpu_ns; /* cpu_ns: of each */
		uint64_t last_ns; /* none has failed since; 0: they go on */
		bool over, varied; /* varied: its last words are others each time */
	} of[RESPAWNS_KEPT];
	size_t n;
};

/*
 * <rank|job> <parent pid> <parent name> <child name> every <time> [status <n>|signal <n>] [cpu <time> (each)] [varied]
 * [over] [says <text>]: of the same parent and child it begins anew; "last" alone behind the names: none fails any more
 */
static void anew_line(struct anew_scenario *s, struct span rest, uint64_t now_ns, const char *where)
{
	struct respawn r = {.since_ns = now_ns, .wait_status = 1 << 8};
	struct span w = next(&rest, where);
	size_t i = 0;
	r.rank = span_eq(w, "job") ? NO_RANK : int_of(w);
	r.parent = int_of(next(&rest, where));
	span_copy(next(&rest, where), r.parent_name, sizeof(r.parent_name));
	span_copy(next(&rest, where), r.name, sizeof(r.name));
	while (i < s->n && (s->of[i].row.parent != r.parent || strcmp(s->of[i].row.name, r.name) != 0))
		i++;
	assert_true(i < RESPAWNS_KEPT);
	if (span_eq(span_trim(rest), "last")) {
		assert_true(i < s->n);
		s->of[i].last_ns = now_ns;
		return;
	}
	s->n = MAX(s->n, i + 1);
	s->of[i].last_ns = 0;
	s->of[i].over = s->of[i].varied = false;
	s->of[i].cpu_ns = 0;
	while (span_word(&rest, &w)) {
		if (span_eq(w, "every"))
			s->of[i].every_ns = duration_of(next(&rest, where), where);
		else if (span_eq(w, "status"))
			r.wait_status = int_of(next(&rest, where)) << 8;
		else if (span_eq(w, "signal"))
			r.wait_status = int_of(next(&rest, where));
		else if (span_eq(w, "cpu"))
			s->of[i].cpu_ns = duration_of(next(&rest, where), where);
		else if (span_eq(w, "varied"))
			s->of[i].varied = true;
		else if (span_eq(w, "over"))
			s->of[i].over = true;
		else if (span_eq(w, "says")) {
			span_copy(span_trim(rest), r.words, sizeof(r.words));
			break;
		} else
			fail_msg("%s: unknown word '%.*s'", where, (int)w.len, w.p);
	}
	s->of[i].row = r;
}

static void anew_put(const struct anew_scenario *s, uint64_t now_ns, struct respawns *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const uint64_t every_ns = s->of[i].every_ns;
		struct respawn r = s->of[i].row;
		if (s->of[i].over || every_ns == 0)
			continue;
		const uint64_t until_ns = s->of[i].last_ns ? s->of[i].last_ns : now_ns;
		r.n = r.n_same = (until_ns - r.since_ns) / every_ns + 1;
		r.n_words = s->of[i].varied ? 1 : r.n;
		r.spent_ns = r.n * s->of[i].cpu_ns;
		for (uint64_t k = r.n > RENEWALS_KEPT ? r.n - RENEWALS_KEPT : 0; k < r.n; k++) {
			r.failed.n = k;
			renewals_add(&r.failed, r.since_ns + k * every_ns);
		}
		ret->of[ret->n++] = r;
	}
}

struct ray_scenario {
	struct raystand stand;
	bool on; /* there is a Ray node */
	bool still; /* its workers and programs do nothing since the mark */
	bool old; /* what it writes is from before the standstill */
};

static void ray_kind(struct rayplaces_set *s, struct span name, double amount)
{
	struct rayplaces_kind *k = &s->of[s->n++];
	assert_true(s->n <= RAYPLACES_KINDS);
	*k = (struct rayplaces_kind){.amount = amount};
	span_copy(name, k->name, sizeof(k->name));
}

static struct raycall_actor ray_actor(struct span *rest, const char *where)
{
	return (struct raycall_actor){.id = {(unsigned char)int_of(next(rest, where))}};
}

/* A call of an actor, or the task of this number, which is no actor's. */
static struct raycall_task ray_maker(struct span *rest, bool task, const char *where)
{
	const unsigned char number = (unsigned char)int_of(next(rest, where));
	struct raycall_task t = {.id = {0}};
	if (task)
		memset(t.id + 8, 0xff, 12);
	t.id[task ? 0 : 8] = number;
	return t;
}

static void ray_holds(struct raystand *s, pid_t pid, struct span *rest, const char *where)
{
	struct rayplaces_holder *h = &s->places.holder[s->places.n_holders++];
	*h = (struct rayplaces_holder){.pid = pid, .name = "fold"};
	const struct span kind = next(rest, where);
	ray_kind(&h->has, kind, int_of(next(rest, where)));
}

/*
 * <pid> program|worker gets|idle|something [waits] [has <kind> <n>] [is <actor>] [runs <task>] [calls <threads>]
 * [awaits <actor>]… [awaits-task <task>]… [partly] [async]
 */
static void ray_process(struct raystand *s, struct span rest, const char *where)
{
	struct raystand_process *p = &s->process[s->n++];
	struct span w;
	*p = (struct raystand_process){.pid = int_of(next(&rest, where)), .calls = 1};
	p->worker = span_eq(next(&rest, where), "worker");
	w = next(&rest, where);
	p->does = span_eq(w, "gets") ? RAYSTAND_GETS : span_eq(w, "idle") ? RAYSTAND_IDLE : RAYSTAND_SOMETHING;
	s->places.drivers += !p->worker;
	while (span_word(&rest, &w)) {
		if (span_eq(w, "has"))
			ray_holds(s, p->pid, &rest, where);
		else if (span_eq(w, "is"))
			p->actor = ray_actor(&rest, where);
		else if (span_eq(w, "calls"))
			p->calls = (size_t)int_of(next(&rest, where));
		else if (span_eq(w, "runs"))
			p->task = ray_maker(&rest, p->runs = true, where);
		else if (span_eq(w, "awaits") || span_eq(w, "awaits-task"))
			p->awaits[p->n_awaits++] = ray_maker(&rest, span_eq(w, "awaits-task"), where);
		else if (span_eq(w, "partly"))
			p->partly = true;
		else if (span_eq(w, "waits"))
			p->waits = true;
		else if (span_eq(w, "async"))
			p->awaits_call = true;
		else
			fail_msg("%s: unknown word of a process of Ray's", where);
	}
	p->is_actor = p->actor.id[0] != 0;
	TEXT_COPY(p->place, p->does == RAYSTAND_GETS || p->n_awaits > 0 ? "search.py:30 in main" : "");
	(void)raystand_stuck(s);
}

/* <n> tasks|groups <kind> <amount> [apart <bundles>] [in-group] */
static void ray_wants(struct raystand *s, struct span rest, const char *where)
{
	struct rayplaces_demand *d = &s->places.demand[s->places.n_demands++];
	struct span w;
	*d = (struct rayplaces_demand){.count = (uint64_t)int_of(next(&rest, where)), .bundles = 1};
	d->group = span_eq(next(&rest, where), "groups");
	w = next(&rest, where);
	ray_kind(&d->all, w, int_of(next(&rest, where)));
	TEXT_FORMAT(d->text, "{'%s': %g}", d->all.of[0].name, d->all.of[0].amount);
	while (span_word(&rest, &w)) {
		d->in_group |= span_eq(w, "in-group");
		d->apart |= span_eq(w, "apart");
		if (span_eq(w, "apart"))
			d->bundles = (uint64_t)int_of(next(&rest, where));
	}
}

/*
 * has <kind> <free> of <n> | wants … | process … | nodes <n> | statuses <n> | drivers <n> | starting <n> | groups |
 * changes | old | still | none
 */
static void ray_line(struct ray_scenario *r, struct span rest, const char *where)
{
	struct raystand *s = &r->stand;
	const struct span w = next(&rest, where);
	if (span_eq(w, "none")) {
		*r = (struct ray_scenario){.on = false};
		return;
	}
	if (!r->on)
		s->places = (struct rayplaces){.has_state = true, .has_status = true, .nodes = 1, .statuses = 3};
	r->on = true;
	if (span_eq(w, "has")) {
		const struct span kind = next(&rest, where);
		ray_kind(&s->places.available, kind, int_of(next(&rest, where)));
		assert_true(span_eq(next(&rest, where), "of"));
		ray_kind(&s->places.total, kind, int_of(next(&rest, where)));
	} else if (span_eq(w, "wants")) {
		ray_wants(s, rest, where);
	} else if (span_eq(w, "process")) {
		ray_process(s, rest, where);
	} else if (span_eq(w, "nodes")) {
		s->places.nodes = (uint64_t)int_of(next(&rest, where));
	} else if (span_eq(w, "statuses")) {
		s->places.statuses = (uint32_t)int_of(next(&rest, where));
	} else if (span_eq(w, "drivers")) {
		s->places.drivers = (uint64_t)int_of(next(&rest, where));
	} else if (span_eq(w, "starting")) {
		s->places.starting = (uint64_t)int_of(next(&rest, where));
	} else if (span_eq(w, "groups")) {
		s->places.groups = true;
	} else if (span_eq(w, "changes")) {
		s->places.changes = true;
	} else if (span_eq(w, "still")) {
		r->still = true;
	} else if (span_eq(w, "old")) {
		r->old = true;
	} else {
		fail_msg("%s: unknown word of Ray", where);
	}
}

/* At each look written anew, unless it is old. */
static void ray_put(struct ray_scenario *r, struct hang_case *c)
{
	const int64_t age_ms = r->old ? 3600 * 1000 : 1000;
	r->stand.places.state_unix_ms = r->stand.places.status_unix_ms = c->now_unix_ms - age_ms;
	c->ray = r->on ? &r->stand : NULL;
}

/* <rank> <line of source> */
static void source_line(struct hang_source *s, struct span rest, const char *where)
{
	*s = (struct hang_source){.rank = int_of(next(&rest, where))};
	span_copy(span_trim(rest), s->line, sizeof(s->line));
}

/* <line of a scenario of waits>, or none */
static void waits_line(struct wait_scenario *s, struct span rest)
{
	if (wait_scenario_line(s, rest))
		return;
	assert_true(wait_word(&rest, "none"));
	wait_scenario_begin(s);
}

/* <looks> [ranks|gpu|loader|running|sleeping|stopped|memory|locks|unknown|other|periods|throttled <n>] ...
   [ran|queued <seconds a second>] [waits <a second>] [naps <n> <place>] [whom <rest>] */
static inline struct waitshare_rank share_of(struct span rest, const char *where)
{
	struct waitshare_rank r = {.n = (uint32_t)int_of(next(&rest, where))};
	struct span w;
	while (span_word(&rest, &w)) {
		if (span_eq(w, "naps")) { /* its sleeps: <n> at one place, the rest at others */
			r.whom[1].of = WAITSHARE_SLEEPS;
			r.whom[1].n = (uint32_t)int_of(next(&rest, where));
			span_copy(next(&rest, where), r.whom[1].text, sizeof(r.whom[1].text));
			continue;
		}
		if (span_eq(w, "whom")) {
			span_copy(span_trim(rest), r.whom[0].text, sizeof(r.whom[0].text));
			r.whom[0].n = r.other + r.locks;
			r.whom[0].of = r.locks ? WAITSHARE_LOCK : WAITSHARE_OTHER;
			r.whom[0].named = true;
			break;
		}
		if (span_eq(w, "ran") || span_eq(w, "queued")) {
			r.over_ns = 1000000000;
			*(span_eq(w, "ran") ? &r.ran_ns : &r.queued_ns) = (uint64_t)(real_of(next(&rest, where)) * 1e9);
			continue;
		}
		if (span_eq(w, "waits")) { /* a second */
			r.over_ns = 1000000000;
			r.waits = (uint64_t)int_of(next(&rest, where));
			continue;
		}
		uint32_t n = (uint32_t)int_of(next(&rest, where));
		if (span_eq(w, "periods") || span_eq(w, "throttled")) {
			r.quota_cores = 1;
			*(span_eq(w, "periods") ? &r.periods : &r.throttled) = n;
			continue;
		}
		*(span_eq(w, "ranks")	   ? &r.ranks
		  : span_eq(w, "loader")   ? &r.loader
		  : span_eq(w, "running")  ? &r.running
		  : span_eq(w, "sleeping") ? &r.sleeping
		  : span_eq(w, "gpu")	   ? &r.gpu
		  : span_eq(w, "stopped")  ? &r.stopped
		  : span_eq(w, "memory")   ? &r.memory
		  : span_eq(w, "locks")	   ? &r.locks
		  : span_eq(w, "unknown")  ? &r.unknown
					   : &r.other) = n;
	}
	return r;
}
