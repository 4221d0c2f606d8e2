/*
 * Questions to sock_diag(7) over netlink(7), and the walk over its answers: what sense/net/tcpflow and
 * sense/net/sockpeer have in common. Answers come from the kernel, but each length is checked.
 */
#pragma once

#include "base/text.h"

/* Takes the body of one message of a socket. 0, or a result that ends the walk. */
typedef int sockdiag_take(void *ctx, struct span body);

/*
 * Walks the messages of one answer. *ret_done: the answer is complete. -EBADMSG, -errno of an error message, or what
 * `each` returned. Pure.
 */
int must_check sockdiag_parse(struct span messages, sockdiag_take *each, void *ctx, bool *ret_done);
/* Takes the next attribute off the front of *rest; false at the end. -EBADMSG is stored in *r. Pure. */
bool sockdiag_attribute(struct span *rest, uint16_t *ret_type, struct span *ret_value, int *r);
/*
 * Sends a request of a family (struct inet_diag_req_v2, struct unix_diag_req) and takes all sockets of the answer.
 * socket: NETLINK_SOCK_DIAG. -ETIMEDOUT after 1 s without an answer, -errno.
 */
int must_check sockdiag_dump(int socket, const void *request, size_t bytes, sockdiag_take *each, void *ctx);
