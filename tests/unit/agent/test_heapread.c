#include "world_fixture.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/heap/heapread.h"
#include "base/file.h"
#include "heap_image.h"

static struct heap_image image;
static char folder[64];

static int folder_make(void **state)
{
	(void)state;
	TEXT_COPY(folder, "/tmp/vigil-heapread-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int folder_remove(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *file_write(const char *name, size_t len)
{
	static char path[200];
	TEXT_FORMAT(path, "%s/%s", folder, name);
	assert_int_equal(file_replace(path, &image, len, 0600), 0);
	return path;
}

#define IMAGE_BYTES offsetof(struct heap_image, n_live)

/* load() of loader.py, called by train.py, allocates through a function of no known file and an evaluation loop. */
static void training(int32_t pid)
{
	image_init(&image, pid);
	image.header.python_version = 0x030a0000; /* 3.10: its line tables are pairs */
	image_code(&image, 1, "load", "/app/loader.py", 80, "\x04\x01\x04\x07\x08\x02", 6);
	image_code(&image, 2, "<module>", "/app/train.py", 1, "\x20\x0b", 2);
	image_module(&image, "/nowhere/site-packages/numpy/core/_umath.so", 0x10000, 0x20000);
	const uint64_t native[] = {0x10100, 0x10200}, python[] = {image_python(1, 6, false), image_python(2, 4, true)};
	uint32_t big = image_stack(&image, native, 2, python, 2), small = image_stack(&image, native, 1, python + 1, 1);
	uint32_t deep = image_stack(&image, NULL, 0, python, 1);
	image.stacks[deep].flags = HEAP_BROKEN_PYTHON;
	/* steadily: one MiB each second, of which the last tenth is too young to be called a leak */
	for (uint64_t s = 0; s < 100; s++)
		image_live(&image, big, 0x100000 + (s << 20), 1 << 20, 1212121, 1000000000 + s * 1000000000);
	image_live(&image, small, 0x90000, 5 << 20, 5 << 20, 1500000000);
	image_live(&image, deep, 0x80000, 4096, 526000, 1500000000);
	image_freed(&image, small, 4096, 526000, 3);
	image_freed(&image, small, 4096, 526000, 5000);
	image_peak(&image, 51000000000);
}

static struct heapset *read_all(const char *path, const struct heapread_want *want, int expected, struct fault *f)
{
	static struct world w;
	w = live_world();
	struct heapset *set = heapset_new(HEAPSET_SAMPLED);
	struct heapread *reader = heapread_new(&w, set, want);
	struct stat st;
	assert_non_null(reader);
	f->text[0] = '\0';
	bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	int r = is_folder ? heapread_folder(reader, AT_FDCWD, path, 0, f) : heapread_file(reader, path, f);
	assert_int_equal(r, expected);
	assert_true(r == 0 || f->text[0]);
	heapread_free(reader);
	fixture_close(&w);
	return set;
}

static void stacks_get_their_lines_and_their_figures(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_want want = {.n_who = 0};
	training(2147483);
	struct heapset *h = read_all(file_write("2147483.77.heap", IMAGE_BYTES), &want, 0, &f);
	const struct heapset_want live = {.what = HEAPSET_LIVE, .lines = true};
	struct heapset_row *rows;
	const struct frame *path[16];
	size_t n, n_processes;
	const struct heapset_process *p = heapset_processes(h, &n_processes);
	assert_int_equal(n_processes, 1);
	assert_int_equal(p->life, HEAPSET_GONE);
	assert_string_equal(p->name, "python3 train.py");
	assert_int_equal(p->stacks, 3);
	assert_int_equal(heapset_rows(h, &live, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_true(rows[0].amount.bytes == 100 * 1212121.0);
	assert_int_equal(rows[0].amount.objects, 100);
	/* no evaluation loop is known, so Python's frames follow the native ones */
	assert_int_equal(heapset_path(h, rows[0].node, path, 16), 4);
	assert_string_equal(path[0]->name, "0xff"); /* the instruction before the return address */
	assert_string_equal(path[0]->module, "numpy/core/_umath.so");
	assert_string_equal(path[2]->name, "load");
	assert_int_equal(path[2]->line, 88);
	assert_string_equal(path[3]->file, "/app/train.py");
	char headline[100];
	heapset_headline(h, rows[0].node, headline, sizeof(headline));
	assert_string_equal(headline, "loader.py:88 load -> numpy");
	assert_true(rows[0].f.leak.valid && rows[0].f.leak.score > 0.9);
	assert_true(rows[0].f.leak.bytes_per_s > 1.1e6 && rows[0].f.leak.bytes_per_s < 1.3e6);
	assert_true(rows[0].f.old_bytes > 89 * 1212121.0 && rows[0].f.old_bytes < 92 * 1212121.0);
	assert_true(rows[1].f.leak.score < HEAP_LEAK_SCORE);
	assert_true(rows[1].amount.bytes == 5 << 20);
	/* half of what was freed of it had lived for 5 s */
	double brief = rows[1].f.total.bytes * rows[1].f.temporary_share;
	assert_true(brief > 525999 && brief < 526001);
	assert_int_equal(heapset_path(h, rows[2].node, path, 16), 2);
	assert_string_equal(path[1]->name, "[not readable further]");
	free(rows);
	heapset_free(h);
}

/* 100 s were seen: of the first stack one MiB more lives each second. */
static void lives_are_told_and_what_was_held(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_want want = {.n_who = 0};
	training(2147483);
	struct heapset *h = read_all(file_write("2147483.77.heap", IMAGE_BYTES), &want, 0, &f);
	const struct heapset_want lives = {.what = HEAPSET_LIFETIME, .lines = true};
	struct heapset_row *rows;
	size_t n;
	assert_int_equal(heapset_rows(h, &lives, &rows, &n), 0);
	assert_int_equal(n, 3);
	double span = heapset_span_s(h, &lives);
	assert_true(fabs(span - 100) < 0.01);
	assert_true(fabs(rows[0].amount.bytes - 1212121.0 * 50.5) < 1e4);
	assert_true(heap_lives_gone(&rows[0].f.lives, 0.5).at_least);
	assert_true(fabs(rows[0].f.lives.oldest_s - 100) < 0.01);
	/* five MiB for all but half a second, and what was freed after 3 ms and 5 s */
	double held = ((5 << 20) * 99.5 + 525312 * 5.003) / 100;
	assert_true(fabs(rows[1].amount.bytes - held) < 10);
	assert_true(rows[1].f.lives.freed_bytes[heap_life_class(0.003)] == 526000);
	assert_true(rows[1].f.lives.freed_bytes[heap_life_class(5)] == 526000);
	assert_true(fabs(heapset_total(h, &lives).bytes - rows[0].amount.bytes - rows[1].amount.bytes -
			 rows[2].amount.bytes) < 1);
	free(rows);
	heapset_free(h);
}

static void small_stacks_are_put_together_and_nothing_is_lost(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_want want = {.most_stacks = 1};
	image_init(&image, 2147483);
	for (uint64_t i = 0; i < IMAGE_STACKS - HEAP_STACKS_RESERVED; i++) {
		const uint64_t native[] = {0x10000 + i};
		image_live(&image, image_stack(&image, native, 1, NULL, 0), 0x100000 + i * 4096, 1000 + i, 1000 + i,
			   2000000000);
	}
	/* a hundred at least stay apart: all of these */
	struct heapset *h = read_all(file_write("2147483.78.heap", IMAGE_BYTES), &want, 0, &f);
	const struct heapset_want live = {.what = HEAPSET_LIVE};
	size_t n;
	double sum = 0;
	const struct heapset_site *s = heapset_sites(h, &n);
	for (size_t i = 0; i < n; i++)
		sum += s[i].f.live.bytes;
	assert_true(sum == heapset_total(h, &live).bytes && sum > 56 * 1000);
	heapset_free(h);
}

static void ranks_come_from_whoever_knows_them(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_who who[] = {{.inner_pid = 2147482, .start_ticks = 5, .rank = 3, .role = "loader"}};
	const struct heapread_want want = {.who = who, .n_who = 1};
	training(2147482);
	image.header.start_ticks = 5;
	struct heapset *h = read_all(file_write("2147482.5.heap", IMAGE_BYTES), &want, 0, &f);
	size_t n;
	assert_int_equal(heapset_processes(h, &n)->rank, 3);
	assert_string_equal(heapset_processes(h, &n)->role, "loader");
	heapset_free(h);
}

static void a_live_set_above_the_last_peak_is_the_peak(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_want want = {.n_who = 0};
	training(2147481);
	image_live(&image, 8, 0x70000, 99 << 20, 99 << 20, 60000000000);
	struct heapset *h = read_all(file_write("2147481.5.heap", IMAGE_BYTES), &want, 0, &f);
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	assert_true(p->peak.bytes == p->live.bytes);
	heapset_free(h);
}

static void a_peak_above_its_stacks_says_by_how_much(void **state)
{
	(void)state;
	struct fault f;
	const struct heapread_want want = {.n_who = 0};
	training(2147480);
	uint64_t stacks = image.header.peak_bytes[image.header.peak_which];
	image.header.highest =
		(struct heap_sum){.bytes = stacks + (17 << 20), .variance = 1000, .samples = 200, .count_256 = 51200};
	image.header.highest_mono_ns = 31000000000;
	struct heapset *h = read_all(file_write("2147480.5.heap", IMAGE_BYTES), &want, 0, &f);
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	assert_true(p->peak.bytes == (double)image.header.highest.bytes);
	assert_true(p->peak_short_bytes == 17 << 20);
	assert_true(p->peak.above_bytes == 0);
	assert_true(p->peak_at_s > 29.99 && p->peak_at_s < 30.01);
	heapset_free(h);
}

static void a_folder_with_one_damaged_file_gives_the_others(void **state)
{
	(void)state;
	struct fault f;
	char sub[100], path[200];
	const struct heapread_want want = {.n_who = 0};
	TEXT_FORMAT(sub, "%s/mixed", folder);
	assert_int_equal(mkdir(sub, 0700), 0);
	heapset_free(read_all(sub, &want, HEAPREAD_NONE, &f));
	assert_non_null(strstr(f.text, "no process has left"));
	TEXT_FORMAT(path, "%s/41.7.off-5", sub);
	assert_int_equal(file_replace(path, "", 0, 0600), 0);
	heapset_free(read_all(sub, &want, HEAPREAD_NONE, &f));
	assert_non_null(strstr(f.text, "static"));
	training(2147483);
	TEXT_FORMAT(path, "%s/2147483.1.heap", sub);
	assert_int_equal(file_replace(path, &image, IMAGE_BYTES / 2, 0600), 0);
	heapset_free(read_all(sub, &want, HEAPREAD_DAMAGED, &f));
	assert_non_null(strstr(f.text, "damaged"));
	TEXT_FORMAT(path, "%s/2147484.1.heap", sub);
	assert_int_equal(file_replace(path, &image, IMAGE_BYTES, 0600), 0);
	struct heapset *h = read_all(sub, &want, 0, &f);
	size_t n;
	(void)heapset_processes(h, &n);
	assert_int_equal(n, 1);
	heapset_free(h);
	image.header.version = 2;
	TEXT_FORMAT(path, "%s/v2.heap", folder);
	assert_int_equal(file_replace(path, &image, IMAGE_BYTES, 0600), 0);
	heapset_free(read_all(path, &want, HEAPREAD_VERSION, &f));
	assert_non_null(strstr(f.text, "version 2"));
}

static void what_an_earlier_image_held_is_not_alive(void **state)
{
	(void)state;
	struct fault f;
	char sub[100], path[200];
	const struct heapread_who who[] = {
		{.inner_pid = 2147480, .start_ticks = 5, .rank = NO_RANK, .has_status = true, .wait_status = 9}};
	const struct heapread_want want = {.who = who, .n_who = 1};
	TEXT_FORMAT(sub, "%s/exec", folder);
	assert_int_equal(mkdir(sub, 0700), 0);
	training(2147480);
	image.header.start_ticks = 5;
	TEXT_FORMAT(path, "%s/2147480.5.heap", sub);
	assert_int_equal(file_replace(path, &image, IMAGE_BYTES, 0600), 0);
	image_init(&image, 2147480);
	image.header.start_ticks = 5;
	image.header.generation = 1;
	const uint64_t native[] = {0x10100};
	image_live(&image, image_stack(&image, native, 1, NULL, 0), 0x100000, 1 << 20, 1 << 20, 2000000000);
	TEXT_FORMAT(path, "%s/2147480.5.1.heap", sub);
	assert_int_equal(file_replace(path, &image, IMAGE_BYTES, 0600), 0);
	struct heapset *h = read_all(sub, &want, 0, &f);
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	assert_int_equal(n, 2);
	assert_true(p[0].earlier && p[0].life == HEAPSET_REPLACED && p[0].live.bytes == 0 && p[0].peak.bytes > 1e8);
	assert_true(!p[1].earlier && p[1].life == HEAPSET_KILLED);
	const struct heapset_want live = {.what = HEAPSET_LIVE};
	struct heapset_row *rows;
	assert_true(heapset_total(h, &live).bytes == 1 << 20);
	assert_int_equal(heapset_rows(h, &live, &rows, &n), 0);
	assert_int_equal(n, 1);
	free(rows);
	heapset_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_get_their_lines_and_their_figures),
		cmocka_unit_test(lives_are_told_and_what_was_held),
		cmocka_unit_test(small_stacks_are_put_together_and_nothing_is_lost),
		cmocka_unit_test(ranks_come_from_whoever_knows_them),
		cmocka_unit_test(a_live_set_above_the_last_peak_is_the_peak),
		cmocka_unit_test(a_peak_above_its_stacks_says_by_how_much),
		cmocka_unit_test(a_folder_with_one_damaged_file_gives_the_others),
		cmocka_unit_test(what_an_earlier_image_held_is_not_alive),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
