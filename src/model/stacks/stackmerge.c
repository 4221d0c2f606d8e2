#include "model/stacks/stackmerge.h"

/* Index of the outermost evaluation loop, where surplus Python frames are put; n if there is none. */
static size_t outermost_loop(const struct merge_native *native, size_t n)
{
	for (size_t i = n; i > 0; i--)
		if (native[i - 1].eval_loop)
			return i - 1;
	return n;
}

struct merge_result stackmerge(const struct merge_native *native, size_t n_native, const struct merge_python *python,
			       size_t n_python, bool one_each, struct merge_item *out)
{
	struct merge_result m = {0};
	size_t next = 0, outermost = outermost_loop(native, n_native);
	for (size_t i = 0; i < n_native; i++) {
		if (native[i].trampoline)
			continue;
		if (!native[i].eval_loop || next == n_python) {
			/* a loop without a Python frame, though others had one: the pairing may be wrong */
			if (native[i].eval_loop && n_python > 0)
				m.approximate = true;
			out[m.n++] = (struct merge_item){.python = false, .index = (uint32_t)i};
			continue;
		}
		bool ended = false;
		while (next < n_python && !ended) {
			ended = one_each || python[next].entry;
			out[m.n++] = (struct merge_item){.python = true, .index = (uint32_t)next++};
		}
		if (!ended || (i == outermost && next < n_python))
			m.approximate = true;
		while (i == outermost && next < n_python)
			out[m.n++] = (struct merge_item){.python = true, .index = (uint32_t)next++};
	}
	/* no evaluation loop was seen: the walk ended early, or the names of its functions are unknown */
	if (next < n_python)
		m.approximate = true;
	while (next < n_python)
		out[m.n++] = (struct merge_item){.python = true, .index = (uint32_t)next++};
	return m;
}
