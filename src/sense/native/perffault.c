#include "sense/native/perffault.h"

#include <string.h>

/*
 * Bytes of stack in a sample: enough for some dozen frames. The outer frames change seldom and are read from memory
 * later.
 */
#define STACK_BYTES 16384
#define RING_PAGES 32
#define RECORD_MAX 65536

#if defined(__x86_64__)
#include <asm/perf_regs.h>
/* In the order of struct unwind_regs, which is DWARF's. */
static const uint8_t order[] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,	PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,	PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP};
#else
static const uint8_t order[] = {0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
				17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#endif

static uint64_t regs_mask(void)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		mask |= UINT64_C(1) << order[i];
	return mask;
}

int perffault_open(pid_t tid, struct perffault *ret)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = PERFFAULT_PERIOD,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_regs_user = regs_mask(),
		.sample_stack_user = STACK_BYTES,
		.wakeup_events = 1,
	};
	*ret = (struct perffault){.tid = tid};
	return perfring_open(&a, tid, RING_PAGES, &ret->ring);
}

void perffault_close(struct perffault *p)
{
	perfring_close(&p->ring);
}

struct cursor {
	const uint8_t *at, *end;
};

static bool take_bytes(struct cursor *c, void *into, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	memcpy(into, c->at, n);
	c->at += n;
	return true;
}

/* The kernel writes the registers of the mask from the lowest bit on. */
static bool take_regs(struct cursor *c, struct unwind_regs *ret)
{
	uint64_t abi, mask = regs_mask(), value[64] = {0};
	if (!take_bytes(c, &abi, sizeof(abi)))
		return false;
	*ret = (struct unwind_regs){.valid = 0};
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	for (unsigned bit = 0; bit < 64; bit++)
		if ((mask >> bit & 1) && !take_bytes(c, &value[bit], sizeof(value[bit])))
			return false;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		ret->reg[i] = value[order[i]];
	ret->valid = (UINT64_C(1) << ARRAY_SIZE(order)) - 1;
	return true;
}

/* The record holds the size, that many bytes, and how many of them belong to the stack. */
static bool take_stack(struct cursor *c, const struct unwind_regs *regs, struct unwind_stack *ret)
{
	uint64_t size, real = 0;
	ret->sp = unwind_sp(regs);
	ret->n_bytes = 0;
	if (!take_bytes(c, &size, sizeof(size)))
		return false;
	if (size == 0)
		return true;
	if (size > (size_t)(c->end - c->at) || size > sizeof(ret->bytes))
		return false;
	memcpy(ret->bytes, c->at, size);
	c->at += size;
	if (!take_bytes(c, &real, sizeof(real)) || real > size)
		return false;
	ret->n_bytes = real;
	return true;
}

int perffault_parse(const uint8_t *record, size_t len, struct perffault_sample *ret, enum perffault_record *ret_kind,
		    uint64_t *ret_lost)
{
	struct perf_event_header h;
	struct cursor c = {record, record + len};
	uint32_t ids[2];
	uint64_t lost[2];
	if (!take_bytes(&c, &h, sizeof(h)) || h.size != len)
		return -EBADMSG;
	*ret_kind = PERFFAULT_OTHER;
	if (h.type == PERF_RECORD_LOST) {
		if (!take_bytes(&c, lost, sizeof(lost)))
			return -EBADMSG;
		*ret_lost = lost[1];
		*ret_kind = PERFFAULT_LOST;
		return 0;
	}
	if (h.type != PERF_RECORD_SAMPLE)
		return 0;
	if (!take_bytes(&c, ids, sizeof(ids)) || !take_bytes(&c, &ret->addr, sizeof(ret->addr)) ||
	    !take_regs(&c, &ret->regs) || !take_stack(&c, &ret->regs, &ret->stack))
		return -EBADMSG;
	ret->pid = (pid_t)ids[0];
	ret->tid = (pid_t)ids[1];
	*ret_kind = PERFFAULT_SAMPLE;
	return 0;
}

bool perffault_next(struct perffault *p, struct perffault_sample *ret)
{
	static uint8_t record[RECORD_MAX];
	size_t size;
	while ((size = perfring_next(&p->ring, record, sizeof(record))) > 0) {
		enum perffault_record kind;
		uint64_t lost = 0;
		if (perffault_parse(record, size, ret, &kind, &lost) < 0)
			continue;
		p->lost += lost;
		if (kind == PERFFAULT_SAMPLE)
			return true;
	}
	return false;
}
