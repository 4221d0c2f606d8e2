/* Any bytes as lines of a live socket: refused, or a state that can be told again and is then the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "tell/jobs/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct live_state *s)
{
	static struct live_state again;
	cleanup(js_freep) struct js *line = live_json(NULL, s);
	memset(&again, 0, sizeof(again));
	assert(live_take(&again, line) == 0);
	assert(again.n == s->n && again.seq == s->seq);
	for (size_t i = 0; i < s->n; i++) {
		assert(again.process[i].pid == s->process[i].pid);
		assert(i == 0 || s->process[i - 1].pid < s->process[i].pid);
	}
	live_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct live_state s;
	struct span rest = {(const char *)data, size}, line;
	memset(&s, 0, sizeof(s));
	while (span_line(&rest, &line)) {
		cleanup(js_freep) struct js *o = NULL;
		if (js_parse(line.p, line.len, &o, NULL) == 0 && live_take(&s, o) == 0)
			check(&s);
	}
	live_done(&s);
	return 0;
}
