/*
 * The Python frames of the allocating thread, read in place. Only this thread changes its own chain of frames, so the
 * GIL is not needed, and everything the chain leads to stays alive while this thread is here.
 *
 * PyGILState_GetThisThreadState() returns the thread's own state, also while it does not have the GIL; from 3.12 on the
 * current state is kept per thread, and in a sub-interpreter only that one is right.
 */
#include <dlfcn.h>
#include <string.h>

#include "preload/inside.h"
#include "preload/pyfields.h"

struct layout {
#define FIELD(theirs, ours) uint32_t ours;
	PY_FIELDS(FIELD)
#undef FIELD
};

#include "pytables.inc"

#define OWNER_NOT_PYTHON 3 /* frames of the interpreter itself: 3.12 and later */
#define CODE_MASK (~UINT64_C(7)) /* 3.14 tags pointers to objects */
#define OFFSET_MAX 65536u
#define WALK_MAX 20000u /* maximum number of frames of one stack that are read */
#define WINDOW 32u
#define TEXT_MAX 1000u
#define TABLE_MAX 32768u

static struct {
	bool known;
	uint8_t minor;
	bool free_threaded;
	uint32_t version, why;
	struct layout at;
	uint64_t code_type, home;
	void *(*thread_state)(void), *(*current_state)(void);
	int (*finalizing)(void);
} py = {.why = HEAP_WHY_NO_PYTHON};

static uint64_t u64_at(uint64_t addr, uint32_t offset)
{
	uint64_t v;
	memcpy(&v, (const char *)(uintptr_t)addr + offset, sizeof(v)); // NOLINT(performance-no-int-to-ptr)
	return v;
}

static uint32_t u32_at(uint64_t addr, uint32_t offset)
{
	uint32_t v;
	memcpy(&v, (const char *)(uintptr_t)addr + offset, sizeof(v)); // NOLINT(performance-no-int-to-ptr)
	return v;
}

/* True if this can be an object's address. */
static bool plausible(uint64_t addr)
{
	return addr >= 4096 && addr < UINT64_C(1) << 56 && (addr & 7) == 0;
}

/* ---- finding it ---- */

static bool layout_described(const void *runtime)
{
	uint64_t words[3], version;
	const unsigned char *at = runtime;
	memcpy(words, at, sizeof(words));
	version = words[1];
	py.version = (uint32_t)version;
	py.minor = (uint8_t)(version >> 16);
	py.free_threaded = words[2] == 1;
	if (version >> 24 != 3 || py.minor < PY_SELF_FIRST || py.minor > PY_LAST)
		return false;
	const uint32_t *from = (const uint32_t *)&py_words[py.minor - PY_SELF_FIRST];
	uint32_t *to = (uint32_t *)&py.at;
	for (size_t i = 0; i < sizeof(py.at) / sizeof(*to); i++) {
		uint64_t v = UINT64_MAX;
		if (from[i] != PY_NONE)
			memcpy(&v, at + (size_t)from[i] * 8, 8);
		if (v >= OFFSET_MAX && v != UINT64_MAX)
			return false;
		to[i] = (uint32_t)v;
	}
	if (py.at.str_compact == PY_NONE)
		py.at.str_compact = py.at.str_ascii + 16;
	memcpy(&version, at + (size_t)py_last_word[py.minor - PY_SELF_FIRST] * 8, 8);
	/* the size of a path: it would be elsewhere if the order were another one */
	return py.minor < 14 || version == 512;
}

static bool layout_fixed(void)
{
	const char *(*text)(void);
	const uint32_t *version = dlsym(RTLD_DEFAULT, "Py_Version");
	uint64_t minor = 0, micro = 0;
	*(void **)&text = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	if (version) {
		py.version = *version;
	} else if (text) {
		const char *t = text();
		if (strncmp(t, "3.", 2) != 0)
			return false;
		t = text_u64(t + 2, 10, &minor);
		if (*t == '.')
			t = text_u64(t + 1, 10, &micro);
		py.version = UINT32_C(3) << 24 | (uint32_t)minor << 16 | (uint32_t)micro << 8 |
			     (*t == ' ' || *t == '+' || *t == '\0' ? 0xf0 : 0xa0);
	}
	py.minor = (uint8_t)(py.version >> 16);
	if (py.version >> 24 != 3 || py.minor < PY_FIXED_FIRST || py.minor >= PY_SELF_FIRST ||
	    (py.version & 0xf0) < 0xc0 || dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount"))
		return false;
	py.at = py_fixed[py.minor - PY_FIXED_FIRST];
	return true;
}

/* Takes the loader's lock, so it is called only before the program begins, or where the caller may take it. */
void python_begin(void)
{
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	*(void **)&py.thread_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	*(void **)&py.finalizing = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
	if (!py.finalizing)
		*(void **)&py.finalizing = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
	py.code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
	py.home = (uintptr_t)dlsym(RTLD_DEFAULT, "PyObject_Malloc");
	if (!runtime || !py.thread_state || !py.code_type || !py.finalizing)
		return;
	py.why = HEAP_WHY_PYTHON_UNKNOWN;
	if (memcmp(runtime, "xdebugpy", 8) == 0 ? !layout_described(runtime) : !layout_fixed())
		return;
	if (py.minor >= 12) {
		*(void **)&py.current_state = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
		if (!py.current_state)
			*(void **)&py.current_state = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
	}
	py.why = HEAP_FINE;
	py.known = true;
	if (heap_process.objects)
		pyobjects_begin(py.free_threaded);
}

void python_describe(struct heap_header *h)
{
	h->python_version = py.version;
	h->python_free_threaded = py.free_threaded;
	h->python_why = py.why;
}

bool python_is_home(uint64_t ip)
{
	return py.home && modules_same_file(ip, py.home);
}

/* ---- code ---- */

static size_t utf8_put(uint32_t c, char *to)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(heads[n] | c);
	return n;
}

/* Copies the str at addr as UTF-8; of a long one its end, which identifies a path better. */
static size_t str_copy(uint64_t addr, char *to, size_t max)
{
	if (!plausible(addr))
		return 0;
	uint32_t state = u32_at(addr, py.at.str_state) >> (py.free_threaded && py.minor >= 14 ? 8 : 2);
	uint64_t n = u64_at(addr, py.at.str_length);
	uint32_t width = state & 7;
	if ((width != 1 && width != 2 && width != 4) || !(state >> 3 & 1) || n > 1u << 20)
		return 0;
	const unsigned char *from = (const unsigned char *)(uintptr_t)addr + // NOLINT(performance-no-int-to-ptr)
				    (state >> 4 & 1 ? py.at.str_ascii : py.at.str_compact);
	uint64_t first = n > max / 4 ? n - max / 4 : 0;
	size_t len = 0;
	for (uint64_t i = first; i < n; i++) {
		uint32_t c = 0;
		memcpy(&c, from + i * width, width);
		len += utf8_put(c, to + len);
	}
	return len;
}

static bool bytes_keep(struct heap_header *h, const void *from, size_t len, uint32_t *ret_at)
{
	uint64_t at;
	if (len == 0 || !region_take(h, &h->table.bytes, len, &at))
		return false;
	memcpy((char *)h + h->table.bytes.at + at, from, len);
	*ret_at = (uint32_t)at;
	return true;
}

/* File names repeat. Stored bytes never change, so a wrong guess costs only a comparison. */
static bool file_keep(struct heap_header *h, const char *text, size_t len, uint32_t *ret_at)
{
	static struct {
		uint32_t at, len;
	} seen[64];
	static uint64_t seen_of; /* start of the region: another region has another list */
	uint32_t hash = 0;
	if (load_relaxed(&seen_of) != h->begun_mono_ns) {
		memset(seen, 0, sizeof(seen));
		store_relaxed(&seen_of, h->begun_mono_ns);
	}
	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)text[i];
	uint32_t k = (hash ^ hash >> 16) % 64, at = load_relaxed(&seen[k].at), n = load_relaxed(&seen[k].len);
	if (n == len && at <= h->table.bytes.n - len && memcmp((char *)h + h->table.bytes.at + at, text, len) == 0) {
		*ret_at = at;
		return true;
	}
	if (!bytes_keep(h, text, len, ret_at))
		return false;
	store_relaxed(&seen[k].at, *ret_at);
	store_relaxed(&seen[k].len, (uint32_t)len);
	return true;
}

static void code_fill(struct heap_header *h, struct heap_code *c, const struct heap_code *key)
{
	char text[TEXT_MAX];
	size_t len = str_copy(key->name_ptr, text, sizeof(text));
	*c = (struct heap_code){.state = HEAP_ROW_WRITING,
				.first_line = key->first_line,
				.address = key->address,
				.name_ptr = key->name_ptr,
				.file_ptr = key->file_ptr,
				.table_ptr = key->table_ptr};
	if (bytes_keep(h, text, len, &c->name_at))
		c->name_len = (uint16_t)len;
	len = str_copy(key->file_ptr, text, sizeof(text));
	if (len && file_keep(h, text, len, &c->file_at))
		c->file_len = (uint16_t)len;
	if (plausible(key->table_ptr)) {
		uint64_t n = u64_at(key->table_ptr, py.at.bytes_size);
		const char *table = (const char *)(uintptr_t)key->table_ptr + // NOLINT(performance-no-int-to-ptr)
				    py.at.bytes_value;
		if (n <= TABLE_MAX && bytes_keep(h, table, n, &c->table_at))
			c->table_len = (uint32_t)n;
	}
	if (py.minor >= 11) {
		c->code_len = u32_at(key->address, 16 + (py.at.object_type - 8)) * 2; /* ob_size, behind the type */
	} else {
		uint64_t bytes = u64_at(key->address, py.at.code_code_bytes);
		c->code_len = plausible(bytes) ? (uint32_t)u64_at(bytes, py.at.bytes_size) : 0;
	}
	store_release(&c->state, (uint32_t)HEAP_ROW_READY);
}

static bool code_same(const struct heap_code *a, const struct heap_code *b)
{
	return a->address == b->address && a->name_ptr == b->name_ptr && a->file_ptr == b->file_ptr &&
	       a->table_ptr == b->table_ptr && a->first_line == b->first_line;
}

/* Addresses of code objects are reused, so a code is identified by its address and all fields of its key. */
static uint32_t code_find(struct heap_header *h, uint64_t addr)
{
	const uint32_t name = py.at.code_qualname != PY_NONE ? py.at.code_qualname : py.at.code_name;
	struct heap_code key = {.address = addr,
				.first_line = (int32_t)u32_at(addr, py.at.code_firstlineno),
				.name_ptr = u64_at(addr, name),
				.file_ptr = u64_at(addr, py.at.code_filename),
				.table_ptr = u64_at(addr, py.at.code_linetable)};
	uint32_t mask = h->table.codes.n - 1;
	uint32_t i = (uint32_t)((addr >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
	for (uint32_t k = 0; k < WINDOW; k++, i = (i + 1) & mask) {
		struct heap_code *c = region_row(h, &h->table.codes, i);
		if (!c)
			break;
		uint32_t state = load_acquire(&c->state);
		if (state == HEAP_ROW_READY && code_same(c, &key))
			return i;
		if (state == HEAP_ROW_EMPTY &&
		    __atomic_compare_exchange_n(&c->state, &state, (uint32_t)HEAP_ROW_WRITING, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			code_fill(h, c, &key);
			return i;
		}
	}
	return HEAP_PYTHON_NO_CODE;
}

/* ---- frames ---- */

/* Byte offset of the instruction; about -1: not begun. */
static int32_t offset_of(uint64_t frame, uint64_t code)
{
	if (py.minor <= 10) {
		int32_t lasti = (int32_t)u32_at(frame, py.at.frame_instr);
		return py.minor == 10 && lasti > 0 ? lasti * 2 : lasti;
	}
	uint64_t instr = u64_at(frame, py.at.frame_instr), base = code + py.at.code_bytecode;
	if (py.free_threaded && py.at.frame_tlbc_index != PY_NONE && py.at.code_tlbc != PY_NONE) {
		uint32_t index = u32_at(frame, py.at.frame_tlbc_index);
		uint64_t array = u64_at(code, py.at.code_tlbc);
		if (index && plausible(array) && index < u64_at(array, 0))
			base = u64_at(array, 8 + index * 8);
	}
	int64_t offset = (int64_t)(instr - base);
	return offset < -2 || offset > INT32_MAX ? -1 : (int32_t)offset;
}

static uint64_t first_frame(void)
{
	uint64_t state = py.current_state ? (uintptr_t)py.current_state() : 0;
	if (!state)
		state = (uintptr_t)py.thread_state();
	if (!plausible(state))
		return 0;
	if (py.at.thread_cframe == PY_NONE)
		return u64_at(state, py.at.thread_frame);
	uint64_t cframe = u64_at(state, py.at.thread_cframe);
	return plausible(cframe) ? u64_at(cframe, py.at.cframe_current) : 0;
}

struct seen {
	uint64_t frame, code;
	bool entry;
};

/* The next frame of Python code from *at on, which then points behind it; false: no more, or *ret_broken. */
static bool frame_next(uint64_t *at, struct seen *ret, bool *ret_shim, bool *ret_broken)
{
	*ret_shim = false;
	while (*at) {
		uint64_t f = *at;
		if (!plausible(f)) {
			*ret_broken = true;
			return false;
		}
		*at = u64_at(f, py.at.frame_previous);
		uint8_t owner = py.minor >= 12 ? *((const uint8_t *)(uintptr_t)f + py.at.frame_owner) : 0;
		if (owner >= OWNER_NOT_PYTHON) {
			*ret_shim = true;
			continue;
		}
		ret->frame = f;
		ret->code = u64_at(f, py.at.frame_code) & CODE_MASK;
		if (!plausible(ret->code) || u64_at(ret->code, py.at.object_type) != py.code_type) {
			*ret_broken = true;
			return false;
		}
		ret->entry = py.minor <= 10;
		if (py.at.frame_is_entry != PY_NONE)
			ret->entry = *((const uint8_t *)(uintptr_t)f + py.at.frame_is_entry) != 0;
		return true;
	}
	return false;
}

#define ENTRY_BIT (UINT64_C(1) << 56)

void python_frames(struct heap_header *h, struct frames *f)
{
	struct seen seen;
	bool shim, broken = false;
	uint32_t n = 0;
	if (!py.known || py.finalizing())
		return;
	uint64_t at = first_frame();
	while (n < WALK_MAX && frame_next(&at, &seen, &shim, &broken)) {
		/* A frame before a frame of the interpreter itself is the one that the interpreter was entered for. */
		if (shim && n > 0)
			f->python[frames_place(n - 1)] |= ENTRY_BIT;
		uint32_t offset = (uint32_t)offset_of(seen.frame, seen.code);
		f->python[frames_place(n++)] =
			(uint64_t)code_find(h, seen.code) << 32 | offset | (seen.entry ? ENTRY_BIT : 0);
	}
	if (n > 0 && py.minor >= 12 && !broken && at == 0)
		f->python[frames_place(n - 1)] |= ENTRY_BIT;
	if (n > HEAP_FRAMES_MAX) {
		frames_straighten(f->python, n);
		f->flags |= HEAP_CUT_PYTHON;
	}
	f->flags |= broken ? HEAP_BROKEN_PYTHON : 0;
	f->n_python = (uint16_t)(n < HEAP_FRAMES_MAX ? n : HEAP_FRAMES_MAX);
}
