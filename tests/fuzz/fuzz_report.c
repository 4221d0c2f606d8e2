/* Any bytes as a stored report: refused, or shown without control characters. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tell/incident/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct incident i;
	cleanup(js_freep) struct js *j = NULL;
	if (js_parse((const char *)data, size, &j, NULL) < 0 || report_from_json(j, &i) < 0)
		return 0;
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return 0;
	report_text(&i, REPORT_PLAIN, to);
	report_kill_message(&i, true, to);
	fclose(to);
	assert(!memchr(text, '\033', len));
	cleanup(js_freep) struct js *again = report_json(&i);
	assert(again);
	return 0;
}
