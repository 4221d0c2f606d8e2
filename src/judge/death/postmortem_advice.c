/* Advice on what to do next, with the numbers that are known. */
#include <string.h>

#include "base/units.h"
#include "judge/death/postmortem_parts.h"

/* How a group's limit is raised, by the manager that its path shows. */
static const struct {
	const char *in_path;
	const char *how;
} managers[] = {
	{"kubepods", "raise resources.limits.memory of the container"},
	{"slurm", "ask for more with sbatch --mem or --mem-per-cpu"},
	{"docker", "start the container with a larger --memory"},
	{"libpod", "start the container with a larger --memory"},
	{".service", "raise MemoryMax= (systemctl set-property UNIT MemoryMax=…)"},
	{".scope", "raise MemoryMax= (systemctl set-property UNIT MemoryMax=…)"},
	{".slice", "raise MemoryMax= (systemctl set-property UNIT MemoryMax=…)"},
};

void pm_advise_limit(struct pm *p, const char *group, uint64_t limit_bytes)
{
	const char *how = "raise its limit";
	char limit[16];
	for (size_t m = 0; m < ARRAY_SIZE(managers); m++)
		if (strstr(group, managers[m].in_path)) {
			how = managers[m].how;
			break;
		}
	if (limit_bytes == 0) {
		incident_advice_add(p->i, "Give the group%s%s more memory: %s.", group[0] ? " " : "", group, how);
		return;
	}
	incident_advice_add(p->i, "Give %s more than its %s: %s.", group[0] ? group : "the group",
			    size_format(limit_bytes, limit), how);
	incident_advice_add(p->i, "vigil run --memory-limit %lluM lets vigil act before the kernel does, and retry.",
			    (unsigned long long)(limit_bytes / 100 * 95 / MIB));
}

void pm_advise_less_memory(struct pm *p)
{
	char own[16];
	if (p->i->victim.has_memory && p->i->victim.own_bytes > 0)
		incident_advice_add(p->i,
				    "Make it need less than the %s it held: a smaller batch, fewer loader workers "
				    "(num_workers), less prefetching, or memory-mapped data.",
				    size_format(p->i->victim.own_bytes, own));
	else
		incident_advice_add(p->i, "Make it need less memory: a smaller batch, fewer loader workers "
					  "(num_workers), less prefetching, or memory-mapped data.");
}

void pm_advise_oomd(struct pm *p, const struct killer_line *l)
{
	if (l->pressure)
		incident_advice_add(
			p->i,
			"Relieve the stall, not the use: something under %s was waiting for memory %.0f %% of the "
			"time. Limit the neighbours, add memory or swap, or read data with less caching.",
			l->monitored[0] ? l->monitored : "its group", l->value_ratio * 100);
	else if (l->memory_total_bytes > 0)
		incident_advice_add(p->i, "systemd-oomd's swap rule fires when memory and swap are both over the "
					  "limit: add swap, or make the job need less.");
	incident_advice_add(p->i,
			    "vigil protect %s sets ManagedOOMPreference=omit for the job; oom_score_adj, even "
			    "-1000, does not stop systemd-oomd.",
			    p->d->job[0] ? p->d->job : "last");
	if (l->pressure && l->limit_ratio > 0)
		incident_advice_add(p->i,
				    "Or raise the limit: ManagedOOMMemoryPressureLimit= above %.0f %% on the unit that "
				    "is monitored, or DefaultMemoryPressureDurationSec= in oomd.conf.",
				    l->limit_ratio * 100);
}

void pm_advise_less_shm(struct pm *p)
{
	incident_advice_add(
		p->i,
		"Use fewer DataLoader workers or a smaller prefetch_factor: every batch in flight lies in /dev/shm.");
	incident_advice_add(p->i, "torch.multiprocessing.set_sharing_strategy('file_system') changes how tensors are "
				  "shared; vigil mem shows who holds what in /dev/shm, orphans marked.");
}

void pm_advise_shm(struct pm *p)
{
	char total[16];
	if (p->d->has_shm)
		incident_advice_add(p->i,
				    "Make /dev/shm larger than its %s: docker run --shm-size=…, or an emptyDir with "
				    "medium: Memory in Kubernetes.",
				    size_format(p->d->shm_total_bytes, total));
	else
		incident_advice_add(p->i, "Make /dev/shm larger: docker run --shm-size=…, or an emptyDir with medium: "
					  "Memory in Kubernetes.");
	pm_advise_less_shm(p);
}

void pm_advise_core(struct pm *p)
{
	const struct death *d = p->d;
	if (d->core_file[0])
		incident_advice_add(p->i, "The core is in %s: gdb PROGRAM %s, then bt.", d->core_file, d->core_file);
	else if (d->core_dumped && d->core_pattern[0] == '|')
		incident_advice_add(p->i, "The core was handed to %s; with systemd-coredump: coredumpctl info %d.",
				    d->core_pattern + 1, (int)d->pid);
	else if (d->core_dumped)
		incident_advice_add(p->i, "A core was dumped by the pattern \"%s\", relative to the working directory.",
				    d->core_pattern);
	else if (d->has_core_limit && d->core_limit_bytes == 0 && d->core_pattern[0] != '|')
		incident_advice_add(
			p->i, "There is no core because the limit is 0: ulimit -c unlimited before the next run.");
	else if (pm_unavailable(d, "core") || !d->core_pattern[0])
		incident_advice_add(p->i, "No core was found and core_pattern could not be read.");
	else
		incident_advice_add(p->i,
				    "No core was written (core_pattern is \"%s\"): the directory may not be writable "
				    "or the disk full.",
				    d->core_pattern);
	incident_advice_add(p->i,
			    "For a Python program, python -X faulthandler prints the Python stack of the next crash.");
}

void pm_advise_gpu(struct pm *p, const struct log_hint *h)
{
	char size[16];
	if (h->bytes > 0)
		incident_advice_add(p->i,
				    "The request that failed was %s: make the batch, the sequence or the model's share "
				    "on this device smaller.",
				    size_format(h->bytes, size));
	else
		incident_advice_add(p->i, "Make the batch, the sequence or the model's share on this device smaller.");
	if (strstr(h->text, "reserved"))
		incident_advice_add(p->i, "If much is reserved but unallocated it is fragmentation: %s.",
				    strstr(h->text, "HIP") ? "PYTORCH_HIP_ALLOC_CONF=max_split_size_mb:128"
							   : "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
	incident_advice_add(p->i, "vigil gpus shows whether another process holds memory on the device.");
}

static bool lacked_rights_for_signals(const struct death *d)
{
	for (size_t i = 0; i < d->n_unavailable; i++)
		if (strcmp(d->unavailable[i], "signals: " DEATH_UNWATCHED) == 0)
			return false;
	return pm_unavailable(d, "signals");
}

void pm_advise_sender(struct pm *p)
{
	if (lacked_rights_for_signals(p->d))
		incident_advice_add(
			p->i, "Run vigil as root, or with CAP_BPF and CAP_PERFMON: it then sees who sends a signal.");
}

void pm_advise_worker_unseen(struct pm *p)
{
	incident_advice_add(p->i,
			    "Look at how much memory the workers take together, and at the limit of the container: a "
			    "worker that vanishes without a word is most often killed for memory.");
	if (lacked_rights_for_signals(p->d))
		incident_advice_add(p->i, "Run vigil as root, or with CAP_BPF and CAP_PERFMON: it then sees which "
					  "process ended, how, and who sent a signal.");
}

void pm_advise_unknown_kill(struct pm *p)
{
	pm_advise_sender(p);
	if (pm_unavailable(p->d, "kmsg"))
		incident_advice_add(
			p->i,
			"Look at the kernel log of the host (dmesg -T | grep -i 'killed process'); vigil may not.");
	if (pm_unavailable(p->d, "journal"))
		incident_advice_add(
			p->i,
			"Look at the host's journal around that time for systemd-oomd, earlyoom or the scheduler.");
	if (p->i->cause.n_advice == 0)
		incident_advice_add(p->i, "Ask who may signal this user's processes: a job scheduler's epilog, a "
					  "container run-time, cgroup.kill, a parent process, an administrator.");
}
