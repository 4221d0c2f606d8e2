#include "sense/gpu/gpuoom.h"

#include <string.h>

#include "base/buf.h"

/* PyTorch's longest message has about 900 bytes, with eight processes in it. */
#define MESSAGE_MAX 2048

static bool blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Copies text with each run of blanks as one blank, so that line ends do not matter for the comparison. */
static size_t flatten(struct span text, char dst[static MESSAGE_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < text.len && n + 1 < MESSAGE_MAX; i++) {
		char c = text.p[i];
		if (blank(c) && (n == 0 || dst[n - 1] == ' '))
			continue;
		dst[n++] = blank(c) ? ' ' : c;
	}
	dst[n] = '\0';
	return n;
}

/* Parses "20.00 MiB" or "0 bytes" at the start of s, as PyTorch's format_size writes them. */
static struct gpuoom_size size_front(struct span s)
{
	static const struct {
		const char *name;
		double unit;
	} units[] = {{"bytes", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776.0}};
	const struct gpuoom_size none = {.valid = false};
	uint64_t whole, frac = 0, scale = 1;
	size_t at = 0;
	while (at < s.len && s.p[at] == ' ')
		at++;
	s = (struct span){s.p + at, s.len - at};
	if (span_u64_prefix(s, &whole) < 0 || whole > (UINT64_C(1) << 60))
		return none;
	for (at = 0; at < s.len && s.p[at] >= '0' && s.p[at] <= '9';)
		at++;
	if (at < s.len && s.p[at] == '.')
		for (at++; at < s.len && s.p[at] >= '0' && s.p[at] <= '9'; at++)
			if (scale < 1000000) {
				frac = frac * 10 + (uint64_t)(s.p[at] - '0');
				scale *= 10;
			}
	while (at < s.len && s.p[at] == ' ')
		at++;
	s = (struct span){s.p + at, s.len - at};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double v = ((double)whole + (double)frac / (double)scale) * units[i].unit;
		if (span_starts(s, units[i].name) && v < 1e18)
			return (struct gpuoom_size){.valid = true, .bytes = (uint64_t)(v + 0.5)};
	}
	return none;
}

static struct gpuoom_size size_after(struct span s, const char *key)
{
	struct span at = span_after(s, key);
	return at.p ? size_front(at) : (struct gpuoom_size){.valid = false};
}

/* The size right before a key: "6.94 GiB" before " already allocated". */
static struct gpuoom_size size_before(struct span s, const char *key)
{
	const char *at = span_find(s, key);
	size_t words = 0;
	if (!at)
		return (struct gpuoom_size){.valid = false};
	const char *from = at;
	while (from > s.p && words < 2) {
		from--;
		if (*from == ' ' && from + 1 < at)
			words++;
	}
	if (from < at && *from == ' ')
		from++;
	return size_front((struct span){from, (size_t)(at - from)});
}

static void device_after(struct gpuoom *g, struct span s, const char *key)
{
	struct span at = span_after(s, key);
	uint64_t v;
	if (!at.p || g->has_device || span_u64_prefix(at, &v) < 0 || v > 4096)
		return;
	g->has_device = true;
	g->device = (uint32_t)v;
}

static struct gpuoom_size sum_of(struct gpuoom_size a, struct gpuoom_size b)
{
	return (struct gpuoom_size){.valid = a.valid && b.valid, .bytes = a.bytes + b.bytes};
}

/*
 * "(GPU 0; 7.93 GiB total capacity; 6.94 GiB already allocated; 4.88 MiB free; 7.00 GiB reserved in total by
 * PyTorch)"
 */
static void in_brackets(struct gpuoom *g, struct span s)
{
	struct span in = span_before(s, ")");
	device_after(g, in, "GPU ");
	device_after(g, in, "NPU ");
	device_after(g, in, "XPU ");
	g->total = size_before(in, " total capacity");
	g->allocated = size_before(in, " already allocated");
	g->free = size_before(in, " free");
	g->allowed = size_before(in, " allowed");
	g->reserved = size_before(in, " reserved in total");
	/* PyTorch 1.0 to 1.4 reports "cached" instead: what the allocator holds beyond the tensors. */
	if (!g->reserved.valid)
		g->reserved = sum_of(g->allocated, size_before(in, " cached"));
}

static void others(struct gpuoom *g, struct span s)
{
	for (struct span at = span_after(s, "Process "); at.p; at = span_after(at, "Process ")) {
		uint64_t pid;
		if (span_u64_prefix(at, &pid) < 0 || pid == 0 || pid > INT32_MAX)
			continue;
		struct span sentence = span_before(at, " memory in use");
		struct gpuoom_size size = size_after(sentence, " has ");
		if (sentence.len == at.len || sentence.len > 60 || !size.valid)
			continue;
		g->other_bytes = add_cap(g->other_bytes, size.bytes);
		if (g->n_other < GPUOOM_OTHERS) {
			g->other[g->n_other].pid = (pid_t)pid;
			g->other[g->n_other++].bytes = size.bytes;
		}
	}
}

/*
 * In a container the driver cannot tell which process failed, and lists it among the other processes. It is the one
 * that holds what PyTorch reserved, less 16 MiB for rounding, and at most 4 GiB (a context and libraries) more than
 * that.
 */
static void take_own(struct gpuoom *g)
{
	size_t best = GPUOOM_OTHERS;
	if (g->process.valid || !g->reserved.valid)
		return;
	for (size_t i = 0; i < g->n_other; i++)
		if (g->other[i].bytes + 16 * MIB >= g->reserved.bytes &&
		    g->other[i].bytes <= g->reserved.bytes + 4 * GIB &&
		    (best == GPUOOM_OTHERS || g->other[i].bytes < g->other[best].bytes))
			best = i;
	if (best == GPUOOM_OTHERS)
		return;
	g->process = (struct gpuoom_size){.valid = true, .bytes = g->other[best].bytes};
	g->other_bytes -= g->other[best].bytes;
	for (size_t i = best + 1; i < g->n_other; i++)
		g->other[i - 1] = g->other[i];
	g->n_other--;
}

/* "GPU 0 has a total capacity of 23.69 GiB of which 17.00 MiB is free. …"; PyTorch 2.1 writes "capacty". */
static void in_sentences(struct gpuoom *g, struct span s)
{
	device_after(g, s, "GPU ");
	device_after(g, s, "NPU ");
	struct span at = span_after(s, "total capac");
	if (at.p) {
		g->total = size_after(at, " of ");
		g->free = size_after(at, " of which ");
	}
	g->allowed = size_before(s, " allowed");
	g->process = size_after(s, "this process has ");
	g->allocated = size_after(s, "Of the allocated memory ");
	g->private_pools = size_before(s, " allocated in private pools");
	g->reserved = sum_of(g->allocated, size_before(s, " is reserved by PyTorch but unallocated"));
	others(g, s);
	take_own(g);
}

bool gpuoom_parse(struct span text, struct gpuoom *ret)
{
	static const char *const kinds[] = {"CUDA", "HIP", "NPU", "XPU"};
	char flat[MESSAGE_MAX];
	struct gpuoom g = {.kind = ""};
	const char *first = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char head[32];
		TEXT_FORMAT(head, "%s out of memory.", kinds[i]);
		const char *at = span_find(text, head);
		if (at && (!first || at < first)) {
			first = at;
			TEXT_COPY(g.kind, kinds[i]);
		}
	}
	if (!first)
		return false;
	struct span s = {flat, flatten((struct span){first, text.len - (size_t)(first - text.p)}, flat)};
	/* The text is cut at a second message, so that its numbers are not mixed in. */
	struct span rest = span_before(span_after(s, " out of memory."), " out of memory.");
	g.tried = size_after(rest, "Tried to allocate ");
	const char *bracket = g.tried.valid ? span_find(rest, " (") : NULL, *capacity = span_find(rest, "total capac");
	const char *inside = span_find(rest, " total capacity;");
	if (bracket && inside && inside == capacity - 1)
		in_brackets(&g, span_after(rest, " ("));
	else
		in_sentences(&g, rest);
	if (!g.tried.valid && !g.total.valid)
		return false;
	*ret = g;
	return true;
}
