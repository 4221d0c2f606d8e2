#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/buf.h"
#include "sense/collective/ncclras.h"

/* Tries per address, because other jobs of the user share the port. */
#define TRIES_MAX 8
#define READ_BYTES (64 * KIB)

/*
 * One question: connect, greet, ask, read to the end. The caller polls fd for events and calls query_step; nothing in
 * here waits. deadline_ns is in the caller's clock.
 */
enum phase { PHASE_CONNECTING, PHASE_GREETING, PHASE_ASKING, PHASE_READING };
struct query {
	int fd;
	short events; /* to poll for */
	enum phase phase;
	bool want_json, got_json;
	uint32_t timeout_s; /* sent to the server */
	uint64_t deadline_ns;
	size_t sent; /* bytes of out */
	char out[64];
	char *in; /* the answer so far; owned */
	size_t len, cap;
	size_t line_at; /* start of the line that is being read */
};

/* Besides the conditions of ncclras_ask: poll fd and call again. */
enum { QUERY_MORE = 1 };

static void query_done(struct query *q)
{
	closep(&q->fd);
	free(q->in);
	q->in = NULL;
	q->len = q->cap = 0;
}

/* 0: started; NCCLRAS_REFUSED; -errno. */
static int query_start(const struct netns *ns, const struct sockaddr *to, socklen_t len, struct ncclras_version v,
		       uint64_t now_ns, uint64_t deadline_ns, struct query *ret)
{
	cleanup(closep) int fd = -1;
	int r = netns_socket(ns, to->sa_family, SOCK_STREAM, &fd);
	if (r < 0)
		return r == -EAFNOSUPPORT ? NCCLRAS_REFUSED : r;
	if (connect(fd, to, len) != 0 && errno != EINPROGRESS)
		return errno == ECONNREFUSED || errno == EADDRNOTAVAIL || errno == ENETUNREACH ? NCCLRAS_REFUSED
											       : -errno;
	uint64_t left_s = sub_floor(deadline_ns, now_ns) / NS_PER_S;
	*ret = (struct query){
		.fd = take_fd(&fd),
		.events = POLLOUT,
		.phase = PHASE_CONNECTING,
		.want_json = !v.known || ncclras_version_is(v, 2, 28, 7),
		/*
		 * The server gathers in two rounds of this length; half of our time lets it answer before our
		 * deadline.
		 */
		.timeout_s = (uint32_t)MAX(MIN(left_s / 2, (uint64_t)30), (uint64_t)1),
		.deadline_ns = deadline_ns,
	};
	return 0;
}

static int send_more(struct query *q)
{
	size_t len = strlen(q->out);
	while (q->sent < len) {
		ssize_t n = send(q->fd, q->out + q->sent, len - q->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			q->events = POLLOUT;
			return QUERY_MORE;
		}
		if (n < 0)
			return NCCLRAS_HUNG_UP;
		q->sent += (size_t)n;
	}
	q->events = POLLIN;
	return 0;
}

static int say(struct query *q, const char *text)
{
	TEXT_COPY(q->out, text);
	q->sent = 0;
	return send_more(q);
}

static int connected(struct query *q)
{
	int why = 0;
	socklen_t len = sizeof(why);
	struct pollfd p = {.fd = q->fd, .events = POLLOUT};
	if (poll(&p, 1, 0) == 0)
		return QUERY_MORE;
	if (getsockopt(q->fd, SOL_SOCKET, SO_ERROR, &why, &len) != 0)
		return -errno;
	if (why)
		return NCCLRAS_REFUSED;
	q->phase = PHASE_GREETING;
	return say(q, "CLIENT PROTOCOL 2\n");
}

/* Handles one line of the server and sends the next request. The server answers each of them before the next. */
static int reply(struct query *q, struct span line)
{
	char timeout[32];
	if (span_starts(line, "SERVER PROTOCOL ")) {
		TEXT_FORMAT(timeout, "TIMEOUT %u\n", q->timeout_s);
		return say(q, timeout);
	}
	if (!span_eq(line, "OK") && !span_starts(line, "ERROR"))
		return NCCLRAS_STRANGE;
	if (q->phase == PHASE_GREETING && q->want_json) {
		q->phase = PHASE_ASKING;
		return say(q, "SET FORMAT json\n");
	}
	q->got_json = q->phase == PHASE_ASKING && span_eq(line, "OK");
	q->phase = PHASE_READING;
	/* Without VERBOSE the text form leaves out most ranks. */
	return say(q, q->got_json ? "STATUS\n" : "VERBOSE STATUS\n");
}

static int lines(struct query *q)
{
	while (q->phase == PHASE_GREETING || q->phase == PHASE_ASKING) {
		const char *start = q->in + q->line_at, *nl = memchr(start, '\n', q->len - q->line_at);
		if (!nl)
			return q->len - q->line_at > 4096 ? NCCLRAS_STRANGE : QUERY_MORE;
		q->line_at = (size_t)(nl + 1 - q->in);
		int r = reply(q, span_trim((struct span){start, (size_t)(nl - start)}));
		if (r)
			return r;
	}
	return QUERY_MORE;
}

static int receive(struct query *q)
{
	for (;;) {
		if (q->cap - q->len < READ_BYTES) {
			size_t more = MAX(q->cap * 2, (size_t)(2 * READ_BYTES));
			char *grown = more > NCCLRAS_ANSWER_MAX ? NULL : realloc(q->in, more);
			if (!grown)
				return more > NCCLRAS_ANSWER_MAX ? NCCLRAS_STRANGE : -ENOMEM;
			q->in = grown;
			q->cap = more;
		}
		ssize_t n = recv(q->fd, q->in + q->len, q->cap - q->len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? QUERY_MORE : NCCLRAS_HUNG_UP;
		if (n == 0)
			return 0;
		q->len += (size_t)n;
		int r = lines(q);
		if (r != QUERY_MORE)
			return r;
	}
}

/* 0: the whole answer is in q->in, q->len bytes. */
static int query_step(struct query *q, uint64_t now_ns)
{
	int r = 0;
	if (now_ns >= q->deadline_ns)
		return NCCLRAS_LATE;
	if (q->phase == PHASE_CONNECTING)
		r = connected(q);
	else if (q->events == POLLOUT)
		r = send_more(q);
	if (r)
		return r;
	r = receive(q);
	if (r)
		return r;
	/* The stream has ended; the answer is all that follows the greeting. */
	if (q->phase != PHASE_READING || q->len == q->line_at)
		return NCCLRAS_HUNG_UP;
	memmove(q->in, q->in + q->line_at, q->len - q->line_at);
	q->len -= q->line_at;
	q->line_at = 0;
	return 0;
}

static int one_answer(const struct netns *ns, const struct sockaddr *to, socklen_t len, struct ncclras_version v,
		      uint64_t (*mono_ns)(void), uint64_t deadline_ns, struct query *q)
{
	int r = query_start(ns, to, len, v, mono_ns(), deadline_ns, q);
	while (r == 0 && (r = query_step(q, mono_ns())) == QUERY_MORE) {
		uint64_t left_ms = sub_floor(deadline_ns, mono_ns()) / NS_PER_MS;
		struct pollfd p = {.fd = q->fd, .events = q->events};
		if (poll(&p, 1, (int)MIN(left_ms + 1, (uint64_t)1000)) < 0 && errno != EINTR)
			return -errno;
		r = 0;
	}
	return r;
}

int ncclras_refused(struct fault *f)
{
	return fault_set(f, NCCLRAS_REFUSED,
			 "nobody listens at NCCL's RAS address: no NCCL of 2.24 or later runs there, or it is switched "
			 "off");
}

static int fault_of(int r, struct fault *f)
{
	switch (r) {
	case NCCLRAS_LATE:
		return fault_set(f, r, "NCCL's RAS did not answer in time");
	case NCCLRAS_REFUSED:
		return ncclras_refused(f);
	case NCCLRAS_STRANGE:
		return fault_set(f, r, "what listens at NCCL's RAS address does not talk its protocol");
	case NCCLRAS_HUNG_UP:
		return fault_set(f, r, "NCCL's RAS hung up in the middle of its answer");
	default:
		return r;
	}
}

int ncclras_ask(const struct netns *ns, const struct ncclras_address *a, struct ncclras_version v,
		const struct ncclras_process_id *ours, size_t n_ours, uint64_t (*mono_ns)(void), uint64_t deadline_ns,
		struct ncclras_report *ret, char *ret_from, size_t from_cap, struct fault *f)
{
	bool others = false;
	int r = NCCLRAS_REFUSED;
	for (unsigned try = 0; try < TRIES_MAX * a->n && mono_ns() < deadline_ns; try++) {
		size_t i = try % a->n;
		struct query q = {.fd = -1};
		struct ncclras_report report = {.n_comms = 0};
		int one = one_answer(ns, (const struct sockaddr *)&a->at[i], a->len[i], v, mono_ns, deadline_ns, &q);
		if (one == 0)
			one = ncclras_parse((struct span){q.in, q.len}, &report, f);
		query_done(&q);
		if (one == 0 && (!n_ours || ncclras_is_ours(&report, ours, n_ours))) {
			text_copy(ret_from, from_cap, a->at[i].ss_family == AF_INET6 ? "IPv6" : "IPv4");
			*ret = report;
			return 0;
		}
		if (one == 0)
			ncclras_done(&report);
		others |= one == 0;
		/* A refusal on one address family says nothing about the other. */
		if (one != NCCLRAS_REFUSED)
			r = one;
		if (one != 0 && (one != NCCLRAS_REFUSED || try + 1 >= a->n) && !others)
			break;
	}
	if (others)
		return fault_set(f, NCCLRAS_FOREIGN,
				 "NCCL's RAS answered for another job of the same user only: set "
				 "NCCL_RAS_ADDR to another port in one of the two");
	return r == NCCLRAS_FOREIGN ? r : fault_of(r, f);
}
