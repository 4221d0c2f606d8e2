/* The kernel's line about a fault, taken apart. */
#include <string.h>

#include "sense/death/faultline.h"

/* Bits of the error code of a page fault on x86. */
#define PAGE_PRESENT 1u
#define PAGE_WRITE 2u
#define PAGE_FETCH 16u

/* The number in base 16 at the front, with or without "0x"; *ret_n: how many characters it has. 0 of them: none. */
static uint64_t hex_at(struct span s, size_t *ret_n)
{
	uint64_t v = 0;
	size_t n = span_starts(s, "0x") ? 2 : 0;
	const size_t begin = n;
	for (; n < s.len && n - begin < 16; n++) {
		const char c = s.p[n];
		const int digit = c >= '0' && c <= '9'	 ? c - '0'
				  : c >= 'a' && c <= 'f' ? c - 'a' + 10
							 : -1;
		if (digit < 0)
			break;
		v = v << 4 | (uint64_t)digit;
	}
	*ret_n = n > begin ? n : 0;
	return v;
}

/* The number in base 16 behind the key. */
static bool hex_after(struct span line, const char *key, uint64_t *ret)
{
	const struct span at = span_after(line, key);
	size_t n = 0;
	const uint64_t v = at.p ? hex_at(at, &n) : 0;
	if (n == 0)
		return false;
	*ret = v;
	return true;
}

/* " in libc.so.6[7f2c6a6fe000+156000] …": the last bracket is the kernel's, names of files may have such too. */
static void file_read(struct span at, struct faultline *f)
{
	const char *open = span_rfind(at, "[");
	struct span name = at, range = {NULL, 0};
	uint64_t start = 0, own = 0;
	size_t n = 0, m = 0;
	if (!open)
		return;
	name.len = (size_t)(open - at.p);
	range = (struct span){open + 1, at.len - name.len - 1};
	own = hex_at(range, &n);
	if (n == 0 || n >= range.len)
		return;
	const bool told = range.p[n] == ',';
	start = told ? hex_at((struct span){range.p + n + 1, range.len - n - 1}, &m) : own;
	if ((told && m == 0) || (!told && range.p[n] != '+') || f->ip < start)
		return;
	span_copy(name, f->file, sizeof(f->file));
	f->has_offset = true;
	f->in_file = told;
	f->offset = told ? own : f->ip - start;
}

bool faultline_parse(struct span said, struct faultline *ret)
{
	const bool page = span_starts(said, ": segfault at ");
	const struct span at = page ? span_after(said, " at ") : said;
	uint64_t code = 0;
	size_t n = 0;
	*ret = (struct faultline){.valid = false};
	if (page)
		ret->address = hex_at(at, &n);
	ret->has_address = n > 0;
	if ((page && n == 0) || !hex_after(at, page ? " ip " : " ip:", &ret->ip) ||
	    !hex_after(at, page ? " sp " : " sp:", &ret->sp))
		return false;
	ret->valid = true;
	ret->trap = span_starts(said, " trap ");
	if (page && hex_after(at, " error ", &code)) {
		ret->present = code & PAGE_PRESENT;
		ret->write = code & PAGE_WRITE;
		ret->fetch = code & PAGE_FETCH;
	}
	const struct span error = span_after(at, page ? " error " : " error:");
	const struct span in = error.p ? span_after(error, " in ") : error;
	if (in.p)
		file_read(span_before(in, " likely on CPU "), ret);
	return true;
}
