#include "model/incident/incident.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask/mask.h"

static const char *const kind_names[INCIDENT_KIND_MAX] = {
	[INCIDENT_NONE] = "none",
	[INCIDENT_MEMORY_KILL] = "memory_kill",
	[INCIDENT_KERNEL_OOM] = "kernel_oom",
	[INCIDENT_CGROUP_OOM] = "cgroup_oom",
	[INCIDENT_SYSTEMD_OOMD] = "systemd_oomd",
	[INCIDENT_OTHER_OOM_DAEMON] = "other_oom_daemon",
	[INCIDENT_KILLED_BY] = "killed_by",
	[INCIDENT_CRASH] = "crash",
	[INCIDENT_ERROR_EXIT] = "error_exit",
	[INCIDENT_GPU_OOM] = "gpu_oom",
	[INCIDENT_SHM_FULL] = "shm_full",
	[INCIDENT_HANG] = "hang",
	[INCIDENT_STRAGGLER] = "straggler",
	[INCIDENT_SLOWDOWN] = "slowdown",
	[INCIDENT_PEER_LOST] = "peer_lost",
	[INCIDENT_CLEAN_EXIT] = "clean_exit",
};

static const char *const killer_names[KILLER_MAX] = {
	[KILLER_UNKNOWN] = "unknown",
	[KILLER_NONE] = "none",
	[KILLER_VIGIL] = "vigil",
	[KILLER_KERNEL] = "kernel",
	[KILLER_CGROUP] = "cgroup",
	[KILLER_SYSTEMD_OOMD] = "systemd-oomd",
	[KILLER_EARLYOOM] = "earlyoom",
	[KILLER_NOHANG] = "nohang",
	[KILLER_RAY] = "ray",
	[KILLER_SLURM] = "slurm",
	[KILLER_KUBERNETES] = "kubernetes",
	[KILLER_SIGNAL] = "signal",
	[KILLER_OOMD] = "oomd",
};

static size_t name_index(const char *const *names, size_t n, const char *name, size_t fallback)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return fallback;
}

const char *incident_kind_name(enum incident_kind k)
{
	return k < INCIDENT_KIND_MAX ? kind_names[k] : "none";
}

bool incident_asked(const char *cause_id)
{
	static const char *const ids[] = {"asked_to_stop", "asked_from_page", "interrupted", "terminal_interrupt"};
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (strcmp(cause_id, ids[i]) == 0)
			return true;
	return false;
}

enum incident_kind incident_kind_of(const char *name)
{
	return (enum incident_kind)name_index(kind_names, INCIDENT_KIND_MAX, name, INCIDENT_NONE);
}

const char *killer_name(enum killer k)
{
	return k < KILLER_MAX ? killer_names[k] : "unknown";
}

enum killer killer_of(const char *name)
{
	return (enum killer)name_index(killer_names, KILLER_MAX, name, KILLER_UNKNOWN);
}

const char *confidence_name(enum confidence c)
{
	static const char *const names[] = {"low", "medium", "high"};
	return names[MIN((size_t)c, ARRAY_SIZE(names) - 1)];
}

const char *retry_name(enum incident_retry r)
{
	static const char *const names[] = {"none", "retry", "give_up"};
	return names[MIN((size_t)r, ARRAY_SIZE(names) - 1)];
}

const char *memory_scope_name(enum memory_scope s)
{
	static const char *const names[] = {NULL, "node", "container", "job"};
	return names[MIN((size_t)s, ARRAY_SIZE(names) - 1)];
}

void incident_evidence_add(struct incident *i, const char *kind, const char *source, int64_t time_unix_ms,
			   const char *fmt, ...)
{
	if (i->n_evidence >= INCIDENT_EVIDENCE) {
		i->n_evidence_dropped++;
		return;
	}
	struct incident_evidence *e = &i->evidence[i->n_evidence++];
	TEXT_COPY(e->kind, kind);
	TEXT_COPY(e->source, source);
	e->time_unix_ms = time_unix_ms;
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void incident_advice_add(struct incident *i, const char *fmt, ...)
{
	if (i->cause.n_advice >= INCIDENT_ADVICE)
		return;
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(i->cause.advice[i->cause.n_advice], sizeof(i->cause.advice[0]), fmt, ap);
	va_end(ap);
	i->cause.n_advice++;
}

/* The word JOB of the next "vigil COMMAND JOB" in text; NULL: there is none. */
static const char *job_place(const char *text)
{
	for (const char *at = strstr(text, "vigil "); at; at = strstr(at + 1, "vigil ")) {
		const char *word = at + strlen("vigil ");
		word += strspn(word, "abcdefghijklmnopqrstuvwxyz");
		bool whole = strncmp(word, " JOB", 4) == 0 && !isalnum((unsigned char)word[4]) && word[4] != '_';
		if (whole)
			return word + 1;
	}
	return NULL;
}

void incident_advice_name_job(struct incident *i)
{
	for (size_t n = 0; n < i->cause.n_advice; n++) {
		char before[sizeof(i->cause.advice[0])];
		TEXT_COPY(before, i->cause.advice[n]);
		struct buf b = BUF_ON(i->cause.advice[n]);
		buf_reset(&b);
		const char *rest = before;
		for (const char *at = job_place(rest); at; at = job_place(rest)) {
			buf_add_n(&b, rest, (size_t)(at - rest));
			buf_add(&b, i->job[0] ? i->job : "last");
			rest = at + strlen("JOB");
		}
		buf_add(&b, rest);
	}
}

void incident_mask(struct incident *i)
{
	mask_text(i->summary);
	mask_text(i->cause.text);
	mask_text(i->killer_text);
	mask_text(i->victim.command);
	mask_text(i->policy.reason);
	mask_text(i->retry.reason);
	for (size_t k = 0; k < i->cause.n_advice; k++)
		mask_text(i->cause.advice[k]);
	for (size_t k = 0; k < i->n_top; k++)
		mask_text(i->top[k].command);
	for (size_t k = 0; k < i->n_evidence; k++)
		mask_text(i->evidence[k].text);
}
