#include "testing.h"
#include "testing_rules.h"

#include <stdio.h>

#include "sense/rules/rulescan.h"

struct seen {
	const char *wanted; /* NULL: all */
	enum rule_event event;
	size_t n;
	struct rule_match last;
	uint64_t sum; /* of everything, to compare engines */
};

static void on_match(void *data, const struct rule_match *m)
{
	struct seen *s = data;
	if (s->wanted && (strcmp(m->rule->id, s->wanted) != 0 || m->event != s->event))
		return;
	s->n++;
	s->last = *m;
	/* of literals that end at one place, engines may tell in either order */
	uint64_t h = 14695981039346656037ULL;
	for (const char *p = m->rule->id; *p; p++)
		h = (h ^ (uint8_t)*p) * 1099511628211ULL;
	for (const char *p = m->text; *p; p++)
		h = (h ^ (uint8_t)*p) * 1099511628211ULL;
	s->sum += (h ^ (m->line * 3 + m->event)) * 1099511628211ULL;
}

static struct rulebook book;

static int load(void **state)
{
	(void)state;
	book_of(&book);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	rulebook_done(&book);
	return 0;
}

static struct seen scanned(enum literal_engine e, enum rule_source source, struct span text, const char *wanted)
{
	struct seen s = {.wanted = wanted, .event = RULE_MATCH};
	struct rulescan *r = NULL;
	assert_int_equal(rulescan_new(&book, e, on_match, &s, &r), 0);
	assert_int_equal(rulescan_text(r, source, "x", NO_RANK, text), 0);
	rulescan_free(r);
	return s;
}

static bool have_hyperscan(void)
{
	struct seen s = {.n = 0};
	struct rulescan *r = NULL;
	bool have = rulescan_new(&book, LITERAL_HYPERSCAN, on_match, &s, &r) == 0;
	rulescan_free(r);
	return have;
}

static struct span fixture(enum rule_source source, char **ret)
{
	char path[400];
	size_t len;
	TEXT_FORMAT(path, FIXTURES "/rules/%s.log", rule_source_name(source));
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, ret, &len), 0);
	return (struct span){*ret, len};
}

static void each_rule_finds_its_lines_and_no_near_misses(void **state)
{
	(void)state;
	size_t positive[1000] = {0}, negative[1000] = {0};
	for (size_t source = 0; source < RULE_SOURCES; source++) {
		cleanup(freep) char *text = NULL;
		struct span rest = fixture((enum rule_source)source, &text), line;
		while (span_line(&rest, &line)) {
			char id[64];
			struct span words = {line.p + 2, line.len - 2};
			struct span name = span_before(words, " "), sample = span_after(words, " ");
			span_copy(name, id, sizeof(id));
			const struct rule *u = rulebook_find(&book, id);
			if (!u)
				fail_msg("no rule %s", id);
			bool wanted = line.p[0] == '+';
			struct seen s = scanned(LITERAL_OWN, (enum rule_source)source, sample, id);
			if ((s.n == 1) != wanted)
				fail_msg("%.*s: found %zu times", (int)line.len, line.p, s.n);
			(wanted ? positive : negative)[u - book.rules]++;
		}
	}
	for (size_t i = 0; i < book.n; i++)
		if (!positive[i] || !negative[i])
			fail_msg("%s has %zu examples and %zu near misses", book.rules[i].id, positive[i], negative[i]);
}

static void the_seventy_known_signatures_are_covered(void **state)
{
	(void)state;
	bool has[71] = {false};
	for (size_t i = 0; i < book.n; i++) {
		uint64_t n = 0;
		if (!book.rules[i].title[0])
			continue; /* a cause that nobody has numbered */
		assert_int_equal(span_u64(span_of(book.rules[i].title), &n), 0);
		assert_true(n >= 1 && n <= 70);
		has[n] = true;
	}
	for (size_t n = 1; n <= 70; n++)
		assert_true(has[n]);
}

static void both_engines_find_the_same(void **state)
{
	(void)state;
	if (!have_hyperscan()) {
		print_message("Hyperscan is not installed: engines not compared\n");
		skip();
	}
	size_t total = 0;
	for (size_t source = 0; source < RULE_SOURCES; source++) {
		cleanup(freep) char *text = NULL;
		struct span all = fixture((enum rule_source)source, &text);
		struct seen own = scanned(LITERAL_OWN, (enum rule_source)source, all, NULL);
		struct seen hyper = scanned(LITERAL_HYPERSCAN, (enum rule_source)source, all, NULL);
		total += own.n;
		assert_int_equal(own.n, hyper.n);
		assert_int_equal(own.sum, hyper.sum);
	}
	assert_true(total > 60);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Pieces of lines that match and of lines that nearly do, put together anew. */
static void both_engines_find_the_same_in_spliced_lines(void **state)
{
	(void)state;
	uint64_t x = 88172645463325252ULL;
	size_t cap = 1 << 20, total = 0;
	if (!have_hyperscan()) {
		print_message("Hyperscan is not installed: engines not compared\n");
		skip();
	}
	cleanup(freep) char *text = malloc(cap);
	assert_non_null(text);
	for (size_t source = 0; source < RULE_SOURCES; source++) {
		cleanup(freep) char *from = NULL;
		struct span all = fixture((enum rule_source)source, &from);
		size_t len = 0;
		while (len + 400 < cap) {
			size_t at = next_random(&x) % all.len, n = MIN(next_random(&x) % 200 + 1, all.len - at);
			memcpy(text + len, all.p + at, n);
			len += n;
			if (next_random(&x) % 8 == 0)
				text[len++] = "\n\r \x1b["[next_random(&x) % 5];
			if (next_random(&x) % 16 == 0)
				text[len - 1] ^= 0x20; /* another case */
		}
		struct seen own = scanned(LITERAL_OWN, (enum rule_source)source, (struct span){text, len}, NULL);
		struct seen hyper =
			scanned(LITERAL_HYPERSCAN, (enum rule_source)source, (struct span){text, len}, NULL);
		total += own.n;
		assert_int_equal(own.n, hyper.n);
		assert_int_equal(own.sum, hyper.sum);
	}
	assert_true(total > 1000);
}

/* The short cuts of pattern_match against the C library's search over everything. */
static void short_cuts_of_patterns_change_no_match(void **state)
{
	(void)state;
	static const char *const patterns[] = {
		"aab?aab",     "aab+",	"a?aab",    "plain", "pla",	  "aab$",   "aab|pl",
		"aabx*",       "(aab)", "aab(x|y)", "a.b",   "aab[xy]?",  "^aab",   "(?i)AAB",
		"(?i)pla[i]n", "b\\.x", "aab ",	    "ab{2}", "aab{0,1}a", "aab\\b", "nab*",
	};
	static const char letters[] = "aabbxyAB. plin";
	uint64_t x = 88172645463325252ULL;
	size_t matches = 0;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct pattern p;
		struct span groups[PATTERN_GROUPS];
		char why[160], text[40];
		size_t at;
		assert_int_equal(pattern_init(&p, span_of(patterns[i]), why, &at), 0);
		for (size_t n = 0; n < 20000; n++) {
			size_t len = next_random(&x) % (sizeof(text) - 1);
			for (size_t k = 0; k < len; k++)
				text[k] = letters[next_random(&x) % (sizeof(letters) - 1)];
			text[len] = '\0';
			regmatch_t m = {.rm_so = 0, .rm_eo = (regoff_t)len};
			bool wanted = regexec(&p.re, text, 1, &m, REG_STARTEND) == 0;
			bool is = pattern_match(&p, (struct span){text, len}, groups);
			if (is != wanted || pattern_match(&p, (struct span){text, len}, NULL) != wanted)
				fail_msg("%s on %s", patterns[i], text);
			if (is && (groups[0].p != text + m.rm_so || groups[0].len != (size_t)(m.rm_eo - m.rm_so)))
				fail_msg("%s on %s: another place", patterns[i], text);
			matches += is;
		}
		pattern_done(&p);
	}
	assert_true(matches > 1000);
}

static void the_cuts_of_blocks_do_not_matter(void **state)
{
	(void)state;
	cleanup(freep) char *text = NULL;
	struct span all = fixture(RULE_LOG, &text);
	struct seen whole = scanned(LITERAL_BEST, RULE_LOG, all, NULL);
	for (size_t block = 1; block < 300; block += 37) {
		struct seen s = {.n = 0};
		struct rulescan *r = NULL;
		assert_int_equal(rulescan_new(&book, LITERAL_BEST, on_match, &s, &r), 0);
		assert_int_equal(rulescan_begin(r, RULE_LOG, "x", NO_RANK), 0);
		for (size_t at = 0; at < all.len;) {
			char *to;
			size_t n = MIN(MIN(block, rulescan_room(r, &to)), all.len - at);
			memcpy(to, all.p + at, n);
			at += n;
			assert_int_equal(rulescan_filled(r, n), 0);
		}
		assert_int_equal(rulescan_end(r), 0);
		rulescan_free(r);
		assert_int_equal(s.n, whole.n);
		assert_int_equal(s.sum, whole.sum);
	}
}

static void lines_of_a_megabyte_are_searched(void **state)
{
	(void)state;
	const char *needle = "DataLoader timed out after 60 seconds";
	size_t len = 3 << 20;
	cleanup(freep) char *text = malloc(len);
	assert_non_null(text);
	for (size_t at = 0; at < len - 200; at += 262144 - 11) {
		memset(text, 'x', len);
		memcpy(text + at, needle, strlen(needle));
		assert_int_equal(scanned(LITERAL_BEST, RULE_LOG, (struct span){text, len}, "loader_timeout").n, 1);
		assert_int_equal(scanned(LITERAL_OWN, RULE_LOG, (struct span){text, len}, "loader_timeout").n, 1);
	}
}

static void colours_carriage_returns_and_prefixes_are_understood(void **state)
{
	(void)state;
	const char *text =
		"one\n 10%|#  | 1/10 [00:01<00:09, 1.0it/s]\r\x1b[31m[rank7]: Data\x1b[0mLoader timed out after 60 "
		"seconds\r\n"
		"two\n[1,3]<stderr>:DataLoader timed out after 61 seconds\n12: DataLoader timed out after 61 seconds";
	int32_t ranks[] = {7, 3, 12};
	uint64_t lines[] = {2, 4, 5};
	struct span rest = span_of(text);
	assert_int_equal(scanned(LITERAL_BEST, RULE_LOG, rest, "loader_timeout").n, 3);
	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
		size_t len = 0;
		for (uint64_t n = 0; n < lines[i] && len < rest.len; len++)
			n += rest.p[len] == '\n';
		struct seen s = scanned(LITERAL_BEST, RULE_LOG, (struct span){rest.p, len}, "loader_timeout");
		assert_int_equal(s.last.rank, ranks[i]);
		assert_int_equal(s.last.line, lines[i]);
	}
}

static void binary_garbage_is_survived(void **state)
{
	(void)state;
	size_t len = 2 << 20;
	cleanup(freep) char *text = malloc(len);
	uint64_t x = 88172645463325252ULL;
	assert_non_null(text);
	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		text[i] = (char)x;
	}
	assert_int_equal(scanned(LITERAL_BEST, RULE_LOG, (struct span){text, len}, NULL).n, 0);
	assert_int_equal(scanned(LITERAL_OWN, RULE_KMSG, (struct span){text, len}, NULL).n, 0);
}

static void mistakes_are_named_with_line_and_column(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *says;
	} wrong[] = {
		{"rule a\n  source: log\n  role: root\n  cause: x\n  all: abcd(\n", 5, 13, "( without )"},
		{"rule a\n  source: lug\n", 2, 11, "expected one of"},
		{"rule a\n  sorce: log\n", 2, 3, "expected one of"},
		{"rule A\n", 1, 6, "a-z"},
		{"source: log\n", 1, 1, "before the first"},
		{"rule a\n  source: log\n  role: root\n  cause: x\n", 1, 1, "neither"},
		{"rule a\n  source: log\n  role: root\n  cause: x\n  all: [0-9]+\n", 1, 1, "cannot be searched"},
		{"rule a\n  source: log\n  source: log\n", 3, 3, "twice"},
		{"rule a\n all: abcd.*?e\n", 2, 13, "lazy"},
		{"rule a\n all: (abcd)\\1\n", 2, 14, "back references"},
		{"rule a\n all: abcd(?=e)\n", 2, 11, "not supported"},
		{"rule a\n all: abc{2000}\n", 2, 10, "64"},
		{"rule a\n all: (abc{9}){9}\n", 2, 15, "group"},
		{"rule a\n extract rank: abcd\n", 2, 16, "parentheses"},
		{"rule a\n need: raise thing x\n", 2, 14, "'rule' or 'fact'"},
		{"rule a\n clear: [0-9]\n", 2, 9, "4 plain"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct rulebook b = {.rules = NULL};
		struct fault f = {.text = ""};
		assert_int_equal(rulebook_add(&b, span_of(wrong[i].text), "f", &f), -EBADMSG);
		if (f.line != wrong[i].line || f.column != wrong[i].column || !strstr(f.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, f.text);
		rulebook_done(&b);
	}
}

static void a_user_s_rule_takes_the_place_of_ours(void **state)
{
	(void)state;
	struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	book_of(&b);
	size_t n = b.n;
	const char *own = "rule loader_timeout\nsource: log\nrole: cascade\ncause: mine\nall: DataLoader timed out\n"
			  "rule mine\nsource: log\nrole: root\ncause: mine\nany: (?i)KABOOM\n";
	assert_int_equal(rulebook_add(&b, span_of(own), "own", &f), 0);
	assert_int_equal(b.n, n + 1);
	assert_string_equal(rulebook_find(&b, "loader_timeout")->cause, "mine");
	assert_string_equal(rulebook_find(&b, "mine")->any[0].literal, "kaboom");
	rulebook_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_finds_its_lines_and_no_near_misses),
		cmocka_unit_test(the_seventy_known_signatures_are_covered),
		cmocka_unit_test(both_engines_find_the_same),
		cmocka_unit_test(both_engines_find_the_same_in_spliced_lines),
		cmocka_unit_test(short_cuts_of_patterns_change_no_match),
		cmocka_unit_test(the_cuts_of_blocks_do_not_matter),
		cmocka_unit_test(lines_of_a_megabyte_are_searched),
		cmocka_unit_test(colours_carriage_returns_and_prefixes_are_understood),
		cmocka_unit_test(binary_garbage_is_survived),
		cmocka_unit_test(mistakes_are_named_with_line_and_column),
		cmocka_unit_test(a_user_s_rule_takes_the_place_of_ours),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
