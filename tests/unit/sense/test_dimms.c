#include "world_fixture.h"

#include "sense/speed/dimms.h"

static uint8_t table[8192];
static size_t len;

static void put16(size_t at, unsigned v)
{
	table[at] = (uint8_t)v;
	table[at + 1] = (uint8_t)(v >> 8);
}

static void put_text(const char *text)
{
	memcpy(table + len, text, strlen(text) + 1);
	len += strlen(text) + 1;
}

/* A device of DDR4, 64 bits wide; mts 0: its speed is not in the table. Returns where it begins. */
static size_t device_put(const char *locator, const char *bank, unsigned size, unsigned mts)
{
	const size_t at = len;
	memset(table + at, 0, 0x5c);
	table[at] = 17;
	table[at + 1] = 0x5c;
	put16(at + 0x0a, 64);
	put16(at + 0x0c, size);
	table[at + 0x10] = 1;
	table[at + 0x11] = *bank ? 2 : 0;
	table[at + 0x12] = 0x1a;
	put16(at + 0x20, mts);
	len += 0x5c;
	put_text(locator);
	if (*bank)
		put_text(bank);
	table[len++] = 0;
	return at;
}

static int begin(void **state)
{
	(void)state;
	len = 0;
	return 0;
}

static struct dimms parsed(void)
{
	struct dimms d = {0};
	static const uint8_t end[] = {127, 4, 0, 0, 0, 0};
	memcpy(table + len, end, sizeof(end));
	assert_int_equal(dimms_parse((struct span){(const char *)table, len + sizeof(end)}, &d), 0);
	return d;
}

static int refused(void)
{
	struct dimms d = {.devices = 7};
	const int r = dimms_parse((struct span){(const char *)table, len}, &d);
	assert_int_equal(d.devices, 7);
	return r;
}

static void channels_add_up(void **state)
{
	(void)state;
	device_put("DIMM 0", "P0 CHANNEL A", 16384, 3200);
	device_put("DIMM 0", "P0 CHANNEL B", 16384, 3200);
	struct dimms d = parsed();
	assert_int_equal(d.devices, 2);
	assert_int_equal(d.channels, 2);
	assert_true(d.limit_bytes == 2 * 25.6e9);
}

static void two_devices_of_a_channel_share_it(void **state)
{
	(void)state;
	static const char *const names[][4] = {
		{"DIMM 0", "P0 CHANNEL A", "DIMM 1", "P0 CHANNEL A"},
		{"Controller0-ChannelA-DIMM0", "BANK 0", "Controller0-ChannelA-DIMM1", "BANK 1"},
		{"P1-DIMMA1", "", "P1-DIMMA2", ""},
		{"CPU1_DIMM_A1", "NODE 1", "CPU1_DIMM_A2", "NODE 1"},
		{"DIMM_A1", "BANK 0", "DIMM_A2", "BANK 1"},
		{"X", "P0_Node0_Channel0_Dimm0", "X", "P0_Node0_Channel0_Dimm1"}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		len = 0;
		device_put(names[i][0], names[i][1], 16384, 2400);
		device_put(names[i][2], names[i][3], 16384, 3200);
		struct dimms d = parsed();
		assert_int_equal(d.devices, 2);
		assert_int_equal(d.channels, 1);
		assert_true(d.limit_bytes == 25.6e9);
	}
}

/* Names that may be those of two processors, or of channels one after another: each device counts. */
static void names_that_are_not_sure_make_no_limit_too_low(void **state)
{
	(void)state;
	static const char *const names[][4] = {{"A1", "", "A2", ""},
					       {"DIMM A1", "", "DIMM A2", ""},
					       {"PROC 1 DIMM 1", "", "PROC 1 DIMM 2", ""},
					       {"DIMM000", "", "DIMM001", ""},
					       {"ChannelA-DIMM0", "P0", "ChannelA-DIMM0", "P1"},
					       {"DIMM 0", "CHANNEL A", "DIMM 0", "CHANNEL A"},
					       {"DIMM_P0_A1", "CHANNEL A", "DIMM_P1_A1", "CHANNEL A"},
					       {"", "", "", ""},
					       {"DIMM", "Channel", "DIMM", "channel"}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		len = 0;
		device_put(names[i][0], names[i][1], 16384, 3200);
		device_put(names[i][2], names[i][3], 16384, 3200);
		assert_int_equal(parsed().channels, 2);
	}
	len = 0;
	for (int i = 1; i < 9; i++) { /* too many slots for a channel */
		char name[16];
		TEXT_FORMAT(name, "DIMM_A%d", i);
		device_put(name, "", 16384, 3200);
	}
	assert_int_equal(parsed().channels, 8);
}

static void empty_slots_and_other_memory_do_not_count(void **state)
{
	(void)state;
	device_put("DIMM_A1", "", 16384, 3200);
	device_put("DIMM_A2", "", 0, 0);
	table[device_put("ROM", "", 16, 0) + 0x12] = 0x09; /* flash */
	table[device_put("PMEM", "", 32767, 2666) + 0x12] = 0x1f; /* keeps its contents */
	struct dimms d = parsed();
	assert_int_equal(d.devices, 1);
	assert_int_equal(d.channels, 1);
}

static void fast_devices_have_their_speed_elsewhere(void **state)
{
	(void)state;
	const size_t at = device_put("DIMM_A1", "", 16384, 0xffff);
	put16(at + 0x58, 8800);
	assert_true(parsed().limit_bytes == 8800e6 * 8);
	len = 0;
	put16(device_put("DIMM_A1", "", 16384, 0) + 0x15, 2133); /* what it is capable of */
	assert_true(parsed().limit_bytes == 2133e6 * 8);
}

/* A limit that is too low would blame memory that has room. */
static void numbers_that_are_half_are_not_believed(void **state)
{
	(void)state;
	put16(device_put("DIMM_A1", "", 16384, 1600) + 0x15, 3200); /* a clock */
	assert_true(parsed().limit_bytes == 3200e6 * 8);
	len = 0;
	put16(device_put("DIMM_A1", "", 16384, 2133) + 0x15, 3200);
	assert_true(parsed().limit_bytes == 2133e6 * 8);
	len = 0;
	const size_t at = device_put("DIMM_A1", "", 16384, 4800);
	table[at + 0x12] = 0x22;
	put16(at + 0x0a, 32);
	assert_true(parsed().limit_bytes == 4800e6 * 8);
	put16(at + 0x0a, 0xffff);
	len = at + 0x5c + sizeof("DIMM_A1") + 1;
	assert_int_equal(refused(), -ENODATA);
}

static void without_a_speed_or_width_there_is_no_limit(void **state)
{
	(void)state;
	device_put("DIMM_A1", "", 16384, 3200);
	device_put("DIMM_B1", "", 16384, 0);
	assert_int_equal(refused(), -ENODATA);
	len = 0;
	put16(device_put("DIMM_A1", "", 16384, 3200) + 0x0a, 0xffff);
	assert_int_equal(refused(), -ENODATA);
	len = 0;
	device_put("DIMM_A1", "", 0, 0);
	assert_int_equal(refused(), -ENODATA);
	len = 0;
	assert_int_equal(refused(), -ENODATA);
}

static void a_damaged_table_is_refused(void **state)
{
	(void)state;
	device_put("DIMM_A1", "", 16384, 3200);
	const size_t whole = len;
	for (len = 1; len < whole; len++)
		assert_int_equal(refused(), -EBADMSG);
	table[1] = 3;
	assert_int_equal(refused(), -EBADMSG);
	table[1] = 0xff;
	assert_int_equal(refused(), -EBADMSG);
	table[1] = 0x15; /* too short to have a speed: not this kind of device */
	table[0x15] = table[0x16] = 0;
	len = 0x17;
	assert_int_equal(refused(), -ENODATA);
}

static void a_string_that_is_not_there_is_empty(void **state)
{
	(void)state;
	table[device_put("DIMM_A1", "", 16384, 3200) + 0x10] = 9;
	assert_int_equal(parsed().channels, 1);
}

static void a_recorded_table_is_read(void **state)
{
	(void)state;
	struct world w = fixture_world("imc-resctrl");
	struct dimms d;
	assert_int_equal(dimms_read(&w, &d), 0);
	assert_int_equal(d.devices, 5);
	assert_int_equal(d.channels, 4);
	assert_true(d.limit_bytes == 4 * 2933e6 * 8);
	fixture_close(&w);
}

static void a_virtual_machine_has_no_limit(void **state)
{
	(void)state;
	struct world w = fixture_world("amd-umc");
	struct dimms d;
	assert_int_equal(dimms_read(&w, &d), WORLD_ABSENT);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(channels_add_up, begin),
		cmocka_unit_test_setup(two_devices_of_a_channel_share_it, begin),
		cmocka_unit_test_setup(names_that_are_not_sure_make_no_limit_too_low, begin),
		cmocka_unit_test_setup(empty_slots_and_other_memory_do_not_count, begin),
		cmocka_unit_test_setup(fast_devices_have_their_speed_elsewhere, begin),
		cmocka_unit_test_setup(numbers_that_are_half_are_not_believed, begin),
		cmocka_unit_test_setup(without_a_speed_or_width_there_is_no_limit, begin),
		cmocka_unit_test_setup(a_damaged_table_is_refused, begin),
		cmocka_unit_test_setup(a_string_that_is_not_there_is_empty, begin),
		cmocka_unit_test(a_recorded_table_is_read),
		cmocka_unit_test(a_virtual_machine_has_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
