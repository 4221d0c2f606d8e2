#include "sense/python/pystack_still.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/keptfds.h"
#include "sense/python/pystack_parts.h"
#include "sense/wait/threadwait.h"

#define REPEATS_LEAST 2 /* samples with the same stack before the thread is checked for standing still */
#define REST_MOST 64 /* maximum samples between two attempts for a thread that runs now and then */
#define GAIN_LEAST 2 /* samples that an attempt must save to pay off */

static void fd_close(struct still *t)
{
	if (t->fd >= 0)
		keptfds_give(1);
	closep(&t->fd);
	t->holds = false;
}

void still_done(struct still *t)
{
	fd_close(t);
	free(t->frames);
	t->frames = NULL;
}

/* Format: "run-ns wait-ns turns"; kernels that do not count write 0. */
static bool turns_read(int fd, uint64_t *ret)
{
	char text[96];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	if (n <= 0)
		return false;
	struct span s = {text, (size_t)n};
	const char *space = span_rfind(s, " ");
	if (!space)
		return false;
	struct span number = {space + 1, s.len - (size_t)(space + 1 - s.p)};
	return span_u64(span_trim(number), ret) == 0 && *ret > 0;
}

bool still_same(struct pystacks *s, struct plan *p, const struct pythread *t, struct pystack *ret)
{
	struct still *still = &p->still;
	uint64_t turns;
	if (!still->holds || s->anew)
		return false;
	if (still->tid == t->tid && turns_read(still->fd, &turns) && turns == still->turns) {
		still->gains++;
		*ret = still->stack;
		return true;
	}
	still->holds = false;
	still->rest_next = still->gains >= GAIN_LEAST ? 0 : MIN(still->rest_next * 2 + 1, (uint32_t)REST_MOST);
	still->rest = still->rest_next;
	return false;
}

static bool fd_open(struct pystacks *s, struct still *still, pid_t tid)
{
	char path[64];
	if (still->fd >= 0 && still->tid == tid)
		return true;
	fd_close(still);
	if (s->world->proc_fd < 0 || !keptfds_take())
		return false;
	TEXT_FORMAT(path, "%d/task/%d/schedstat", (int)s->r->pid, (int)tid);
	still->fd = openat(s->world->proc_fd, path, O_RDONLY | O_CLOEXEC);
	still->tid = tid;
	if (still->fd < 0)
		keptfds_give(1);
	return still->fd >= 0;
}

/* True if the thread is off its processor at this moment. */
static bool is_off(const struct pystacks *s, pid_t tid)
{
	char path[64], text[256];
	struct threadwait w = {.nr = -1};
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/syscall", (int)s->r->pid, (int)tid);
	return file_read_at(s->world->proc_fd, path, text, sizeof(text), &len) == 0 &&
	       threadwait_syscall_parse((struct span){text, len}, &w) == 0 && w.has_syscall;
}

bool still_begin(struct pystacks *s, struct plan *p, const struct pythread *t)
{
	struct still *still = &p->still;
	if (s->anew || t->tid <= 0 || still->repeats < REPEATS_LEAST)
		return false;
	if (still->rest > 0) {
		still->rest--;
		return false;
	}
	still->gains = 0;
	if (fd_open(s, still, t->tid) && turns_read(still->fd, &still->turns) && is_off(s, t->tid))
		return true;
	still->rest_next = MIN(still->rest_next * 2 + 1, (uint32_t)REST_MOST);
	still->rest = still->rest_next;
	return false;
}

static uint64_t stack_hash(const struct pystack *k)
{
	uint64_t h = k->n;
	for (size_t i = 0; i < k->n; i++)
		h = (h ^ k->frames[i].addr ^ k->frames[i].instr << 1 ^ k->frames[i].code << 2) *
		    UINT64_C(0x9fb21c651e98df25);
	return h;
}

void still_end(struct plan *p, bool began, bool whole, const struct pystack *k)
{
	struct still *still = &p->still;
	uint64_t hash = stack_hash(k);
	still->repeats = whole && hash == still->last ? still->repeats + 1 : 0;
	still->last = hash;
	still->holds = false;
	if (!began || !whole)
		return;
	if (k->n > still->cap) {
		struct pyframe *more = reallocarray(still->frames, k->n, sizeof(*more));
		if (!more)
			return;
		still->frames = more;
		still->cap = k->n;
	}
	if (k->n)
		memcpy(still->frames, k->frames, k->n * sizeof(*k->frames));
	still->stack = *k;
	still->stack.frames = still->frames;
	still->holds = true;
}
