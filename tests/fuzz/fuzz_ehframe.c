/* Call frame information of any bytes: rows or none, never more; their expressions evaluated on any registers. */
#include <assert.h>
#include <string.h>

#include "sense/native/ehframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool memory(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	*ret = addr * UINT64_C(0x9e3779b97f4a7c15);
	return addr % 16 != 3;
}

static struct eh_section part(const uint8_t *data, size_t size, uint64_t vaddr)
{
	uint8_t *bytes = malloc(size ? size : 1);
	if (bytes)
		memcpy(bytes, data, size);
	return (struct eh_section){bytes, size, vaddr};
}

static void evaluate(const struct ehtable *t, const struct eh_rule *r)
{
	static const uint64_t reg[EH_REGS] = {1, 2, 3, 4, UINT64_MAX, 0x7fff0000, 0x7fff0100, 0x7fff0000};
	struct eh_machine m = {.reg = reg, .valid = 0xffff, .load = memory};
	uint64_t v;
	if (r->kind == EH_EXPR || r->kind == EH_VAL_EXPR)
		ignore(eh_evaluate(&m, ehtable_expression(t, r), r->len, &reg[7], &v), "any end is fine");
}

/* The first byte: how long the header is (0: none). Then header, then frames, 4096 bytes apart. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ehtable *t = NULL;
	const struct eh_row *row;
	if (size < 1 || size - 1 < data[0])
		return 0;
	size_t n_hdr = data[0], n_frame = size - 1 - n_hdr;
	struct eh_section hdr = n_hdr ? part(data + 1, n_hdr, 0x1000) : (struct eh_section){NULL, 0, 0};
	if (ehtable_from(part(data + 1 + n_hdr, n_frame, 0x2000), hdr, &t) != 0)
		return 0;
	for (uint64_t i = 0; i < 64; i++) {
		/* Close to the sections, where seeds have their functions, and far off. */
		uint64_t at = i < 48 ? 0x4000 + i * 3 : i * UINT64_C(0x0400000000000001);
		if (ehtable_row(t, at, &row) != 0)
			continue;
		assert(row->n <= EH_REGS && row->ra < EH_REGS);
		evaluate(t, &row->cfa);
		for (size_t k = 0; k < row->n; k++)
			evaluate(t, &row->what[k].rule);
	}
	ehtable_free(t);
	return 0;
}
