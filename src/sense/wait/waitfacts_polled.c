/*
 * What a thread may be looking at that never blocks on it: memory that other processes may write, and files that it
 * has open and others have locked. A loop that tries, sleeps for a moment and tries again leaves no other trace.
 */
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sense/wait/filelock.h"
#include "sense/wait/waitfacts_parts.h"

/* The longest sleep of such a loop that is known as one: two looks are further apart. */
#define NAP_MOST_NS (1500 * NS_PER_MS)
/* Of one thread: things, and open files that are looked at. */
#define THINGS_MOST 32
#define FILES_MOST 512
/* Processes whose mappings are read, rows of all of them, and locks of the machine. */
#define PROCESSES_MOST 256
#define ROWS_MOST 100000
#define LOCKS_MOST 10000
/* Main threads that run, and may spin: of more, none is looked at. */
#define SPINNING_MOST 4
/* A log that others lock is often inherited as one of these. */
#define STANDARD_FDS 3

/* Memory that a process may write and others may map. */
struct shared_row {
	uint64_t id; /* of the object */
	pid_t pid;
};

/* What is read once for all threads. */
struct polled {
	struct waitlook *l;
	struct shared_row *row; /* by id and pid; owned */
	size_t n_rows, cap_rows;
	struct filelock *lock; /* held for writing, by processes that are known; owned */
	size_t n_locks, cap_locks;
};

static void polled_done(struct polled *x)
{
	free(x->row);
	free(x->lock);
}

static struct waitproc *polled_process(struct waitlook *l, pid_t pid)
{
	for (size_t i = 0; i < l->n_procs; i++)
		if (l->proc[i].kin->pid == pid)
			return &l->proc[i];
	return NULL;
}

/* A main thread that sleeps for a second or so. */
static bool may_poll(const struct waitfacts *f, const struct waitfact_thread *t)
{
	const struct waitfact *only = t->n == 1 ? &f->fact[t->first] : NULL;
	return t->tid == t->pid && !t->runs && !t->ended && only && only->kind == WAITFACT_CLOCK && t->timed &&
	       MAX(t->limit_ns, t->left_ns) <= NAP_MOST_NS;
}

/* A main thread that runs, as one does that goes round and looks; few of them. */
static bool may_spin(const struct waitfact_thread *t, size_t running)
{
	return running <= SPINNING_MOST && t->tid == t->pid && t->runs;
}

/* NULL: no room. */
static struct waitfact *polled_add(struct waitlook *l, struct waitfact_thread *t, enum waitfact_kind kind, uint64_t id)
{
	struct waitfacts *f = l->f;
	if (vec_room(&f->fact, &f->cap_facts, f->n_facts + 1) < 0) {
		l->error = -ENOMEM;
		return NULL;
	}
	if (t->n_polled == 0)
		t->first_polled = (uint32_t)f->n_facts;
	t->n_polled++;
	struct waitfact *new = &f->fact[f->n_facts++];
	*new = (struct waitfact){.kind = kind, .id = id};
	return new;
}

static bool polled_known(const struct waitlook *l, const struct waitfact_thread *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->n_polled; i++)
		if (l->f->fact[t->first_polled + i].id == id)
			return true;
	return false;
}

/* ---- memory ---- */

/* Devices, and what the kernel puts into each process, are memory of nobody's. */
static bool is_memory_of_processes(const struct map_row *row)
{
	const struct span path = span_of(row->path);
	if (!(row->flags & MAP_IS_SHARED) || row->inode == 0 || path.len == 0 || path.p[0] != '/')
		return false;
	return !span_starts(path, "/dev/") || span_starts(path, "/dev/shm/") || span_starts(path, "/dev/zero");
}

static uint64_t memory_id(const struct map_row *row)
{
	return hash_mix(row->inode + ((uint64_t)row->dev << 40));
}

static int shared_row_order(const void *a, const void *b)
{
	const struct shared_row *x = a, *y = b;
	return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->pid > y->pid) - (x->pid < y->pid);
}

static void rows_of(struct polled *x, struct waitproc *p)
{
	const struct maps *m = waitproc_maps(x->l, p);
	for (size_t i = 0; m && i < m->n && x->n_rows < ROWS_MOST; i++) {
		if (!is_memory_of_processes(&m->rows[i]) || !(m->rows[i].flags & MAP_WRITE))
			continue;
		if (vec_room(&x->row, &x->cap_rows, x->n_rows + 1) < 0) {
			x->l->error = -ENOMEM;
			return;
		}
		x->row[x->n_rows++] = (struct shared_row){memory_id(&m->rows[i]), p->kin->pid};
	}
}

static void shared_rows_read(struct polled *x)
{
	for (size_t i = 0; i < MIN(x->l->n_procs, (size_t)PROCESSES_MOST); i++)
		if (x->l->proc[i].kin->state != 'Z')
			rows_of(x, &x->l->proc[i]);
	if (x->n_rows)
		qsort(x->row, x->n_rows, sizeof(*x->row), shared_row_order);
}

static size_t first_row(const struct polled *x, uint64_t id)
{
	return bisect(x->n_rows, mid, x->row[mid].id < id);
}

static void memory_take(struct polled *x, struct waitfact_thread *t, const struct map_row *row)
{
	const uint64_t id = memory_id(row);
	struct waitfact *f = NULL;
	char path[72];
	pid_t last = t->pid;
	if (polled_known(x->l, t, id))
		return;
	for (size_t i = first_row(x, id); i < x->n_rows && x->row[i].id == id; i++) {
		if (x->row[i].pid == t->pid || x->row[i].pid == last)
			continue;
		if (!f && !(f = polled_add(x->l, t, WAITFACT_SHARED, id)))
			return;
		last = x->row[i].pid;
		waitfact_holder_append(x->l, f, last);
	}
	span_copy(span_of(row->path), path, sizeof(path));
	if (f)
		TEXT_FORMAT(f->text, "shared memory %s", path);
}

static void memories_take(struct polled *x, struct waitproc *p, struct waitfact_thread *t)
{
	const struct maps *m = waitproc_maps(x->l, p);
	for (size_t i = 0; m && i < m->n && t->n_polled < THINGS_MOST; i++)
		if (is_memory_of_processes(&m->rows[i]))
			memory_take(x, t, &m->rows[i]);
}

/* ---- locks of files ---- */

static void locks_list(struct polled *x)
{
	struct span text = waitlook_locks(x->l), line;
	struct filelock lock;
	while (span_line(&text, &line) && x->n_locks < LOCKS_MOST) {
		if (filelock_parse(line, &lock) != 0 || !lock.write || lock.waits || lock.pid <= 0 ||
		    !kinship_find(&x->l->kin, lock.pid))
			continue;
		if (vec_room(&x->lock, &x->cap_locks, x->n_locks + 1) < 0) {
			x->l->error = -ENOMEM;
			return;
		}
		x->lock[x->n_locks++] = lock;
	}
}

/* True if an ancestor has this file by the same number, so that its descendant may have it from there. */
static bool is_inherited(const struct polled *x, struct waitproc *ancestor, int fd, uint64_t inode)
{
	struct fdinfo info;
	if (!ancestor->fds_read)
		return true;
	return fdtable_info(x->l->w, &ancestor->fds, fd, &info) == 0 && (info.has & FDINFO_INODE) &&
	       info.inode == inode;
}

/*
 * True if the lock may keep this process from getting its own by this descriptor. The lock of an ancestor may only if
 * the process has opened the file itself: as a rule it has inherited it, and has no use for it. fd < 0: by any.
 */
static bool is_in_the_way(const struct polled *x, const struct filelock *lock, pid_t of, int fd)
{
	if (lock->pid == of || !kinship_descends(&x->l->kin, of, lock->pid))
		return lock->pid != of;
	struct waitproc *ancestor = polled_process(x->l, lock->pid);
	return ancestor && (fd < 0 || !is_inherited(x, ancestor, fd, lock->inode));
}

/* Who has this file locked, if the process has no lock on it itself. */
static void polled_file_take(struct polled *x, struct waitproc *p, struct waitfact_thread *t, int fd)
{
	struct fdinfo info;
	struct waitmount m;
	struct waitfact *f = NULL;
	char name[96];
	if (fdtable_info(x->l->w, &p->fds, fd, &info) != 0 || !(info.has & FDINFO_INODE) ||
	    !(info.has & FDINFO_MOUNT) || info.locks || !waitmount_by_id(waitproc_mounts(x->l, p), info.mount_id, &m))
		return;
	const uint64_t id = hash_mix(info.inode + ((uint64_t)m.major << 52) + ((uint64_t)m.minor << 40)) ^ 1;
	if (polled_known(x->l, t, id))
		return;
	for (size_t i = 0; i < x->n_locks; i++) {
		const struct filelock *lock = &x->lock[i];
		if (lock->inode != info.inode || lock->major != m.major || lock->minor != m.minor ||
		    !is_in_the_way(x, lock, t->pid, fd))
			continue;
		if (!f && !(f = polled_add(x->l, t, WAITFACT_FILE_LOCK, id)))
			return;
		waitfact_holder_add(x->l, f, lock->pid, 0);
	}
	if (!f)
		return;
	waitlook_link(x->l, t->pid, fd, name, sizeof(name));
	TEXT_FORMAT(f->text, "lock of %s", name);
	f->owner = f->n_holders == 1;
}

static void files_take(struct polled *x, struct waitproc *p, struct waitfact_thread *t)
{
	size_t looked = 0, in_the_way = 0;
	for (size_t i = 0; i < x->n_locks && in_the_way == 0; i++)
		in_the_way += is_in_the_way(x, &x->lock[i], t->pid, -1);
	for (size_t i = 0; in_the_way > 0 && i < p->fds.n && looked < FILES_MOST && t->n_polled < THINGS_MOST; i++) {
		const struct fdentry *e = &p->fds.entry[i];
		if (e->kind != FD_FILE || e->fd < STANDARD_FDS)
			continue;
		looked++;
		polled_file_take(x, p, t, e->fd);
	}
}

void waitlook_polled(struct waitlook *l)
{
	cleanup(polled_done) struct polled x = {.l = l};
	bool read = false;
	size_t running = 0;
	for (size_t i = 0; i < l->f->n_threads; i++)
		running += l->f->thread[i].runs && l->f->thread[i].tid == l->f->thread[i].pid;
	for (size_t i = 0; i < l->f->n_threads && l->error == 0; i++) {
		struct waitfact_thread *t = &l->f->thread[i];
		bool naps = may_poll(l->f, t), spins = may_spin(t, running);
		struct waitproc *p = naps || spins ? polled_process(l, t->pid) : NULL;
		if (!p || (naps && !p->fds_read))
			continue;
		if (!read) {
			locks_list(&x);
			shared_rows_read(&x);
			read = true;
		}
		if (naps)
			files_take(&x, p, t);
		memories_take(&x, p, t);
	}
}
