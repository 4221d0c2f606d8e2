#include <string.h>

#include "sense/go/goroutine.h"

#define INLINED_MAX 32
#define CALL_DEPTH_MAX 256
/* A table of functions may be made so that each frame takes long: for the stacks of one process, in all. */
static const uint64_t frames_most_ns = 2 * NS_PER_S;

static bool has_time(struct goproc *p)
{
	const uint64_t now_ns = p->w->mono_ns();
	if (p->frames_end_ns == 0)
		p->frames_end_ns = now_ns + frames_most_ns;
	return now_ns < p->frames_end_ns;
}

/* Calls in the runtime and in what waits on behalf of the program: what called them is where the program stands. */
static bool goframes_is_library(struct span name)
{
	static const char *const prefixes[] = {"runtime.", "sync.",  "internal/",   "syscall.", "time.Sleep",
					       "net.",	   "net/",   "os.",	    "os/",	"io.",
					       "bufio.",   "crypto/", "encoding/",  "fmt."};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (span_starts(name, prefixes[i]) && !span_eq(name, "runtime.main"))
			return true;
	return name.len == 0;
}

struct walk {
	struct goproc *p;
	struct goroutine_frame *frame;
	size_t n;
	bool full;
};

static void goframes_frame_add(struct walk *k, const struct gofunc *f, uint64_t at, uint64_t pc, struct span name)
{
	const struct gopcln *t = &k->p->pcln;
	int32_t file = -1, line = 0;
	if (k->n == GOROUTINE_FRAMES) {
		k->full = true;
		return;
	}
	if (gopcln_value(t, f, GOPCLN_FILE, at, &file) != 0)
		file = -1;
	if (gopcln_value(t, f, GOPCLN_LINE, at, &line) != 0 || line < 0)
		line = 0;
	k->frame[k->n++] = (struct goroutine_frame){.pc = pc,
						    .name = name,
						    .file = gopcln_file(t, f, file),
						    .line = line,
						    .library = goframes_is_library(name)};
}

/* runtime.inlinedCall: the offset of the name, and the call's position from the function's entry. */
static int inlined_read(struct goproc *p, uint64_t tree, int32_t at, uint32_t *ret_name, uint32_t *ret_pc)
{
	const bool old = p->pcln.func_bytes == 40;
	uint32_t pair[2];
	int r = remote_read(p->remote, tree + (uint64_t)at * (old ? 20 : 16) + (old ? 12 : 4), pair, sizeof(pair));
	if (r)
		return r;
	*ret_name = pair[0];
	*ret_pc = pair[1];
	return 0;
}

/* All calls at one address: those that the compiler put into the function first. `at`: within the call. */
static void frames_at(struct walk *k, const struct gofunc *f, uint64_t at, uint64_t pc)
{
	const struct gopcln *t = &k->p->pcln;
	uint32_t tree = 0;
	bool any = gopcln_inline_tree(t, f, &tree) == 0;
	for (size_t n = 0; any && n < INLINED_MAX; n++) {
		int32_t i = -1;
		uint32_t name = 0, parent = 0;
		if (gopcln_value(t, f, GOPCLN_INLINE, at, &i) != 0 || i < 0 ||
		    inlined_read(k->p, k->p->gofunc + tree, i, &name, &parent) != 0)
			break;
		goframes_frame_add(k, f, at, 0, gopcln_name_at(t, name));
		at = f->entry + parent;
	}
	goframes_frame_add(k, f, at, pc, gopcln_name(t, f));
}

static bool is_outermost(struct span name)
{
	return span_eq(name, "runtime.goexit") || span_eq(name, "runtime.mstart");
}

int goroutine_frames(struct goproc *p, const struct goroutine *g,
		     struct goroutine_frame frames[static GOROUTINE_FRAMES], size_t *ret_n, bool *ret_cut)
{
	struct walk k = {.p = p, .frame = frames};
	uint64_t sp = g->sp, pc = g->pc;
	bool end = false;
	int r = 0;
	for (size_t depth = 0; pc && depth < CALL_DEPTH_MAX && !end && !k.full && has_time(p); depth++) {
		struct gofunc f;
		int32_t size = -1;
		/* A return address is behind the call, which may be the last instruction of the function. */
		uint64_t at = depth ? pc - 1 : pc;
		if (gopcln_find(&p->pcln, at, &f) != 0)
			break;
		struct span name = gopcln_name(&p->pcln, &f);
		if (is_outermost(name)) {
			end = true;
			break;
		}
		frames_at(&k, &f, at, pc);
		if (gopcln_value(&p->pcln, &f, GOPCLN_SP, at, &size) != 0 || size < 0 ||
		    (uint64_t)size > g->stack_to - sp - 8)
			break;
		sp += (uint64_t)size;
		r = remote_u64(p->remote, sp, &pc);
		if (r)
			break;
		sp += 8;
		if (sp > g->stack_to - 8)
			break;
	}
	*ret_n = k.n;
	*ret_cut = !end;
	return r == REMOTE_FAULT ? 0 : r;
}

struct span goroutine_start(const struct goproc *p, const struct goroutine *g)
{
	struct gofunc f;
	if (gopcln_find(&p->pcln, g->start_pc, &f) != 0)
		return (struct span){"", 0};
	return gopcln_name(&p->pcln, &f);
}
