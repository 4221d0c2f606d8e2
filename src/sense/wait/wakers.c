#include "sense/wait/wakers.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mask/mask.h"
#include "base/text.h"
#include "base/units.h"
#include "sense/bpf/bpfcall.h"
#include "sense/bpf/bpfload.h"
#include "sense/bpf/records.h"

#define BATCH 256

struct wakers {
	struct bpf_wakers_fds fds;
	int link_fd; /* -1: off */
	uint64_t tick_ns;
};

/* ---- kinds of calls ---- */

#define BIT_OF(kind) (1u << (kind))
#define READ_OR_POLL (BIT_OF(WAKE_READ) | BIT_OF(WAKE_POLL))
#define WRITE_OR_POLL (BIT_OF(WAKE_WRITE) | BIT_OF(WAKE_POLL))
/* The end of a descriptor ends every wait on it; so does the end of a thread or process, which closes them. */
#define ALL_FD (READ_OR_POLL | WRITE_OR_POLL)

static const struct call_kind {
	int64_t nr;
	enum wake_kind waits;
	uint32_t ends; /* BIT_OF */
} calls[] = {
	{SYS_futex, WAKE_LOCK, BIT_OF(WAKE_LOCK)},
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, WAKE_LOCK, 0},
#endif
#ifdef SYS_futex_wait
	{SYS_futex_wait, WAKE_LOCK, 0},
	{SYS_futex_wake, WAKE_NONE, BIT_OF(WAKE_LOCK)},
	{SYS_futex_requeue, WAKE_NONE, BIT_OF(WAKE_LOCK)},
#endif
	{SYS_read, WAKE_READ, WRITE_OR_POLL},
	{SYS_readv, WAKE_READ, WRITE_OR_POLL},
	{SYS_recvfrom, WAKE_READ, WRITE_OR_POLL},
	{SYS_recvmsg, WAKE_READ, WRITE_OR_POLL},
	{SYS_recvmmsg, WAKE_READ, WRITE_OR_POLL},
	{SYS_accept, WAKE_READ, 0},
	{SYS_accept4, WAKE_READ, 0},
	{SYS_connect, WAKE_NONE, READ_OR_POLL},
	{SYS_write, WAKE_WRITE, READ_OR_POLL},
	{SYS_writev, WAKE_WRITE, READ_OR_POLL},
	{SYS_sendto, WAKE_WRITE, READ_OR_POLL},
	{SYS_sendmsg, WAKE_WRITE, READ_OR_POLL},
	{SYS_sendmmsg, WAKE_WRITE, READ_OR_POLL},
	{SYS_sendfile, WAKE_WRITE, ALL_FD},
	{SYS_splice, WAKE_READ, ALL_FD},
	{SYS_tee, WAKE_READ, ALL_FD},
	{SYS_vmsplice, WAKE_WRITE, ALL_FD},
	{SYS_shutdown, WAKE_NONE, ALL_FD},
	{SYS_close, WAKE_NONE, ALL_FD},
	{SYS_dup3, WAKE_NONE, ALL_FD},
#ifdef SYS_dup2
	{SYS_dup2, WAKE_NONE, ALL_FD},
#endif
#ifdef SYS_close_range
	{SYS_close_range, WAKE_NONE, ALL_FD},
#endif
	{SYS_io_uring_enter, WAKE_NONE, ALL_FD},
	{SYS_epoll_pwait, WAKE_POLL, 0},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, WAKE_POLL, 0},
#endif
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, WAKE_POLL, 0},
#endif
	{SYS_semop, WAKE_IPC, BIT_OF(WAKE_IPC)},
	{SYS_semtimedop, WAKE_IPC, BIT_OF(WAKE_IPC)},
	{SYS_semctl, WAKE_NONE, BIT_OF(WAKE_IPC)},
	{SYS_msgrcv, WAKE_IPC, BIT_OF(WAKE_IPC)},
	{SYS_msgsnd, WAKE_IPC, BIT_OF(WAKE_IPC)},
	{SYS_exit, WAKE_NONE, BIT_OF(WAKE_LOCK) | ALL_FD},
	{SYS_exit_group, WAKE_NONE, BIT_OF(WAKE_LOCK) | ALL_FD},
};

enum wake_kind wake_kind_of(int64_t nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return calls[i].waits;
	return WAKE_NONE;
}

/* ---- maps and the program, without libbpf ---- */

static union bpf_attr element(int fd, const void *key, void *value)
{
	union bpf_attr a;
	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)fd;
	a.key = (uint64_t)(uintptr_t)key;
	a.value = (uint64_t)(uintptr_t)value;
	return a;
}

static int element_set(int fd, const void *key, void *value)
{
	union bpf_attr a = element(fd, key, value);
	return bpf_call(BPF_MAP_UPDATE_ELEM, &a);
}

static int load(struct bpf_wakers_fds *ret, char *why, size_t cap)
{
	uint16_t waits[BPF_WAKER_CALLS] = {0}, ends[BPF_WAKER_CALLS] = {0};
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call_kind *c = &calls[i];
		if (c->nr < 0 || c->nr >= BPF_WAKER_CALLS)
			continue;
		waits[c->nr] = c->waits ? (uint16_t)BIT_OF(c->waits) : 0;
		ends[c->nr] = (uint16_t)c->ends;
	}
	return bpf_wakers_load(waits, ends, ret, why, cap);
}

int wakers_open(const struct world *w, struct wakers **ret, char *why, size_t cap)
{
	struct bpf_wakers_fds fds;
	if (!bpf_sees_numbers(w) || w->ticks_per_s == 0) {
		(void)text_copy(why, cap,
				"seeing who ends waits takes the machine's own process numbers, and vigil runs in a "
				"container that has others");
		return WORLD_ABSENT;
	}
	struct wakers *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	int r = load(&fds, why, cap);
	if (r) {
		free(k);
		return r;
	}
	*k = (struct wakers){.fds = fds, .link_fd = -1, .tick_ns = NS_PER_S / w->ticks_per_s};
	*ret = k;
	return 0;
}

struct wakers *wakers_free(struct wakers *k)
{
	if (!k)
		return NULL;
	wakers_off(k);
	closep(&k->fds.prog_fd);
	closep(&k->fds.pairs_fd);
	closep(&k->fds.watched_fd);
	closep(&k->fds.asked_fd);
	free(k);
	return NULL;
}

int wakers_watch(struct wakers *k, pid_t pid, uint32_t job)
{
	uint32_t key = (uint32_t)pid;
	return element_set(k->fds.watched_fd, &key, &job);
}

void wakers_clear(struct wakers *k)
{
	struct waker_row row[BATCH];
	size_t n = 0;
	bpf_numbers_clear(k->fds.watched_fd, WAKERS_PROCESSES);
	bpf_numbers_clear(k->fds.asked_fd, WAKERS_PROCESSES);
	for (size_t turn = 0; turn <= WAKERS_ROWS / BATCH; turn++)
		if (wakers_take(k, row, BATCH, &n) < 0 || n == 0)
			return;
}

int wakers_on(struct wakers *k)
{
	if (k->link_fd >= 0)
		return 0;
	int fd = bpf_tracepoint_open(k->fds.prog_fd);
	if (fd < 0)
		return fd;
	k->link_fd = fd;
	return 0;
}

void wakers_off(struct wakers *k)
{
	closep(&k->link_fd);
}

/* ---- what was counted ---- */

static void thread_take(const struct wakers *k, uint32_t tid, const struct bpf_waker_thread *t,
			struct waker_thread *ret)
{
	*ret = (struct waker_thread){.tid = (pid_t)tid};
	if (tid == 0)
		return;
	ret->pid = (pid_t)t->tgid;
	ret->start_ticks = t->start_boot_ns / k->tick_ns;
	ret->process_start_ticks = t->process_start_boot_ns / k->tick_ns;
	span_copy((struct span){t->comm, strnlen(t->comm, sizeof(t->comm))}, ret->name, sizeof(ret->name));
	mask_name(ret->name);
}

struct waker_reading {
	const struct wakers *k;
	struct waker_row *row;
	struct bpf_waker_key key[BPF_ROWS_AT_ONCE];
	struct bpf_waker_count value[BPF_ROWS_AT_ONCE];
};

static void waker_row_take(void *ctx, size_t row, size_t at)
{
	struct waker_reading *reading = ctx;
	const struct bpf_waker_key *key = &reading->key[at];
	const struct bpf_waker_count *c = &reading->value[at];
	struct waker_row *ret = &reading->row[row];
	*ret = (struct waker_row){.kind = wake_kind_of(key->nr), .arg = key->arg, .n = c->n};
	thread_take(reading->k, key->wakee, &c->wakee, &ret->wakee);
	thread_take(reading->k, key->waker, &c->waker, &ret->waker);
}

int wakers_take(struct wakers *k, struct waker_row *row, size_t cap, size_t *ret_n)
{
	struct waker_reading reading = {.k = k, .row = row};
	const struct bpf_rows rows = {k->fds.pairs_fd, reading.key, reading.value, waker_row_take, &reading};
	return bpf_rows_read(&rows, true, cap, ret_n);
}

int wakers_ask(struct wakers *k, pid_t tid, uint64_t turns, uint64_t arg)
{
	struct bpf_waker_asked a = {.arg = arg, .turns = turns};
	uint32_t key = (uint32_t)tid;
	return element_set(k->fds.asked_fd, &key, &a);
}

bool wakers_answer(struct wakers *k, pid_t tid, struct waker_thread *ret)
{
	struct bpf_waker_asked a;
	uint32_t key = (uint32_t)tid;
	union bpf_attr look = element(k->fds.asked_fd, &key, &a), drop = element(k->fds.asked_fd, &key, NULL);
	bool there = bpf_call(BPF_MAP_LOOKUP_ELEM, &look) == 0;
	ignore(bpf_call(BPF_MAP_DELETE_ELEM, &drop), "it may not be there");
	if (!there || !a.answered)
		return false;
	thread_take(k, a.waker, &a.by, ret);
	return true;
}
