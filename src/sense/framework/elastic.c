#include "sense/framework/elastic.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "sense/format/jsonmend.h"

/*
 * In "Traceback …\n File "train.py", line 40, in step\n loss()\n", the last such line is where the error was raised.
 */
static void innermost(const char *stack, struct elastic_error *ret)
{
	const char *at = span_rfind(span_of(stack), "File \"");
	uint64_t line;
	if (!at)
		return;
	struct span rest = span_of(at + strlen("File \""));
	struct span file = span_before(rest, "\""), number = span_after(rest, "line "),
		    name = span_after(rest, ", in ");
	if (!number.p || span_u64_prefix(number, &line) != 0)
		return;
	name = span_trim(span_before(name, "\n"));
	TEXT_FORMAT(ret->where, "%.*s:%llu (%.*s)", (int)MIN(file.len, (size_t)150), file.p, (unsigned long long)line,
		    (int)MIN(name.len, (size_t)60), name.p ? name.p : "");
}

static void time_of(const struct js *extra, struct elastic_error *e)
{
	/* a string in most versions, a number in some */
	const char *text = js_get_text(extra, "timestamp", NULL);
	int64_t n = js_get_i64(extra, "timestamp", -1);
	if (text ? span_i64(span_trim(span_of(text)), &n) != 0 : n < 0)
		return;
	e->has_time = n > 0;
	e->time_unix_s = n;
}

int elastic_parse(struct span bytes, struct elastic_error *ret, struct fault *f)
{
	cleanup(jsonmend_done) struct jsonmend m = {.text = NULL};
	cleanup(js_freep) struct js *j = NULL;
	struct elastic_error e = {.message = ""};
	int r = jsonmend_text(bytes, &m);
	if (r == 0)
		r = js_parse(m.text, m.len, &j, NULL);
	if (r == -ENOMEM)
		return r;
	const struct js *message = r ? NULL : js_get(j, "message");
	if (!message)
		return fault_set(f, ELASTIC_FOREIGN,
				 "not an error file of torchrun: JSON with a 'message' is expected (%zu bytes)",
				 bytes.len);
	const struct js *extra = js_get(message, "extraInfo");
	const char *text = js_as_text(message, NULL);
	span_copy(span_before(span_of(text ? text : js_get_text(message, "message", "")), "\n"), e.message,
		  sizeof(e.message));
	innermost(js_get_text(extra, "py_callstack", ""), &e);
	time_of(extra, &e);
	e.cut = m.cut;
	*ret = e;
	return 0;
}
