/* A world of made processes: a folder of its own with proc/ and cgroup/, whose files a test writes. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "world_fixture.h"

#include "base/file.h"

struct made_world {
	char dir[64];
	struct world w;
};

static uint64_t made_now_ns = 100 * NS_PER_S;

static inline uint64_t made_mono_ns(void)
{
	return made_now_ns;
}

static inline void made_write(const struct made_world *m, const char *path, const char *text, size_t len)
{
	char full[400];
	TEXT_FORMAT(full, "%s/%s", m->dir, path);
	assert_int_equal(file_replace(full, text, len, 0600), 0);
}

static inline void made_folder(const struct made_world *m, const char *path)
{
	char full[400];
	TEXT_FORMAT(full, "%s/%s", m->dir, path);
	assert_int_equal(file_mkdirs(full, 0700), 0);
}

static inline void made_begin(struct made_world *m)
{
	TEXT_COPY(m->dir, "/tmp/vigil-made-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	made_folder(m, "proc");
	made_folder(m, "cgroup");
	char proc[96], cgroup[96];
	TEXT_FORMAT(proc, "%s/proc", m->dir);
	TEXT_FORMAT(cgroup, "%s/cgroup", m->dir);
	m->w = (struct world){.proc_fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			      .sys_fd = -1,
			      .cgroup_fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			      .shm_fd = -1,
			      .kmsg_fd = -1,
			      .recorded = true,
			      .page_bytes = 4096,
			      .ticks_per_s = 100,
			      .mono_ns = made_mono_ns,
			      .unix_ms = clock_unix_ms};
	assert_true(m->w.proc_fd >= 0 && m->w.cgroup_fd >= 0);
}

static inline int made_remove(const char *path, const struct stat *st, int kind, struct FTW *f)
{
	(void)st;
	(void)kind;
	(void)f;
	return remove(path);
}

static inline void made_end(struct made_world *m)
{
	fixture_close(&m->w);
	assert_int_equal(nftw(m->dir, made_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

struct made_process {
	pid_t pid, ppid;
	uint64_t start_ticks, cpu_ticks;
	char state; /* 0: S */
	int threads; /* 0: 1 */
	const char *comm, *environ, *group; /* environ: variables with '\n' between; NULL: none */
	const char *command; /* arguments with ' ' between; NULL: comm */
	const char *children; /* of its main thread: "11 12"; NULL: none */
	int status; /* of a zombie, as waitpid has it */
};

static inline void made_list(const struct made_world *m, pid_t pid, const char *file, const char *text, char between)
{
	char path[64], block[1024];
	TEXT_COPY(block, text);
	for (char *p = block; *p; p++)
		*p = *p == between ? '\0' : *p;
	TEXT_FORMAT(path, "proc/%d/%s", (int)pid, file);
	made_write(m, path, block, text[0] ? strlen(text) + 1 : 0);
}

static inline void made_process(const struct made_world *m, const struct made_process *p)
{
	char path[96], text[512];
	TEXT_FORMAT(path, "proc/%d/task/%d", (int)p->pid, (int)p->pid);
	made_folder(m, path);
	TEXT_FORMAT(path, "proc/%d/stat", (int)p->pid);
	TEXT_FORMAT(text,
		    "%d (%s) %c %d %d %d 0 -1 4194304 0 0 0 0 %llu 0 0 0 20 0 %d 0 %llu 1000000 25000 "
		    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 %d\n",
		    (int)p->pid, p->comm, p->state ? p->state : 'S', (int)p->ppid, (int)p->pid, (int)p->pid,
		    (unsigned long long)p->cpu_ticks, p->threads ? p->threads : 1,
		    (unsigned long long)p->start_ticks, p->status);
	made_write(m, path, text, strlen(text));
	TEXT_FORMAT(path, "proc/%d/statm", (int)p->pid);
	made_write(m, path, "244 100 50 1 0 20 0\n", 20);
	TEXT_FORMAT(path, "proc/%d/cgroup", (int)p->pid);
	TEXT_FORMAT(text, "0::%s\n", p->group ? p->group : "/");
	made_write(m, path, text, strlen(text));
	made_list(m, p->pid, "environ", p->environ ? p->environ : "", '\n');
	made_list(m, p->pid, "cmdline", p->command ? p->command : p->comm, ' ');
	TEXT_FORMAT(path, "proc/%d/task/%d/children", (int)p->pid, (int)p->pid);
	made_write(m, path, p->children ? p->children : "", strlen(p->children ? p->children : ""));
}

static inline void made_gone(const struct made_world *m, pid_t pid)
{
	char path[128];
	TEXT_FORMAT(path, "%s/proc/%d", m->dir, (int)pid);
	assert_int_equal(nftw(path, made_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}
