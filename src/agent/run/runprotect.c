#include "agent/run/runprotect.h"

#include "agent/memory/protectjob.h"
#include "base/log.h"

void runprotect_apply(const struct world *w, struct recorder *k, const struct job *j, bool quiet)
{
	static struct protectjob sh; /* large */
	const struct members_want members = {.job_id = j->id, .uid = j->uid, .root = j->pid, .group = j->cgroup};
	const struct protectjob_want want = {
		.members = &members, .subject = j->name, .key = j->id, .level = PROTECT_NORMAL, .guarded = true};
	struct fault f = {.text = ""};
	if (protectjob_apply(w, &want, recorder_store(k), &sh, &f) != 0) {
		log_warning("the job could not be protected: %s", f.text);
		return;
	}
	if (sh.outcome.n_refused > 0)
		log_warning("oom_score_adj of %zu processes may not be lowered (CAP_SYS_RESOURCE in the first user "
			    "namespace "
			    "is missing): the kernel may still pick the job; vigil acts before it does",
			    sh.outcome.n_refused);
	for (size_t i = 0; i < sh.threats.n; i++)
		recorder_event(k, j, "threat", NULL, "%s", sh.threats.row[i].text);
	recorder_event(k, j, "protect", NULL, "%zu of %zu processes protected; %zu things can still end the job",
		       sh.outcome.n_done, sh.outcome.n, sh.threats.n);
	if (!quiet && sh.outcome.n_done > 0)
		log_info("protected; %zu things can still end the job (vigil protect %s lists them)", sh.threats.n,
			 j->id);
	protectjob_done(&sh);
}
