#include "model/rules/ibwatch.h"

#include <string.h>

#include "base/buf.h"

static const struct {
	enum ibport_counter counter;
	const char *name;
} reported_counters[] = {
	{IB_LINK_DOWNED, "ib_link_downed"},
	{IB_LINK_RECOVERED, "ib_link_error_recovery"},
	{IB_SYMBOL_ERRORS, "ib_symbol_error"},
	{IB_LINK_INTEGRITY, "ib_local_link_integrity_errors"},
	{IB_RECV_ERRORS, "ib_port_rcv_errors"},
	{IB_XMIT_DISCARDS, "ib_port_xmit_discards"},
	{IB_ACK_TIMEOUTS, "ib_local_ack_timeout_err"},
	{IB_SEQUENCE_ERRORS, "ib_packet_seq_err"},
	{IB_OUT_OF_SEQUENCE, "ib_out_of_sequence"},
	{IB_RNR_RETRIES, "ib_rnr_nak_retry_err"},
	{IB_OUT_OF_BUFFER, "ib_out_of_buffer"},
	{IB_ADAPTIVE_RETRANS, "ib_roce_adp_retrans"},
	{IB_SLOW_RESTARTS, "ib_roce_slow_restart"},
	{IB_REQUEST_ERRORS, "ib_req_cqe_error"},
	{IB_RESPONSE_ERRORS, "ib_resp_cqe_error"},
};

static const struct ibport *port_of(const struct ibport *list, size_t n, const struct ibport *p)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].port == p->port && strcmp(list[i].device, p->device) == 0)
			return &list[i];
	return NULL;
}

static uint64_t grown(const struct ibport *was, const struct ibport *is, enum ibport_counter c)
{
	return ibport_has(was, c) && ibport_has(is, c) ? sub_floor(is->value[c], was->value[c]) : 0;
}

static void port_lines(const struct ibport *was, const struct ibport *is, ibwatch_line_fn *fn, void *data)
{
	char line[160];
	if (was->state == IBPORT_STATE_ACTIVE && is->state != IBPORT_STATE_ACTIVE && is->state != 0) {
		TEXT_FORMAT(line, "ib_port_down{%s:%u} state=%u phys=%u", is->device, is->port, is->state,
			    is->phys_state);
		fn(data, line);
	}
	for (size_t i = 0; i < ARRAY_SIZE(reported_counters); i++) {
		uint64_t n = grown(was, is, reported_counters[i].counter);
		if (n == 0)
			continue;
		TEXT_FORMAT(line, "%s{%s:%u} %llu", reported_counters[i].name, is->device, is->port,
			    (unsigned long long)n);
		fn(data, line);
	}
}

void ibwatch_lines(const struct ibport *before, size_t n_before, const struct ibport *now, size_t n_now,
		   ibwatch_line_fn *fn, void *data, struct ibwatch_facts *ret)
{
	*ret = (struct ibwatch_facts){0};
	for (size_t i = 0; i < n_now; i++) {
		const struct ibport *was = port_of(before, n_before, &now[i]);
		ret->active |= now[i].state == IBPORT_STATE_ACTIVE;
		if (!was)
			continue;
		port_lines(was, &now[i], fn, data);
		ret->ack_timeouts += grown(was, &now[i], IB_ACK_TIMEOUTS);
	}
}
