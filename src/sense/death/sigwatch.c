#include "sense/death/sigwatch.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mask/mask.h"
#include "sense/bpf/records.h"

int sigwatch_open(int ring_fd, size_t ring_bytes, struct sigwatch *ret)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* The size of a ring is always a power of two of at least one page. */
	if (ring_bytes < page || (ring_bytes & (ring_bytes - 1)) != 0)
		return -EINVAL;
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	void *producer = mmap(NULL, page + 2 * ring_bytes, PROT_READ, MAP_SHARED, ring_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int r = -errno;
		(void)munmap(consumer, page);
		return r;
	}
	*ret = (struct sigwatch){
		.ring_fd = ring_fd, .ring_bytes = ring_bytes, .consumer = consumer, .producer = producer};
	return 0;
}

void sigwatch_close(struct sigwatch *s)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (s->consumer)
		(void)munmap(s->consumer, page);
	if (s->producer)
		(void)munmap((void *)(uintptr_t)s->producer, page + 2 * s->ring_bytes);
	*s = (struct sigwatch){.ring_fd = -1};
}

static void event_make(const struct bpf_signal_record *r, const struct world *w, struct sigwatch_event *e)
{
	const uint64_t age_ns = sub_floor(clock_boot_ns(), r->boot_ns);
	*e = (struct sigwatch_event){
		.signal = r->signal,
		.code = r->code,
		.target = r->target,
		.target_inner = r->target_inner,
		.target_start_ticks = r->target_start_boot_ns / (NS_PER_S / w->ticks_per_s),
		.from_kernel = r->from_kernel != 0,
		.sender = r->sender,
		.sender_inner = r->sender_inner,
		.sender_uid = r->sender_uid,
		.fault_addr = r->fault_addr,
		.stack_pointer = r->user_sp,
		.boot_ns = r->boot_ns,
		.time_unix_ms = w->unix_ms() - (int64_t)(age_ns / NS_PER_MS),
	};
	memcpy(e->sender_comm, r->sender_comm, sizeof(e->sender_comm));
	e->sender_comm[sizeof(e->sender_comm) - 1] = '\0';
	mask_name(e->sender_comm);
}

static void event_make_end(const struct bpf_end_record *r, const struct world *w, struct sigwatch_event *e)
{
	const uint64_t now_ns = clock_boot_ns();
	*e = (struct sigwatch_event){.is_end = true, .end_inner = r->pid_inner, .end_parent_inner = r->parent_inner};
	struct process_end *end = &e->end;
	end->pid = r->pid;
	end->rank = NO_RANK;
	end->parent = r->parent;
	end->start_ticks = r->start_boot_ns / (NS_PER_S / w->ticks_per_s);
	end->wait_status = r->wait_status;
	end->time_unix_ms = w->unix_ms() - (int64_t)(sub_floor(now_ns, r->boot_ns) / NS_PER_MS);
	end->start_unix_ms = w->unix_ms() - (int64_t)(sub_floor(now_ns, r->start_boot_ns) / NS_PER_MS);
	end->cpu_ns = r->cpu_ns;
	end->peak_rss_bytes = r->max_rss_pages * w->page_bytes;
	memcpy(end->name, r->comm, sizeof(end->name));
	end->name[sizeof(end->name) - 1] = '\0';
	mask_name(end->name);
	_Static_assert(PROCESS_LIMITS == BPF_LIMITS, "the same limits on both sides");
	for (size_t i = 0; i < PROCESS_LIMITS; i++) {
		end->soft_limit[i] = r->limit[i][0];
		end->hard_limit[i] = r->limit[i][1];
	}
	end->well_before = r->well_before;
	end->forked = r->forked != 0;
	_Static_assert(SIGWATCH_COMMAND == BPF_COMMAND, "room for all of it");
	memcpy(e->end_command, r->command.text, sizeof(e->end_command));
	e->end_command_len = MIN((size_t)r->command.len, sizeof(e->end_command));
}

static void ranks_take(const struct bpf_rank_words *ranks, struct sigwatch_event *e)
{
	_Static_assert(sizeof(ranks->word) <= SIGWATCH_RANKS, "room for all words");
	for (size_t i = 0; i < BPF_RANK_WORDS; i++) {
		const size_t n = strnlen(ranks->word[i], BPF_RANK_WORD - 1);
		memcpy(e->end_ranks + e->end_ranks_len, ranks->word[i], n);
		e->end_ranks_len += n;
		if (n > 0)
			e->end_ranks[e->end_ranks_len++] = '\0';
	}
}

/* False for a record of another length, which is none of ours. */
static bool record_take(struct sigwatch *s, const struct world *w, const char *at, uint32_t len,
			struct sigwatch_event *e)
{
	struct bpf_signal_record sent;
	struct bpf_end_record end;
	_Static_assert(sizeof(sent) != sizeof(end), "records are told apart by their length");
	if (len == sizeof(sent)) {
		memcpy(&sent, at, sizeof(sent));
		s->lost = MAX(s->lost, sent.lost);
		event_make(&sent, w, e);
		return true;
	}
	if (len != sizeof(end))
		return false;
	memcpy(&end, at, sizeof(end));
	s->lost = MAX(s->lost, end.lost);
	event_make_end(&end, w, e);
	ranks_take(&end.ranks, e);
	return true;
}

int sigwatch_read(struct sigwatch *s, const struct world *w, struct sigwatch_event *events, size_t cap, size_t *ret_n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const char *data = (const char *)s->producer + page;
	unsigned long *consumer = s->consumer;
	unsigned long at = *consumer;
	const unsigned long end = __atomic_load_n((const unsigned long *)s->producer, __ATOMIC_ACQUIRE);
	size_t n = 0;
	while (at < end && n < cap) {
		const char *record = data + (at & (s->ring_bytes - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)(const void *)record, __ATOMIC_ACQUIRE);
		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		uint32_t len = head & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
		if (!(head & BPF_RINGBUF_DISCARD_BIT) &&
		    record_take(s, w, record + BPF_RINGBUF_HDR_SZ, len, &events[n]))
			n++;
		at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~UINT32_C(7);
	}
	__atomic_store_n(consumer, at, __ATOMIC_RELEASE);
	*ret_n = n;
	return 0;
}
