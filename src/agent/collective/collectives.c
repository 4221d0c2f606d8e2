#include "agent/collective/collectives_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "sense/proc/maps.h"
#include "sense/proc/procfile.h"

#define RANKS_MAX 8192
#define ENVIRON_MAX (256 * KIB)
#define FILES_MAX 16384
#define TASKS_CAP 32768
#define DUMP_POLL_NS (200 * NS_PER_MS)

static int add_dump(struct collectives *c, int32_t rank, struct flightrec *r)
{
	int e = collective_add_flightrec(c->set, rank, r);
	if (r->cut)
		collectives_note(c, "rank %d: its dump is not whole: %s; %zu calls of it were read", rank, r->why,
				 r->n_entries);
	flightrec_done(r);
	c->n_read += e == 0;
	return e;
}

static int add_ring(struct collectives *c, int32_t rank, struct ncclring *r)
{
	int e = collective_add_ring(c->set, rank, r);
	ncclring_done(r);
	c->n_read += e == 0;
	return e;
}

/* A ring names its own rank; a dump's rank is the number at the end of its file name. False: no rank is known. */
static bool collectives_file_rank(const char *path, const struct ncclring *r, int32_t *ret)
{
	if (r && r->rank != NCCLRING_NO_RANK) {
		*ret = r->rank;
		return true;
	}
	return !r && flightrec_rank_of(path, ret);
}

static int add_ras_text(struct collectives *c, const char *path, struct span bytes, const char *first)
{
	struct ncclras_report r = {.n_comms = 0};
	struct fault f = {.text = ""};
	int e = ncclras_parse(bytes, &r, &f);
	if (e > 0)
		collectives_note(c, "%s: %s", path, first);
	if (e)
		return e < 0 ? e : 0;
	e = collective_add_ras(c->set, &r, NULL, NULL, 0);
	ncclras_done(&r);
	c->n_read += e == 0;
	return e;
}

static int add_bytes(struct collectives *c, const char *path, struct span bytes)
{
	struct fault f = {.text = ""};
	int32_t rank;
	int e;
	if (bytes.len >= 8 && memcmp(bytes.p, "vigilncc", 8) == 0) {
		struct ncclring ring = {.n_calls = 0};
		e = ncclring_parse(bytes, &ring, &f);
		if (e == 0 && collectives_file_rank(path, &ring, &rank))
			return add_ring(c, rank, &ring);
		if (e >= 0)
			collectives_note(c, "%s: %s", path,
					 e ? f.text : "its process had no RANK: whose calls these are is not known");
		if (e == 0)
			ncclring_done(&ring);
		return e < 0 ? e : 0;
	}
	struct flightrec dump = {.n_entries = 0};
	e = flightrec_parse(bytes, &dump, &f);
	if (e == FLIGHTREC_FOREIGN)
		return add_ras_text(c, path, bytes, f.text);
	if (e)
		return e;
	if (collectives_file_rank(path, NULL, &rank))
		return add_dump(c, rank, &dump);
	flightrec_done(&dump);
	collectives_note(c, "%s: its name does not end in the number of a rank, as nccl_trace_rank_3 does", path);
	return 0;
}

static int add_file(struct collectives *c, int dirfd, const char *name, const char *shown)
{
	cleanup(freep) char *bytes = NULL;
	size_t len = 0;
	struct foreign_user owner;
	const struct foreign_place at = {
		.dirfd = dirfd, .as = dirfd < 0 ? NULL : foreign_owner(dirfd, &owner), .flags = FOREIGN_LINKS};
	cleanup(closep) int fd = -1;
	/* What a person names may be a pipe; what lies in a folder may be anything. */
	int e = dirfd < 0 ? foreign_path_input(name, 0, &fd) : foreign_open(&at, name, &fd);
	if (e == FOREIGN_OTHER && dirfd >= 0)
		e = -EINVAL;
	if (e == 0)
		e = file_slurp_fd(fd, FLIGHTREC_FILE_MAX, &bytes, &len);
	if (e == -ENOMEM)
		return e;
	if (e) {
		collectives_note(c, "%s: cannot be read: %s", shown, foreign_path_why(e));
		return 0;
	}
	return add_bytes(c, shown, (struct span){bytes, len});
}

/* Reads the files of a folder whose names end in the number of a rank. */
static int add_folder(struct collectives *c, const char *path)
{
	cleanup(closedirp) DIR *d = opendir(path);
	int e = 0;
	int32_t rank;
	size_t n = 0;
	if (!d) {
		collectives_note(c, "%s: cannot be read: %s", path, strerror(errno));
		return 0;
	}
	for (struct dirent *entry = readdir(d); entry && e == 0 && n < FILES_MAX; entry = readdir(d)) {
		char shown[512];
		if (entry->d_name[0] == '.' || !flightrec_rank_of(entry->d_name, &rank))
			continue;
		TEXT_FORMAT(shown, "%s/%s", path, entry->d_name);
		e = add_file(c, dirfd(d), entry->d_name, shown);
		n++;
	}
	if (n == 0)
		collectives_note(c, "%s: no file in it has a name that ends in the number of a rank", path);
	return e;
}

/* Closes the set. Ranks that are members of a group but have no source get `why`. */
static int collectives_finish(struct collectives *c, const char *why)
{
	int e = collective_seal(c->set);
	for (size_t i = 0; e == 0 && i < c->set->n_ranks; i++)
		if (!c->set->ranks[i].sources && !c->set->ranks[i].why[0])
			TEXT_COPY(c->set->ranks[i].why, why);
	return e;
}

int collectives_of_files(char **paths, size_t n, struct collectives *ret)
{
	struct collectives c = {.set = collective_new()};
	int e = c.set ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && e == 0; i++) {
		struct stat st;
		if (stat(paths[i], &st) != 0)
			collectives_note(&c, "%s: %s", paths[i], strerror(errno));
		else
			e = S_ISDIR(st.st_mode) ? add_folder(&c, paths[i]) : add_file(&c, AT_FDCWD, paths[i], paths[i]);
	}
	if (e == 0)
		e = collectives_finish(&c, "no dump of it was given");
	if (e) {
		collectives_done(&c);
		return e;
	}
	*ret = c;
	return 0;
}

static void ranks_done(struct ranks *r)
{
	for (size_t i = 0; i < r->n; i++)
		closep(&r->row[i].root_fd);
	free(r->row);
}

static struct foreign_place place_of(const struct living *l)
{
	return (struct foreign_place){.dirfd = l->root_fd, .as = &l->user, .flags = FOREIGN_IN_ROOT};
}

static void rank_read(const struct world *w, int32_t rank, pid_t pid, struct living *l, struct collectives *c)
{
	cleanup(freep) char *text = malloc(ENVIRON_MAX);
	size_t len = 0;
	*l = (struct living){.rank = rank, .pid = pid, .root_fd = -1};
	int e = text ? proc_environ_read(w, l->pid, text, ENVIRON_MAX, &len) : -ENOMEM;
	struct proc_stat stat;
	if (proc_stat_read(w, l->pid, &stat) == 0)
		l->start_ticks = stat.start_ticks;
	if (e)
		collectives_note(
			c, "rank %d: the environment of process %d cannot be read; the usual places of dumps are tried",
			l->rank, (int)l->pid);
	struct span block = {text, e ? 0 : len};
	flightrec_place(block, &l->place);
	span_copy(environ_get(block, "VIGIL_NCCL_RING"), l->ring, sizeof(l->ring));
	span_copy(environ_get(block, "NCCL_RAS_ADDR"), l->ras, sizeof(l->ras));
	span_copy(environ_get(block, "NCCL_RAS_ENABLE"), l->ras_enable, sizeof(l->ras_enable));
	if (procfile_user(w, l->pid, &l->user) != 0 || procfile_root(w, l->pid, &l->root_fd) != 0)
		l->root_fd = -1;
}

static int find_ranks(const struct world *w, const struct members_want *want, struct ranks *ret, struct collectives *c)
{
	cleanup(members_done) struct members members = {.n = 0};
	struct tasks own;
	int e = tasks_init(&own, TASKS_CAP, -1);
	if (e)
		return e;
	cleanup(tasks_done) struct tasks tasks = own;
	e = tasks_scan(&tasks, w);
	if (e == 0)
		e = members_read(w, &tasks, want, &members);
	if (e)
		return e;
	ret->row = calloc(MAX(members.n, (size_t)1), sizeof(*ret->row));
	if (!ret->row)
		return -ENOMEM;
	ret->none_left = members.n == 0;
	for (size_t i = 0; i < members.n && ret->n < RANKS_MAX; i++) {
		const struct member *m = &members.row[i];
		if (m->who.rank == NO_RANK || (m->who.role != ROLE_MAIN && m->who.role != ROLE_RAY_WORKER))
			continue;
		rank_read(w, m->who.rank, m->task->pid, &ret->row[ret->n], c);
		ret->n++;
	}
	return 0;
}

static int take_ranks(const struct world *w, const struct collectives_want *want, struct ranks *ret,
		      struct collectives *c)
{
	if (want->members)
		return find_ranks(w, want->members, ret, c);
	ret->row = calloc(MAX(want->n_ranks, (size_t)1), sizeof(*ret->row));
	if (!ret->row)
		return -ENOMEM;
	for (; ret->n < MIN(want->n_ranks, (size_t)RANKS_MAX); ret->n++)
		rank_read(w, want->ranks[ret->n].rank, want->ranks[ret->n].pid, &ret->row[ret->n], c);
	return 0;
}

static int64_t mtime_ns(const struct living *l, const char *path)
{
	const struct foreign_place at = place_of(l);
	cleanup(closep) int fd = -1;
	struct stat st;
	if (l->root_fd < 0 || foreign_open_own(&at, path, &fd) != 0 || fstat(fd, &st) != 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec;
}

static int64_t dump_ns(const struct living *l)
{
	int64_t newest = 0;
	char path[576];
	for (size_t i = 0; i < l->place.n; i++) {
		TEXT_FORMAT(path, "%s%d", l->place.prefix[i], l->rank);
		newest = MAX(newest, mtime_ns(l, path));
	}
	return newest;
}

static int ask_one(const struct living *l)
{
	const struct foreign_place at = place_of(l);
	const char *prefix = l->place.pipe_prefix;
	return prefix[0] && l->root_fd >= 0 ? flightrec_ask(&at, prefix, l->rank) : FLIGHTREC_NONE;
}

/*
 * Asks the ranks for dumps and waits for them. The training goes on while a rank writes its dump; a rank that is asked
 * and writes none is stuck before it.
 */
static void ask_dumps(const struct world *w, struct ranks *r, uint64_t deadline_ns, struct collectives *c)
{
	size_t asked = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct living *l = &r->row[i];
		l->dumped_ns = dump_ns(l);
		int e = ask_one(l);
		l->read = e != 0; /* true: no dump to wait for */
		asked += e == 0;
		if (e == FLIGHTREC_NOBODY)
			collectives_note(c, "rank %d: nobody listens at its pipe for dumps any more", l->rank);
	}
	if (asked == 0)
		collectives_note(
			c, "no rank can be asked for a dump: TORCH_NCCL_DEBUG_INFO_PIPE_FILE is not set in the job");
	while (asked && w->mono_ns() < deadline_ns) {
		asked = 0;
		for (size_t i = 0; i < r->n; i++) {
			struct living *l = &r->row[i];
			l->read |= dump_ns(l) > l->dumped_ns;
			asked += !l->read;
		}
		if (asked)
			collectives_pause(w, MIN(w->mono_ns() + DUMP_POLL_NS, deadline_ns));
	}
}

static int read_dump(const struct world *w, struct collectives *c, const struct living *l, int64_t since_unix_ms,
		     bool *ret_found)
{
	const int64_t ahead_ms = 60 * 1000; /* tolerated advance of a file server's clock */
	for (size_t i = 0; i < l->place.n && l->root_fd >= 0; i++) {
		char path[576];
		struct flightrec dump = {.n_entries = 0};
		struct fault f = {.text = ""};
		TEXT_FORMAT(path, "%s%d", l->place.prefix[i], l->rank);
		int64_t written_ns = since_unix_ms ? mtime_ns(l, path) : 0;
		if (written_ns && written_ns / (int64_t)NS_PER_MS < since_unix_ms) {
			collectives_note(c, "rank %d: %s is of an earlier time", l->rank, path);
			continue;
		}
		if (written_ns / (int64_t)NS_PER_MS > w->unix_ms() + ahead_ms) {
			collectives_note(c, "rank %d: %s is of a time to come: a clock was wrong", l->rank, path);
			continue;
		}
		const struct foreign_place at = place_of(l);
		int e = flightrec_read(&at, path, &dump, &f);
		if (e == -ENOMEM)
			return e;
		if (e == 0) {
			*ret_found = true;
			return add_dump(c, l->rank, &dump);
		}
		if (e != FLIGHTREC_NONE && e != -ELOOP)
			collectives_note(c, "rank %d: %s", l->rank, f.text);
	}
	return 0;
}

static int read_ring(const struct world *w, struct collectives *c, const struct living *l, bool *ret_found)
{
	struct ncclring ring = {.n_calls = 0};
	struct fault f = {.text = ""};
	struct proc_status status;
	char path[576];
	int e = NCCLRING_NONE;
	if (l->root_fd >= 0 && proc_status_read(w, l->pid, &status) == 0) {
		const struct foreign_place at = place_of(l);
		/* the path is in the process's own view of the files, and ends in its own pid number */
		if (l->ring[0])
			TEXT_FORMAT(path, "%s%d", l->ring, (int)status.ns_pid);
		else
			TEXT_FORMAT(path, "/dev/shm/vigil-nccl-%u.%d", (unsigned)status.uid, (int)status.ns_pid);
		e = ncclring_read(&at, path, &ring, &f);
	}
	if (e == -ENOMEM)
		return e;
	if (e == NCCLRING_FOREIGN || e == -ETIMEDOUT)
		collectives_note(c, "rank %d: %s", l->rank, f.text);
	if (e)
		return 0;
	*ret_found = true;
	return add_ring(c, l->rank, &ring);
}

/* True: a library of NCCL is mapped. The name of torch alone proves nothing, since torch also computes without NCCL. */
static bool has_nccl(const struct world *w, pid_t pid)
{
	struct maps maps;
	bool has = false;
	if (maps_read(w, pid, &maps) != 0)
		return false;
	for (size_t i = 0; i < maps.n && !has; i++)
		has = strstr(maps.rows[i].path, "/libnccl") || strstr(maps.rows[i].path, "/libtorch_cuda");
	maps_done(&maps);
	return has;
}

static bool is_used(const struct world *w, const struct ranks *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].place.named || r->row[i].place.pipe_prefix[0] || r->row[i].ring[0])
			return true;
	for (size_t i = 0; i < MIN(r->n, (size_t)8); i++)
		if (has_nccl(w, r->row[i].pid))
			return true;
	return false;
}

static int collectives_gather(const struct world *w, const struct ranks *r, const struct collectives_want *want,
			      uint64_t deadline_ns, struct collectives *c)
{
	int e = 0;
	for (size_t i = 0; i < r->n && e == 0; i++) {
		bool found = false;
		e = read_dump(w, c, &r->row[i], want->dumps_since_unix_ms, &found);
		if (e == 0)
			e = read_ring(w, c, &r->row[i], &found);
		if (e == 0 && !found)
			e = collective_add_absent(
				c->set, r->row[i].rank,
				"no Flight Recorder dump and no ring of vigil's NCCL plugin is there");
	}
	if (e == 0 && !want->no_ras)
		e = collectives_ras(w, r, want, deadline_ns, c);
	return e;
}

int collectives_of_job(const struct world *w, const struct collectives_want *want, struct collectives *ret)
{
	struct collectives c = {.set = collective_new()};
	cleanup(ranks_done) struct ranks r = {.n = 0};
	uint64_t deadline_ns = w->mono_ns() + want->limit_ns;
	uint64_t dumps_ns = want->dumps_limit_ns ? w->mono_ns() + want->dumps_limit_ns : deadline_ns;
	int e = c.set ? take_ranks(w, want, &r, &c) : -ENOMEM;
	bool wanted = r.n && (!want->only_if_used || is_used(w, &r));
	if (e == 0 && r.n == 0)
		collectives_note(
			&c, "%s",
			r.none_left ? "no process of it is left on this machine, and no calls of NCCL's were kept "
				      "(vigil run --collectives keeps them; dumps of PyTorch's Flight Recorder can be "
				      "given as files)"
				    : "no process of it has a rank (RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK) on this "
				      "machine");
	if (e == 0 && wanted && want->ask_dumps)
		ask_dumps(w, &r, MIN(dumps_ns, deadline_ns), &c);
	if (e == 0 && wanted)
		e = collectives_gather(w, &r, want, deadline_ns, &c);
	if (e == 0)
		e = collectives_finish(&c, "it is not on this machine, and nothing of it was given");
	if (e) {
		collectives_done(&c);
		return e;
	}
	*ret = c;
	return 0;
}
