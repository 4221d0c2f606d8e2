/*
 * Reads facts of waits from the lines of a scenario (tests/scenarios/README.md, "waits"): processes, threads, what they
 * wait for and who could end it. Used by the tests of the graph and of the judge.
 */
#pragma once

#include "testing.h"

#include "base/text.h"
#include "base/units.h"
#include "model/hang/waitgraph.h"
#include "sense/rank.h"

#define WAIT_SCENARIO_MOST 4096

struct wait_scenario {
	struct waitfacts facts[2]; /* before, now */
	struct waitfact_process process[2][WAIT_SCENARIO_MOST / 8];
	struct waitfact_thread thread[2][WAIT_SCENARIO_MOST];
	struct waitfact fact[2][WAIT_SCENARIO_MOST];
	struct waitfact_holder holder[2][WAIT_SCENARIO_MOST];
	struct waitgraph_who who[WAIT_SCENARIO_MOST / 8];
	size_t n_who;
	struct waithint hint[64];
	size_t n_hints;
	struct waitfact_hand hand[64];
	size_t n_hands;
};

static inline void wait_scenario_begin(struct wait_scenario *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < 2; i++) {
		s->facts[i].process = s->process[i];
		s->facts[i].thread = s->thread[i];
		s->facts[i].fact = s->fact[i];
		s->facts[i].holder = s->holder[i];
		s->facts[i].taken_ns = (uint64_t)i * 2 * NS_PER_S;
	}
}

static inline bool wait_word(struct span *rest, const char *word)
{
	struct span copy = *rest, w;
	if (!span_word(&copy, &w) || !span_eq(w, word))
		return false;
	*rest = copy;
	return true;
}

static inline int64_t wait_number(struct span *rest)
{
	struct span w;
	int64_t v;
	assert_true(span_word(rest, &w));
	assert_int_equal(span_i64(w, &v), 0);
	return v;
}

static inline struct waitfact_process *wait_process_at(struct wait_scenario *s, int look, pid_t pid)
{
	for (size_t i = 0; i < s->facts[look].n_processes; i++)
		if (s->process[look][i].pid == pid)
			return &s->process[look][i];
	return NULL;
}

/*
 * process <pid> [parent n] [rank n] [main] [launcher] [role r] [zombie] [status n] [unwanted] [busy]
 * [began <seconds after the first>] [handles <signal>] .. [timers] [alarm-unknown]
 */
static inline void wait_process_line(struct wait_scenario *s, struct span rest)
{
	struct waitfact_process p = {.pid = (pid_t)wait_number(&rest), .ppid = 1, .state = 'S', .readable = true};
	struct waitgraph_who who = {.pid = p.pid, .rank = NO_RANK};
	struct span w;
	bool wanted = true, busy = false;
	TEXT_COPY(p.name, "python");
	while (rest.len && span_trim(rest).len) {
		if (wait_word(&rest, "parent"))
			p.ppid = (pid_t)wait_number(&rest);
		else if (wait_word(&rest, "rank"))
			who.rank = (int32_t)wait_number(&rest);
		else if (wait_word(&rest, "main"))
			who.main = true;
		else if (wait_word(&rest, "launcher"))
			who.launcher = true;
		else if (wait_word(&rest, "began")) /* so many seconds after the first one */
			p.start_ticks = 100 * (uint64_t)wait_number(&rest);
		else if (wait_word(&rest, "zombie"))
			p.state = 'Z';
		else if (wait_word(&rest, "status")) {
			p.exit_status = (int)wait_number(&rest);
			p.has_exit = true;
		} else if (wait_word(&rest, "unwanted"))
			wanted = false;
		else if (wait_word(&rest, "busy"))
			busy = true;
		else if (wait_word(&rest, "handles"))
			p.handled |= UINT64_C(1) << (wait_number(&rest) - 1);
		else if (wait_word(&rest, "timers"))
			p.has_timers = true;
		else if (wait_word(&rest, "alarm-unknown"))
			p.alarm_unknown = true;
		else if (wait_word(&rest, "role") && span_word(&rest, &w))
			span_copy(w, who.role, sizeof(who.role));
		else
			fail_msg("process: what is '%.*s'?", (int)rest.len, rest.p);
	}
	p.wanted = wanted;
	for (int look = 0; look < 2; look++) {
		size_t at = s->facts[look].n_processes++;
		for (; at > 0 && s->process[look][at - 1].pid > p.pid; at--)
			s->process[look][at] = s->process[look][at - 1];
		s->process[look][at] = p;
		s->process[look][at].cpu_ticks = busy ? 100 + (uint64_t)look * 50 : 100;
	}
	if (wanted)
		s->who[s->n_who++] = who;
}

static inline enum waitfact_kind wait_kind_of(struct span w)
{
	for (int k = WAITFACT_UNKNOWN; k <= WAITFACT_OBJECT; k++) {
		char name[32];
		TEXT_COPY(name, waitfact_kind_name((enum waitfact_kind)k));
		for (char *c = name; *c; c++)
			*c = *c == ' ' ? '-' : *c;
		if (span_eq(w, name))
			return (enum waitfact_kind)k;
	}
	fail_msg("no kind of wait: '%.*s'", (int)w.len, w.p);
	return WAITFACT_UNKNOWN;
}

/*
 * <kind> [id n] [peer n] [unread n] [received n] [write] [hangup] [deaf] [inherited] [unheard] [unasked]
 * [by pid|pid.tid ..] [open] [owner] [all] [lock] [accepted] [gone] [programs] [left pid] [timed|naps]
 * [ticks n] [text ..]
 */
static inline void wait_fact_line(struct wait_scenario *s, int look, struct waitfact_thread *t, struct span rest)
{
	struct waitfacts *f = &s->facts[look];
	struct waitfact *x = &s->fact[look][f->n_facts++];
	struct span w;
	assert_true(span_word(&rest, &w));
	*x = (struct waitfact){.kind = wait_kind_of(w), .complete = true, .first_holder = (uint32_t)f->n_holders};
	bool by = false;
	while (span_trim(rest).len) {
		struct span copy = rest;
		if (wait_word(&rest, "id")) {
			x->id = (uint64_t)wait_number(&rest);
		} else if (wait_word(&rest, "peer")) {
			x->peer_id = (uint64_t)wait_number(&rest);
		} else if (wait_word(&rest, "type")) {
			x->message_type = wait_number(&rest);
		} else if (wait_word(&rest, "received")) {
			x->received_bytes = (uint64_t)wait_number(&rest);
		} else if (wait_word(&rest, "sent")) {
			x->sent_bytes = (uint64_t)wait_number(&rest);
		} else if (wait_word(&rest, "door")) {
			x->door = (uint64_t)wait_number(&rest);
		} else if (wait_word(&rest, "unread")) {
			x->unread = (uint32_t)wait_number(&rest);
		} else if (wait_word(&rest, "write")) {
			x->to_write = true;
		} else if (wait_word(&rest, "hangup")) {
			x->hangup = true;
		} else if (wait_word(&rest, "port")) {
			x->port = (uint16_t)wait_number(&rest);
		} else if (wait_word(&rest, "apart")) {
			x->apart = true;
		} else if (wait_word(&rest, "deaf")) {
			x->deaf = true;
		} else if (wait_word(&rest, "inherited")) {
			x->inherited = true;
		} else if (wait_word(&rest, "unheard")) {
			x->unheard = true;
		} else if (wait_word(&rest, "unasked")) {
			x->unasked = true;
			x->complete = false;
		} else if (wait_word(&rest, "open")) {
			x->complete = false;
		} else if (wait_word(&rest, "owner")) {
			x->owner = true;
		} else if (wait_word(&rest, "tells")) {
			x->tells = true;
		} else if (wait_word(&rest, "programs")) {
			x->of_programs = true;
		} else if (wait_word(&rest, "all")) {
			x->all = true;
		} else if (wait_word(&rest, "lock")) {
			x->lock = true;
		} else if (wait_word(&rest, "accepted")) {
			x->accepted = true;
		} else if (wait_word(&rest, "gone")) {
			x->owner_gone = true;
		} else if (wait_word(&rest, "left")) {
			x->left = (pid_t)wait_number(&rest);
		} else if (wait_word(&rest, "timed")) {
			t->timed = true;
		} else if (wait_word(&rest, "labours")) { /* between its naps, for long */
			t->ran_ns = (uint64_t)look * 200 * NS_PER_MS;
		} else if (wait_word(&rest, "ticks")) { /* of processor time between the looks */
			t->user_ticks = (uint64_t)wait_number(&rest) * (uint64_t)look;
		} else if (wait_word(&rest, "works")) { /* after its naps */
			t->ran_ns = (uint64_t)look * 300 * NS_PER_US;
		} else if (wait_word(&rest, "naps")) {
			t->timed = true;
			t->limit_ns = NS_PER_S;
			t->runs_so_far = (uint64_t)look + 1;
		} else if (wait_word(&rest, "by")) {
			by = true;
		} else if (wait_word(&rest, "text")) {
			span_copy(span_trim(rest), x->text, sizeof(x->text));
			break;
		} else {
			uint64_t pid, tid = 0;
			assert_true(span_word(&copy, &w));
			size_t dot = 0;
			while (dot < w.len && w.p[dot] != '.')
				dot++;
			assert_int_equal(span_u64((struct span){w.p, dot}, &pid), 0);
			if (dot < w.len)
				assert_int_equal(span_u64((struct span){w.p + dot + 1, w.len - dot - 1}, &tid), 0);
			assert_true(by);
			s->holder[look][f->n_holders++] = (struct waitfact_holder){(pid_t)pid, (pid_t)tid};
			x->n_holders++;
			rest = copy;
		}
	}
	if (x->kind == WAITFACT_UNKNOWN || x->kind == WAITFACT_CLOCK || x->kind == WAITFACT_LISTEN || t->goroutine)
		x->complete = false;
	t->n++;
}

/*
 * thread <pid> [tid] [goroutine] runs|ended|blind|<fact>: in both looks; of a process its threads follow each other. A
 * goroutine has its thread's number.
 */
static inline void wait_thread_line(struct wait_scenario *s, struct span rest, bool now_only)
{
	pid_t pid = (pid_t)wait_number(&rest), tid = pid;
	struct span copy = rest, w;
	int64_t number;
	if (span_word(&copy, &w) && span_i64(w, &number) == 0) {
		tid = (pid_t)number;
		rest = copy;
	}
	for (int look = now_only; look < 2; look++) {
		struct waitfacts *f = &s->facts[look];
		struct waitfact_process *p = wait_process_at(s, look, pid);
		struct waitfact_thread *t = &s->thread[look][f->n_threads];
		assert_non_null(p);
		if (now_only) /* the thread is there, and does something else now */
			for (size_t i = 0; i < f->n_threads; i++)
				if (s->thread[look][i].tid == tid && s->thread[look][i].pid == pid)
					t = &s->thread[look][i];
		if (t == &s->thread[look][f->n_threads]) {
			if (p->n_threads == 0)
				p->first_thread = (uint32_t)f->n_threads;
			assert_int_equal(p->first_thread + p->n_threads, f->n_threads);
			p->n_threads++;
			f->n_threads++;
		}
		*t = (struct waitfact_thread){
			.pid = pid, .tid = tid, .readable = true, .nr = 1, .first = (uint32_t)f->n_facts};
		struct span r = rest;
		if (wait_word(&r, "goroutine")) {
			t->goroutine = (uint64_t)tid;
			t->cut = true;
		}
		if (wait_word(&r, "runs")) {
			t->runs = true;
			t->user_ticks = wait_word(&r, "lightly") ? 0 : (uint64_t)look * 100;
		} else if (wait_word(&r, "ended")) {
			t->ended = true;
		} else {
			wait_fact_line(s, look, t, r);
		}
		if (now_only)
			t->runs_so_far = 1;
	}
}

/* also <fact>: one more alternative of the last thread */
static inline void wait_also_line(struct wait_scenario *s, struct span rest)
{
	for (int look = 0; look < 2; look++)
		wait_fact_line(s, look, &s->thread[look][s->facts[look].n_threads - 1], rest);
}

/*
 * looks <pid> [now] <fact>: the main thread may be looking at this again and again; now: at the second look only. Those
 * of one thread follow each other.
 */
static inline void wait_looks_line(struct wait_scenario *s, struct span rest)
{
	pid_t pid = (pid_t)wait_number(&rest);
	for (int look = wait_word(&rest, "now"); look < 2; look++)
		for (size_t i = 0; i < s->facts[look].n_threads; i++) {
			struct waitfact_thread *t = &s->thread[look][i];
			if (t->tid != pid)
				continue;
			if (t->n_polled++ == 0)
				t->first_polled = (uint32_t)s->facts[look].n_facts;
			wait_fact_line(s, look, t, rest);
			t->n--;
		}
}

/* hint <pid> <tid> owner|usual <pid> <tid, 0: ended>|nobody|lost|rank <n>|fact <id>|text|
 * key [rank <n>]|call|idle [shows]|handler|hand <id>|within|result <pid> [<tid>]|result nobody|
 * retry [exists] [held] [caught] [missing] [others] [link <seconds>] [behind] [folder] [kind] [lock]
 * [barrier <parties> <place>] [likely|possible] [limit <seconds>] [says <rest>] */
static inline void wait_hint_line(struct wait_scenario *s, struct span rest)
{
	struct waithint *h = &s->hint[s->n_hints++];
	*h = (struct waithint){.pid = (pid_t)wait_number(&rest), .rank = NO_RANK, .proof = true};
	h->tid = (pid_t)wait_number(&rest);
	if (wait_word(&rest, "owner")) {
		h->kind = WAITHINT_OWNER;
		h->owner_pid = (pid_t)wait_number(&rest);
		h->owner_tid = (pid_t)wait_number(&rest);
	} else if (wait_word(&rest, "usual")) {
		h->kind = WAITHINT_USUAL;
		h->proof = false;
		h->owner_pid = (pid_t)wait_number(&rest);
		h->owner_tid = (pid_t)wait_number(&rest);
	} else if (wait_word(&rest, "nobody")) {
		h->kind = WAITHINT_NOBODY;
	} else if (wait_word(&rest, "lost")) {
		h->kind = WAITHINT_NOBODY;
		h->lost = true;
	} else if (wait_word(&rest, "rank")) {
		h->kind = WAITHINT_RANK;
		h->rank = (int32_t)wait_number(&rest);
		h->counted = wait_word(&rest, "counted");
	} else if (wait_word(&rest, "fact")) {
		h->kind = WAITHINT_FACT;
		h->id = (uint64_t)wait_number(&rest);
	} else if (wait_word(&rest, "key")) {
		h->kind = WAITHINT_KEY;
		if (wait_word(&rest, "rank")) {
			h->by_rank = true;
			h->rank = (int32_t)wait_number(&rest);
		}
	} else if (wait_word(&rest, "call")) {
		h->kind = WAITHINT_CALL;
	} else if (wait_word(&rest, "idle")) {
		h->kind = WAITHINT_IDLE;
		h->shows = wait_word(&rest, "shows");
	} else if (wait_word(&rest, "sleeps")) {
		h->kind = WAITHINT_SLEEPS;
	} else if (wait_word(&rest, "closed")) {
		h->kind = WAITHINT_CLOSED;
		h->asks = wait_word(&rest, "asks");
	} else if (wait_word(&rest, "handler")) {
		h->kind = WAITHINT_HANDLER;
	} else if (wait_word(&rest, "stream")) {
		h->kind = WAITHINT_STREAM;
	} else if (wait_word(&rest, "retry")) {
		h->kind = WAITHINT_RETRY;
		h->exists = wait_word(&rest, "exists");
		h->old_ns = wait_word(&rest, "old") ? (uint64_t)wait_number(&rest) * NS_PER_S : 0;
		h->held = wait_word(&rest, "held");
		h->caught = wait_word(&rest, "caught");
		h->missing = wait_word(&rest, "missing");
		h->others_there = wait_word(&rest, "others");
		h->link_old_ns = wait_word(&rest, "link") ? (uint64_t)wait_number(&rest) * NS_PER_S : 0;
		h->behind = wait_word(&rest, "behind");
		h->orphan = wait_word(&rest, "orphan");
		h->own_folder = wait_word(&rest, "folder");
		h->own_kind = wait_word(&rest, "kind");
		h->others_folder = wait_word(&rest, "shared");
		h->owner_pid = wait_word(&rest, "asks") ? (pid_t)wait_number(&rest) : 0;
		if (h->orphan)
			TEXT_COPY(h->owner_text, "process 812 of this job has made it and was ended by SIGKILL");
		else if (h->own_kind)
			TEXT_COPY(h->owner_text, "files of this kind are made by the job itself: step-9 by rank 0");
	} else if (wait_word(&rest, "task")) {
		h->kind = WAITHINT_TASK;
		h->proof = false;
		h->owner_pid = h->owner_tid = (pid_t)wait_number(&rest);
	} else if (wait_word(&rest, "result")) {
		h->kind = WAITHINT_RESULT;
		h->proof = false;
		h->owner_pid = h->owner_tid = wait_word(&rest, "nobody") ? 0 : (pid_t)wait_number(&rest);
		if (rest.len > 0 && span_trim(rest).p[0] >= '0' && span_trim(rest).p[0] <= '9')
			h->owner_tid = (pid_t)wait_number(&rest);
	} else if (wait_word(&rest, "hand")) {
		h->kind = WAITHINT_HAND;
		h->proof = false;
		h->id = (uint64_t)wait_number(&rest);
	} else if (wait_word(&rest, "odd")) {
		h->kind = WAITHINT_ODD;
		h->proof = false;
		h->by_number = wait_word(&rest, "number");
		h->root = wait_word(&rest, "root");
		TEXT_COPY(h->owner_text, "another text");
	} else if (wait_word(&rest, "within")) {
		h->kind = WAITHINT_WITHIN;
	} else {
		assert_true(wait_word(&rest, "text"));
		h->kind = WAITHINT_TEXT;
	}
	h->lock = wait_word(&rest, "lock");
	if (wait_word(&rest, "barrier")) {
		h->parties = (uint32_t)wait_number(&rest);
		h->place = (uint32_t)wait_number(&rest);
	}
	if (wait_word(&rest, "likely"))
		h->proof = false;
	else if (wait_word(&rest, "possible"))
		h->proof = !(h->one_of = true);
	if (wait_word(&rest, "limit"))
		h->limit_ns = (uint64_t)wait_number(&rest) * NS_PER_S;
	if (wait_word(&rest, "says"))
		span_copy(span_trim(rest), h->text, sizeof(h->text));
}

/* limit <pid> <seconds>, left <pid> <seconds>: of the main thread's call, which has a time limit */
static inline void wait_limit_line(struct wait_scenario *s, struct span rest, bool left)
{
	pid_t pid = (pid_t)wait_number(&rest);
	uint64_t limit_ns = (uint64_t)wait_number(&rest) * NS_PER_S;
	for (int look = 0; look < 2; look++)
		for (size_t i = 0; i < s->facts[look].n_threads; i++)
			if (s->thread[look][i].tid == pid)
				*(left ? &s->thread[look][i].left_ns : &s->thread[look][i].limit_ns) = limit_ns;
}

/* hand <id> <pid> <tid>: this goroutine comes to a connection that another one of its process reads */
static inline void wait_hand_line(struct wait_scenario *s, struct span rest)
{
	struct waitfact_hand h = {.id = (uint64_t)wait_number(&rest), .pid = (pid_t)wait_number(&rest)};
	h.tid = (pid_t)wait_number(&rest);
	for (int look = 0; look < 2; look++) {
		s->facts[look].hand = s->hand;
		s->facts[look].n_hands = s->n_hands + 1;
	}
	size_t at = s->n_hands++;
	for (; at > 0 && s->hand[at - 1].id > h.id; at--)
		s->hand[at] = s->hand[at - 1];
	s->hand[at] = h;
}

/* True if the line was one of facts. */
static inline bool wait_scenario_line(struct wait_scenario *s, struct span line)
{
	struct span rest = line;
	if (wait_word(&rest, "process"))
		wait_process_line(s, rest);
	else if (wait_word(&rest, "thread"))
		wait_thread_line(s, rest, false);
	else if (wait_word(&rest, "then"))
		wait_thread_line(s, rest, true);
	else if (wait_word(&rest, "also"))
		wait_also_line(s, rest);
	else if (wait_word(&rest, "looks"))
		wait_looks_line(s, rest);
	else if (wait_word(&rest, "limit"))
		wait_limit_line(s, rest, false);
	else if (wait_word(&rest, "left"))
		wait_limit_line(s, rest, true);
	else if (wait_word(&rest, "hint"))
		wait_hint_line(s, rest);
	else if (wait_word(&rest, "hand"))
		wait_hand_line(s, rest);
	else
		return false;
	return true;
}
