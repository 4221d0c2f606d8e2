/*
 * Reads dumps of PyTorch's Flight Recorder: the last collective calls of one rank, one file per rank. PyTorch writes
 * them when a collective times out or on request (docs/formats/flight-recorder.md; PyTorch's FlightRecorder sources,
 * format versions 2.0 to 2.10). A file is a pickle, or JSON from the debug server.
 *
 * The writers are processes that hang, so missing files, half-written files and files of different versions are
 * common and are not errors. Times are unix nanoseconds of the rank's own clock. Ranks are as in the file: members of
 * a group are global ranks; source and target are ranks within their group.
 */
#pragma once

#include "base/arena.h"
#include "base/fault.h"
#include "base/foreign.h"
#include "base/text.h"

#define FLIGHTREC_ENTRIES 200000
#define FLIGHTREC_GROUPS 4096
#define FLIGHTREC_MEMBERS 65536
#define FLIGHTREC_NO_GROUP UINT32_MAX
/* A file of 20,000 entries with stacks has 30 to 60 MB. */
#define FLIGHTREC_FILE_MAX (512 * MIB)

enum flightrec_state { FLIGHTREC_UNKNOWN, FLIGHTREC_SCHEDULED, FLIGHTREC_STARTED, FLIGHTREC_COMPLETED };

struct flightrec_group {
	const char *name, *desc; /* "": unknown */
	const int32_t *ranks; /* members in the file's order; NULL: not in the file */
	size_t n_ranks;
	bool has_status;
	int64_t last_enqueued, last_started, last_completed; /* sequence numbers; -1: none yet */
};

struct flightrec_entry {
	uint32_t group; /* index into groups, or FLIGHTREC_NO_GROUP */
	const char *op; /* "all_reduce", "send", "recv"; without the name of the backend */
	uint64_t record_id;
	bool has_collective_seq, has_p2p_seq;
	uint64_t collective_seq, p2p_seq, op_id;
	bool is_p2p;
	/* "coalesced", "ALLGATHER_coalesced": the end of a batch, whose entries come before it and share its number */
	bool is_batch;
	bool in_batch; /* an entry of a batch; it has at least the state of the batch */
	uint32_t part; /* in_batch: its place, counted from the end of the batch, from 1 */
	bool sends; /* is_p2p: a send from source to target; else target receives from source */
	bool has_peers;
	int32_t source, target; /* within the group */
	enum flightrec_state state;
	int64_t created_ns, started_ns, completed_ns; /* 0: not known */
	bool has_in, has_out;
	uint64_t in_elements, out_elements; /* over all tensors */
	const char *in_sizes, *out_sizes; /* "[[4096, 2]]"; "": unknown */
	const char *in_dtypes, *out_dtypes; /* "[Float]"; "": unknown */
	const char *where; /* innermost line outside of libraries: "train.py:40 (step)"; "": unknown */
	int64_t timeout_ms; /* 0: unknown */
};

struct flightrec {
	char version[16]; /* "2.10"; "": unknown */
	char comm_lib[32]; /* version of NCCL: "2.21.5"; "": unknown */
	struct flightrec_group *groups;
	size_t n_groups;
	struct flightrec_entry *entries; /* in the order of creation */
	size_t n_entries;
	size_t n_skipped; /* entries that could not be parsed or exceeded FLIGHTREC_ENTRIES */
	bool cut; /* the file is damaged or not complete */
	char why[200]; /* if cut: where and how */
	struct arena arena;
};

enum {
	FLIGHTREC_FOREIGN = 1, /* not a dump; the fault says why */
	FLIGHTREC_NONE, /* the file or pipe does not exist */
	FLIGHTREC_NOBODY, /* no process reads the pipe */
};

/* Parses either form. 0 also for an incomplete file (cut is set); FLIGHTREC_FOREIGN; -ENOMEM. Pure. */
int must_check flightrec_parse(struct span bytes, struct flightrec *ret, struct fault *f);
/* FLIGHTREC_NONE or FLIGHTREC_FOREIGN, both with the fault filled; -EFBIG and other errors of reading. */
int must_check flightrec_read(const struct foreign_place *at, const char *path, struct flightrec *ret, struct fault *f);
void flightrec_done(struct flightrec *r);

/*
 * Finds where a rank writes its dump, from its environment (a NUL-separated block, as proc_environ_read returns it). A
 * prefix is the path without the rank's number. If the environment does not set one, the defaults of all versions are
 * returned.
 */
#define FLIGHTREC_PREFIXES 4
struct flightrec_place {
	char prefix[FLIGHTREC_PREFIXES][512]; /* newest convention first */
	size_t n;
	char pipe_prefix[512]; /* "": no pipe is set through which a dump can be requested */
	uint64_t buffer_entries; /* TORCH_FR_BUFFER_SIZE; valid if has_buffer */
	bool has_buffer;
	bool named; /* the environment sets the prefix, so the defaults are not in it */
};
void flightrec_place(struct span block, struct flightrec_place *ret);
/* The rank at the end of a dump's path: "/tmp/nccl_trace_rank_3" gives 3. False if there is none. */
bool flightrec_rank_of(const char *path, int32_t *ret);

/*
 * Requests a dump from a rank through its pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE); the training continues. Never blocks.
 * The calling process must ignore SIGPIPE. FLIGHTREC_NONE: the path does not exist or is not a pipe; FLIGHTREC_NOBODY;
 * -errno.
 */
int must_check flightrec_ask(const struct foreign_place *at, const char *pipe_prefix, int32_t rank);
