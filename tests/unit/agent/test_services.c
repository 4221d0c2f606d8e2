/* The services of both loops, driven by a shared memory that the test fills in as guard and hang watcher would. */
#include "testing.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/guard/guardshm.h"
#include "agent/hang/hangshm.h"
#include "agent/incident/attachments.h"
#include "agent/incident/hangreport.h"
#include "agent/incident/killreport.h"
#include "agent/incident/lookahead.h"
#include "agent/incident/recorder.h"
#include "agent/run/jobhang.h"
#include "agent/run/runspec.h"
#include "agent/run/services.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "world_fixture.h"

#define JOBS 2

/* A loop that watches two jobs. */
struct loop {
	struct world w;
	struct services s;
	char state_dir[64];
	struct job job[JOBS];
	struct recorder recorder[JOBS];
	struct job_hang hang[JOBS];
	bool watched[JOBS];
	uint32_t killed[JOBS], guards, hangs, changes;
	uint32_t last_killed; /* number of the case */
};

static bool on_report(void *owner, uint32_t job, struct killreport *ret)
{
	struct loop *l = owner;
	if (job >= JOBS || !l->watched[job])
		return false;
	*ret = (struct killreport){.w = &l->w, .recorder = &l->recorder[job], .job = &l->job[job], .quiet = true};
	return true;
}

static void on_killed(void *owner, uint32_t job, struct guard_case *c)
{
	struct loop *l = owner;
	l->killed[job]++;
	l->last_killed = c->number;
}

static void on_guard_started(void *owner)
{
	((struct loop *)owner)->guards++;
}

static bool on_hang(void *owner, uint32_t job, struct hangreport *ret, struct job_hang **ret_kept)
{
	struct loop *l = owner;
	if (job >= JOBS || !l->watched[job])
		return false;
	*ret = (struct hangreport){
		.w = &l->w, .recorder = &l->recorder[job], .job = &l->job[job], .quiet = true, .next = ""};
	*ret_kept = &l->hang[job];
	return true;
}

static void on_hang_incident(void *owner, const struct hang_message *m)
{
	(void)m;
	((struct loop *)owner)->hangs++;
}

static void on_helpers_changed(void *owner)
{
	((struct loop *)owner)->changes++;
}

static const struct services_ops ops = {
	.report = on_report,
	.killed = on_killed,
	.guard_started = on_guard_started,
	.hang = on_hang,
	.hang_incident = on_hang_incident,
	.helpers_changed = on_helpers_changed,
};

static const struct watch_spec spec = {.guard = {.threshold_ratio = 0.9, .grace_ns = 7, .freeze = true}};

static int loop_open(void **state)
{
	struct loop *l = calloc(1, sizeof(*l));
	struct watch_spec mine = spec;
	assert_non_null(l);
	l->w = live_world();
	TEXT_COPY(l->state_dir, "/tmp/vigil-services-XXXXXX");
	assert_non_null(mkdtemp(l->state_dir));
	mine.state_dir = l->state_dir;
	assert_int_equal(services_open(&l->s, &l->w, &mine, &ops, l), 0);
	l->s.n_jobs = JOBS;
	for (size_t i = 0; i < JOBS; i++) {
		TEXT_FORMAT(l->job[i].id, "job-%zu", i);
		recorder_open(&l->recorder[i], l->state_dir, l->job[i].id);
		recorder_open_store(&l->recorder[i]);
		recorder_job(&l->recorder[i], &l->job[i]);
		l->watched[i] = true;
	}
	l->s.guard.pidfd = dup(STDERR_FILENO); /* the guard counts as alive */
	*state = l;
	return 0;
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int loop_close(void **state)
{
	struct loop *l = *state;
	closep(&l->s.guard.pidfd);
	services_close(&l->s);
	for (size_t i = 0; i < JOBS; i++) {
		jobhang_clear(&l->hang[i]);
		recorder_close(&l->recorder[i]);
	}
	helper_list_use(NULL);
	(void)munmap(l->s.guard.shm, sizeof(*l->s.guard.shm));
	int r = nftw(l->state_dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
	fixture_close(&l->w);
	free(l);
	return r;
}

struct counted {
	const char *kind;
	size_t n;
	char text[400]; /* of the last one */
};

static int event_count(void *ctx, const struct job_event *e)
{
	struct counted *c = ctx;
	if (strcmp(e->kind, c->kind) == 0) {
		c->n++;
		TEXT_COPY(c->text, e->text);
	}
	return 0;
}

/* The events of a job of this kind. */
static struct counted events(struct loop *l, size_t job, const char *kind)
{
	struct counted c = {.kind = kind};
	assert_int_equal(store_each_event(l->recorder[job].store, l->job[job].id, 0, event_count, &c), 0);
	return c;
}

/* The guard has brought case `number`, of this job, to this phase. */
static struct guard_case *case_put(struct loop *l, uint32_t number, uint16_t job, enum case_phase phase)
{
	struct guard_shm *shm = l->s.guard.shm;
	struct guard_case *c = &shm->cases[(number - 1) % GUARD_CASES];
	c->number = number;
	c->job = job;
	c->incident.victim.pid = 4242;
	TEXT_COPY(c->incident.victim.name, "victim");
	atomic_store(&c->described, 1);
	atomic_store(&c->phase, (uint32_t)phase);
	atomic_store(&shm->cases_n, MAX(atomic_load(&shm->cases_n), number));
	return c;
}

static bool skeleton_exists(const struct loop *l, const struct guard_case *c)
{
	char path[400];
	TEXT_FORMAT(path, "%s/incidents/%s.json", l->recorder[c->job].job_dir, c->incident.id);
	return c->incident.id[0] && access(path, R_OK) == 0;
}

static void settings_of_the_user_reach_the_guard(void **state)
{
	struct loop *l = *state;
	const struct guard_shm *shm = l->s.guard.shm;
	assert_true(shm->settings.threshold_ratio > 0.89 && shm->settings.threshold_ratio < 0.91);
	assert_true(shm->settings.grace_ns == 7 && shm->freeze);
}

static void a_decided_case_gets_its_first_report_once(void **state)
{
	struct loop *l = *state;
	struct guard_case *c = case_put(l, 1, 0, CASE_DECIDED);
	services_cases(&l->s);
	assert_true(skeleton_exists(l, c));
	assert_int_equal(atomic_load(&c->seen), CASE_SEEN_ALL);
	char id[64];
	TEXT_COPY(id, c->incident.id);
	services_cases(&l->s);
	assert_string_equal(c->incident.id, id); /* a second look would have given it another number */
	assert_int_equal(l->s.cases_seen, 0); /* it is still open */
	assert_int_equal(l->killed[0], 0);
}

static void a_finished_case_is_a_kill_of_its_job(void **state)
{
	struct loop *l = *state;
	(void)case_put(l, 1, 1, CASE_DONE);
	services_cases(&l->s);
	assert_int_equal(l->killed[1], 1);
	assert_int_equal(l->killed[0], 0);
	assert_int_equal(l->s.cases_seen, 1);
	services_cases(&l->s);
	assert_int_equal(l->killed[1], 1);
}

static void a_case_that_is_cancelled_leaves_an_event_and_no_report(void **state)
{
	struct loop *l = *state;
	struct guard_case *c = case_put(l, 1, 0, CASE_DECIDED);
	services_cases(&l->s);
	assert_true(skeleton_exists(l, c));
	(void)case_put(l, 1, 0, CASE_CANCELLED);
	services_cases(&l->s);
	assert_false(skeleton_exists(l, c));
	struct counted e = events(l, 0, "hold_fire");
	assert_int_equal(e.n, 1);
	assert_non_null(strstr(e.text, "memory came back by itself"));
	assert_int_equal(l->killed[0], 0);
}

static void a_case_that_came_too_late_says_so(void **state)
{
	struct loop *l = *state;
	(void)case_put(l, 1, 1, CASE_TOO_LATE);
	services_cases(&l->s);
	struct counted e = events(l, 1, "hold_fire");
	assert_int_equal(e.n, 1);
	assert_non_null(strstr(e.text, "had already ended by itself"));
	assert_int_equal(events(l, 0, "hold_fire").n, 0);
}

static void an_open_case_holds_up_those_behind_it(void **state)
{
	struct loop *l = *state;
	(void)case_put(l, 1, 0, CASE_KILLED);
	(void)case_put(l, 2, 0, CASE_DONE);
	services_cases(&l->s);
	assert_int_equal(l->s.cases_seen, 0);
	(void)case_put(l, 1, 0, CASE_DONE);
	services_cases(&l->s);
	assert_int_equal(l->s.cases_seen, 2);
	assert_int_equal(l->killed[0], 2);
	assert_int_equal(l->last_killed, 2);
}

static void cases_that_were_overtaken_are_passed_over(void **state)
{
	struct loop *l = *state;
	for (uint32_t n = 1; n <= GUARD_CASES + 2; n++)
		(void)case_put(l, n, 0, CASE_DONE);
	services_cases(&l->s);
	assert_int_equal(l->s.cases_seen, GUARD_CASES + 2);
	assert_int_equal(l->killed[0], GUARD_CASES);
}

static void an_empty_case_of_a_dead_guard_is_no_kill(void **state)
{
	struct loop *l = *state;
	(void)case_put(l, 1, 0, CASE_EMPTY);
	closep(&l->s.guard.pidfd); /* the guard is gone */
	services_cases(&l->s);
	assert_int_equal(l->killed[0], 0);
	assert_int_equal(l->s.cases_seen, 0);
}

static void a_begun_case_of_a_dead_guard_is_carried_through(void **state)
{
	struct loop *l = *state;
	struct guard_case *c = case_put(l, 1, 0, CASE_KILLED);
	services_cases(&l->s);
	assert_int_equal(l->killed[0], 0);
	closep(&l->s.guard.pidfd);
	services_cases(&l->s);
	assert_int_equal(l->killed[0], 1);
	assert_true(c->incident.n_evidence > 0);
}

static void a_case_of_a_job_that_is_no_longer_watched_is_dropped(void **state)
{
	struct loop *l = *state;
	l->watched[1] = false;
	(void)case_put(l, 1, 1, CASE_DONE);
	(void)case_put(l, 2, 7, CASE_DONE); /* a job that there never was */
	services_cases(&l->s);
	assert_int_equal(l->s.cases_seen, 2);
	assert_int_equal(l->killed[0] + l->killed[1], 0);
}

static void numbers_that_were_clamped_are_reported_once_to_each_job(void **state)
{
	struct loop *l = *state;
	atomic_store(&l->s.guard.shm->clamped, 1);
	services_cases(&l->s);
	services_cases(&l->s);
	for (size_t i = 0; i < JOBS; i++)
		assert_int_equal(events(l, i, "absurd_numbers").n, 1);
}

/* A child that has ended with this status, in the guard's place. */
static void guard_ends(struct loop *l, int status)
{
	closep(&l->s.guard.pidfd);
	pid_t pid = fork();
	if (pid == 0)
		_exit(status);
	assert_true(pid > 0);
	l->s.guard.pid = pid;
	l->s.guard.pidfd = dup(STDERR_FILENO);
}

static void a_guard_that_died_is_an_event_of_every_job_and_starts_again(void **state)
{
	struct loop *l = *state;
	guard_ends(l, 3);
	services_guard_died(&l->s);
	for (size_t i = 0; i < JOBS; i++) {
		struct counted e = events(l, i, "guard_died");
		assert_int_equal(e.n, 1);
		assert_non_null(strstr(e.text, "exit status 3"));
	}
	assert_int_equal(l->guards, 1);
	assert_true(l->s.guard.pid > 0);
	services_stop(&l->s);
	assert_int_equal(l->s.guard.pid, 0);
}

static void a_guard_that_dies_too_often_is_given_up_and_the_loop_goes_on(void **state)
{
	struct loop *l = *state;
	l->s.guard_deaths = SERVICES_GUARD_DEATHS;
	guard_ends(l, 1);
	services_guard_died(&l->s);
	assert_int_equal(l->guards, 0);
	assert_int_equal(l->s.guard.pid, 0);
	assert_int_equal(events(l, 0, "guard_died").n, 1);
	(void)case_put(l, 1, 0, CASE_DONE); /* nothing that is left to do needs the guard */
	services_cases(&l->s);
	assert_int_equal(l->killed[0], 1);
}

static void a_guard_that_cannot_start_is_not_started_again(void **state)
{
	struct loop *l = *state;
	l->s.guard.shm->start_error = -ENOENT;
	guard_ends(l, 1);
	services_guard_died(&l->s);
	assert_int_equal(l->guards, 0);
	assert_int_equal(l->s.guard.pid, 0);
}

static void all_helpers_are_named_and_only_those_that_run(void **state)
{
	struct loop *l = *state;
	pid_t helper[SERVICES_HELPERS];
	assert_int_equal(services_helpers(&l->s, helper), 0);
	l->s.guard.pid = 11;
	l->s.scope_holder = 12;
	l->s.notifier.deliverer = 13;
	l->s.hang.pid = 14;
	assert_int_equal(services_helpers(&l->s, helper), 4);
	for (pid_t pid = 11; pid <= 14; pid++)
		assert_int_equal(helper[pid - 11], pid);
	l->s.among_jobs = true;
	assert_int_equal(services_helpers(&l->s, helper), 5);
	assert_int_equal(helper[4], getpid());
	l->s.guard.pid = l->s.scope_holder = l->s.notifier.deliverer = l->s.hang.pid = 0;
}

/* ---- hangs ---- */

static struct hang_shm *hangs_open(struct loop *l)
{
	struct hang_shm *shm = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(shm != MAP_FAILED);
	l->s.hang.shm = shm; /* services_stop unmaps it */
	return shm;
}

static void message_send(struct hang_shm *shm, enum hang_message_kind kind, uint32_t job, uint32_t attempt)
{
	uint32_t sent = atomic_load(&shm->sent);
	struct hang_message *m = &shm->message[sent % HANG_MESSAGES];
	m->kind = kind;
	m->job = job;
	m->attempt = attempt;
	TEXT_COPY(m->text, "a sentence");
	TEXT_COPY(m->stacks, "[]");
	m->stacks_len = 2;
	atomic_store(&shm->sent, sent + 1);
}

static void early_stacks_are_kept_for_their_job_until_it_moves(void **state)
{
	struct loop *l = *state;
	struct hang_shm *shm = hangs_open(l);
	message_send(shm, HANG_SAYS_EARLY, 1, 0);
	services_hang_messages(&l->s);
	assert_null(l->hang[0].early);
	assert_non_null(l->hang[1].early);
	message_send(shm, HANG_SAYS_MOVES, 1, 0);
	services_hang_messages(&l->s);
	assert_null(l->hang[1].early);
	services_stop(&l->s);
}

static void early_stacks_of_an_older_attempt_are_dropped(void **state)
{
	struct loop *l = *state;
	struct hang_shm *shm = hangs_open(l);
	l->job[0].attempt = 2;
	message_send(shm, HANG_SAYS_EARLY, 0, 2);
	message_send(shm, HANG_SAYS_EARLY, 0, 1);
	services_hang_messages(&l->s);
	assert_null(l->hang[0].early);
	services_stop(&l->s);
}

static void messages_become_events_and_incidents_go_to_the_owner(void **state)
{
	struct loop *l = *state;
	struct hang_shm *shm = hangs_open(l);
	message_send(shm, HANG_SAYS_SUSPECT, 0, 0);
	message_send(shm, HANG_SAYS_BENIGN, 0, 0);
	message_send(shm, HANG_SAYS_LOSS, 0, 0);
	message_send(shm, HANG_SAYS_INCIDENT, 0, 0);
	services_hang_messages(&l->s);
	message_send(shm, HANG_SAYS_INCIDENT, 5, 0); /* of no job */
	services_hang_messages(&l->s);
	assert_int_equal(events(l, 0, "suspected").n, 1);
	assert_int_equal(events(l, 0, "standstill").n, 1);
	assert_int_equal(events(l, 0, "loss_broken").n, 1);
	assert_int_equal(l->hangs, 1);
	assert_int_equal(atomic_load(&shm->taken), 5);
	services_stop(&l->s);
}

static const struct hang_verdict hangs = {.kind = HANG_HANG};

static void a_hang_is_resolved_once_and_never_while_its_job_is_being_ended(void **state)
{
	struct loop *l = *state;
	struct hang_shm *shm = hangs_open(l);
	static struct incident in;
	struct attachments parts = {.heap = NULL};
	TEXT_COPY(in.id, "job-0.1");
	TEXT_COPY(in.job, "job-0");
	jobhang_keep(&l->hang[0], &hangs, &in, &parts);
	l->hang[0].ended = true;
	message_send(shm, HANG_SAYS_RESOLVED, 0, 0);
	services_hang_messages(&l->s);
	assert_int_equal(events(l, 0, "hang_resolved").n, 0);
	l->hang[0].ended = false;
	message_send(shm, HANG_SAYS_RESOLVED, 0, 0);
	message_send(shm, HANG_SAYS_RESOLVED, 1, 0); /* had none */
	services_hang_messages(&l->s);
	assert_int_equal(events(l, 0, "hang_resolved").n, 1);
	assert_int_equal(events(l, 1, "hang_resolved").n, 0);
	assert_true(l->hang[0].last->hang_over);
	services_stop(&l->s);
}

static void a_rank_that_was_slow_by_itself_is_over_once(void **state)
{
	struct loop *l = *state;
	struct hang_shm *shm = hangs_open(l);
	static const struct hang_verdict slow = {.kind = HANG_STRAGGLER, .usual_per_s = 3};
	static struct incident in;
	struct attachments parts = {.heap = NULL};
	TEXT_COPY(in.id, "job-0.1");
	TEXT_COPY(in.job, "job-0");
	jobhang_keep(&l->hang[0], &slow, &in, &parts);
	assert_null(l->hang[0].last); /* it hangs not */
	message_send(shm, HANG_SAYS_FAST, 0, 0);
	message_send(shm, HANG_SAYS_FAST, 0, 0);
	services_hang_messages(&l->s);
	assert_int_equal(events(l, 0, "straggler_over").n, 1);
	assert_null(l->hang[0].slow);
	services_stop(&l->s);
}

static void a_hang_watcher_that_died_is_an_event_and_changes_the_helpers(void **state)
{
	struct loop *l = *state;
	(void)hangs_open(l);
	l->s.hang.w = &l->w;
	l->s.hang.pid = 4711;
	assert_false(services_reaped(&l->s, 4712, 0));
	assert_int_equal(l->changes, 0);
	assert_true(services_reaped(&l->s, 4711, SIGKILL));
	assert_int_equal(l->changes, 1);
	for (size_t i = 0; i < JOBS; i++) {
		struct counted e = events(l, i, "hang_watcher_died");
		assert_int_equal(e.n, 1);
		assert_non_null(strstr(e.text, "signal 9"));
	}
	services_stop(&l->s);
}

static void the_deliverer_is_one_of_ours_and_its_end_is_noted(void **state)
{
	struct loop *l = *state;
	l->s.notifier.deliverer = 4713;
	assert_true(services_reaped(&l->s, 4713, 0));
	assert_int_equal(l->s.notifier.deliverer, 0);
}

/* ---- what belongs to a report ---- */

static void attachments_are_put_into_the_report_and_freed(void **state)
{
	struct attachments a = {.heap = NULL};
	struct js *hang = js_object(), *heap = js_object();
	(void)state;
	js_put_bool(hang, "resolved", false);
	js_put_u64(heap, "bytes", 7);
	attachments_hang(&a, hang, (struct span){"[{\"tid\":1}] and more", 11});
	attachments_heap(&a, heap);
	attachments_hang_resolved(&a, 1234);
	for (int round = 0; round < 2; round++) { /* a report may be written more than once */
		cleanup(js_freep) struct js *report = js_object();
		attachments_put(&a, report);
		cleanup(freep) char *text = js_text(report, 0);
		assert_non_null(strstr(text, "\"resolved\": true"));
		assert_non_null(strstr(text, "1234"));
		assert_non_null(strstr(text, "\"bytes\": 7"));
		assert_non_null(strstr(text, "\"tid\": 1"));
	}
	attachments_done(&a);
	cleanup(js_freep) struct js *empty = js_object();
	attachments_put(&a, empty);
	cleanup(freep) char *text = js_text(empty, 0);
	assert_string_equal(text, "{}");
}

static void stacks_that_are_no_json_are_left_out(void **state)
{
	struct attachments a = {.heap = NULL};
	(void)state;
	attachments_hang(&a, NULL, (struct span){"[{", 2});
	cleanup(js_freep) struct js *report = js_object();
	attachments_put(&a, report);
	assert_null(js_get(report, "stacks"));
	assert_null(js_get(report, "hang"));
	attachments_done(&a);
}

static void the_last_hang_is_kept_with_its_parts(void **state)
{
	struct job_hang h = {.last = NULL};
	struct attachments parts = {.heap = NULL};
	static struct incident in;
	(void)state;
	TEXT_COPY(in.id, "job.1");
	attachments_hang(&parts, js_object(), (struct span){"[]", 2});
	jobhang_keep(&h, &hangs, &in, &parts);
	assert_null(parts.hang); /* handed over */
	assert_non_null(h.parts.hang);
	TEXT_COPY(in.id, "job.2");
	jobhang_keep(&h, &hangs, &in, &parts);
	assert_string_equal(h.last->id, "job.2");
	assert_null(h.parts.hang); /* those of the older one are gone */
	h.ended = true;
	jobhang_clear(&h);
	assert_true(!h.last && !h.early && !h.ended);
	jobhang_clear(&h);
}

static void an_end_without_a_suspicion_adds_nothing(void **state)
{
	struct job_hang h = {.last = NULL};
	struct attachments parts = {.heap = NULL};
	static struct incident in, before;
	(void)state;
	assert_false(jobhang_ended(&h, 100, &in, &parts));
	assert_memory_equal(&in, &before, sizeof(in));
	assert_null(parts.hang);
}

#define LOOP(test) cmocka_unit_test_setup_teardown(test, loop_open, loop_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP(settings_of_the_user_reach_the_guard),
		LOOP(a_decided_case_gets_its_first_report_once),
		LOOP(a_finished_case_is_a_kill_of_its_job),
		LOOP(a_case_that_is_cancelled_leaves_an_event_and_no_report),
		LOOP(a_case_that_came_too_late_says_so),
		LOOP(an_open_case_holds_up_those_behind_it),
		LOOP(cases_that_were_overtaken_are_passed_over),
		LOOP(an_empty_case_of_a_dead_guard_is_no_kill),
		LOOP(a_begun_case_of_a_dead_guard_is_carried_through),
		LOOP(a_case_of_a_job_that_is_no_longer_watched_is_dropped),
		LOOP(numbers_that_were_clamped_are_reported_once_to_each_job),
		LOOP(a_guard_that_died_is_an_event_of_every_job_and_starts_again),
		LOOP(a_guard_that_dies_too_often_is_given_up_and_the_loop_goes_on),
		LOOP(a_guard_that_cannot_start_is_not_started_again),
		LOOP(all_helpers_are_named_and_only_those_that_run),
		LOOP(early_stacks_are_kept_for_their_job_until_it_moves),
		LOOP(early_stacks_of_an_older_attempt_are_dropped),
		LOOP(messages_become_events_and_incidents_go_to_the_owner),
		LOOP(a_rank_that_was_slow_by_itself_is_over_once),
		LOOP(a_hang_is_resolved_once_and_never_while_its_job_is_being_ended),
		LOOP(a_hang_watcher_that_died_is_an_event_and_changes_the_helpers),
		LOOP(the_deliverer_is_one_of_ours_and_its_end_is_noted),
		cmocka_unit_test(attachments_are_put_into_the_report_and_freed),
		cmocka_unit_test(stacks_that_are_no_json_are_left_out),
		cmocka_unit_test(the_last_hang_is_kept_with_its_parts),
		cmocka_unit_test(an_end_without_a_suspicion_adds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
