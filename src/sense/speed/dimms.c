#include "sense/speed/dimms.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"

#define TABLE_MOST MIB
#define DIMMS_MOST 1024

enum { TYPE_MEMORY_DEVICE = 17, TYPE_END = 127 };
enum { TYPE_DDR5 = 0x22 }; /* of a device */

/* Where the fields of type 17 are in the structure. */
enum {
	AT_WIDTH = 0x0a, /* of the data, in bits */
	AT_SIZE = 0x0c,
	AT_LOCATOR = 0x10,
	AT_BANK = 0x11,
	AT_TYPE = 0x12,
	AT_SPEED = 0x15, /* that the device is capable of, in millions of transfers a second */
	AT_CONFIGURED = 0x20,
	AT_LONG_SPEED = 0x54, /* where the field above it is all ones */
	AT_LONG_CONFIGURED = 0x58,
};

struct structure {
	const uint8_t *p;
	size_t len; /* without the strings */
	struct span strings;
};

struct device {
	struct span locator, bank, channel; /* channel: of both; empty: they name none */
	bool populated;
	double bytes; /* a second; 0: not known */
};

static uint64_t dimms_field(const struct structure *s, size_t at, size_t n)
{
	uint64_t v = 0;
	for (size_t i = 0; i < n && at + n <= s->len; i++)
		v |= (uint64_t)s->p[at + i] << (8 * i);
	return v;
}

/* The string of that number, of those behind the structure; 0: none. */
static struct span string_of(const struct structure *s, size_t at)
{
	struct span rest = s->strings;
	for (uint64_t n = dimms_field(s, at, 1); n > 0 && rest.len > 0; n--) {
		const size_t len = strnlen(rest.p, rest.len), used = MIN(len + 1, rest.len);
		if (n == 1)
			return span_trim((struct span){rest.p, len});
		rest.p += used;
		rest.len -= used;
	}
	return SPAN("");
}

/* Takes a structure off the front. 0; -ENOENT: that was the last one; -EBADMSG. */
static int structure_next(struct span *rest, struct structure *ret)
{
	struct structure s = {.p = (const uint8_t *)rest->p};
	if (rest->len == 0)
		return -ENOENT;
	if (rest->len < 4 || s.p[1] < 4 || s.p[1] > rest->len)
		return -EBADMSG;
	s.len = s.p[1];
	size_t end = s.len;
	while (end + 1 < rest->len && (rest->p[end] || rest->p[end + 1]))
		end++;
	if (end + 1 >= rest->len)
		return -EBADMSG;
	s.strings = (struct span){rest->p + s.len, end - s.len};
	rest->p += end + 2;
	rest->len -= end + 2;
	if (s.p[0] == TYPE_END)
		return -ENOENT;
	*ret = s;
	return 0;
}

/* DRAM of all kinds; not flash, ROM, caches, nor memory that keeps its contents. */
static bool is_dram(uint64_t type)
{
	static const uint8_t types[] = {0x03, 0x0f, 0x12, 0x13, 0x14, 0x18, 0x19, 0x1a, 0x1b,
					0x1c, 0x1d, 0x1e, 0x20, 0x21, 0x22, 0x23, 0x24};
	return memchr(types, (int)type, sizeof(types)) != NULL;
}

static uint64_t speed_at(const struct structure *s, size_t at, size_t long_at)
{
	const uint64_t v = dimms_field(s, at, 2);
	return v == 0xffff ? dimms_field(s, long_at, 4) & 0x7fffffff : v;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* "P0 CHANNEL A" of itself, "Controller0-ChannelA" of "Controller0-ChannelA-DIMM0"; empty: it names no channel. */
static struct span named_channel(struct span s)
{
	static const char word[] = "channel";
	for (size_t i = 0; i + sizeof(word) - 1 < s.len; i++) {
		size_t end = i + sizeof(word) - 1;
		if (strncasecmp(s.p + i, word, sizeof(word) - 1) != 0)
			continue;
		if (!is_word(s.p[end]))
			end++;
		const size_t from = end;
		while (end < s.len && is_word(s.p[end]))
			end++;
		return end > from ? (struct span){s.p, end} : SPAN("");
	}
	return SPAN("");
}

/* "CPU1_DIMM_A" of "CPU1_DIMM_A2", "P1-DIMMA" of "P1-DIMMA1". Not of "A2", where A may be the processor. */
static struct span lettered_channel(struct span s)
{
	size_t n = s.len, i;
	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n == s.len || n < 6 || !isalpha((unsigned char)s.p[n - 1]))
		return SPAN("");
	for (i = 0; i + 4 < n && strncasecmp(s.p + i, "DIMM", 4) != 0; i++)
		;
	return i + 4 < n && (s.p[n - 2] == '_' || i + 5 == n) ? (struct span){s.p, n} : SPAN("");
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Without the number at the end. */
static struct span stem(struct span s)
{
	while (s.len > 0 && isdigit((unsigned char)s.p[s.len - 1]))
		s.len--;
	return s;
}

static struct span channel_of(struct span locator, struct span bank)
{
	struct span key = named_channel(bank);
	if (key.len == 0)
		key = named_channel(locator);
	if (key.len == 0)
		key = lettered_channel(locator);
	return key;
}

static struct device device_of(const struct structure *s)
{
	struct device d = {.locator = string_of(s, AT_LOCATOR), .bank = string_of(s, AT_BANK)};
	uint64_t width = dimms_field(s, AT_WIDTH, 2);
	/* Some name one half of a channel of DDR5 for the whole. */
	if (dimms_field(s, AT_TYPE, 1) == TYPE_DDR5)
		width = MAX(width, 64u);
	const uint64_t can = speed_at(s, AT_SPEED, AT_LONG_SPEED);
	uint64_t speed = speed_at(s, AT_CONFIGURED, AT_LONG_CONFIGURED);
	/* Half of what it can is most often its clock, of which each is two transfers. */
	if (speed * 10 < can * 6)
		speed = can;
	d.channel = channel_of(d.locator, d.bank);
	d.populated = dimms_field(s, AT_SIZE, 2) != 0;
	if (width != 0xffff && width <= 8192 && speed <= 100000)
		d.bytes = (double)speed * 1e6 * (double)width / 8;
	return d;
}

#define SLOTS_MOST 3 /* of one channel, in all machines that there are */

/*
 * True if slots of one channel by name differ in their numbers alone and are few, throughout: then names mean that.
 * Names that repeat for each processor do not.
 */
static bool names_are_sure(const struct device *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct span key = d[i].channel;
		size_t slots = 0;
		if (key.len == 0)
			return false;
		for (size_t k = 0; k < n; k++) {
			if (!same(d[k].channel, key))
				continue;
			slots++;
			if (k != i &&
			    ((same(d[k].locator, d[i].locator) && same(d[k].bank, d[i].bank)) ||
			     !same(stem(d[k].locator), stem(d[i].locator)) || !same(stem(d[k].bank), stem(d[i].bank))))
				return false;
			/* Equal locators with banks that are only numbered may be of two processors. */
			if (k != i && same(d[k].locator, d[i].locator) && named_channel(d[i].bank).len == 0)
				return false;
		}
		if (slots > SLOTS_MOST)
			return false;
	}
	return true;
}

static int dimms_limit_of(const struct device *d, size_t n, struct dimms *ret)
{
	struct dimms sum = {.devices = 0};
	const bool sure = names_are_sure(d, n);
	for (size_t i = 0; i < n; i++) {
		double bytes = d[i].bytes;
		bool first = true;
		if (!d[i].populated)
			continue;
		if (bytes <= 0)
			return -ENODATA;
		sum.devices++;
		for (size_t k = 0; sure && k < n; k++) {
			if (k == i || !d[k].populated || !same(d[k].channel, d[i].channel))
				continue;
			first &= k > i;
			bytes = MAX(bytes, d[k].bytes);
		}
		sum.channels += first;
		sum.limit_bytes += first ? bytes : 0;
	}
	if (sum.devices == 0)
		return -ENODATA;
	*ret = sum;
	return 0;
}

int dimms_parse(struct span table, struct dimms *ret)
{
	cleanup(freep) struct device *d = NULL;
	struct structure s;
	size_t n = 0;
	int r;
	while ((r = structure_next(&table, &s)) == 0) {
		if (s.p[0] != TYPE_MEMORY_DEVICE || s.len <= AT_SPEED + 1 || !is_dram(dimms_field(&s, AT_TYPE, 1)))
			continue;
		if (n == DIMMS_MOST)
			return -EBADMSG;
		if (!d && !(d = calloc(DIMMS_MOST, sizeof(*d))))
			return -ENOMEM;
		d[n++] = device_of(&s);
	}
	if (r != -ENOENT)
		return r;
	return n == 0 ? -ENODATA : dimms_limit_of(d, n, ret);
}

static bool is_virtual(const struct world *w)
{
	char text[8192];
	size_t len;
	return file_read_at(w->proc_fd, "cpuinfo", text, sizeof(text), &len) == 0 &&
	       span_has((struct span){text, len}, " hypervisor");
}

int dimms_read(const struct world *w, struct dimms *ret)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	if (w->sys_fd < 0 || file_slurp(w->sys_fd, "firmware/dmi/tables/DMI", TABLE_MOST, &text, &len) != 0 ||
	    is_virtual(w))
		return WORLD_ABSENT;
	const int r = dimms_parse((struct span){text, len}, ret);
	return r == -EBADMSG || r == -ENODATA ? WORLD_ABSENT : r;
}
