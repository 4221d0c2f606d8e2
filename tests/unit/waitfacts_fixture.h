/* Looking at the facts of a child's waits until they are as expected. */
#pragma once

#include <glob.h>
#include <unistd.h>

#include "wait_fixture.h"

#include "sense/wait/waitfacts.h"

/* Enough for a thousand copies under sanitizers on a loaded machine; a list cut for want of time is never complete. */
#define SEARCH_NS (30 * NS_PER_S)

static struct waitfacts facts;

static inline void facts_read(const pid_t *pids, size_t n)
{
	waitfacts_done(&facts);
	assert_int_equal(waitfacts_read(&w, pids, n, SEARCH_NS, &facts), 0);
}

/* The first alternative of that kind in any thread of pid. */
static inline const struct waitfact *fact_of(pid_t pid, enum waitfact_kind kind, const struct waitfact_thread **ret)
{
	for (size_t i = 0; i < facts.n_threads; i++)
		for (uint32_t j = 0; facts.thread[i].pid == pid && j < facts.thread[i].n; j++)
			if (facts.fact[facts.thread[i].first + j].kind == kind) {
				*ret = &facts.thread[i];
				return &facts.fact[facts.thread[i].first + j];
			}
	return NULL;
}

static inline void facts_show(void)
{
	for (size_t i = 0; i < facts.n_threads; i++)
		for (uint32_t j = 0; j < facts.thread[i].n; j++) {
			const struct waitfact *a = &facts.fact[facts.thread[i].first + j];
			print_message("%d/%d %s: %s%s, %u holders, %s\n", (int)facts.thread[i].pid,
				      (int)facts.thread[i].tid, syscall_name(facts.thread[i].nr),
				      waitfact_kind_name(a->kind), a->complete ? " complete" : "", a->n_holders,
				      a->text);
		}
}

struct expected {
	enum waitfact_kind kind;
	bool complete;
	uint32_t n_holders;
	pid_t holder; /* one of them; 0: any */
};

static inline bool holds(const struct waitfact *a, pid_t pid)
{
	for (uint32_t i = 0; i < a->n_holders; i++)
		if (facts.holder[a->first_holder + i].pid == pid)
			return true;
	return false;
}

/* As root all processes that matter can be listed; else nothing is said about what is complete. */
static inline bool all_is_seen(void)
{
	return geteuid() == 0;
}

/* A ring of any process may keep a timer, which has no number: nobody knows all who have one then. */
static inline bool a_ring_is_somewhere(void)
{
	glob_t found = {.gl_pathc = 0};
	bool any = false;
	ignore(glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &found), "nothing is found then");
	for (size_t i = 0; i < found.gl_pathc && !any; i++) {
		char to[64] = "";
		any = readlink(found.gl_pathv[i], to, sizeof(to) - 1) > 0 && strstr(to, "[io_uring]");
	}
	globfree(&found);
	return any;
}

static inline bool may_be_incomplete(enum waitfact_kind kind)
{
	return !all_is_seen() || (kind == WAITFACT_EVENTFD && a_ring_is_somewhere());
}

/* Reads the facts until pid has such an alternative. Descriptors may be on their way anywhere, so it is asked again. */
static inline const struct waitfact *await_fact_among(const pid_t *pids, size_t n, pid_t pid, struct expected want,
						      const struct waitfact_thread **ret)
{
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		facts_read(pids, n);
		const struct waitfact *a = fact_of(pid, want.kind, ret);
		if (a && a->n_holders == want.n_holders && (want.holder == 0 || holds(a, want.holder)) &&
		    (a->complete == want.complete || (want.complete && may_be_incomplete(want.kind))))
			return a;
		pause_1ms();
	} while (clock_mono_ns() < until);
	facts_show();
	fail_msg("no alternative \"%s\" with %u holders%s%s", waitfact_kind_name(want.kind), want.n_holders,
		 want.complete ? ", complete" : "", want.holder ? ", among them the one that is expected" : "");
	return NULL;
}

static inline const struct waitfact *await_fact(struct expected want, const struct waitfact_thread **ret)
{
	return await_fact_among(&child, 1, child, want, ret);
}

/* The newest child of a process; waits for it. */
static inline pid_t child_of(pid_t pid)
{
	char path[64], text[4096];
	size_t len;
	struct span rest, word;
	uint64_t found = 0;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	TEXT_FORMAT(path, "%d/task/%d/children", (int)pid, (int)pid);
	do {
		assert_int_equal(file_read_at(w.proc_fd, path, text, sizeof(text), &len), 0);
		rest = (struct span){text, len};
		while (span_word(&rest, &word))
			assert_int_equal(span_u64(word, &found), 0);
		if (found)
			return (pid_t)found;
		pause_1ms();
	} while (clock_mono_ns() < until);
	fail_msg("process %d has no child", (int)pid);
	return 0;
}

static inline int facts_teardown(void **state)
{
	waitfacts_done(&facts);
	return test_teardown(state);
}

static inline _Noreturn void pause_for_ever(void)
{
	for (;;)
		pause();
}

/* A child of the child: ends with it. */
static inline pid_t fork_inner(void)
{
	const pid_t self = getpid(), pid = fork();
	if (pid == 0)
		end_with(self);
	return pid;
}

#define FACTS(test) cmocka_unit_test_teardown(test, facts_teardown)
