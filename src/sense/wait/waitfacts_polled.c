/*
 * What a thread may be looking at that never blocks on it: memory that other processes may write, and files that it
 * has open and others have locked. A loop that tries, sleeps for a moment and tries again leaves no other trace.
 */
#include <string.h>

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
/* Processes whose mappings are read. */
#define PROCESSES_MOST 256
/* A log that others lock is often inherited as one of these. */
#define STANDARD_FDS 3

static struct waitproc *polled_process(struct waitlook *l, pid_t pid)
{
	for (size_t i = 0; i < l->n_procs; i++)
		if (l->proc[i].kin->pid == pid)
			return &l->proc[i];
	return NULL;
}

static bool may_poll(const struct waitfacts *f, const struct waitfact_thread *t)
{
	const struct waitfact *only = t->n == 1 ? &f->fact[t->first] : NULL;
	if (t->tid != t->pid || t->ended)
		return false;
	return t->runs || (only && only->kind == WAITFACT_CLOCK && t->timed &&
			   MAX(t->limit_ns, t->left_ns) <= NAP_MOST_NS);
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

static struct waitfact *polled_find(const struct waitlook *l, const struct waitfact_thread *t, enum waitfact_kind kind,
				    uint64_t id)
{
	for (uint32_t i = 0; i < t->n_polled; i++) {
		struct waitfact *f = &l->f->fact[t->first_polled + i];
		if (f->kind == kind && f->id == id)
			return f;
	}
	return NULL;
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

static bool may_write_it(struct waitlook *l, struct waitproc *p, const struct map_row *row)
{
	const struct maps *m = waitproc_maps(l, p);
	const uint8_t flags = MAP_IS_SHARED | MAP_WRITE;
	for (size_t i = 0; m && i < m->n; i++) {
		const struct map_row *r = &m->rows[i];
		if (r->inode == row->inode && r->dev == row->dev && (r->flags & flags) == flags)
			return true;
	}
	return false;
}

static void memory_take(struct waitlook *l, struct waitproc *own, struct waitfact_thread *t, const struct map_row *row)
{
	const uint64_t id = hash_mix(row->inode + ((uint64_t)row->dev << 40));
	struct waitfact *f = NULL;
	char path[72];
	if (polled_find(l, t, WAITFACT_SHARED, id))
		return;
	for (size_t i = 0; i < MIN(l->n_procs, (size_t)PROCESSES_MOST); i++) {
		struct waitproc *p = &l->proc[i];
		if (p == own || p->kin->state == 'Z' || !may_write_it(l, p, row))
			continue;
		if (!f && !(f = polled_add(l, t, WAITFACT_SHARED, id)))
			return;
		waitfact_holder_append(l, f, p->kin->pid);
	}
	span_copy(span_of(row->path), path, sizeof(path));
	if (f)
		TEXT_FORMAT(f->text, "shared memory %s", path);
}

static void memories_take(struct waitlook *l, struct waitproc *p, struct waitfact_thread *t)
{
	const struct maps *m = waitproc_maps(l, p);
	for (size_t i = 0; m && i < m->n && t->n_polled < THINGS_MOST; i++)
		if (is_memory_of_processes(&m->rows[i]))
			memory_take(l, p, t, &m->rows[i]);
}

/* ---- locks of files ---- */

/* True if the lock may keep this process from getting its own. */
static bool is_in_the_way(const struct waitlook *l, const struct filelock *lock, pid_t of)
{
	return lock->write && !lock->waits && lock->pid > 0 && lock->pid != of && kinship_find(&l->kin, lock->pid) &&
	       !kinship_descends(&l->kin, of, lock->pid);
}

static bool anything_is_locked(struct waitlook *l, pid_t of)
{
	struct span text = waitlook_locks(l), line;
	struct filelock lock;
	while (span_line(&text, &line))
		if (filelock_parse(line, &lock) == 0 && is_in_the_way(l, &lock, of))
			return true;
	return false;
}

/* Who has this file locked, if the process has no lock on it itself. */
static void polled_file_take(struct waitlook *l, struct waitproc *p, struct waitfact_thread *t, int fd)
{
	struct fdinfo info;
	struct waitmount m;
	struct waitfact *f = NULL;
	struct span text = waitlook_locks(l), line;
	struct filelock lock;
	if (fdtable_info(l->w, &p->fds, fd, &info) != 0 || !(info.has & FDINFO_INODE) || !(info.has & FDINFO_MOUNT) ||
	    info.locks || !waitmount_by_id(waitproc_mounts(l, p), info.mount_id, &m))
		return;
	const uint64_t id = hash_mix(info.inode + ((uint64_t)m.major << 52) + ((uint64_t)m.minor << 40));
	if (polled_find(l, t, WAITFACT_FILE_LOCK, id))
		return;
	while (span_line(&text, &line)) {
		if (filelock_parse(line, &lock) != 0 || lock.inode != info.inode || lock.major != m.major ||
		    lock.minor != m.minor || !is_in_the_way(l, &lock, t->pid))
			continue;
		if (!f && !(f = polled_add(l, t, WAITFACT_FILE_LOCK, id)))
			return;
		waitfact_holder_add(l, f, lock.pid, 0);
	}
	if (!f)
		return;
	char name[96];
	waitlook_link(l, t->pid, fd, name, sizeof(name));
	TEXT_FORMAT(f->text, "lock of %s", name);
	f->owner = f->n_holders == 1;
}

static void files_take(struct waitlook *l, struct waitproc *p, struct waitfact_thread *t)
{
	size_t looked = 0;
	if (!anything_is_locked(l, t->pid))
		return;
	for (size_t i = 0; i < p->fds.n && looked < FILES_MOST && t->n_polled < THINGS_MOST; i++) {
		const struct fdentry *e = &p->fds.entry[i];
		if (e->kind != FD_FILE || e->fd < STANDARD_FDS)
			continue;
		looked++;
		polled_file_take(l, p, t, e->fd);
	}
}

void waitlook_polled(struct waitlook *l)
{
	for (size_t i = 0; i < l->f->n_threads && l->error == 0; i++) {
		struct waitfact_thread *t = &l->f->thread[i];
		struct waitproc *p = may_poll(l->f, t) ? polled_process(l, t->pid) : NULL;
		if (!p || !p->fds_read)
			continue;
		files_take(l, p, t);
		memories_take(l, p, t);
	}
}
