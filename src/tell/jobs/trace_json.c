#include "tell/jobs/trace_json.h"

#include <stdio.h>
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

/*
 * A picture has some 10^5 numbers and names, which printf(3) would take longer for than all the rest. The stream is
 * written by one thread, so none of the calls takes its lock.
 */
static void bytes_put(const struct trace_json *t, const void *bytes, size_t len)
{
	(void)fwrite_unlocked(bytes, 1, len, t->to);
}

#define LITERAL_PUT(t, literal) bytes_put(t, literal, sizeof(literal) - 1)

/* At the end of a buffer; its first digit. */
static char *digits_write(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	return end;
}

static void u64_put(const struct trace_json *t, uint64_t v)
{
	char text[20], *end = text + sizeof(text), *from = digits_write(end, v);
	bytes_put(t, from, (size_t)(end - from));
}

static void i64_put(const struct trace_json *t, int64_t v)
{
	char text[21], *end = text + sizeof(text), *from = digits_write(end, v < 0 ? -(uint64_t)v : (uint64_t)v);
	if (v < 0)
		*--from = '-';
	bytes_put(t, from, (size_t)(end - from));
}

/* Bytes that stand for themselves. */
static size_t plain_len(const unsigned char *p)
{
	size_t n = 0;
	while (p[n] >= 0x20 && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

static void trace_json_put_text(const struct trace_json *t, const char *text)
{
	LITERAL_PUT(t, "\"");
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t plain = plain_len(p), len = plain ? plain : utf8_len(p);
		if (len == 0)
			LITERAL_PUT(t, "\\ufffd");
		else if (plain > 0 || len > 1)
			bytes_put(t, p, len);
		else if (*p == '"' || *p == '\\')
			fprintf(t->to, "\\%c", *p);
		else
			fprintf(t->to, "\\u%04x", *p);
		p += MAX(len, (size_t)1);
	}
	LITERAL_PUT(t, "\"");
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
	if (t->some)
		LITERAL_PUT(t, ",");
	LITERAL_PUT(t, "\n{\"ph\":\"");
	bytes_put(t, &phase, 1);
	LITERAL_PUT(t, "\",\"pid\":");
	i64_put(t, lane);
	LITERAL_PUT(t, ",\"name\":");
	trace_json_put_text(t, name);
	t->some = true;
	t->args = false;
	t->events++;
}

static void arguments(struct trace_json *t)
{
	LITERAL_PUT(t, ",\"args\":{");
}

void trace_json_close(struct trace_json *t)
{
	LITERAL_PUT(t, "}}");
}

static void number_put(struct trace_json *t, const char *key, int64_t v)
{
	LITERAL_PUT(t, ",\"");
	bytes_put(t, key, strlen(key));
	LITERAL_PUT(t, "\":");
	i64_put(t, v);
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
	number_put(t, "tid", row);
	arguments(t);
	trace_json_text(t, "name", name);
	trace_json_close(t);
	event(t, 'M', lane, "thread_sort_index");
	number_put(t, "tid", row);
	arguments(t);
	trace_json_i64(t, "sort_index", row);
	trace_json_close(t);
}

void trace_json_span(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
		     int64_t at_us, int64_t us)
{
	event(t, 'X', lane, name);
	number_put(t, "tid", row);
	number_put(t, "ts", at_us);
	number_put(t, "dur", MAX(us, 0));
	LITERAL_PUT(t, ",\"cat\":");
	trace_json_put_text(t, category);
	arguments(t);
}

void trace_json_instant(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
			int64_t at_us, enum trace_scope scope)
{
	event(t, 'i', lane, name);
	char letter = (char)scope;
	number_put(t, "tid", row);
	number_put(t, "ts", at_us);
	LITERAL_PUT(t, ",\"s\":\"");
	bytes_put(t, &letter, 1);
	LITERAL_PUT(t, "\",\"cat\":");
	trace_json_put_text(t, category);
	arguments(t);
}

void trace_json_counter(struct trace_json *t, int64_t lane, const char *name, int64_t at_us)
{
	event(t, 'C', lane, name);
	number_put(t, "ts", at_us);
	arguments(t);
}

static void key_put(struct trace_json *t, const char *key)
{
	if (t->args)
		LITERAL_PUT(t, ",");
	t->args = true;
	trace_json_put_text(t, key);
	LITERAL_PUT(t, ":");
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
	if (!exact)
		LITERAL_PUT(t, "\"");
	i64_put(t, v);
	if (!exact)
		LITERAL_PUT(t, "\"");
}

void trace_json_u64(struct trace_json *t, const char *key, uint64_t v)
{
	bool exact = v <= (uint64_t)EXACT_MAX;
	key_put(t, key);
	if (!exact)
		LITERAL_PUT(t, "\"");
	u64_put(t, v);
	if (!exact)
		LITERAL_PUT(t, "\"");
}

/* A whole number of thousandths below 10^9 is written as %.12g has it; false: it is none. */
static bool thousandths_put(const struct trace_json *t, double v)
{
	if (!(v >= 0 && v < 1e9))
		return false;
	uint64_t n = (uint64_t)(v * 1000 + 0.5), digits = 3, part = n % 1000;
	if ((double)n / 1000 < v || (double)n / 1000 > v)
		return false;
	u64_put(t, n / 1000);
	if (part == 0)
		return true;
	for (; part % 10 == 0; part /= 10)
		digits--;
	char text[3] = "000";
	(void)digits_write(text + digits, part);
	LITERAL_PUT(t, ".");
	bytes_put(t, text, digits);
	return true;
}

void trace_json_double(struct trace_json *t, const char *key, double v)
{
	key_put(t, key);
	if (v >= 0 && v < 1e12 && v <= (double)(uint64_t)v)
		u64_put(t, (uint64_t)v);
	else if (!__builtin_isfinite(v))
		LITERAL_PUT(t, "null");
	else if (!thousandths_put(t, v))
		fprintf(t->to, "%.12g", v);
}
