/* What a seccomp filter may do to the calls that an attach needs. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "act/inject/inject_parts.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(v, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (yes), (no))
#define END(v) BPF_STMT(BPF_RET | BPF_K, (v))
#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#else
#define HERE AUDIT_ARCH_AARCH64
#endif
#define N(f) (sizeof(f) / sizeof((f)[0]))

static void a_list_of_refusals_is_harmless(void **state)
{
	(void)state;
	const char *call = NULL;
	const struct sock_filter f[] = {LOAD(arch),
					IS(HERE, 1, 0),
					END(SECCOMP_RET_KILL_PROCESS),
					LOAD(nr),
					IS(SYS_mount, 0, 1),
					END(SECCOMP_RET_ERRNO | 1),
					IS(SYS_memfd_create, 0, 1),
					END(SECCOMP_RET_ERRNO | 38),
					END(SECCOMP_RET_ALLOW)};
	assert_true(inject_filter_lets(f, N(f), &call));
	const struct sock_filter all[] = {END(SECCOMP_RET_LOG)};
	assert_true(inject_filter_lets(all, 1, &call));
}

static void a_list_of_what_is_allowed_must_have_all_that_is_needed(void **state)
{
	(void)state;
	const char *call = NULL;
	const struct sock_filter f[] = {LOAD(nr), IS(SYS_openat, 1, 0), END(SECCOMP_RET_KILL_PROCESS),
					END(SECCOMP_RET_ALLOW)};
	assert_false(inject_filter_lets(f, N(f), &call));
	assert_string_equal(call, "read");
	const struct sock_filter or_else[] = {LOAD(nr), IS(SYS_openat, 1, 0), END(SECCOMP_RET_ERRNO | 1),
					      END(SECCOMP_RET_ALLOW)};
	assert_true(inject_filter_lets(or_else, N(or_else), &call));
}

static void stopping_or_asking_somebody_is_not_harmless(void **state)
{
	(void)state;
	static const uint32_t verdicts[] = {SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP,
					    SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF};
	for (size_t i = 0; i < N(verdicts); i++) {
		const char *call = NULL;
		const struct sock_filter f[] = {LOAD(nr), IS(SYS_madvise, 0, 1), END(verdicts[i]),
						END(SECCOMP_RET_ALLOW)};
		assert_false(inject_filter_lets(f, N(f), &call));
		assert_string_equal(call, "madvise");
	}
}

static void what_depends_on_an_argument_counts_either_way(void **state)
{
	(void)state;
	const char *call = NULL;
	struct sock_filter f[] = {LOAD(nr),
				  IS(SYS_prctl, 0, 4),
				  LOAD(args[0]),
				  BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
				  BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 30, 0, 1),
				  END(SECCOMP_RET_KILL_PROCESS),
				  END(SECCOMP_RET_ALLOW)};
	assert_false(inject_filter_lets(f, N(f), &call));
	assert_string_equal(call, "prctl");
	f[5].k = SECCOMP_RET_ERRNO;
	assert_true(inject_filter_lets(f, N(f), &call));
	f[4] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_X, 0, 0, 1);
	f[5].k = SECCOMP_RET_TRAP;
	assert_false(inject_filter_lets(f, N(f), &call));
}

static void arithmetic_and_memory_are_followed(void **state)
{
	(void)state;
	const char *call = NULL;
	/* nr goes through memory and x, and back as nr * 2 / 2 + 3 - 3, xor'ed and negated twice */
	const struct sock_filter f[] = {LOAD(nr),
					BPF_STMT(BPF_ST, 3),
					BPF_STMT(BPF_LD | BPF_IMM, 7),
					BPF_STMT(BPF_LDX | BPF_MEM, 3),
					BPF_STMT(BPF_MISC | BPF_TXA, 0),
					BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 1),
					BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
					BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 4),
					BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 4),
					BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 3),
					BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 3),
					BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xf0),
					BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xf0),
					BPF_STMT(BPF_ALU | BPF_NEG, 0),
					BPF_STMT(BPF_ALU | BPF_NEG, 0),
					BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 0),
					IS(SYS_munmap, 0, 1),
					END(SECCOMP_RET_KILL_PROCESS),
					BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
					IS(sizeof(struct seccomp_data), 0, 1),
					END(SECCOMP_RET_ALLOW),
					END(SECCOMP_RET_KILL_PROCESS)};
	assert_false(inject_filter_lets(f, N(f), &call));
	assert_string_equal(call, "munmap");
}

static void what_has_no_end_or_is_no_filter_is_not_harmless(void **state)
{
	(void)state;
	static struct sock_filter many[4096];
	const char *call = NULL;
	const struct sock_filter no_end[] = {LOAD(nr)},
				 far[] = {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), END(SECCOMP_RET_ALLOW)};
	const struct sock_filter foreign[] = {BPF_STMT(BPF_ST, 99), END(SECCOMP_RET_ALLOW)};
	const struct sock_filter unknown[] = {LOAD(args[1]), BPF_STMT(BPF_RET | BPF_A, 0)};
	assert_false(inject_filter_lets(no_end, 1, &call));
	assert_false(inject_filter_lets(far, 2, &call));
	assert_false(inject_filter_lets(foreign, 2, &call));
	assert_false(inject_filter_lets(unknown, 2, &call));
	assert_false(inject_filter_lets(many, 0, &call));
	/* 2,000 unknown branches are more ways than can be gone */
	for (size_t i = 0; i < 4095; i += 2) {
		many[i] = (struct sock_filter)LOAD(args[0]);
		many[i + 1] = (struct sock_filter)IS(1, 1, 0);
	}
	many[4095] = (struct sock_filter)END(SECCOMP_RET_ALLOW);
	assert_false(inject_filter_lets(many, 4096, &call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_refusals_is_harmless),
		cmocka_unit_test(a_list_of_what_is_allowed_must_have_all_that_is_needed),
		cmocka_unit_test(stopping_or_asking_somebody_is_not_harmless),
		cmocka_unit_test(what_depends_on_an_argument_counts_either_way),
		cmocka_unit_test(arithmetic_and_memory_are_followed),
		cmocka_unit_test(what_has_no_end_or_is_no_filter_is_not_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
