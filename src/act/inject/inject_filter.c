#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "act/inject/inject_parts.h"
#include "base/text.h"

/*
 * Instructions executed over all paths through one filter. Real filters have a few hundred rows and branch mostly on
 * the call number, which is known here.
 */
#define STEPS_MAX 200000

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* System calls of dlopen and of libvigil_heap.so: when attached, at a sample, at a fork. */
static const struct {
	const char *name;
	uint32_t nr;
} needed[] = {
#define CALL(name) {#name, SYS_##name}
	CALL(openat),	     CALL(read),   CALL(pread64),	CALL(write),	 CALL(close),	  CALL(fstat),
	CALL(newfstatat),    CALL(lseek),  CALL(mmap),		CALL(mprotect),	 CALL(munmap),	  CALL(mremap),
	CALL(madvise),	     CALL(mincore), CALL(brk),		CALL(futex),	 CALL(getpid),	  CALL(gettid),
	CALL(clock_gettime), CALL(prctl),  CALL(memfd_create),	CALL(ftruncate), CALL(fallocate), CALL(prlimit64),
	CALL(geteuid),
#if defined(__x86_64__)
	CALL(open),	     CALL(readlink), CALL(unlink),
#else
	CALL(readlinkat),    CALL(unlinkat),
#endif
#undef CALL
};

/* A word; unknown if it depends on the arguments of the call. */
struct word {
	uint32_t v;
	bool known;
};

struct machine {
	struct word a, x, m[BPF_MEMWORDS];
};

struct run {
	const struct sock_filter *f;
	size_t n;
	uint32_t nr;
	unsigned steps;
};

static struct word inject_filter_load(const struct run *r, uint32_t offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return (struct word){r->nr, true};
	if (offset == offsetof(struct seccomp_data, arch))
		return (struct word){ARCH, true};
	return (struct word){.known = false};
}

static struct word computed(uint16_t op, struct word a, struct word b)
{
	if (!a.known || (!b.known && op != BPF_NEG))
		return (struct word){.known = false};
	switch (op) {
	case BPF_ADD:
		return (struct word){a.v + b.v, true};
	case BPF_SUB:
		return (struct word){a.v - b.v, true};
	case BPF_MUL:
		return (struct word){a.v * b.v, true};
	case BPF_DIV:
		return (struct word){b.v ? a.v / b.v : 0, true};
	case BPF_OR:
		return (struct word){a.v | b.v, true};
	case BPF_AND:
		return (struct word){a.v & b.v, true};
	case BPF_XOR:
		return (struct word){a.v ^ b.v, true};
	case BPF_LSH:
		return (struct word){b.v < 32 ? a.v << b.v : 0, true};
	case BPF_RSH:
		return (struct word){b.v < 32 ? a.v >> b.v : 0, true};
	case BPF_NEG:
		return (struct word){0 - a.v, true};
	default:
		return (struct word){.known = false};
	}
}

/* True for a verdict that neither ends nor stops the caller: the call is allowed, or fails with an errno. */
static bool harmless(uint32_t verdict)
{
	uint32_t action = verdict & SECCOMP_RET_ACTION_FULL;
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO;
}

static bool jumps(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return (a & b) != 0;
	}
}

/* Executes one instruction that is no jump and no return; false: an instruction that the kernel refuses. */
static bool inject_filter_step(const struct run *r, struct machine *s, const struct sock_filter *i)
{
	struct word k = {i->k, true}, length = {sizeof(struct seccomp_data), true};
	bool in_memory = i->k < BPF_MEMWORDS;
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
	case BPF_LDX: {
		struct word *to = BPF_CLASS(i->code) == BPF_LD ? &s->a : &s->x;
		uint16_t mode = BPF_MODE(i->code);
		if (mode == BPF_MEM && !in_memory)
			return false;
		*to = mode == BPF_IMM   ? k
		      : mode == BPF_LEN ? length
		      : mode == BPF_MEM ? s->m[i->k]
					: inject_filter_load(r, i->k);
		return true;
	}
	case BPF_ST:
	case BPF_STX:
		if (in_memory)
			s->m[i->k] = BPF_CLASS(i->code) == BPF_ST ? s->a : s->x;
		return in_memory;
	case BPF_ALU:
		s->a = computed(BPF_OP(i->code), s->a, BPF_SRC(i->code) == BPF_X ? s->x : k);
		return true;
	case BPF_MISC:
		if (BPF_MISCOP(i->code) == BPF_TAX)
			s->x = s->a;
		else
			s->a = s->x;
		return true;
	default:
		return false;
	}
}

/* Follows all paths from row `at`, as an unknown word may take either branch. Jumps only lead forward (bpf(4)). */
static bool lets(struct run *r, size_t at, struct machine s)
{
	while (at < r->n && r->steps++ < STEPS_MAX) {
		const struct sock_filter *i = &r->f[at++];
		uint16_t class = BPF_CLASS(i->code), op = BPF_OP(i->code);
		if (class == BPF_RET) {
			struct word v = BPF_RVAL(i->code) == BPF_A ? s.a : (struct word){i->k, true};
			return v.known && harmless(v.v);
		}
		if (class == BPF_JMP && op == BPF_JA) {
			at += i->k;
		} else if (class == BPF_JMP) {
			struct word b = BPF_SRC(i->code) == BPF_X ? s.x : (struct word){i->k, true};
			if (s.a.known && b.known)
				at += jumps(op, s.a.v, b.v) ? i->jt : i->jf;
			else if (!lets(r, at + i->jt, s))
				return false;
			else
				at += i->jf;
		} else if (!inject_filter_step(r, &s, i)) {
			return false;
		}
	}
	return false;
}

bool inject_filter_lets(const struct sock_filter *f, size_t n, const char **ret_call)
{
	for (size_t c = 0; c < ARRAY_SIZE(needed); c++) {
		struct run r = {.f = f, .n = n, .nr = needed[c].nr};
		struct machine s = {.a = {0, true}, .x = {0, true}};
		if (!lets(&r, 0, s)) {
			*ret_call = needed[c].name;
			return false;
		}
	}
	return true;
}
