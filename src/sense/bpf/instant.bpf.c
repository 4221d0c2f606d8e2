/*
 * Copies registers, stack and further memory of the thread that runs on this processor, if it is the one asked for.
 * native/instant.c starts this on that processor: the thread is interrupted and goes on when this returns.
 */
#include "kernel_types.bpf.h"

#include <bpf/bpf_helpers.h>

#include "records.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*map_flags)[BPF_F_MMAPABLE];
	int (*max_entries)[1];
	__u32 *key;
	struct bpf_instant *value;
} scratch SEC(".maps");

static __always_inline int is_the_one(const struct bpf_instant *d)
{
	struct bpf_pidns_info ns;
	if (d->ns_ino == 0)
		return bpf_get_current_pid_tgid() == ((__u64)(__u32)d->pid << 32 | (__u32)d->tid);
	return bpf_get_ns_current_pid_tgid(d->ns_dev, d->ns_ino, &ns, sizeof(ns)) == 0 && ns.pid == (__u32)d->tid &&
	       ns.tgid == (__u32)d->pid;
}

/* Bytes from `from` to the end of its page, at most `most`. */
static __always_inline __u64 part_of_page(__u64 from, __u64 most)
{
	__u64 rest = BPF_INSTANT_PAGE - (from & (BPF_INSTANT_PAGE - 1));
	return rest < most ? rest : most;
}

static long stack_page(__u32 i, void *ctx)
{
	struct bpf_instant *d = *(struct bpf_instant **)ctx;
	__u32 at = d->n_stack;
	__u64 from = d->stack_from + at;
	(void)i;
	if (at > BPF_INSTANT_STACK || from >= d->stack_end)
		return 1;
	__u64 len = part_of_page(from, d->stack_end - from);
	if (len > BPF_INSTANT_PAGE)
		return 1;
	if (bpf_probe_read_user(d->stack + at, len, (void *)from) == 0) {
		d->n_stack = at + len;
		return 0;
	}
	/* The red zone may lie in the guard page; then the copy starts at the stack pointer. */
	if (at > 0 || d->red_zone == 0)
		return 1;
	d->stack_from += d->red_zone;
	d->red_zone = 0;
	return 0;
}

/* A page that was never touched reads as zero. If the beginning of a chunk is not mapped, the chunk is gone. */
static long chunk_page(__u32 i, void *ctx)
{
	struct bpf_instant *d = *(struct bpf_instant **)ctx;
	__u32 at = d->at_chunk, to = d->n_bytes;
	(void)i;
	if (at >= d->n_chunks || at >= BPF_INSTANT_CHUNKS || to > BPF_INSTANT_BYTES)
		return 1;
	__u64 from = d->chunk[at].addr + d->at_byte, left = d->chunk[at].bytes - d->at_byte;
	__u64 len = part_of_page(from, left);
	if (len > BPF_INSTANT_PAGE)
		return 1;
	if (bpf_probe_read_user(d->bytes + to, len, (void *)from) < 0 && d->at_byte == 0)
		return 1;
	d->n_bytes = to + len;
	d->at_byte += len;
	if (len == left) {
		d->at_chunk = at + 1;
		d->at_byte = 0;
	}
	return 0;
}

SEC("raw_tp")
int instant(void *ctx)
{
	__u32 first = 0;
	struct bpf_instant *d = bpf_map_lookup_elem(&scratch, &first);
	(void)ctx;
	if (!d)
		return 0;
	__u64 begin = bpf_ktime_get_ns();
	if (!is_the_one(d))
		return 0;
	void *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (bpf_probe_read_kernel(d->word, sizeof(d->word), regs) < 0 || d->sp_word >= BPF_INSTANT_WORDS)
		return 0;
	__u64 sp = d->word[d->sp_word];
	if (sp < d->stack_lo || sp >= d->stack_end)
		d->stack_end = -1;
	d->stack_from = sp - d->red_zone;
	bpf_loop((BPF_INSTANT_STACK / BPF_INSTANT_PAGE) + 2, stack_page, &d, 0);
	bpf_loop(BPF_INSTANT_CHUNKS + BPF_INSTANT_BYTES / BPF_INSTANT_PAGE + 1, chunk_page, &d, 0);
	d->begin_ns = begin;
	d->end_ns = bpf_ktime_get_ns();
	d->taken = 1;
	return 0;
}
