/*
 * What does a wrapper add to starting a program? Runs the plain and the
 * wrapped command in turn, so that whatever else the machine does falls on
 * both, and prints the times and the median of the differences of the pairs.
 *
 *   spawncost ROUNDS PLAIN… -- WRAPPED…          (spawncost 50 true -- vigil run -- true)
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/text.h"

#define MAX_ROUNDS 10000

extern char **environ;

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *values, size_t n, double q)
{
	static double sorted[MAX_ROUNDS];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_size);
	return sorted[(size_t)((double)(n - 1) * q)];
}

static int time_one(char **argv, double *ret_ms)
{
	posix_spawn_file_actions_t quiet;
	uint64_t from;
	int status = 0, r;
	pid_t p;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	from = clock_mono_ns();
	r = posix_spawnp(&p, argv[0], &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	if (r != 0)
		return -r;
	if (waitpid(p, &status, 0) != p)
		return -errno;
	*ret_ms = (double)(clock_mono_ns() - from) / (double)NS_PER_MS;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return -EPROTO; /* a command that fails is quick for the wrong reason */
	return 0;
}

int main(int argc, char **argv)
{
	static double plain[MAX_ROUNDS], wrapped[MAX_ROUNDS], added[MAX_ROUNDS];
	uint64_t rounds = 0;
	char **second = NULL;

	for (int i = 3; i < argc && !second; i++)
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			second = argv + i + 1;
		}
	if (!second || !*second || span_u64(span_of(argv[1]), &rounds) < 0 || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "spawncost: wrong usage; spawncost ROUNDS PLAIN… -- WRAPPED…\n");
		return 2;
	}
	for (uint64_t i = 0; i < rounds; i++) {
		int r = time_one(argv + 2, &plain[i]);

		if (r == 0)
			r = time_one(second, &wrapped[i]);
		if (r < 0) {
			fprintf(stderr, "spawncost: round %lu: %s\n", i + 1, strerror(-r));
			return 1;
		}
		added[i] = wrapped[i] - plain[i];
	}
	printf("{\"rounds\":%lu,\"plain_p50_ms\":%.3f,\"wrapped_p50_ms\":%.3f,\"added_p50_ms\":%.3f,\"added_p90_ms\":%."
	       "3f}\n",
	       rounds, quantile(plain, rounds, 0.5), quantile(wrapped, rounds, 0.5), quantile(added, rounds, 0.5),
	       quantile(added, rounds, 0.9));
	return 0;
}
