#include "cli/config/config_notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/nearest.h"

#define SECTION "notify/"

enum key_type { KEY_TEXT, KEY_FLAG, KEY_TIME, KEY_LIST, KEY_NUMBER, KEY_SEVERITY, KEY_KINDS, KEY_STARTTLS };

#define KIND(k) (1u << CHANNEL_##k)
#define ALL_KINDS ((1u << CHANNEL_KIND_MAX) - 1)
#define HTTP_KINDS (ALL_KINDS & ~(KIND(EMAIL) | KIND(EXEC)))
#define NET_KINDS (ALL_KINDS & ~KIND(EXEC))

struct key {
	const char *name;
	enum key_type type;
	size_t offset, size;
	unsigned kinds; /* bits 1 << enum channel_kind: the kinds that have it */
};

#define FIELD(f) offsetof(struct channel, f), sizeof(((struct channel *)NULL)->f)

static const struct key keys[] = {
	{"name", KEY_TEXT, FIELD(name), ALL_KINDS},
	{"kind", KEY_TEXT, 0, 0, ALL_KINDS},
	{"default", KEY_FLAG, FIELD(by_default), ALL_KINDS},
	{"resolved", KEY_FLAG, FIELD(resolved), ALL_KINDS},
	{"severity", KEY_SEVERITY, FIELD(least), ALL_KINDS},
	{"incidents", KEY_KINDS, FIELD(only), ALL_KINDS},
	{"timeout", KEY_TIME, FIELD(timeout_ms), ALL_KINDS},
	{"group-wait", KEY_TIME, FIELD(group_ms), ALL_KINDS},
	{"repeat", KEY_TIME, FIELD(repeat_ms), ALL_KINDS},
	{"per-minute", KEY_NUMBER, FIELD(per_minute), ALL_KINDS},
	{"link", KEY_TEXT, FIELD(link), ALL_KINDS},
	{"url", KEY_TEXT, FIELD(url), NET_KINDS},
	{"url-file", KEY_TEXT, FIELD(url_file), NET_KINDS},
	{"ca-file", KEY_TEXT, FIELD(ca_file), NET_KINDS},
	{"tls-verify", KEY_FLAG, FIELD(tls_verify), NET_KINDS},
	{"secret-file", KEY_TEXT, FIELD(secret_file),
	 KIND(WEBHOOK) | KIND(FEISHU) | KIND(DINGTALK) | KIND(PAGERDUTY) | KIND(ALERTMANAGER)},
	{"user", KEY_TEXT, FIELD(user), KIND(EMAIL) | KIND(WEBHOOK) | KIND(ALERTMANAGER)},
	{"password-file", KEY_TEXT, FIELD(password_file), KIND(EMAIL) | KIND(WEBHOOK) | KIND(ALERTMANAGER)},
	{"mention", KEY_LIST, FIELD(mention), KIND(SLACK) | KIND(FEISHU) | KIND(DINGTALK) | KIND(WECOM)},
	{"from", KEY_TEXT, FIELD(from), KIND(EMAIL)},
	{"to", KEY_LIST, FIELD(to), KIND(EMAIL)},
	{"starttls", KEY_STARTTLS, FIELD(starttls), KIND(EMAIL)},
	{"labels", KEY_LIST, FIELD(labels), KIND(ALERTMANAGER)},
	{"hold", KEY_TIME, FIELD(hold_ms), KIND(ALERTMANAGER)},
	{"argv", KEY_LIST, FIELD(argv), KIND(EXEC)},
};

bool config_is_notify(const struct config_entry *e)
{
	return strncmp(e->section, SECTION, strlen(SECTION)) == 0;
}

static int channel_wrong(const struct config_entry *e, struct fault *f, const char *fmt, ...) printf_like(3, 4);
static int channel_wrong(const struct config_entry *e, struct fault *f, const char *fmt, ...)
{
	char text[360];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (f) {
		TEXT_COPY(f->file, e->file);
		f->line = e->line;
		f->column = e->column;
	}
	return fault_set(f, -EINVAL, "%s:%u:%u: %s", e->file, e->line, e->column, text);
}

/* A typed '_' counts as '-': such files use both. */
static bool same_key(const char *typed, const char *name)
{
	for (; *typed && *name; typed++, name++)
		if (*typed != *name && !(*typed == '_' && *name == '-'))
			return false;
	return *typed == *name;
}

static const struct key *key_find(const char *typed)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (same_key(typed, keys[i].name))
			return &keys[i];
	return NULL;
}

static int unknown_key(const struct config_entry *e, enum channel_kind kind, struct fault *f)
{
	struct nearest near = {.typed = e->key};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].kinds & 1u << kind)
			nearest_offer(&near, keys[i].name);
	if (near.best)
		return channel_wrong(e, f, "unknown key '%.60s' of a channel; did you mean '%s'?", e->key, near.best);
	return channel_wrong(e, f, "unknown key '%.60s' of a channel of kind %s; docs/formats/notify.md lists them",
			     e->key, channel_kind_name(kind));
}

static int set_flag(const struct config_entry *e, bool *ret, struct fault *f)
{
	static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (strcmp(e->value, yes[i]) == 0 || strcmp(e->value, no[i]) == 0) {
			*ret = strcmp(e->value, yes[i]) == 0;
			return 0;
		}
	return channel_wrong(e, f, "%s: '%.40s' was found, 'true' or 'false' was expected", e->key, e->value);
}

static int set_time(const struct config_entry *e, uint64_t *ret_ms, struct fault *f)
{
	uint64_t ns;
	struct fault inner = {.text = ""};
	if (duration_parse(e->value, &ns, &inner) < 0)
		return channel_wrong(e, f, "%s: %.200s", e->key, inner.text);
	if (ns / NS_PER_MS > UINT64_C(31) * 24 * 3600 * 1000)
		return channel_wrong(e, f, "%s: at most 31d", e->key);
	*ret_ms = ns / NS_PER_MS;
	return 0;
}

static bool next_item(const char **at, struct span *ret)
{
	if (!*at)
		return false;
	const char *end = strchr(*at, OPTION_ITEM_END);
	*ret = (struct span){*at, end ? (size_t)(end - *at) : strlen(*at)};
	*at = end ? end + 1 : NULL;
	return true;
}

static int set_list(const struct config_entry *e, struct channel_list *ret, struct fault *f)
{
	const char *at = e->value;
	struct span item;
	ret->n = 0;
	while (next_item(&at, &item)) {
		if (ret->n == CHANNEL_LIST)
			return channel_wrong(e, f, "%s: at most %d items", e->key, CHANNEL_LIST);
		if (item.len >= sizeof(ret->item[0]))
			return channel_wrong(e, f, "%s: an item is longer than %zu bytes", e->key,
					     sizeof(ret->item[0]) - 1);
		memcpy(ret->item[ret->n], item.p, item.len);
		ret->item[ret->n++][item.len] = '\0';
	}
	return 0;
}

static int set_kinds(const struct config_entry *e, struct channel *c, struct fault *f)
{
	const char *at = e->value;
	struct span item;
	c->only_some = true;
	c->only_loss = false;
	memset(c->only, 0, sizeof(c->only));
	while (next_item(&at, &item)) {
		char name[40];
		span_copy(item, name, sizeof(name));
		enum incident_kind k = incident_kind_of(name);
		if (k == INCIDENT_NONE && strcmp(name, NOTICE_LOSS) == 0) {
			c->only_loss = true;
			continue;
		}
		if (k == INCIDENT_NONE && strcmp(name, "memory_warning") != 0) {
			struct nearest near = {.typed = name};
			for (enum incident_kind i = INCIDENT_NONE + 1; i < INCIDENT_KIND_MAX; i++)
				nearest_offer(&near, incident_kind_name(i));
			return channel_wrong(e, f, "'%s' is no kind of incident%s%s%s", name,
					     near.best ? "; did you mean '" : "", near.best ? near.best : "",
					     near.best ? "'?" : "");
		}
		c->only[k] = true;
	}
	return 0;
}

static int set_starttls(const struct config_entry *e, enum channel_starttls *ret, struct fault *f)
{
	static const char *const names[] = {"required", "try", "never"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(e->value, names[i]) == 0) {
			*ret = (enum channel_starttls)i;
			return 0;
		}
	return channel_wrong(e, f, "starttls: '%.40s' was found; required, try or never was expected", e->value);
}

static int set_number(const struct config_entry *e, double *ret, struct fault *f)
{
	uint64_t v;
	if (span_u64(span_of(e->value), &v) < 0 || v == 0 || v > 6000)
		return channel_wrong(e, f, "%s: '%.40s' was found, a number from 1 to 6000 was expected", e->key,
				     e->value);
	*ret = (double)v;
	return 0;
}

static int set_text(const struct config_entry *e, char *dst, size_t cap, struct fault *f)
{
	for (const unsigned char *p = (const unsigned char *)e->value; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			return channel_wrong(e, f, "%s: a control character is in the value", e->key);
	if (strlen(e->value) >= cap)
		return channel_wrong(e, f, "%s: longer than %zu bytes", e->key, cap - 1);
	text_copy(dst, cap, e->value);
	return 0;
}

static int set_key(const struct config_entry *e, struct channel *c, struct fault *f)
{
	const struct key *k = key_find(e->key);
	if (!k)
		return unknown_key(e, c->kind, f);
	if (!(k->kinds & 1u << c->kind))
		return channel_wrong(e, f, "channels of kind %s have no '%s'", channel_kind_name(c->kind), k->name);
	void *field = (char *)c + k->offset;
	switch (k->type) {
	case KEY_TEXT:
		return k->size ? set_text(e, field, k->size, f) : 0;
	case KEY_FLAG:
		return set_flag(e, field, f);
	case KEY_TIME:
		return set_time(e, field, f);
	case KEY_LIST:
		return set_list(e, field, f);
	case KEY_NUMBER:
		return set_number(e, field, f);
	case KEY_SEVERITY:
		return notice_severity_of(e->value, field)
			       ? 0
			       : channel_wrong(
					 e, f,
					 "severity: '%.40s' was found; info, warning, error or critical was expected",
					 e->value);
	case KEY_KINDS:
		return set_kinds(e, c, f);
	case KEY_STARTTLS:
		return set_starttls(e, field, f);
	}
	return -EINVAL;
}

static int begin_channel(const struct config_entry *first, size_t n, struct channel *c, struct fault *f)
{
	const struct config_entry *kind = NULL;
	for (size_t i = 0; i < n; i++)
		if (strcmp(first[i].key, "kind") == 0)
			kind = &first[i];
	if (!kind)
		return channel_wrong(first, f,
				     "this channel has no kind: webhook, slack, feishu, dingtalk, wecom, teams, "
				     "pagerduty, email, alertmanager or exec");
	enum channel_kind k = channel_kind_of(kind->value);
	if (k == CHANNEL_KIND_MAX) {
		struct nearest near = {.typed = kind->value};
		for (k = 0; k < CHANNEL_KIND_MAX; k++)
			nearest_offer(&near, channel_kind_name(k));
		return channel_wrong(kind, f, "unknown kind of channel '%.40s'%s%s%s", kind->value,
				     near.best ? "; did you mean '"
					       : "; webhook, slack, feishu, dingtalk, wecom, teams, pagerduty, email, "
						 "alertmanager and exec are known",
				     near.best ? near.best : "", near.best ? "'?" : "");
	}
	channel_init(c, k);
	return 0;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Addresses go into header lines and SMTP commands, so a character that could end one is refused. */
static bool is_address(const char *text)
{
	return strchr(text, '@') && !strpbrk(text, "<>\r\n \t,;\"") && text[0] != '@';
}

static int check_mail(const struct config_entry *at, const struct channel *c, struct fault *f)
{
	if (c->to.n == 0)
		return channel_wrong(at, f, "channel %s: 'to' is missing: a list of mail addresses", c->name);
	for (size_t i = 0; i < c->to.n; i++)
		if (!is_address(c->to.item[i]))
			return channel_wrong(at, f, "channel %s: '%.60s' is no mail address", c->name, c->to.item[i]);
	if (c->from[0] && !is_address(c->from))
		return channel_wrong(at, f, "channel %s: '%.60s' is no mail address", c->name, c->from);
	return 0;
}

static bool is_label(const char *text)
{
	size_t len = strcspn(text, "=");
	size_t fine = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	return len > 0 && text[len] == '=' && fine == len && !(text[0] >= '0' && text[0] <= '9');
}

/* From where vigil is started, a relative one would be another file each time, in the folder of a job that job's. */
static int check_paths(const struct config_entry *at, const struct channel *c, struct fault *f)
{
	const struct {
		const char *key, *path;
	} files[] = {{"url-file", c->url_file},
		     {"secret-file", c->secret_file},
		     {"password-file", c->password_file},
		     {"ca-file", c->ca_file},
		     {"argv", c->argv.n > 0 && strchr(c->argv.item[0], '/') ? c->argv.item[0] : ""}};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].path[0] && files[i].path[0] != '/')
			return channel_wrong(at, f, "channel %s: %s: '%.100s' must be a path that begins with '/'",
					     c->name, files[i].key, files[i].path);
	return 0;
}

static int check_whole(const struct config_entry *at, const struct channel *c, struct fault *f)
{
	bool mail = c->kind == CHANNEL_EMAIL;
	if (!channel_name_is_fine(c->name))
		return channel_wrong(
			at, f,
			"a channel's 'name' has 1 to 31 letters, digits, '-' and '_', and does not begin with '-'");
	if (strcmp(c->name, "none") == 0)
		return channel_wrong(at, f, "a channel cannot be named 'none': --notify none means no channel");
	if (check_paths(at, c, f) < 0)
		return -EINVAL;
	if (c->kind == CHANNEL_EXEC)
		return c->argv.n > 0 && c->argv.item[0][0]
			       ? 0
			       : channel_wrong(at, f,
					       "channel %s: 'argv' is missing: a program and its arguments, as a list",
					       c->name);
	if (!c->url[0] && !c->url_file[0])
		return channel_wrong(at, f, "channel %s: 'url' or 'url-file' is missing", c->name);
	bool fits = mail ? starts_with(c->url, "smtp://") || starts_with(c->url, "smtps://")
			 : starts_with(c->url, "https://") || starts_with(c->url, "http://");
	if (c->url[0] && !fits)
		return channel_wrong(at, f, "channel %s: its url must begin with %s", c->name,
				     mail ? "smtp:// or smtps://" : "https:// or http://");
	if (c->kind == CHANNEL_PAGERDUTY && !c->secret_file[0])
		return channel_wrong(at, f, "channel %s: 'secret-file' is missing: the file with the routing key",
				     c->name);
	if (c->timeout_ms < 100 || c->timeout_ms > 120000)
		return channel_wrong(at, f, "channel %s: timeout must be from 100ms to 2m", c->name);
	if (c->link[0] && !starts_with(c->link, "http://") && !starts_with(c->link, "https://"))
		return channel_wrong(at, f, "channel %s: link must begin with https:// or http://", c->name);
	for (size_t i = 0; i < c->labels.n; i++)
		if (!is_label(c->labels.item[i]))
			return channel_wrong(at, f, "channel %s: label '%.60s': NAME=VALUE was expected", c->name,
					     c->labels.item[i]);
	return mail ? check_mail(at, c, f) : 0;
}

static int add_channel(const struct config_entry *first, size_t n, struct channels *all, struct fault *f)
{
	static struct channel c; /* too large for the stack */
	int r = begin_channel(first, n, &c, f);
	for (size_t i = 0; i < n && r == 0; i++) {
		for (size_t k = 0; k < i; k++)
			if (same_key(first[i].key, first[k].key))
				return channel_wrong(&first[i], f, "'%.60s' is there twice", first[i].key);
		r = set_key(&first[i], &c, f);
	}
	if (r == 0)
		r = check_whole(first, &c, f);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->item[i].name, c.name) == 0) {
			all->item[i] = c;
			return 0;
		}
	if (all->n == CHANNELS_MAX)
		return channel_wrong(first, f, "more than %d channels", CHANNELS_MAX);
	all->item[all->n++] = c;
	return 0;
}

int config_channels(const struct config *c, struct channels *ret, struct fault *f)
{
	ret->n = 0;
	for (size_t i = 0; i < c->n;) {
		size_t n = 1;
		if (!config_is_notify(&c->entries[i]) || config_is_project(c, &c->entries[i])) {
			i++; /* a checkout must name neither programs to run nor the place that secrets are sent to */
			continue;
		}
		while (i + n < c->n && c->entries[i + n].file == c->entries[i].file &&
		       strcmp(c->entries[i + n].section, c->entries[i].section) == 0)
			n++;
		int r = add_channel(&c->entries[i], n, ret, f);
		if (r < 0)
			return r;
		i += n;
	}
	return 0;
}

static int choose(const struct channels *all, const struct option_list *wanted, struct channels *ret, struct fault *f)
{
	if (wanted->n == 1 && strcmp(wanted->item[0], "none") == 0)
		return 0;
	for (size_t i = 0; i < all->n && wanted->n == 0; i++)
		if (all->item[i].by_default)
			ret->item[ret->n++] = all->item[i];
	for (size_t i = 0; i < wanted->n; i++) {
		const struct channel *c = channels_find(all, wanted->item[i]);
		struct nearest near = {.typed = wanted->item[i]};
		for (size_t k = 0; k < all->n; k++)
			nearest_offer(&near, all->item[k].name);
		if (!c && near.best)
			return fault_set(f, -EINVAL, "--notify: there is no channel '%s'; did you mean '%s'?",
					 wanted->item[i], near.best);
		if (!c)
			return fault_set(f, -EINVAL,
					 "--notify: there is no channel '%s'; 'vigil notify list' shows those of your "
					 "configuration",
					 wanted->item[i]);
		if (!channels_find(ret, c->name))
			ret->item[ret->n++] = *c;
	}
	return 0;
}

int config_channels_chosen(const char *named, const struct option_list *wanted, struct channels **ret, struct fault *f)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	char note[256];
	int r = config_load(&c, named, note, f);
	if (r < 0)
		return r;
	bool some = false;
	for (size_t i = 0; i < c.n; i++)
		some |= config_is_notify(&c.entries[i]);
	*ret = NULL;
	if (!some && wanted->n == 0)
		return 0;
	cleanup(freep) struct channels *all = calloc(1, sizeof(*all));
	cleanup(freep) struct channels *chosen = calloc(1, sizeof(*chosen));
	if (!all || !chosen)
		return fault_set(f, -ENOMEM, "no memory for the configuration");
	r = config_channels(&c, all, f);
	if (r == 0)
		r = choose(all, wanted, chosen, f);
	if (r == 0 && chosen->n > 0)
		*ret = take(&chosen);
	return r;
}

void config_channels_files(const struct channels *all, void (*say)(const char *fmt, ...))
{
	for (size_t i = 0; i < all->n; i++) {
		const struct channel *c = &all->item[i];
		const char *const files[] = {c->url_file, c->secret_file, c->password_file, c->ca_file};
		for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
			struct stat st;
			if (!files[k][0])
				continue;
			if (access(files[k], R_OK) < 0 || stat(files[k], &st) < 0)
				say("channel %s: %s cannot be read here: %s", c->name, files[k], strerror(errno));
			else if ((st.st_mode & S_IROTH) && files[k] != c->ca_file)
				say("channel %s: everybody may read %s; chmod o-r it", c->name, files[k]);
		}
	}
}

void config_channels_show(const struct channels *all)
{
	if (all->n > 0)
		puts("notify:");
	for (size_t i = 0; i < all->n; i++) {
		const struct channel *c = &all->item[i];
		char masked[600];
		printf("  - {name: %s, kind: %s, default: %s", c->name, channel_kind_name(c->kind),
		       c->by_default ? "true" : "false");
		if (c->url_file[0])
			printf(", url-file: \"%s\"", c->url_file);
		else if (c->url[0])
			printf(", url: \"%s\"", channel_url_mask(c->url, masked, sizeof(masked)));
		printf("}\n");
	}
}
