#include "model/jobs/pagesignal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/signame.h"

static const char kind[] = "signal", sent[] = " was sent to ";

void page_signal_write(const struct page_signal *s, const char *name, struct job_event *e)
{
	char known[200];
	TEXT_COPY(known, name);
	e->time_unix_ms = s->time_unix_ms;
	TEXT_COPY(e->kind, kind);
	TEXT_FORMAT(e->text, "%s%s%s (pid %d) from the page (vigil, pid %d, uid %u)", signame(s->signal), sent, known,
		    (int)s->target, (int)s->sender, (unsigned)s->sender_uid);
}

/* The last " (pid N) from the page (vigil, pid N, uid N)" of the text. */
static bool tail_parse(const char *text, struct page_signal *ret)
{
	const char *tail = NULL;
	int target, sender, end = 0;
	unsigned uid;
	for (const char *at = strstr(text, " (pid "); at; at = strstr(at + 1, " (pid "))
		tail = at;
	static const char form[] = " (pid %9d) from the page (vigil, pid %9d, uid %10u)%n";
	if (!tail || sscanf(tail, form, &target, &sender, &uid, &end) != 3 || end == 0 || tail[end] != '\0')
		return false;
	ret->target = target;
	ret->sender = sender;
	ret->sender_uid = uid;
	return target > 0 && sender > 0;
}

bool page_signal_parse(const struct job_event *e, struct page_signal *ret)
{
	static const int signals[] = {SIGTERM, SIGKILL};
	if (strcmp(e->kind, kind) != 0)
		return false;
	for (size_t n = 0; n < ARRAY_SIZE(signals); n++) {
		const char *name = signame(signals[n]);
		const size_t len = strlen(name);
		if (strncmp(e->text, name, len) != 0 || strncmp(e->text + len, sent, strlen(sent)) != 0)
			continue;
		*ret = (struct page_signal){.signal = signals[n], .time_unix_ms = e->time_unix_ms};
		return tail_parse(e->text + len, ret);
	}
	return false;
}
