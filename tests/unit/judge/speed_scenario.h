/*
 * Jobs that were watched, written down for the judge of their speed. A thread is its process, a pattern of letters
 * (model/speed/speedfacts.h) that is repeated until there are SCENE_SWEEPS of them, and what it cost.
 */
#pragma once

#include "testing.h"

#include "base/buf.h"
#include "judge/speed/speed.h"

#define SCENE_SWEEPS 200
#define SCENE_ROWS 64

struct scene {
	struct speedfacts f;
	struct speed_process process[SCENE_ROWS];
	struct speed_thread thread[SCENE_ROWS];
	char at[SCENE_ROWS][SCENE_SWEEPS + 1];
	struct findings found;
};

/* A machine of `cpus` processors with as many cores and nobody else on it. */
static inline void scene_begin(struct scene *s, uint32_t cpus)
{
	memset(s, 0, sizeof(*s));
	s->f = (struct speedfacts){
		.watched_s = 5,
		.n_sweeps = SCENE_SWEEPS,
		.process = s->process,
		.thread = s->thread,
		.machine = {.cpus = cpus,
			    .cores = cpus,
			    .job_cpus = cpus,
			    .job_cores = cpus,
			    .has_cpu = true,
			    .busy = cpus,
			    .has_running = true,
			    .nodes = 1,
			    .limit_bytes = 64 * GIB,
			    .used_bytes = 4 * GIB,
			    .shm_total_bytes = 32 * GIB,
			    .shm_free_bytes = 32 * GIB},
	};
}

/* The first one is the main process; the parent of the others. Returns its index. */
static inline size_t scene_process(struct scene *s, enum role role)
{
	size_t i = s->f.n_processes++;
	assert_true(i < SCENE_ROWS);
	s->process[i] = (struct speed_process){.pid = (pid_t)(100 + i),
					       .role = role,
					       .rank = NO_RANK,
					       .main = i == 0,
					       .parent = i == 0 ? SIZE_MAX : 0,
					       .python = true,
					       .own_bytes = 50 * MIB,
					       .first = s->f.n_threads};
	TEXT_COPY(s->process[i].name, "python3");
	return i;
}

/* Its processor time is the part of 'R' in the pattern, less `queued`. */
static inline struct speed_thread *scene_thread(struct scene *s, size_t process, const char *pattern, double queued)
{
	size_t i = s->f.n_threads++, n = 0;
	assert_true(i < SCENE_ROWS);
	for (size_t k = 0; k < SCENE_SWEEPS; k++) {
		s->at[i][k] = pattern[k % strlen(pattern)];
		n += s->at[i][k] == 'R';
	}
	s->thread[i] = (struct speed_thread){.tid = (pid_t)(1000 + i),
					     .process = process,
					     .lead = s->process[process].n == 0,
					     .run = (double)n / SCENE_SWEEPS - queued,
					     .queued = queued,
					     .voluntary = 20,
					     .involuntary = 20,
					     .slices = 40,
					     .at = s->at[i]};
	TEXT_COPY(s->thread[i].comm, "python3");
	s->process[process].n++;
	s->f.machine.running += (double)n / SCENE_SWEEPS;
	return &s->thread[i];
}

/* A process with one thread. */
static inline struct speed_thread *scene_one(struct scene *s, enum role role, const char *pattern)
{
	return scene_thread(s, scene_process(s, role), pattern, 0);
}

static inline const struct finding *scene_first(struct scene *s)
{
	s->found.n = 0;
	speed_judge(&s->f, &s->found);
	return s->found.n ? &s->found.row[0] : NULL;
}

/* "1 threads" and the like, in a sentence for a person. */
static inline void scene_plurals_check(const char *text)
{
	for (const char *at = strstr(text, "1 "); at; at = strstr(at + 1, "1 ")) {
		const size_t n = strcspn(at + 2, " ,.:;)");
		if ((at == text || at[-1] == ' ' || at[-1] == '(') && n > 2 && at[1 + n] == 's' && at[n] != 's') {
			print_error("a plural of one: %s\n", text);
			fail();
		}
	}
}

static inline void scene_words_check(const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->row[i];
		scene_plurals_check(f->text);
		for (size_t k = 0; k < f->n_evidence; k++)
			scene_plurals_check(f->evidence[k]);
		for (size_t k = 0; k < f->n_advice; k++)
			scene_plurals_check(f->advice[k]);
	}
}

/* The first finding is id, and promises this speed-up (0: none) give or take a twentieth. */
static inline void scene_expect(struct scene *s, const char *id, double speedup)
{
	const struct finding *f = scene_first(s);
	assert_non_null(f);
	assert_string_equal(f->id, id);
	assert_true(f->speedup >= speedup * 0.95 && f->speedup <= speedup * 1.05);
	assert_true(f->weight > 0 && f->cost_ratio <= 1 && (f->cost_ratio > 0 || speedup == 0));
	assert_true(f->n_evidence > 0 && f->n_advice > 0 && f->confidence[0]);
	scene_words_check(&s->found);
}

static inline void scene_expect_nothing(struct scene *s)
{
	const struct finding *f = scene_first(s);
	if (f)
		print_error("found: %s: %s\n", f->id, f->text);
	assert_null(f);
}
