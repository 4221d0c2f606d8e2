/* Any bytes as a log, in blocks of any size: both engines say the same, the verdict stays within its arrays. */
#include <assert.h>
#include <string.h>

#include "judge/rules/causes.h"

static const char book_text[] =
	"rule a\nsource: log\nrole: root\nblame: self\ncause: x {rank} {peer}\nall: (?i)fatal ERROR\n"
	"not: never\nextract rank: rank ([0-9]+)\nextract peer: peer ([^ ]+)\n"
	"rule b\nsource: log\nrole: cascade\ncause: y\nany: timed out\nany: gave up\nclear: came back\n"
	"rule c\nsource: log\nrole: confirmation\nblame: listed\ncause: z {ib_timeout}\nall: culprits\n"
	"extract ranks: culprits ([0-9, ]+)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_match(void *data, const struct rule_match *m)
{
	assert(m->line > 0);
	ignore(cause_set_add(data, m), "no memory is no mistake");
}

static uint64_t searched(const struct rulebook *b, const uint8_t *data, size_t size, size_t block,
			 struct cause_verdict *v)
{
	struct cause_set set = {.groups = NULL};
	struct rulescan *s = NULL;
	if (rulescan_new(b, LITERAL_OWN, on_match, &set, &s) != 0 || rulescan_begin(s, RULE_LOG, "fuzz", NO_RANK) != 0)
		return 0;
	for (size_t at = 0; at < size;) {
		char *to;
		size_t n = MIN(MIN(block, rulescan_room(s, &to)), size - at);
		memcpy(to, data + at, n);
		at += n;
		ignore(rulescan_filled(s, n), "no mistake is possible here");
	}
	ignore(rulescan_end(s), "nor here");
	rulescan_free(s);
	uint64_t n = set.n_matches;
	if (causes_judge(&set, v) == 0) {
		assert(v->n_culprits <= CAUSE_CULPRITS && v->n_evidence <= CAUSE_EVIDENCE &&
		       v->n_others <= CAUSE_OTHERS);
		assert(memchr(v->text, 0, sizeof(v->text)) && v->confidence <= RULE_MEDIUM);
	}
	cause_set_done(&set);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct cause_verdict v = {.valid = false}, w = {.valid = false};
	int r = rulebook_add(&b, SPAN(book_text), "book", NULL);
	assert(r == 0);
	uint64_t whole = searched(&b, data, size, SIZE_MAX, &v), parts = searched(&b, data, size, 7, &w);
	assert(whole == parts && strcmp(v.id, w.id) == 0);
	return 0;
}
