#include "sense/proc/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/mask/mask.h"
#include "sense/bpf/records.h"

/* Buffer size: the kernel fills at most 32 KiB per read of an iterator, and folders are read faster in large reads. */
#define TASKS_SCRATCH_BYTES (64 * KIB)

/* An iterator that skipped very many threads answers EAGAIN; a few of those are normal. */
#define TASKS_RETRIES 64

int tasks_init(struct tasks *t, size_t cap, int iter_link_fd)
{
	if (cap == 0)
		return -EINVAL;
	cleanup(freep) struct task_row *rows = calloc(cap, sizeof(*rows));
	cleanup(freep) char *scratch = calloc(1, TASKS_SCRATCH_BYTES);
	if (!rows || !scratch)
		return -ENOMEM;
	*t = (struct tasks){
		.source = iter_link_fd >= 0 ? TASKS_BPF : TASKS_PROC,
		.iter_link_fd = iter_link_fd,
		.rows = take(&rows),
		.cap = cap,
		.scratch = take(&scratch),
		.scratch_cap = TASKS_SCRATCH_BYTES,
	};
	return 0;
}

void tasks_done(struct tasks *t)
{
	free(t->rows);
	free(t->scratch);
	*t = (struct tasks){.iter_link_fd = -1};
}

static struct task_row *row_next(struct tasks *t)
{
	if (t->n == t->cap) {
		t->dropped++;
		return NULL;
	}
	struct task_row *row = &t->rows[t->n++];
	*row = (struct task_row){};
	return row;
}

/* Sorts in place, as qsort may allocate. Both sources are sorted by pid already, except a recorded tree. */
static void rows_sift(struct task_row *rows, size_t root, size_t n)
{
	for (size_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && rows[child].pid < rows[child + 1].pid)
			child++;
		if (rows[root].pid >= rows[child].pid)
			return;
		struct task_row swap = rows[root];
		rows[root] = rows[child];
		rows[child] = swap;
	}
}

static void tasks_rows_sort(struct task_row *rows, size_t n)
{
	bool sorted = true;
	for (size_t i = 1; i < n && sorted; i++)
		sorted = rows[i - 1].pid <= rows[i].pid;
	if (sorted)
		return;
	for (size_t i = n / 2; i-- > 0;)
		rows_sift(rows, i, n);
	for (size_t end = n; end-- > 1;) {
		struct task_row swap = rows[0];
		rows[0] = rows[end];
		rows[end] = swap;
		rows_sift(rows, 0, end);
	}
}

/* ---- /proc ---- */

struct pid_dir {
	int proc_fd;
	const char *name;
	size_t name_len;
};

static ssize_t pid_file(const struct pid_dir *d, const char *file, char *buf, size_t cap)
{
	char path[64];
	size_t file_len = strlen(file);
	memcpy(path, d->name, d->name_len);
	memcpy(path + d->name_len, file, file_len + 1);
	cleanup(closep) int fd = openat(d->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n;
	do
		n = read(fd, buf, cap);
	while (n < 0 && errno == EINTR);
	return n;
}

static uint64_t pages_bytes(uint64_t pages, uint64_t page_bytes)
{
	uint64_t bytes;
	return __builtin_mul_overflow(pages, page_bytes, &bytes) ? UINT64_MAX : bytes;
}

/*
 * True if the main thread ended alone and other threads still hold the memory. Kernel threads and zombies have one
 * thread; the link count of the task folder gives the number of threads and is the cheapest read.
 */
static bool orphan_statm(const struct world *w, const struct pid_dir *d, struct proc_statm *ret)
{
	struct stat st;
	uint64_t pid;
	char path[32];
	TEXT_FORMAT(path, "%s/task", d->name);
	if (fstatat(d->proc_fd, path, &st, 0) < 0 || st.st_nlink <= 3 || span_u64(span_of(d->name), &pid) < 0)
		return false;
	pid_t tid = proc_living_thread(w, (pid_t)pid);
	return tid > 0 && proc_statm_read(w, tid, ret) == 0 && ret->size_pages > 0;
}

/* rss_file_bytes has all that is shared, unless its parts were read when it was as large. */
static void row_size(struct task_row *row, const struct proc_statm *m, uint64_t page_bytes)
{
	const uint64_t shared = MIN(m->shared_pages, m->resident_pages);
	row->rss_anon_bytes = pages_bytes(sub_floor(m->resident_pages, m->shared_pages), page_bytes);
	if (row->apart_pages != 0 && shared == row->apart_pages)
		return;
	row->rss_file_bytes = pages_bytes(shared, page_bytes);
	row->rss_shmem_bytes = 0;
	row->apart_pages = 0;
}

/* Adds the row of a process; none if the process ends meanwhile. */
static void proc_row(struct tasks *t, const struct world *w, const struct pid_dir *d)
{
	char text[1024];
	struct proc_statm m;
	struct proc_stat s;
	ssize_t n = pid_file(d, "/statm", text, sizeof(text));
	if (n <= 0 || proc_statm_parse((struct span){text, (size_t)n}, &m) < 0)
		return;
	if (m.size_pages == 0 && !orphan_statm(w, d, &m))
		return;
	n = pid_file(d, "/stat", text, sizeof(text));
	if (n <= 0 || proc_stat_parse((struct span){text, (size_t)n}, &s) < 0 || s.kernel_thread)
		return;
	struct task_row *row = row_next(t);
	if (!row)
		return;
	row->pid = s.pid;
	row->ppid = s.ppid;
	row->start_ticks = s.start_ticks;
	row->cpu_ticks = add_cap(s.utime_ticks, s.stime_ticks);
	row_size(row, &m, w->page_bytes);
	memcpy(row->comm, s.comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
}

static bool is_pid(const char *name, size_t *ret_len)
{
	size_t n = 0;
	while (name[n] >= '0' && name[n] <= '9')
		n++;
	*ret_len = n;
	return n > 0 && n <= 10 && name[n] == '\0';
}

static int proc_scan(struct tasks *t, const struct world *w)
{
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	/* A descriptor of our own, because the position of the one of the world is shared. */
	cleanup(closep) int dir_fd = openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = getdents64(dir_fd, t->scratch, t->scratch_cap);
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		for (size_t at = 0; at < (size_t)got;) {
			const struct dirent64 *e = (const void *)(t->scratch + at);
			struct pid_dir d = {.proc_fd = dir_fd, .name = e->d_name};
			if (is_pid(e->d_name, &d.name_len))
				proc_row(t, w, &d);
			at += e->d_reclen;
		}
	}
}

/* ---- BPF ---- */

/* Makes an iterator without libbpf, which would allocate. */
static int iter_create(int link_fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (uint32_t)link_fd;
	long fd = syscall(SYS_bpf, BPF_ITER_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

static uint64_t counter_bytes(long long pages, uint64_t page_bytes)
{
	return pages > 0 ? pages_bytes((uint64_t)pages, page_bytes) : 0;
}

/* Offset of the time namespace of vigil, by which /proc shifts start times; BPF rows are shifted by it, too. */
static int64_t boot_offset_ns(const struct world *w)
{
	char text[256];
	cleanup(closep) int fd = openat(w->proc_fd, "self/timens_offsets", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct span value, word;
	int64_t s, ns;
	if (n <= 0 || text_field((struct span){text, (size_t)n}, "boottime", &value) < 0)
		return 0;
	if (!span_word(&value, &word) || span_i64(word, &s) < 0 || !span_word(&value, &word) || span_i64(word, &ns) < 0)
		return 0;
	return s * (int64_t)NS_PER_S + ns;
}

static void bpf_row(struct tasks *t, const struct bpf_task_record *r, const struct world *w, int64_t offset_ns)
{
	struct task_row *row = row_next(t);
	if (!row)
		return;
	const uint64_t tick_ns = NS_PER_S / w->ticks_per_s;
	row->pid = r->pid;
	row->ppid = r->ppid;
	row->start_ticks = (r->start_boot_ns + (uint64_t)offset_ns) / tick_ns;
	row->cpu_ticks = r->utime_ns / tick_ns + r->stime_ns / tick_ns;
	row->rss_anon_bytes = counter_bytes(r->anon_pages, w->page_bytes);
	row->rss_file_bytes = counter_bytes(r->file_pages, w->page_bytes);
	row->rss_shmem_bytes = counter_bytes(r->shmem_pages, w->page_bytes);
	row->swap_bytes = counter_bytes(r->swap_pages, w->page_bytes);
	row->has_split = true;
	row->oom_score_adj = r->oom_score_adj;
	row->has_adj = true;
	row->alarm_set = r->alarm_set > 0;
	memcpy(row->comm, r->comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
	mask_name(row->comm);
}

static int bpf_scan(struct tasks *t, const struct world *w)
{
	cleanup(closep) int fd = iter_create(t->iter_link_fd);
	if (fd < 0)
		return fd;
	const int64_t offset_ns = boot_offset_ns(w);
	size_t kept = 0;
	for (unsigned retries = 0;;) {
		ssize_t got = read(fd, t->scratch + kept, t->scratch_cap - kept);
		if (got < 0 && (errno == EINTR || errno == EAGAIN) && retries++ < TASKS_RETRIES)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return kept == 0 ? 0 : -EBADMSG;
		size_t len = kept + (size_t)got, at = 0;
		for (; len - at >= sizeof(struct bpf_task_record); at += sizeof(struct bpf_task_record)) {
			struct bpf_task_record r;
			memcpy(&r, t->scratch + at, sizeof(r));
			bpf_row(t, &r, w, offset_ns);
		}
		kept = len - at;
		memmove(t->scratch, t->scratch + at, kept);
	}
}

static void rows_clear(struct tasks *t)
{
	t->n = 0;
	t->dropped = 0;
}

int tasks_scan(struct tasks *t, const struct world *w)
{
	int r = -ENOENT;
	rows_clear(t);
	if (t->iter_link_fd >= 0 && !w->recorded) {
		t->source = TASKS_BPF;
		r = bpf_scan(t, w);
	}
	if (r < 0) {
		rows_clear(t);
		t->source = TASKS_PROC;
		r = proc_scan(t, w);
	}
	if (r != 0) {
		rows_clear(t);
		return r;
	}
	tasks_rows_sort(t->rows, t->n);
	return 0;
}

/* Index of the row of a pid, or where it would be inserted. */
static size_t row_place(const struct tasks *t, pid_t pid)
{
	return bisect(t->n, mid, t->rows[mid].pid < pid);
}

static bool row_read(struct tasks *t, const struct world *w, pid_t pid, struct task_row *ret)
{
	char name[16];
	size_t n = t->n;
	TEXT_FORMAT(name, "%d", (int)pid);
	struct pid_dir d = {.proc_fd = w->proc_fd, .name = name, .name_len = strlen(name)};
	proc_row(t, w, &d);
	if (t->n == n)
		return false;
	*ret = t->rows[--t->n];
	return true;
}

void tasks_refresh(struct tasks *t, const struct world *w, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n && t->n < t->cap; i++) {
		struct task_row row;
		size_t at = row_place(t, pids[i]), after = t->n - at;
		bool known = after > 0 && t->rows[at].pid == pids[i], there = row_read(t, w, pids[i], &row);
		if (there && !known)
			memmove(&t->rows[at + 1], &t->rows[at], after * sizeof(row));
		if (there)
			t->rows[at] = row;
		else if (known)
			memmove(&t->rows[at], &t->rows[at + 1], (after - 1) * sizeof(row));
		t->n += (size_t)(there && !known);
		t->n -= (size_t)(known && !there);
	}
}

bool tasks_resize(struct tasks *t, const struct world *w, pid_t pid)
{
	char name[16], text[256];
	struct proc_statm m;
	const size_t at = row_place(t, pid);
	if (at == t->n || t->rows[at].pid != pid)
		return false;
	TEXT_FORMAT(name, "%d", (int)pid);
	const struct pid_dir d = {.proc_fd = w->proc_fd, .name = name, .name_len = strlen(name)};
	ssize_t n = pid_file(&d, "/statm", text, sizeof(text));
	if (n <= 0 || proc_statm_parse((struct span){text, (size_t)n}, &m) < 0 || m.size_pages == 0)
		return false;
	row_size(&t->rows[at], &m, w->page_bytes);
	return true;
}

const struct task_row *tasks_find(const struct tasks *t, pid_t pid)
{
	size_t at = row_place(t, pid);
	return at < t->n && t->rows[at].pid == pid ? &t->rows[at] : NULL;
}
