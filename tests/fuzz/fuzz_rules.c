/* Any bytes as a file of rules: an error with its place, or rules that can be searched with. */
#include <assert.h>
#include <string.h>

#include "sense/rules/rulescan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_match(void *unused_data, const struct rule_match *m)
{
	(void)unused_data;
	assert(m->line > 0 && memchr(m->text, 0, sizeof(m->text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	struct span text = {(const char *)data, size};
	if (rulebook_add(&b, text, "fuzz", &f) < 0) {
		assert(f.line > 0 && f.column > 0 && f.text[0]);
		return 0;
	}
	ignore(rulebook_check(&b, &f), "every outcome is fine");
	struct rulescan *s = NULL;
	if (rulescan_new(&b, LITERAL_OWN, on_match, NULL, &s) == 0)
		ignore(rulescan_text(s, RULE_LOG, "fuzz", NO_RANK, text), "every outcome is fine");
	rulescan_free(s);
	return 0;
}
