#include "sense/memory/shmtext.h"

#include <limits.h>
#include <string.h>

/* The mount point is fixed by glibc (shm_open), not by configuration. */
static const char shm_mount[] = "/dev/shm/";
static const char deleted_mark[] = " (deleted)";

static bool hex_take(struct span *rest, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;
	for (; i < rest->len && i < 16; i++) {
		char c = rest->p[i];
		unsigned digit;
		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a' + 10);
		else
			break;
		v = v << 4 | digit;
	}
	if (i == 0)
		return false;
	rest->p += i;
	rest->len -= i;
	*ret = v;
	return true;
}

static bool char_take(struct span *rest, char c)
{
	if (rest->len == 0 || rest->p[0] != c)
		return false;
	rest->p++;
	rest->len--;
	return true;
}

static bool mark_take(struct span *path)
{
	size_t n = sizeof(deleted_mark) - 1;
	if (path->len < n || memcmp(path->p + path->len - n, deleted_mark, n) != 0)
		return false;
	path->len -= n;
	return true;
}

int shmtext_mapping_parse(struct span line, struct shmtext_mapping *ret)
{
	struct shmtext_mapping m = {0};
	struct span rest = line, word;
	uint64_t skipped, major, minor;
	if (!hex_take(&rest, &m.start) || !char_take(&rest, '-') || !hex_take(&rest, &m.end) || m.end < m.start)
		return -EBADMSG;
	if (!span_word(&rest, &word) || word.len != 4) /* rwxp */
		return -EBADMSG;
	if (!char_take(&rest, ' ') || !hex_take(&rest, &skipped) || !char_take(&rest, ' '))
		return -EBADMSG;
	if (!hex_take(&rest, &major) || !char_take(&rest, ':') || !hex_take(&rest, &minor))
		return -EBADMSG;
	if (major > UINT32_MAX || minor > UINT32_MAX || !span_word(&rest, &word) || span_u64(word, &m.inode) != 0)
		return -EBADMSG;
	m.major = (uint32_t)major;
	m.minor = (uint32_t)minor;
	m.path = span_trim(rest);
	m.deleted = mark_take(&m.path);
	*ret = m;
	return 0;
}

static struct span span_skip(struct span s, size_t n)
{
	return (struct span){s.p + n, s.len - n};
}

enum shm_kind shmtext_kind(struct span path, bool deleted, struct span *ret_name)
{
	*ret_name = path;
	if (span_starts(path, shm_mount)) {
		*ret_name = span_skip(path, sizeof(shm_mount) - 1);
		return deleted ? SHM_DELETED : SHM_FILE;
	}
	if (span_starts(path, "/memfd:")) {
		*ret_name = span_skip(path, strlen("/memfd:"));
		return SHM_MEMFD;
	}
	if (deleted && span_starts(path, "/SYSV")) {
		*ret_name = span_skip(path, strlen("/SYSV"));
		return SHM_SYSV;
	}
	if (deleted && span_eq(path, "/dev/zero"))
		return SHM_ANON;
	return SHM_NONE;
}

enum shm_kind shmtext_link_kind(struct span link, struct span *ret_name)
{
	bool deleted = mark_take(&link);
	return shmtext_kind(link, deleted, ret_name);
}

const char *shm_kind_name(enum shm_kind k)
{
	static const char *const names[] = {"other", "file", "deleted", "memfd", "sysv", "anonymous"};
	return names[MIN((size_t)k, ARRAY_SIZE(names) - 1)];
}

enum sysv_column {
	SYSV_KEY,
	SYSV_ID,
	SYSV_SIZE,
	SYSV_CPID,
	SYSV_NATTCH,
	SYSV_UID,
	SYSV_CTIME,
	SYSV_RSS,
	SYSV_SWAP,
	SYSV_MAX
};
static const char *const sysv_headings[SYSV_MAX] = {
	[SYSV_KEY] = "key",	[SYSV_ID] = "shmid",	  [SYSV_SIZE] = "size",
	[SYSV_CPID] = "cpid",	[SYSV_NATTCH] = "nattch", [SYSV_UID] = "uid",
	[SYSV_CTIME] = "ctime", [SYSV_RSS] = "rss",	  [SYSV_SWAP] = "swap",
};
#define SYSV_WORDS 32

static bool sysv_header(struct span line, int column[static SYSV_MAX])
{
	struct span word;
	for (int c = 0; c < SYSV_MAX; c++)
		column[c] = -1;
	for (int i = 0; i < SYSV_WORDS && span_word(&line, &word); i++)
		for (int c = 0; c < SYSV_MAX; c++)
			if (column[c] < 0 && span_eq(word, sysv_headings[c]))
				column[c] = i;
	for (int c = 0; c <= SYSV_CTIME; c++)
		if (column[c] < 0)
			return false;
	return true;
}

/* The key is printed as a signed decimal number. */
static bool sysv_row(struct span line, const int column[static SYSV_MAX], struct shmtext_sysv *ret)
{
	uint64_t value[SYSV_MAX] = {0};
	struct span word;
	int64_t key = 0;
	uint32_t found = 0;
	for (int i = 0; i < SYSV_WORDS && span_word(&line, &word); i++)
		for (int c = 0; c < SYSV_MAX; c++) {
			if (column[c] != i)
				continue;
			int r = c == SYSV_KEY ? span_i64(word, &key) : span_u64(word, &value[c]);
			found |= r == 0 ? UINT32_C(1) << c : 0;
		}
	const uint32_t needed = (UINT32_C(1) << (SYSV_CTIME + 1)) - 1;
	if ((found & needed) != needed || value[SYSV_CPID] > INT_MAX || value[SYSV_UID] > UINT32_MAX ||
	    value[SYSV_CTIME] > INT64_MAX / 1000)
		return false;
	*ret = (struct shmtext_sysv){
		.key = (uint32_t)key,
		.id = value[SYSV_ID],
		.size_bytes = value[SYSV_SIZE],
		.rss_bytes = value[SYSV_RSS],
		.swap_bytes = value[SYSV_SWAP],
		.has_rss = found >> SYSV_RSS & 1,
		.creator_pid = (pid_t)value[SYSV_CPID],
		.attached = value[SYSV_NATTCH],
		.uid = (uid_t)value[SYSV_UID],
		.changed_unix_s = (int64_t)value[SYSV_CTIME],
	};
	return true;
}

int shmtext_sysv_parse(struct span text, shmtext_sysv_fn *fn, void *ctx)
{
	struct span line;
	int column[SYSV_MAX];
	if (!span_line(&text, &line) || !sysv_header(line, column))
		return -EBADMSG;
	while (span_line(&text, &line)) {
		struct shmtext_sysv segment;
		if (!sysv_row(line, column, &segment))
			continue;
		int r = fn(ctx, &segment);
		if (r)
			return r;
	}
	return 0;
}

/* pid_after: the pid of the maker follows the prefix. */
static const struct {
	const char *prefix, *maker;
	bool pid_after;
} makers[] = {
	{"torch_", "PyTorch tensors shared between processes", true},
	{"psm_", "Python multiprocessing.shared_memory", false},
	{"wnsm_", "Python multiprocessing.shared_memory", false},
	{"pym-", "Python multiprocessing heap", true},
	{"sem.", "a POSIX semaphore", false},
	{"plasma", "Ray's object store", false},
	{"ray", "Ray", false},
	{"nccl-", "NCCL", false},
	{"cuda.shm.", "CUDA inter-process memory", false},
	{"ucx_shm_", "UCX", false},
	{"vader_segment.", "Open MPI", false},
	{"sm_segment.", "Open MPI", false},
	{"Intel_MPI_", "Intel MPI", false},
	{"mpich_", "MPICH", false},
	{"joblib_memmapping_folder_", "joblib", true},
	{"loky-", "joblib (loky)", true},
	{"pulse-shm-", "PulseAudio", false},
	{"PostgreSQL.", "PostgreSQL", false},
};

const char *shmtext_maker(struct span name, pid_t *ret_pid)
{
	*ret_pid = 0;
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++) {
		if (!span_starts(name, makers[i].prefix))
			continue;
		uint64_t pid;
		struct span rest = span_skip(name, strlen(makers[i].prefix));
		if (makers[i].pid_after && span_u64_prefix(rest, &pid) == 0 && pid > 0 && pid <= INT_MAX)
			*ret_pid = (pid_t)pid;
		return makers[i].maker;
	}
	return NULL;
}
