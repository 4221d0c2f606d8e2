#include "agent/web/webauth.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#define HEAD "vigil.tokens/1\n"

static bool same(const char *a, const char *b, size_t len)
{
	unsigned char differ = 0;
	for (size_t i = 0; i < len; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

static void key_make(struct webauth *a)
{
	static const char what[] = "vigil page sessions";
	char all[3 * DIGEST_HEX_CAP];
	TEXT_FORMAT(all, "%s%s%s", a->token[WEB_VIEWER], a->token[WEB_OPERATOR], a->token[WEB_ADMIN]);
	digest_hmac(all, strlen(all), what, sizeof(what) - 1, a->key);
}

static int secret_make(char dst[static DIGEST_HEX_CAP])
{
	uint8_t bytes[DIGEST_BYTES];
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	digest_hex(bytes, dst);
	return 0;
}

int webauth_make(struct webauth *ret)
{
	struct webauth a = {.kept = false};
	for (int role = WEB_VIEWER; role <= WEB_ADMIN; role++) {
		int r = secret_make(a.token[role]);
		if (r < 0)
			return r;
	}
	key_make(&a);
	*ret = a;
	return 0;
}

static bool is_token(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.len == 2 * DIGEST_BYTES;
}

int webauth_parse(const char *text, size_t len, struct webauth *ret)
{
	struct webauth a = {.kept = true};
	struct span rest = {text, len}, line, name, value;
	if (!span_line(&rest, &line) || !span_eq(line, "vigil.tokens/1"))
		return -EINVAL;
	while (span_line(&rest, &line)) {
		if (!span_word(&line, &name) || !span_word(&line, &value) || !is_token(value))
			return -EINVAL;
		for (int role = WEB_VIEWER; role <= WEB_ADMIN; role++)
			if (span_eq(name, web_role_name((enum web_role)role)))
				span_copy(value, a.token[role], sizeof(a.token[role]));
	}
	for (int role = WEB_VIEWER; role <= WEB_ADMIN; role++)
		if (!a.token[role][0])
			return -EINVAL;
	key_make(&a);
	*ret = a;
	return 0;
}

static int tokens_write(const char *path, const struct webauth *a)
{
	char text[512], beside[400];
	TEXT_FORMAT(text, HEAD "viewer %s\noperator %s\nadmin %s\n", a->token[WEB_VIEWER], a->token[WEB_OPERATOR],
		    a->token[WEB_ADMIN]);
	TEXT_FORMAT(beside, "%s.new-%d", path, (int)getpid());
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int r = file_write_all(fd, text, strlen(text));
	if (r == 0 && (fsync(fd) < 0 || link(beside, path) < 0)) /* of two that start at once the first one's stay */
		r = -errno;
	(void)unlink(beside);
	closep(&fd);
	return r;
}

static int tokens_read(const char *path, struct webauth *ret, struct fault *f)
{
	char text[1024];
	size_t len = 0;
	struct stat st;
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool link = fd < 0 && errno == ELOOP;
	if (!link && (fd < 0 || fstat(fd, &st) < 0))
		return -errno;
	if (link || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0077) != 0)
		return fault_set(f, -EPERM,
				 "%s must be a file of your own that nobody else may read or write (mode 0600); remove "
				 "it and new tokens are made",
				 path);
	int r = file_read_fd(fd, text, sizeof(text), &len);
	if (r == 0 && webauth_parse(text, len, ret) < 0)
		r = fault_set(f, -EBADMSG,
			      "%s does not hold three tokens as vigil writes them; remove it and new ones are made",
			      path);
	return r;
}

int webauth_open(const char *state_dir, struct webauth *ret, struct fault *f)
{
	char path[320];
	struct webauth made;
	TEXT_FORMAT(path, "%s/" WEBAUTH_FILE, state_dir);
	int r = tokens_read(path, ret, f);
	if (r != -ENOENT)
		return r < 0 && !f->text[0] ? fault_set(f, r, "cannot read %s: %s", path, strerror(-r)) : r;
	r = webauth_make(&made);
	if (r == 0)
		r = tokens_write(path, &made);
	if (r == 0 || r == -EEXIST)
		r = tokens_read(path, ret, f);
	return r < 0 && !f->text[0] ? fault_set(f, r, "cannot make %s: %s", path, strerror(-r)) : r;
}

void webauth_name(struct webauth *a, unsigned port)
{
	TEXT_FORMAT(a->cookie, "vigil_session_%u", port);
}

enum web_role webauth_token(const struct webauth *a, const char *token)
{
	char padded[2 * DIGEST_BYTES] = {0};
	size_t len = strlen(token);
	enum web_role found = WEB_NOBODY;
	memcpy(padded, token, MIN(len, sizeof(padded)));
	for (int role = WEB_VIEWER; role <= WEB_ADMIN; role++)
		if (same(padded, a->token[role], sizeof(padded)))
			found = (enum web_role)role;
	return len == sizeof(padded) ? found : WEB_NOBODY;
}

int webcodes_make(struct webcodes *c, enum web_role role, char dst[static DIGEST_HEX_CAP])
{
	int r = secret_make(dst);
	if (r < 0)
		return r;
	size_t made = c->made[role]++;
	size_t place = made == 0 ? 0 : 1 + (made - 1) % (WEBAUTH_CODES - 1);
	memcpy(c->code[role][place], dst, DIGEST_HEX_CAP);
	return 0;
}

enum web_role webcodes_take(struct webcodes *c, const char *code)
{
	char padded[2 * DIGEST_BYTES] = {0};
	size_t len = strlen(code);
	enum web_role found = WEB_NOBODY;
	char *taken = NULL;
	memcpy(padded, code, MIN(len, sizeof(padded)));
	for (int role = WEB_VIEWER; role <= WEB_ADMIN; role++)
		for (size_t i = 0; i < WEBAUTH_CODES; i++)
			if (same(padded, c->code[role][i], sizeof(padded))) {
				found = (enum web_role)role;
				taken = c->code[role][i];
			}
	if (len != sizeof(padded) || !taken) /* what is shorter is like an empty place */
		return WEB_NOBODY;
	explicit_bzero(taken, DIGEST_HEX_CAP);
	return found;
}

static void session_sign(const struct webauth *a, const char *what, char dst[static DIGEST_HEX_CAP])
{
	uint8_t sum[DIGEST_BYTES];
	char text[128];
	TEXT_FORMAT(text, "%s %s", a->cookie, what);
	digest_hmac(a->key, sizeof(a->key), text, strlen(text), sum);
	digest_hex(sum, dst);
}

void webauth_session(const struct webauth *a, enum web_role role, int64_t now_unix_s, char dst[static 112])
{
	char what[40], sum[DIGEST_HEX_CAP];
	TEXT_FORMAT(what, "%d.%lld", (int)role, (long long)(now_unix_s + WEBAUTH_SESSION_S));
	session_sign(a, what, sum);
	(void)text_format(dst, 112, "%s.%s", what, sum);
}

/* A session of later than now is one made while the clock was wrong; it may have been set back by this much. */
#define SET_BACK_S 86400

/* "3.1790000000.<64 digits>" */
static enum web_role session_role(const struct webauth *a, struct span value, int64_t now_unix_s)
{
	char text[112], what[40], sum[DIGEST_HEX_CAP];
	int64_t role, end;
	if (value.len >= sizeof(text) || value.len < 2 * DIGEST_BYTES + 4)
		return WEB_NOBODY;
	span_copy(value, text, sizeof(text));
	size_t head = value.len - 2 * DIGEST_BYTES - 1;
	if (text[head] != '.' || head >= sizeof(what))
		return WEB_NOBODY;
	text[head] = '\0';
	TEXT_COPY(what, text);
	session_sign(a, what, sum);
	if (!same(text + head + 1, sum, 2 * DIGEST_BYTES))
		return WEB_NOBODY;
	struct span ends = span_after(span_of(what), ".");
	if (span_i64(span_before(span_of(what), "."), &role) < 0 || !ends.p || span_i64(ends, &end) < 0 ||
	    role <= WEB_NOBODY || role > WEB_ADMIN || now_unix_s >= end ||
	    end - now_unix_s > WEBAUTH_SESSION_S + SET_BACK_S)
		return WEB_NOBODY;
	return (enum web_role)role;
}

static enum web_role cookie_role(const struct webauth *a, const char *cookies, int64_t now_unix_s)
{
	size_t len = strlen(a->cookie);
	enum web_role best = WEB_NOBODY;
	for (const char *p = cookies; p && *p;) {
		p += strspn(p, "; ");
		size_t n = strcspn(p, ";");
		if (n > len && memcmp(p, a->cookie, len) == 0 && p[len] == '=') {
			enum web_role role =
				session_role(a, span_trim((struct span){p + len + 1, n - len - 1}), now_unix_s);
			best = MAX(best, role);
		}
		p += n;
	}
	return best;
}

enum web_role webauth_request(const struct webauth *a, const char *authorization, const char *cookies,
			      int64_t now_unix_s)
{
	if (authorization && span_starts(span_of(authorization), "Bearer "))
		return webauth_token(a, authorization + strlen("Bearer "));
	return cookies ? cookie_role(a, cookies, now_unix_s) : WEB_NOBODY;
}
