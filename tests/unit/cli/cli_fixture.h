/*
 * What the tests of commands share: a made world with a store beside it, and the log kept in memory instead of stderr.
 */
#pragma once

#include "testing.h"

#include "agent/made_world.h"

#include "base/buf.h"
#include "base/log.h"
#include "tell/store/store.h"

static char logged[4096];

static inline void logged_add(void *ctx, const char *text, size_t len)
{
	size_t at = strlen(logged);
	(void)ctx;
	assert_true(at + len < sizeof(logged));
	memcpy(logged + at, text, len);
	logged[at + len] = '\0';
}

static inline void log_capture(void)
{
	logged[0] = '\0';
	log_set_sink(logged_add, NULL);
}

/* Everything that was logged since the last call is this text. */
static inline void assert_logged(const char *text)
{
	assert_string_equal(logged, text);
	logged[0] = '\0';
}

static inline struct job job_of(const char *id, const char *name, enum job_state how, int64_t started_unix_ms)
{
	struct job j = {.state = how, .started_unix_ms = started_unix_ms};
	TEXT_COPY(j.id, id);
	TEXT_COPY(j.name, name);
	return j;
}

static inline void store_fill(const char *dir, const struct job *jobs, size_t n)
{
	cleanup(store_closep) struct store *s = NULL;
	char note[256];
	struct fault f = {.text = ""};
	assert_int_equal(store_open(dir, STORE_WRITE, &s, note, &f), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(store_put_job(s, &jobs[i]), 0);
}
