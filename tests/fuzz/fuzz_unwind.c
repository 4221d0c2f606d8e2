/*
 * Native stacks of registers and memory that a process chose: 17 registers, then the stack. The mappings and tables are
 * this program's own, so that walks get far; a word of the stack with its lowest bit set is made an address of code.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sense/native/unwind.h"
#include "sense/proc/remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGS 17
#define CODE_BYTES (256 * KIB)
#define STACK_AT UINT64_C(0x7ffd00000000)

static ssize_t none_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	(void)r;
	(void)into;
	(void)n_into;
	(void)from;
	(void)n_from;
	return -EFAULT;
}

static uint64_t code_at(uint64_t word)
{
	return (uint64_t)(uintptr_t)&LLVMFuzzerTestOneInput - CODE_BYTES / 2 + word % CODE_BYTES;
}

static struct native *own(void)
{
	static const struct remote_ops ops = {.readv = none_readv};
	static struct world w;
	static struct remote r;
	static struct native *n;
	if (n)
		return n;
	w = (struct world){.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			   .sys_fd = -1,
			   .cgroup_fd = -1,
			   .shm_fd = -1,
			   .mono_ns = clock_mono_ns,
			   .unix_ms = clock_unix_ms};
	remote_open(&w, getpid(), &r);
	r.ops = &ops;
	n = native_new(natives_new(), &w, &r);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_stack stack;
	static struct unwind_trace trace;
	struct unwind_regs regs = {.valid = (UINT64_C(1) << REGS) - 1};
	struct native *n = own();
	if (!n || size < REGS * 8)
		return 0;
	memcpy(regs.reg, data, REGS * sizeof(*regs.reg));
	regs.reg[16] = code_at(regs.reg[16]);
	stack.sp = STACK_AT + (regs.reg[7] & 0xff8);
	stack.n_bytes = MIN(size - REGS * 8, sizeof(stack.bytes));
	memcpy(stack.bytes, data + REGS * 8, stack.n_bytes);
	for (size_t i = 0; i + 8 <= stack.n_bytes; i += 8) {
		uint64_t word;
		memcpy(&word, stack.bytes + i, sizeof(word));
		word = word & 1 ? code_at(word) : word & 2 ? STACK_AT + word % sizeof(stack.bytes) : word;
		memcpy(stack.bytes + i, &word, sizeof(word));
	}
	regs.reg[7] = stack.sp;
	regs.reg[6] = STACK_AT + (regs.reg[6] & 0xffff);
	trace.n = 0;
	native_unwind(n, &regs, &stack, &trace);
	assert(trace.n <= UNWIND_FRAMES);
	for (size_t i = 0; i < trace.n; i++) {
		struct native_symbol s = {.name = NULL};
		native_symbol(n, trace.frame[i].pc, trace.frame[i].exact, &s);
		assert(s.name && s.module);
	}
	return 0;
}
