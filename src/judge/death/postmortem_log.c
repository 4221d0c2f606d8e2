/* Verdicts on a process that ended by itself, from the last words in its log. */
#include <signal.h>
#include <string.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"
#include "judge/gpu/gpuoom.h"

const char pm_ray_words[] =
	"A Ray worker died under it; Ray does not know why: SIGKILL by an OOM killer, ray stop, or a crash.";

/*
 * Quotes the log line as a sentence of its own: a cut line ends with "…", a whole one with its own mark or a full stop.
 */
static void log_line_quoted(struct pm *p, const struct log_hint *h)
{
	size_t len = strlen(h->text);
	bool cut = len + 1 >= sizeof(h->text);
	if (cut) /* back to a whole word */
		while (len > 0 && h->text[len - 1] != ' ')
			len--;
	while (len > 0 && h->text[len - 1] == ' ')
		len--;
	bool ends = len > 0 && strchr(".!?", h->text[len - 1]);
	pm_text(p, "Its log says: %.*s%s", (int)len, h->text, cut ? " …" : ends ? "" : ".");
}

static bool hint_verdict(struct pm *p, const struct log_hint *h, enum incident_kind kind, const char *id,
			 enum confidence c, const char *words)
{
	char who[PM_WHO];
	pm_verdict(p, kind, KILLER_NONE, id, c);
	pm_summary(p, "%s %s", pm_who(p->d, who), words);
	log_line_quoted(p, h);
	if (h->rank != NO_RANK && h->rank != p->d->rank)
		pm_culprit(p, h->rank);
	return true;
}

static const struct log_hint *last_error(const struct death *d)
{
	return pm_hint(d, "python_traceback");
}

bool pm_peerish(const char *text)
{
	static const char *const words[] = {
		"closed by peer", "reset by peer", "DistBackendError",	    "DistNetworkError", "NCCL",
		"gloo",		  "Gloo",	   "remote process exited", "ncclRemoteError",	"Broken pipe"};
	for (size_t w = 0; w < ARRAY_SIZE(words); w++)
		if (strstr(text, words[w]))
			return true;
	return false;
}

bool pm_broken_pipe(const char *text)
{
	static const char *const words[] = {"ConnectionResetError", "ConnectionRefusedError", "BrokenPipeError",
					    "EOFError", "exited unexpectedly"};
	for (size_t w = 0; w < ARRAY_SIZE(words); w++)
		if (strstr(text, words[w]))
			return true;
	return false;
}

static bool dataloader_verdict(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "dataloader_killed");
	char who[PM_WHO];
	if (!h)
		h = pm_hint(p->d, "dataloader_exited");
	if (!h)
		return false;
	pm_who(p->d, who);
	bool crash = h->signal == SIGSEGV || h->signal == SIGABRT || h->signal == SIGILL || h->signal == SIGFPE;
	if (crash) {
		pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, "dataloader_worker_crashed", CONFIDENCE_HIGH);
		pm_summary(p, "%s failed because its DataLoader worker (pid %d) crashed with %s.", who, (int)h->pid,
			   signame(h->signal));
		pm_text(p, "Its log says: %s", h->text);
		incident_advice_add(p->i, "Run once with num_workers=0 to see the error in the main process.");
		return true;
	}
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "dataloader_worker_killed", CONFIDENCE_LOW);
	pm_summary(p, "%s failed because its DataLoader worker (pid %d) was ended%s%s; by whom is unknown.", who,
		   (int)h->pid, h->signal ? " by " : "", h->signal && signame(h->signal) ? signame(h->signal) : "");
	pm_text(p, "A killed worker is often called out of memory, but no record or counter of the kernel names this "
		   "one.");
	pm_advise_unknown_kill(p);
	return true;
}

static bool torchrun_verdict(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "torchrun_failure");
	char who[PM_WHO], pid_words[32];
	if (!h)
		h = pm_hint(p->d, "torchrun_child");
	if (!h || !h->has_exit_code)
		return false;
	pm_who(p->d, who);
	TEXT_FORMAT(pid_words, "pid %d", (int)h->pid);
	pm_culprit(p, h->rank);
	if (h->signal == SIGKILL || h->signal == SIGTERM || h->signal == SIGINT) {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "torchrun_rank_killed", CONFIDENCE_LOW);
		pm_summary(p, "%s failed because rank %d (%s) was ended by %s; by whom is unknown.", who, h->rank,
			   pid_words, signame(h->signal));
		pm_text(p, "torchrun ended the other ranks after it.");
		pm_advise_unknown_kill(p);
		return true;
	}
	if (h->signal) {
		const char *name = signame(h->signal);
		pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, "torchrun_rank_crashed", CONFIDENCE_MEDIUM);
		pm_summary(p, "%s failed because rank %d (%s) crashed with %s.", who, h->rank, pid_words,
			   name ? name : "a signal");
		pm_text(p, "torchrun ended the other ranks after it. It says: %s", h->text);
		return true;
	}
	const struct log_hint *err = last_error(p->d);
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "torchrun_rank_failed", CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because rank %d (%s) exited with status %d.", who, h->rank, pid_words, h->exit_code);
	pm_text(p, "torchrun ended the other ranks after it.");
	if (err && err->rank == h->rank)
		pm_text(p, "Rank %d said: %s", err->rank, err->text);
	return true;
}

static bool peer_verdict(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "peer_closed"), *err = last_error(p->d);
	const char *id = "peer_closed_connection";
	if (!h) {
		h = pm_hint(p->d, "store_lost");
		id = "rendezvous_store_lost";
	}
	if (!h) {
		h = pm_hint(p->d, "collective_timeout");
		id = "collective_timeout";
	}
	if (!h || (err && !pm_peerish(err->text)))
		return false;
	hint_verdict(p, h, INCIDENT_PEER_LOST, id, CONFIDENCE_MEDIUM,
		     "failed because a peer it talks to was gone; it is not the cause.");
	p->i->n_culprits = 0; /* the rank in the message is the one that noticed the loss */
	incident_advice_add(p->i, "Look at the rank that ended first: vigil show JOB lists the ends in order.");
	return true;
}

static bool memory_words(struct pm *p)
{
	static const struct {
		const char *hint, *id, *words;
	} kinds[] = {
		{"numpy_memory_error", "numpy_memory_error", "failed because numpy could not allocate an array"},
		{"torch_cpu_oom", "torch_cpu_allocator", "failed because PyTorch could not allocate CPU memory"},
		{"python_memory_error", "python_memory_error", "failed with Python's MemoryError"},
		{"cannot_fork", "no_memory_for_fork", "failed because the kernel refused memory for a call (errno 12)"},
		{"bad_alloc", "bad_alloc", "failed because C++ code could not allocate memory (std::bad_alloc)"},
	};
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct log_hint *h = pm_hint(p->d, kinds[k].hint);
		char words[128], size[16];
		if (!h)
			continue;
		TEXT_FORMAT(words, "%s%s%s.", kinds[k].words, h->bytes ? " of " : "",
			    h->bytes ? size_format(h->bytes, size) : "");
		hint_verdict(p, h, INCIDENT_ERROR_EXIT, kinds[k].id, CONFIDENCE_HIGH, words);
		pm_text(p, "The allocation was refused, nobody killed the process: an address space limit (ulimit -v), "
			   "strict overcommit, or a size the machine does not have.");
		pm_advise_less_memory(p);
		return true;
	}
	return false;
}

/* True for Ray's exceptions that only say that another process was lost. */
static bool ray_lost_worker(const struct log_hint *h)
{
	return strstr(h->text, "ray.exceptions.WorkerCrashedError") ||
	       strstr(h->text, "ray.exceptions.LocalRayletDiedError");
}

static bool exception_verdict(struct pm *p)
{
	const struct log_hint *h = last_error(p->d);
	const struct log_hint *disk = pm_hint(p->d, "disk_full"), *stop = pm_hint(p->d, "keyboard_interrupt");
	char who[PM_WHO];
	if (disk)
		return hint_verdict(p, disk, INCIDENT_ERROR_EXIT, "disk_full", CONFIDENCE_HIGH,
				    "failed because a file system was full (No space left on device).");
	if (h) {
		pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "python_exception",
			   p->end.exited && p->end.code == 1 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		pm_summary(p, "%s ended with a Python exception: %.250s", pm_who(p->d, who), h->text);
		pm_text(p, "The last line of its traceback is: %s", h->text);
		if (ray_lost_worker(h)) {
			TEXT_COPY(p->i->cause.id, "ray_worker_died");
			p->i->cause.confidence = CONFIDENCE_LOW;
			pm_text(p, "%s", pm_ray_words);
		}
		return true;
	}
	if (!stop)
		return false;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "interrupted", CONFIDENCE_MEDIUM);
	pm_killer_text(p, "SIGINT, probably Ctrl-C");
	pm_summary(p, "%s was interrupted (KeyboardInterrupt): SIGINT, as Ctrl-C sends it.", pm_who(p->d, who));
	pm_text(p, "Who sent it was not seen.");
	return true;
}

/* That the device's memory was used up is certain; the cause of it has a confidence of its own, by the numbers. */
static bool gpu_verdict(struct pm *p, const struct log_hint *gpu, const struct log_hint *err)
{
	struct gpuoom_verdict v;
	bool last = !err || strstr(err->text, "out of memory") || strstr(err->text, "OutOfMemory") ||
		    strstr(err->text, "ALLOC_FAILED") || strstr(err->text, "RESOURCE_EXHAUSTED");
	enum confidence ended_it = last ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	gpuoom_judge(gpu, &v);
	hint_verdict(p, gpu, INCIDENT_GPU_OOM, gpuoom_cause_id(v.cause),
		     v.cause ? MIN(ended_it, v.confidence) : ended_it,
		     v.cause ? v.words : "failed because the accelerator's memory was used up.");
	if (v.cause)
		pm_text(p, "%s", v.text);
	for (size_t i = 0; i < v.n_advice; i++)
		incident_advice_add(p->i, "%s", v.advice[i]);
	if (!v.cause)
		pm_advise_gpu(p, gpu);
	else if (v.cause != GPUOOM_OTHER_PROCESS)
		incident_advice_add(p->i, "vigil gpus shows whether another process holds memory on the device.");
	return true;
}

/* The process ended by itself with an error, or says so: its last words decide. */
bool pm_log(struct pm *p)
{
	const struct ending *e = &p->end;
	if (e->signal && e->signal != SIGABRT && e->signal != SIGTERM && e->signal != SIGINT)
		return false;
	if (e->reported == SIGKILL || !e->known)
		return false;
	const struct log_hint *gpu = pm_hint(p->d, "cuda_oom"), *err = last_error(p->d);
	if (gpu && e->exited)
		return gpu_verdict(p, gpu, err);
	if (!e->exited)
		return e->signal == SIGABRT ? false : e->signal == SIGINT && exception_verdict(p);
	if (dataloader_verdict(p) || torchrun_verdict(p) || peer_verdict(p) || memory_words(p) || exception_verdict(p))
		return true;
	return false;
}
