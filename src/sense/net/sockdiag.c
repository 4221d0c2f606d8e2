/* Included before base.h: the headers have fields called "unused", which base.h defines as a macro. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include "sense/net/sockdiag.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Time limit of an answer; without one, sock_diag is taken as unavailable. */
#define ANSWER_MS 1000
/* Longest request of the families that are asked. */
#define REQUEST_MAX 64

bool sockdiag_attribute(struct span *rest, uint16_t *ret_type, struct span *ret_value, int *r)
{
	struct rtattr a;
	if (rest->len < sizeof(a))
		return false;
	memcpy(&a, rest->p, sizeof(a));
	if (a.rta_len < sizeof(a) || a.rta_len > rest->len) {
		*r = -EBADMSG;
		return false;
	}
	*ret_type = a.rta_type;
	*ret_value = (struct span){rest->p + sizeof(a), a.rta_len - sizeof(a)};
	const size_t step = MIN((size_t)RTA_ALIGN(a.rta_len), rest->len);
	*rest = (struct span){rest->p + step, rest->len - step};
	return true;
}

int sockdiag_parse(struct span messages, sockdiag_take *each, void *ctx, bool *ret_done)
{
	while (messages.len >= sizeof(struct nlmsghdr)) {
		struct nlmsghdr h;
		memcpy(&h, messages.p, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > messages.len)
			return -EBADMSG;
		struct span body = {messages.p + NLMSG_HDRLEN, h.nlmsg_len - NLMSG_HDRLEN};
		if (h.nlmsg_type == NLMSG_DONE) {
			*ret_done = true;
			return 0;
		}
		if (h.nlmsg_type == NLMSG_ERROR) {
			int error = -EBADMSG;
			if (body.len >= sizeof(error))
				memcpy(&error, body.p, sizeof(error));
			return error < 0 && error > -4096 ? error : -EBADMSG;
		}
		int r = h.nlmsg_type == SOCK_DIAG_BY_FAMILY ? each(ctx, body) : 0;
		if (r)
			return r;
		size_t step = MIN((size_t)NLMSG_ALIGN(h.nlmsg_len), messages.len);
		messages = (struct span){messages.p + step, messages.len - step};
	}
	*ret_done = false;
	return messages.len == 0 ? 0 : -EBADMSG;
}

static int sockdiag_ask(int socket, const void *request, size_t bytes)
{
	struct {
		struct nlmsghdr h;
		char request[REQUEST_MAX];
	} ask = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
	if (bytes > sizeof(ask.request))
		return -EINVAL;
	memcpy(ask.request, request, bytes);
	ask.h.nlmsg_len = (uint32_t)(sizeof(ask.h) + bytes);
	return send(socket, &ask, ask.h.nlmsg_len, 0) == (ssize_t)ask.h.nlmsg_len ? 0 : -errno;
}

int sockdiag_dump(int socket, const void *request, size_t bytes, sockdiag_take *each, void *ctx)
{
	char answer[32768];
	bool done = false;
	int r = sockdiag_ask(socket, request, bytes);
	while (r == 0 && !done) {
		struct pollfd p = {.fd = socket, .events = POLLIN};
		if (poll(&p, 1, ANSWER_MS) <= 0)
			return -ETIMEDOUT;
		ssize_t n = recv(socket, answer, sizeof(answer), MSG_DONTWAIT);
		if (n <= 0)
			return n == 0 ? -EBADMSG : -errno;
		r = sockdiag_parse((struct span){answer, (size_t)n}, each, ctx, &done);
	}
	return r;
}
