#include <stdarg.h>
#include <string.h>

#include "agent/web/web.h"
#include "base/buf.h"

void web_json_text(struct httpd_call *call, int status, char *text)
{
	struct httpd_answer a = {.status = text ? status : 500,
				 .type = "application/json",
				 .text = text,
				 .bytes = text ? NULL : "",
				 .fd = -1,
				 .len = text ? strlen(text) : 0,
				 .header = {{"Cache-Control", "no-store"}},
				 .n_headers = 1};
	httpd_reply(call, &a);
}

void web_json(const struct webcall *c, int status, struct js *o)
{
	web_json_text(c->request->call, status, js_text(o, 0));
	js_free(o);
}

struct js *web_error_json(const char *error, const char *text)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.error/1");
	js_put_text(o, "error", error);
	js_put_text(o, "text", text);
	return o;
}

void web_fail_later(struct httpd_call *call, int status, const char *error, const char *text)
{
	struct js *o = web_error_json(error, text);
	web_json_text(call, status, js_text(o, 0));
	js_free(o);
}

void web_fail(const struct webcall *c, int status, const char *error, const char *fmt, ...)
{
	char text[600];
	struct buf b = BUF_ON(text);
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	web_fail_later(c->request->call, status, error, text);
}

void web_done(const struct webcall *c)
{
	httpd_reply(c->request->call, &(struct httpd_answer){.status = 204, .fd = -1});
}

void web_fault(const struct webcall *c, const struct fault *f)
{
	web_fail(c, 400, "bad_request", "%s", f->text);
}

void web_store_failed(const struct webcall *c, int r, const char *what)
{
	if (r == -EBADMSG || r == -EBADF)
		web_store_close(c->web);
	if (r == -EBUSY)
		web_fail(c, 503, "busy", "cannot read %s now: another program holds the store's lock; ask again", what);
	else if (r == -EBADMSG)
		web_fail(c, 503, "store",
			 "cannot read %s: the store in %s is damaged; the next 'vigil run' moves it aside", what,
			 c->web->want->state_dir);
	else
		web_fail(c, 503, "store", "cannot read %s from the store in %s: %s", what, c->web->want->state_dir,
			 strerror(r < 0 ? -r : EIO));
}
