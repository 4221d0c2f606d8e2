#include "agent/rules/rulegather.h"

#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>

#include "agent/rules/rulegather_parts.h"
#include "agent/rules/rulefiles.h"
#include "base/buf.h"
#include "base/clock.h"
#include "judge/rules/causes.h"
#include "model/gpu/gpuwatch.h"
#include "model/rules/ibwatch.h"
#include "model/stacks/stackline.h"
#include "sense/gpu/xid.h"
#include "sense/log/kmsg.h"
#include "sense/ns.h"

#define BASELINE_NS (300 * NS_PER_MS)
/* Most records read of the kernel's log in one call. */
#define KMSG_MOST 20000
/* During the first minute of an attempt NCCL may be silent. */
#define SILENT_MS 60000
/* Minimum number of segments to report a ratio. */
#define SEGMENTS_LEAST 1000

/* ---- matches ---- */

static bool rulegather_is_ours(const struct rulegather *g, pid_t pid, int32_t *rank)
{
	const struct rulegather_want *w = g->want;
	*rank = NO_RANK;
	for (size_t i = 0; i < w->n_ranks; i++)
		if (w->ranks[i].pid == pid) {
			*rank = w->ranks[i].rank;
			return true;
		}
	if (g->stacks && stackdump_rank_of(g->stacks, pid, rank))
		return true;
	return w->knows && w->knows(w->knows_data, pid);
}

/* The kernel's log uses the pids of the first namespace. */
static void match_owner(const struct rulegather *g, struct rule_match *m)
{
	uint64_t pid;
	int32_t rank;
	if (!g->first_namespace || span_u64(span_of(m->value[RULE_PID]), &pid) < 0 || pid > INT32_MAX)
		return;
	bool ours = rulegather_is_ours(g, (pid_t)pid, &rank);
	m->whose = ours ? RULE_WHOSE_OURS : RULE_WHOSE_OTHERS;
	if (ours && m->rank == NO_RANK)
		m->rank = rank;
}

static void rulegather_match(void *data, const struct rule_match *m)
{
	struct rulegather *g = data;
	if (g->side == RULEGATHER_IN_CHILD) {
		ruleread_match(g, m);
		return;
	}
	struct rule_match copy = *m;
	if (m->rule->source == RULE_KMSG)
		match_owner(g, &copy);
	if (!copy.has_time && g->event_unix_ms > 0) {
		copy.has_time = true;
		copy.time_unix_ms = g->event_unix_ms;
	}
	if (g->result == 0)
		g->result = cause_set_add(g->into, &copy);
}

static void feed(struct rulegather *g, const char *text, size_t len)
{
	while (len > 0 && g->result == 0) {
		char *room;
		size_t n = MIN(rulescan_room(g->scan, &room), len);
		memcpy(room, text, n);
		text += n;
		len -= n;
		g->result = rulescan_filled(g->scan, n);
	}
}

static void line_feed(void *data, const char *line)
{
	struct rulegather *g = data;
	feed(g, line, strlen(line));
	feed(g, "\n", 1);
}

static void source_begin(struct rulegather *g, enum rule_source source, struct cause_set *into, int64_t unix_ms)
{
	static const char *const names[RULE_SOURCES] = {
		[RULE_LOG] = "log",	    [RULE_KMSG] = "kernel log",	 [RULE_STACK] = "stacks",
		[RULE_ENV] = "environment", [RULE_COUNTER] = "counters",
	};
	g->into = into;
	g->event_unix_ms = unix_ms;
	if (g->result == 0)
		g->result = rulescan_begin(g->scan, source, names[source], NO_RANK);
}

static void source_end(struct rulegather *g)
{
	if (g->result == 0)
		g->result = rulescan_end(g->scan);
}

/* ---- creation ---- */

struct sharedbook {
	size_t users;
	char *rules; /* owned; NULL: no rules but our own */
	struct rulebook book;
	struct rulescan *scan; /* has what was compiled; reads nothing itself */
};

/* The book that was last made, while somebody uses it. */
static struct sharedbook *shared;

static void sharedbook_free(struct sharedbook *s)
{
	rulescan_free(s->scan);
	rulebook_done(&s->book);
	free(s->rules);
	free(s);
}

static void sharedbook_freep(struct sharedbook **s)
{
	if (*s)
		sharedbook_free(*s);
}

static void sharedbook_give_back(struct sharedbook *s)
{
	if (!s || --s->users > 0)
		return;
	if (shared == s)
		shared = NULL;
	sharedbook_free(s);
}

static bool same_rules(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int sharedbook_take(const struct world *w, const char *rules, struct sharedbook **ret, struct fault *f)
{
	if (shared && same_rules(shared->rules, rules)) {
		shared->users++;
		*ret = shared;
		return 0;
	}
	cleanup(sharedbook_freep) struct sharedbook *s = calloc(1, sizeof(*s));
	if (!s || (rules && !(s->rules = strdup(rules))))
		return -ENOMEM;
	s->users = 1;
	int r = rulefiles_own(w, &s->book, f);
	if (r == 0)
		r = rulefiles_add_list(&s->book, rules, f);
	/* the own matcher is enough for this little text; a library would make the process larger */
	if (r == 0)
		r = rulescan_new(&s->book, LITERAL_OWN, rulegather_match, NULL, &s->scan);
	if (r != 0)
		return r;
	*ret = shared = take(&s);
	return 0;
}

static void kmsg_start(struct rulegather *g)
{
	g->kmsg = malloc(sizeof(*g->kmsg));
	if (!g->kmsg)
		return;
	g->kmsg_result = kmsg_open(g->w, KMSG_FROM_START, g->kmsg);
	if (g->kmsg_result != 0) {
		free(g->kmsg);
		g->kmsg = NULL;
	}
}

static int64_t boot_ms(void)
{
	return (int64_t)(clock_boot_ns() / NS_PER_MS);
}

int rulegather_new(const struct world *w, const char *rules, const char *ib_exclude, int64_t started_unix_ms,
		   struct rulegather **ret, struct fault *f)
{
	cleanup(rulegather_freep) struct rulegather *g = calloc(1, sizeof(*g));
	char ns[64] = "";
	if (!g)
		return -ENOMEM;
	g->w = w;
	g->started_unix_ms = started_unix_ms;
	g->started_boot_ms = boot_ms() - (w->unix_ms() - started_unix_ms);
	TEXT_COPY(g->ib_exclude, ib_exclude ? ib_exclude : "");
	g->log = calloc(RULEREAD_LOGS, sizeof(*g->log));
	g->gpus = calloc(1, sizeof(*g->gpus));
	if (!g->log || !g->gpus)
		return -ENOMEM;
	int r = sharedbook_take(w, rules, &g->book, f);
	if (r == 0)
		r = rulescan_new_like(g->book->scan, rulegather_match, g, &g->scan);
	if (r != 0)
		return r;
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", ns, sizeof(ns) - 1);
	g->first_namespace = w->recorded || (n > 0 && strcmp(ns, PID_NAMESPACE_FIRST_TEXT) == 0);
	kmsg_start(g);
	*ret = take(&g);
	return 0;
}

void rulegather_progress(struct rulegather *g, const struct progress_patterns *user)
{
	g->progress = user;
}

struct rulegather *rulegather_free(struct rulegather *g)
{
	if (!g)
		return NULL;
	if (g->scan)
		ruleread_stop(g);
	if (g->kmsg)
		kmsg_close(g->kmsg);
	free(g->kmsg);
	for (size_t i = 0; i < RULEGATHER_RANKS; i++)
		free(g->environ[i].text);
	rulescan_free(g->scan);
	cause_set_done(&g->kept);
	sharedbook_give_back(g->book);
	free(g->gpus);
	free(g->tcp);
	free(g->log);
	free(g);
	return NULL;
}

void rulegather_gpus(struct rulegather *g, const struct gpu_set *set)
{
	gpuwatch_feed(g->gpus, set, g->w->mono_ns());
}

static void counters_before(struct rulegather *g)
{
	if (g->has_ports && !g->has_ports_before) {
		memcpy(g->ports_before, g->ports, sizeof(g->ports));
		g->n_ports_before = g->n_ports;
		g->has_ports_before = true;
	}
	if (g->has_snmp && !g->has_snmp_before) {
		g->snmp_before = g->snmp;
		g->has_snmp_before = true;
	}
}

/* Without memory no sockets are read. */
static void tcp_room(struct rulegather *g)
{
	free(g->tcp);
	g->n_tcp = MIN(g->want->n_ranks, (size_t)RULEGATHER_RANKS);
	g->tcp = calloc(g->n_tcp + 1, sizeof(*g->tcp));
	if (!g->tcp)
		g->n_tcp = 0;
}

void rulegather_baseline(struct rulegather *g, pid_t pid)
{
	g->baseline_rank = (struct rulegather_rank){.pid = pid, .rank = NO_RANK};
	g->baseline = (struct rulegather_want){.ranks = &g->baseline_rank, .n_ranks = 1};
	g->want = &g->baseline;
	g->ret = NULL;
	g->result = 0;
	tcp_room(g);
	ruleread_baseline(g, g->w->mono_ns() + BASELINE_NS);
}

bool rulegather_reads(const struct rulegather *g)
{
	return g->run.pid != 0;
}

bool rulegather_step(struct rulegather *g)
{
	if (!ruleread_step(g))
		return false;
	if (!g->ret)
		counters_before(g);
	return true;
}

/* ---- logs ---- */

static struct ruleread_log *log_of(struct rulegather *g, const char *path)
{
	for (size_t i = 0; i < g->n_logs; i++)
		if (strcmp(g->log[i].path, path) == 0)
			return &g->log[i];
	if (g->n_logs == RULEREAD_LOGS || strlen(path) >= sizeof(g->log[0].path))
		return NULL;
	struct ruleread_log *l = &g->log[g->n_logs++];
	TEXT_COPY(l->path, path);
	return l;
}

static void log_want(struct rulegather *g, const char *path, int32_t rank, const char *which)
{
	struct ruleread_log *l = path && path[0] ? log_of(g, path) : NULL;
	if (path && path[0] && !l)
		rulegather_unavailable(g->ret, "the log %.150s: there are too many, or its name is too long", path);
	if (!l)
		return;
	/* several ranks write into it: its lines must name their rank */
	l->rank = l->wanted && l->rank != rank ? NO_RANK : rank;
	l->wanted = true;
	if (l->rank == NO_RANK)
		TEXT_FORMAT(l->label, "%s", which);
	else
		TEXT_FORMAT(l->label, "rank %d %s", l->rank, which);
	TEXT_FORMAT(l->label_later, "%.28s, later part", l->label);
}

static void logs_want(struct rulegather *g)
{
	for (size_t i = 0; i < g->n_logs; i++)
		g->log[i].wanted = false;
	for (size_t i = 0; i < MIN(g->want->n_ranks, (size_t)RULEGATHER_RANKS); i++) {
		const struct rulegather_rank *r = &g->want->ranks[i];
		log_want(g, r->out, r->rank, "stdout");
		log_want(g, r->err, r->rank, "stderr");
	}
}

/* ---- the kernel's log ---- */

struct kernel_lines {
	struct rulegather *g;
	int64_t offset_ms;
};

/* The process that a record is about; 0: none, or one whose trouble is that of all. */
static pid_t subject_of(struct span text)
{
	struct xid x;
	pid_t subject = kmsg_subject(text);
	if (subject == 0 && xid_parse(text, &x) && (xid_action(&x) == XID_APP || xid_action(&x) == XID_FOLLOWS))
		subject = x.pid;
	return subject;
}

static void kernel_record(const struct kmsg_record *r, void *data)
{
	struct kernel_lines *k = data;
	char text[1200];
	int32_t rank;
	int64_t when = kmsg_unix_ms(r, k->offset_ms);
	/* records of other facilities are written by programs and may be forged */
	if (r->facility != 0 || (k->g->started_unix_ms > 0 && when < k->g->started_unix_ms - 1000))
		return;
	/* records about a process of another job do not count; in a container its pid cannot be compared with ours */
	pid_t subject = subject_of(r->text);
	if (subject && (!k->g->first_namespace || !rulegather_is_ours(k->g, subject, &rank)))
		return;
	kmsg_line_format(r, k->offset_ms, text, sizeof(text));
	line_feed(k->g, text);
}

static void kernel_gather(struct rulegather *g)
{
	struct kernel_lines k = {.g = g, .offset_ms = kmsg_unix_offset_ms(g->w)};
	size_t n;
	if (g->kmsg_result == 0 && g->kmsg) {
		source_begin(g, RULE_KMSG, &g->kept, 0);
		int r = kmsg_drain(g->kmsg, KMSG_MOST, kernel_record, &k, &n);
		source_end(g);
		g->kmsg_result = r == -ENOMEM ? 0 : r;
	}
	if (g->kmsg_result == WORLD_ABSENT)
		rulegather_unavailable(g->ret, "the kernel's log: there is none here, as in most containers");
	else if (g->kmsg_result == WORLD_DENIED)
		rulegather_unavailable(
			g->ret, "the kernel's log: not permitted (needs CAP_SYSLOG, or kernel.dmesg_restrict=0)");
	else if (g->kmsg_result < 0)
		rulegather_unavailable(g->ret, "the kernel's log: %s", strerror(-g->kmsg_result));
}

/* ---- environments ---- */

static void environs_want(struct rulegather *g)
{
	size_t n = MIN(g->want->n_ranks, (size_t)RULEGATHER_RANKS);
	for (size_t i = 0; i < n; i++) {
		struct ruleread_environ *e = &g->environ[i];
		if (e->pid == g->want->ranks[i].pid)
			continue;
		free(e->text);
		*e = (struct ruleread_environ){.pid = g->want->ranks[i].pid};
	}
	g->n_environs = n;
}

static void environ_gather(struct rulegather *g, struct cause_set *now)
{
	struct rankenv_process list[RULEGATHER_RANKS];
	size_t n = 0;
	for (size_t i = 0; i < g->n_environs; i++) {
		/* an entry that stands for a log only */
		if (g->want->ranks[i].pid == 0 && g->want->ranks[i].rank == NO_RANK)
			continue;
		list[n++] = (struct rankenv_process){
			.pid = g->want->ranks[i].pid,
			.environ = {g->environ[i].text, g->environ[i].len},
			.known_rank = g->want->ranks[i].rank,
			.numbered = g->want->ranks[i].numbered,
		};
	}
	rankenv_compare(list, n, &g->ret->env);
	/* ranks that have trained together agree, even where their environments differ */
	struct rankenv env = g->ret->env;
	env.n_findings = g->has_trained ? 0 : env.n_findings;
	/* environments are older than the first line */
	source_begin(g, RULE_ENV, now, g->started_unix_ms);
	rankenv_lines(list, n, &env, line_feed, g);
	source_end(g);
}

/* ---- stacks and counters ---- */

static void stacks_gather(struct rulegather *g, struct cause_set *now)
{
	const struct stackdump *d = g->stacks;
	cleanup(freep) char *line = malloc(STACKLINE_MAX);
	if (!line) {
		g->result = -ENOMEM;
		return;
	}
	source_begin(g, RULE_STACK, now, d->captured_unix_ms);
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++) {
			stackline_format(&d->processes[i], &d->processes[i].threads[k], line, STACKLINE_MAX);
			line_feed(g, line);
		}
	source_end(g);
}

static void fact(struct cause_set *now, const char *name, const char *value)
{
	ignore(cause_set_fact(now, name, value),
	       "the caller's facts came first, and a missing one lowers confidence only");
}

static void line_add(struct rulegather *g, const char *fmt, ...) printf_like(2, 3);
static void line_add(struct rulegather *g, const char *fmt, ...)
{
	char line[400];
	struct buf b = BUF_ON(line);
	va_list ap;
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	line_feed(g, line);
}

/* Adds a line if NCCL_DEBUG asks for messages, all logs were read whole, and none has a line of NCCL. */
static void silence(struct rulegather *g, const struct stackfacts *stacks)
{
	static const char *const talkative[] = {"INFO", "TRACE", "info", "trace", "Info", "Trace"};
	bool asked = false;
	size_t read = 0;
	int64_t age_ms = g->w->unix_ms() - g->started_unix_ms;
	for (size_t i = 0; i < ARRAY_SIZE(talkative); i++)
		asked |= strcmp(g->ret->env.nccl_debug, talkative[i]) == 0;
	if (!asked || g->ret->env.nccl_debug_file || g->ret->env.world_size < 2 || g->started_unix_ms == 0 ||
	    age_ms < SILENT_MS || (g->stacks && !stacks->in_start))
		return;
	for (size_t i = 0; i < g->n_logs; i++) {
		const struct ruleread_log *l = &g->log[i];
		if (!l->wanted)
			continue;
		if (!l->known || l->error != 0 || l->skipped || l->has_nccl || l->offset < l->size / 2)
			return;
		read++;
	}
	if (read > 0)
		line_add(g, "nccl_silent_s %lld", (long long)(age_ms / 1000));
}

static void ports_add(struct rulegather *g, struct cause_set *now)
{
	struct ibwatch_facts facts;
	char value[24];
	if (!g->has_ports)
		return;
	counters_before(g);
	ibwatch_lines(g->ports_before, g->n_ports_before, g->ports, g->n_ports, line_feed, g, &facts);
	if (facts.active)
		fact(now, "ib_active", "");
	TEXT_FORMAT(value, "%llu", (unsigned long long)facts.ack_timeouts);
	if (facts.ack_timeouts > 0)
		fact(now, "ib_ack_timeouts", value);
}

static void sockets_add(struct rulegather *g)
{
	for (size_t i = 0; i < MIN(g->want->n_ranks, g->n_tcp); i++) {
		const struct ruleread_tcp *t = &g->tcp[i];
		for (size_t k = 0; t->done && k < t->n; k++) {
			char name[160];
			sock_line_format(&t->wait[k].socket, "tcp", name, sizeof(name));
			struct span peer = span_before(span_after(span_of(name), "-> "), " ");
			line_add(g, "tcp_unanswered{%.*s} %u rank=%d", (int)peer.len, peer.p ? peer.p : "",
				 t->wait[k].tries, g->want->ranks[i].rank);
		}
	}
	if (!g->has_snmp || !g->has_snmp_before)
		return;
	uint64_t sent = sub_floor(g->snmp.sent, g->snmp_before.sent);
	uint64_t again = sub_floor(g->snmp.again, g->snmp_before.again);
	if (sent >= SEGMENTS_LEAST && again > 0)
		line_add(g, "tcp_retransmitted_percent %.1f", 100.0 * (double)again / (double)sent);
}

static void shm_add(struct rulegather *g, struct cause_set *now)
{
	struct statvfs fs;
	if (g->w->shm_fd < 0 || fstatvfs(g->w->shm_fd, &fs) != 0 || fs.f_blocks == 0)
		return;
	uint64_t used = 100 - (uint64_t)fs.f_bavail * 100 / fs.f_blocks;
	line_add(g, "shm_used_percent %llu", (unsigned long long)used);
	if (used >= 99)
		fact(now, "shm_full", "");
}

/* Adds a line if the data loaders have more workers than there are processors. */
static void loaders_add(struct rulegather *g)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t workers = 0;
	for (size_t i = 0; i < g->want->n_ranks; i++)
		workers += stackdump_count(g->stacks, g->want->ranks[i].rank, "pt_data_worker");
	if (cpus > 0 && workers > (size_t)cpus)
		line_add(g, "loader_workers_excess %zu cpus=%ld", workers, cpus);
}

static void log_errors(struct rulegather *g, const struct ruleread_log *l, struct rankerrors *e)
{
	struct rankerror one;
	size_t ranks = 0;
	for (size_t i = 0; i < g->want->n_ranks; i++)
		ranks += g->want->ranks[i].rank != NO_RANK;
	for (size_t i = 0; i < l->n_last_errors; i++) {
		const struct lasterror *x = &l->last_error[i];
		one = (struct rankerror){.rank = x->rank, .follows = x->follows};
		TEXT_COPY(one.text, x->text);
		if (x->rank != NO_RANK) {
			rankerrors_set(e, &one);
		} else if (!x->follows && !g->ret->nobodys_error[0]) {
			TEXT_COPY(g->ret->nobodys_error, x->text);
			TEXT_COPY(g->ret->nobodys_source, l->label);
		}
	}
	if (l->rank == NO_RANK && ranks > 1 && l->size > 0 && !l->names_ranks)
		rulegather_unavailable(g->ret, "%s: %zu ranks share it, and its lines do not say whose they are",
				       l->label, ranks);
}

static void errors_gather(struct rulegather *g)
{
	struct rankerrors *e = calloc(1, sizeof(*e));
	struct rankerror one;
	if (!e) {
		g->result = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < g->want->n_ranks; i++) {
		const struct rulegather_rank *r = &g->want->ranks[i];
		one = (struct rankerror){.rank = r->rank, .exited = true};
		TEXT_FORMAT(one.text, "its process ended with %d", r->exit_code);
		if (r->ended && r->has_exit_code && r->exit_code != 0)
			rankerrors_set(e, &one);
	}
	for (size_t i = 0; i < g->n_logs; i++)
		if (g->log[i].wanted)
			log_errors(g, &g->log[i], e);
	/* the error file of a rank has a time and replaces what was found in its log */
	for (size_t i = 0; i < g->ret->n_errors; i++) {
		const struct rank_error *x = &g->ret->errors[i];
		one = (struct rankerror){.rank = x->rank, .follows = x->follows, .time_unix_ms = x->time_unix_ms};
		rank_error_text(x, one.text, sizeof(one.text));
		rankerrors_set(e, &one);
	}
	size_t n = MAX(g->want->n_ranks, (size_t)g->ret->env.world_size);
	rankerrors_line(e, n, g->ret->error, sizeof(g->ret->error));
	free(e);
}

static void pace_gather(struct rulegather *g)
{
	rankpace_revive(&g->pace);
	for (size_t i = 0; i < g->want->n_ranks; i++)
		if (g->want->ranks[i].ended && g->want->ranks[i].has_exit_code)
			rankpace_ended(&g->pace, g->want->ranks[i].rank, g->want->ranks[i].exit_code);
	/* a rank that prints nothing still counts as alive */
	for (size_t i = 0; i < g->want->n_ranks; i++)
		if (!g->want->ranks[i].ended)
			rankpace_there(&g->pace, g->want->ranks[i].rank);
	rankpace_compare(&g->pace, &g->ret->pace);
}

/* Where the kernel's log cannot be read: the lines it would have, made from what the driver reports. */
static void driver_gather(struct rulegather *g, struct cause_set *now)
{
	if (g->kmsg_result == 0)
		return;
	source_begin(g, RULE_KMSG, now, 0);
	gpuwatch_kernel_lines(g->gpus, line_feed, g);
	source_end(g);
}

static void counters_gather(struct rulegather *g, struct cause_set *now, const struct stackfacts *stacks)
{
	char line[400];
	source_begin(g, RULE_COUNTER, now, g->w->unix_ms());
	if (g->ret->error[0])
		line_feed(g, g->ret->error);
	rankpace_line_format(&g->ret->pace, line, sizeof(line));
	if (line[0])
		line_feed(g, line);
	silence(g, stacks);
	ports_add(g, now);
	sockets_add(g);
	gpuwatch_lines(g->gpus, g->w->mono_ns(), line_feed, g);
	shm_add(g, now);
	if (g->stacks)
		loaders_add(g);
	source_end(g);
}

/* ---- the verdict ---- */

static void facts_gather(struct rulegather *g, struct cause_set *now, const struct stackfacts *stacks)
{
	const struct rankenv *e = &g->ret->env;
	for (size_t i = 0; i < g->want->n_facts; i++)
		fact(now, g->want->facts[i].name, g->want->facts[i].value);
	fact(now, "job_hangs", "");
	if (rankenv_contradicts(e) && !g->has_trained)
		fact(now, "rank_environment_differs", "");
	if (e->multi_node)
		fact(now, "multi_node", "");
	if (e->ib_timeout[0])
		fact(now, "NCCL_IB_TIMEOUT", e->ib_timeout);
	if (e->ib_retries[0])
		fact(now, "NCCL_IB_RETRY_CNT", e->ib_retries);
	if (g->nccl_version[0])
		fact(now, "NCCL_VERSION", g->nccl_version);
	if (stacks->all_in_sync_norm)
		fact(now, "all_ranks_there", "");
	if (stacks->waits_for_loader)
		fact(now, "waits_for_loader", "");
	if (stacks->remote_writer)
		fact(now, "remote_writer", "");
}

/*
 * Matches are added in the order of time: environments, then the logs' kept
 * matches, then the present state.
 */
static void verdict_make(struct rulegather *g)
{
	cleanup(cause_set_done) struct cause_set now = {.groups = NULL};
	struct stackfacts stacks = {0};
	if (g->stacks)
		stackfacts_of(g->stacks, &stacks);
	g->has_trained = rankpace_steps(&g->pace);
	environ_gather(g, &now);
	facts_gather(g, &now, &stacks);
	if (g->result == 0)
		g->result = cause_set_join(&now, &g->kept);
	if (g->stacks)
		stacks_gather(g, &now);
	errors_gather(g);
	pace_gather(g);
	driver_gather(g, &now);
	counters_gather(g, &now, &stacks);
	g->ret->n_matches = now.n_matches;
	if (g->result == 0 && causes_judge(&now, &g->ret->verdict) == CAUSES_NONE)
		g->ret->verdict.valid = false;
}

void rulegather_begin(struct rulegather *g, const struct rulegather_want *want, struct rulegather_result *ret)
{
	ruleread_stop(g);
	memset(ret, 0, sizeof(*ret));
	g->want = want;
	g->ret = ret;
	g->result = 0;
	g->begin_ns = g->w->mono_ns();
	/* the wall clock may have been set since: recompute the start with it as it is now */
	if (g->started_unix_ms > 0)
		g->started_unix_ms = g->w->unix_ms() - (boot_ms() - g->started_boot_ms);
	tcp_room(g);
	logs_want(g);
	environs_want(g);
	ruleread_begin(g, g->begin_ns + (want->budget_ns ? want->budget_ns : RULEGATHER_BUDGET_NS));
}

void rulegather_drop(struct rulegather *g)
{
	ruleread_stop(g);
	g->want = NULL;
	g->ret = NULL;
}

int rulegather_finish(struct rulegather *g, const struct stackdump *stacks)
{
	g->stacks = stacks;
	kernel_gather(g);
	if (g->result == 0)
		verdict_make(g);
	g->ret->took_ns = g->w->mono_ns() - g->begin_ns;
	g->stacks = NULL;
	g->want = NULL;
	g->ret = NULL;
	return g->result;
}
