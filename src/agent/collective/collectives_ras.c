#include "agent/collective/collectives_parts.h"

#include <string.h>
#include <sys/socket.h>

#include "base/file.h"
#include "sense/collective/ncclversion.h"
#include "sense/net/netns.h"
#include "sense/net/socktable.h"
#include "sense/proc/proc.h"

/* Time between the two reports: long enough for any step that moves at all to show. */
#define RAS_GAP_NS (3 * NS_PER_S)
#define RAS_NAMESPACES 8
#define VERSION_RANKS 2

void collectives_pause(const struct world *w, uint64_t until_ns)
{
	uint64_t left = sub_floor(until_ns, w->mono_ns());
	struct timespec t = {.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};
	nanosleep(&t, NULL);
}

static struct ncclras_version version_of(const struct world *w, const struct ranks *r)
{
	struct ncclras_version v = {.known = false};
	/* All ranks have the same version as a rule; the next rank is tried when a library cannot be read. */
	for (size_t i = 0; i < MIN(r->n, (size_t)VERSION_RANKS) && !v.known; i++)
		ignore(nccl_version_of_process(w, r->row[i].pid, &v), "not known then");
	return v;
}

static uint64_t age_of(const struct world *w, const struct ranks *r)
{
	uint64_t youngest = 0;
	for (size_t i = 0; i < r->n; i++)
		youngest = MAX(youngest, r->row[i].start_ticks);
	char text[64];
	size_t len;
	double up_s = 0;
	if (file_read_at(w->proc_fd, "uptime", text, sizeof(text), &len) == 0)
		up_s = strtod(text, NULL);
	double start_s = w->ticks_per_s ? (double)youngest / (double)w->ticks_per_s : 0;
	return up_s > start_s ? (uint64_t)((up_s - start_s) * (double)NS_PER_S) : 0;
}

/*
 * Maps process numbers in an answer to ranks. NCCL reports the pid as its container numbers it. Numbers that several
 * ranks share are left out.
 */
static size_t places_make(const struct world *w, const struct ranks *r, struct ncclras_process_id *ours,
			  struct collective_place *places)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct proc_status status;
		bool known = proc_status_read(w, r->row[i].pid, &status) == 0 && status.ns_pid > 0;
		ours[i].pid = known ? status.ns_pid : r->row[i].pid;
	}
	for (size_t i = 0; i < r->n; i++) {
		size_t same = 0;
		for (size_t k = 0; k < r->n; k++)
			same += ours[k].pid == ours[i].pid;
		if (same == 1)
			places[n++] = (struct collective_place){.rank = r->row[i].rank, .pid = ours[i].pid};
	}
	return n;
}

/*
 * True: the namespace of the rank can be entered, or *ns is now our own, where an address that a person gave is tried.
 * False: neither; a note says so.
 */
static bool namespace_try(const struct living *l, const struct collectives_want *want, struct netns *ns,
			  struct collectives *c)
{
	cleanup(closep) int try = -1;
	int r = netns_socket(ns, AF_INET, SOCK_STREAM, &try);
	if (r == 0 || r == -EAFNOSUPPORT)
		return true;
	collectives_note(c,
			 "NCCL RAS: rank %d is in a network namespace of its own (net:[%llu]), which vigil cannot "
			 "enter: %s. It takes CAP_SYS_ADMIN, as root has it, or a vigil in the container%s",
			 l->rank, (unsigned long long)ns->inode, strerror(-r),
			 want->ras_address ? "; the address given is tried from here" : "");
	netns_done(ns);
	return want->ras_address != NULL;
}

struct ras_question {
	const struct netns *ns;
	struct ncclras_address address;
	struct ncclras_version version;
	struct ncclras_process_id *ours;
	struct collective_place *places;
	size_t n_ours, n_places;
	uint64_t deadline_ns;
};

/*
 * Asks for two reports, RAS_GAP_NS apart: counters that differ between ranks in one report only are work in progress. 0
 * or -ENOMEM; *ret_got false: no report, and f says why.
 */
static int ask_twice(const struct world *w, const struct ras_question *q, struct fault *f, bool *ret_got,
		     struct collectives *c)
{
	struct ncclras_report now = {.n_comms = 0}, before = {.n_comms = 0};
	char from[32];
	int e = ncclras_ask(q->ns, &q->address, q->version, q->ours, q->n_ours, w->mono_ns, q->deadline_ns, &before,
			    from, sizeof(from), f);
	if (e == 0) {
		collectives_pause(w, MIN(w->mono_ns() + RAS_GAP_NS, q->deadline_ns));
		e = ncclras_ask(q->ns, &q->address, q->version, q->ours, q->n_ours, w->mono_ns, q->deadline_ns, &now,
				from, sizeof(from), f);
	}
	bool got = e == 0;
	if (got)
		e = collective_add_ras(c->set, &now, &before, q->places, q->n_places);
	c->n_read += got && e == 0;
	if (e && e != -ENOMEM && !f->text[0])
		e = fault_set(f, e, "%s", strerror(e < 0 ? -e : EPROTO));
	ncclras_done(&now);
	ncclras_done(&before);
	*ret_got = got;
	return e == -ENOMEM ? e : 0;
}

/*
 * The address stands in the environment of a rank, so the job's user chose it. It is asked only where this host itself
 * has the address and where sockets of that user alone listen: vigil connects to nothing that the user names
 * elsewhere. 0, or the fault says why nothing is left.
 */
static int own_only(const struct world *w, const struct living *l, const struct netns *ns, struct ncclras_address *a,
		    struct fault *f)
{
	struct ncclras_address own = {.n = 0};
	int r = SOCK_NONE;
	const char *text = l->ras[0] ? l->ras : "localhost";
	if (l->root_fd < 0)
		return fault_set(f, NCCLRAS_NOT_OURS, "the user of rank %d is not known: its RAS is not asked",
				 l->rank);
	for (size_t i = 0; i < a->n; i++) {
		const struct sockaddr *at = (const struct sockaddr *)&a->at[i];
		int one = netns_is_own(ns, at, a->len[i]) ? socktable_listener(w, l->pid, at, l->user.uid)
							   : NCCLRAS_NOT_OURS;
		if (one == 0) {
			own.at[own.n] = a->at[i];
			own.len[own.n++] = a->len[i];
		} else if (one != SOCK_NONE)
			r = one;
	}
	*a = own;
	if (own.n > 0)
		return 0;
	if (r == SOCK_NONE)
		return ncclras_refused(f);
	if (r == SOCK_OTHERS)
		return fault_set(f, NCCLRAS_NOT_OURS,
				 "at %s, where rank %d is to have its RAS, another user listens: it is not asked",
				 text, l->rank);
	if (r == NCCLRAS_NOT_OURS)
		return fault_set(f, r,
				 "NCCL_RAS_ADDR=%s of rank %d is no address of this host: it is not asked "
				 "(--ras-addr asks any)",
				 text, l->rank);
	return fault_set(f, NCCLRAS_NOT_OURS, "who listens at %s could not be read: it is not asked", text);
}

/*
 * Asks the server of one rank, which reports on all ranks that it is connected with. Servers in other network
 * namespaces are asked while there is no answer.
 */
static int ask_ras(const struct world *w, const struct ranks *r, const struct collectives_want *want,
		   struct ncclras_version version, uint64_t deadline_ns, struct collectives *c)
{
	uint64_t seen[RAS_NAMESPACES];
	size_t n_seen = 0;
	struct fault f = {.text = ""};
	bool got = false, asked = false;
	cleanup(freep) struct ncclras_process_id *ours = calloc(r->n, sizeof(*ours));
	cleanup(freep) struct collective_place *places = calloc(r->n, sizeof(*places));
	if (!ours || !places)
		return -ENOMEM;
	struct ras_question q = {.version = version, .ours = ours, .places = places, .n_ours = r->n};
	q.deadline_ns = deadline_ns;
	q.n_places = places_make(w, r, ours, places);
	for (size_t i = 0; i < r->n && !got && n_seen < RAS_NAMESPACES && w->mono_ns() < deadline_ns; i++) {
		cleanup(netns_done) struct netns ns = {.net_fd = -1, .user_fd = -1};
		const char *text = want->ras_address ? want->ras_address : r->row[i].ras;
		bool again = false;
		/* a process whose namespace is unknown is asked in our own */
		ignore(netns_open(w, r->row[i].pid, &ns), "ours then");
		for (size_t k = 0; k < n_seen; k++)
			again = again || seen[k] == ns.inode;
		if (again)
			continue;
		seen[n_seen++] = ns.inode;
		if (!namespace_try(&r->row[i], want, &ns, c))
			continue;
		q.ns = &ns;
		asked = true;
		int e = ncclras_address_parse(span_of(text), &q.address, &f);
		if (e == 0 && !want->ras_address)
			e = own_only(w, &r->row[i], &ns, &q.address, &f);
		if (e == 0)
			e = ask_twice(w, &q, &f, &got, c);
		if (e == -ENOMEM)
			return e;
	}
	if (asked && !got)
		collectives_note(c, "NCCL RAS: %s", f.text[0] ? f.text : "no answer");
	return 0;
}

int collectives_ras(const struct world *w, const struct ranks *r, const struct collectives_want *want,
		    uint64_t deadline_ns, struct collectives *c)
{
	const struct ncclras_wish wish = {.version = version_of(w, r),
					  .job_age_ns = age_of(w, r),
					  .enable = span_of(r->row[0].ras_enable),
					  .force = want->ras_force};
	enum ncclras_gate gate = ncclras_allowed(&wish);
	if (gate == NCCLRAS_ASK)
		return ask_ras(w, r, want, wish.version, deadline_ns, c);
	bool can_force = gate != NCCLRAS_OFF && gate != NCCLRAS_ABSENT;
	collectives_note(c, "NCCL RAS was not asked: %s%s", ncclras_gate_text(gate),
	     can_force && !want->ras_no_hint ? " (--force asks nevertheless)" : "");
	return 0;
}

