#include "agent/metrics/metricspush.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/json.h"
#include "base/private.h"
#include "tell/notify/http.h"

#define TRY_MS 10000
#define BUDGET_NS (30 * NS_PER_S)
#define FIRST_PAUSE_MS 1000
#define BATCH 500
#define FIRST_EVENTS_MS (INT64_C(3600) * 1000)
#define NOTE_HEAD "vigil.otlp/1"

/* ---- the address ---- */

static const char *host_of(const char *url)
{
	const char *p = strstr(url, "://");
	return p ? p + 3 : url;
}

bool metricspush_is_local(const char *url)
{
	const char *host = host_of(url);
	size_t len = host[0] == '[' ? strcspn(host, "]") + (strchr(host, ']') ? 1 : 0) : strcspn(host, ":/?#");
	const char *end = host + len;
	if (*end && *end != ':' && *end != '/')
		return false;
	if ((len == 9 && strncasecmp(host, "localhost", 9) == 0) || (len == 5 && strncmp(host, "[::1]", 5) == 0))
		return true;
	if (len < 7 || strncmp(host, "127.", 4) != 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)host[i]) && host[i] != '.')
			return false;
	return true;
}

static int address_check(const char *url, bool insecure, struct fault *f)
{
	bool secure = strncmp(url, "https://", 8) == 0, plain = strncmp(url, "http://", 7) == 0;
	if ((!secure && !plain) || !host_of(url)[0] || strchr("/:?#", host_of(url)[0]))
		return fault_set(f, -EINVAL,
				 "--otlp: '%.200s' is no address; expected http(s)://HOST:PORT, as in "
				 "http://127.0.0.1:4318",
				 url);
	if (strpbrk(url, "@?# \t\r\n\"\\"))
		return fault_set(f, -EINVAL,
				 "--otlp: the address may have no user, no query and no blanks; expected "
				 "http(s)://HOST:PORT");
	if (plain && !insecure && !metricspush_is_local(url))
		return fault_set(f, -EINVAL,
				 "--otlp: %.200s would send names of jobs and events in the clear; use "
				 "https://, or --insecure where the network is your own",
				 url);
	return 0;
}

/* ---- what it took already ---- */

/* A number that tells a store from one that was made in its place, also where that got the same inode. */
static uint64_t store_identity(const char *state_dir)
{
	char path[320];
	struct statx st;
	TEXT_FORMAT(path, "%s/%s", state_dir, STORE_FILE);
	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) < 0)
		return 0;
	uint64_t made_ns =
		st.stx_mask & STATX_BTIME ? (uint64_t)st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec : 0;
	return (st.stx_ino ^ made_ns) & INT64_MAX;
}

static void receiver_read(struct metrics_receiver *r)
{
	char text[128];
	size_t len;
	uint64_t seq, store;
	struct span rest, word;
	cleanup(closep) int fd = -1;
	if (foreign_open_kept(r->note, &fd) != 0 || file_read_fd(fd, text, sizeof(text), &len) < 0)
		return;
	rest = (struct span){text, len};
	if (!span_word(&rest, &word) || !span_eq(word, NOTE_HEAD) || !span_word(&rest, &word) ||
	    span_u64(word, &seq) < 0 || !span_word(&rest, &word) || span_u64(word, &store) < 0 || store != r->store)
		return;
	r->seq = seq;
	r->noted = true;
}

static int receiver_write(const struct metrics_receiver *r, struct fault *f)
{
	char text[128];
	TEXT_FORMAT(text, NOTE_HEAD " %" PRIu64 " %" PRIu64 "\n", r->seq, r->store);
	int e = foreign_path_replace(r->note, text, strlen(text), private_file());
	return e < 0 ? fault_set(f, e, "cannot note in %s which events were sent: %s; they may be sent again", r->note,
				 strerror(-e))
		     : 0;
}

int metricspush_open(struct metrics_receiver *r, const char *url, bool insecure, const char *state_dir, struct fault *f)
{
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX_CAP];
	int e = address_check(url, insecure, f);
	if (e < 0)
		return e;
	if (strlen(url) + sizeof("/v1/metrics") > sizeof(r->url))
		return fault_set(f, -EINVAL, "--otlp: the address is longer than %zu bytes", sizeof(r->url));
	*r = (struct metrics_receiver){.budget_ns = BUDGET_NS, .store = store_identity(state_dir)};
	TEXT_COPY(r->url, url);
	TEXT_COPY(r->state, state_dir);
	for (size_t len = strlen(r->url); len > 0 && r->url[len - 1] == '/'; len--)
		r->url[len - 1] = '\0';
	digest_sha256(r->url, strlen(r->url), digest);
	(void)digest_hex(digest, hex);
	TEXT_FORMAT(r->note, "%s/otlp-%.16s", state_dir, hex);
	if (metricspush_is_local(r->url)) /* what stays on this machine goes through no proxy */
		(void)setenv("no_proxy", "*", 1);
	receiver_read(r);
	return 0;
}

int metricspush_token(struct metrics_receiver *r, const char *path, struct fault *f)
{
	char text[sizeof(r->token) + 64];
	size_t len;
	cleanup(closep) int fd = -1;
	int e = foreign_path_input(path, 0, &fd);
	e = e == 0 ? file_read_fd(fd, text, sizeof(text), &len) : e;
	if (e != 0)
		return fault_set(f, e < 0 ? e : -EINVAL, "--otlp-token: cannot read %s: %s", path, foreign_path_why(e));
	struct span token = span_trim((struct span){text, len});
	bool fine = token.len > 0 && token.len < sizeof(r->token);
	for (size_t i = 0; fine && i < token.len; i++)
		fine = token.p[i] > ' ' && token.p[i] < 0x7f;
	if (!fine)
		return fault_set(f, -EINVAL,
				 "--otlp-token: %s holds no token; expected one word of at most %zu plain characters",
				 path, sizeof(r->token) - 1);
	span_copy(token, r->token, sizeof(r->token));
	return 0;
}

/* ---- sending ---- */

static bool worth_a_try(const struct notify_answer *a)
{
	/* an answer that broke off is none */
	return (a->error[0] && !a->config_error) || a->status == 429 || a->status == 502 || a->status == 503 ||
	       a->status == 504;
}

/* Of an answer that is fine but for some of it: {"partialSuccess": {"rejectedDataPoints": "3"}}. */
static void rejected_count(struct metrics_receiver *r, const struct notify_answer *a)
{
	cleanup(js_freep) struct js *answer = NULL;
	struct fault f;
	static const char *const keys[] = {"rejectedDataPoints", "rejectedLogRecords"};
	if (js_parse(a->body, a->body_len, &answer, &f) < 0)
		return;
	const struct js *part = js_get(answer, "partialSuccess");
	for (size_t i = 0; part && i < ARRAY_SIZE(keys); i++) {
		uint64_t n = (uint64_t)MAX(js_get_i64(part, keys[i], 0), INT64_C(0));
		ignore(span_u64(span_of(js_get_text(part, keys[i], "")), &n), "then it is a number, or absent");
		r->rejected += n;
	}
}

static int answer_fault(const struct metrics_receiver *r, const char *path, const struct notify_answer *a,
			unsigned tries, struct fault *f)
{
	char said[120];
	span_copy((struct span){a->body, MIN(a->body_len, sizeof(said) - 1)}, said, sizeof(said));
	if (a->error[0])
		return fault_set(f, -EHOSTUNREACH, "%s%s did not take it: %s (%u tries)", r->url, path, a->error,
				 tries);
	return fault_set(f, a->status == 400 || a->status == 413 ? -EPROTO : -EBUSY,
			 "%s%s refused it: status %d%s%s (%u tries)", r->url, path, a->status, said[0] ? ": " : "",
			 said, tries);
}

/* body: malloc'ed; taken over. */
static int post(struct metrics_receiver *r, const char *path, char *body, struct fault *f)
{
	static const struct notify_secrets no_secrets;
	struct channel c;
	struct notify_request request = {.body = body, .n_headers = 1};
	struct notify_answer a;
	uint64_t began_ns = clock_mono_ns(), pause_ms = FIRST_PAUSE_MS;
	unsigned tries = 0;
	if (!body)
		return fault_set(f, -ENOMEM, "no memory for what is to be sent");
	channel_init(&c, CHANNEL_WEBHOOK);
	c.timeout_ms = MIN((uint64_t)TRY_MS, r->budget_ns / NS_PER_MS);
	request.body_len = strlen(body);
	TEXT_FORMAT(request.url, "%s%s", r->url, path);
	TEXT_COPY(request.header[0], "Content-Type: application/json");
	if (r->token[0])
		TEXT_FORMAT(request.header[request.n_headers++], "Authorization: Bearer %s", r->token);
	for (;;) {
		http_send(&c, &no_secrets, &request, &a);
		tries++;
		if (!worth_a_try(&a))
			break;
		uint64_t wait_ms = a.retry_after_ms > 0 ? (uint64_t)a.retry_after_ms : pause_ms;
		pause_ms = MIN(pause_ms * 2, UINT64_C(10000));
		if (clock_mono_ns() - began_ns + wait_ms * NS_PER_MS >= r->budget_ns)
			break;
		(void)poll(NULL, 0, (int)wait_ms);
	}
	notify_request_done(&request);
	if (a.status < 200 || a.status > 299 || a.error[0])
		return answer_fault(r, path, &a, tries, f);
	rejected_count(r, &a);
	return 0;
}

int metricspush_metrics(struct metrics_receiver *r, const struct metrics_facts *facts, struct fault *f)
{
	char *text = NULL;
	size_t len;
	int e = metrics_text(facts, METRICS_OTLP_JSON, &text, &len);
	return e < 0 ? fault_set(f, e, "the metrics cannot be written: %s", strerror(-e))
		     : post(r, "/v1/metrics", text, f);
}

struct batch {
	struct job_event *event;
	size_t n;
	int64_t since_unix_ms;
	uint64_t seq; /* of the last event that was looked at */
};

static int batch_take(void *ctx, const struct job_event *e)
{
	struct batch *b = ctx;
	b->seq = e->seq;
	if (e->time_unix_ms >= b->since_unix_ms)
		b->event[b->n++] = *e;
	return b->n == BATCH;
}

int metricspush_events(struct metrics_receiver *r, struct store *s, const char *node, int64_t now_unix_ms,
		       struct fault *f)
{
	uint64_t identity = store_identity(r->state);
	if (identity != r->store) { /* numbers of its events begin anew */
		r->store = identity;
		r->seq = 0;
	}
	struct batch b = {.since_unix_ms = r->noted ? INT64_MIN : now_unix_ms - FIRST_EVENTS_MS};
	cleanup(freep) struct job_event *events = calloc(BATCH, sizeof(*events));
	b.event = events;
	if (!events)
		return fault_set(f, -ENOMEM, "no memory for the events that are to be sent");
	for (bool more = true; more;) {
		b.n = 0;
		b.seq = r->seq;
		int e = store_each_event(s, NULL, r->seq, batch_take, &b);
		if (e < 0)
			return fault_set(f, e, "the events cannot be read from the store: %s", strerror(-e));
		more = e == STORE_STOPPED;
		if (b.seq == r->seq)
			return 0;
		if (b.n > 0)
			e = post(r, "/v1/logs", metrics_logs(events, b.n, node, now_unix_ms), f);
		if (e < 0 && e != -EPROTO)
			return e;
		/* what the receiver cannot read would be refused again: it is passed over, and said */
		r->seq = b.seq;
		r->noted = true;
		int n = receiver_write(r, f);
		if (e < 0 || n < 0)
			return e < 0 ? e : n;
	}
	return 0;
}
