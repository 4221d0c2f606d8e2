/* A file that children of the child lock, and looking at who waits for it. */
#pragma once

#include "waitfacts_fixture.h"

#include <fcntl.h>
#include <string.h>

static char lock_path[64];

static inline void must(bool ok)
{
	if (!ok)
		_exit(99);
}

static inline void lock_file_make(char dir[static 32])
{
	(void)text_copy(dir, 32, "/tmp/vigil-waitlocks-XXXXXX");
	assert_non_null(mkdtemp(dir));
	TEXT_FORMAT(lock_path, "%s/lock", dir);
	int fd = open(lock_path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static inline void lock_file_remove(const char *dir)
{
	child_end();
	unlink(lock_path);
	rmdir(dir);
}

/* The child of pid that waits in this way, once there is one. */
static inline const struct waitfact *await_inner(enum waitfact_kind kind, uint32_t n_holders, pid_t *ret)
{
	const struct waitfact_thread *t;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	char path[64], text[512];
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/children", (int)child, (int)child);
	do {
		pause_1ms();
		assert_int_equal(file_read_at(w.proc_fd, path, text, sizeof(text), &len), 0);
		struct span rest = {text, len}, word;
		uint64_t pid;
		while (span_word(&rest, &word)) {
			assert_int_equal(span_u64(word, &pid), 0);
			*ret = (pid_t)pid;
			facts_read(ret, 1);
			const struct waitfact *a = fact_of(*ret, kind, &t);
			if (a && a->n_holders == n_holders && (a->complete || !all_is_seen()))
				return a;
		}
	} while (clock_mono_ns() < until);
	facts_show();
	fail_msg("no inner process waits so");
	return NULL;
}
