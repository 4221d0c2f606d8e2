#include "sense/go/golayout.h"

#include <string.h>

#include "base/buf.h"

#define BUILDINFO_MAGIC "\xff Go buildinf:"
#define BUILDINFO_HEADER 32
#define BUILDINFO_INLINE 2 /* the texts follow the header */

int goversion_parse(struct span b, char ret[static GO_VERSION_MAX])
{
	size_t magic = sizeof(BUILDINFO_MAGIC) - 1;
	if (b.len <= BUILDINFO_HEADER || memcmp(b.p, BUILDINFO_MAGIC, magic) != 0 || !(b.p[15] & BUILDINFO_INLINE))
		return GO_NONE;
	/* A length of one byte, as no version is longer than 127 bytes. */
	size_t len = (unsigned char)b.p[BUILDINFO_HEADER];
	const char *text = b.p + BUILDINFO_HEADER + 1;
	if (len == 0 || len >= GO_VERSION_MAX || len > b.len - BUILDINFO_HEADER - 1 || memcmp(text, "go", 2) != 0)
		return GO_NONE;
	span_copy((struct span){text, len}, ret, GO_VERSION_MAX);
	return 0;
}

/* "go1.26.8", "go1.26", "go1.26rc1", "go1.26.8 X:boringcrypto": 26. False: another form, as of a build from source. */
static bool minor_of(const char *version, uint64_t *ret)
{
	static const char start[] = "go1.";
	return strncmp(version, start, sizeof(start) - 1) == 0 &&
	       span_u64_prefix(span_of(version + sizeof(start) - 1), ret) == 0;
}

/* What differs between versions; the rest of g lies behind atomicstatus in the same order in all of them. */
static const struct {
	uint8_t from, to;
	struct golayout at;
} layouts[] = {
	{19,
	 19,
	 {.syscall_sp = 112, .status = 144, .tracking_seq = 189, .startpc = 312, .waiting = 328, .p_timers = 8840}},
	{21,
	 21,
	 {.syscall_sp = 112, .status = 144, .tracking_seq = 188, .startpc = 296, .waiting = 312, .p_timers = 8840}},
	{22,
	 22,
	 {.syscall_sp = 112, .status = 144, .tracking_seq = 191, .startpc = 296, .waiting = 312, .p_timers = 8872}},
	{23,
	 24,
	 {.syscall_sp = 112, .status = 152, .tracking_seq = 199, .startpc = 304, .waiting = 320, .p_timers = 8848}},
	{25,
	 25,
	 {.syscall_sp = 104, .status = 144, .tracking_seq = 191, .startpc = 296, .waiting = 312, .p_timers = 9400}},
	{26,
	 26,
	 {.syscall_sp = 104, .status = 144, .tracking_seq = 191, .startpc = 304, .waiting = 320, .p_timers = 13680}},
};

int golayout_of(const char *version, struct golayout *ret)
{
	uint64_t minor = 0;
	if (!minor_of(version, &minor))
		return GO_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (minor < layouts[i].from || minor > layouts[i].to)
			continue;
		struct golayout l = layouts[i].at;
		l.syscall_pc = (uint16_t)(l.syscall_sp + 8);
		l.goid = (uint16_t)(l.status + 8);
		l.waitsince = (uint16_t)(l.status + 24);
		l.waitreason = (uint16_t)(l.status + 32);
		l.gopc = (uint16_t)(l.startpc - 16);
		l.sudog_link = minor >= 26 ? 72 : 64;
		l.sudog_c = minor >= 26 ? 88 : 80;
		l.chan_timer = minor >= 23 ? 32 : 0;
		l.chan_type = minor >= 23 ? 40 : 32;
		l.poll_rg = minor >= 21 ? 32 : 24;
		l.timer_bytes = minor >= 23 ? 16 : 8;
		l.arena_spans = minor >= 22 ? 0 : minor == 21 ? 1064960 : 2097152;
		l.span_class = minor == 21 ? 106 : 98;
		l.span_elem = minor == 21 ? 112 : 104;
		l.gofunc = minor >= 21 ? 320 : 304;
		*ret = l;
		return 0;
	}
	return GO_UNKNOWN;
}
