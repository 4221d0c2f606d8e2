#include "sense/death/journal.h"

#include <dlfcn.h>
#include <string.h>
#include <systemd/sd-journal.h>

#include "base/buf.h"
#include "base/dynlib.h"

/* The functions of libsystemd that are used here. */
struct api {
	void *library;
	__typeof__(sd_journal_open) *open;
	__typeof__(sd_journal_close) *close;
	__typeof__(sd_journal_add_match) *add_match;
	__typeof__(sd_journal_flush_matches) *flush_matches;
	__typeof__(sd_journal_seek_realtime_usec) *seek_realtime_usec;
	__typeof__(sd_journal_seek_tail) *seek_tail;
	__typeof__(sd_journal_next) *next;
	__typeof__(sd_journal_previous) *previous;
	__typeof__(sd_journal_get_data) *get_data;
	__typeof__(sd_journal_get_realtime_usec) *get_realtime_usec;
	__typeof__(sd_journal_has_runtime_files) *has_runtime_files;
	__typeof__(sd_journal_has_persistent_files) *has_persistent_files;
};

static bool api_load(struct api *a)
{
	static const char *const names[] = {"libsystemd.so.0"};
	const struct dynlib_symbol wanted[] = {
		{"sd_journal_open", &a->open},
		{"sd_journal_close", &a->close},
		{"sd_journal_add_match", &a->add_match},
		{"sd_journal_flush_matches", &a->flush_matches},
		{"sd_journal_seek_realtime_usec", &a->seek_realtime_usec},
		{"sd_journal_seek_tail", &a->seek_tail},
		{"sd_journal_next", &a->next},
		{"sd_journal_previous", &a->previous},
		{"sd_journal_get_data", &a->get_data},
		{"sd_journal_get_realtime_usec", &a->get_realtime_usec},
		{"sd_journal_has_runtime_files", &a->has_runtime_files},
		{"sd_journal_has_persistent_files", &a->has_persistent_files},
	};
	a->library = dynlib_load(names, ARRAY_SIZE(names), RTLD_NOW | RTLD_LOCAL, wanted, ARRAY_SIZE(wanted));
	return a->library != NULL;
}

static const char *const idents[] = {
	"systemd-oomd", "systemd", "earlyoom", "nohang", "nohang-desktop", "oomd", "slurmstepd",
	"slurmd", "kubelet", "containerd", "dockerd", "crio", "k3s", "rke2", "raylet",
};

static struct span field(const struct api *a, sd_journal *j, const char *name)
{
	const void *data;
	size_t len;
	if (a->get_data(j, name, &data, &len) < 0)
		return (struct span){NULL, 0};
	return span_after((struct span){data, len}, "=");
}

static int matches_add(const struct api *a, sd_journal *j)
{
	for (size_t i = 0; i < ARRAY_SIZE(idents); i++) {
		char match[64];
		TEXT_FORMAT(match, "SYSLOG_IDENTIFIER=%s", idents[i]);
		int r = a->add_match(j, match, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The users of services: those of the system's packages, and what DynamicUser= gives (systemd.exec(5)). */
static bool is_services(uint64_t uid)
{
	return uid < 1000 || (uid >= 61184 && uid <= 65519);
}

bool journal_sender_is_believed(struct span transport, struct span uid, uid_t ours)
{
	uint64_t sender;
	if (span_eq(transport, "kernel"))
		return true;
	return uid.p && span_u64(uid, &sender) == 0 && (is_services(sender) || sender == ours);
}

/* The name under which an entry stands is the sender's to choose; fields that begin with "_" are journald's own. */
static bool entry_is_believed(const struct api *a, sd_journal *j)
{
	char transport[32];
	span_copy(field(a, j, "_TRANSPORT"), transport, sizeof(transport)); /* as the next get_data may free it */
	return journal_sender_is_believed(span_of(transport), field(a, j, "_UID"), geteuid());
}

static void entry_feed(const struct api *a, sd_journal *j, struct killerlog *k, uint64_t usec)
{
	if (!entry_is_believed(a, j))
		return;
	struct span ident = field(a, j, "SYSLOG_IDENTIFIER");
	char name[64];
	span_copy(ident, name, sizeof(name)); /* the next get_data may invalidate ident */
	struct span message = field(a, j, "MESSAGE"), line;
	while (span_line(&message, &line))
		killerlog_line(k, span_of(name), line, (int64_t)(usec / 1000));
}

static int entries_read(const struct api *a, sd_journal *j, const struct world *w, int64_t until_unix_ms,
			uint64_t mono_deadline_ns, size_t max, struct killerlog *k, size_t *n)
{
	while (*n < max && w->mono_ns() < mono_deadline_ns) {
		uint64_t usec;
		int r = a->next(j);
		if (r <= 0)
			return r;
		r = a->get_realtime_usec(j, &usec);
		if (r < 0)
			return r;
		if ((int64_t)(usec / 1000) > until_unix_ms)
			return 0;
		entry_feed(a, j, k, usec);
		(*n)++;
	}
	return 0;
}

/*
 * Opening the journal succeeds for every user, but may show only the user's own entries. PID 1 writes only into the
 * system's journal, so an entry of PID 1 proves that the system's journal can be read.
 */
static bool system_visible(const struct api *a, sd_journal *j)
{
	a->flush_matches(j);
	return a->add_match(j, "_PID=1", 0) >= 0 && a->seek_tail(j) >= 0 && a->previous(j) > 0;
}

static int journal_ask(const struct api *a, const struct world *w, int64_t since_unix_ms, int64_t until_unix_ms,
		       uint64_t mono_deadline_ns, size_t max, struct killerlog *k, char why[static 120], size_t *n)
{
	sd_journal *j = NULL;
	int r = a->open(&j, SD_JOURNAL_LOCAL_ONLY);
	if (r < 0) {
		text_format(why, 120, "cannot be opened (%s)", strerror(-r));
		return r == -EACCES || r == -EPERM ? WORLD_DENIED : WORLD_ABSENT;
	}
	if (a->has_runtime_files(j) <= 0 && a->has_persistent_files(j) <= 0) {
		bool root = geteuid() == 0;
		text_copy(why, 120, root ? "this machine keeps none" :
				    "none may be read; be root or in the group systemd-journal");
		a->close(j);
		return root ? WORLD_ABSENT : WORLD_DENIED;
	}
	r = matches_add(a, j);
	if (r >= 0)
		r = a->seek_realtime_usec(j, since_unix_ms > 0 ? (uint64_t)since_unix_ms * 1000 : 0);
	if (r >= 0)
		r = entries_read(a, j, w, until_unix_ms, mono_deadline_ns, max, k, n);
	if (r >= 0 && !system_visible(a, j)) {
		text_copy(why, 120, "only your own entries may be read; be root or in the group systemd-journal");
		r = WORLD_DENIED;
	}
	a->close(j);
	if (r < 0)
		text_format(why, 120, "cannot be read (%s)", strerror(-r));
	return r;
}

int journal_read_killers(const struct world *w, int64_t since_unix_ms, int64_t until_unix_ms,
			 uint64_t mono_deadline_ns, size_t max, struct killerlog *k, char why[static 120],
			 size_t *ret_read)
{
	struct api a = {0};
	size_t n = 0;
	if (w->recorded) {
		text_copy(why, 120, "a recorded machine has none");
		return WORLD_ABSENT;
	}
	if (!api_load(&a)) {
		text_copy(why, 120, "libsystemd is not installed");
		return WORLD_ABSENT;
	}
	int r = journal_ask(&a, w, since_unix_ms, until_unix_ms, mono_deadline_ns, max, k, why, &n);
	dlclose(a.library);
	if (r >= 0)
		*ret_read = n;
	return r;
}
