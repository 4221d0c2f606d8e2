/* The words by which a scenario says in what kind of wait a thread is; of test_hang_scenarios.c. */
#pragma once

#include "testing.h"

#include "base/text.h"
#include "sense/wait/threadwait.h"

static enum wait_kind wait_of(struct span w, const char *where)
{
	static const struct {
		const char *name;
		enum wait_kind kind;
	} kinds[] = {
		{"running", WAIT_RUNNING}, {"lock", WAIT_LOCK}, {"sleep", WAIT_SLEEP},	 {"poll", WAIT_POLL},
		{"file", WAIT_FILE},	   {"pipe", WAIT_PIPE}, {"socket", WAIT_SOCKET}, {"tty", WAIT_TTY},
		{"child", WAIT_CHILD},	   {"disk", WAIT_DISK}, {"gpu", WAIT_GPU},	 {"stopped", WAIT_STOPPED},
		{"signal", WAIT_SIGNAL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_eq(w, kinds[i].name))
			return kinds[i].kind;
	fail_msg("%s: unknown wait", where);
	return WAIT_UNKNOWN;
}
