/*
 * Runs a fuzz driver without a fuzzer, the same way each time: on every file
 * of the folders and files named, on each of them cut short, with bytes
 * changed, doubled and with its end replaced, and on a few inputs that every
 * parser must survive. A parser fails by crashing or by hanging; under ASan
 * and UBSan also by less. Every file is run as it is; variations of a slow
 * parser end after BUDGET_NS.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"

#define VARIATIONS 400
#define BUDGET_NS (3 * NS_PER_S)
#define INPUT_MAX (1 * MIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t runs;
static uint64_t end_ns;

static bool in_budget(void)
{
	return clock_mono_ns() < end_ns;
}

/* Fixed seed: a failure must come back on the next run. */
static uint64_t random_next(void)
{
	static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Each input in memory of exactly its size, so that ASan sees one byte too far. */
static void run_once(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	runs++;
}

static void change_bytes(uint8_t *data, size_t size)
{
	static const char telling[] = "\0\n\r\t -+:=,/0918\xff\x80{}[]()\"'";
	uint64_t n = 1 + random_next() % 8;
	for (uint64_t i = 0; i < n && size > 0; i++) {
		size_t at = (size_t)(random_next() % size);
		if (random_next() % 2)
			data[at] = (uint8_t)telling[random_next() % (sizeof(telling) - 1)];
		else
			data[at] = (uint8_t)random_next();
	}
}

static void run_varied(const uint8_t *data, size_t size)
{
	run_once(data, size);
	size_t step = size / 100 + 1;
	for (size_t len = 0; len < size && in_budget(); len += step)
		run_once(data, len);
	uint8_t *work = malloc(2 * size + 1);
	if (!work)
		abort();
	for (size_t i = 0; i < VARIATIONS && size > 0 && in_budget(); i++) {
		memcpy(work, data, size);
		change_bytes(work, size);
		run_once(work, 1 + (size_t)(random_next() % size));
	}
	if (size > 0) {
		memcpy(work, data, size);
		memcpy(work + size, data, size);
		run_once(work, 2 * size);
	}
	free(work);
}

static void run_common(void)
{
	static const char *const texts[] = {
		"", "\n", "\n\n\n", " ", ":", "=", "0", "-1", "18446744073709551615", "18446744073709551616",
		"99999999999999999999999999999999", "-9223372036854775809", "1e999", "nan", "\xff\xfe", "a:b:c:d\n",
		"{", "[", "\"", "{}", "[]", "[[[[[[[[[[[[[[[[[[[[[[[[", "%s%n%n", "../../..", "max", "MemTotal: kB",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		run_varied((const uint8_t *)texts[i], strlen(texts[i]));
	static uint8_t block[64 * 1024];
	run_once(block, sizeof(block));
	memset(block, 'a', sizeof(block));
	run_once(block, sizeof(block));
	memset(block, '[', sizeof(block));
	run_once(block, sizeof(block));
	for (size_t n = 0; n < 64; n++) {
		size_t size = (size_t)(random_next() % 4096);
		for (size_t i = 0; i < size; i++)
			block[i] = (uint8_t)random_next();
		run_once(block, size);
	}
}

static int run_file(int dirfd, const char *name, bool varied)
{
	char *text = NULL;
	size_t len = 0;
	int r = file_slurp(dirfd, name, INPUT_MAX, &text, &len);
	if (r)
		fprintf(stderr, "replay: cannot read %s: %s\n", name, strerror(-r));
	else if (varied)
		run_varied((const uint8_t *)text, len);
	else
		run_once((const uint8_t *)text, len);
	free(text);
	return r;
}

static int run_folder(const char *path, bool varied, size_t *files)
{
	DIR *dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno; /* a parser may have no seeds yet */
	int r = 0;
	for (struct dirent *e = readdir(dir); e && r == 0; e = readdir(dir)) {
		if (e->d_name[0] == '.')
			continue;
		r = run_file(dirfd(dir), e->d_name, varied);
		(*files)++;
	}
	closedir(dir);
	return r;
}

static int run_all(int argc, char **argv, bool varied, size_t *files)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;
		bool folder = stat(argv[i], &st) != 0 || S_ISDIR(st.st_mode);
		if (folder ? run_folder(argv[i], varied, files) : run_file(AT_FDCWD, argv[i], varied))
			return 1;
		*files += !folder;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t files = 0, again = 0;
	end_ns = clock_mono_ns() + BUDGET_NS;
	if (run_all(argc, argv, false, &files))
		return 1;
	run_common();
	if (run_all(argc, argv, true, &again))
		return 1;
	printf("%zu files, %zu runs%s\n", files, runs, in_budget() ? "" : ", variations ended by time");
	return 0;
}
