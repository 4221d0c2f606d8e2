#include "judge/gpu/gpuoom.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/units.h"

/* This many messages with growing tensors are a leak; two may be two steps of one start. */
#define LEAK_MESSAGES 3
/* What a process and its libraries hold beside PyTorch's allocator: context, NCCL, cuBLAS. */
#define CONTEXT_BYTES (2 * GIB)

struct numbers {
	const struct gpuoom *g;
	bool has_cap, has_unused, has_other;
	uint64_t cap; /* the most that this process may use */
	uint64_t idle; /* held by PyTorch, but in no tensor */
	uint64_t other; /* held by other processes, as far as known */
	bool guessed; /* computed from what is missing, not read by name */
};

const char *gpuoom_cause_id(enum gpuoom_cause c)
{
	static const char *const ids[] = {
		[GPUOOM_UNKNOWN] = "gpu_out_of_memory",
		[GPUOOM_FRAGMENTATION] = "gpu_fragmentation",
		[GPUOOM_OTHER_PROCESS] = "gpu_other_process",
		[GPUOOM_LEAK] = "gpu_leak",
		[GPUOOM_TOO_BIG] = "gpu_too_big",
	};
	return ids[c];
}

static struct numbers numbers_of(const struct gpuoom *g)
{
	struct numbers n = {.g = g};
	n.has_cap = g->allowed.valid || g->total.valid;
	n.cap = g->allowed.valid ? g->allowed.bytes : g->total.bytes;
	if (g->allowed.valid && g->total.valid)
		n.cap = MIN(g->allowed.bytes, g->total.bytes);
	n.has_unused = g->reserved.valid && g->allocated.valid;
	n.idle = sub_floor(g->reserved.bytes, g->allocated.bytes);
	if (g->n_other > 0) {
		n.has_other = true;
		n.other = g->other_bytes;
	} else if (g->total.valid && g->free.valid && (g->process.valid || g->reserved.valid)) {
		/* These wordings name no process: memory that is neither free nor ours belongs to other processes. */
		uint64_t ours = g->process.valid ? g->process.bytes : add_cap(g->reserved.bytes, CONTEXT_BYTES);
		n.other = sub_floor(sub_floor(g->total.bytes, g->free.bytes), ours);
		n.has_other = n.guessed = n.other > 0;
	}
	return n;
}

static void gpuoom_say(struct gpuoom_verdict *v, enum gpuoom_cause cause, enum confidence c, const char *words)
{
	v->cause = cause;
	v->confidence = c;
	TEXT_COPY(v->words, words);
}

static void gpuoom_advise(struct gpuoom_verdict *v, const char *fmt, ...) printf_like(2, 3);
static void gpuoom_advise(struct gpuoom_verdict *v, const char *fmt, ...)
{
	if (v->n_advice == ARRAY_SIZE(v->advice))
		return;
	struct buf b = BUF_ON(v->advice[v->n_advice]);
	va_list ap;
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	v->n_advice++;
}

static void text(struct gpuoom_verdict *v, const char *fmt, ...) printf_like(2, 3);
static void text(struct gpuoom_verdict *v, const char *fmt, ...)
{
	struct buf b = BUF_ON(v->text);
	va_list ap;
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
}

static const char *size(uint64_t bytes, char dst[static 16])
{
	return size_format(bytes, dst);
}

static bool never_fits(const struct numbers *n, struct gpuoom_verdict *v)
{
	char a[16], b[16];
	const struct gpuoom *g = n->g;
	if (!g->tried.valid || !n->has_cap || g->tried.bytes <= n->cap)
		return false;
	bool limited = g->allowed.valid && (!g->total.valid || g->allowed.bytes < g->total.bytes);
	gpuoom_say(v, GPUOOM_TOO_BIG, CONFIDENCE_HIGH,
		   "failed because one request was larger than the accelerator's memory.");
	text(v, "It asked for %s at once; %s %s. Nothing that could be freed would help.", size(g->tried.bytes, a),
	     limited ? "the part that it may use is" : "the device has", size(n->cap, b));
	gpuoom_advise(v, "Look at the line of the traceback: a shape or a batch there is larger than meant, or must be "
			 "worked on in parts.");
	if (limited)
		gpuoom_advise(v, "Or raise what it may use: set_per_process_memory_fraction.");
	return true;
}

static bool in_pieces(const struct numbers *n, struct gpuoom_verdict *v)
{
	char a[16], b[16], c[16];
	const struct gpuoom *g = n->g;
	if (!g->tried.valid || !n->has_unused)
		return false;
	/* A full device has a little idle memory as well; it is not the cause. */
	if (n->has_cap && n->idle < n->cap / 50)
		return false;
	bool alone = n->idle >= g->tried.bytes;
	bool with_free = g->free.valid && g->free.bytes < g->tried.bytes && n->idle >= g->tried.bytes / 4 &&
			 add_cap(n->idle, g->free.bytes) >= g->tried.bytes;
	if (!alone && !with_free)
		return false;
	gpuoom_say(v, GPUOOM_FRAGMENTATION,
		   alone && n->idle >= g->reserved.bytes / 20 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
		   "failed because the accelerator's memory was fragmented.");
	text(v,
	     "PyTorch held %s that no tensor used%s, more than the %s asked for, but not in one piece (%s was in "
	     "tensors).",
	     size(n->idle, a), alone ? "" : ", with what was free on the device", size(g->tried.bytes, b),
	     size(g->allocated.bytes, c));
	if (strcmp(g->kind, "HIP") == 0)
		gpuoom_advise(v,
			      "Set PYTORCH_HIP_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:128 (or "
			      "the largest size that still fails); expandable segments are not everywhere on ROCm.");
	else
		gpuoom_advise(v,
			      "Set PYTORCH_%s_ALLOC_CONF=expandable_segments:True (before PyTorch 2.2: "
			      "max_split_size_mb:128, or the largest size that still fails).",
			      strcmp(g->kind, "NPU") == 0 ? "NPU" : "CUDA");
	gpuoom_advise(v, "Shapes that change from step to step cause it: pad batches to a few sizes, and allocate "
			 "large buffers first.");
	return true;
}

static bool by_others(const struct numbers *n, struct gpuoom_verdict *v)
{
	char a[16], b[16], c[16];
	const struct gpuoom *g = n->g;
	if (!g->tried.valid || !n->has_other || !n->has_cap || n->other < n->cap / 20)
		return false;
	uint64_t room = add_cap(add_cap(g->free.valid ? g->free.bytes : 0, n->has_unused ? n->idle : 0), n->other);
	if (room < g->tried.bytes ||
	    (g->allowed.valid && g->reserved.valid && add_cap(g->reserved.bytes, g->tried.bytes) > g->allowed.bytes))
		return false;
	enum confidence sure = n->guessed		? CONFIDENCE_LOW
			       : n->other >= n->cap / 4 ? CONFIDENCE_HIGH
							: CONFIDENCE_MEDIUM;
	gpuoom_say(v, GPUOOM_OTHER_PROCESS, sure, "failed because other processes held memory of its accelerator.");
	if (n->guessed)
		text(v,
		     "%s of the device's %s was neither free nor PyTorch's: other processes on it, or libraries of "
		     "this one. The %s asked for would have fitted without it.",
		     size(n->other, a), size(n->cap, b), size(g->tried.bytes, c));
	else
		text(v,
		     "%zu other process%s held %s of the device's %s; the largest of those named is pid %d (as the "
		     "driver numbers it). The %s asked for would have fitted without them.",
		     g->n_other, g->n_other == 1 ? "" : "es", size(n->other, a), size(n->cap, b), (int)g->other[0].pid,
		     size(g->tried.bytes, c));
	gpuoom_advise(v, "vigil gpus shows who holds memory of the device: end what was left behind by an earlier run, "
			 "or choose another device (CUDA_VISIBLE_DEVICES).");
	gpuoom_advise(
		v, "Ranks that all use device 0 by mistake look like this: set the device by LOCAL_RANK first of all.");
	return true;
}

static bool grew(const struct log_hint *h, const struct numbers *n, struct gpuoom_verdict *v)
{
	char a[16], b[16];
	const struct gpuoom *g = n->g;
	if (!g->allocated.valid || h->gpu_messages < LEAK_MESSAGES || h->gpu_fell ||
	    g->allocated.bytes < h->gpu_first_allocated_bytes + h->gpu_first_allocated_bytes / 20)
		return false;
	gpuoom_say(v, GPUOOM_LEAK, CONFIDENCE_MEDIUM,
	    "failed because its tensors took ever more of the accelerator's memory.");
	text(v,
	     "From the first of %u such messages to the last, what tensors hold grew from %s to %s and never fell: "
	     "references to old tensors are kept.",
	     h->gpu_messages, size(h->gpu_first_allocated_bytes, a), size(g->allocated.bytes, b));
	gpuoom_advise(v, "Look for lists that keep losses or outputs with their graph: use loss.item() or .detach(), "
			 "and delete outputs in the except block that catches the error.");
	gpuoom_advise(v, "To see who holds it: torch.cuda.memory._record_memory_history() and "
			 "_dump_snapshot('f.pickle'), then vigil heap f.pickle.");
	return true;
}

static void too_big(const struct numbers *n, struct gpuoom_verdict *v)
{
	char a[16], b[16], c[16];
	const struct gpuoom *g = n->g;
	if (!g->tried.valid || !n->has_cap || !g->allocated.valid)
		return;
	/* There was room, so the cause is another one, or a process that has gone since. */
	if (g->free.valid && g->free.bytes >= g->tried.bytes && !g->allowed.valid)
		return;
	bool small = g->tried.bytes < n->cap / 50;
	bool full = add_cap(g->allocated.bytes, g->tried.bytes) > n->cap - n->cap / 10;
	if (!small && !full && g->tried.bytes < n->cap / 4)
		return;
	gpuoom_say(v, GPUOOM_TOO_BIG, small ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM,
	    "failed because what it needs does not fit into the accelerator's memory.");
	text(v, "Tensors held %s of the %s that it may use, and it asked for %s more.%s", size(g->allocated.bytes, a),
	     size(n->cap, b), size(g->tried.bytes, c),
	     small ? " This message alone cannot tell a working set that is too large from a leak: if it came after "
		     "many equal steps, it is a leak."
		   : "");
	gpuoom_advise(v,
		      "The request that failed was %s: make the batch, the sequence or the model's share on this "
		      "device smaller; gradient checkpointing, a smaller micro-batch with accumulation or sharding "
		      "(FSDP, ZeRO) save most.",
		      size(g->tried.bytes, c));
	gpuoom_advise(v, "To see who holds it: torch.cuda.memory._record_memory_history() and "
			 "_dump_snapshot('f.pickle'), then vigil heap f.pickle.");
}

void gpuoom_judge(const struct log_hint *h, struct gpuoom_verdict *ret)
{
	*ret = (struct gpuoom_verdict){.cause = GPUOOM_UNKNOWN};
	if (!h->has_gpu)
		return;
	const struct numbers n = numbers_of(&h->gpu);
	if (never_fits(&n, ret) || in_pieces(&n, ret) || by_others(&n, ret) || grew(h, &n, ret))
		return;
	too_big(&n, ret);
}
