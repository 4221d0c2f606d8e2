#include "sense/format/chrometrace.h"

#include <string.h>

#include "base/buf.h"

enum { KEY_OTHER, KEY_PH, KEY_NAME, KEY_CAT, KEY_PID, KEY_TID, KEY_TS, KEY_DUR, KEY_ARGS, KEY_ARG_NAME, KEY_EVENTS };

static int chrometrace_key_of(struct span text)
{
	static const struct {
		const char *name;
		int key;
	} keys[] = {{"ph", KEY_PH},   {"name", KEY_NAME}, {"cat", KEY_CAT}, {"pid", KEY_PID},
		    {"tid", KEY_TID}, {"ts", KEY_TS},	  {"dur", KEY_DUR}, {"args", KEY_ARGS}};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (span_eq(text, keys[i].name))
			return keys[i].key;
	return KEY_OTHER;
}

/* Digits with the point moved: at most 15 before it, so that ns fit. */
int chrometrace_time_parse(struct span text, int64_t *ret_ns)
{
	uint64_t digits = 0;
	int scale = 3; /* powers of ten from what digits holds to ns */
	bool minus = false, point = false, any = false;
	size_t i = 0;
	if (text.len > 0 && (text.p[0] == '-' || text.p[0] == '+'))
		minus = text.p[i++] == '-';
	for (; i < text.len; i++) {
		char c = text.p[i];
		if (c == '.' && !point) {
			point = true;
		} else if (c >= '0' && c <= '9') {
			any = true;
			if (digits > UINT64_MAX / 100) {
				scale += point ? 0 : 1; /* more digits than count */
				continue;
			}
			digits = digits * 10 + (uint64_t)(c - '0');
			scale -= point;
		} else {
			break;
		}
	}
	if (i < text.len && (text.p[i] == 'e' || text.p[i] == 'E')) {
		int64_t e;
		struct span rest = {text.p + i + 1, text.len - i - 1};
		if (rest.len > 0 && rest.p[0] == '+')
			rest = (struct span){rest.p + 1, rest.len - 1};
		if (span_i64(rest, &e) < 0 || e < -400 || e > 400)
			return -EINVAL;
		scale += (int)e;
		i = text.len;
	}
	if (!any || i < text.len)
		return -EINVAL;
	for (; scale < 0 && digits > 0; scale++)
		digits /= 10;
	for (; scale > 0 && digits > 0; scale--) {
		if (digits > INT64_MAX / 10)
			return -EINVAL;
		digits *= 10;
	}
	if (digits > INT64_MAX / 4)
		return -EINVAL;
	*ret_ns = minus ? -(int64_t)digits : (int64_t)digits;
	return 0;
}

static void event_value(struct chrometrace_event *e, int key, enum jsonstream_token t, struct span text)
{
	switch (key) {
	case KEY_PH:
		e->ph = text.len > 0 && t == JSONSTREAM_STRING ? text.p[0] : '\0';
		break;
	case KEY_NAME:
		span_copy(text, e->name, sizeof(e->name));
		break;
	case KEY_CAT:
		span_copy(text, e->cat, sizeof(e->cat));
		break;
	case KEY_PID:
		span_copy(text, e->pid, sizeof(e->pid));
		break;
	case KEY_TID:
		span_copy(text, e->tid, sizeof(e->tid));
		break;
	case KEY_TS:
		e->has_ts = chrometrace_time_parse(text, &e->ts_ns) == 0;
		break;
	case KEY_DUR:
		e->has_dur = chrometrace_time_parse(text, &e->dur_ns) == 0 && e->dur_ns >= 0;
		break;
	case KEY_ARG_NAME:
		span_copy(text, e->arg_name, sizeof(e->arg_name));
		break;
	default:
		break;
	}
}

static void level_begins(struct chrometrace *t, bool object, size_t depth)
{
	if (t->events_depth == 0) {
		if (!object && (depth == 1 || (depth == 2 && t->key == KEY_EVENTS))) {
			t->events_depth = depth;
			t->found = true;
		}
	} else if (object && depth == t->events_depth + 1) {
		t->now = (struct chrometrace_event){.ph = '\0'};
	} else if (object && depth == t->events_depth + 2) {
		t->in_args = t->key == KEY_ARGS;
	}
	t->key = KEY_OTHER;
}

static void level_ends(struct chrometrace *t, bool object, size_t depth)
{
	if (t->events_depth == 0)
		return;
	if (object && depth == t->events_depth + 1) {
		t->n_events++;
		t->event(t->ctx, &t->now);
	} else if (object && depth == t->events_depth + 2) {
		t->in_args = false;
	} else if (!object && depth == t->events_depth) {
		t->events_depth = 0;
	}
	t->key = KEY_OTHER;
}

static void key_comes(struct chrometrace *t, size_t depth, struct span text)
{
	t->key = KEY_OTHER;
	if (t->events_depth == 0)
		t->key = depth == 1 && !t->found && span_eq(text, "traceEvents") ? KEY_EVENTS : KEY_OTHER;
	else if (depth == t->events_depth + 1)
		t->key = chrometrace_key_of(text);
	else if (depth == t->events_depth + 2 && t->in_args && span_eq(text, "name"))
		t->key = KEY_ARG_NAME;
}

static void token(void *ctx, enum jsonstream_token type, size_t depth, struct span text)
{
	struct chrometrace *t = ctx;
	switch (type) {
	case JSONSTREAM_OBJECT:
	case JSONSTREAM_ARRAY:
		level_begins(t, type == JSONSTREAM_OBJECT, depth);
		break;
	case JSONSTREAM_OBJECT_END:
	case JSONSTREAM_ARRAY_END:
		level_ends(t, type == JSONSTREAM_OBJECT_END, depth);
		break;
	case JSONSTREAM_KEY:
		key_comes(t, depth, text);
		break;
	default:
		if (t->events_depth > 0 && t->key != KEY_OTHER)
			event_value(&t->now, t->key, type, text);
		t->key = KEY_OTHER;
		break;
	}
}

void chrometrace_init(struct chrometrace *t, void (*event)(void *ctx, const struct chrometrace_event *e), void *ctx)
{
	memset(t, 0, sizeof(*t));
	jsonstream_init(&t->json, token, t);
	t->event = event;
	t->ctx = ctx;
}

int chrometrace_feed(struct chrometrace *t, const char *data, size_t len)
{
	return jsonstream_feed(&t->json, data, len);
}
