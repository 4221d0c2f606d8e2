#include "sense/net/ibport.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

static const struct {
	const char *name;
	bool hw; /* in the folder hw_counters */
	bool words; /* counts words of four bytes */
} counters[IBPORT_COUNTERS] = {
	[IB_XMIT_BYTES] = {"port_xmit_data", .words = true},
	[IB_RECV_BYTES] = {"port_rcv_data", .words = true},
	[IB_XMIT_WAIT] = {"port_xmit_wait"},
	[IB_XMIT_DISCARDS] = {"port_xmit_discards"},
	[IB_RECV_ERRORS] = {"port_rcv_errors"},
	[IB_SYMBOL_ERRORS] = {"symbol_error"},
	[IB_LINK_DOWNED] = {"link_downed"},
	[IB_LINK_RECOVERED] = {"link_error_recovery"},
	[IB_LINK_INTEGRITY] = {"local_link_integrity_errors"},
	[IB_ACK_TIMEOUTS] = {"local_ack_timeout_err", .hw = true},
	[IB_SEQUENCE_ERRORS] = {"packet_seq_err", .hw = true},
	[IB_OUT_OF_SEQUENCE] = {"out_of_sequence", .hw = true},
	[IB_RNR_RETRIES] = {"rnr_nak_retry_err", .hw = true},
	[IB_OUT_OF_BUFFER] = {"out_of_buffer", .hw = true},
	[IB_ADAPTIVE_RETRANS] = {"roce_adp_retrans", .hw = true},
	[IB_SLOW_RESTARTS] = {"roce_slow_restart", .hw = true},
	[IB_REQUEST_ERRORS] = {"req_cqe_error", .hw = true},
	[IB_RESPONSE_ERRORS] = {"resp_cqe_error", .hw = true},
	[IB_CNP_SENT] = {"np_cnp_sent", .hw = true},
	[IB_CNP_HANDLED] = {"rp_cnp_handled", .hw = true},
};

int ibport_state_parse(struct span text, uint32_t *ret)
{
	struct span number = span_trim(span_before(text, ":"));
	uint64_t v;
	if (span_u64(number, &v) < 0 || v > 64)
		return -EBADMSG;
	*ret = (uint32_t)v;
	return 0;
}

int ibport_rate_parse(struct span text, uint32_t *ret_mbps)
{
	struct span rest = text, number, unit;
	uint64_t whole, tenth = 0;
	if (!span_word(&rest, &number) || !span_word(&rest, &unit) || !span_starts(unit, "Gb/s"))
		return -EBADMSG;
	struct span fraction = span_after(number, ".");
	if (span_u64(span_before(number, "."), &whole) < 0 || whole > 1000000 ||
	    (fraction.p && (fraction.len != 1 || span_u64(fraction, &tenth) < 0)))
		return -EBADMSG;
	*ret_mbps = (uint32_t)(whole * 1000 + tenth * 100);
	return 0;
}

bool ibport_excluded(const char *device, const char *exclude)
{
	size_t n = strlen(device);
	for (const char *at = exclude; at && *at;) {
		at += strspn(at, ", ");
		size_t len = strcspn(at, ", ");
		bool open_end = len > 0 && at[len - 1] == '*';
		if (open_end ? n >= len - 1 && memcmp(device, at, len - 1) == 0
			     : len == n && len > 0 && memcmp(device, at, n) == 0)
			return true;
		at += len;
	}
	return false;
}

static bool ibport_number_read(int dir, const char *path, uint64_t *ret)
{
	char text[64];
	size_t len;
	return file_read_at(dir, path, text, sizeof(text), &len) == 0 &&
	       span_u64(span_trim((struct span){text, len}), ret) == 0;
}

static bool ibport_text_read(int dir, const char *path, char *dst, size_t cap, struct span *ret)
{
	size_t len;
	if (file_read_at(dir, path, dst, cap, &len) != 0)
		return false;
	*ret = span_trim((struct span){dst, len});
	return true;
}

static void port_read(int dir, struct ibport *p)
{
	char path[80], text[96];
	struct span s;
	if (ibport_text_read(dir, "state", text, sizeof(text), &s) && ibport_state_parse(s, &p->state) < 0)
		p->state = 0;
	if (ibport_text_read(dir, "phys_state", text, sizeof(text), &s) && ibport_state_parse(s, &p->phys_state) < 0)
		p->phys_state = 0;
	if (ibport_text_read(dir, "rate", text, sizeof(text), &s) && ibport_rate_parse(s, &p->rate_mbps) < 0)
		p->rate_mbps = 0;
	if (ibport_text_read(dir, "link_layer", text, sizeof(text), &s))
		p->ethernet = span_eq(s, "Ethernet");
	for (size_t i = 0; i < IBPORT_COUNTERS; i++) {
		uint64_t v;
		TEXT_FORMAT(path, "%s/%s", counters[i].hw ? "hw_counters" : "counters", counters[i].name);
		if (!ibport_number_read(dir, path, &v))
			continue;
		/* a counter that would overflow stays at the maximum: wrapping would look like a restart */
		p->value[i] = !counters[i].words ? v : v > UINT64_MAX / 4 ? UINT64_MAX : v * 4;
		p->has |= UINT64_C(1) << i;
	}
}

/* Appends the ports of the device. */
static int ibport_device_read(int class_fd, const char *device, struct ibport *ret, size_t cap, size_t *n)
{
	char path[96];
	TEXT_FORMAT(path, "%s/ports", device);
	int fd = openat(class_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return 0; /* the device was removed, or has no ports */
	for (struct dirent *e = readdir(d); e && *n < cap; e = readdir(d)) {
		uint64_t number;
		if (span_u64(span_of(e->d_name), &number) < 0 || number > 1024)
			continue;
		cleanup(closep) int port = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (port < 0)
			continue;
		struct ibport *p = &ret[(*n)++];
		*p = (struct ibport){.port = (uint32_t)number};
		TEXT_COPY(p->device, device);
		port_read(port, p);
	}
	return 0;
}

static int ibport_by_name(const void *a, const void *b)
{
	const struct ibport *x = a, *y = b;
	int order = strcmp(x->device, y->device);
	return order != 0 ? order : (x->port > y->port) - (x->port < y->port);
}

int ibports_read(const struct world *w, const char *exclude, struct ibport *ret, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	int fd = w->sys_fd < 0 ? -1 : openat(w->sys_fd, "class/infiniband", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return WORLD_ABSENT;
	for (struct dirent *e = readdir(d); e && n < cap; e = readdir(d)) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof(ret[0].device) ||
		    ibport_excluded(e->d_name, exclude))
			continue;
		int r = ibport_device_read(dirfd(d), e->d_name, ret, cap, &n);
		if (r < 0)
			return r;
	}
	if (n == 0)
		return WORLD_ABSENT;
	qsort(ret, n, sizeof(ret[0]), ibport_by_name);
	*ret_n = n;
	return 0;
}
