/*
 * Takes the samples of one watched job for model/hang/liveness: processes and
 * logs in every sample; devices, ports and sockets more rarely, and more often
 * once the job stands still.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "agent/hang/hanglogs.h"
#include "model/jobs/usage.h"

struct wakehist; /* see model/hang/wakehist.h */
struct hangdevices; /* see agent/hang/hangdevices.h */

struct hangsample {
	struct hang_job job; /* as of the last sample */
	struct hangprocs *procs;
	struct hanglogs *logs;
	const struct hang_respawns *ends; /* how processes ended, by the watcher's owner; borrowed; NULL: unknown */
	const struct wakehist *wakes; /* who usually ended its threads' waits; borrowed; NULL: unknown */
	struct usage usage;
	struct usage_process *use[2]; /* JOBPIDS_MAX rows each: the sample before and this one */
	size_t n_use[2];
	uint32_t turn;
	struct {
		int32_t rank;
		uint64_t io_all, net_sent, net_received, run_wait;
		uint64_t log_wrote; /* largest number of bytes written beyond its own output */
		uint32_t come, left;
		struct hangprocs_gone last_gone;
		bool any_gone;
		struct hangprocs_gone main_gone; /* how its main process ended */
		bool main_is_gone;
	} lane[LIVENESS_RANKS];
	size_t n_lanes;
	/* rank of the only main process where it was started without one: its output is the job's; NO_RANK: none */
	int32_t alone;
	struct {
		pid_t pid;
		uint64_t sent, received;
	} net[HANG_RANKS * 4]; /* main processes and loaders, as sockets were last read */
	size_t n_net;
	uint64_t net_ns;
	int32_t gpu_rank[GPU_MAX]; /* of each device in gpus: the lowest rank that uses it */
	uint32_t gpus, gpus_ever; /* devices of all ranks in the last and in any sample: bits of hangdevices_claim */
	bool opens_gpus; /* it has device files open, even if drivers do not name its processes */
	bool no_net; /* sockets cannot be read here */
	uint64_t first_ns;
	uint64_t ray_busy_ns; /* as in struct liveness_sample */
	uint64_t timeout_ns; /* of the job's framework; 0: unknown */
	pid_t timeout_of; /* the main process it was read from; 0: none yet */
};

/* State of the job in the sample before: it moves; it stands still for a harmless reason; it is suspected. */
enum hangsample_rate { HANGSAMPLE_NORMAL, HANGSAMPLE_IDLE, HANGSAMPLE_FAST };

/* False without memory. procstats and the user's patterns of progress (may be NULL) are borrowed. */
bool hangsample_init(struct hangsample *e, struct procstats *procstats, const struct progress_patterns *user);
/* Begins another attempt or job: drops what was known. */
void hangsample_begin(struct hangsample *e, const struct hang_job *job);
/*
 * Takes a sample. *thread_ns: time that may be spent on threads; what was spent is subtracted. Sockets are not read
 * while the job moves, and rarely while it is idle. devices may be NULL.
 */
void hangsample_take(struct hangsample *e, const struct world *w, const struct hang_job *job, enum hangsample_rate rate,
		     uint64_t *thread_ns, struct hangdevices *devices, struct liveness_sample *ret);
