/*
 * PyTorch's Flight Recorder: what each rank's collective library was asked for
 * lately, one file a rank, written when a collective times out or on request
 * (docs/formats/flight-recorder.md; PyTorch's FlightRecorder sources, format
 * versions 2.0 to 2.10). A file is a pickle, or JSON from the debug server.
 *
 * Files are written by processes that hang: missing, half written and of
 * other versions than their neighbours are usual, and no reason to give up.
 * Times are unix nanoseconds of the rank's own clock. Ranks of groups and of
 * senders and receivers are as the file has them: members of a group are
 * global ranks, senders and receivers are numbers within their group.
 */
#pragma once

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"

#define FLIGHTREC_ENTRIES 200000
#define FLIGHTREC_GROUPS 4096
#define FLIGHTREC_MEMBERS 65536
#define FLIGHTREC_NO_GROUP UINT32_MAX
/* A file of 20,000 entries with stacks has 30 to 60 MB. */
#define FLIGHTREC_FILE_MAX (512 * MIB)

enum flightrec_state { FLIGHTREC_UNKNOWN, FLIGHTREC_SCHEDULED, FLIGHTREC_STARTED, FLIGHTREC_COMPLETED };

struct flightrec_group {
	const char *name, *desc; /* "" unknown */
	const int32_t *ranks; /* members in their order; NULL: the file does not say */
	size_t n_ranks;
	bool has_status;
	int64_t last_enqueued, last_started, last_completed; /* -1: none yet */
};

struct flightrec_entry {
	uint32_t group; /* index, or FLIGHTREC_NO_GROUP */
	const char *op; /* "all_reduce", "send", "recv": without the backend's name before it */
	uint64_t record_id;
	bool has_collective_seq, has_p2p_seq;
	uint64_t collective_seq, p2p_seq, op_id;
	bool is_p2p;
	bool is_batch; /* "coalesced": stands for the entries before it that share its number */
	bool in_batch; /* one of those; has the state of its batch */
	bool sends; /* is_p2p: source to target; else target receives from source */
	bool has_peers;
	int32_t source, target; /* within the group */
	enum flightrec_state state;
	int64_t created_ns, started_ns, completed_ns; /* 0: not known */
	bool has_in, has_out;
	uint64_t in_elements, out_elements; /* over all tensors */
	const char *in_sizes, *out_sizes; /* "[[4096, 2]]"; "" unknown */
	const char *in_dtypes, *out_dtypes; /* "[Float]"; "" unknown */
	const char *where; /* innermost line that is not a library's: "train.py:40 (step)"; "" unknown */
	int64_t timeout_ms; /* 0 unknown */
};

struct flightrec {
	char version[16]; /* "2.10"; "" unknown */
	char comm_lib[32]; /* of NCCL: "2.21.5"; "" unknown */
	struct flightrec_group *groups;
	size_t n_groups;
	struct flightrec_entry *entries; /* in the order of their making */
	size_t n_entries;
	size_t n_skipped; /* entries that could not be understood or were too many */
	bool cut; /* the file is damaged or not complete */
	char why[200]; /* cut: where and how */
	struct arena arena;
};

enum {
	FLIGHTREC_FOREIGN = 1, /* it is no such file; the fault says what it is */
	FLIGHTREC_NONE, /* there is no such file */
	FLIGHTREC_NOBODY, /* nobody listens at the pipe */
};

/* Either form. 0 also for a part of a file (cut). FLIGHTREC_FOREIGN; -ENOMEM. Pure. */
int must_check flightrec_parse(struct span bytes, struct flightrec *ret, struct fault *f);
/* FLIGHTREC_NONE, FLIGHTREC_FOREIGN, both with the fault filled; -EFBIG and other errors of reading. */
int must_check flightrec_read(int dirfd, const char *path, struct flightrec *ret, struct fault *f);
void flightrec_done(struct flightrec *r);

/*
 * Where a rank's dump is: from its environment (NUL-separated block, as
 * proc_environ_read gives it). A prefix is the path without the number of the
 * rank; the defaults of all versions when the environment does not say.
 */
#define FLIGHTREC_PREFIXES 4
struct flightrec_place {
	char prefix[FLIGHTREC_PREFIXES][512]; /* newest convention first */
	size_t n;
	char pipe_prefix[512]; /* "": no pipe is there to ask for a dump */
	uint64_t buffer_entries; /* TORCH_FR_BUFFER_SIZE; has_buffer */
	bool has_buffer;
	bool named; /* the environment names the prefix: others are not tried */
};
void flightrec_place(struct span block, struct flightrec_place *ret);
/* The number at the end of a dump's name: "/tmp/nccl_trace_rank_3" gives 3. False if there is none. */
bool flightrec_rank_of(const char *path, int32_t *ret);

/*
 * Ask rank for a dump through its pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE); the
 * training goes on. Never blocks; the process must ignore SIGPIPE. FLIGHTREC_NONE: no such pipe, or something
 * else than a pipe stands there; FLIGHTREC_NOBODY; -errno.
 */
int must_check flightrec_ask(int dirfd, const char *pipe_prefix, int32_t rank);
