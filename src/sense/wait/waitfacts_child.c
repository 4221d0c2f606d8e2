/* wait4, waitid and vfork; and waits for signals, that of a child's end among them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/wait/waitfacts_parts.h"

/* linux/wait.h: children of any kind, as debuggers ask for; a tracer also waits for what it traces. */
#define WAIT_OF_CLONES (UINT64_C(0x40000000) | UINT64_C(0x80000000))

enum child_choice { CHILD_ANY, CHILD_ONE, CHILD_GROUP, CHILD_PIDFD };

static enum child_choice child_choice(const struct waiting *c, pid_t *ret_id)
{
	const uint64_t *arg = c->tw->arg;
	*ret_id = 0;
	if (c->tw->nr == SYS_wait4) {
		const int32_t pid = (int32_t)arg[0];
		*ret_id = pid < 0 ? -pid : pid;
		return pid == -1 ? CHILD_ANY : pid > 0 ? CHILD_ONE : CHILD_GROUP;
	}
	*ret_id = (pid_t)(int32_t)arg[1];
	switch (arg[0]) {
	case P_PID:
		return CHILD_ONE;
	case P_PGID:
		return CHILD_GROUP;
	case 3: /* P_PIDFD */
		return CHILD_PIDFD;
	default:
		return CHILD_ANY;
	}
}

/* The process of a pidfd; 0: unknown. */
static pid_t pidfd_process(struct waiting *c, int fd)
{
	struct fdinfo info;
	if (fdtable_info(c->l->w, &c->p->fds, fd, &info) != 0 || !(info.has & FDINFO_PID) || info.pid <= 0 ||
	    info.pid > INT32_MAX)
		return 0;
	return (pid_t)info.pid;
}

/* True if the process ignores SIGTERM, as whatever is started by a shell that does. */
static bool ignores_request(const struct waiting *c, pid_t pid)
{
	char path[32], text[4096], hex[32];
	size_t len;
	struct span mask;
	TEXT_FORMAT(path, "%d/status", (int)pid);
	if (file_read_at(c->l->w->proc_fd, path, text, sizeof(text), &len) != 0 ||
	    text_field((struct span){text, len}, "SigIgn:", &mask) != 0)
		return false;
	span_copy(span_trim(mask), hex, sizeof(hex));
	return strtoull(hex, NULL, 16) >> (SIGTERM - 1) & 1;
}

/* Such a wait ends when a child stops or goes on as well, which anybody may make it do. */
static bool child_may_stop(const struct waiting *c)
{
	if (!c->tw->has_syscall || (c->tw->nr != SYS_wait4 && c->tw->nr != SYS_waitid))
		return false;
	return c->tw->arg[c->tw->nr == SYS_wait4 ? 2 : 3] & (WUNTRACED | WCONTINUED);
}

static void child_fact(struct waiting *c, const pid_t *child, size_t n, bool complete)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_CHILD);
	if (!f)
		return;
	for (size_t i = 0; i < n; i++)
		waitfact_holder_add(c->l, f, child[i], 0);
	f->complete = complete && n > 0 && !child_may_stop(c);
	f->owner = n == 1;
	if (n == 1) {
		const struct kin *k = kinship_find(&c->l->kin, child[0]);
		f->id = (uint64_t)child[0];
		f->deaf = ignores_request(c, child[0]);
		TEXT_FORMAT(f->text, "end of process %d (%s)%s", (int)child[0], k ? k->comm : "?",
			    f->deaf ? ", which ignores SIGTERM" : "");
	} else {
		TEXT_FORMAT(f->text, "end of one of %zu children", n);
	}
}

/* Children that match; malformed groups give none. */
static void children_take(struct waiting *c, enum child_choice choice, pid_t id)
{
	const struct kinship *k = &c->l->kin;
	const struct kin *self = c->p->kin;
	const pid_t group = id == 0 ? self->pgrp : id;
	const bool group_known = id == 0 || waitproc_outer(c->l, c->p, self->pid) == self->pid;
	cleanup(freep) pid_t *child = malloc((k->n + 1) * sizeof(*child));
	size_t n = 0;
	if (!child) {
		c->l->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < k->n; i++)
		if (k->item[i].ppid == self->pid && (choice != CHILD_GROUP || !group_known || k->item[i].pgrp == group))
			child[n++] = k->item[i].pid;
	const uint64_t options = c->tw->arg[c->tw->nr == SYS_wait4 ? 2 : 3];
	child_fact(c, child, n, !(options & WAIT_OF_CLONES) && (choice != CHILD_GROUP || group_known));
}

void waiting_child(struct waiting *c)
{
	pid_t id = 0;
	if (!c->tw->has_syscall || (c->tw->nr != SYS_wait4 && c->tw->nr != SYS_waitid)) {
		children_take(c, CHILD_ANY, 0);
		return;
	}
	const enum child_choice choice = child_choice(c, &id);
	if (choice == CHILD_ONE || choice == CHILD_PIDFD) {
		const pid_t child = choice == CHILD_ONE ? waitproc_outer(c->l, c->p, id) : pidfd_process(c, id);
		const struct kin *k = child ? kinship_find(&c->l->kin, child) : NULL;
		child_fact(c, &child, k ? 1 : 0, true);
		return;
	}
	children_take(c, choice, id);
}

/* The newest child of the thread: it makes no other while it waits for that one to start its program. */
void waiting_vfork(struct waiting *c)
{
	char path[64], text[16384];
	size_t len;
	struct span rest, word;
	uint64_t pid, last = 0;
	TEXT_FORMAT(path, "%d/task/%d/children", (int)c->t->pid, (int)c->t->tid);
	if (file_read_at(c->l->w->proc_fd, path, text, sizeof(text), &len) != 0 || len + 1 >= sizeof(text))
		len = 0;
	rest = (struct span){text, len};
	while (span_word(&rest, &word))
		if (span_u64(word, &pid) == 0 && pid <= INT32_MAX)
			last = pid;
	const pid_t child = (pid_t)last;
	child_fact(c, &child, last ? 1 : 0, true);
}

/* ---- signals ---- */

#define SIGNAL_BIT(n) (UINT64_C(1) << ((n) - 1))
/* Those that programs send each other: no terminal, service manager or timer of the kernel's sends them. */
#define SIGNALS_OF_PROGRAMS (SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2) | SIGNAL_BIT(SIGCHLD))

/* The signals that would end the call; 0: unknown. */
static uint64_t signals_wanted(struct waiting *c)
{
	uint64_t set = 0;
	if (c->tw->nr != SYS_rt_sigtimedwait || !waiting_memory(c, c->tw->arg[0], &set, sizeof(set)))
		return 0;
	return set;
}

static bool has_one_thread(const struct waiting *c)
{
	char path[40];
	struct stat st;
	TEXT_FORMAT(path, "%d/task", (int)c->t->pid);
	return fstatat(c->l->w->proc_fd, path, &st, 0) == 0 && st.st_nlink == 3;
}

/*
 * The kernel keeps one signal of a kind: of two children that end at once one may not be told of. Those that have ended
 * have sent theirs, and one that was kept would have ended the wait.
 */
static struct waitfact *next_child_end(struct waiting *c)
{
	const struct kinship *k = &c->l->kin;
	struct waitfact *f = waitfact_add(c, WAITFACT_CHILD);
	size_t ended = 0;
	if (!f)
		return NULL;
	for (size_t i = 0; i < k->n; i++) {
		if (k->item[i].ppid != c->t->pid)
			continue;
		if (k->item[i].over)
			ended++;
		else
			waitfact_holder_add(c->l, f, k->item[i].pid, 0);
	}
	/* A namespace's first process is given the children of others; one of another user may not be seen. */
	f->complete = !k->hidden && waitproc_outer(c->l, c->p, 1) != c->t->pid;
	if (f->n_holders > 0)
		TEXT_FORMAT(f->text, "SIGCHLD of one of %u children", f->n_holders);
	else
		TEXT_FORMAT(f->text, "SIGCHLD, of %s", ended ? "children that have ended already" : "no child");
	return f;
}

bool waiting_signals(struct waiting *c, uint64_t set)
{
	struct waitfact *f = set & SIGNAL_BIT(SIGCHLD) ? next_child_end(c) : NULL;
	if (f)
		f->complete = false; /* another thread, or process, may read it first */
	return f && f->n_holders > 0 && set == SIGNAL_BIT(SIGCHLD);
}

void waiting_signal(struct waiting *c)
{
	const uint64_t set = signals_wanted(c);
	if (set == SIGNAL_BIT(SIGCHLD) && has_one_thread(c)) {
		(void)next_child_end(c);
		return;
	}
	struct waitfact *f = waitfact_add(c, WAITFACT_SIGNAL);
	if (!f)
		return;
	f->of_programs = set != 0 && !(set & ~SIGNALS_OF_PROGRAMS);
	TEXT_FORMAT(f->text, "%s", syscall_name(c->tw->nr));
}
