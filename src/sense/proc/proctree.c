#include "sense/proc/proctree.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/* Threads of one process that are asked for their children. */
#define THREADS_MAX 256
#define CHILDREN_TEXT 8192

typedef bool found_fn(void *ctx, pid_t pid);

/* False: fn wants no more. */
static bool thread_children(const struct world *w, pid_t pid, pid_t tid, found_fn *fn, void *ctx)
{
	char text[CHILDREN_TEXT], path[64];
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/children", (int)pid, (int)tid);
	if (file_read_at(w->proc_fd, path, text, sizeof(text), &len) < 0)
		return true;
	struct span rest = {text, len}, word;
	uint64_t child;
	while (span_word(&rest, &word))
		if (span_u64(word, &child) == 0 && !fn(ctx, (pid_t)child))
			return false;
	return true;
}

static void process_children(const struct world *w, pid_t pid, uint32_t threads, found_fn *fn, void *ctx)
{
	char path[32];
	if (!thread_children(w, pid, pid, fn, ctx) || threads <= 1)
		return;
	TEXT_FORMAT(path, "%d/task", (int)pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	size_t n = 0;
	for (const struct dirent *e; d && n < THREADS_MAX && (e = readdir(d)); n++) {
		uint64_t tid;
		if (span_u64(span_of(e->d_name), &tid) == 0 && (pid_t)tid != pid &&
		    !thread_children(w, pid, (pid_t)tid, fn, ctx))
			return;
	}
}

struct growing {
	const struct world *w;
	struct proctree_row *rows;
	size_t n, cap;
};

static bool proctree_grow(void *ctx, pid_t pid)
{
	struct growing *g = ctx;
	if (g->n == g->cap)
		return false;
	g->rows[g->n++] = (struct proctree_row){.id = {.pid = pid}};
	return true;
}

/* Fills in a row; false: that process has ended. */
static bool proctree_row(const struct world *w, struct proctree_row *row, uint32_t *ret_threads)
{
	struct proc_stat st;
	struct proc_statm mem;
	if (proc_stat_read(w, row->id.pid, &st) != 0 || proc_is_over(&st))
		return false;
	row->id.start_ticks = st.start_ticks;
	row->pgrp = st.pgrp;
	*ret_threads = st.threads;
	if (proc_statm_read(w, row->id.pid, &mem) == 0) {
		row->own_bytes = sub_floor(mem.resident_pages, mem.shared_pages) * w->page_bytes;
		row->shared_bytes = mem.shared_pages * w->page_bytes;
	}
	return true;
}

size_t proctree_read(const struct world *w, pid_t root, struct proctree_row *rows, size_t cap)
{
	struct growing g = {.w = w, .rows = rows, .cap = cap};
	if (!proctree_grow(&g, root))
		return 0;
	for (size_t i = 0; i < g.n;) {
		uint32_t threads = 1;
		pid_t pid = rows[i].id.pid;
		if (proctree_row(w, &rows[i], &threads)) {
			process_children(w, pid, threads, proctree_grow, &g);
			i++;
		} else {
			rows[i] = rows[--g.n];
		}
	}
	return g.n;
}

static bool count_living(void *ctx, pid_t pid)
{
	struct growing *g = ctx;
	struct proc_stat st;
	if (proc_stat_read(g->w, pid, &st) == 0 && !proc_is_over(&st))
		return proctree_grow(ctx, pid);
	return true;
}

size_t proctree_children(const struct world *w, pid_t *pids, size_t cap)
{
	struct proctree_row rows[256];
	struct growing g = {.w = w, .rows = rows, .cap = MIN(cap, ARRAY_SIZE(rows))};
	process_children(w, getpid(), 2, count_living, &g);
	for (size_t i = 0; i < g.n; i++)
		pids[i] = rows[i].id.pid;
	return g.n;
}
