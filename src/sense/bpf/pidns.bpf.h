/* Process numbers as a given pid namespace shows them. For programs that include kernel_types.bpf.h. */
#pragma once

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Namespaces nest at most 32 deep. */
#define PIDNS_MAX_LEVEL 32

static __always_inline struct upid *pidns_upid(struct pid *p, unsigned int level)
{
	return (void *)__builtin_preserve_access_index(&p->numbers[0]) + level * bpf_core_type_size(struct upid);
}

/* 0 if the process is not visible from there. */
static __always_inline int pidns_number(struct pid *p, unsigned int level, struct pid_namespace *ns)
{
	if (!p || level > PIDNS_MAX_LEVEL || BPF_CORE_READ(p, level) < level)
		return 0;
	struct upid *u = pidns_upid(p, level);
	return BPF_CORE_READ(u, ns) == ns ? BPF_CORE_READ(u, nr) : 0;
}

/* The number in the process's own namespace. */
static __always_inline int pidns_innermost(struct pid *p)
{
	unsigned int level = p ? BPF_CORE_READ(p, level) : PIDNS_MAX_LEVEL + 1;
	if (level > PIDNS_MAX_LEVEL)
		return 0;
	struct upid *u = pidns_upid(p, level);
	return BPF_CORE_READ(u, nr);
}
