/* Why a process may not be looked into: which check failed, and the one thing to do. */
#include "testing.h"

#include "judge/host/access.h"

/* An ordinary user before a process of the same user on an open machine. */
static struct access_facts plain(void)
{
	return (struct access_facts){
		.pid = 812, .exists = true, .has_ids = true,
		.our_uid = 1000, .our_euid = 1000, .uid = 1000, .euid = 1000, .suid = 1000,
		.our_gid = 100, .gid = 100, .egid = 100, .sgid = 100,
		.has_user_ns = true, .same_user_ns = true, .has_dumpable = true, .dumpable = true, .has_seccomp = true,
	};
}

static struct access_facts refused(void)
{
	struct access_facts a = plain();
	a.refused_readv = a.refused_mem = a.refused_ptrace = true;
	return a;
}

static void assert_says(const struct access_facts *a, const char *one, const char *two)
{
	struct fault f;
	access_explain(a, &f);
	if (!strstr(f.text, one) || !strstr(f.text, two))
		fail_msg("\"%s\" does not say \"%s\" and \"%s\"", f.text, one, two);
	assert_true(strlen(f.text) < sizeof(f.text) - 1);
}

static void what_is_not_there_cannot_be_looked_into(void **state)
{
	(void)state;
	struct access_facts a = refused();
	a.zombie = true;
	assert_says(&a, "process 812 has ended", "parent");
	a.kernel_thread = true;
	assert_says(&a, "812", "kernel");
	a.exists = false;
	assert_says(&a, "812", "does not exist");
}

static void another_users_process_needs_that_user_or_root(void **state)
{
	(void)state;
	struct access_facts a = refused();
	a.uid = a.euid = a.suid = 1001;
	assert_says(&a, "belongs to user 1001, and we are user 1000", "as that user or as root");
	a.euid = 0; /* a set-uid program of ours */
	a.uid = 1000;
	assert_says(&a, "users 1000, 0 and 1001", "run vigil as root");
	a = refused();
	a.our_uid = a.our_euid = 0;
	assert_says(&a, "root without the capability", "--cap-add SYS_PTRACE");
	a = refused();
	a.egid = 0;
	assert_says(&a, "groups 100, 0 and 100", "root");
}

static void yama_is_named_with_its_scope(void **state)
{
	(void)state;
	struct access_facts a = refused();
	a.has_yama = true;
	a.yama_scope = 1;
	assert_says(&a, "ptrace_scope 1", "`vigil run`");
	assert_says(&a, "kernel.yama.ptrace_scope=0", "SYS_PTRACE");
	a.yama_scope = 2;
	assert_says(&a, "ptrace_scope 2", "root");
	a.yama_scope = 3;
	assert_says(&a, "ptrace_scope 3", "reboot");
	a.our_ptrace_cap = true;
	assert_says(&a, "ptrace_scope 3", "reboot");
	/* Scope 1 lets ancestors through: then it was something else. */
	a = refused();
	a.has_yama = true;
	a.yama_scope = 1;
	a.descendant = true;
	assert_says(&a, "security module", "CAP_SYS_PTRACE");
}

static void ids_are_judged_before_yama(void **state)
{
	(void)state;
	struct access_facts a = refused();
	a.has_yama = true;
	a.yama_scope = 1;
	a.uid = a.euid = a.suid = 7;
	assert_says(&a, "belongs to user 7", "root");
}

static void closed_processes_and_other_namespaces_are_named(void **state)
{
	(void)state;
	struct access_facts a = refused();
	a.dumpable = false;
	assert_says(&a, "PR_SET_DUMPABLE", "root");
	a.same_user_ns = false;
	assert_says(&a, "another user namespace", "host");
	a.our_ptrace_cap = true;
	assert_says(&a, "our capabilities do not count", "host");
}

static void a_filter_on_ourselves_is_not_blamed_on_the_target(void **state)
{
	(void)state;
	struct access_facts a = plain();
	a.our_seccomp = 2;
	a.filtered = a.refused_readv = a.refused_ptrace = true;
	a.in_container = true;
	assert_says(&a, "seccomp filter on vigil itself", "--cap-add SYS_PTRACE");
	assert_says(&a, "(we are in a container)", "securityContext");
	a.our_seccomp = 0;
	assert_says(&a, "even on ourselves", "host");
	/* A filter that changes nothing about a process of somebody else. */
	a = refused();
	a.our_seccomp = 2;
	a.filtered = true;
	a.uid = a.euid = a.suid = 7;
	assert_says(&a, "belongs to user 7", "");
}

static void a_tracer_is_named(void **state)
{
	(void)state;
	struct access_facts a = plain();
	a.tracer = 4000;
	memcpy(a.tracer_name, "gdb", 4);
	a.refused_ptrace = true;
	assert_says(&a, "held by pid 4000 (gdb)", "its memory can be read");
}

static void nothing_refused_says_so(void **state)
{
	(void)state;
	struct access_facts a = plain();
	assert_says(&a, "can be looked into", "812");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_cannot_be_looked_into),
		cmocka_unit_test(another_users_process_needs_that_user_or_root),
		cmocka_unit_test(yama_is_named_with_its_scope),
		cmocka_unit_test(ids_are_judged_before_yama),
		cmocka_unit_test(closed_processes_and_other_namespaces_are_named),
		cmocka_unit_test(a_filter_on_ourselves_is_not_blamed_on_the_target),
		cmocka_unit_test(a_tracer_is_named),
		cmocka_unit_test(nothing_refused_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
