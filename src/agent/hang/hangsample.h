/*
 * One watched job as the senses show it: makes the looks that model/hang/liveness
 * learns from. Processes and logs at every look; devices, ports and sockets
 * rarer, and more often once the job stands still.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "agent/hang/hanglogs.h"
#include "model/jobs/usage.h"

struct hangdevices; /* see agent/hang/hangdevices.h */

struct hangsample {
	struct hang_job job; /* as of the last look */
	struct hangprocs *procs;
	struct hanglogs *logs;
	struct usage usage;
	struct usage_process *use[2]; /* each of JOBPIDS_MAX: the look before, and this one */
	size_t n_use[2];
	uint32_t turn;
	struct {
		int32_t rank;
		uint64_t io_all, net_sent, net_received, run_wait;
		uint64_t log_wrote; /* most bytes it has written beyond its own output */
		uint32_t come, left;
		struct hangprocs_gone last_gone;
		bool any_gone;
		struct hangprocs_gone main_gone; /* how its main process ended */
		bool main_is_gone;
	} lane[LIVENESS_RANKS];
	size_t n_lanes;
	int32_t alone; /* rank of the only main process, if it was started without one: its output is the job's; NO_RANK */
	struct {
		pid_t pid;
		uint64_t sent, received;
	} net[HANG_RANKS * 4]; /* of its main processes and loaders, when sockets were last read */
	size_t n_net;
	uint64_t net_ns;
	uint32_t gpus,
		gpus_ever; /* devices of all its ranks as of the last look, and of any: bits of hangdevices_claim */
	bool opens_gpus; /* it has device files open, whatever a driver says */
	bool no_net; /* sockets cannot be asked here */
	uint64_t first_ns;
	uint64_t timeout_ns; /* of the job's framework; 0 unknown */
	pid_t timeout_of; /* the main process that was asked for it; 0: none yet */
};

/* How the job was at the look before: it moves; it stands still by its own will, as was found; it is suspected. */
enum hangsample_rate { HANGSAMPLE_NORMAL, HANGSAMPLE_IDLE, HANGSAMPLE_FAST };

/* False without memory. procstats is shared by all; so are the user's patterns of progress, which may be NULL. */
bool hangsample_init(struct hangsample *e, struct procstats *procstats, const struct progress_patterns *user);
/* Another attempt, or another job in its place: what was known is forgotten. */
void hangsample_begin(struct hangsample *e, const struct hang_job *job);
/*
 * thread_ns: time that may be spent on threads; what was spent is taken off. Sockets are not looked at while the job
 * moves, and seldom while it rests. devices may be NULL.
 */
void hangsample_take(struct hangsample *e, const struct world *w, const struct hang_job *job, enum hangsample_rate rate,
		     uint64_t *thread_ns, struct hangdevices *devices, struct liveness_sample *ret);
