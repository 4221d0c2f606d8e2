#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/notify/deliver.h"
#include "agent/notify/dispatch.h"
#include "agent/host/host.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/config/config_notify.h"
#include "cli/options/commands.h"
#include "cli/options/nearest.h"
#include "cli/options/state.h"

/* A delivering process tries for this long; what is left then stays in the spool. */
static const uint64_t deliverer_life_ns = 600 * NS_PER_S;
/* Upper limit of `notify flush`, for which a person waits; each channel has its own, shorter timeout. */
static const uint64_t flush_life_ns = 150 * NS_PER_S;

struct notify_options {
	const char *state;
	bool json;
};

static const struct option notify_table[] = {
	OPTION_STATE(notify_options),
	OPTION_JSON(notify_options),
	OPTION_END,
};

/* A checkout must not choose who gets notices: its channels are left out, with a warning. */
static void warn_of_project_channels(const struct config *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (config_is_notify(&c->entries[i]) && config_is_project(c, &c->entries[i])) {
			log_warning("%s:%u: a project's vigil.yaml may not say whom to notify: its channels do not "
				    "count; put them into your own configuration (~/.config/vigil/vigil.yaml, or "
				    "/etc/vigil/vigil.yaml for all)",
				    c->entries[i].file, c->entries[i].line);
			return;
		}
}

/* All channels of the configuration; *ret is malloc'ed. */
static int channels_all(struct channels **ret)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	cleanup(freep) struct channels *all = calloc(1, sizeof(*all));
	struct fault f = {.text = "no memory for the configuration"};
	char note[256] = "";
	int r = all ? config_load(&c, NULL, note, &f) : -ENOMEM;
	if (r == 0)
		r = config_channels(&c, all, &f);
	if (r < 0) {
		log_error("%s", f.text);
		return r;
	}
	warn_of_project_channels(&c);
	*ret = take(&all);
	return 0;
}

static const struct channel *channel_named(const struct channels *all, const char *name)
{
	const struct channel *c = channels_find(all, name);
	struct nearest near = {.typed = name};
	for (size_t i = 0; i < all->n; i++)
		nearest_offer(&near, all->item[i].name);
	if (!c && near.best)
		log_error("there is no channel '%s'; did you mean '%s'?", name, near.best);
	else if (!c && all->n == 0)
		log_error("no channels are configured; put them into the section 'notify:' of "
			  "~/.config/vigil/vigil.yaml or /etc/vigil/vigil.yaml (man vigil-notify)");
	else if (!c)
		log_error("there is no channel '%s'; 'vigil notify list' shows those there are", name);
	return c;
}

static void show_test(const struct channel *c, const struct notify_options *o, const struct dispatch *d)
{
	bool arrived = d->outcome == NOTIFY_ARRIVED;
	if (o->json) {
		cleanup(js_freep) struct js *j = js_object();
		js_put_text(j, "schema", "vigil.notify_test/1");
		js_put_text(j, "channel", c->name);
		js_put_text(j, "kind", channel_kind_name(c->kind));
		js_put_bool(j, "arrived", arrived);
		js_put_text_if(j, "answer", d->why);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	} else if (arrived) {
		printf("%s (%s): arrived; %s\n", c->name, channel_kind_name(c->kind), d->why);
	}
	if (!arrived)
		log_error("%s (%s): not delivered: %s", c->name, channel_kind_name(c->kind), d->why);
}

static int test(const struct notify_options *o, const char *name)
{
	cleanup(freep) struct channels *all = NULL;
	static struct notice notice;
	struct dispatch d, over;
	char node[80];
	if (channels_all(&all) < 0)
		return EXIT_PROBLEM;
	const struct channel *c = channel_named(all, name);
	if (!c)
		return EXIT_ABSENT;
	host_name(node, sizeof(node));
	notice_of_test(c->name, node, clock_unix_ms(), &notice);
	dispatch_now(c, &notice, clock_unix_ms(), &d);
	/* a test at PagerDuty is closed at once, so that it calls no one out */
	if (d.outcome == NOTIFY_ARRIVED && c->kind == CHANNEL_PAGERDUTY) {
		notice.resolved = true;
		dispatch_now(c, &notice, clock_unix_ms(), &over);
	}
	show_test(c, o, &d);
	return d.outcome == NOTIFY_ARRIVED ? 0 : EXIT_ENGINE;
}

static void target_of(const struct channel *c, char *dst, size_t cap)
{
	if (c->kind == CHANNEL_EXEC)
		(void)text_format(dst, cap, "%s", c->argv.item[0]);
	else if (c->url_file[0])
		(void)text_format(dst, cap, "address in %s", c->url_file);
	else
		channel_url_mask(c->url, dst, cap);
}

static int notify_list(const struct notify_options *o)
{
	cleanup(freep) struct channels *all = NULL;
	if (channels_all(&all) < 0)
		return EXIT_PROBLEM;
	for (size_t i = 0; i < all->n; i++) {
		const struct channel *c = &all->item[i];
		char target[600];
		target_of(c, target, sizeof(target));
		if (!o->json) {
			printf("%-16s %-13s %-8s %s\n", c->name, channel_kind_name(c->kind),
			       c->by_default ? "default" : "-", target);
			continue;
		}
		cleanup(js_freep) struct js *j = js_object();
		js_put_text(j, "schema", "vigil.channel/1");
		js_put_text(j, "name", c->name);
		js_put_text(j, "kind", channel_kind_name(c->kind));
		js_put_bool(j, "default", c->by_default);
		js_put_text(j, "severity", notice_severity_name(c->least));
		js_put_text(j, "target", target);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	}
	if (all->n == 0 && !o->json)
		puts("no channels are configured (man vigil-notify)");
	return 0;
}

struct queue {
	char channel[32];
	size_t waiting;
	int64_t oldest_ms;
};

static size_t queues_of(const struct spool_list *l, const struct channels *all, struct queue *q, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n && n < cap; i++) {
		q[n] = (struct queue){.waiting = 0};
		TEXT_COPY(q[n++].channel, all->item[i].name);
	}
	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;
		while (k < n && strcmp(q[k].channel, l->entry[i].channel) != 0)
			k++;
		if (k == cap)
			continue;
		if (k == n) {
			q[n] = (struct queue){.waiting = 0};
			TEXT_COPY(q[n++].channel, l->entry[i].channel);
		}
		if (q[k].waiting++ == 0)
			q[k].oldest_ms = l->entry[i].time_unix_ms;
	}
	return n;
}

static void show_queue(const struct notify_options *o, const struct queue *q, const struct delivery *d, bool known)
{
	char oldest[24] = "", text[400] = "";
	struct buf b = BUF_ON(text);
	if (o->json) {
		cleanup(js_freep) struct js *j = js_object();
		js_put_text(j, "schema", "vigil.spool/1");
		js_put_text(j, "channel", q->channel);
		js_put_bool(j, "configured", known);
		js_put_u64(j, "waiting", q->waiting);
		if (q->waiting > 0)
			js_put_i64(j, "oldest_unix_ms", q->oldest_ms);
		js_put_u64(j, "delivered", d->delivered);
		js_put_u64(j, "rejected", d->rejected);
		if (d->fails > 0) {
			js_put_u64(j, "fails", d->fails);
			js_put_i64(j, "retry_unix_ms", d->retry_ms);
		}
		js_put_text_if(j, "trouble", d->trouble);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		return;
	}
	if (q->waiting > 0)
		buf_printf(&b, ", the oldest since %s", time_format(q->oldest_ms, oldest));
	if (!known)
		buf_add(&b, "; not configured (any more)");
	if (d->trouble[0])
		buf_printf(&b, "; last trouble: %s", d->trouble);
	printf("%-16s %zu waiting, %llu delivered, %llu refused%s\n", q->channel, q->waiting,
	       (unsigned long long)d->delivered, (unsigned long long)d->rejected, text);
}

static int spool(const struct notify_options *o, const char *state)
{
	cleanup(freep) struct channels *all = NULL;
	cleanup(spool_list_done) struct spool_list l = {.entry = NULL};
	struct spool s;
	struct queue q[64];
	if (channels_all(&all) < 0)
		return EXIT_PROBLEM;
	spool_at(&s, state);
	int r = spool_scan(&s, clock_unix_ms(), &l);
	if (r < 0) {
		log_error("cannot read %s: %s", s.dir, strerror(-r));
		return r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	size_t n = queues_of(&l, all, q, ARRAY_SIZE(q));
	for (size_t i = 0; i < n; i++) {
		static struct delivery d;
		spool_delivery_read(&s, q[i].channel, &d);
		show_queue(o, &q[i], &d, channels_find(all, q[i].channel) != NULL);
	}
	if (n == 0 && !o->json)
		puts("nothing waits");
	return 0;
}

static int flush(const char *state)
{
	cleanup(freep) struct channels *all = NULL;
	const struct deliver_how how = {.lifetime_ns = flush_life_ns, .once = true};
	struct deliver_count count = {.left = 0};
	if (channels_all(&all) < 0)
		return EXIT_PROBLEM;
	int r = deliver_run(all, state, &how, &count);
	if (r < 0) {
		log_error("cannot deliver what waits in %s/notify: %s", state, strerror(-r));
		return EXIT_PROBLEM;
	}
	printf("%zu message%s delivered, %zu notice%s left\n", count.delivered, count.delivered == 1 ? "" : "s",
	       count.left, count.left == 1 ? "" : "s");
	if (count.unknown > 0)
		log_warning("%zu notice%s wait for channels that are not configured; 'vigil notify spool' names them",
			    count.unknown, count.unknown == 1 ? "" : "s");
	if (count.left > 0)
		log_warning("not everything could be delivered; 'vigil notify spool' says why");
	return count.left > 0 ? EXIT_ENGINE : 0;
}

/*
 * Runs in the process that a supervisor starts for delivery, so it drops descriptors, signal handlers and priorities.
 */
static int deliver(const char *state)
{
	cleanup(freep) struct channels *all = NULL;
	const struct deliver_how how = {.lifetime_ns = deliverer_life_ns};
	const struct rlimit none = {.rlim_cur = 0};
	struct deliver_count count;
	sigset_t set;
	(void)prctl(PR_SET_NAME, "vigil-notify");
	(void)prctl(PR_SET_DUMPABLE, 0L); /* secrets pass through here */
	(void)setrlimit(RLIMIT_CORE, &none);
	ignore(syscall(SYS_close_range, 3U, ~0U, 0U), "an old kernel: descriptors are closed on exec");
	/* the node service has a negative nice value, which the delivery of messages must not have */
	(void)setpriority(PRIO_PROCESS, 0, 5);
	struct fault f;
	struct world w;
	if (world_open(NULL, &w, &f) == 0) {
		ignore(file_write_at(w.proc_fd, "self/oom_score_adj", "0"), "then it is as hard to kill as its parent");
		world_close(&w);
	}
	(void)sigemptyset(&set);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	if (channels_all(&all) < 0)
		return EXIT_PROBLEM;
	return deliver_run(all, state, &how, &count) < 0 ? EXIT_PROBLEM : 0;
}

static int notify_run(const void *opts, int argc, char **argv)
{
	const struct notify_options *o = opts;
	struct fault f = {.text = ""};
	char state[256];
	const char *what = argc > 0 ? argv[0] : "";
	if (argc == 2 && strcmp(what, "test") == 0)
		return test(o, argv[1]);
	if (argc == 1 && strcmp(what, "list") == 0)
		return notify_list(o);
	if (state_dir(o->state, state, sizeof(state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (argc == 1)
		state_warn(state);
	if (argc == 1 && strcmp(what, "spool") == 0)
		return spool(o, state);
	if (argc == 1 && strcmp(what, "flush") == 0)
		return flush(state);
	if (argc == 1 && strcmp(what, "deliver") == 0)
		return deliver(state);
	if (strcmp(what, "test") == 0 && argc < 2)
		log_error("vigil notify test: the name of a channel was expected; 'vigil notify list' shows them");
	else
		log_error("vigil notify: 'test NAME', 'list', 'spool' or 'flush' was expected");
	return EXIT_USAGE;
}

const struct command command_notify = {
	.name = "notify",
	.words = "test list spool flush",
	.usage = "vigil notify test NAME | list | spool | flush [OPTIONS]",
	.summary = "try and look after the channels that are told of incidents",
	.about =
		"vigil tells people and their tools when a job dies or hangs: by webhook, Slack, Feishu, DingTalk, "
		"WeCom, Teams, PagerDuty, mail, Alertmanager, or a program of your own. The channels are a list in the "
		"section notify: of your own vigil.yaml (~/.config/vigil) or the machine's (/etc/vigil), never of a "
		"project's; secrets are in files of their own.\n\n"
		"test NAME sends one message that is clearly a test, and prints the server's answer. list shows the "
		"channels, spool what waits and why, flush tries once to deliver what waits.\n\n"
		"vigil run, watch and agent tell all channels with 'default: true' (which is the default), or those "
		"that --notify names. Messages are sent by a process of their own: no server can delay a job. What "
		"cannot be delivered waits for up to a day in the state directory, for the next vigil or for flush.\n\n"
		"Exit status: 0; 1 the configuration is wrong; 4 no such channel; 5 it was not delivered.",
	.examples =
		"vigil notify test ops\n"
		"vigil run --notify ops,mail -- python train.py\n"
		"vigil notify spool\n"
		"# in ~/.config/vigil/vigil.yaml:\n"
		"#   notify:\n"
		"#     - {name: ops, kind: slack, url-file: /etc/vigil/slack.url}\n"
		"#     - {name: mail, kind: email, url: \"smtp://mail:587\", to: [team@example.org], default: false}\n"
		"#     - {name: mine, kind: exec, argv: [/usr/local/bin/page-me]}\n",
	.options = notify_table,
	.options_size = sizeof(struct notify_options),
	.run = notify_run,
	.usage_status = EXIT_USAGE,
};
