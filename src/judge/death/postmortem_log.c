/* Verdicts on a process that ended by itself, from the last words in its log. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"
#include "judge/gpu/gpuoom.h"

const char pm_ray_words[] =
	"A Ray worker died under it; Ray does not know why: SIGKILL by an OOM killer, ray stop, or a crash.";

static bool hint_verdict(struct pm *p, const struct log_hint *h, enum incident_kind kind, const char *id,
			 enum confidence c, const char *words)
{
	char who[PM_WHO];
	pm_verdict(p, kind, KILLER_NONE, id, c);
	pm_summary(p, "%s %s", pm_who(p->d, who), words);
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	if (h->rank != NO_RANK && h->rank != p->d->rank)
		pm_culprit(p, h->rank);
	return true;
}

static const struct log_hint *last_error(const struct death *d)
{
	return pm_hint(d, "python_traceback");
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

/* The number of a rank that the same process had started; what a rank has started has its environment too. */
static int32_t sibling_rank(const struct death *d, const struct process_end *e, pid_t parent)
{
	const struct death_former *f = pm_former(d, e->pid);
	if (e->parent != parent)
		return NO_RANK;
	return f && f->rank != NO_RANK ? f->rank : e->rank;
}

/*
 * A launcher's rank that failed for want of a peer: the rank that had ended before it, by the kernel's word. *ret is
 * that end as one of a rank.
 */
static bool sibling_before(const struct death *d, const struct log_hint *h, struct death_rank *ret)
{
	int64_t noticed_ms = d->end_unix_ms;
	pid_t parent = d->pid;
	const struct process_end *first = NULL;
	for (size_t k = 0; k < d->n_ends; k++)
		if (d->ends[k].pid == h->pid) {
			noticed_ms = d->ends[k].time_unix_ms;
			parent = d->ends[k].parent;
		}
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (e->pid == h->pid || sibling_rank(d, e, parent) == NO_RANK || e->time_unix_ms >= noticed_ms ||
		    !pm_time_fits(d, e->time_unix_ms, -1))
			continue;
		if (!first || e->time_unix_ms < first->time_unix_ms)
			first = e;
	}
	if (!first)
		return false;
	*ret = (struct death_rank){.rank = sibling_rank(d, first, parent),
				   .pid = first->pid,
				   .wait_status = first->wait_status,
				   .end_unix_ms = first->time_unix_ms};
	return true;
}

/* The launcher saw one rank end first; another one's exception came before, in a log that does not say whose. */
static bool rank_unknown_verdict(struct pm *p, const struct log_hint *h, const struct log_hint *root)
{
	char who[PM_WHO];
	p->i->n_culprits = 0;
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "torchrun_rank_failed", CONFIDENCE_LOW);
	pm_summary(p, "%s failed because one of its ranks ended with: %.250s", pm_who(p->d, who), root->text);
	pm_quote(p, root->first[0] ? root->first : "It said", root->text, false);
	pm_text(p,
		"The launcher saw rank %d (pid %d) end first, but that exception stands before those of the ranks "
		"that only lost a peer; the log does not say whose it is.",
		h->rank, (int)h->pid);
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
	const struct log_hint *root = err && pm_peerish(err->text) ? pm_cause_before(p->d, err) : NULL;
	if (root && root->rank == NO_RANK)
		return rank_unknown_verdict(p, h, root);
	if (root)
		err = root;
	else if (err && err->rank != h->rank && pm_reports_other(err->text))
		err = pm_said_before(p->d, err);
	struct death_rank early;
	if (err && pm_peerish(err->text) && sibling_before(p->d, h, &early)) {
		pm_verdict(p, INCIDENT_PEER_LOST, KILLER_NONE, "rank_ended_early", CONFIDENCE_MEDIUM);
		p->i->n_culprits = 0;
		pm_quote(p, "The rank that noticed said", err->text, false);
		pm_ended_early_told(p, &early);
		return true;
	}
	/* It may have noticed only that another one, whose end was not seen, was gone. */
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "torchrun_rank_failed",
		   err && pm_peerish(err->text) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because rank %d (%s) exited with status %d.", who, h->rank, pid_words, h->exit_code);
	pm_text(p, "torchrun ended the other ranks after it.");
	bool raised = err && err->rank == h->rank && h->rank != NO_RANK;
	if (raised && !pm_reports_other(err->text) && !pm_peerish(err->text) && !pm_lost_worker(err->text))
		pm_summary(p, "%s failed because rank %d (%s) exited with status %d: %.250s", who, h->rank, pid_words,
			   h->exit_code, err->text);
	if (err && (err->rank == h->rank || err->rank == NO_RANK) && !pm_reports_other(err->text)) {
		pm_text(p, "Rank %d said: %s", h->rank, err->text);
		p->said = err;
		if (err->first[0])
			pm_exception_text(p, err);
	}
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

/* The last exception only reports that another process ended; that one's own stands before it. */
static bool other_s_exception(struct pm *p, const struct log_hint *first, const struct log_hint *last)
{
	char who[PM_WHO];
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "python_exception", CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because a process of the job ended with a Python exception: %.250s", pm_who(p->d, who),
		   first->text);
	pm_exception_text(p, first);
	p->said = first;
	if (pm_reports_other(last->text))
		pm_text(p, "The exception that ended %s itself only reports that.", p->d->name[0] ? p->d->name : "it");
	else
		pm_quote(p, "What ended this process says so", last->text, false);
	pm_culprit(p, first->rank != NO_RANK ? first->rank : pm_failed_rank(p->d));
	return true;
}

/* An exception of a number, or one that does not say of what it is, may come of a loss that was none. */
static void loss_told(struct pm *p, const struct log_hint *h)
{
	static const char *const numbers[] = {"AssertionError", "FloatingPointError", "nan", "NaN", "inf", "finite",
					      "invalid value"};
	for (size_t k = 0; k < p->d->n_hints; k++) {
		const struct log_hint *loss = &p->d->hints[k];
		if (strcmp(loss->id, "loss_broken") != 0 || (h->rank != NO_RANK && loss->rank != h->rank))
			continue;
		pm_text(p, "Before it, by the log, %s and after.", loss->text);
		if (pm_has_any(h->text, numbers, ARRAY_SIZE(numbers)))
			incident_advice_add(p->i,
					    "Look for what made the loss no number, there or before: %s. The exception "
					    "may only be where that was noticed.",
					    loss->text);
		return;
	}
}

/* What else is known of the exception: words of the device, a thread that had ended, a worker that had left. */
static void said_besides(struct pm *p, const struct log_hint *h)
{
	const struct log_hint *device = pm_hint(p->d, "device_assert"), *thread = pm_thread_before(p->d, h);
	if (device && strstr(h->text, "device-side assert"))
		pm_quote(p, "The kernel on the device had said", device->text, false);
	if (thread)
		pm_quote(p, "A thread of it had ended with an exception before", thread->text, false);
	if (h->rank == NO_RANK && p->d->rank == NO_RANK && p->i->n_culprits == 0)
		pm_culprit(p, pm_failed_rank(p->d));
	loss_told(p, h);
	pm_child_told(p, h);
	pm_asking_signal_told(p);
}

/* What the process said after an exception that did not end it by itself, in the same log. */
static void said_after(struct pm *p, const struct log_hint *h)
{
	const struct log_hint *last = pm_last_line(p->d);
	if (h->of_thread && last && h->after > 0 && !last->loop && strcmp(last->source, h->source) == 0 &&
	    strncmp(last->text, h->text, strlen(h->text)) != 0)
		pm_quote(p, "After that it said", last->text, false);
}

/* It lost a process of its own, by its pool's words or by a pipe of multiprocessing's: how that ended is the reason. */
static void worker_unseen_told(struct pm *p, const struct log_hint *h)
{
	static const char *const pools[] = {"BrokenProcessPool", "TerminatedWorkerError", "BrokenExecutor",
					    "terminated abruptly", "exited unexpectedly"};
	static const char *const pipes[] = {"ConnectionResetError", "EOFError", "BrokenPipeError"};
	const bool pipe = pm_has_any(h->text, pipes, ARRAY_SIZE(pipes)) &&
			  strstr(h->frame, "multiprocessing/connection.py");
	if (!pm_unavailable(p->d, "signals") || (!pipe && !pm_has_any(h->text, pools, ARRAY_SIZE(pools))))
		return;
	p->i->cause.confidence = MIN(p->i->cause.confidence, CONFIDENCE_MEDIUM);
	pm_text(p,
		"So a process of its own%s had ended before. Which one, and whether it was killed (for memory, or by "
		"somebody) or crashed, was not seen, as ends of processes cannot be watched here.",
		pipe ? ", at the other end of that pipe," : "");
	pm_advise_worker_unseen(p);
}

static bool exception_verdict(struct pm *p)
{
	const struct log_hint *h = last_error(p->d), *stop = pm_hint(p->d, "keyboard_interrupt");
	const struct log_hint *before = NULL;
	char who[PM_WHO];
	if (h && (pm_reports_other(h->text) || pm_peerish(h->text) || pm_lost_worker(h->text)))
		before = pm_cause_before(p->d, h);
	if (before)
		return other_s_exception(p, before, h);
	if (h) {
		/* A thread's exception ends no process, and one may have been told before it that was handled. */
		const bool sure = p->end.exited && p->end.code == 1 && !h->of_thread && !pm_thread_after(p->d, h);
		pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "python_exception",
			   sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		pm_summary(p, "%s ended with a Python exception: %.250s", pm_who(p->d, who), h->text);
		pm_exception_text(p, h);
		p->said = h;
		said_after(p, h);
		said_besides(p, h);
		pm_peer_doubted(p, h);
		worker_unseen_told(p, h);
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

bool pm_said_exception(struct pm *p)
{
	return last_error(p->d) && exception_verdict(p);
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
	if (pm_port(p) || pm_limit_words(p) || pm_disk(p))
		return true;
	if (dataloader_verdict(p) || torchrun_verdict(p) || pm_peer(p) || memory_words(p) || pm_connection(p) ||
	    exception_verdict(p))
		return true;
	return false;
}
