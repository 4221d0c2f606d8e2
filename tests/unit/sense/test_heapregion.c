#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "heap_image.h"
#include "sense/heap/heapregion.h"

static struct heap_image image;
static const uint64_t native[] = {0x7f0000001234, 0x7f0000002345};

static int parsed(struct heapregion *ret)
{
	struct fault f = {.text = ""};
	int r = heapregion_parse((const uint8_t *)&image, offsetof(struct heap_image, n_live), NULL, 0, ret, &f);
	assert_true(r == 0 || f.text[0]);
	return r;
}

static void small_image(void)
{
	image_init(&image, 812);
	image_code(&image, 3, "load", "/app/loader.py", 80, "\x04\x01\x04\x07", 4);
	image_module(&image, "/usr/lib/libc.so.6", 0x7f0000000000, 0x7f0000010000);
	const uint64_t python[] = {image_python(3, 4, true)};
	image_stack(&image, native, 2, python, 1);
	image_live(&image, 8, 0x10000, 1 * MIB, 1212121, 2000000000);
	image_live(&image, 8, 0x20000, 4096, 526000, 3000000000);
	image_freed(&image, 8, 4096, 526000, 5);
	image_peak(&image, 5000000000);
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.header.pid, 812);
	/* the reserved rows, and one */
	assert_int_equal(r.n_stacks, HEAP_STACKS_RESERVED + 1);
	const struct heapregion_stack *s = &r.stacks[8];
	assert_int_equal(s->n_native, 2);
	assert_int_equal(s->native[1], native[1]);
	assert_int_equal(HEAP_PYTHON_CODE(s->python[0]), 3);
	assert_int_equal(s->live.bytes, 1212121 + 526000);
	assert_int_equal(s->live.samples, 2);
	assert_int_equal(s->total.bytes, 1212121 + 2 * 526000);
	assert_int_equal(s->peak.bytes, s->live.bytes);
	assert_int_equal(s->freed_bytes[2], 526000);
	double expected = 1212121.0 * (1212121 - (double)MIB) + 526000.0 * (526000 - 4096);
	assert_true(s->live.variance > expected * 0.999 && s->live.variance < expected * 1.001);
	assert_int_equal(s->live.objects, 1 + 128);
	assert_int_equal(r.all_live.bytes, s->live.bytes);
	assert_int_equal(r.n_live, 2);
	assert_true(r.codes[3].valid && span_eq(r.codes[3].name, "load") && span_eq(r.codes[3].file, "/app/loader.py"));
	assert_int_equal(r.codes[3].lines.len, 4);
	assert_non_null(heapregion_module(&r, native[0], 0));
	assert_null(heapregion_module(&r, 0x7f0000010000, 0));
	assert_int_equal(r.skipped.bad + r.skipped.unpublished + r.skipped.changed, 0);
	heapregion_done(&r);
}

static void rows_that_were_being_written_are_passed_over_and_counted(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	image_stack(&image, native, 2, NULL, 0);
	image.stacks[9].state = HEAP_ROW_WRITING;
	image.stacks[9].total.bytes = 77;
	image.live_ptr[2] = HEAP_SLOT_WRITING;
	image.live_ptr[3] = HEAP_SLOT_FREED;
	image.live[3] = (struct heap_live){.size = 1, .weight = 1, .stack = 8};
	/* a sample of a stack that is not there yet */
	image.live_ptr[4] = 0x50000;
	image.live[4] = (struct heap_live){.size = 1, .weight = 1, .stack = 9};
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.n_stacks, 9);
	assert_int_equal(r.n_live, 2);
	assert_int_equal(r.skipped.unpublished, 2);
	assert_int_equal(r.skipped.bad, 1);
	heapregion_done(&r);
}

static void numbers_that_lead_out_of_the_file_are_not_followed(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	image.stacks[8].frames_at = IMAGE_FRAMES - 1;
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.n_stacks, 8);
	assert_int_equal(r.n_live, 0);
	assert_true(r.skipped.bad >= 3);
	heapregion_done(&r);

	small_image();
	image.codes[3].name_at = IMAGE_TEXT - 1;
	image.codes[3].table_len = UINT32_MAX;
	image.live[0].stack = UINT32_MAX;
	image.live[1].weight = 5; /* less than its size */
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.codes[3].name.len, 0);
	assert_int_equal(r.codes[3].lines.len, 0);
	assert_int_equal(r.n_live, 0);
	assert_int_equal(r.skipped.bad, 4);
	heapregion_done(&r);
}

static void sums_below_zero_count_as_nothing(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	image.stacks[8].total.bytes = (uint64_t)-500;
	image.stacks[8].freed_bytes[2] = (uint64_t)-1;
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.stacks[8].total.bytes, 0);
	assert_int_equal(r.stacks[8].freed_bytes[2], 0);
	heapregion_done(&r);
}

static void a_header_that_cannot_be_is_refused_with_a_sentence(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	image.header.magic++;
	assert_int_equal(parsed(&r), HEAPREGION_NOT);
	small_image();
	image.header.version = 9;
	assert_int_equal(parsed(&r), HEAPREGION_VERSION);
	small_image();
	image.header.file_bytes = sizeof(image) + 1;
	assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
	small_image();
	image.header.header_bytes = 100;
	assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
	static const size_t tables = 8;
	for (size_t i = 0; i < tables; i++) {
		small_image();
		struct heap_table *t = &image.header.table.stack_index + i;
		t->at = image.header.file_bytes - 8;
		assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
		small_image();
		t->n = UINT32_MAX;
		assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
		small_image();
		t->item_bytes = i == 7 ? 2 : t->item_bytes - 4;
		assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
		small_image();
		t->at += 4;
		assert_int_equal(parsed(&r), HEAPREGION_DAMAGED);
	}
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	(void)state;
	struct heapregion r;
	struct fault f;
	small_image();
	for (size_t len = 0; len < image.header.file_bytes; len += 997) {
		uint8_t *cut = malloc(len + 1);
		assert_non_null(cut);
		memcpy(cut, &image, len);
		int e = heapregion_parse(cut, len, NULL, 0, &r, &f);
		assert_true(e == HEAPREGION_NOT || e == HEAPREGION_DAMAGED);
		free(cut);
	}
}

static void a_newer_writer_with_longer_rows_is_read(void **state)
{
	(void)state;
	/* the last table may have longer rows without moving the others: modules are followed by the text only */
	struct heapregion r;
	small_image();
	const struct heap_module last = image.modules[0];
	image.header.table.modules.item_bytes = 2 * sizeof(struct heap_module);
	image.header.table.modules.n = IMAGE_MODULES / 2;
	image_module(&image, "/second", 0x1000, 0x2000);
	image.modules[2] = image.modules[1];
	image.modules[1] = (struct heap_module){.state = 99};
	image.modules[0] = last;
	image.header.header_bytes = sizeof(struct heap_header);
	assert_int_equal(parsed(&r), 0);
	assert_int_equal(r.n_modules, 2);
	assert_true(span_eq(r.modules[1].path, "/second"));
	heapregion_done(&r);
}

static void samples_that_changed_between_two_looks_are_left_out(void **state)
{
	(void)state;
	struct heapregion r;
	struct fault f;
	small_image();
	static uint64_t again[IMAGE_LIVE];
	memcpy(again, image.live_ptr, sizeof(again));
	again[1] = HEAP_SLOT_FREED;
	assert_int_equal(heapregion_parse((const uint8_t *)&image, offsetof(struct heap_image, n_live), again,
					  IMAGE_LIVE, &r, &f),
			 0);
	assert_int_equal(r.n_live, 1);
	assert_int_equal(r.skipped.changed, 1);
	assert_int_equal(r.live[0].addr, 0x10000);
	heapregion_done(&r);
}

static void modules_are_told_apart_by_the_time_they_were_there(void **state)
{
	(void)state;
	struct heapregion r;
	small_image();
	image.modules[0].until = 2;
	image_module(&image, "/later.so", 0x7f0000000000, 0x7f0000010000);
	image.modules[1].since = 2;
	assert_int_equal(parsed(&r), 0);
	assert_true(span_eq(heapregion_module(&r, native[0], 1)->path, "/usr/lib/libc.so.6"));
	assert_true(span_eq(heapregion_module(&r, native[0], 2)->path, "/later.so"));
	heapregion_done(&r);
}

static int temporary_file(const void *bytes, size_t len)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);
	assert_true(fd >= 0 && file_write_all(fd, bytes, len) == 0);
	return fd;
}

static int read_fd(int fd, struct heapregion *ret, struct fault *f)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return heapregion_read(AT_FDCWD, path, ret, f);
}

static void files_are_read_with_their_holes(void **state)
{
	(void)state;
	struct heapregion r;
	struct fault f = {.text = ""};
	small_image();
	int fd = temporary_file(&image, offsetof(struct heap_image, n_live));
	assert_int_equal(read_fd(fd, &r, &f), 0);
	assert_int_equal(r.all_live.bytes, 1212121 + 526000);
	assert_false(r.peak_torn);
	heapregion_done(&r);
	assert_int_equal(ftruncate(fd, 5000), 0);
	assert_int_equal(read_fd(fd, &r, &f), HEAPREGION_DAMAGED);
	assert_non_null(strstr(f.text, "shorter"));
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_int_equal(read_fd(fd, &r, &f), HEAPREGION_NOT);
	close(fd);
	assert_int_equal(heapregion_read(AT_FDCWD, "/nowhere", &r, &f), -ENOENT);
	assert_int_equal(heapregion_read(AT_FDCWD, "/tmp", &r, &f), -EINVAL);
}

/* A writer as the library is one, until it is killed. */
static void write_on(struct heap_image *m)
{
	for (uint64_t n = 0;; n++) {
		uint32_t i = (uint32_t)(n % 1000);
		struct heap_live row = {.size = 100 + i, .weight = 2 * (100 + i), .stack = 8, .tid = 100 + i};
		__atomic_store_n(&m->live_ptr[i], HEAP_SLOT_WRITING, __ATOMIC_RELEASE);
		m->live[i] = row;
		__atomic_store_n(&m->live_ptr[i], 0x1000000 + 4096 * n, __ATOMIC_RELEASE);
		if (n % 7 == 0)
			__atomic_store_n(&m->live_ptr[(i + 500) % 1000], HEAP_SLOT_FREED, __ATOMIC_RELEASE);
		if (n % 100000 == 0)
			image_peak(m, n);
	}
}

static void a_look_at_a_running_writer_gives_whole_rows(void **state)
{
	(void)state;
	int fd = memfd_create("heap", MFD_CLOEXEC);
	size_t len = sizeof(struct heap_image);
	assert_true(fd >= 0 && ftruncate(fd, (off_t)len) == 0);
	struct heap_image *m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(m != MAP_FAILED);
	image_init(m, 812);
	image_stack(m, native, 2, NULL, 0);
	pid_t pid = fork();
	if (pid == 0)
		write_on(m);
	assert_true(pid > 0);
	uint64_t seen = 0;
	const uint64_t until = clock_mono_ns() + 20 * NS_PER_S; /* the writer may begin late */
	for (int look = 0; look < 200 || (seen == 0 && clock_mono_ns() < until); look++) {
		struct heapregion r;
		struct fault f;
		assert_int_equal(read_fd(fd, &r, &f), 0);
		for (size_t i = 0; i < r.n_live; i++) {
			assert_int_equal(r.live[i].weight, 2 * r.live[i].size);
			assert_int_equal(r.live[i].tid, r.live[i].size);
		}
		seen += r.n_live;
		heapregion_done(&r);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(seen > 0);
	munmap(m, len);
	close(fd);
}

/* Rows as they were before lives were told in halves. */
static void an_older_writer_s_rows_are_read(void **state)
{
	(void)state;
	struct heapregion r;
	struct fault f = {.text = ""};
	image_init(&image, 9);
	uint32_t one = image_stack(&image, NULL, 0, NULL, 0), two = image_stack(&image, NULL, 0, NULL, 0);
	image_freed(&image, one, 4096, 1 << 20, 3000);
	image_freed(&image, two, 4096, 1 << 20, 1500);
	assert_int_equal(
		heapregion_parse((const uint8_t *)&image, offsetof(struct heap_image, n_live), NULL, 0, &r, &f), 0);
	const struct heapregion_stack *s = &r.stacks[r.n_stacks - 2];
	assert_true(s[0].has_lived && s[0].freed_bytes[6] == 1 << 20 && s[0].freed_early_bytes[6] == 0);
	assert_true(s[1].freed_early_bytes[6] == 1 << 20 && s[1].lived_byte_s == (1 << 20) * 1.5);
	heapregion_done(&r);
	for (size_t i = 0; i < IMAGE_STACKS; i++)
		memmove((char *)image.stacks + i * 256, &image.stacks[i], 256);
	image.header.table.stacks.item_bytes = 256;
	assert_int_equal(
		heapregion_parse((const uint8_t *)&image, offsetof(struct heap_image, n_live), NULL, 0, &r, &f), 0);
	s = &r.stacks[r.n_stacks - 2];
	assert_true(!s[0].has_lived && s[0].freed_bytes[6] == 1 << 20 && s[0].lived_byte_s == 0);
	assert_true(s[1].freed_bytes[6] == 1 << 20 && s[1].freed_early_bytes[6] == 0);
	heapregion_done(&r);
}

/* A part that is more than the whole. */
static void a_hostile_part_is_no_more_than_the_whole(void **state)
{
	(void)state;
	struct heapregion r;
	struct fault f = {.text = ""};
	image_init(&image, 9);
	uint32_t one = image_stack(&image, NULL, 0, NULL, 0);
	image_freed(&image, one, 4096, 1 << 20, 3000);
	image.stacks[one].freed_early_bytes[6] = UINT64_MAX / 8;
	image.stacks[one].lived_kib_ms = UINT64_MAX;
	assert_int_equal(
		heapregion_parse((const uint8_t *)&image, offsetof(struct heap_image, n_live), NULL, 0, &r, &f), 0);
	const struct heapregion_stack *s = &r.stacks[r.n_stacks - 1];
	assert_true(s->freed_early_bytes[6] == s->freed_bytes[6] && s->lived_byte_s == 0);
	heapregion_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(rows_that_were_being_written_are_passed_over_and_counted),
		cmocka_unit_test(numbers_that_lead_out_of_the_file_are_not_followed),
		cmocka_unit_test(sums_below_zero_count_as_nothing),
		cmocka_unit_test(a_header_that_cannot_be_is_refused_with_a_sentence),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(a_newer_writer_with_longer_rows_is_read),
		cmocka_unit_test(samples_that_changed_between_two_looks_are_left_out),
		cmocka_unit_test(modules_are_told_apart_by_the_time_they_were_there),
		cmocka_unit_test(files_are_read_with_their_holes),
		cmocka_unit_test(a_look_at_a_running_writer_gives_whole_rows),
		cmocka_unit_test(an_older_writer_s_rows_are_read),
		cmocka_unit_test(a_hostile_part_is_no_more_than_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
