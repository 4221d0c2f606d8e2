/* A folder for one test, files in it, and a child that does nothing until it is ended. */
#pragma once

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "world_fixture.h"

#include "base/file.h"
#include "sense/proc/proc.h"

static char scratch[64];

static inline int scratch_make(void **state)
{
	(void)state;
	TEXT_COPY(scratch, "/tmp/vigil-unit-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline int scratch_remove(void **state)
{
	(void)state;
	return nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Path of a name in the folder; valid until the call after the next one. */
static inline const char *scratch_path(const char *name)
{
	static char path[2][256];
	static int turn;
	turn = !turn;
	TEXT_FORMAT(path[turn], "%s/%s", scratch, name);
	return path[turn];
}

static inline const char *scratch_put(const char *name, const void *bytes, size_t len, mode_t mode)
{
	const char *path = scratch_path(name);
	assert_int_equal(file_replace(path, bytes, len, mode), 0);
	return path;
}

static inline bool scratch_has(const char *name)
{
	return access(scratch_path(name), F_OK) == 0;
}

static inline pid_t child_start(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static inline void child_end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static inline uint64_t start_ticks_of(const struct world *w, pid_t pid)
{
	struct proc_stat st;
	assert_int_equal(proc_stat_read(w, pid, &st), 0);
	return st.start_ticks;
}
