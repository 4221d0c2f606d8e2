/*
 * Any server: the notice as it is. With a secret, X-Vigil-Signature is
 * "sha256=" and the HMAC-SHA-256 in hex of X-Vigil-Timestamp, a full stop and
 * the body; the time is in it so that an old message cannot be sent again.
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "tell/notify/notify_parts.h"

static int notify_webhook_sign(struct notify_job *j, int64_t seconds)
{
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX_CAP];
	cleanup(freep) char *signed_text = NULL;
	int len = asprintf(&signed_text, "%lld.%s", (long long)seconds, j->request->body);
	if (len < 0) {
		signed_text = NULL;
		return fault_set(j->f, -ENOMEM, "no memory for a message");
	}
	digest_hmac(j->secrets->secret, strlen(j->secrets->secret), signed_text, (size_t)len, digest);
	notify_header(j->request, "X-Vigil-Signature: sha256=%s", digest_hex(digest, hex));
	return 0;
}

int notify_webhook(struct notify_job *j)
{
	int64_t seconds = j->now_unix_ms / 1000;
	int r = notify_body_json(j, notice_json(j->notice));
	if (r < 0)
		return r;
	notify_header(j->request, "X-Vigil-Event-Id: %s", j->notice->id);
	notify_header(j->request, "X-Vigil-Timestamp: %lld", (long long)seconds);
	return j->secrets->secret[0] ? notify_webhook_sign(j, seconds) : 0;
}
