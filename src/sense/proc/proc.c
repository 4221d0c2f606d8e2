#include "sense/proc/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask/mask.h"
#include "sense/lockwait.h"

/* include/linux/sched.h: the task runs no user program. */
#define PF_KTHREAD UINT64_C(0x00200000)

/* status has about 60 lines; stat is one line of at most 52 numbers. */
#define PROC_TEXT_MAX 4096

typedef int file_reader(int fd, char *buf, size_t cap, size_t *ret_len);

static int pid_file_by(file_reader *read, const struct world *w, pid_t pid, const char *file, char *buf, size_t cap,
		       size_t *ret_len)
{
	char path[64];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/%s", pid, file);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	return world_condition(fd < 0 ? -errno : read(fd, buf, cap, ret_len));
}

/* Reads a file that the kernel returns in one read. */
static int pid_file_once(const struct world *w, pid_t pid, const char *file, char *buf, size_t cap, size_t *ret_len)
{
	return pid_file_by(file_read_once, w, pid, file, buf, cap, ret_len);
}

/* Reads a file that the kernel returns page by page. */
static int pid_file_read(const struct world *w, pid_t pid, const char *file, char *buf, size_t cap, size_t *ret_len)
{
	return pid_file_by(file_read_fd, w, pid, file, buf, cap, ret_len);
}

/* The same of a file that takes the memory lock of the process (sense/lockwait). */
static int pid_file_locked(file_reader *read, const struct world *w, pid_t pid, const char *file, char *buf, size_t cap,
			   size_t *ret_len)
{
	int r = lockwait_ask(w->proc_fd, pid);
	return r != 0 ? r : pid_file_by(read, w, pid, file, buf, cap, ret_len);
}

static uint64_t kib_bytes(uint64_t kib)
{
	return kib > UINT64_MAX / KIB ? UINT64_MAX : kib * KIB;
}

/* Skips some blank-separated words and parses the next one as a number. */
static int words_u64(struct span *rest, size_t skip, uint64_t *ret)
{
	struct span word;
	for (size_t i = 0; i <= skip; i++)
		if (!span_word(rest, &word))
			return -EBADMSG;
	return span_u64(word, ret) < 0 ? -EBADMSG : 0;
}

static int words_pid(struct span *rest, pid_t *ret)
{
	struct span word;
	int64_t v;
	if (!span_word(rest, &word) || span_i64(word, &v) < 0 || v < INT32_MIN || v > INT32_MAX)
		return -EBADMSG;
	*ret = (pid_t)v;
	return 0;
}

/* "pid (name) state …": the name may hold any character, so it ends at the last ')'. */
static int stat_head_parse(struct span text, struct proc_stat *ret, struct span *ret_rest)
{
	const char *open = memchr(text.p, '(', text.len);
	const char *close = span_rfind(text, ")");
	if (!open || !close || close < open)
		return -EBADMSG;
	struct span head = {text.p, (size_t)(open - text.p)};
	if (words_pid(&head, &ret->pid) < 0)
		return -EBADMSG;
	span_copy((struct span){open + 1, (size_t)(close - open - 1)}, ret->comm, sizeof(ret->comm));
	mask_name(ret->comm);
	struct span rest = {close + 1, (size_t)(text.p + text.len - close - 1)};
	struct span state;
	if (!span_word(&rest, &state) || state.len != 1)
		return -EBADMSG;
	ret->state = state.p[0];
	*ret_rest = rest;
	return 0;
}

int proc_stat_parse(struct span text, struct proc_stat *ret)
{
	struct proc_stat s = {};
	struct span rest;
	uint64_t flags, threads, reaped_user, reaped_system;
	/* The numbers are the counts of words that are skipped. */
	if (text.len == 0 || stat_head_parse(text, &s, &rest) < 0 || words_pid(&rest, &s.ppid) < 0 ||
	    words_pid(&rest, &s.pgrp) < 0 || words_pid(&rest, &s.session) < 0 || words_u64(&rest, 2, &flags) < 0 ||
	    words_u64(&rest, 0, &s.minor_faults) < 0 || words_u64(&rest, 0, &s.reaped_faults) < 0 ||
	    words_u64(&rest, 0, &s.major_faults) < 0 || words_u64(&rest, 1, &s.utime_ticks) < 0 ||
	    words_u64(&rest, 0, &s.stime_ticks) < 0 || words_u64(&rest, 0, &reaped_user) < 0 ||
	    words_u64(&rest, 0, &reaped_system) < 0 || words_u64(&rest, 2, &threads) < 0 ||
	    words_u64(&rest, 1, &s.start_ticks) < 0)
		return -EBADMSG;
	if (words_u64(&rest, 0, &s.size_bytes) < 0)
		s.size_bytes = 0;
	s.reaped_ticks = add_cap(reaped_user, reaped_system);
	s.threads = (uint32_t)MIN(threads, UINT32_MAX);
	s.kernel_thread = flags & PF_KTHREAD;
	*ret = s;
	return 0;
}

int proc_stat_read(const struct world *w, pid_t pid, struct proc_stat *ret)
{
	char text[PROC_TEXT_MAX];
	size_t len;
	int r = pid_file_once(w, pid, "stat", text, sizeof(text), &len);
	return r != 0 ? r : proc_stat_parse((struct span){text, len}, ret);
}

bool proc_is_same(const struct world *w, struct proc_id id, struct proc_stat *ret)
{
	return proc_stat_read(w, id.pid, ret) == 0 && ret->start_ticks == id.start_ticks;
}

bool proc_has_ended(const struct world *w, struct proc_id id)
{
	struct proc_stat st;
	int r = proc_stat_read(w, id.pid, &st);
	return r >= 0 && (r > 0 || st.start_ticks != id.start_ticks || proc_is_over(&st));
}

bool proc_has_thread(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

int proc_processor_read(const struct world *w, pid_t pid, pid_t tid, uint32_t *ret)
{
	char path[64], text[PROC_TEXT_MAX];
	size_t len;
	struct proc_stat st;
	struct span rest;
	uint64_t processor;
	TEXT_FORMAT(path, "%d/task/%d/stat", pid, tid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	/* field 39, after 35 skipped words */
	if (stat_head_parse((struct span){text, len}, &st, &rest) < 0 || words_u64(&rest, 35, &processor) < 0)
		return -EBADMSG;
	*ret = (uint32_t)MIN(processor, (uint64_t)UINT32_MAX);
	return 0;
}

int proc_exit_parse(struct span text, int *ret_status)
{
	struct proc_stat st;
	struct span rest;
	uint64_t status;
	/* field 52, after 48 skipped words */
	if (stat_head_parse(text, &st, &rest) < 0 || words_u64(&rest, 48, &status) < 0 || status > UINT16_MAX)
		return -EBADMSG;
	*ret_status = (int)status;
	return 0;
}

int proc_exit_read(const struct world *w, pid_t pid, int *ret_status)
{
	char text[PROC_TEXT_MAX];
	size_t len;
	int r = pid_file_once(w, pid, "stat", text, sizeof(text), &len);
	return r != 0 ? r : proc_exit_parse((struct span){text, len}, ret_status);
}

static bool thread_lives(int task_fd, const char *name)
{
	char path[32], text[PROC_TEXT_MAX];
	size_t len;
	struct proc_stat st;
	uint64_t tid;
	if (span_u64(span_of(name), &tid) < 0)
		return false;
	TEXT_FORMAT(path, "%s/stat", name);
	return file_read_at(task_fd, path, text, sizeof(text), &len) == 0 &&
	       proc_stat_parse((struct span){text, len}, &st) == 0 && st.state != 'Z' && st.state != 'X';
}

pid_t proc_living_thread(const struct world *w, pid_t pid)
{
	char path[32], name[16];
	char entries[1024] __attribute__((aligned(__alignof__(struct dirent64))));
	if (w->proc_fd < 0)
		return 0;
	TEXT_FORMAT(path, "%d/task", pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	TEXT_FORMAT(name, "%d", pid);
	if (fd < 0 || thread_lives(fd, name))
		return fd < 0 ? 0 : pid;
	for (ssize_t got; (got = getdents64(fd, entries, sizeof(entries))) > 0;) {
		for (size_t at = 0; at < (size_t)got;) {
			const struct dirent64 *e = (const void *)(entries + at);
			at += e->d_reclen;
			if (thread_lives(fd, e->d_name))
				return (pid_t)strtol(e->d_name, NULL, 10);
		}
	}
	return 0;
}

static int proc_io_parse(struct span text, struct proc_io *ret)
{
	struct proc_io v;
	if (text_field_u64(text, "rchar", &v.read_call_bytes) < 0 ||
	    text_field_u64(text, "wchar", &v.write_call_bytes) < 0 ||
	    text_field_u64(text, "read_bytes", &v.read_bytes) < 0 ||
	    text_field_u64(text, "write_bytes", &v.written_bytes) < 0)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int proc_io_read(const struct world *w, pid_t pid, struct proc_io *ret)
{
	char text[512];
	size_t len;
	int r = pid_file_once(w, pid, "io", text, sizeof(text), &len);
	return r != 0 ? r : proc_io_parse((struct span){text, len}, ret);
}

int proc_statm_parse(struct span text, struct proc_statm *ret)
{
	struct proc_statm m;
	if (words_u64(&text, 0, &m.size_pages) < 0 || words_u64(&text, 0, &m.resident_pages) < 0 ||
	    words_u64(&text, 0, &m.shared_pages) < 0)
		return -EBADMSG;
	*ret = m;
	return 0;
}

int proc_statm_read(const struct world *w, pid_t pid, struct proc_statm *ret)
{
	char text[256];
	size_t len;
	int r = pid_file_once(w, pid, "statm", text, sizeof(text), &len);
	return r != 0 ? r : proc_statm_parse((struct span){text, len}, ret);
}

/* Parses "Key:  123 kB" to bytes; a missing line gives 0 and false. */
static bool kib_field(struct span text, const char *key, uint64_t *bytes)
{
	uint64_t kib;
	if (text_field_u64(text, key, &kib) < 0)
		return false;
	*bytes = kib_bytes(kib);
	return true;
}

static int hex_u64(struct span s, uint64_t *ret)
{
	uint64_t v = 0;
	if (s.len == 0 || s.len > 16)
		return -EBADMSG;
	for (size_t i = 0; i < s.len; i++) {
		const char *digits = "0123456789abcdef", *d = memchr(digits, s.p[i], 16);
		if (!d)
			return -EBADMSG;
		v = v << 4 | (uint64_t)(d - digits);
	}
	*ret = v;
	return 0;
}

static int status_identity_parse(struct span text, struct proc_status *ret)
{
	struct span field, word;
	uint64_t uid, euid;
	if (text_field(text, "Uid", &field) < 0 || words_u64(&field, 0, &uid) < 0 || words_u64(&field, 0, &euid) < 0 ||
	    uid > UINT32_MAX || euid > UINT32_MAX)
		return -EBADMSG;
	ret->uid = (uid_t)uid;
	ret->euid = (uid_t)euid;
	if (text_field(text, "Pid", &field) < 0 || words_pid(&field, &ret->ns_pid) < 0)
		return -EBADMSG;
	/* NSpid lists the pid in each namespace, the innermost last; kernels before 4.1 have none. */
	if (text_field(text, "NSpid", &field) == 0)
		while (span_word(&field, &word))
			if (words_pid(&word, &ret->ns_pid) < 0)
				return -EBADMSG;
	if (text_field(text, "TracerPid", &field) == 0 && words_pid(&field, &ret->tracer) < 0)
		return -EBADMSG;
	if (text_field(text, "CapEff", &field) == 0 && hex_u64(field, &ret->cap_effective) < 0)
		return -EBADMSG;
	if (text_field(text, "SigCgt", &field) == 0 && hex_u64(field, &ret->handled) < 0)
		return -EBADMSG;
	return 0;
}

int proc_status_parse(struct span text, struct proc_status *ret)
{
	struct proc_status s = {};
	int r = status_identity_parse(text, &s);
	if (r < 0)
		return r;
	s.has_memory = kib_field(text, "VmRSS", &s.rss_bytes);
	(void)kib_field(text, "RssAnon", &s.rss_anon_bytes);
	(void)kib_field(text, "RssFile", &s.rss_file_bytes);
	(void)kib_field(text, "RssShmem", &s.rss_shmem_bytes);
	(void)kib_field(text, "VmSwap", &s.swap_bytes);
	(void)kib_field(text, "HugetlbPages", &s.hugetlb_bytes);
	(void)kib_field(text, "VmHWM", &s.peak_rss_bytes);
	(void)kib_field(text, "VmLck", &s.locked_bytes);
	*ret = s;
	return 0;
}

int proc_status_read(const struct world *w, pid_t pid, struct proc_status *ret)
{
	char text[PROC_TEXT_MAX];
	size_t len;
	int r = pid_file_once(w, pid, "status", text, sizeof(text), &len);
	return r != 0 ? r : proc_status_parse((struct span){text, len}, ret);
}

int proc_rollup_parse(struct span text, struct proc_rollup *ret)
{
	struct proc_rollup v = {};
	if (!kib_field(text, "Rss", &v.rss_bytes) || !kib_field(text, "Pss", &v.pss_bytes))
		return -EBADMSG;
	(void)kib_field(text, "Pss_Anon", &v.pss_anon_bytes);
	(void)kib_field(text, "Pss_File", &v.pss_file_bytes);
	(void)kib_field(text, "Pss_Shmem", &v.pss_shmem_bytes);
	(void)kib_field(text, "Swap", &v.swap_bytes);
	(void)kib_field(text, "SwapPss", &v.swap_pss_bytes);
	(void)kib_field(text, "Shared_Dirty", &v.shared_dirty_bytes);
	static const char *const own[] = {"Private_Clean", "Private_Dirty", "Private_Hugetlb"};
	static const char *const shared[] = {"Shared_Clean", "Shared_Dirty", "Shared_Hugetlb"};
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		uint64_t bytes;
		if (kib_field(text, own[i], &bytes))
			v.private_bytes = add_cap(v.private_bytes, bytes);
		if (kib_field(text, shared[i], &bytes))
			v.shared_bytes = add_cap(v.shared_bytes, bytes);
	}
	*ret = v;
	return 0;
}

int proc_rollup_read(const struct world *w, pid_t pid, struct proc_rollup *ret)
{
	char text[PROC_TEXT_MAX];
	size_t len;
	int r = pid_file_locked(file_read_once, w, pid, "smaps_rollup", text, sizeof(text), &len);
	if (r != 0)
		return r;
	/* The file of kernel threads and zombies is empty. */
	return len == 0 ? WORLD_GONE : proc_rollup_parse((struct span){text, len}, ret);
}

static int comm_read(const struct world *w, pid_t pid, char *dst, size_t cap)
{
	char name[64];
	size_t len;
	int r = pid_file_once(w, pid, "comm", name, sizeof(name), &len);
	if (r != 0)
		return r;
	char clean[64];
	span_copy(span_trim((struct span){name, len}), clean, sizeof(clean));
	mask_name(clean);
	(void)text_format(dst, cap, "[%s]", clean);
	return 0;
}

const char *proc_known_as(const char *comm)
{
	return strcmp(comm, "pt_elastic") == 0 ? "torchrun" : comm;
}

int proc_arguments_read(const struct world *w, pid_t pid, char *dst, size_t cap, size_t *ret_len)
{
	return pid_file_locked(file_read_fd, w, pid, "cmdline", dst, cap, ret_len);
}

int proc_command_read(const struct world *w, pid_t pid, char *dst, size_t cap)
{
	char text[PROC_TEXT_MAX];
	size_t len;
	if (cap == 0)
		return -EINVAL;
	int r = pid_file_locked(file_read_fd, w, pid, "cmdline", text, sizeof(text), &len);
	if (r != 0)
		return r;
	while (len > 0 && text[len - 1] == '\0')
		len--;
	if (len == 0)
		return comm_read(w, pid, dst, cap);
	len = mask_args(text, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	span_copy((struct span){text, len}, dst, cap);
	return 0;
}

int proc_auxv_read(const struct world *w, pid_t pid, uint64_t type, uint64_t *ret)
{
	char text[1024];
	size_t len;
	int r = pid_file_read(w, pid, "auxv", text, sizeof(text), &len);
	if (r != 0)
		return r;
	for (size_t at = 0; at + 16 <= len; at += 16) {
		uint64_t pair[2];
		memcpy(pair, text + at, sizeof(pair));
		if (pair[0] == type) {
			*ret = pair[1];
			return 0;
		}
	}
	return WORLD_ABSENT;
}

int proc_environ_read(const struct world *w, pid_t pid, char *dst, size_t cap, size_t *ret_len)
{
	size_t len;
	if (cap == 0)
		return -EINVAL;
	int r = pid_file_locked(file_read_fd, w, pid, "environ", dst, cap, &len);
	if (r != 0)
		return r;
	while (len > 0 && dst[len - 1] == '\0')
		len--;
	*ret_len = len;
	return 0;
}

struct span environ_get(struct span block, const char *name)
{
	size_t n = strlen(name);
	while (block.len > 0) {
		const char *end = memchr(block.p, '\0', block.len);
		size_t len = end ? (size_t)(end - block.p) : block.len;
		if (len > n && memcmp(block.p, name, n) == 0 && block.p[n] == '=')
			return (struct span){block.p + n + 1, len - n - 1};
		size_t used = end ? len + 1 : len;
		block.p += used;
		block.len -= used;
	}
	return (struct span){NULL, 0};
}

int proc_oom_score_adj_read(const struct world *w, pid_t pid, int *ret)
{
	char text[32];
	size_t len;
	int64_t v;
	int r = pid_file_once(w, pid, "oom_score_adj", text, sizeof(text), &len);
	if (r != 0)
		return r;
	if (span_i64(span_trim((struct span){text, len}), &v) < 0 || v < -1000 || v > 1000)
		return -EBADMSG;
	*ret = (int)v;
	return 0;
}
