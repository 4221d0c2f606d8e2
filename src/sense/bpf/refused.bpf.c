/*
 * Counts attempts to connect by TCP that come to nothing: by whom, and to which address. A socket that was refused is
 * gone at once, so that nothing in /proc tells of it. Attached while a job is suspected; sense/net/refused.c reads it.
 *
 * The state of a socket changes to SYN_SENT within connect(2), in the process that connects; it changes back whenever
 * the answer comes, in whatever process runs then. So the first one notes who it is. An attempt that succeeds takes
 * back what was counted for its address: who listens there is there now. Within the machine it is counted itself: who
 * asks a server again and again leaves no other trace either.
 */
#include "kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "records.h"

char LICENSE[] SEC("license") = "GPL";

/* Values of the kernel's net/tcp_states.h, and of its families. */
enum { STATE_SYN_SENT = 2, STATE_CLOSE = 7 };
enum { FAMILY_INET = 2, FAMILY_INET6 = 10 };

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_REFUSED_OPENING);
	__type(key, __u64);
	__type(value, struct bpf_refused_key);
} opening SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_REFUSED_ROWS);
	__type(key, struct bpf_refused_key);
	__type(value, struct bpf_refused_count);
} rows SEC(".maps");

static __always_inline void opening_begins(struct sock *sk)
{
	__u64 at = (__u64)sk;
	struct task_struct *me = bpf_get_current_task_btf();
	struct bpf_refused_key key = {.tgid = me->tgid};
	key.parent = BPF_CORE_READ(me, real_parent, tgid);
	key.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	key.port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (key.family == FAMILY_INET) {
		__u32 to = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		__builtin_memcpy(key.address, &to, sizeof(to));
	} else if (key.family == FAMILY_INET6) {
		BPF_CORE_READ_INTO(&key.address, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else {
		return;
	}
	bpf_map_update_elem(&opening, &at, &key, BPF_ANY);
}

/* True of a connection to an address of the machine itself. */
static __always_inline int is_within(struct sock *sk, const struct bpf_refused_key *key)
{
	unsigned char from[16] = {};
	if (key->family == FAMILY_INET6) {
		BPF_CORE_READ_INTO(&from, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	} else {
		__u32 own = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		__builtin_memcpy(from, &own, sizeof(own));
	}
	for (int i = 0; i < 16; i++)
		if (from[i] != key->address[i])
			return 0;
	return 1;
}

static __always_inline void opening_ends(struct sock *sk, int state)
{
	__u64 at = (__u64)sk;
	struct bpf_refused_key *known = bpf_map_lookup_elem(&opening, &at);
	if (!known)
		return;
	struct bpf_refused_key key = *known;
	bpf_map_delete_elem(&opening, &at);
	const int made = state != STATE_CLOSE;
	if (made && !is_within(sk, &key)) {
		bpf_map_delete_elem(&rows, &key);
		return;
	}
	struct bpf_refused_count *before = bpf_map_lookup_elem(&rows, &key);
	struct bpf_refused_count now = {.n = !made, .made = (unsigned)made, .last_ns = bpf_ktime_get_ns()};
	if (!made)
		now.error = BPF_CORE_READ(sk, sk_err);
	if (before && !made)
		now.n += before->n;
	if (before)
		now.made += before->made;
	bpf_map_update_elem(&rows, &key, &now, BPF_ANY);
}

/* arguments: the socket, its state before, its state from now on */
SEC("tp_btf/inet_sock_set_state")
int refused(__u64 *args)
{
	struct sock *sk = (void *)args[0];
	int before = (int)args[1], after = (int)args[2];
	if (after == STATE_SYN_SENT)
		opening_begins(sk);
	else if (before == STATE_SYN_SENT)
		opening_ends(sk, after);
	return 0;
}
