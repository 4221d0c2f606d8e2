#include "testing.h"

#include <stdio.h>

#include "sense/gpu/xid.h"
#include "sense/log/kmsg.h"
#include "sense/log/logprefix.h"

static struct xid xids[8];

/* The Xids of a kernel log in any of the forms of logprefix.h. */
static void log_xids_add(struct xids *x, struct span text, int64_t offset_ms)
{
	struct span line;
	while (span_line(&text, &line)) {
		struct logprefix p;
		struct xid one;
		char plain[1024];
		logprefix_parse(line, &p);
		if (p.facility != 0 || (p.ident.p && !span_eq(p.ident, "kernel")))
			continue;
		size_t n = kmsg_unescape(p.text, plain, sizeof(plain));
		if (!xid_parse((struct span){plain, n}, &one))
			continue;
		if (p.has_unix)
			one.time_unix_ms = p.unix_ms;
		else if (p.has_mono)
			one.time_unix_ms = (int64_t)(p.mono_us / 1000) + offset_ms;
		xids_add(x, &one);
	}
}

static struct xids fed(const char *text)
{
	struct xids x = {.out = xids, .cap = ARRAY_SIZE(xids)};
	log_xids_add(&x, span_of(text), 1000);
	xid_group(xids, x.n);
	return x;
}

static void the_forms_of_all_drivers_are_read(void **state)
{
	(void)state;
	struct xids x = fed(
		"3,1,5000000,-;NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, name=python3, Row Remapper: New row marked\n"
		"[    6.000000] NVRM: Xid (0000:03:00): 32, Channel ID 0000000b intr 00008000\n"
		"3,2,7000000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
		"bus.\n"
		"3,3,8000000,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted "
		"PRIV error\n");
	assert_int_equal(x.n, 4);
	assert_int_equal(xids[0].number, 63);
	assert_string_equal(xids[0].pci, "0000:10:1c");
	assert_int_equal(xids[0].pid, 1896);
	assert_string_equal(xids[0].process, "python3");
	assert_string_equal(xids[0].text, "Row Remapper: New row marked");
	assert_int_equal(xids[0].time_unix_ms, 6000);
	assert_int_equal(xids[1].number, 32);
	assert_string_equal(xids[1].pci, "0000:03:00");
	assert_int_equal(xids[1].pid, 0);
	assert_int_equal(xid_action(&xids[1]), XID_UNKNOWN);
	assert_int_equal(xids[2].number, 79);
	assert_int_equal(xids[2].pid, 0);
	assert_string_equal(xids[2].process, "");
	assert_string_equal(xids[2].text, "GPU has fallen off the bus.");
	assert_int_equal(xid_action(&xids[2]), XID_NODE);
	assert_true(xids[3].is_switch && xids[3].number == 12028);
	assert_null(xid_meaning(&xids[3]));
}

static void what_only_talks_of_xids_is_none(void **state)
{
	(void)state;
	struct xids x = fed("[    1.0] my script: NVRM: Xid (PCI:0000:10:1c): 63, pid=1896\n"
			    "14,9,1000,-;NVRM: Xid (PCI:0000:10:1c): 63, written by a program through the log\n"
			    "3,1,1,-;NVRM: Xid (PCI:0000:10:1c): sixty\n"
			    "3,1,1,-;NVRM: Xid (PCI:../../etc): 63\n"
			    "3,1,1,-;NVRM: Xid (PCI:0000:10:1c\n"
			    "3,1,1,-;NVRM: Xid (PCI:0000:10:1c): 99999999999999999999\n"
			    "Nov 21 03:00:00 node python[7]: NVRM: Xid (PCI:0000:10:1c): 63, pid=1\n");
	assert_int_equal(x.n, 0);
}

static void a_burst_is_one_incident_and_its_cause_is_not_the_cleaning_up(void **state)
{
	(void)state;
	fed("3,1,1000000,-;NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=a, Ch 00000010\n"
	    "3,2,2000000,-;NVRM: Xid (PCI:0000:5e:00): 31, pid=9, name=b, MMU Fault\n"
	    "3,3,100000000,-;NVRM: Xid (PCI:0000:3b:00): 95, pid=7, name=a, Uncontained\n"
	    "3,4,270000000,-;NVRM: Xid (PCI:0000:3b:00): 45, pid=8, name=c, Ch 00000011\n"
	    "3,5,900000000,-;NVRM: Xid (PCI:0000:3b:00): 45, pid=8, name=c, Ch 00000012\n");
	const uint32_t incident[] = {1, 2, 1, 1, 3};
	const bool cause[] = {false, true, true, false, true};
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(xids[i].incident, incident[i]);
		assert_int_equal(xids[i].cause, cause[i]);
	}
}

static void two_hundred_lines_of_one_burst_are_one_incident(void **state)
{
	(void)state;
	static char text[32768];
	size_t at = 0;
	for (int i = 0; i < 200; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "3,%d,%d,-;NVRM: Xid (PCI:0000:3b:00): %d, pid=7, name=a, Ch %08x\n", i,
				       i * 1000000, i == 195 ? 79 : 45, (unsigned)i);
	struct xids x = fed(text);
	assert_int_equal(x.n, 8);
	assert_int_equal(x.n_dropped, 192);
	for (size_t i = 0; i < x.n; i++) {
		assert_int_equal(xids[i].incident, 1);
		assert_int_equal(xids[i].cause, xids[i].number == 79);
	}
}

/* Two programs on one H200 (driver 580.159.04): one failed an assertion, the other wrote where it must not. */
static void faults_of_two_programs_are_two_incidents(void **state)
{
	(void)state;
	struct xids x = fed(
		"3,1,49540304,-;NVRM: GPU at PCI:0000:00:06: GPU-00000000-0000-0000-0000-000000000001\n"
		"3,2,49540316,-;NVRM: Xid (PCI:0000:00:06): 43, pid=802, name=python3, channel 0x0000001e\n"
		"3,3,49748228,-;NVRM: Xid (PCI:0000:00:06): 31, pid=801, name=python3, channel 0x00000032, intr "
		"00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted @ 0x8360_de040000. Fault is of type "
		"FAULT_PDE ACCESS_TYPE_VIRT_WRITE\n"
		"3,4,49900000,-;NVRM: Xid (PCI:0000:00:06): 43, pid=801, name=python3, channel 0x00000032\n"
		"3,5,49950000,-;NVRM: Xid (PCI:0000:00:06): 45, pid=802, name=python3, Ch 0000001e\n");
	const uint32_t incident[] = {1, 2, 2, 1};
	const bool cause[] = {true, true, false, false};
	assert_int_equal(x.n, 4);
	for (size_t i = 0; i < x.n; i++) {
		assert_int_equal(xids[i].incident, incident[i]);
		assert_int_equal(xids[i].cause, cause[i]);
	}
	assert_true(span_has(span_of(xids[1].text), "faulted @ 0x8360_de040000"));
}

/* An error of the device itself ends all programs on it: their faults after it are its consequences. */
static void faults_behind_an_error_of_the_device_are_of_its_incident(void **state)
{
	(void)state;
	fed("3,1,1000000,-;NVRM: Xid (PCI:0000:3b:00): 95, pid=7, name=a, Uncontained\n"
	    "3,2,2000000,-;NVRM: Xid (PCI:0000:3b:00): 43, pid=8, name=b, Ch 00000010\n"
	    "3,3,3000000,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=9, name=c, MMU Fault\n");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(xids[i].incident, 1);
		assert_int_equal(xids[i].cause, i == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_of_two_programs_are_two_incidents),
		cmocka_unit_test(faults_behind_an_error_of_the_device_are_of_its_incident),
		cmocka_unit_test(the_forms_of_all_drivers_are_read),
		cmocka_unit_test(what_only_talks_of_xids_is_none),
		cmocka_unit_test(a_burst_is_one_incident_and_its_cause_is_not_the_cleaning_up),
		cmocka_unit_test(two_hundred_lines_of_one_burst_are_one_incident),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
