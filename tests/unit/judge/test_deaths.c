/*
 * Every recorded death under fixtures/deaths: its raw texts go through the
 * real parsers of sense, the facts through postmortem(), and the verdict is
 * compared with what the file expects. The format is in its README.md.
 */
#include "testing.h"
#include "logtext.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/signame.h"
#include "base/text.h"
#include "judge/death/postmortem.h"
#include "judge/plain_words.h"
#include "sense/death/deathlog.h"
#include "sense/death/killerlog.h"
#include "sense/death/oomlog.h"
#include "sense/framework/losslog.h"

#define MAX_WORDS 24

struct scene {
	struct death d;
	struct kernel_kill kills[32];
	struct killer_line lines[32];
	struct log_hint hints[48];
	struct signal_sent signals[8];
	struct death_former former[16];
	struct process_end ends[8];
	struct death_rank ranks[8];
	struct oomlog oom;
	struct killerlog journal;
	struct killerlog logged;
	struct killer_line logged_lines[16];
	int64_t offset_ms;
	char kind[32], killer[24], cause[48], confidence[12];
	struct span must[MAX_WORDS], must_not[MAX_WORDS];
	size_t n_must, n_must_not;
	int64_t culprit, victim;
	bool has_culprit, has_victim;
};

static int64_t number(struct span s)
{
	int64_t v = 0;
	if (span_i64(span_trim(s), &v) < 0)
		fail_msg("not a number: %.*s", (int)s.len, s.p);
	return v;
}

static uint64_t word_number(struct span *s)
{
	struct span w;
	if (!span_word(s, &w))
		fail_msg("a number is missing");
	return (uint64_t)number(w);
}

static void status_set(struct scene *s, struct span v)
{
	struct span how;
	s->d.has_status = true;
	assert_true(span_word(&v, &how));
	if (span_eq(how, "exit"))
		s->d.wait_status = (int)number(v) << 8;
	else if (span_eq(how, "signal"))
		s->d.wait_status = signame_parse(v);
	else
		s->d.has_status = false;
}

static void group_add(struct scene *s, struct span v)
{
	struct group_counters *g = &s->d.groups[s->d.n_groups++];
	struct span w;
	assert_true(span_word(&v, &w));
	span_copy(w, g->group, sizeof(g->group));
	g->valid = true;
	g->oom_kills_before = word_number(&v);
	g->oom_kills_after = word_number(&v);
	g->max_events_before = word_number(&v);
	g->max_events_after = word_number(&v);
	g->limit_bytes = word_number(&v);
	if (span_trim(v).len > 0) {
		g->peak_before_bytes = word_number(&v);
		g->peak_bytes = word_number(&v);
	}
}

/* SIGKILL PID UID COMM UNIX_MS [COMMAND…]; pid 0 is the kernel */
static void signal_add(struct scene *s, struct span v)
{
	struct signal_sent *g = &s->signals[s->d.n_signals++];
	struct span w;
	assert_true(span_word(&v, &w));
	g->signal = signame_parse(w);
	g->target = s->d.pid;
	g->sender = (pid_t)word_number(&v);
	g->from_kernel = g->sender == 0;
	g->sender_uid = (uid_t)word_number(&v);
	assert_true(span_word(&v, &w));
	span_copy(w, g->sender_comm, sizeof(g->sender_comm));
	g->time_unix_ms = (int64_t)word_number(&v);
	span_copy(span_trim(v), g->sender_command, sizeof(g->sender_command));
}

/* SEGV address stack_pointer UNIX_MS, both in base 16: a fault of one of its threads */
static void fault_signal_add(struct scene *s, struct span v)
{
	struct signal_sent *g = &s->signals[s->d.n_signals++];
	struct span w;
	assert_true(span_word(&v, &w));
	*g = (struct signal_sent){.signal = signame_parse(w), .target = s->d.pid, .from_kernel = true};
	assert_true(span_word(&v, &w));
	g->fault_addr = strtoull(w.p, NULL, 16);
	assert_true(span_word(&v, &w));
	g->stack_pointer = strtoull(w.p, NULL, 16);
	g->time_unix_ms = number(v);
}

static void kin_add(struct scene *s, struct span v)
{
	struct death_former *k = &s->former[s->d.n_former++];
	struct span w;
	k->pid = (pid_t)word_number(&v);
	k->rank = (int32_t)word_number(&v);
	assert_true(span_word(&v, &w));
	span_copy(w, k->role, sizeof(k->role));
	span_copy(span_trim(v), k->name, sizeof(k->name));
}

/* "exit 3" or "signal KILL" at the front of what is left */
static int status_word(struct span *v)
{
	struct span how, what;
	assert_true(span_word(v, &how) && span_word(v, &what));
	return span_eq(how, "exit") ? (int)number(what) << 8 : signame_parse(what);
}

/* PID UNIX_MS exit N|signal NAME name */
static void end_add(struct scene *s, struct span v)
{
	struct process_end *e = &s->ends[s->d.n_ends++];
	e->pid = (pid_t)word_number(&v);
	e->time_unix_ms = (int64_t)word_number(&v);
	e->parent = s->d.pid;
	e->rank = NO_RANK;
	e->wait_status = status_word(&v);
	memset(e->soft_limit, 0xff, sizeof(e->soft_limit));
	memset(e->hard_limit, 0xff, sizeof(e->hard_limit));
	span_copy(span_trim(v), e->name, sizeof(e->name));
}

/* PID RANK PARENT: of the process that was seen to end last, by its environment */
static void end_rank_set(struct scene *s, struct span v)
{
	struct process_end *e = &s->ends[s->d.n_ends - 1];
	assert_int_equal(e->pid, (pid_t)word_number(&v));
	e->rank = (int32_t)word_number(&v);
	e->parent = (pid_t)word_number(&v);
}

/* PID UNIX_MS: when one that was seen to end had begun; of several with this number the last */
static void begin_set(struct scene *s, struct span v)
{
	pid_t pid = (pid_t)word_number(&v);
	for (size_t k = s->d.n_ends; k-- > 0;)
		if (s->ends[k].pid == pid) {
			s->ends[k].start_unix_ms = (int64_t)word_number(&v);
			return;
		}
	fail_msg("no end of this process");
}

/* PID NUMBER soft hard cpu_ms: of the process that was seen to end last */
static void end_limit_set(struct scene *s, struct span v)
{
	struct process_end *e = &s->ends[s->d.n_ends - 1];
	assert_int_equal(e->pid, (pid_t)word_number(&v));
	size_t i = word_number(&v);
	assert_true(i < PROCESS_LIMITS);
	e->soft_limit[i] = word_number(&v);
	e->hard_limit[i] = word_number(&v);
	e->cpu_ns = word_number(&v) * 1000000;
}

/* NUMBER soft hard; the other limits are none */
static void limit_add(struct scene *s, struct span v)
{
	size_t i = word_number(&v);
	assert_true(i < PROCESS_LIMITS);
	if (!s->d.has_limits) {
		memset(s->d.soft_limit, 0xff, sizeof(s->d.soft_limit));
		memset(s->d.hard_limit, 0xff, sizeof(s->d.hard_limit));
	}
	s->d.has_limits = true;
	s->d.soft_limit[i] = word_number(&v);
	s->d.hard_limit[i] = word_number(&v);
}

/* RANK PID UNIX_MS exit N|signal NAME */
static void rank_add(struct scene *s, struct span v)
{
	struct death_rank *r = &s->ranks[s->d.n_ranks++];
	r->rank = (int32_t)word_number(&v);
	r->pid = (pid_t)word_number(&v);
	r->end_unix_ms = (int64_t)word_number(&v);
	r->wait_status = status_word(&v);
}

/* NUMBER PID name; pid 0: a socket has it, its process was not found */
static void port_set(struct scene *s, struct span v)
{
	struct death_port *t = &s->d.port;
	t->looked = true;
	t->port = (uint16_t)word_number(&v);
	t->pid = (pid_t)word_number(&v);
	t->any = t->listens = true;
	span_copy(span_trim(v), t->name, sizeof(t->name));
}

static void disk_add(struct scene *s, struct span v)
{
	struct death_disk *k = &s->d.disks[s->d.n_disks++];
	struct span path;
	assert_true(span_word(&v, &path));
	span_copy(path, k->path, sizeof(k->path));
	k->free_bytes = word_number(&v);
	k->total_bytes = word_number(&v);
	if (span_trim(v).len > 0) { /* of a file system that has room, but no inodes */
		k->total_inodes = word_number(&v);
		k->no_inodes = true;
	}
}

static bool field_of_death(struct scene *s, struct span key, struct span v)
{
	struct death *d = &s->d;
	if (span_eq(key, "pid"))
		d->pid = (pid_t)number(v);
	else if (span_eq(key, "world"))
		d->world_size = (uint32_t)number(v);
	else if (span_eq(key, "rank"))
		d->rank = (int32_t)number(v);
	else if (span_eq(key, "name"))
		span_copy(v, d->name, sizeof(d->name));
	else if (span_eq(key, "cgroup"))
		span_copy(v, d->cgroup, sizeof(d->cgroup));
	else if (span_eq(key, "namespaced"))
		d->pid_namespaced = span_eq(v, "yes");
	else if (span_eq(key, "status"))
		status_set(s, v);
	else if (span_eq(key, "start"))
		d->start_unix_ms = number(v);
	else if (span_eq(key, "end"))
		d->end_unix_ms = number(v);
	else if (span_eq(key, "stopping"))
		d->stopping = (d->stop_signal = signame_parse(v)) != 0;
	else
		return false;
	return true;
}

static bool field_of_surroundings(struct scene *s, struct span key, struct span v)
{
	struct death *d = &s->d;
	if (span_eq(key, "shm")) {
		d->has_shm = true;
		d->shm_free_bytes = word_number(&v);
		d->shm_total_bytes = word_number(&v);
	} else if (span_eq(key, "vmstat")) {
		d->has_vmstat = true;
		d->vmstat_oom_before = word_number(&v);
		d->vmstat_oom_after = word_number(&v);
	} else if (span_eq(key, "group")) {
		group_add(s, v);
	} else if (span_eq(key, "signal")) {
		signal_add(s, v);
	} else if (span_eq(key, "timer_signal")) {
		struct span w;
		struct signal_sent *g = &s->signals[s->d.n_signals++];
		assert_true(span_word(&v, &w));
		*g = (struct signal_sent){.signal = signame_parse(w),
					  .target = s->d.pid,
					  .from_kernel = true,
					  .of_timer = true,
					  .time_unix_ms = number(v)};
	} else if (span_eq(key, "fault_signal")) {
		fault_signal_add(s, v);
	} else if (span_eq(key, "worker_signal")) {
		pid_t worker = (pid_t)word_number(&v);
		signal_add(s, v);
		s->signals[s->d.n_signals - 1].target = worker;
	} else if (span_eq(key, "page_signal")) { /* ROLE PID SIGTERM … */
		struct span role = {};
		assert_true(span_word(&v, &role));
		pid_t target = (pid_t)word_number(&v);
		signal_add(s, v);
		s->signals[s->d.n_signals - 1].target = target;
		span_copy(role, s->signals[s->d.n_signals - 1].page_role, sizeof(s->signals[0].page_role));
	} else if (span_eq(key, "job_signal")) { /* only signals to its processes were watched */
		pid_t worker = (pid_t)word_number(&v);
		signal_add(s, v);
		s->signals[s->d.n_signals - 1].target = worker;
		s->signals[s->d.n_signals - 1].of_job = true;
	} else if (span_eq(key, "kin")) {
		kin_add(s, v);
	} else if (span_eq(key, "rule")) { /* ID PLACE line: the rule book names it by that line */
		struct span id = {}, place = {};
		assert_true(span_word(&v, &id) && span_word(&v, &place));
		d->rules = (struct cause_verdict){
			.valid = true, .role = RULE_ROOT, .confidence = RULE_MEDIUM, .n_evidence = 1};
		span_copy(id, d->rules.id, sizeof(d->rules.id));
		span_copy(place, d->rules.evidence[0].source, sizeof(d->rules.evidence[0].source));
		TEXT_COPY(d->rules.text, "The rule book says so.");
		span_copy(span_trim(v), d->rules.evidence[0].text, sizeof(d->rules.evidence[0].text));
	} else if (span_eq(key, "end_limit")) {
		end_limit_set(s, v);
	} else if (span_eq(key, "begin_of")) {
		begin_set(s, v);
	} else if (span_eq(key, "end_rank")) {
		end_rank_set(s, v);
	} else if (span_eq(key, "end_of")) {
		end_add(s, v);
	} else if (span_eq(key, "limit")) {
		limit_add(s, v);
	} else if (span_eq(key, "cpu_ms")) {
		s->d.has_cpu = true;
		s->d.cpu_ns = (uint64_t)number(v) * 1000000;
	} else if (span_eq(key, "rank_end")) {
		rank_add(s, v);
	} else if (span_eq(key, "port")) {
		port_set(s, v);
	} else if (span_eq(key, "pids")) { /* GROUP LIMIT REFUSED */
		struct span group;
		assert_true(span_word(&v, &group));
		span_copy(group, s->d.pids.group, sizeof(s->d.pids.group));
		s->d.pids.max = word_number(&v);
		s->d.pids.refused = word_number(&v);
	} else if (span_eq(key, "disk")) {
		disk_add(s, v);
	} else if (span_eq(key, "disk_unwritten")) {
		disk_add(s, v);
		d->disks[d->n_disks - 1].unwritten = true;
	} else if (span_eq(key, "command")) {
		span_copy(v, d->command, sizeof(d->command));
	} else if (span_eq(key, "job")) {
		span_copy(v, s->d.job, sizeof(s->d.job));
	} else if (span_eq(key, "core_pattern")) {
		span_copy(v, d->core_pattern, sizeof(d->core_pattern));
	} else if (span_eq(key, "core_file")) {
		span_copy(v, d->core_file, sizeof(d->core_file));
	} else if (span_eq(key, "core_dumped")) {
		d->core_dumped = true;
		d->wait_status |= 0x80;
	} else if (span_eq(key, "core_limit")) {
		d->has_core_limit = true;
		d->core_limit_bytes = (uint64_t)number(v);
	} else if (span_eq(key, "blind")) {
		span_copy(v, d->unavailable[d->n_unavailable], sizeof(d->unavailable[0]));
		d->n_unavailable++;
	} else if (span_eq(key, "offset")) {
		s->offset_ms = number(v);
	} else {
		return false;
	}
	return true;
}

static bool field_of_expectation(struct scene *s, struct span key, struct span v)
{
	if (span_eq(key, "kind"))
		span_copy(v, s->kind, sizeof(s->kind));
	else if (span_eq(key, "killer"))
		span_copy(v, s->killer, sizeof(s->killer));
	else if (span_eq(key, "cause"))
		span_copy(v, s->cause, sizeof(s->cause));
	else if (span_eq(key, "confidence"))
		span_copy(v, s->confidence, sizeof(s->confidence));
	else if (span_eq(key, "must"))
		s->must[s->n_must++] = v;
	else if (span_eq(key, "must_not"))
		s->must_not[s->n_must_not++] = v;
	else if (span_eq(key, "culprit"))
		s->has_culprit = (s->culprit = number(v), true);
	else if (span_eq(key, "victim"))
		s->has_victim = (s->victim = number(v), true);
	else
		return span_eq(key, "title");
	return true;
}

static void section_feed(struct scene *s, struct span name, struct span text)
{
	struct deathlog log = {
		.hints = s->hints, .cap = ARRAY_SIZE(s->hints), .n = s->d.n_hints, .killers = &s->logged};
	char source[64];
	if (span_eq(name, "kmsg") || span_eq(name, "dmesg")) {
		logtext_oomlog(&s->oom, text, s->offset_ms);
		/* programs write into the kernel's log too */
		s->journal.source = "kmsg";
		logtext_killerlog(&s->journal, text, s->offset_ms);
	} else if (span_eq(name, "journal")) {
		s->journal.source = "journal";
		logtext_killerlog(&s->journal, text, s->offset_ms);
	} else if (span_starts(name, "log")) {
		span_copy(name, source, sizeof(source));
		deathlog_parse(&log, text, source, s->d.rank);
		log.n += log.n < log.cap && losslog_parse(text, source, s->d.rank, &log.hints[log.n]);
		s->d.n_hints = log.n;
	} else {
		fail_msg("unknown section %.*s", (int)name.len, name.p);
	}
}

static void scene_read(struct scene *s, struct span text)
{
	struct span line, section = {NULL, 0}, name = {NULL, 0};
	while (span_line(&text, &line)) {
		if (span_starts(line, "=== ")) {
			if (name.p)
				section_feed(s, name, (struct span){section.p, (size_t)(line.p - section.p)});
			name = span_trim(span_after(line, "=== "));
			section = (struct span){line.p + line.len + 1, 0};
			continue;
		}
		if (name.p || line.len == 0 || line.p[0] == '#')
			continue;
		struct span key = span_before(line, ":"), v = span_trim(span_after(line, ":"));
		if (!field_of_expectation(s, key, v) && !field_of_death(s, key, v) && !field_of_surroundings(s, key, v))
			fail_msg("unknown key %.*s", (int)key.len, key.p);
	}
	if (name.p)
		section_feed(s, name, (struct span){section.p, (size_t)(text.p - section.p)});
}

static void everything_said(const struct incident *i, struct buf *b)
{
	buf_printf(b, "%s\n%s\n%s\n%s\n", i->summary, i->cause.text, i->killer_text, i->memory.level);
	if (i->memory.valid)
		buf_printf(b, "memory: %llu of %llu\n", (unsigned long long)i->memory.used_bytes,
			   (unsigned long long)i->memory.total_bytes);
	for (size_t a = 0; a < i->cause.n_advice; a++)
		buf_printf(b, "%s\n", i->cause.advice[a]);
	for (size_t e = 0; e < i->n_evidence; e++)
		buf_printf(b, "%s|%s|%s\n", i->evidence[e].kind, i->evidence[e].source, i->evidence[e].text);
}

static void verdict_check(const struct scene *s, const struct incident *i)
{
	static char said[65536];
	struct buf b = BUF_ON(said);
	buf_reset(&b);
	everything_said(i, &b);
	if (strcmp(s->kind, incident_kind_name(i->kind)) != 0 || strcmp(s->killer, killer_name(i->killer)) != 0 ||
	    strcmp(s->cause, i->cause.id) != 0 || strcmp(s->confidence, confidence_name(i->cause.confidence)) != 0)
		fail_msg("got %s / %s / %s / %s, expected %s / %s / %s / %s\n%s", incident_kind_name(i->kind),
			 killer_name(i->killer), i->cause.id, confidence_name(i->cause.confidence), s->kind, s->killer,
			 s->cause, s->confidence, said);
	for (size_t m = 0; m < s->n_must; m++)
		if (!memmem(said, b.len, s->must[m].p, s->must[m].len))
			fail_msg("\"%.*s\" is not said in:\n%s", (int)s->must[m].len, s->must[m].p, said);
	for (size_t m = 0; m < s->n_must_not; m++)
		if (memmem(said, b.len, s->must_not[m].p, s->must_not[m].len))
			fail_msg("\"%.*s\" must not be said in:\n%s", (int)s->must_not[m].len, s->must_not[m].p, said);
	if (s->has_culprit)
		assert_true(i->n_culprits > 0 && i->culprit_ranks[0] == s->culprit);
	if (s->has_victim)
		assert_int_equal(i->victim.pid, s->victim);
	assert_true(i->summary[0] != '\0' && i->cause.id[0] != '\0');
	assert_true(strlen(i->summary) < sizeof(i->summary) - 1);
	for (size_t e = 0; e < i->n_evidence; e++)
		assert_true(i->evidence[e].kind[0] != '\0');
}

static void the_recorded_death_gets_its_expected_verdict(void **state)
{
	static struct scene s;
	static struct incident i;
	cleanup(freep) char *text = NULL;
	size_t len;
	char path[512];
	memset(&s, 0, sizeof(s));
	s.d.rank = NO_RANK;
	TEXT_FORMAT(path, "%s/deaths/%s", FIXTURES, (const char *)*state);
	assert_int_equal(file_slurp(AT_FDCWD, path, 4 * MIB, &text, &len), 0);
	oomlog_init(&s.oom, 4096, s.kills, ARRAY_SIZE(s.kills));
	killerlog_init(&s.journal, "journal", s.lines, ARRAY_SIZE(s.lines) - ARRAY_SIZE(s.logged_lines));
	killerlog_init(&s.logged, "log", s.logged_lines, ARRAY_SIZE(s.logged_lines));
	scene_read(&s, (struct span){text, len});
	memcpy(s.lines + s.journal.n, s.logged_lines, s.logged.n * sizeof(s.lines[0]));
	s.d.kernel_kills = s.kills;
	s.d.n_kernel_kills = s.oom.n;
	s.d.killer_lines = s.lines;
	s.d.n_killer_lines = s.journal.n + s.logged.n;
	s.d.hints = s.hints;
	s.d.signals = s.signals;
	s.d.former = s.former;
	s.d.ends = s.ends;
	s.d.ranks = s.ranks;
	postmortem(&s.d, &i);
	verdict_check(&s, &i);
	plain_words(&i, "death");
}

static int is_death(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 6 && strcmp(e->d_name + n - 6, ".death") == 0;
}

int main(void)
{
	struct dirent **names;
	int n = scandir(FIXTURES "/deaths", &names, is_death, alphasort);
	if (n < 60) {
		(void)fprintf(stderr, "only %d recorded deaths found; there must be at least 60\n", n);
		return 1;
	}
	struct CMUnitTest *tests = calloc((size_t)n, sizeof(*tests));
	if (!tests)
		return 1;
	for (int t = 0; t < n; t++)
		tests[t] = (struct CMUnitTest){.name = names[t]->d_name,
					       .test_func = the_recorded_death_gets_its_expected_verdict,
					       .initial_state = names[t]->d_name};
	int failed = _cmocka_run_group_tests("judge/deaths", tests, (size_t)n, NULL, NULL);
	for (int t = 0; t < n; t++)
		free(names[t]);
	free(names);
	free(tests);
	return failed;
}
