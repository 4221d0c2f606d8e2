#include "judge/host/doctor.h"

#include "base/buf.h"
#include "base/units.h"

static const char *number_text(const struct probe_number *n, char dst[static 24])
{
	if (!n->valid)
		return text_copy(dst, 24, "unknown");
	text_format(dst, 24, "%lld", (long long)n->value);
	return dst;
}

static void psi_findings(const struct probe *p, struct findings *all)
{
	struct finding *f;
	if (p->psi != PROBE_YES) {
		f = finding_add(all, "psi-absent", SEVERITY_WARNING,
				"this kernel does not tell how long tasks wait for memory (PSI); vigil watches the "
				"amounts alone and may notice thrashing late");
		finding_evidence(f, "pressure/memory below /proc is %s",
				 p->psi == PROBE_DENIED ? "not readable" : "not there");
		finding_advice(f,
			       "boot with psi=1 if the kernel was built with CONFIG_PSI, else use a kernel that was");
		return;
	}
	if (p->psi_trigger == PROBE_YES && p->psi_window_us >= 2000000) {
		f = finding_add(all, "psi-slow-windows", SEVERITY_NOTE,
				"pressure wakes vigil only over windows of 2 s, because shorter ones need "
				"CAP_SYS_RESOURCE; vigil polls by the amount of memory left in between");
		finding_evidence(f, "smallest window taken: %llu ms", (unsigned long long)p->psi_window_us / 1000);
	} else if (p->psi_trigger == PROBE_DENIED || p->psi_trigger == PROBE_ABSENT) {
		f = finding_add(all, "psi-no-triggers", SEVERITY_NOTE,
				"pressure can be read but not waited for; vigil polls by the amount of memory left");
		finding_evidence(f, "a trigger on pressure/memory was refused");
	}
}

static void privilege_findings(const struct probe *p, struct findings *all)
{
	struct finding *f;
	if (p->lower_adj == PROBE_DENIED || p->lower_adj == PROBE_ABSENT) {
		f = finding_add(all, "oom-score-adj-locked", SEVERITY_NOTE,
				"oom_score_adj cannot be lowered here, so vigil can neither hide a job nor itself from "
				"the kernel's OOM killer; it acts before that killer does and raises the score of what "
				"may go first");
		finding_evidence(f, "lowering our own value by one was refused");
		finding_evidence(f, "uid %u, CAP_SYS_RESOURCE %s%s", p->uid,
				 probe_has_cap(p, PROBE_CAP_SYS_RESOURCE) ? "held" : "missing",
				 p->user_namespace ? ", in a user namespace: capabilities do not count on the host"
						   : "");
		finding_advice(f, "give CAP_SYS_RESOURCE in the host's own user namespace (systemd unit, or docker run "
				  "--cap-add SYS_RESOURCE, or --oom-score-adj at start)");
	}
	if (p->mrelease == PROBE_ABSENT || p->mrelease == PROBE_DENIED) {
		f = finding_add(all, "no-mrelease", SEVERITY_NOTE,
				"process_mrelease is %s: the memory of an ended process comes back only as fast as "
				"that process gets to run; vigil raises its priority instead",
				p->mrelease == PROBE_DENIED ? "forbidden here" : "not in this kernel (it needs 5.15)");
		finding_evidence(f, "kernel %s, seccomp mode %d", p->kernel, p->seccomp);
	}
	if (p->pidfd == PROBE_ABSENT || p->pidfd == PROBE_DENIED) {
		f = finding_add(all, "no-pidfd", SEVERITY_NOTE,
				"pidfd_open is %s: vigil checks the start time of a process before each signal instead",
				p->pidfd == PROBE_DENIED ? "forbidden here" : "not in this kernel (it needs 5.3)");
		finding_evidence(f, "kernel %s, seccomp mode %d", p->kernel, p->seccomp);
	}
	if (p->openat2 == PROBE_ABSENT || p->openat2 == PROBE_DENIED) {
		f = finding_add(all, "no-openat2", SEVERITY_NOTE,
				"openat2 is %s: scripts and logs of jobs in other containers are not read, and each "
				"file of the others costs vigil a process",
				p->openat2 == PROBE_DENIED ? "forbidden here"
							   : "not in this kernel (5.6) or hidden by a filter");
		finding_evidence(f, "kernel %s, seccomp mode %d", p->kernel, p->seccomp);
		finding_advice(f, "in a systemd unit, leave out RestrictSUIDSGID=, which takes openat2 away; in a "
				  "container, use a runtime whose filter knows it");
	}
	if (p->bpf == PROBE_DENIED || p->bpf == PROBE_ABSENT || (p->bpf == PROBE_YES && p->btf != PROBE_YES)) {
		f = finding_add(all, "no-bpf", SEVERITY_NOTE,
				"BPF programs cannot be used: vigil reads /proc for its list of processes (slower with "
				"thousands), cannot name the sender of a SIGKILL, and does not learn which thread "
				"usually ends the wait of another, so fewer hangs are explained");
		finding_evidence(f, "bpf %s, kernel type information %s",
				 p->bpf == PROBE_YES	  ? "permitted"
				 : p->bpf == PROBE_DENIED ? "not permitted"
							  : "not there",
				 p->btf == PROBE_YES ? "there" : "missing");
		finding_advice(
			f, "run vigil as root or with CAP_BPF and CAP_PERFMON; the kernel needs CONFIG_DEBUG_INFO_BTF");
	}
	if (p->bpf == PROBE_YES && p->btf == PROBE_YES && p->own_pids) {
		f = finding_add(all, "no-wakers", SEVERITY_NOTE,
				"vigil runs in a container with process numbers of its own: it does not learn which "
				"thread usually ends the wait of another, so fewer hangs are explained");
		finding_evidence(f, "/proc/self/ns/pid is not that of the machine");
		finding_advice(f, "run vigil on the machine, or with its process numbers (docker run --pid=host)");
	}
	if (p->kmsg == PROBE_DENIED || p->kmsg == PROBE_ABSENT) {
		char restrict_text[24];
		f = finding_add(all, "no-kmsg", SEVERITY_NOTE,
				"the kernel log cannot be read: a kill by the kernel's OOM killer is told from "
				"counters, without its own record of who asked and who was chosen");
		finding_evidence(f, "kernel.dmesg_restrict = %s, CAP_SYSLOG %s",
				 number_text(&p->dmesg_restrict, restrict_text),
				 probe_has_cap(p, PROBE_CAP_SYSLOG) ? "held" : "missing");
	}
	if (p->ptrace_scope.valid && p->ptrace_scope.value > 0 && !probe_has_cap(p, PROBE_CAP_SYS_PTRACE)) {
		f = finding_add(all, "ptrace-scope", SEVERITY_NOTE,
				"other processes of yours can be looked into only when vigil started them");
		finding_evidence(f, "kernel.yama.ptrace_scope = %lld", (long long)p->ptrace_scope.value);
	}
	if (p->proc_hidden) {
		f = finding_add(
			all, "proc-hidden", SEVERITY_WARNING,
			"/proc hides other users' processes (hidepid): vigil cannot see who else fills the memory");
		finding_evidence(f, "process 1 is not shown");
		finding_advice(f, "add the user to the group named in the gid= option of the proc mount");
	}
}

static void limit_findings(const struct probe *p, struct findings *all)
{
	char size[16];
	if (p->memlock_bytes < 16 * MIB && !probe_has_cap(p, PROBE_CAP_IPC_LOCK)) {
		struct finding *f = finding_add(
			all, "memlock", SEVERITY_NOTE,
			"vigil may not lock its memory: it could be swapped out at the moment it is needed");
		finding_evidence(f, "RLIMIT_MEMLOCK is %s", size_format(p->memlock_bytes, size));
		finding_advice(f, "raise it to 16M (ulimit -l, LimitMEMLOCK= in a unit)");
	}
	if (p->files_limit < 4096) {
		struct finding *f =
			finding_add(all, "nofile", SEVERITY_NOTE,
				    "few files may be open at once: vigil keeps fewer processes warm for its choice");
		finding_evidence(f, "RLIMIT_NOFILE is %llu", (unsigned long long)p->files_limit);
	}
}

static const char *can_words(enum probe_can c)
{
	return c == PROBE_YES	   ? "yes"
	       : c == PROBE_DENIED ? "not permitted"
	       : c == PROBE_ABSENT ? "not there"
				   : "unknown";
}

static void cgroup_findings(const struct probe *p, struct findings *all)
{
	struct finding *f;
	if (!p->has_place || p->memory_version == CGROUP_NONE) {
		f = finding_add(all, "cgroup-no-memory", SEVERITY_WARNING,
				"no control group here counts memory: vigil cannot limit or brake a job by its own "
				"group and knows only the machine's total");
		finding_evidence(f, "layout: %s", machine_cgroup_layout(p));
		return;
	}
	if (p->cgroup_memory != PROBE_YES) {
		f = finding_add(all, "cgroup-not-writable", SEVERITY_NOTE,
				"vigil may not make control groups here: it freezes with SIGSTOP, ends processes one "
				"by one, and cannot brake a job before the limit");
		finding_evidence(f, "group %s (%s): writable %s, memory may be passed down: %s", p->place.name,
				 machine_cgroup_layout(p), can_words(p->cgroup_write), can_words(p->cgroup_memory));
		finding_advice(
			f,
			"start the job below a delegated unit: systemd-run --user --scope -p Delegate=yes vigil run …");
	} else if (p->memory_version == CGROUP_V1) {
		f = finding_add(
			all, "cgroup-v1", SEVERITY_NOTE,
			"memory is counted by control groups of version 1, which has no memory.high and no memory.low: "
			"while memory fills fast vigil brakes with the group's limit, and `vigil protect` cannot keep "
			"memory for a job");
		finding_evidence(f, "layout: %s", machine_cgroup_layout(p));
	}
}

static void memory_findings(const struct probe *p, struct findings *all)
{
	char a[16], b[16];
	struct finding *f;
	uint64_t total = p->has_meminfo ? p->meminfo.bytes[MEMINFO_TOTAL] : 0;
	if (p->has_meminfo && meminfo_has(&p->meminfo, MEMINFO_SWAP_TOTAL) &&
	    p->meminfo.bytes[MEMINFO_SWAP_TOTAL] == 0) {
		f = finding_add(all, "no-swap", SEVERITY_NOTE,
				"there is no swap: memory runs out within milliseconds instead of slowly, so vigil "
				"polls faster near the limit; systemd-oomd's swap rule never acts");
		finding_evidence(f, "SwapTotal is 0");
	}
	uint64_t huge = p->has_meminfo ? p->meminfo.bytes[MEMINFO_HUGETLB] : 0;
	if (total && huge > total / 4) {
		f = finding_add(all, "hugetlb-pool", SEVERITY_WARNING,
				"much of the memory is set aside for huge pages and cannot be used by programs that do "
				"not ask for them");
		finding_evidence(f, "Hugetlb %s of %s", size_format(huge, a), size_format(total, b));
		finding_advice(f, "lower vm.nr_hugepages if the job does not use them");
	}
	if (!p->has_shm)
		return;
	/* 64 MiB is the default of container runtimes; data loaders need more and then die of SIGBUS. */
	if (p->shm_total_bytes <= 128 * MIB) {
		f = finding_add(
			all, "shm-small", SEVERITY_WARNING,
			"/dev/shm is small: data loader workers that pass tensors through it die with a bus error");
		finding_evidence(f, "%s in total, %s free", size_format(p->shm_total_bytes, a),
				 size_format(p->shm_free_bytes, b));
		finding_advice(f, "docker run --shm-size 8g (or --ipc=host); in Kubernetes mount an emptyDir with "
				  "medium: Memory on /dev/shm");
	} else if (p->shm_free_bytes < p->shm_total_bytes / 10) {
		f = finding_add(all, "shm-full", SEVERITY_WARNING,
				"/dev/shm is nearly full: the next shared tensor dies with a bus error");
		finding_evidence(f, "%s free of %s", size_format(p->shm_free_bytes, a),
				 size_format(p->shm_total_bytes, b));
		finding_advice(f, "`vigil mem` lists who holds it and what nobody holds any more");
	}
}

static void setting_findings(const struct probe *p, struct findings *all)
{
	struct finding *f;
	if (p->panic_on_oom.valid && p->panic_on_oom.value > 0) {
		f = finding_add(all, "panic-on-oom", SEVERITY_WARNING,
				"the whole machine panics when memory runs out, instead of one process being ended");
		finding_evidence(f, "vm.panic_on_oom = %lld", (long long)p->panic_on_oom.value);
		finding_advice(f, "sysctl vm.panic_on_oom=0, unless losing the node is what you want");
	}
	if (p->oom_kill_allocating_task.valid && p->oom_kill_allocating_task.value > 0) {
		f = finding_add(all, "oom-kill-allocating-task", SEVERITY_WARNING,
				"the kernel ends whoever asks for memory at that moment, not the largest: "
				"oom_score_adj decides nothing but -1000");
		finding_evidence(f, "vm.oom_kill_allocating_task = %lld", (long long)p->oom_kill_allocating_task.value);
		finding_advice(f, "sysctl vm.oom_kill_allocating_task=0");
	}
	if (p->overcommit_memory.valid && p->overcommit_memory.value == 2) {
		char ratio[24];
		f = finding_add(all, "overcommit-strict", SEVERITY_WARNING,
				"the kernel refuses memory by what was promised, not by what is used: forks of large "
				"processes (data loaders) fail with 'Cannot allocate memory' while memory is free, and "
				"the OOM killer rarely acts");
		finding_evidence(f, "vm.overcommit_memory = 2, vm.overcommit_ratio = %s",
				 number_text(&p->overcommit_ratio, ratio));
		finding_advice(f, "sysctl vm.overcommit_memory=0 on machines for training");
	}
	if (p->oom_dump_tasks.valid && p->oom_dump_tasks.value == 0) {
		f = finding_add(all, "oom-dump-tasks-off", SEVERITY_NOTE,
				"the kernel's OOM record leaves out the table of processes, so `vigil why` cannot show "
				"what else was large");
		finding_evidence(f, "vm.oom_dump_tasks = 0");
	}
	/* A pattern that names no file and pipes to no program drops the core silently. */
	if (p->core_limit_bytes == 0 && p->core_pattern[0] != '|') {
		f = finding_add(all, "no-core", SEVERITY_NOTE,
				"a crash leaves no core file, so its native stack is lost");
		finding_evidence(f, "core limit 0, core_pattern '%s'", p->core_pattern);
		finding_advice(f, "ulimit -c unlimited before the job, if the disk has room for it");
	}
}

static void oom_daemon_findings(const struct probe *p, struct findings *all)
{
	for (size_t i = 0; i < p->oom_daemons.n; i++) {
		const struct oom_daemon_row *r = &p->oom_daemons.row[i];
		char id[48];
		text_format(id, sizeof(id), "rival-%s", oom_daemon_name(r->kind));
		/* These manage only what they started themselves, or whole pods, so a plain job is not ended twice. */
		bool bounded = r->kind == OOM_DAEMON_RAY || r->kind == OOM_DAEMON_SLURM;
		struct finding *f =
			finding_add(all, id, bounded ? SEVERITY_NOTE : SEVERITY_WARNING, "%s runs here as well: it %s",
				    oom_daemon_name(r->kind), oom_daemon_rule(r->kind));
		finding_evidence(f, "process %d: %s", r->pid, r->command);
		if (r->setting[0])
			finding_evidence(f, "it was started with %s", r->setting);
		if (r->kind == OOM_DAEMON_SYSTEMD_OOMD) {
			finding_evidence(f,
					 "it acts when %.0f %% of memory and %.0f %% of swap are used, or when a "
					 "watched group waits for memory more than %.0f %% of the time for %.0f s (%s)",
					 p->oomd.swap_used_limit_ratio * 100, p->oomd.swap_used_limit_ratio * 100,
					 p->oomd.pressure_limit_ratio * 100, p->oomd.pressure_duration_s,
					 p->oomd.from_file ? "from oomd.conf" : "its defaults; a unit may set its own");
			finding_advice(f, "`vigil protect`, with the job's name, asks it to spare the job's group");
		} else if (!bounded) {
			finding_advice(f, "let its threshold lie below vigil's, or stop it on machines where vigil's "
					  "agent runs, so that one of them decides");
		}
	}
}

static void container_findings(const struct probe *p, struct findings *all)
{
	if (p->container[0] == '\0')
		return;
	struct finding *f =
		finding_add(all, "container", SEVERITY_NOTE,
			    "vigil runs in a container: processes, limits and kernel records of the host outside it "
			    "cannot be seen, and a kill by the host's killers is told from counters");
	finding_evidence(f, "runtime: %s", p->container);
}

void doctor_machine(const struct probe *p, struct findings *ret)
{
	memory_findings(p, ret);
	setting_findings(p, ret);
	oom_daemon_findings(p, ret);
	psi_findings(p, ret);
	cgroup_findings(p, ret);
	privilege_findings(p, ret);
	limit_findings(p, ret);
	container_findings(p, ret);
}
