/*
 * Any bytes as a waiting notice and as what is known of a channel: dropped, or made into messages that keep to their
 * form.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "judge/notify/notify.h"
#include "tell/notify/notify.h"
#include "tell/notify/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_kinds(const struct notice *n)
{
	static struct channel c;
	static const struct notify_secrets secrets = {.url = "https://host/path?x=1", .secret = "secret"};
	for (enum channel_kind k = 0; k < CHANNEL_EXEC; k++) {
		struct notify_request request;
		struct notify_answer answer = {.status = 200};
		char why[200];
		channel_init(&c, k);
		c.to.n = 1;
		memcpy(c.to.item[0], "a@b", 4);
		if (notify_build(&c, &secrets, n, n->time_unix_ms, &request, NULL) < 0)
			continue;
		for (size_t i = 0; i < request.n_headers; i++)
			assert(!strpbrk(request.header[i], "\r\n"));
		if (request.mail)
			assert(!strstr(request.body, "\n\n") && strstr(request.body, "\r\n\r\n"));
		/* a body is as good an answer as any */
		answer.body_len = MIN(request.body_len, sizeof(answer.body) - 1);
		memcpy(answer.body, request.body, answer.body_len);
		(void)notify_outcome(&c, &answer, why, sizeof(why));
		notify_request_done(&request);
	}
}

static void try_delivery(const uint8_t *data, size_t size)
{
	static struct delivery d;
	char dir[] = "/tmp/vigil-fuzz-XXXXXX";
	struct spool s;
	char path[400];
	assert(mkdtemp(dir));
	spool_at(&s, dir);
	assert(file_mkdirs(s.dir, 0700) == 0);
	TEXT_FORMAT(path, "%s/channel-c.json", s.dir);
	cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && file_write_all(fd, data, size) == 0);
	spool_delivery_read(&s, "c", &d);
	static const struct notify_rules rules = {
		.group_ms = 1000, .repeat_ms = 60000, .per_minute = 15, .digest = true};
	const struct notify_item item = {.key = "k", .id = "i"};
	struct notify_step step;
	notify_judge(&rules, &d, &item, 1, INT64_C(1795231059000), &step);
	assert(step.act != NOTIFY_IDLE);
	(void)unlink(path);
	(void)rmdir(s.dir);
	(void)rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct notice n;
	cleanup(js_freep) struct js *j = NULL;
	try_delivery(data, size);
	if (js_parse((const char *)data, size, &j, NULL) < 0 || notice_from_json(j, &n) < 0)
		return 0;
	notice_link(&n, "https://x/{job}/{incident}?{node}&{kind}");
	try_kinds(&n);
	cleanup(js_freep) struct js *again = notice_json(&n);
	assert(again);
	return 0;
}
