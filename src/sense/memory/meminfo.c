#include "sense/memory/meminfo.h"

#include <string.h>

/*
 * Upper bound of a plausible value: x86 and arm64 address at most 2^52 bytes. A larger number is a counter that went
 * below zero, or garbage.
 */
#define MEMINFO_PLAUSIBLE_BYTES (UINT64_C(1) << 56)

/* The names in the order of the kernel; the order only makes parsing faster. */
#define NAME(text)                                                                                                     \
	{                                                                                                              \
		(text), sizeof(text) - 1                                                                               \
	}
static const struct span field_names[MEMINFO_MAX] = {
	[MEMINFO_TOTAL] = NAME("MemTotal"),
	[MEMINFO_FREE] = NAME("MemFree"),
	[MEMINFO_AVAILABLE] = NAME("MemAvailable"),
	[MEMINFO_BUFFERS] = NAME("Buffers"),
	[MEMINFO_CACHED] = NAME("Cached"),
	[MEMINFO_SWAP_CACHED] = NAME("SwapCached"),
	[MEMINFO_ACTIVE_FILE] = NAME("Active(file)"),
	[MEMINFO_INACTIVE_FILE] = NAME("Inactive(file)"),
	[MEMINFO_UNEVICTABLE] = NAME("Unevictable"),
	[MEMINFO_MLOCKED] = NAME("Mlocked"),
	[MEMINFO_SWAP_TOTAL] = NAME("SwapTotal"),
	[MEMINFO_SWAP_FREE] = NAME("SwapFree"),
	[MEMINFO_DIRTY] = NAME("Dirty"),
	[MEMINFO_WRITEBACK] = NAME("Writeback"),
	[MEMINFO_ANON] = NAME("AnonPages"),
	[MEMINFO_SHMEM] = NAME("Shmem"),
	[MEMINFO_SLAB_RECLAIMABLE] = NAME("SReclaimable"),
	[MEMINFO_HUGETLB] = NAME("Hugetlb"),
};

/* Index of a name; the search begins at `from`, since lines come in the order of the table. */
static size_t field_index(struct span name, size_t from)
{
	for (size_t i = 0; i < MEMINFO_MAX; i++) {
		size_t f = from + i < MEMINFO_MAX ? from + i : from + i - MEMINFO_MAX;
		if (name.len == field_names[f].len && memcmp(name.p, field_names[f].p, name.len) == 0)
			return f;
	}
	return MEMINFO_MAX;
}

static void field_take(struct meminfo *m, size_t f, struct span value)
{
	const uint32_t bit = UINT32_C(1) << f;
	uint64_t kib, bytes;
	int r = span_u64_prefix(span_trim(value), &kib);
	if (r == -EINVAL)
		return;
	if (r < 0) {
		bytes = MEMINFO_PLAUSIBLE_BYTES;
		m->clamped |= bit;
	} else if ((int64_t)kib < 0) {
		/* A difference that went below zero and was printed unsigned: counts as 0. */
		bytes = f == MEMINFO_TOTAL ? MEMINFO_PLAUSIBLE_BYTES : 0;
		m->clamped |= bit;
	} else if (kib > MEMINFO_PLAUSIBLE_BYTES / KIB) {
		bytes = MEMINFO_PLAUSIBLE_BYTES;
		m->clamped |= bit;
	} else {
		bytes = kib * KIB;
	}
	m->bytes[f] = bytes;
	m->valid |= bit;
}

static void field_cap(struct meminfo *m, size_t f, uint64_t cap)
{
	if (m->bytes[f] <= cap)
		return;
	m->bytes[f] = cap;
	m->clamped |= UINT32_C(1) << f;
}

/* Clamps each value to its total. Swap has its own total; without a total for swap, swap is 0. */
static void fields_cap(struct meminfo *m)
{
	for (size_t f = MEMINFO_FREE; f < MEMINFO_MAX; f++) {
		if (f == MEMINFO_SWAP_TOTAL)
			continue;
		field_cap(m, f, f == MEMINFO_SWAP_FREE ? m->bytes[MEMINFO_SWAP_TOTAL] : m->bytes[MEMINFO_TOTAL]);
	}
}

/*
 * Estimate for kernels before 3.14: free memory plus half of the cache and slab, as the other half may be in use or
 * below the watermarks.
 */
static uint64_t available_estimate(const struct meminfo *m)
{
	uint64_t cache = m->bytes[MEMINFO_ACTIVE_FILE] + m->bytes[MEMINFO_INACTIVE_FILE];
	if (!meminfo_has(m, MEMINFO_ACTIVE_FILE) || !meminfo_has(m, MEMINFO_INACTIVE_FILE))
		cache = sub_floor(m->bytes[MEMINFO_CACHED] + m->bytes[MEMINFO_BUFFERS], m->bytes[MEMINFO_SHMEM]);
	uint64_t sum = m->bytes[MEMINFO_FREE] + (cache + m->bytes[MEMINFO_SLAB_RECLAIMABLE]) / 2;
	return MIN(sum, m->bytes[MEMINFO_TOTAL]);
}

int meminfo_parse(struct span text, struct meminfo *ret)
{
	struct meminfo m = {};
	struct span line;
	size_t next = 0;
	while (span_line(&text, &line)) {
		const char *colon = memchr(line.p, ':', line.len);
		if (!colon)
			continue;
		struct span name = {line.p, (size_t)(colon - line.p)};
		size_t f = field_index(name, next);
		if (f == MEMINFO_MAX)
			continue;
		field_take(&m, f, (struct span){colon + 1, line.len - name.len - 1});
		next = f + 1;
	}
	if (!meminfo_has(&m, MEMINFO_TOTAL) || m.bytes[MEMINFO_TOTAL] == 0)
		return -EBADMSG;
	fields_cap(&m);
	if (!meminfo_has(&m, MEMINFO_AVAILABLE)) {
		m.bytes[MEMINFO_AVAILABLE] = available_estimate(&m);
		m.valid |= UINT32_C(1) << MEMINFO_AVAILABLE;
		m.clamped |= UINT32_C(1) << MEMINFO_AVAILABLE;
	}
	*ret = m;
	return 0;
}

int meminfo_read(int fd, struct meminfo *ret)
{
	char text[8192]; /* the file has about 60 lines of 28 bytes */
	if (fd < 0)
		return -EBADF;
	ssize_t n;
	do
		n = pread(fd, text, sizeof(text), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return meminfo_parse((struct span){text, (size_t)n}, ret);
}
