#include "judge/host/access.h"

#include "base/buf.h"

#define CAPABILITY                                                                                                     \
	"CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE; Kubernetes: securityContext.capabilities.add: [SYS_PTRACE])"

/* Reasons that no right would change. */
static bool explain_nothing_there(const struct access_facts *a, struct fault *f)
{
	if (!a->exists)
		TEXT_FORMAT(f->text, "process %d does not exist (any more), or this /proc hides it", a->pid);
	else if (a->kernel_thread)
		TEXT_FORMAT(f->text,
			    "process %d is a thread of the kernel: it has no memory and no stack of its own to read",
			    a->pid);
	else if (a->zombie)
		TEXT_FORMAT(
			f->text,
			"process %d has ended and waits for its parent to ask for the exit status: its memory is gone",
			a->pid);
	else
		return false;
	return true;
}

/* PTRACE_MODE_REALCREDS: our real ids must equal all three of the process's. */
static bool uid_matches(const struct access_facts *a)
{
	return a->our_uid == a->uid && a->our_uid == a->euid && a->our_uid == a->suid;
}

static bool gid_matches(const struct access_facts *a)
{
	return a->our_gid == a->gid && a->our_gid == a->egid && a->our_gid == a->sgid;
}

static void explain_user(const struct access_facts *a, struct fault *f)
{
	if (a->our_uid == 0)
		TEXT_FORMAT(f->text,
			    "process %d belongs to user %u, and we are root without the capability to look into "
			    "others: add " CAPABILITY,
			    a->pid, a->uid);
	else if (a->uid == a->euid && a->uid == a->suid && a->uid != 0)
		TEXT_FORMAT(f->text,
			    "process %d belongs to user %u, and we are user %u: run vigil as that user or as root",
			    a->pid, a->uid, a->our_uid);
	else if (a->uid == a->euid && a->uid == a->suid)
		TEXT_FORMAT(f->text, "process %d belongs to user %u, and we are user %u: run vigil as root", a->pid,
			    a->uid, a->our_uid);
	else
		TEXT_FORMAT(
			f->text,
			"process %d runs with the rights of users %u, %u and %u, and we are user %u: run vigil as root",
			a->pid, a->uid, a->euid, a->suid, a->our_uid);
}

static void explain_filter(const struct access_facts *a, struct fault *f)
{
	if (a->has_seccomp && a->our_seccomp == 2)
		TEXT_FORMAT(f->text,
			    "a seccomp filter on vigil itself refuses process_vm_readv or ptrace%s: add " CAPABILITY
			    ", which lifts it in the default profiles, or name a profile that allows both",
			    a->in_container ? " (we are in a container)" : "");
	else
		TEXT_FORMAT(f->text,
			    "process_vm_readv or ptrace is refused even on ourselves, though no seccomp filter is set: "
			    "this kernel or a security module lacks them; run vigil on the host");
}

static bool explain_ids(const struct access_facts *a, struct fault *f)
{
	if (a->has_ids && !uid_matches(a)) {
		explain_user(a, f);
		return true;
	}
	if (a->has_ids && !gid_matches(a)) {
		TEXT_FORMAT(f->text,
			    "process %d runs with the rights of groups %u, %u and %u, and ours is %u: run vigil as "
			    "root, or with that group (newgrp, sg)",
			    a->pid, a->gid, a->egid, a->sgid, a->our_gid);
		return true;
	}
	if (a->has_user_ns && !a->same_user_ns) {
		TEXT_FORMAT(f->text,
			    "process %d lives in another user namespace, in which we have no rights: run vigil as root "
			    "of the host, or inside that container",
			    a->pid);
		return true;
	}
	if (a->has_dumpable && !a->dumpable) {
		TEXT_FORMAT(f->text,
			    "process %d is closed to its own user, as programs are that changed their user or asked "
			    "for it (PR_SET_DUMPABLE): run vigil as root, or add " CAPABILITY,
			    a->pid);
		return true;
	}
	return false;
}

static bool explain_yama(const struct access_facts *a, struct fault *f)
{
	if (!a->has_yama)
		return false;
	if (a->yama_scope == 1 && !a->descendant)
		TEXT_FORMAT(f->text,
			    "this machine lets a process be looked into only by its ancestors (Yama ptrace_scope 1): "
			    "start the job with `vigil run`, or sysctl kernel.yama.ptrace_scope=0, or add " CAPABILITY);
	else if (a->yama_scope == 2)
		TEXT_FORMAT(f->text, "this machine lets only administrators look into processes (Yama ptrace_scope 2): "
				     "run vigil as root, or add " CAPABILITY);
	else
		return false;
	return true;
}

/* Reading memory is still allowed; only stopping the threads is not. */
static bool explain_tracer(const struct access_facts *a, struct fault *f)
{
	if (a->tracer <= 0)
		return false;
	TEXT_FORMAT(f->text,
		    "process %d is held by pid %d (%s), and there can be only one tracer: its memory can be read, but "
		    "its threads not stopped for native stacks; end that program or detach it",
		    a->pid, a->tracer, a->tracer_name);
	return true;
}

static void explain_refused(const struct access_facts *a, struct fault *f)
{
	if (a->has_yama && a->yama_scope == 3) {
		TEXT_FORMAT(f->text,
			    "this machine lets nobody look into processes until it is started again (Yama ptrace_scope "
			    "3): set kernel.yama.ptrace_scope below 3 in /etc/sysctl.d and reboot");
		return;
	}
	if (a->our_ptrace_cap && a->has_user_ns && !a->same_user_ns) {
		TEXT_FORMAT(f->text,
			    "process %d lives in another user namespace, where our capabilities do not count: run "
			    "vigil as root of the host, or inside that namespace",
			    a->pid);
		return;
	}
	if (!a->our_ptrace_cap && (explain_ids(a, f) || explain_yama(a, f)))
		return;
	if (!a->our_ptrace_cap) {
		TEXT_FORMAT(f->text,
			    "process %d may not be looked into although its user is ours: it has capabilities that we "
			    "lack, or a security module (SELinux, AppArmor) forbids it; run vigil as root, or "
			    "add " CAPABILITY,
			    a->pid);
		return;
	}
	TEXT_FORMAT(f->text,
		    "process %d may not be looked into although we have CAP_SYS_PTRACE: a security module (SELinux, "
		    "AppArmor) forbids it; look for its denial in the kernel's log (dmesg, ausearch)",
		    a->pid);
}

void access_explain(const struct access_facts *a, struct fault *f)
{
	*f = (struct fault){};
	if (explain_nothing_there(a, f))
		return;
	if (a->refused_readv && a->refused_mem)
		explain_refused(a, f);
	else if (a->filtered && (a->refused_readv || a->refused_ptrace))
		explain_filter(a, f);
	else if (explain_tracer(a, f))
		return;
	else if (a->refused_readv || a->refused_mem || a->refused_ptrace)
		explain_refused(a, f);
	else
		TEXT_FORMAT(f->text, "process %d can be looked into", a->pid);
}
