#include "testing.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "agent/host/host.h"

static void the_user_is_the_environment_s_or_the_account_s(void **state)
{
	(void)state;
	char name[48];
	assert_int_equal(setenv("USER", "ada", 1), 0);
	host_user(name, sizeof(name));
	assert_string_equal(name, "ada");
	assert_int_equal(setenv("USER", "", 1), 0);
	host_user(name, sizeof(name));
	assert_true(name[0] != '\0' && strcmp(name, "ada") != 0);
}

static void the_name_is_the_kernel_s_and_is_cut(void **state)
{
	(void)state;
	struct utsname u;
	char name[80], cut[2];
	assert_int_equal(uname(&u), 0);
	host_name(name, sizeof(name));
	assert_string_equal(name, u.nodename);
	host_name(cut, sizeof(cut));
	assert_int_equal(strlen(cut), 1);
}

static void the_address_is_one_of_ipv4(void **state)
{
	(void)state;
	char text[INET_ADDRSTRLEN];
	struct in_addr a;
	host_ip(text, sizeof(text));
	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
}

static void expect_id(const char *name, const char *head)
{
	char id[64];
	host_job_id(name, id, sizeof(id));
	assert_int_equal(strlen(id), strlen(head) + 4);
	assert_memory_equal(id, head, strlen(head));
	for (const char *p = id + strlen(head); *p; p++)
		assert_non_null(strchr("23456789abcdefghjkmnpqrstuvwxyz", *p));
}

static void a_job_s_id_is_its_name_made_plain_and_four_letters(void **state)
{
	(void)state;
	expect_id("train", "train-");
	expect_id("a/b c.py_1", "a-b-c-py_1-");
	expect_id("", "job-");
	expect_id("-o/x", "o-x-");
	expect_id("--", "job-");
	expect_id("0123456789012345678901234567890123456789too-long", "0123456789012345678901234567890123456789-");
}

static void two_ids_of_one_name_differ(void **state)
{
	(void)state;
	char first[64], other[64];
	host_job_id("train", first, sizeof(first));
	int same = 0;
	for (int i = 0; i < 20; i++) {
		host_job_id("train", other, sizeof(other));
		same += strcmp(first, other) == 0;
	}
	assert_true(same < 3); /* one in 810,000 by chance */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_user_is_the_environment_s_or_the_account_s),
		cmocka_unit_test(the_name_is_the_kernel_s_and_is_cut),
		cmocka_unit_test(the_address_is_one_of_ipv4),
		cmocka_unit_test(a_job_s_id_is_its_name_made_plain_and_four_letters),
		cmocka_unit_test(two_ids_of_one_name_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
