#include "sense/collective/ncclras.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/buf.h"

const char *const ncclras_op_name[NCCLRAS_OPS] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

static bool take_number(struct span *s, uint32_t *ret)
{
	uint64_t n;
	if (span_u64_prefix(*s, &n) != 0 || n > 99999)
		return false;
	while (s->len && char_digit(*s->p))
		*s = (struct span){s->p + 1, s->len - 1};
	*ret = (uint32_t)n;
	return true;
}

static bool take_dot(struct span *s)
{
	if (!s->len || *s->p != '.')
		return false;
	*s = (struct span){s->p + 1, s->len - 1};
	return true;
}

bool ncclras_version_parse(struct span text, struct ncclras_version *ret)
{
	struct span s = span_after(text, "libnccl.so.");
	if (!s.p)
		s = span_after(text, "NCCL version ");
	if (!s.p)
		s = span_trim(text);
	struct ncclras_version v = {.known = true};
	if (!take_number(&s, &v.major) || !take_dot(&s) || !take_number(&s, &v.minor) || !take_dot(&s) ||
	    !take_number(&s, &v.patch))
		return false;
	*ret = v;
	return true;
}

bool ncclras_version_is(struct ncclras_version v, uint32_t major, uint32_t minor, uint32_t patch)
{
	if (!v.known)
		return false;
	if (v.major != major)
		return v.major > major;
	return v.minor != minor ? v.minor > minor : v.patch >= patch;
}

enum ncclras_gate ncclras_allowed(const struct ncclras_wish *w)
{
	if (span_eq(span_trim(w->enable), "0"))
		return NCCLRAS_OFF;
	if (w->version.known && !ncclras_version_is(w->version, 2, 24, 3))
		return NCCLRAS_ABSENT;
	if (w->force)
		return NCCLRAS_ASK;
	if (!w->version.known)
		return NCCLRAS_UNKNOWN_AGE;
	if (!ncclras_version_is(w->version, 2, 28, 9))
		return NCCLRAS_TOO_OLD;
	return w->job_age_ns < NCCLRAS_QUIET_NS ? NCCLRAS_TOO_EARLY : NCCLRAS_ASK;
}

const char *ncclras_gate_text(enum ncclras_gate g)
{
	switch (g) {
	case NCCLRAS_ASK:
		return NULL;
	case NCCLRAS_TOO_EARLY:
		return "the job is younger than a minute, and NCCL is not asked while it starts";
	case NCCLRAS_TOO_OLD:
		return "its NCCL is older than 2.28.9, and such versions have crashed jobs when they were asked";
	case NCCLRAS_UNKNOWN_AGE:
		return "the version of its NCCL is not known, and versions before 2.28.9 have crashed jobs when they "
		       "were "
		       "asked";
	case NCCLRAS_ABSENT:
		return "its NCCL is older than 2.24.3 and has no RAS";
	case NCCLRAS_OFF:
		return "RAS is switched off in the job (NCCL_RAS_ENABLE=0)";
	}
	return NULL;
}

static int add_address(struct ncclras_address *a, int family, const char *host, uint16_t port)
{
	struct sockaddr_storage *at = &a->at[a->n];
	*at = (struct sockaddr_storage){.ss_family = (sa_family_t)family};
	if (family == AF_INET) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)at;
		v4->sin_port = htons(port);
		if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
			return -EINVAL;
		a->len[a->n] = sizeof(*v4);
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)at;
		v6->sin6_port = htons(port);
		if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
			return -EINVAL;
		a->len[a->n] = sizeof(*v6);
	}
	a->n++;
	return 0;
}

static int bad_address(struct span text, struct fault *f)
{
	return fault_set(
		f, -EINVAL,
		"'%.*s' is no address of NCCL's RAS: expected HOST:PORT with a number or localhost as the host, "
		"or [V6]:PORT, as in NCCL_RAS_ADDR=127.0.0.1:28028",
		(int)MIN(text.len, (size_t)80), text.p);
}

int ncclras_address_parse(struct span text, struct ncclras_address *ret, struct fault *f)
{
	struct span s = span_trim(text), port = SPAN("");
	struct ncclras_address a = {.n = 0};
	char host[64];
	uint64_t number = NCCLRAS_PORT;
	if (s.len && *s.p == '[') {
		port = span_after(s, "]");
		s = span_before((struct span){s.p + 1, s.len - 1}, "]");
		if (!port.p)
			return bad_address(text, f);
		if (port.len && *port.p == ':')
			port = (struct span){port.p + 1, port.len - 1};
		else if (port.len)
			return bad_address(text, f);
	} else {
		const char *colon = span_rfind(s, ":");
		/* With more than one colon it is an IPv6 address without a port. */
		if (colon && colon == span_find(s, ":")) {
			port = (struct span){colon + 1, s.len - (size_t)(colon + 1 - s.p)};
			s.len = (size_t)(colon - s.p);
		}
	}
	if ((port.len && span_u64(port, &number) != 0) || number == 0 || number > UINT16_MAX || s.len >= sizeof(host))
		return bad_address(text, f);
	span_copy(s, host, sizeof(host));
	int e = 0;
	if (s.len == 0 || span_eq(s, "localhost")) {
		/* localhost can be either address, and the server listens on one of them. */
		e = add_address(&a, AF_INET, "127.0.0.1", (uint16_t)number);
		if (e == 0)
			e = add_address(&a, AF_INET6, "::1", (uint16_t)number);
	} else {
		e = add_address(&a, span_find(s, ":") ? AF_INET6 : AF_INET, host, (uint16_t)number);
	}
	if (e)
		return bad_address(text, f);
	*ret = a;
	return 0;
}

bool ncclras_is_ours(const struct ncclras_report *r, const struct ncclras_process_id *ours, size_t n)
{
	size_t named = 0;
	for (size_t i = 0; i < r->n_comms; i++)
		for (size_t j = 0; j < r->comms[i].n_ranks; j++, named++)
			for (size_t k = 0; k < n; k++)
				if (r->comms[i].ranks[j].pid == ours[k].pid &&
				    (!ours[k].host[0] || !r->comms[i].ranks[j].host[0] ||
				     strcmp(ours[k].host, r->comms[i].ranks[j].host) == 0))
					return true;
	for (size_t i = 0; i < r->n_processes; i++, named++)
		for (size_t k = 0; k < n; k++)
			if (r->processes[i].pid == ours[k].pid)
				return true;
	return named == 0;
}

void ncclras_done(struct ncclras_report *r)
{
	arena_done(&r->arena);
	*r = (struct ncclras_report){.comms = NULL};
}
