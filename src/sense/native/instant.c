#include "sense/native/instant.h"

#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "sense/bpf/records.h"
#include "sense/bpf/bpfload.h"
#include "sense/ns.h"

/* Minimum time between two moves of our thread to another processor. */
#define STAY_NS (500 * NS_PER_MS)

struct instant {
	const struct world *world; /* borrowed */
	bool tried; /* an attempt to load it was made */
	struct bpf_instant_fds fds;
	struct bpf_instant *scratch; /* mapped from the BPF program; NULL: loading failed */
	uint64_t stay_ns; /* our thread is not moved again before */
	bool aside; /* our thread avoids a processor */
	cpu_set_t before; /* the processors it could use before that */
};

struct instant *instant_new(const struct world *w)
{
	struct instant *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->world = w;
	in->fds = (struct bpf_instant_fds){-1, -1};
	return in;
}

struct instant *instant_free(struct instant *in)
{
	if (!in)
		return NULL;
	if (in->aside)
		(void)sched_setaffinity(0, sizeof(in->before), &in->before);
	if (in->scratch)
		(void)munmap(in->scratch, sizeof(*in->scratch));
	closep(&in->fds.prog_fd);
	closep(&in->fds.map_fd);
	free(in);
	return NULL;
}

bool instant_step_aside(struct instant *in, uint32_t processor)
{
	uint64_t now_ns = in->world->mono_ns();
	if (sched_getcpu() != (int)processor || processor >= CPU_SETSIZE || now_ns < in->stay_ns)
		return false;
	in->stay_ns = now_ns + STAY_NS;
	if (!in->aside && sched_getaffinity(0, sizeof(in->before), &in->before) < 0)
		return false;
	cpu_set_t others = in->before;
	CPU_CLR(processor, &others);
	if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) < 0)
		return false;
	in->aside = true;
	return true;
}

#if defined(__x86_64__)
/* struct pt_regs (asm/ptrace.h): r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss. */
#define WORD_CALL 15 /* no number of a call where the thread was interrupted in its own code */
#define WORD_CS 17
#define WORD_SP 19
#define CALLS_MAX 1024
#define USER_CS 0x33 /* the code segment of a 64-bit program */
#define RED_ZONE_BYTES 128
/* Index in struct pt_regs for each DWARF register: ax dx cx bx si di bp sp r8 … r15 ip. */
static const uint8_t word_of[] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};

static void instant_load(struct instant *in)
{
	char why[300];
	struct stat ns;
	in->tried = true;
	if (fstatat(in->world->proc_fd, "self/ns/pid", &ns, 0) < 0 || bpf_instant_load(&in->fds, why, sizeof(why)) != 0)
		return;
	void *scratch = mmap(NULL, sizeof(*in->scratch), PROT_READ | PROT_WRITE, MAP_SHARED, in->fds.map_fd, 0);
	if (scratch == MAP_FAILED)
		return;
	in->scratch = scratch;
	if (ns.st_ino == PID_NAMESPACE_FIRST)
		return;
	in->scratch->ns_dev = (uint64_t)major(ns.st_dev) << 20 | minor(ns.st_dev); /* in the kernel's encoding */
	in->scratch->ns_ino = ns.st_ino;
}

static bool request_fill(struct bpf_instant *d, const struct instant_want *want)
{
	size_t bytes = 0;
	if (want->n_from > BPF_INSTANT_CHUNKS)
		return false;
	for (size_t i = 0; i < want->n_from; i++) {
		size_t len = want->from[i].iov_len;
		bytes = add_cap(bytes, len);
		if (bytes > BPF_INSTANT_BYTES)
			return false;
		d->chunk[i] = (struct bpf_instant_chunk){(uint64_t)(uintptr_t)want->from[i].iov_base, (uint32_t)len, 0};
	}
	d->n_chunks = (uint32_t)want->n_from;
	d->pid = want->pid;
	d->tid = want->tid;
	d->sp_word = WORD_SP;
	d->red_zone = RED_ZONE_BYTES;
	d->stack_lo = want->stack_lo;
	d->stack_end = want->stack_end;
	d->taken = d->at_chunk = d->at_byte = d->n_bytes = d->n_stack = 0;
	return true;
}

/* False also on -EINVAL and the like: a kernel without this call, or a processor that does not exist. */
static bool instant_run(const struct instant *in, uint32_t processor)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)in->fds.prog_fd;
	attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
	attr.test.cpu = processor;
	return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) == 0;
}

int instant_take(struct instant *in, const struct instant_want *want, struct instant_seen *ret)
{
	if (!in->tried)
		instant_load(in);
	struct bpf_instant *d = in->scratch;
	if (!d)
		return INSTANT_CANNOT;
	if (!request_fill(d, want))
		return INSTANT_TOO_MUCH;
	if (!instant_run(in, want->processor) || !d->taken || d->word[WORD_CS] != USER_CS)
		return INSTANT_ELSEWHERE;
	*ret->regs = (struct unwind_regs){.valid = (UINT64_C(1) << ARRAY_SIZE(word_of)) - 1};
	for (size_t i = 0; i < ARRAY_SIZE(word_of); i++)
		ret->regs->reg[i] = d->word[word_of[i]];
	ret->regs->in_call = d->word[WORD_CALL] < CALLS_MAX;
	ret->regs->call = ret->regs->in_call ? (uint32_t)d->word[WORD_CALL] : 0;
	ret->stack->sp = d->stack_from;
	ret->stack->n_bytes = MIN((size_t)d->n_stack, sizeof(ret->stack->bytes));
	memcpy(ret->stack->bytes, d->stack, ret->stack->n_bytes);
	ret->n_bytes = MIN((size_t)d->n_bytes, (size_t)BPF_INSTANT_BYTES) - d->at_byte;
	if (ret->n_bytes)
		memcpy(want->into, d->bytes, ret->n_bytes);
	ret->pause_ns = sub_floor(d->end_ns, d->begin_ns);
	return 0;
}
#else
int instant_take(struct instant *in, const struct instant_want *want, struct instant_seen *ret)
{
	(void)in;
	(void)want;
	(void)ret;
	return INSTANT_CANNOT;
}
#endif
