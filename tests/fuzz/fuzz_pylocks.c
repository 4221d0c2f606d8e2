#include "pymemory.h"
#include "sense/python/pylocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void locks_look(const struct pyrt *rt, struct remote *r, struct pyframe *frames, size_t n, uint64_t futex)
{
	cleanup(pylocks_freep) struct pylocks *p = NULL;
	struct pylock_held held[PYLOCKS_HELD];
	struct pylock_wait wait;
	struct pylocks_frames f = {.frame = frames, .n = n};
	struct pylocks_futex on = {.addr = futex};
	struct pythread thread = {.thread_id = futex, .tid = 7};
	uint64_t future = 0;
	size_t n_held = 0;
	if (pylocks_new(rt, r, &p) != 0 || !p)
		return;
	if (pylocks_held(p, &f, held, &n_held) == 0) {
		assert(n_held <= PYLOCKS_HELD);
		for (size_t i = 0; i < n_held; i++)
			assert(held[i].frame < n && strlen(held[i].type) < sizeof(held[i].type));
	}
	if (pylocks_wait(p, &f, &on, &thread, 1, &wait) == 0) {
		assert(wait.frame == SIZE_MAX || wait.frame < n);
		bool unreachable = false;
		(void)!pylocks_unreachable(p, &f, &wait, &unreachable);
		assert(strlen(wait.type) < sizeof(wait.type) && (wait.owner == 0 || wait.owner == 7));
	}
	(void)!pylocks_future(p, &f, &future);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pymemory in = {.data = data, .size = size};
	struct pyrt rt = {};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &rt))
		return 0;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	uint64_t frame = u64_at(data + 2), code = u64_at(data + 10), type = u64_at(data + 18);
	static char library[] = "/usr/lib/python3/threading.py", own[] = "/x/train.py";
	static char wait[] = "Condition.wait", join[] = "Thread.join", run[] = "run", step[] = "step";
	const struct pycode known[] = {
		{.name = wait, .file = library}, {.name = join, .file = library}, {.name = run, .file = library},
		{.name = step, .file = own}};
	/* The same frame as each kind of function, then in its own right, at instructions that the input chooses. */
	struct pyframe frames[5];
	uint64_t instr = rt.minor < 11 ? data[1] >> 1 : code + rt.off.code.bytecode + data[1];
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct pyframe){.addr = frame,
					     .code = code,
					     .instr = instr,
					     .known = &known[(i + data[1]) % ARRAY_SIZE(known)]};
	locks_look(&rt, &r, frames, ARRAY_SIZE(frames), type);
	locks_look(&rt, &r, frames + 2, 1, frame);
	return 0;
}
