#include "agent/notify/dispatch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "act/hook.h"
#include "base/file.h"
#include "tell/notify/http.h"

/*
 * Reads the first line of a small file; editors add a newline to files of secrets. An empty path leaves dst as it is.
 */
static int first_line(const char *path, char *dst, size_t cap, struct fault *f)
{
	char text[2048];
	size_t len;
	if (!path[0])
		return 0;
	int r = file_read_at(AT_FDCWD, path, text, sizeof(text), &len);
	if (r < 0)
		return fault_set(f, r, "cannot read %s: %s", path, strerror(-r));
	struct span line = span_trim(span_before((struct span){text, len}, "\n"));
	if (line.len >= cap)
		return fault_set(f, -EMSGSIZE, "%s: its first line is longer than %zu bytes", path, cap - 1);
	span_copy(line, dst, cap);
	return 0;
}

static int secrets_read(const struct channel *c, struct notify_secrets *ret, struct fault *f)
{
	*ret = (struct notify_secrets){.url = ""};
	TEXT_COPY(ret->url, c->url);
	int r = first_line(c->url_file, ret->url, sizeof(ret->url), f);
	if (r == 0)
		r = first_line(c->secret_file, ret->secret, sizeof(ret->secret), f);
	if (r == 0)
		r = first_line(c->password_file, ret->password, sizeof(ret->password), f);
	return r;
}

static void run_hook(const struct channel *c, const struct notice *n, struct dispatch *ret)
{
	const char *argv[CHANNEL_LIST + 1];
	char name[64];
	const char *const environment[] = {name, NULL};
	struct hook_result result;
	cleanup(js_freep) struct js *j = notice_json(n);
	cleanup(freep) char *text = js_text(j, 0);
	for (size_t i = 0; i <= c->argv.n; i++)
		argv[i] = i < c->argv.n ? c->argv.item[i] : NULL;
	TEXT_FORMAT(name, "VIGIL_CHANNEL=%s", c->name);
	struct hook h = {.argv = argv,
			 .environment = environment,
			 .input = text ? text : "",
			 .input_len = text ? strlen(text) : 0,
			 .timeout_ms = c->timeout_ms};
	int r = hook_run(&h, &result);
	if (r < 0)
		TEXT_FORMAT(ret->why, "%s could not be started: %s", argv[0], strerror(-r));
	else if (result.timed_out)
		TEXT_FORMAT(ret->why, "%s was ended: it took longer than %llu ms", argv[0],
			    (unsigned long long)c->timeout_ms);
	else if (WIFSIGNALED(result.wait_status))
		TEXT_FORMAT(ret->why, "%s died of signal %d", argv[0], WTERMSIG(result.wait_status));
	else
		TEXT_FORMAT(ret->why, "%s ended with exit status %d%s%s", argv[0], WEXITSTATUS(result.wait_status),
			    result.said[0] ? ": " : "", result.said);
	bool ok = r == 0 && !result.timed_out && WIFEXITED(result.wait_status) && WEXITSTATUS(result.wait_status) == 0;
	ret->outcome = ok ? NOTIFY_ARRIVED : NOTIFY_TRY_AGAIN;
}

static void send_request(const struct channel *c, const struct notice *n, int64_t now_unix_ms, struct dispatch *ret)
{
	cleanup(notify_request_done) struct notify_request request = {.body = NULL};
	struct notify_secrets secrets;
	struct notify_answer answer;
	struct fault f = {.text = ""};
	if (secrets_read(c, &secrets, &f) < 0 || notify_build(c, &secrets, n, now_unix_ms, &request, &f) < 0) {
		TEXT_COPY(ret->why, f.text);
		return; /* try again: the file may be corrected before the notice is too old */
	}
	http_send(c, &secrets, &request, &answer);
	ret->outcome = notify_outcome(c, &answer, ret->why, sizeof(ret->why));
	ret->retry_after_ms = answer.retry_after_ms;
	if (ret->outcome == NOTIFY_ARRIVED)
		TEXT_FORMAT(ret->why, "the server answered %d", answer.status);
}

void dispatch_now(const struct channel *c, const struct notice *n, int64_t now_unix_ms, struct dispatch *ret)
{
	struct notice linked = *n;
	*ret = (struct dispatch){.outcome = NOTIFY_TRY_AGAIN};
	if (c->link[0])
		notice_link(&linked, c->link);
	if (c->kind == CHANNEL_EXEC)
		run_hook(c, &linked, ret);
	else
		send_request(c, &linked, now_unix_ms, ret);
}
