#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "sense/memory/shm.h"

static struct world live_world(void)
{
	return (struct world){
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.shm_fd = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.sys_fd = -1, .cgroup_fd = -1, .kmsg_fd = -1,
		.mono_ns = clock_mono_ns,
		.unix_ms = clock_unix_ms,
	};
}

static void world_drop(struct world *w)
{
	close(w->proc_fd);
	close(w->shm_fd);
}

static void a_line_of_maps_gives_device_inode_and_path(void **state)
{
	(void)state;
	struct shmtext_mapping m;
	assert_int_equal(shmtext_mapping_parse(SPAN("7f3c2a400000-7f3c2a800000 rw-s 00000000 00:18 4242                "
						    "       /dev/shm/torch_9_x (deleted)"),
					       &m),
			 0);
	assert_true(m.start == 0x7f3c2a400000 && m.end == 0x7f3c2a800000);
	assert_int_equal(m.major, 0);
	assert_int_equal(m.minor, 0x18);
	assert_int_equal(m.inode, 4242);
	assert_true(m.deleted);
	assert_true(span_eq(m.path, "/dev/shm/torch_9_x"));
	assert_int_equal(shmtext_mapping_parse(SPAN("7f00-7f10 rw-p 00000000 00:00 0 "), &m), 0);
	assert_int_equal(m.inode, 0);
	assert_int_equal(m.path.len, 0);
}

static void broken_lines_of_maps_are_refused(void **state)
{
	(void)state;
	const char *const lines[] = {"",
				     "-",
				     "7f00",
				     "7f00-",
				     "7f00-7f10",
				     "7f10-7f00 rw-p 0 00:00 0",
				     "7f00-7f10 rw 0 00:00 0 ",
				     "7f00-7f10 rw-p x 00:00 0",
				     "7f00-7f10 rw-p 0 00 0",
				     "7f00-7f10 rw-p 0 00:00 z",
				     "7f00-7f10 rw-p 0 ffffffffffff:00 1 /x"};
	struct shmtext_mapping m = {.inode = 7};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(shmtext_mapping_parse(span_of(lines[i]), &m), -EBADMSG);
	assert_int_equal(m.inode, 7);
}

static void links_tell_what_kind_of_memory_they_lead_to(void **state)
{
	(void)state;
	static const struct {
		const char *link, *name;
		enum shm_kind kind;
	} rows[] = {
		{"/dev/shm/psm_1a2b", "psm_1a2b", SHM_FILE},
		{"/dev/shm/a/b (deleted)", "a/b", SHM_DELETED},
		{"/memfd:pulse (deleted)", "pulse", SHM_MEMFD},
		{"/SYSV0000162e (deleted)", "0000162e", SHM_SYSV},
		{"/dev/zero (deleted)", NULL, SHM_ANON},
		{"/dev/zero", NULL, SHM_NONE},
		{"/dev/shmx/y", NULL, SHM_NONE},
		{"socket:[1]", NULL, SHM_NONE},
		{"", NULL, SHM_NONE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct span name;
		assert_int_equal(shmtext_link_kind(span_of(rows[i].link), &name), rows[i].kind);
		if (rows[i].name)
			assert_true(span_eq(name, rows[i].name));
	}
}

static int keep_segment(void *ctx, const struct shmtext_sysv *s)
{
	struct shmtext_sysv *last = ctx;
	*last = *s;
	return 0;
}

static void system_v_columns_are_found_by_their_heading(void **state)
{
	(void)state;
	struct shmtext_sysv s = {0};
	struct span text = SPAN(
		"       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      "
		"atime      dtime      ctime                   rss                  swap\n"
		"garbage\n"
		"-559038737          3  1600               1048576   812   900      2  1000  1000  1000  1000 "
		"1700000001 1700000002 1700000003                 65536                  4096\n");
	assert_int_equal(shmtext_sysv_parse(text, keep_segment, &s), 0);
	assert_int_equal(s.key, 0xdeadbeef);
	assert_int_equal(s.id, 3);
	assert_int_equal(s.creator_pid, 812);
	assert_int_equal(s.attached, 2);
	assert_int_equal(s.uid, 1000);
	assert_true(s.has_rss && s.rss_bytes == 65536 && s.swap_bytes == 4096 && s.size_bytes == 1048576);
	assert_true(s.changed_unix_s == 1700000003);
	assert_int_equal(shmtext_sysv_parse(SPAN("what is this\n1 2 3\n"), keep_segment, &s), -EBADMSG);
	assert_int_equal(shmtext_sysv_parse(SPAN(""), keep_segment, &s), -EBADMSG);
}

static void names_give_away_their_maker(void **state)
{
	(void)state;
	pid_t pid;
	assert_string_equal(shmtext_maker(SPAN("torch_4711_99_0"), &pid), "PyTorch tensors shared between processes");
	assert_int_equal(pid, 4711);
	assert_non_null(shmtext_maker(SPAN("psm_12ab"), &pid));
	assert_int_equal(pid, 0);
	assert_non_null(shmtext_maker(SPAN("torch_99999999999999999999_1"), &pid));
	assert_int_equal(pid, 0);
	assert_null(shmtext_maker(SPAN("mine"), &pid));
}

static const struct shm_item *find_item(const struct shm_ledger *l, enum shm_kind kind, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].kind == kind && strcmp(l->items[i].name, name) == 0)
			return &l->items[i];
	return NULL;
}

static bool owned_by(const struct shm_ledger *l, const struct shm_item *it, pid_t pid)
{
	for (uint32_t i = 0; i < it->n_owners; i++)
		if (l->owners[it->first_owner + i].pid == pid)
			return true;
	return false;
}

/* Shared memory of each kind, made by this process; the ledger must find all of it. */
static void a_process_is_found_as_the_owner_of_what_it_holds(void **state)
{
	(void)state;
	char name[64], orphan[64];
	(void)snprintf(name, sizeof(name), "/vigil-test-held-%d", getpid());
	(void)snprintf(orphan, sizeof(orphan), "/vigil-test-orphan-%d", getpid());
	int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	int left = shm_open(orphan, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && left >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(posix_fallocate(left, 0, 1 << 18), 0);
	close(left);
	void *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	memset(map, 1, 1 << 19); /* half of it: allocated, not the length, is what counts */
	close(fd);               /* held by the map alone */
	int memfd = memfd_create("vigil-test", MFD_CLOEXEC);
	assert_int_equal(posix_fallocate(memfd, 0, 1 << 16), 0);
	int id = shmget(IPC_PRIVATE, 1 << 17, IPC_CREAT | 0600);
	char *segment = shmat(id, NULL, 0);
	memset(segment, 1, 1 << 17);

	struct world w = live_world();
	struct shm_ledger l;
	pid_t self = getpid();
	int r = shm_read(&w, &self, 1, 5 * NS_PER_S, &l);
	shm_unlink(name);
	shm_unlink(orphan);
	shmctl(id, IPC_RMID, NULL);
	assert_int_equal(r, 0);
	const struct shm_item *held = find_item(&l, SHM_FILE, name + 1), *lost = find_item(&l, SHM_FILE, orphan + 1);
	const struct shm_item *anon = find_item(&l, SHM_MEMFD, "vigil-test");
	char sysv[48];
	(void)snprintf(sysv, sizeof(sysv), "0x00000000 id %d", id);
	const struct shm_item *seg = find_item(&l, SHM_SYSV, sysv);
	assert_true(held && lost && anon && seg);
	assert_true(held->has_bytes && held->bytes == 1 << 19 && !held->orphan && owned_by(&l, held, self));
	assert_true(lost->bytes == 1 << 18 && lost->orphan && lost->uid == getuid());
	assert_true(lost->since_unix_ms > clock_unix_ms() - 60000);
	assert_true(anon->bytes == 1 << 16 && owned_by(&l, anon, self));
	assert_true(seg->bytes == 1 << 17 && seg->maker_pid == self);
	assert_true(owned_by(&l, seg, self) && !seg->orphan);
	assert_true(l.orphan_bytes >= 1 << 18);
	shm_done(&l);
	shmdt(segment);
	munmap(map, 1 << 20);
	close(memfd);
	world_drop(&w);
}

static void a_deleted_file_that_is_still_mapped_is_listed(void **state)
{
	(void)state;
	char name[64];
	(void)snprintf(name, sizeof(name), "/vigil-test-gone-%d", getpid());
	int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(posix_fallocate(fd, 0, 1 << 16), 0);
	shm_unlink(name);
	struct world w = live_world();
	struct shm_ledger l;
	pid_t self = getpid();
	assert_int_equal(shm_read(&w, &self, 1, 5 * NS_PER_S, &l), 0);
	const struct shm_item *it = find_item(&l, SHM_DELETED, name + 1);
	assert_non_null(it);
	assert_true(it->has_bytes && it->bytes == 1 << 16 && owned_by(&l, it, self) && !it->orphan);
	shm_done(&l);
	close(fd);
	world_drop(&w);
}

static void without_time_the_ledger_says_how_many_processes_it_left_out(void **state)
{
	(void)state;
	struct world w = live_world();
	struct shm_ledger l;
	assert_int_equal(shm_read(&w, NULL, 0, 0, &l), 0);
	assert_true(l.n_processes > 0 && l.n_unscanned == l.n_processes);
	assert_false(shm_complete(&l));
	shm_done(&l);
	world_drop(&w);
}

static void a_machine_without_shared_memory_folder_is_no_error(void **state)
{
	(void)state;
	struct world w = live_world();
	int shm = w.shm_fd;
	w.shm_fd = -1;
	struct shm_ledger l;
	assert_int_equal(shm_read(&w, NULL, 0, NS_PER_S, &l), 0);
	assert_false(l.has_mount);
	for (size_t i = 0; i < l.n; i++) /* files are then found only at processes that map them */
		assert_true(l.items[i].kind != SHM_FILE || l.items[i].n_owners > 0);
	shm_done(&l);
	w.shm_fd = shm;
	world_drop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_maps_gives_device_inode_and_path),
		cmocka_unit_test(broken_lines_of_maps_are_refused),
		cmocka_unit_test(links_tell_what_kind_of_memory_they_lead_to),
		cmocka_unit_test(system_v_columns_are_found_by_their_heading),
		cmocka_unit_test(names_give_away_their_maker),
		cmocka_unit_test(a_process_is_found_as_the_owner_of_what_it_holds),
		cmocka_unit_test(a_deleted_file_that_is_still_mapped_is_listed),
		cmocka_unit_test(without_time_the_ledger_says_how_many_processes_it_left_out),
		cmocka_unit_test(a_machine_without_shared_memory_folder_is_no_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
