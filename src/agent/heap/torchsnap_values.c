#include "agent/heap/torchsnap_parts.h"

#include <string.h>

uint64_t snap_number(const struct pickle_value *dict, const char *key)
{
	int64_t v = 0;
	return pickle_i64(pickle_get(dict, key), &v) && v > 0 ? (uint64_t)v : 0;
}

static void torchsnap_text(const struct pickle_value *dict, const char *key, char *dst, size_t cap)
{
	struct span s = {"", 0};
	(void)pickle_text(pickle_get(dict, key), &s);
	span_copy(s, dst, cap);
}

bool snap_text_is(const struct pickle_value *dict, const char *key, const char *text)
{
	struct span s;
	return pickle_text(pickle_get(dict, key), &s) && span_eq(s, text);
}

static bool torchsnap_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n > k && strcmp(text + n - k, end) == 0;
}

/* {"name": "forward", "filename": "/app/model.py", "line": 12}; C++ frames name a source file or "??". */
static int frame_of(struct snap *s, const struct pickle_value *v, uint32_t *ret)
{
	char name[1024], file[1024];
	torchsnap_text(v, "name", name, sizeof(name));
	torchsnap_text(v, "filename", file, sizeof(file));
	bool python = torchsnap_ends_with(file, ".py") || file[0] == '<';
	if (strcmp(file, "??") == 0)
		file[0] = '\0';
	const struct frame f = {.kind = python ? FRAME_PYTHON : FRAME_NATIVE,
				.name = name[0] ? name : "[unknown]",
				.file = file,
				.module = "",
				.line = (int32_t)MIN(snap_number(v, "line"), (uint64_t)INT32_MAX)};
	return frametab_intern(heapset_frames(s->set), &f, ret);
}

/* True for what each stack begins with: the recorder of stacks, the allocator, and how an empty tensor is made. */
static bool asks_for_all(const struct pickle_value *frame)
{
	static const char *const starts[] = {"torch::unwind::", "torch::CapturedTraceback::",
					     "torch::cuda::(anonymous namespace)::gather",
					     "c10::cuda::CUDACachingAllocator::", "at::detail::empty_"};
	struct span name = {"", 0};
	(void)pickle_text(pickle_get(frame, "name"), &name);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(name, starts[i]))
			return true;
	return false;
}

int snap_frames(struct snap *s, const struct pickle_value *block, uint32_t ids[static SNAP_FRAMES_MAX], size_t *ret_n)
{
	const struct pickle_value *frames = pickle_get(block, "frames");
	size_t n = pickle_len(frames), skip = 0;
	/* PyTorch 2.0 kept the frames in a list of the block's history. */
	if (n == 0) {
		const struct pickle_value *history = pickle_get(block, "history");
		frames = pickle_get(pickle_at(history, 0), "frames");
		n = pickle_len(frames);
	}
	while (skip + 1 < n && asks_for_all(pickle_at(frames, skip)))
		skip++;
	n = MIN(n - skip, (size_t)SNAP_FRAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		int r = frame_of(s, pickle_at(frames, skip + i), &ids[i]);
		if (r < 0)
			return r;
	}
	if (n == 0)
		ids[n++] = s->no_frames;
	*ret_n = n;
	return 0;
}
