#include "sense/framework/frametimeout.h"

#include <string.h>

#include "base/clock.h"

struct name {
	const char *name;
	uint64_t unit_ns;
};

static const struct name variables[] = {
	{"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", NS_PER_S},
	{"HOROVOD_GLOO_TIMEOUT_SECONDS", NS_PER_S},
	{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", NS_PER_S},
	{"HCCL_EXEC_TIMEOUT", NS_PER_S},
	{"HCCL_CONNECT_TIMEOUT", NS_PER_S},
	{"DEEPSPEED_TIMEOUT", 60 * NS_PER_S},
};

/* A blank in a name stands for '-' or '_'. */
static const struct name flags[] = {
	{"--ddp-timeout", NS_PER_S},
	{"--dist-timeout", NS_PER_S},
	{"--nccl-timeout", NS_PER_S},
	{"--gloo-timeout", NS_PER_S},
	{"--distributed-timeout", NS_PER_S},
	{"--distributed-timeout-seconds", NS_PER_S},
	{"--distributed-timeout-minutes", 60 * NS_PER_S},
};

/*
 * Takes the number if it is the shortest so far. 0 means no limit in all these settings; more than a day counts as no
 * limit.
 */
static void shorter(uint64_t *shortest, struct span number, uint64_t unit_ns)
{
	const uint64_t most_ns = UINT64_C(86400) * NS_PER_S;
	uint64_t v;
	if (span_u64(number, &v) < 0 || v == 0 || v > most_ns / unit_ns)
		return;
	if (*shortest == 0 || v * unit_ns < *shortest)
		*shortest = v * unit_ns;
}

static void variable(struct span item, uint64_t *shortest)
{
	struct span name = span_before(item, "=");
	for (size_t i = 0; i < ARRAY_SIZE(variables) && name.len < item.len; i++)
		if (span_eq(name, variables[i].name))
			shorter(shortest, (struct span){item.p + name.len + 1, item.len - name.len - 1},
				variables[i].unit_ns);
}

static bool same_flag(struct span word, const char *flag)
{
	size_t n = strlen(flag);
	if (word.len != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (word.p[i] != flag[i] && !(flag[i] == '-' && word.p[i] == '_' && i >= 2))
			return false;
	return true;
}

uint64_t frametimeout_find(struct span environment, struct span command)
{
	uint64_t shortest = 0;
	while (environment.len > 0) {
		const char *end = memchr(environment.p, '\0', environment.len);
		size_t n = end ? (size_t)(end - environment.p) : environment.len;
		variable((struct span){environment.p, n}, &shortest);
		n = MIN(n + 1, environment.len);
		environment = (struct span){environment.p + n, environment.len - n};
	}
	for (struct span word; span_word(&command, &word);) {
		struct span name = span_before(word, "="), value = {word.p + name.len, word.len - name.len};
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
			if (!same_flag(name, flags[i].name))
				continue;
			if (value.len > 0) {
				shorter(&shortest, (struct span){value.p + 1, value.len - 1}, flags[i].unit_ns);
			} else {
				struct span rest = command;
				if (span_word(&rest, &value))
					shorter(&shortest, value, flags[i].unit_ns);
			}
		}
	}
	return shortest;
}
