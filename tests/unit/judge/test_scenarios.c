/* Runs the guard's judge over the text scenarios in tests/scenarios/guard. */
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/memory/guard_plan.h"

struct scenario {
	struct guard_settings settings;
	struct guard_history memory;
	uint64_t total_bytes;
	size_t looks;
};

static void word_copy(struct span w, char *dst, size_t cap)
{
	span_copy(w, dst, cap);
}

static uint64_t size_of(struct span w)
{
	char text[32];
	uint64_t v = 0;
	struct fault f = {.text = ""};
	word_copy(w, text, sizeof(text));
	if (size_parse(text, &v, &f) < 0)
		fail_msg("%s", f.text);
	return v;
}

static uint64_t time_of(struct span w)
{
	char text[32];
	uint64_t v = 0;
	struct fault f = {.text = ""};
	word_copy(w, text, sizeof(text));
	if (duration_parse(text, &v, &f) < 0)
		fail_msg("%s", f.text);
	return v;
}

static struct span after(struct span w, const char *prefix)
{
	size_t n = strlen(prefix);
	return (struct span){w.p + n, w.len - n};
}

static void check_word(struct span w, uint64_t grace_ns, const struct guard_step *step, const char *where)
{
	bool good = false;
	if (span_eq(w, "early"))
		good = step->early;
	else if (span_starts(w, "next<="))
		good = step->next_ns <= time_of(after(w, "next<="));
	else if (span_starts(w, "next>="))
		good = step->next_ns >= time_of(after(w, "next>="));
	else if (span_starts(w, "deficit>="))
		good = step->deficit_bytes >= size_of(after(w, "deficit>="));
	else if (span_starts(w, "deficit<="))
		good = step->deficit_bytes <= size_of(after(w, "deficit<="));
	else if (span_eq(w, "ask") || span_eq(w, "kill"))
		good = guard_plan_ask_first(grace_ns, step) == span_eq(w, "ask");
	else
		fail_msg("%s: unknown word '%.*s'", where, (int)w.len, w.p);
	if (!good)
		fail_msg("%s: '%.*s' is not so: next %llu ns, deficit %llu, early %d", where, (int)w.len, w.p,
			 (unsigned long long)step->next_ns, (unsigned long long)step->deficit_bytes, step->early);
}

static const char *const state_names[] = {"ok", "warn", "act", "emergency"};

static void look(struct scenario *s, struct span rest, const char *where)
{
	struct span at = {0}, used = {0}, word, state = {0};
	struct ledger l = {.n = 1};
	struct guard_step step;
	bool whole = span_word(&rest, &at) && span_word(&rest, &word) && span_word(&rest, &used) &&
		     span_word(&rest, &word) && span_word(&rest, &state);
	if (!whole)
		fail_msg("%s: expected: at TIME used SIZE expect STATE", where);
	l.mono_ns = NS_PER_S + time_of(at);
	l.level[0] = (struct ledger_level){.total_bytes = s->total_bytes, .used_bytes = size_of(used)};
	l.level[0].available_bytes = s->total_bytes - l.level[0].used_bytes;
	guard_judge(&s->memory, &s->settings, &l, 0, &step);
	s->looks++;
	if (!span_eq(state, state_names[step.state]))
		fail_msg("%s: expected %.*s, judged %s (rate %llu/s)", where, (int)state.len, state.p,
			 state_names[step.state], (unsigned long long)step.rate_bytes_per_s);
	if (step.early && !span_has(rest, "early"))
		fail_msg("%s: acted early", where);
	while (span_word(&rest, &word))
		check_word(word, s->settings.grace_ns, &step, where);
}

static void line(struct scenario *s, struct span text, const char *where)
{
	struct span key, value, rest = span_before(text, "#");
	char number[32];
	struct fault f;
	if (!span_word(&rest, &key))
		return;
	if (span_eq(key, "at")) {
		look(s, rest, where);
		return;
	}
	if (!span_word(&rest, &value))
		fail_msg("%s: no value", where);
	word_copy(value, number, sizeof(number));
	if (span_eq(key, "total"))
		s->total_bytes = size_of(value);
	else if (span_eq(key, "ratio"))
		assert_int_equal(ratio_parse(number, &s->settings.threshold_ratio, &f), 0);
	else if (span_eq(key, "min-free"))
		s->settings.min_free_bytes = size_of(value), s->settings.has_min_free = true;
	else if (span_eq(key, "reaction"))
		s->settings.reaction_ns = time_of(value);
	else if (span_eq(key, "fastest"))
		s->settings.fastest_bytes_per_s = size_of(value);
	else if (span_eq(key, "grace"))
		s->settings.grace_ns = time_of(value);
	else
		fail_msg("%s: unknown setting", where);
}

static void run_file(const char *name)
{
	char path[512], where[300];
	char *text;
	size_t len;
	struct scenario s = {
		.settings = {.threshold_ratio = 0.95, .reaction_ns = 10 * NS_PER_MS, .fastest_bytes_per_s = 10 * GIB}};
	TEXT_FORMAT(path, "%s/guard/%s", SCENARIOS, name);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
	struct span rest = {text, len}, l;
	for (int n = 1; span_line(&rest, &l); n++) {
		TEXT_FORMAT(where, "%s:%d", name, n);
		line(&s, l, where);
	}
	if (s.looks == 0)
		fail_msg("%s: no looks", name);
	free(text);
}

static void every_scenario_is_judged_as_expected(void **state)
{
	(void)state;
	size_t files = 0;
	DIR *d = opendir(SCENARIOS "/guard");
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 4, ".txt") != 0)
			continue;
		run_file(e->d_name);
		files++;
	}
	closedir(d);
	assert_true(files >= 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scenario_is_judged_as_expected),
	};
	return cmocka_run_group_tests_name("judge/scenarios", tests, NULL, NULL);
}
