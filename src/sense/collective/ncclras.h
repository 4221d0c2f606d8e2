/*
 * A client of NCCL's RAS, a small server inside every NCCL process (2.24 and later) that reports how many collectives
 * each rank of each communicator has launched. It is documented in NCCL's user guide (troubleshooting, RAS), and its
 * answers in docs/formats/nccl-ras.md. It counts five collectives; sends, receives and launches by CUDA graphs are
 * not counted.
 *
 * A query has a risk: versions before 2.28.9 could crash the job when queried at the wrong moment. So any version is
 * queried only on suspicion, and ncclras_allowed() decides by version. The answer can come from another job of the
 * same user, because all bind one port; ncclras_is_ours() checks its (host, process) pairs.
 */
#pragma once

#include <sys/socket.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"
#include "sense/net/netns.h"

#define NCCLRAS_PORT 28028
#define NCCLRAS_OPS 5 /* Broadcast, Reduce, AllGather, ReduceScatter, AllReduce */
#define NCCLRAS_ANSWER_MAX (64 * MIB)
/* A younger job is not asked, because it may be starting. */
#define NCCLRAS_QUIET_NS (60 * NS_PER_S)

extern const char *const ncclras_op_name[NCCLRAS_OPS];

struct ncclras_version {
	bool known;
	uint32_t major, minor, patch;
};
/* Parses "2.28.9", "2.28.9+cuda12.4", "libnccl.so.2.28.9", or "NCCL version 2.28.9+cuda12.4" in a log line. */
bool ncclras_version_parse(struct span text, struct ncclras_version *ret);
/* True if v is known and is this version or a later one. */
bool ncclras_version_is(struct ncclras_version v, uint32_t major, uint32_t minor, uint32_t patch);

enum ncclras_gate {
	NCCLRAS_ASK,
	NCCLRAS_TOO_EARLY, /* the job is younger than a minute */
	NCCLRAS_TOO_OLD, /* a version that can crash when asked */
	NCCLRAS_UNKNOWN_AGE, /* the version is not known */
	NCCLRAS_ABSENT, /* a version without RAS */
	NCCLRAS_OFF, /* NCCL_RAS_ENABLE=0 */
};
struct ncclras_wish {
	struct ncclras_version version;
	uint64_t job_age_ns;
	struct span enable; /* NCCL_RAS_ENABLE of the ranks; empty: not set */
	bool force; /* the user insists: only NCCLRAS_OFF and NCCLRAS_ABSENT remain */
};
enum ncclras_gate ncclras_allowed(const struct ncclras_wish *w);
/* A sentence for the user; NULL for NCCLRAS_ASK. */
const char *ncclras_gate_text(enum ncclras_gate g);

struct ncclras_rank {
	int32_t rank; /* within its communicator */
	char host[64];
	int64_t pid;
	bool has_counts;
	uint64_t counts[NCCLRAS_OPS];
	bool has_status;
	int32_t init_state; /* 0 ready, 7 in progress, else an error */
	int32_t async_error;
	bool finalize, destroy, abort;
	bool is_missing; /* listed in missing_ranks: it reported nothing for this communicator */
	bool unresponsive, dead;
};
struct ncclras_comm {
	char hash[64]; /* hexadecimal; in JSON followed by "/" and the secondary hash, "0x1:0x2" since 2.28 */
	int32_t size;
	struct ncclras_rank *ranks;
	size_t n_ranks;
	int32_t n_missing; /* as reported; not from the text form */
	char status[16]; /* text form: "RUNNING" */
	char errors[16]; /* text form: "MISMATCH" */
};
struct ncclras_report {
	bool from_json;
	char version[32];
	struct ncclras_comm *comms;
	size_t n_comms;
	uint32_t n_timeouts;
	bool has_dead; /* text form: it lists processes that are considered dead */
	bool is_partial; /* text form: lists outliers only, so equal counts do not appear */
	bool cut; /* the answer ended early */
	uint32_t n_mended; /* commas that were added or removed in the JSON */
	struct ncclras_process {
		char host[64];
		int64_t pid;
		bool dead;
	} * processes; /* text form: listed outside of communicators */
	size_t n_processes;
	struct arena arena;
};
enum {
	NCCLRAS_FOREIGN = 1, /* not an answer of RAS; the fault says why */
};
/* Parses the answer to STATUS in either form. Pure. 0, NCCLRAS_FOREIGN, -ENOMEM. */
int must_check ncclras_parse(struct span answer, struct ncclras_report *ret, struct fault *f);
void ncclras_done(struct ncclras_report *r);
struct ncclras_process_id {
	char host[64]; /* "": any */
	int64_t pid;
};
/* True if a process of the report is one of ours, or if the report names no process. */
bool ncclras_is_ours(const struct ncclras_report *r, const struct ncclras_process_id *ours, size_t n);

#define NCCLRAS_ADDRESSES 4
struct ncclras_address {
	struct sockaddr_storage at[NCCLRAS_ADDRESSES];
	socklen_t len[NCCLRAS_ADDRESSES];
	size_t n;
};
/*
 * Parses "host:port", "[v6]:port", ":port" or "host". The host is numeric, or localhost, which an empty one stands
 * for and which gives an IPv4 and an IPv6 address. -EINVAL with the fault filled.
 */
int must_check ncclras_address_parse(struct span text, struct ncclras_address *ret, struct fault *f);

/* Conditions of ncclras_ask; the fault has a sentence for each. */
enum {
	NCCLRAS_LATE = 2, /* the deadline has passed */
	NCCLRAS_REFUSED = 3, /* nothing listens there */
	NCCLRAS_STRANGE = 4, /* something listens there that does not speak RAS */
	NCCLRAS_HUNG_UP = 5, /* the connection ended before the answer was complete */
	NCCLRAS_NOT_OURS = 6, /* the address is not asked at all */
};
/* Fills the fault for NCCLRAS_REFUSED and returns that. */
int ncclras_refused(struct fault *f);
/*
 * Asks the addresses in turn for their status until one answer is about a process of ours (any answer, if n_ours is 0).
 * It asks several times, because the kernel picks any of the processes that share the port. The calling thread waits,
 * at most until deadline_ns, which is in the clock of mono_ns. ns: the network namespace of the addresses; NULL: ours.
 * ret_from: "IPv4" or "IPv6". Returns 0, a condition above, NCCLRAS_FOREIGN if only other jobs answered, or -errno.
 */
int must_check ncclras_ask(const struct netns *ns, const struct ncclras_address *a, struct ncclras_version v,
			   const struct ncclras_process_id *ours, size_t n_ours, uint64_t (*mono_ns)(void),
			   uint64_t deadline_ns, struct ncclras_report *ret, char *ret_from, size_t from_cap,
			   struct fault *f);
