#include "agent/hang/hanglookups.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/hang/hanglocks.h"
#include "agent/memory/ownroom.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/signame.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/proc/lookups.h"
#include "sense/proc/makers.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"

/* One lookup that fails is no loop. */
static const uint64_t lookups_least = 2;
#define RANKS_MOST 64
#define WATCHED_MOST 1024 /* of a job with more it is not said that it takes nothing in */
#define LOCKED_FILES_MOST 64 /* whose holders are looked for at one look */

struct hanglookups {
	const struct world *w;
	struct lookups *bpf; /* NULL: not needed so far; it stays loaded, as loading reads the kernel's types */
	bool on;
	bool denied; /* not permitted, or not possible here */
	pid_t watched[WATCHED_MOST]; /* processes of the last job */
	size_t n_watched;
	uint64_t began_ns; /* when the last job's processes began to be watched */
	struct lookups_row row[LOOKUPS_ROWS];
	struct {
		pid_t pid;
		int32_t rank;
	} main_of[RANKS_MOST]; /* the main processes of the ranks that are watched */
	size_t n_ranks;
};

struct hanglookups *hanglookups_new(const struct world *w)
{
	struct hanglookups *h = calloc(1, sizeof(*h));
	if (h)
		h->w = w;
	return h;
}

void hanglookups_begin(struct hanglookups *h, const struct hangprocs *procs)
{
	char why[200];
	if (!h || h->denied || (!h->bpf && !ownroom_has(h->w, OWNROOM_BPF_BYTES)))
		return;
	if (!h->bpf && lookups_open(h->w, &h->bpf, why, sizeof(why)) != 0)
		h->bpf = NULL;
	else if (!h->on && lookups_on(h->bpf) < 0) /* attaching is forbidden by now */
		h->bpf = lookups_free(h->bpf);
	h->on = h->bpf != NULL;
	h->denied = !h->on;
	h->n_ranks = h->n_watched = 0;
	h->began_ns = h->w->mono_ns();
	for (size_t i = 0; h->on && i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (lookups_watch(h->bpf, m->pid) == 0 && h->n_watched < WATCHED_MOST) /* else nothing of it is told */
			h->watched[h->n_watched++] = m->pid;
		if (!m->main || m->who.rank < 0 || h->n_ranks == RANKS_MOST)
			continue;
		h->main_of[h->n_ranks].pid = m->pid;
		h->main_of[h->n_ranks++].rank = m->who.rank;
	}
}

void hanglookups_end(struct hanglookups *h)
{
	if (!h || !h->on)
		return;
	lookups_off(h->bpf);
	h->on = false;
}

/*
 * The system's own files are asked for by every library, and whether they are there is nobody's doing. Nor is it of
 * code without a file, whose name Python looks for when it shows a line ("<frozen runpy>").
 */
static bool is_of_the_system(const char *path)
{
	static const char *const tops[] = {"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"};
	const size_t len = strlen(path);
	if (len > 1 && path[0] == '<' && path[len - 1] == '>')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		if (strncmp(path, tops[i], strlen(tops[i])) == 0 && path[strlen(tops[i])] == '/')
			return true;
	return false;
}

/* True if the paths differ by one number alone: "/data/done.3" and "/data/done.12". */
static bool differ_by_a_number(const char *a, const char *b)
{
	size_t at = 0, i, k;
	while (a[at] && a[at] == b[at])
		at++;
	while (at > 0 && a[at - 1] >= '0' && a[at - 1] <= '9') /* digits that the numbers share */
		at--;
	for (i = at; a[i] >= '0' && a[i] <= '9'; i++)
		;
	for (k = at; b[k] >= '0' && b[k] <= '9'; k++)
		;
	return i > at && k > at && strcmp(a + at, b + at) != 0 && strcmp(a + i, b + k) == 0;
}

/* Another file of the same kind that the thread looks for as often, and finds; NULL: none. */
static const struct lookups_row *found_beside(const struct hanglookups *h, size_t n_rows, const struct lookups_row *r)
{
	for (size_t i = 0; i < n_rows; i++) {
		const struct lookups_row *x = &h->row[i];
		if (x->found && !x->inode && x->path[0] && x->pid == r->pid && x->tid == r->tid &&
		    x->folder == r->folder && x->n >= lookups_least && differ_by_a_number(x->path, r->path))
			return x;
	}
	return NULL;
}

static void row_show(const struct world *w, const struct lookups_row *r, char *dst, size_t cap)
{
	char path[1024];
	lookups_path(w, r, path, sizeof(path));
	path_show(path, 80, dst, cap);
}

/*
 * The folder in which a file is looked for, and the file's name, in path. Where that folder is missing as well, the one
 * above is meant, and the missing folder's name. False: none can be read.
 */
static bool lookup_folder(const struct world *w, const struct lookups_row *r, char *path, size_t cap,
			  const char **ret_name, int *ret_fd)
{
	const int most = 3;
	lookups_path(w, r, path, cap);
	for (int up = 0; up < most && path[0] == '/'; up++) {
		char *name = strrchr(path, '/');
		if (name == path)
			return false;
		*name = '\0';
		*ret_name = name + 1;
		if (procfile_folder(w, r->pid, path, ret_fd) == 0)
			return true;
	}
	return false;
}

/* How long ago a folder was made, or, with a name, the link of that name in it; 0: unknown. */
static uint64_t made_age(const struct world *w, int fd, const char *name)
{
	const int how = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	struct statx st;
	if (statx(fd, name, how, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
		return 0;
	const uint64_t made_ns = (uint64_t)st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec;
	return sub_floor((uint64_t)w->unix_ms() * NS_PER_MS, made_ns);
}

static bool file_is_there(const struct world *w, pid_t pid, const char *path)
{
	cleanup(closep) int fd = -1;
	return procfile_open(w, pid, path, 0, &fd) == 0 || procfile_folder(w, pid, path, &fd) == 0;
}

/*
 * If a rank looks for a file whose name ends in the number of another rank, and that with its own number is there: the
 * name of that one, its own mark. False: not so.
 */
static bool own_mark(const struct hanglookups *h, const struct lookups_row *r, char *dst, size_t cap)
{
	char path[1024], own[1100];
	uint64_t number = 0;
	size_t of = 0;
	while (of < h->n_ranks && h->main_of[of].pid != r->pid)
		of++;
	if (of == h->n_ranks)
		return false;
	lookups_path(h->w, r, path, sizeof(path));
	const char *name = strrchr(path, '/');
	size_t end = strlen(path);
	while (end > 0 && (path[end - 1] < '0' || path[end - 1] > '9'))
		end--;
	size_t begin = end;
	while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9')
		begin--;
	if (path[0] != '/' || path + begin <= name || span_u64((struct span){path + begin, end - begin}, &number) < 0 ||
	    number >= h->n_ranks || number == (uint64_t)h->main_of[of].rank)
		return false;
	TEXT_FORMAT(own, "%.*s%d%s", (int)begin, path, (int)h->main_of[of].rank, path + end);
	if (!file_is_there(h->w, r->pid, own))
		return false;
	span_copy(span_of(strrchr(own, '/') + 1), dst, cap);
	return true;
}

/* "rank 2", "process 812 (python)", "process 812, which has ended" */
static void maker_name(const struct hanglookups *h, const struct waitfacts *facts, pid_t pid, char *dst, size_t cap)
{
	const struct waitfact_process *p = waitfacts_process(facts, pid);
	char name[sizeof(p->name)];
	for (size_t i = 0; i < h->n_ranks; i++)
		if (h->main_of[i].pid == pid) {
			text_format(dst, cap, "rank %d", (int)h->main_of[i].rank);
			return;
		}
	if (!p) {
		text_format(dst, cap, "process %d, which has ended,", (int)pid);
		return;
	}
	span_copy(span_of(p->name), name, sizeof(name));
	text_format(dst, cap, "process %d (%s)", (int)pid, name);
}

/* What one look has beside the rows. */
struct look {
	const struct waitfacts *facts;
	const struct filehist *files; /* NULL: unknown */
};

/* So many of a kind that others have made say who makes them; so many of any kind whose the folder is. */
static const uint32_t kind_least = 2, folder_least = 8;

/*
 * A file that is in the way, whose maker did not come to remove it: it has ended badly, and nobody has removed such a
 * file so far but who had made it.
 */
static void orphan_say(const struct hanglookups *h, const struct filehist_found *found, struct waithint *ret)
{
	const int status = found->maker_status;
	const char *name = WIFSIGNALED(status) ? signame(WTERMSIG(status)) : NULL;
	char how[32];
	struct proc_stat stat;
	if (!found->made_by || !found->maker_ended || status == 0 || found->taken_by_others ||
	    proc_stat_read(h->w, found->made_by, &stat) == 0)
		return;
	if (WIFSIGNALED(status))
		TEXT_FORMAT(how, "%s", name ? name : "a signal");
	else
		TEXT_FORMAT(how, "with status %d", WEXITSTATUS(status));
	ret->orphan = true;
	TEXT_FORMAT(ret->owner_text, "process %d of this job has made it and was ended%s%s", (int)found->made_by,
		    WIFSIGNALED(status) ? " by " : " ", how);
}

/* Who of the job has made such files so far, if nobody else has. */
static void makers_say(const struct hanglookups *h, const struct lookups_row *r, int fd, const char *name,
		       const struct look *look, struct waithint *ret)
{
	struct filehist_found found;
	uint64_t folder;
	char who[48], by[48], last[40];
	if (!look->files || makers_folder(fd, &folder) != 0 ||
	    !filehist_find(look->files, folder, name, r->pid, &found))
		return;
	ret->others_folder = found.folder_by_others;
	ret->own_folder = !found.folder_by_others && found.n_folder >= folder_least;
	ret->own_kind = !found.by_others && found.n >= kind_least;
	if (!ret->missing)
		orphan_say(h, &found, ret);
	if (!ret->own_kind || ret->orphan)
		return;
	maker_name(h, look->facts, found.pid, who, sizeof(who));
	span_copy(span_of(found.last), last, sizeof(last));
	const bool removed = strcmp(found.last, name) == 0 && found.removed_by;
	if (removed && found.removed_by == found.pid) {
		TEXT_FORMAT(ret->owner_text, "%s has made and removed it", who);
		return;
	}
	if (removed) {
		maker_name(h, look->facts, found.removed_by, by, sizeof(by));
		TEXT_FORMAT(ret->owner_text, "%s has made and %s removed it", who, by);
		return;
	}
	TEXT_FORMAT(ret->owner_text, "files of this kind are made by the job itself: %s by %s", last, who);
}

/* Where a link is there that points to nothing: that is what is missing. */
static void link_say(const struct world *w, int fd, const char *name, struct waithint *ret)
{
	char to[128], shown[48];
	const ssize_t n = readlinkat(fd, name, to, sizeof(to));
	static const char end[] = ", which is not there";
	char *at = n > 0 ? strstr(ret->text, end) : NULL;
	if (!at)
		return;
	span_copy((struct span){to, (size_t)n}, shown, sizeof(shown));
	text_format(at, sizeof(ret->text) - (size_t)(at - ret->text), ", a link to %s%s", shown, end);
	ret->link_old_ns = made_age(w, fd, name);
}

/* When its folder was made, and by whom what is in it. */
static void folder_say(const struct hanglookups *h, const struct lookups_row *r, const struct look *look,
		       struct waithint *ret)
{
	cleanup(closep) int fd = -1;
	const char *name;
	char path[1024];
	if (!lookup_folder(h->w, r, path, sizeof(path), &name, &fd))
		return;
	const char *last = strrchr(r->path, '/');
	if (strcmp(name, last ? last + 1 : r->path) == 0) { /* its own folder is there */
		ret->old_ns = made_age(h->w, fd, "");
		if (ret->missing)
			link_say(h->w, fd, name, ret);
	}
	makers_say(h, r, fd, name, look, ret);
}

/*
 * "looks again and again for /data/done.3, which is not there (done.0 is)"; of a long path the end is shown. beside may
 * be NULL.
 */
static void lookup_say(const struct hanglookups *h, const struct lookups_row *r, const struct lookups_row *beside,
		       const struct look *look, struct waithint *ret)
{
	char shown[96], other[24] = "";
	row_show(h->w, r, shown, sizeof(shown));
	const char *name = beside ? strrchr(beside->path, '/') : NULL;
	if (beside)
		span_copy(span_of(name ? name + 1 : beside->path), other, sizeof(other));
	ret->others_there = beside || own_mark(h, r, other, sizeof(other));
	TEXT_FORMAT(ret->text, "looks again and again for %s, which is not there%s%s%s", shown, other[0] ? " (" : "",
		    other, other[0] ? " is)" : "");
	folder_say(h, r, look, ret);
}

/* A lock that is a file or folder, which it would make. */
static void exists_say(const struct hanglookups *h, const struct lookups_row *r, const struct look *look,
		       struct waithint *ret)
{
	char path[1024], shown[96];
	*ret = (struct waithint){.kind = WAITHINT_RETRY, .pid = r->pid, .tid = r->tid, .exists = true};
	row_show(h->w, r, shown, sizeof(shown));
	TEXT_FORMAT(ret->text, "tries again and again to make %s, which is there already", shown);
	folder_say(h, r, look, ret);
	lookups_path(h->w, r, path, sizeof(path));
	ret->old_ns = procfile_changed_ns(h->w, r->pid, path);
}

/* The file that a process has open as fd to read, and from where on it is read. False: it is none. */
static bool read_file(const struct world *w, pid_t pid, int fd, char *path, size_t cap, uint64_t *ret_pos)
{
	char name[40];
	cleanup(freep) char *text = NULL;
	size_t len;
	TEXT_FORMAT(name, "%d/fd/%d", (int)pid, fd);
	const ssize_t n = readlinkat(w->proc_fd, name, path, cap - 1);
	path[n > 0 && (size_t)n + 1 < cap ? (size_t)n : 0] = '\0';
	if (path[0] != '/')
		return false;
	TEXT_FORMAT(name, "%d/fdinfo/%d", (int)pid, fd);
	return file_slurp(w->proc_fd, name, 4096, &text, &len) == 0 && !procfile_writes_parse(text) &&
	       text_field_u64((struct span){text, len}, "pos", ret_pos) == 0;
}

/*
 * Of a main thread that naps, and asks for no file: one that its process has open, and that was made shorter than the
 * place from which it reads on. Nothing comes of that until the file is longer again.
 */
static bool behind_say(const struct hanglookups *h, const struct waitfact_thread *t, struct waithint *ret)
{
	const int files_most = 64;
	struct lookups_row r = {.pid = t->pid, .tid = t->tid, .folder = LOOKUPS_CWD};
	char shown[96];
	for (int fd = 3; t->tid == t->pid && t->timed && fd < files_most; fd++) {
		cleanup(closep) int file = -1;
		struct stat st;
		uint64_t pos = 0;
		if (!read_file(h->w, t->pid, fd, r.path, sizeof(r.path), &pos) || pos == 0 ||
		    procfile_open(h->w, t->pid, r.path, 0, &file) != 0 || fstat(file, &st) < 0 ||
		    pos <= (uint64_t)st.st_size)
			continue;
		*ret = (struct waithint){.kind = WAITHINT_RETRY, .pid = t->pid, .tid = t->tid, .behind = true};
		row_show(h->w, &r, shown, sizeof(shown));
		TEXT_FORMAT(ret->text, "reads on from byte %llu of %s, which has %llu bytes by now",
			    (unsigned long long)pos, shown, (unsigned long long)st.st_size);
		return true;
	}
	return false;
}

/* Of two rows of a thread the one that says more of what it waits for. */
static bool says_more(const struct lookups_row *a, const struct lookups_row *b)
{
	return a->n != b->n ? a->n > b->n : a->last_ns > b->last_ns;
}

enum answer { LOOKUP_MISSING, LOOKUP_FOUND, LOOKUP_EXISTS };

static enum answer answer_of(const struct lookups_row *r)
{
	return r->exists ? LOOKUP_EXISTS : r->found ? LOOKUP_FOUND : LOOKUP_MISSING;
}

/* Of the rows of a thread with this answer the one that is asked for most; NULL: none. */
static const struct lookups_row *best_of(const struct hanglookups *h, size_t n_rows, const struct waitfact_thread *t,
					 enum answer answer, size_t *ret_n)
{
	const struct lookups_row *best = NULL;
	*ret_n = 0;
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		if (r->inode || !r->path[0] || answer_of(r) != answer || r->pid != t->pid || r->tid != t->tid ||
		    r->n < lookups_least || is_of_the_system(r->path))
			continue;
		++*ret_n;
		if (!best || says_more(r, best))
			best = r;
	}
	return best;
}

/* It also asks whether that is there: who makes a folder that may be there already. */
static bool is_asked_for(const struct hanglookups *h, size_t n_rows, const struct lookups_row *of)
{
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		if (r->found && r->pid == of->pid && r->tid == of->tid && r->folder == of->folder &&
		    strcmp(r->path, of->path) == 0)
			return true;
	}
	return false;
}

/* The lock that a thread has tried most often without getting it; NULL: none. */
static const struct lookups_row *lock_of(const struct hanglookups *h, size_t n_rows, const struct waitfact_thread *t)
{
	const struct lookups_row *best = NULL;
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		if (r->inode && r->pid == t->pid && r->tid == t->tid && r->n >= lookups_least &&
		    (!best || says_more(r, best)))
			best = r;
	}
	return best;
}

/* Who has the lock is a process that is none of the job's. */
static void holder_say(const struct hanglookups *h, pid_t holder, struct waithint *ret)
{
	struct proc_stat stat;
	char name[PROC_COMM_MAX] = "";
	if (proc_stat_read(h->w, holder, &stat) == 0)
		span_copy(span_of(stat.comm), name, sizeof(name));
	ret->kind = WAITHINT_RETRY;
	ret->held = true;
	const size_t len = strlen(ret->text);
	text_format(ret->text + len, sizeof(ret->text) - len, ", which process %d%s%s%s has", (int)holder,
		    name[0] ? " (" : "", name, name[0] ? ")" : "");
}

/* Who has the lock of one file: many threads try the same one, so it is looked up once. */
struct held_file {
	uint32_t dev;
	uint64_t inode; /* 0: none was looked up */
	struct hanglocks_holder holder[HANGLOCKS_HOLDERS];
	size_t n;
	size_t files; /* that were looked up so far */
};

/* False: too many other files were looked up. */
static bool held_look(const struct hanglookups *h, const struct waitfacts *facts, const struct lookups_row *r,
		      struct held_file *f)
{
	if (f->inode == r->inode && f->dev == r->dev)
		return true;
	if (f->files++ >= LOCKED_FILES_MOST)
		return false;
	f->n = hanglocks_holders(h->w, r, facts, f->holder);
	f->inode = r->inode;
	f->dev = r->dev;
	return true;
}

/* Hints of who has the lock that a thread tries; returns their number. */
static size_t lock_hints(const struct hanglookups *h, const struct waitfacts *facts, const struct lookups_row *r,
			 struct held_file *f, struct waithint *ret, size_t cap)
{
	size_t n = 0;
	char name[80];
	for (size_t i = 0; held_look(h, facts, r, f) && i < f->n && n < cap; i++) {
		const pid_t pid = f->holder[i].pid;
		if (pid == r->pid)
			continue;
		ret[n] = (struct waithint){
			.kind = WAITHINT_OWNER, .pid = r->pid, .tid = r->tid, .owner_pid = pid, .owner_tid = pid};
		hanglocks_name(h->w, &f->holder[i], name, sizeof(name));
		TEXT_FORMAT(ret[n].text, "tries again and again to lock %s", name[0] ? name : "a file");
		if (!waitfacts_process(facts, pid))
			holder_say(h, pid, &ret[n]);
		n++;
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		ret[i].one_of = true;
	return n;
}

/*
 * True of a main thread that sleeps several times and makes no other call. Where many rows are in use one may have been
 * lost.
 */
static bool only_sleeps(const struct hanglookups *h, size_t n_rows, const struct waitfact_thread *t)
{
	const uint64_t sleeps_least = 3;
	uint64_t sleeps = 0;
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		if (r->pid != t->pid || r->tid != t->tid || r->taken || r->waited)
			continue;
		if (!r->calls || !r->found)
			return false;
		sleeps = r->n;
	}
	return sleeps >= sleeps_least && n_rows < LOOKUPS_ROWS / 2;
}

/* True of a thread that sleeps: what it has waited for in vain before is not seen by where it waits now. */
static bool sleeps_now(const struct waitfacts *facts, pid_t pid, pid_t tid)
{
	const struct waitfact_thread *t = waitfacts_thread(facts, pid, tid);
	return !t || t->n == 0 || facts->fact[t->first].kind == WAITFACT_CLOCK;
}

/* True if each process that has threads was watched from the beginning. */
static bool all_watched(const struct hanglookups *h, const struct waitfacts *facts)
{
	for (size_t i = 0; i < facts->n_processes; i++) {
		const struct waitfact_process *p = &facts->process[i];
		size_t k = 0;
		while (k < h->n_watched && h->watched[k] != p->pid)
			k++;
		if (p->wanted && p->n_threads > 0 && k == h->n_watched)
			return false;
	}
	return true;
}

/* True if a process of the job has taken something in at the other end of this connection: it is within the job. */
static bool has_both_ends(const struct hanglookups *h, size_t n_rows, const struct waitfacts *facts,
			  const struct lookups_row *of)
{
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		const bool other = r->asked && r->end == of->other_end && r->other_end == of->end;
		const struct waitfact_process *p = other ? waitfacts_process(facts, r->pid) : NULL;
		if (p && p->wanted)
			return true;
	}
	return of->end == 0 && of->other_end == 0;
}

/*
 * True if no thread of the job has taken anything in for some seconds: what others have made, files, answers,
 * connections. What it waits for in vain is seen by its facts, but of one that sleeps between such waits. What its
 * processes tell each other is no news of others: *ret_asks.
 */
static bool is_closed(const struct hanglookups *h, size_t n_rows, const struct waitfacts *facts, bool *ret_asks)
{
	const uint64_t least_ns = 3 * NS_PER_S;
	*ret_asks = false;
	if (n_rows >= LOOKUPS_ROWS / 2 || facts->n_threads == 0 || h->w->mono_ns() - h->began_ns < least_ns ||
	    !all_watched(h, facts))
		return false;
	for (size_t k = 0; k < n_rows; k++) {
		const struct lookups_row *r = &h->row[k];
		if (!waitfacts_process(facts, r->pid))
			continue;
		if (r->taken || (r->waited && sleeps_now(facts, r->pid, r->tid)) ||
		    (r->asked && !has_both_ends(h, n_rows, facts, r)))
			return false;
		*ret_asks |= r->asked;
	}
	return true;
}

/* The process of the job whose folder in /proc is asked for, as by who waits for its end; 0: it is none. */
static pid_t asked_process(const struct waitfacts *facts, const char *path)
{
	static const char proc[] = "proc/";
	const char *number = path + sizeof(proc);
	uint64_t pid;
	if (path[0] != '/' || strncmp(path + 1, proc, sizeof(proc) - 1) != 0)
		return 0;
	if (span_u64((struct span){number, strcspn(number, "/")}, &pid) < 0 || pid > INT32_MAX)
		return 0;
	return waitfacts_process(facts, (pid_t)pid) ? (pid_t)pid : 0;
}

size_t hanglookups_hints(struct hanglookups *h, const struct waitfacts *facts, const struct filehist *files,
			 struct waithint *ret, size_t cap)
{
	const struct look look = {.facts = facts, .files = files};
	const size_t few = 2; /* who asks for more files watches them for changes */
	size_t n_rows = 0, n = 0, of;
	char shown[96];
	struct held_file file = {.inode = 0};
	if (!h || !h->on || lookups_take(h->bpf, h->row, LOOKUPS_ROWS, &n_rows) < 0)
		return 0;
	bool asks;
	if (cap > 0 && is_closed(h, n_rows, facts, &asks))
		ret[n++] = (struct waithint){.kind = WAITHINT_CLOSED,
					     .pid = facts->thread[0].pid,
					     .tid = facts->thread[0].tid,
					     .asks = asks};
	for (size_t i = 0; i < facts->n_threads && n < cap; i++) {
		const struct waitfact_thread *t = &facts->thread[i];
		if (only_sleeps(h, n_rows, t)) {
			ret[n++] = (struct waithint){.kind = WAITHINT_SLEEPS, .pid = t->pid, .tid = t->tid};
			continue;
		}
		const struct lookups_row *lock = lock_of(h, n_rows, t);
		const size_t held = lock ? lock_hints(h, facts, lock, &file, ret + n, cap - n) : 0;
		n += held;
		if (held || n == cap)
			continue;
		const struct lookups_row *best = best_of(h, n_rows, t, LOOKUP_MISSING, &of);
		ret[n] = (struct waithint){.kind = WAITHINT_RETRY, .pid = t->pid, .tid = t->tid, .missing = best};
		if (best) {
			lookup_say(h, best, found_beside(h, n_rows, best), &look, &ret[n++]);
			continue;
		}
		best = best_of(h, n_rows, t, LOOKUP_EXISTS, &of);
		if (best && of <= few && !is_asked_for(h, n_rows, best)) {
			exists_say(h, best, &look, &ret[n++]);
			continue;
		}
		best = best_of(h, n_rows, t, LOOKUP_FOUND, &of);
		if (!best && behind_say(h, t, &ret[n]))
			n++;
		if (!best || of > few)
			continue;
		row_show(h->w, best, shown, sizeof(shown));
		TEXT_FORMAT(ret[n].text, "asks again and again for %s, which is there", shown);
		folder_say(h, best, &look, &ret[n]);
		ret[n].owner_pid = asked_process(facts, best->path);
		ret[n++].old_ns = 0;
	}
	return n;
}
