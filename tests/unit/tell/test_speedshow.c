/* What memory moved, in words and in the object for programs. */
#include "memfile.h"

#include "base/buf.h"
#include "tell/host/speedshow.h"

static struct memfile out;
static struct speedfacts facts;
static char words[8192];

static struct speed_traffic *begin(void)
{
	facts = (struct speedfacts){.watched_s = 5, .n_sweeps = 100, .machine = {.cpus = 8, .nodes = 1}};
	return &facts.machine.traffic;
}

/* On one line, whatever the width of a terminal is. */
static const char *shown(void)
{
	const struct speedshow s = {.facts = &facts};
	speedshow_text(&s, memfile_open(&out));
	TEXT_COPY(words, memfile_text(&out));
	for (char *c = words; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	memfile_done(&out);
	return words;
}

static const char *object(void)
{
	const struct speedshow s = {.facts = &facts};
	struct js *j = speedshow_json(&s);
	cleanup(freep) char *text = js_text(j, 0);
	js_free(j);
	assert_non_null(text);
	TEXT_COPY(words, text);
	return words;
}

static void what_was_not_seen_says_why(void **state)
{
	(void)state;
	static const struct {
		enum speed_traffic_why why;
		const char *text, *json;
	} cases[] = {
		{SPEED_TRAFFIC_ABSENT, "memory bandwidth (nothing here counts it), caches,", "\"absent\""},
		{SPEED_TRAFFIC_DENIED, "memory bandwidth (counting it is not permitted), caches,", "\"denied\""},
		{SPEED_TRAFFIC_REFUSED, "memory bandwidth (the kernel refused to count it), caches,", "\"refused\""},
		{SPEED_TRAFFIC_STILL, "memory bandwidth (its counters stand still), caches,", "\"still\""}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin()->why = cases[i].why;
		assert_has(shown(), cases[i].text);
		assert_has_no(words, "GB a second");
		assert_has(object(), cases[i].json);
		assert_has_no(words, "bytes_per_s");
	}
}

static void a_figure_is_told_with_its_limit(void **state)
{
	(void)state;
	*begin() = (struct speed_traffic){.source = SPEED_TRAFFIC_CONTROLLERS,
					  .bytes = 8.25e10,
					  .reads = 8e10,
					  .writes = 0.25e10,
					  .limit_bytes = 1e11,
					  .channels = 4,
					  .parts = 2,
					  .part_bytes = 6e10,
					  .has_job = true,
					  .job_bytes = 5e10};
	assert_has(shown(), "swap and memory, memory bandwidth, stolen time. Not seen from outside: caches, and");
	assert_has(words,
		   "moved 82.5 GB a second, of 100.0 at most (4 channels at the speed that the firmware names).");
	assert_has(object(), "\"memory_controllers\"");
	assert_has(words, "\"limit_bytes_per_s\"");
	assert_has(words, "\"busiest_part_bytes_per_s\"");
	assert_has(words, "\"job_bytes_per_s\"");
	assert_has_no(words, "\"unseen\"");
}

static void a_figure_without_a_limit_says_so(void **state)
{
	(void)state;
	*begin() = (struct speed_traffic){.source = SPEED_TRAFFIC_CACHES, .bytes = 3e9, .least = true};
	assert_has(shown(), "moved at least 3.0 GB a second to and from the processors; what it could move at most is "
			    "not known here.");
	assert_has(object(), "\"last_level_caches\"");
	assert_has_no(words, "limit_bytes_per_s");
	assert_has_no(words, "read_bytes_per_s");
	assert_has_no(words, "job_bytes_per_s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_seen_says_why),
		cmocka_unit_test(a_figure_is_told_with_its_limit),
		cmocka_unit_test(a_figure_without_a_limit_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
