/* Locks, conditions and joins: the owner where one can be read, else whoever can reach the word. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "sense/proc/proc.h"
#include "sense/wait/waitfacts_parts.h"

/*
 * glibc's pthread_rwlock_t in words of 4 bytes (nptl/bits/struct_rwlock.h): readers, writers, the futexes of the two
 * phases, two of padding, the tid of the writer. A wait for a writer has value 3 in the word that is waited on.
 */
enum {
	RWLOCK_READERS,
	RWLOCK_WRITERS,
	RWLOCK_PHASE,
	RWLOCK_WRITERS_FUTEX,
	RWLOCK_PAD3,
	RWLOCK_PAD4,
	RWLOCK_WRITER,
	RWLOCK_WORDS
};
#define RWLOCK_HELD 3
#define RWLOCK_READERS_WRLOCKED 2

static bool task_is_of(const struct waitlook *l, pid_t pid, pid_t tid)
{
	char stat[64];
	size_t len;
	return task_file_read(l->w, pid, tid, "comm", stat, sizeof(stat), &len) == 0;
}

/* The writer of the rwlock in whose word `at` the thread waits, as our /proc calls it; 0: it is none. */
static pid_t rwlock_writer(struct waiting *c, size_t at)
{
	uint32_t word[RWLOCK_WORDS];
	const uint64_t base = c->tw->arg[0] - 4 * at;
	if (!waiting_memory(c, base, word, sizeof(word)) || word[at] != RWLOCK_HELD || word[RWLOCK_PAD3] != 0 ||
	    word[RWLOCK_PAD4] != 0 || !(word[RWLOCK_READERS] & RWLOCK_READERS_WRLOCKED) || word[RWLOCK_WRITER] == 0 ||
	    word[RWLOCK_WRITER] > INT32_MAX)
		return 0;
	const pid_t writer = waitproc_outer(c->l, c->p, (pid_t)word[RWLOCK_WRITER]);
	return writer && task_is_of(c->l, c->p->kin->pid, writer) ? writer : 0;
}

static bool rwlock_take(struct waiting *c)
{
	if ((uint32_t)c->tw->arg[2] != RWLOCK_HELD)
		return false;
	pid_t writer = rwlock_writer(c, RWLOCK_PHASE);
	if (!writer)
		writer = rwlock_writer(c, RWLOCK_WRITERS_FUTEX);
	if (!writer || writer == c->t->tid)
		return false;
	struct waitfact *f = waitfact_add(c, WAITFACT_LOCK);
	if (!f)
		return true;
	f->owner = f->complete = true;
	f->id = c->tw->arg[0];
	TEXT_FORMAT(f->text, "read-write lock, taken for writing by thread %d", (int)writer);
	waitfact_holder_add(c->l, f, c->p->kin->pid, writer);
	return true;
}

/* The process of a thread anywhere on the machine; 0: it has ended. */
static pid_t futex_process_of(const struct waitlook *l, pid_t tid)
{
	char path[32], text[4096];
	size_t len;
	uint64_t tgid;
	TEXT_FORMAT(path, "%d/status", (int)tid);
	if (file_read_at(l->w->proc_fd, path, text, sizeof(text), &len) != 0 ||
	    text_field_u64((struct span){text, len}, "Tgid", &tgid) < 0 || tgid > INT32_MAX)
		return 0;
	return (pid_t)tgid;
}

static void owner_take(struct waiting *c, const struct lock_owner *o)
{
	const bool join = o->shape == LOCK_JOIN;
	struct waitfact *f = waitfact_add(c, join ? WAITFACT_THREAD : WAITFACT_LOCK);
	if (!f)
		return;
	f->id = c->tw->arg[0];
	if (o->gone || o->gone_maybe) {
		f->owner_gone = true;
		f->complete = o->gone;
		TEXT_FORMAT(f->text, "mutex taken by thread %d, which is not in this process", (int)o->tid);
		return;
	}
	const pid_t pid = o->elsewhere ? futex_process_of(c->l, o->tid) : c->p->kin->pid;
	TEXT_FORMAT(f->text, join ? "end of thread %d" : "lock held by thread %d", (int)o->tid);
	if (pid == 0)
		return;
	f->owner = f->complete = true;
	waitfact_holder_add(c->l, f, pid, o->tid);
}

uint64_t waitfacts_shared_id(const struct map_row *row, uint64_t addr)
{
	return hash_mix(row->inode + ((uint64_t)row->dev << 40)) ^ (addr - row->start + row->offset);
}

static bool maps_shared(struct waitlook *l, struct waitproc *p, const struct map_row *row)
{
	const struct maps *m = waitproc_maps(l, p);
	for (size_t j = 0; m && j < m->n; j++)
		if (m->rows[j].inode == row->inode && m->rows[j].dev == row->dev && (m->rows[j].flags & MAP_IS_SHARED))
			return true;
	return false;
}

/* The other processes that map the same object. Who else may map a file by its name is not known. */
static void shared_take(struct waiting *c, const struct map_row *row)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_SHARED);
	if (!f)
		return;
	char path[72];
	span_copy(span_of(row->path), path, sizeof(path));
	f->id = waitfacts_shared_id(row, c->tw->arg[0]);
	TEXT_FORMAT(f->text, "futex in shared memory %s", path);
	for (size_t i = 0; i < c->l->n_procs; i++) {
		struct waitproc *p = &c->l->proc[i];
		if (maps_shared(c->l, p, row))
			waitfact_holder_add(c->l, f, p->kin->pid, 0);
	}
}

/*
 * True of memory that another wanted process has as well. The kernel looks for who waits at a private futex among the
 * threads of the process that wakes, so that a wake by another process reaches nobody.
 */
static bool is_others_too(struct waiting *c, const struct map_row *row)
{
	for (size_t i = 0; i < c->l->n_procs; i++)
		if (&c->l->proc[i] != c->p && c->l->proc[i].kin->state != 'Z' && maps_shared(c->l, &c->l->proc[i], row))
			return true;
	return false;
}

/* Which processes have the same memory; read once, when the first thread waits for a word of one process. */
static const struct mates_process *mates_of(struct waitlook *l, const struct kin *of)
{
	if (!l->mates) {
		l->mates = calloc(l->n_procs + 1, sizeof(*l->mates));
		for (size_t i = 0; l->mates && i < l->n_procs; i++) {
			const struct kin *k = l->proc[i].kin;
			if (k->state != 'Z')
				l->mates[l->n_mates++] = (struct mates_process){
					.pid = k->pid, .ppid = k->ppid, .size_bytes = k->size_bytes};
		}
		if (!l->mates || mates_read(l->w, l->mates, l->n_mates) < 0)
			l->error = -ENOMEM;
	}
	const size_t at = l->mates ? bisect(l->n_mates, i, l->mates[i].pid < of->pid) : l->n_mates;
	return at < l->n_mates && l->mates[at].pid == of->pid ? &l->mates[at] : NULL;
}

/* A process that was made with the memory of another one wakes who waits there, as a thread would. */
static void mates_take(struct waiting *c, struct waitfact *f)
{
	const struct mates_process *m = mates_of(c->l, c->p->kin);
	f->complete = f->complete && !(m && m->unknown);
	for (size_t i = 0; m && i < m->n_mates; i++)
		waitfact_holder_add(c->l, f, m->mate[i], 0);
}

static void plain_take(struct waiting *c, uint64_t addr, bool is_private)
{
	/* Of private ones main threads alone are looked at, as reading mappings takes time. */
	const bool looks = !is_private || c->t->tid == c->t->pid;
	const struct maps *m = looks ? waitproc_maps(c->l, c->p) : NULL;
	const struct map_row *row = m ? maps_find(m, addr) : NULL;
	const bool shared = row && (row->flags & MAP_IS_SHARED);
	if (shared && !is_private) {
		shared_take(c, row);
		return;
	}
	struct waitfact *f = waitfact_add(c, WAITFACT_FUTEX);
	if (!f)
		return;
	f->id = addr;
	/* Memory of one process: only its threads wake a futex in there. */
	f->complete = is_private || row;
	TEXT_FORMAT(f->text, "lock, condition or semaphore at 0x%llx", (unsigned long long)addr);
	f->apart = shared && is_private && is_others_too(c, row);
	waitfact_holder_add(c->l, f, c->p->kin->pid, 0);
	mates_take(c, f);
}

#ifdef SYS_futex_waitv
/* Any of several words ends the wait. */
static void waitv_take(struct waiting *c)
{
	struct {
		uint64_t value, addr;
		uint32_t flags, reserved;
	} word[128];
	const uint64_t n = c->tw->arg[1];
	if (n == 0 || n > ARRAY_SIZE(word) || !waiting_memory(c, c->tw->arg[0], word, (size_t)n * sizeof(word[0]))) {
		c->t->cut = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		plain_take(c, word[i].addr, word[i].flags & FUTEX_PRIVATE_FLAG);
}
#endif

void waiting_futex(struct waiting *c)
{
	struct lock_owner o = {.shape = LOCK_FUTEX};
#ifdef SYS_futex_waitv
	if (c->tw->nr == SYS_futex_waitv) {
		waitv_take(c);
		return;
	}
#endif
#ifdef SYS_futex_wait
	if (c->tw->nr == SYS_futex_wait) {
		plain_take(c, c->tw->arg[0], c->tw->arg[3] & FUTEX_PRIVATE_FLAG);
		return;
	}
#endif
	if (c->tw->nr != SYS_futex) {
		ignore(waitfact_add(c, WAITFACT_UNKNOWN) != NULL, "no room is noted there");
		return;
	}
	lock_owner_read(c->l->w, c->p->kin->pid, c->t->tid, c->tw, &c->p->remote, &o);
	if (o.shape != LOCK_FUTEX)
		owner_take(c, &o);
	else if (!rwlock_take(c))
		plain_take(c, c->tw->arg[0], c->tw->arg[1] & FUTEX_PRIVATE_FLAG);
}
