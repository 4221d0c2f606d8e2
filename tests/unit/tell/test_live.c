#include "testing.h"

#include "base/buf.h"
#include "tell/jobs/live.h"

static struct live_process process_of(pid_t pid, uint64_t own_bytes)
{
	struct live_process p;
	memset(&p, 0, sizeof(p));
	p.pid = pid;
	p.ppid = 7;
	p.start_ticks = (uint64_t)pid * 10;
	p.rank = pid % 2 ? NO_RANK : pid;
	p.attempt = 1;
	p.state = 'S';
	TEXT_COPY(p.role, "main");
	TEXT_COPY(p.name, "python3");
	p.own_bytes = own_bytes;
	p.rss_bytes = own_bytes + 5;
	p.cpu_ns = 99;
	p.started_unix_ms = 1700000000000;
	return p;
}

static void state_make(struct live_state *s)
{
	memset(s, 0, sizeof(*s));
	s->seq = 1;
	s->time_unix_ms = 1700000001000;
	s->sampled_unix_ms = 1700000000900;
	TEXT_COPY(s->phase, "running");
	TEXT_COPY(s->job.id, "train-ab12");
	s->job.state = JOB_RUNNING;
	s->job.pid = 10;
	s->memory = (struct live_memory){.used_bytes = 5, .total_bytes = 50, .job_bytes = 3, .job_peak_bytes = 4};
	TEXT_COPY(s->memory.guard, "warn");
	s->steps.n = 1;
	s->steps.of[0] = (struct job_step){.rank = 3, .has_total = true, .step = 12, .total = 40};
	s->health.level = HEALTH_MEMORY;
	TEXT_COPY(s->health.sentence, "memory runs out");
	s->health.culprit[s->health.n_culprits++] = 3;
	for (pid_t pid = 10; pid < 14; pid++) {
		struct live_process p = process_of(pid, 1000);
		assert_int_equal(live_add(s, &p), 0);
	}
}

static int told(struct live_state *to, const struct live_state *was, const struct live_state *now)
{
	cleanup(js_freep) struct js *line = live_json(was, now);
	return live_take(to, line);
}

static void same(const struct live_state *a, const struct live_state *b)
{
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		assert_memory_equal(&a->process[i], &b->process[i], sizeof(a->process[i]));
	assert_memory_equal(&a->memory, &b->memory, sizeof(a->memory));
	assert_string_equal(a->phase, b->phase);
	assert_int_equal(a->job.state, b->job.state);
	assert_int_equal(a->steps.of[0].step, b->steps.of[0].step);
	assert_int_equal(a->health.level, b->health.level);
	assert_string_equal(a->health.sentence, b->health.sentence);
	assert_int_equal(a->health.culprit[0], b->health.culprit[0]);
}

static void a_reader_has_what_the_whole_line_says(void **state)
{
	(void)state;
	static struct live_state now, got;
	state_make(&now);
	memset(&got, 0, sizeof(got));
	assert_int_equal(told(&got, NULL, &now), 0);
	same(&got, &now);
	assert_non_null(live_find(&got, 12, 120));
	assert_null(live_find(&got, 12, 121)); /* a stranger with that number */
	live_done(&now);
	live_done(&got);
	live_done(&got); /* the next job in a list may say nothing */
	assert_null(got.process);
}

static void news_bring_a_reader_up_to_date(void **state)
{
	(void)state;
	static struct live_state was, now, got;
	state_make(&was);
	state_make(&now);
	memset(&got, 0, sizeof(got));
	assert_int_equal(told(&got, NULL, &was), 0);
	now.seq = 2;
	now.process[1] = process_of(11, 5000); /* grown */
	now.process[2] = process_of(13, 1000); /* 12 has gone */
	now.process[3] = process_of(200, 7);
	now.steps.of[0].step = 13;
	now.job.state = JOB_WAITING;
	TEXT_COPY(now.phase, "waiting");
	assert_int_equal(told(&got, &was, &now), 0);
	same(&got, &now);
	live_done(&was);
	live_done(&now);
	live_done(&got);
}

static void news_hold_only_what_has_changed(void **state)
{
	(void)state;
	static struct live_state was, now;
	state_make(&was);
	state_make(&now);
	now.seq = 2;
	now.process[2] = process_of(12, 1001);
	cleanup(js_freep) struct js *line = live_json(&was, &now);
	assert_int_equal(js_len(js_get(line, "processes")), 1);
	assert_null(js_get(line, "job"));
	assert_null(js_get(line, "health"));
	assert_null(js_get(line, "memory"));
	assert_null(js_get(line, "gone"));
	live_done(&was);
	live_done(&now);
}

static void a_line_that_is_missing_is_noticed(void **state)
{
	(void)state;
	static struct live_state was, now, got;
	state_make(&was);
	state_make(&now);
	memset(&got, 0, sizeof(got));
	now.seq = 2;
	assert_int_equal(told(&got, &was, &now), -EBADMSG); /* it knows nothing yet */
	assert_int_equal(told(&got, NULL, &was), 0);
	now.seq = 3;
	assert_int_equal(told(&got, &was, &now), -EBADMSG);
	live_done(&was);
	live_done(&now);
	live_done(&got);
}

static void a_stored_job_is_brought_up_to_date(void **state)
{
	(void)state;
	static struct live_state s;
	struct job j = {.id = "train-ab12", .state = JOB_STARTING, .peak_bytes = 1}, other = {.id = "other-1"};
	state_make(&s);
	live_job(&s, &j);
	assert_int_equal(j.state, JOB_RUNNING);
	assert_int_equal(j.pid, 10);
	assert_int_equal(j.peak_bytes, 4);
	live_job(&s, &other); /* another job's socket says nothing of it */
	assert_int_equal(other.pid, 0);
	live_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_has_what_the_whole_line_says),
		cmocka_unit_test(news_bring_a_reader_up_to_date),
		cmocka_unit_test(news_hold_only_what_has_changed),
		cmocka_unit_test(a_line_that_is_missing_is_noticed),
		cmocka_unit_test(a_stored_job_is_brought_up_to_date),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
