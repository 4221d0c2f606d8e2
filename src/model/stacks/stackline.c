#include "model/stacks/stackline.h"

#include <string.h>

#include "base/buf.h"
#include "sense/death/facts.h"

/* Blanks and semicolons become '_', because a blank ends a word and a semicolon separates frames. */
static void word_add(struct buf *b, const char *text)
{
	for (const char *c = text; *c; c++)
		buf_add_n(b, (unsigned char)*c <= ' ' || *c == ';' ? "_" : c, 1);
}

static void pair_add(struct buf *b, const char *key, const char *text)
{
	if (text[0] == '\0')
		return;
	buf_printf(b, " %s=", key);
	word_add(b, text);
}

static void frame_add(struct buf *b, const struct dump_frame *f)
{
	const char *where = f->kind == FRAME_PYTHON ? f->file : f->module;
	if (where && where[0]) {
		word_add(b, f->kind == FRAME_PYTHON ? frame_file_short(where) : where);
		buf_add(b, ";");
	}
	word_add(b, f->name ? f->name : "?");
}

static size_t frame_bytes(const struct dump_frame *f)
{
	const char *where = f->kind == FRAME_PYTHON ? f->file : f->module;
	return 2 + (where ? strlen(where) : 0) + (f->name ? strlen(f->name) : 1);
}

/* Number of frames that fit into room bytes, counted from the innermost, which are the most useful. */
static size_t frames_that_fit(const struct dump_thread *t, size_t room)
{
	size_t n = 0, bytes = 0;
	while (n < t->n_frames) {
		bytes += frame_bytes(&t->frames[n]);
		if (bytes >= room)
			break;
		n++;
	}
	return n;
}

void stackline_format(const struct dump_process *p, const struct dump_thread *t, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = MIN(cap, (size_t)STACKLINE_MAX)};
	char state[2] = {t->wait.state, '\0'};
	buf_reset(&b);
	buf_printf(&b, "pid=%d tid=%d", (int)p->pid, (int)t->tid);
	pair_add(&b, "comm", t->name[0] ? t->name : p->name);
	if (p->rank != NO_RANK)
		buf_printf(&b, " rank=%d", p->rank);
	buf_printf(&b, " thread=%s threads=%zu", t->main ? "main" : "other", p->n_threads);
	pair_add(&b, "state", state);
	pair_add(&b, "wait", t->wait_kind);
	pair_add(&b, "syscall", t->syscall);
	pair_add(&b, "wchan", t->wait.wchan);
	if (t->wait.kind == WAIT_LOCK && (t->wait.owner_gone || t->wait.owner > 0))
		pair_add(&b, "futex_owner", t->wait.owner_gone ? "gone" : "alive");
	if (t->wait.fd >= 0)
		pair_add(&b, "target", t->wait.target);
	buf_add(&b, " ");
	for (size_t n = frames_that_fit(t, b.cap - b.len); n > 0; n--) {
		frame_add(&b, &t->frames[n - 1]);
		buf_add(&b, n > 1 ? ";" : "");
	}
}

/* ---- facts ---- */

static bool frame_has(const struct dump_frame *f, const char *file, const char *name)
{
	return (!file || (f->file && strstr(f->file, file))) && (!name || (f->name && strstr(f->name, name)));
}

static bool thread_has(const struct dump_thread *t, const char *file, const char *name)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (frame_has(&t->frames[i], file, name))
			return true;
	return false;
}

/* Before 3.11 a code object's name is only "forward", so the file, which holds little else, decides. */
static bool in_sync_norm(const struct dump_thread *t)
{
	bool there =
		thread_has(t, NULL, "SyncBatchNorm") ||
		(thread_has(t, "nn/modules/_functions.py", "forward") && thread_has(t, "batchnorm.py", "forward")) ||
		thread_has(t, "nn/modules/_functions.py", "backward");
	return there && (thread_has(t, NULL, "all_gather") || thread_has(t, NULL, "all_reduce"));
}

static bool in_loader_wait(const struct dump_thread *t)
{
	return t->main && thread_has(t, "utils/data/dataloader.py", "_try_get_data");
}

static bool in_start(const struct dump_thread *t)
{
	return t->main && (thread_has(t, "distributed/rendezvous.py", NULL) ||
			   thread_has(t, NULL, "init_process_group") || thread_has(t, NULL, "_store_based_barrier") ||
			   thread_has(t, NULL, "TCPStore") || thread_has(t, NULL, "ncclCommInitRank"));
}

/* Only for remote file systems does a target name its mount: "…/x on nfs4 server:/export". */
static bool writes_remotely(const struct dump_thread *t)
{
	return thread_has(t, "event_file_writer.py", NULL) && t->wait.fd >= 0 && strstr(t->wait.target, " on ");
}

struct per_rank {
	int32_t rank;
	bool norm;
};

static struct per_rank *per_rank_of(struct per_rank *list, size_t cap, size_t *n, int32_t rank)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i].rank == rank)
			return &list[i];
	if (*n == cap)
		return NULL;
	list[*n] = (struct per_rank){.rank = rank};
	return &list[(*n)++];
}

void stackfacts_of(const struct stackdump *d, struct stackfacts *ret)
{
	struct per_rank list[256];
	size_t n = 0, in_norm = 0;
	*ret = (struct stackfacts){0};
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		struct per_rank *r = p->rank == NO_RANK ? NULL : per_rank_of(list, ARRAY_SIZE(list), &n, p->rank);
		for (size_t k = 0; k < p->n_threads; k++) {
			const struct dump_thread *t = &p->threads[k];
			if (r)
				r->norm |= in_sync_norm(t);
			ret->in_start |= in_start(t);
			ret->waits_for_loader |= in_loader_wait(t);
			ret->remote_writer |= writes_remotely(t);
		}
	}
	for (size_t i = 0; i < n; i++)
		in_norm += list[i].norm;
	ret->n_ranks = n;
	ret->all_in_sync_norm = n >= 2 && in_norm == n;
}

bool stackdump_rank_of(const struct stackdump *d, pid_t id, int32_t *ret_rank)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		bool here = p->pid == id;
		for (size_t k = 0; k < p->n_threads && !here; k++)
			here = p->threads[k].tid == id;
		if (here) {
			*ret_rank = p->rank;
			return true;
		}
	}
	return false;
}

size_t stackdump_count(const struct stackdump *d, int32_t rank, const char *comm)
{
	size_t n = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		if (p->rank == rank && p->n_threads > 0 && strcmp(p->threads[0].name, comm) == 0)
			n++;
	}
	return n;
}
