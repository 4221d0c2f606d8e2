#include "judge/death/retry.h"

#include "base/buf.h"
#include "base/units.h"

static const uint64_t delay_most_ns = 60 * NS_PER_S;

static bool retry_for_memory(enum incident_kind k)
{
	switch (k) {
	case INCIDENT_MEMORY_KILL:
	case INCIDENT_KERNEL_OOM:
	case INCIDENT_CGROUP_OOM:
	case INCIDENT_SYSTEMD_OOMD:
	case INCIDENT_OTHER_OOM_DAEMON:
		return true;
	default:
		return false;
	}
}

static bool covered(const struct retry_settings *s, enum incident_kind k)
{
	if (s->on_any)
		return true;
	if (retry_for_memory(k))
		return s->on_memory;
	if (k == INCIDENT_HANG)
		return s->on_hang;
	return s->on_crash && k != INCIDENT_CLEAN_EXIT;
}

static bool close_to(uint64_t a, uint64_t b, double share)
{
	uint64_t far = MAX(a, b), near = MIN(a, b);
	return (double)(far - near) <= (double)far * share;
}

static bool no_progress(const struct retry_attempt *a, const struct retry_attempt *b)
{
	return retry_for_memory(a->kind) && retry_for_memory(b->kind) && a->has_last_line && b->has_last_line &&
	       a->last_line_hash == b->last_line_hash && close_to(a->peak_bytes, b->peak_bytes, 0.05) &&
	       close_to(a->lived_ns, b->lived_ns, 0.25);
}

static void retry_say(struct retry_decision *d, enum incident_retry next, const char *text)
{
	d->next = next;
	TEXT_COPY(d->reason, text);
}

/* Deaths for memory are counted apart from others, so that neither kind uses up the other's retries. */
static size_t deaths_alike(const struct retry_attempt *history, size_t n)
{
	size_t alike = 0;
	for (size_t i = 0; i < n; i++)
		alike += retry_for_memory(history[i].kind) == retry_for_memory(history[n - 1].kind);
	return alike;
}

void retry_decide(const struct retry_settings *s, const struct retry_attempt *history, size_t n,
		  struct retry_decision *ret)
{
	const struct retry_attempt *last = &history[n - 1];
	size_t deaths = deaths_alike(history, n);
	struct retry_decision d = {.next = RETRY_NONE};
	if (last->kind == INCIDENT_CLEAN_EXIT) {
		retry_say(&d, RETRY_NONE, "the job ended well");
	} else if (last->stopping) {
		retry_say(&d, RETRY_NONE, "the job was asked to end");
	} else if (s->max == 0) {
		retry_say(&d, RETRY_NONE, "no retries were asked for (--retries)");
	} else if (!covered(s, last->kind)) {
		TEXT_FORMAT(d.reason, "--retry-on does not cover a death of kind %s", incident_kind_name(last->kind));
	} else if (deaths > s->max && s->max == 1) {
		retry_say(&d, RETRY_GIVE_UP, "the only retry is used up");
	} else if (deaths > s->max) {
		d.next = RETRY_GIVE_UP;
		TEXT_FORMAT(d.reason, "all %u retries are used up", s->max);
	} else if (n >= 2 && no_progress(&history[n - 2], last)) {
		char size[16], age[24];
		d.next = RETRY_GIVE_UP;
		TEXT_FORMAT(d.reason,
			    "this attempt died like the one before: at %s, after %s, with the same last line of "
			    "output; it needs more than %s and more attempts would end the same way",
			    size_format(last->peak_bytes, size), duration_format(last->lived_ns, age), size);
	} else {
		d.next = RETRY_RETRY;
		d.delay_ns = s->backoff_ns;
		for (size_t i = 1; i < deaths && d.delay_ns < delay_most_ns; i++)
			d.delay_ns *= 2;
		d.delay_ns = MIN(d.delay_ns, MAX(delay_most_ns, s->backoff_ns));
		char delay[24];
		TEXT_FORMAT(d.reason, "attempt %zu of %u retries, in %s", deaths, s->max,
			    duration_format(d.delay_ns, delay));
	}
	*ret = d;
}
