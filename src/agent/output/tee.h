/*
 * One output channel of a rank: what the job writes goes to vigil's own stdout or stderr unchanged, and into the rank's
 * kept copy by way of the keeper. If our reader goes away (closed pipe), the job's end is closed as well, so that the
 * job sees what it would have seen without vigil.
 *
 * Output is kept as a whole as long as it comes at TEE_KEPT_BYTES_PER_S on average, and up to TEE_KEPT_BURST_BYTES
 * faster, and as long as the keeper's disk follows. What comes faster is passed on without being looked at, where both
 * ends are pipes without being copied (splice(2)); of it the end is held, by tee(2). When there is room again the gap
 * is counted, and keeping begins anew with what was held. So the last lines are always kept.
 *
 * Who writes to a pipe and who reads from it take turns. Writing to a file takes long, so what is spliced to one, or
 * read for one that is appended to, is moved into a pipe of our own first: the job goes on writing meanwhile.
 */
#pragma once

#include "agent/output/keeper.h"
#include "agent/output/lastline.h"
#include "agent/output/outbuf.h"
#include "base/base.h"
#include "sense/death/streamorder.h"

#define TEE_LAST_LINE LASTLINE_MAX
#define TEE_KEPT_BYTES_PER_S (32 * MIB)
#define TEE_KEPT_BURST_BYTES (64 * MIB)

/* Output that is passed on without being kept. */
struct tee_rush {
	bool on;
	uint64_t since_ns, last_ns; /* last_ns: when something came */
	uint64_t gap_bytes; /* gone for good */
	char *held; /* the end: first these, then what is in the pipe */
	size_t held_len;
	int pipe[2]; /* -1: none */
	size_t pipe_size, in_pipe;
	int null_fd; /* takes what is forgotten */
	int stage[2]; /* what goes to a file goes through this pipe; -1: none */
};

struct tee {
	int from_fd;   /* the job's output, non-blocking; -1 when closed */
	bool from_pipe, grown;
	struct outbuf *to; /* borrowed; other channels write there too */
	bool polled;   /* used by the owner: from_fd is being polled */
	struct keeper *keeper; /* borrowed; NULL: not kept */
	struct keeper_file *file; /* NULL: not kept */
	struct streamorder *order; /* of its rank, borrowed, set by the owner after tee_open(); NULL: not noted */
	bool order_err; /* this is the stderr of it */
	uint64_t bytes;
	int64_t tokens; /* bytes that may be kept now */
	uint64_t tokens_ns;
	size_t ahead; /* of what is there, so many bytes are held or kept already and still have to be passed on */
	struct lastline last;
	struct tee_rush rush;
};

void tee_open(struct tee *t, int from_fd, struct outbuf *to, struct keeper *keeper, struct keeper_file *file);
/* Move what is there; nothing while the buffer is full. False at the end of the job's output. */
bool tee_pump(struct tee *t);
/*
 * The last writer has ended: move what is still on its way until the deadline, and close. A full buffer takes it too,
 * since a pipe holds little.
 */
void tee_finish(struct tee *t, uint64_t (*mono_ns)(void), uint64_t until_ns);
/* To be called each TEE_LOOK_MS while it is rushing: what was held is kept once no more comes. */
#define TEE_LOOK_MS 20
void tee_look(struct tee *t);
/* At once: its writer has ended. */
void tee_settle(struct tee *t);
static inline bool tee_is_rushing(const struct tee *t)
{
	return t->from_fd >= 0 && t->rush.on;
}
void tee_close(struct tee *t);
