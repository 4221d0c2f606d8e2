#include "tell/jobs/trace_json.h"

#include <inttypes.h>
#include <string.h>

/* The largest integer below which a double holds every integer. */
#define EXACT_MAX (INT64_C(1) << 53)

/* Length of the UTF-8 sequence that begins here; 0: none does. Surrogates and overlong forms are none. */
static size_t utf8_len(const unsigned char *p)
{
	static const struct {
		unsigned char from, to, second_from, second_to, len;
	} forms[] = {
		{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
		{0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
		{0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
	};
	if (p[0] < 0x80)
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (p[0] < forms[i].from || p[0] > forms[i].to)
			continue;
		if (p[1] < forms[i].second_from || p[1] > forms[i].second_to)
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if ((p[k] & 0xC0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

static void trace_json_put_text(const struct trace_json *t, const char *text)
{
	fputc('"', t->to);
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t len = utf8_len(p);
		if (len == 0)
			fputs("\\ufffd", t->to);
		else if (len > 1)
			fwrite(p, 1, len, t->to);
		else if (*p == '"' || *p == '\\')
			fprintf(t->to, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			fprintf(t->to, "\\u%04x", *p);
		else
			fputc(*p, t->to);
		p += MAX(len, (size_t)1);
	}
	fputc('"', t->to);
}

void trace_json_begin(struct trace_json *t, FILE *to)
{
	*t = (struct trace_json){.to = to};
	fputs("{\"traceEvents\":[", to);
}

void trace_json_other(struct trace_json *t)
{
	fputs("\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{", t->to);
	t->args = false;
}

void trace_json_end(struct trace_json *t)
{
	fputs("}}\n", t->to);
}

static void event(struct trace_json *t, char phase, int64_t lane, const char *name)
{
	fprintf(t->to, "%s\n{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"name\":", t->some ? "," : "", phase, lane);
	trace_json_put_text(t, name);
	t->some = true;
	t->args = false;
	t->events++;
}

static void arguments(struct trace_json *t)
{
	fputs(",\"args\":{", t->to);
}

void trace_json_close(struct trace_json *t)
{
	fputs("}}", t->to);
}

void trace_json_lane(struct trace_json *t, int64_t lane, const char *name, int64_t sort)
{
	event(t, 'M', lane, "process_name");
	arguments(t);
	trace_json_text(t, "name", name);
	trace_json_close(t);
	event(t, 'M', lane, "process_sort_index");
	arguments(t);
	trace_json_i64(t, "sort_index", sort);
	trace_json_close(t);
}

void trace_json_row(struct trace_json *t, int64_t lane, int64_t row, const char *name)
{
	event(t, 'M', lane, "thread_name");
	fprintf(t->to, ",\"tid\":%" PRId64, row);
	arguments(t);
	trace_json_text(t, "name", name);
	trace_json_close(t);
	event(t, 'M', lane, "thread_sort_index");
	fprintf(t->to, ",\"tid\":%" PRId64, row);
	arguments(t);
	trace_json_i64(t, "sort_index", row);
	trace_json_close(t);
}

void trace_json_span(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
		     int64_t at_us, int64_t us)
{
	event(t, 'X', lane, name);
	fprintf(t->to, ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 ",\"dur\":%" PRId64 ",\"cat\":", row, at_us, MAX(us, 0));
	trace_json_put_text(t, category);
	arguments(t);
}

void trace_json_instant(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
			int64_t at_us, enum trace_scope scope)
{
	event(t, 'i', lane, name);
	fprintf(t->to, ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 ",\"s\":\"%c\",\"cat\":", row, at_us, (char)scope);
	trace_json_put_text(t, category);
	arguments(t);
}

void trace_json_counter(struct trace_json *t, int64_t lane, const char *name, int64_t at_us)
{
	event(t, 'C', lane, name);
	fprintf(t->to, ",\"ts\":%" PRId64, at_us);
	arguments(t);
}

static void key_put(struct trace_json *t, const char *key)
{
	if (t->args)
		fputc(',', t->to);
	t->args = true;
	trace_json_put_text(t, key);
	fputc(':', t->to);
}

void trace_json_text(struct trace_json *t, const char *key, const char *text)
{
	key_put(t, key);
	trace_json_put_text(t, text);
}

void trace_json_text_if(struct trace_json *t, const char *key, const char *text)
{
	if (*text)
		trace_json_text(t, key, text);
}

void trace_json_i64(struct trace_json *t, const char *key, int64_t v)
{
	bool exact = v <= EXACT_MAX && v >= -EXACT_MAX;
	key_put(t, key);
	fprintf(t->to, exact ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

void trace_json_u64(struct trace_json *t, const char *key, uint64_t v)
{
	key_put(t, key);
	fprintf(t->to, v <= (uint64_t)EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", v);
}

void trace_json_double(struct trace_json *t, const char *key, double v)
{
	key_put(t, key);
	if (__builtin_isfinite(v))
		fprintf(t->to, "%.12g", v);
	else
		fputs("null", t->to);
}
