#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "model/jobs/rankenv.h"

/* Literals with NULs between: sizeof keeps them. */
#define ENV(text)                                                                                                      \
	{                                                                                                              \
		text, sizeof(text) - 1                                                                                 \
	}
#define PROCESS(n, text)                                                                                               \
	{                                                                                                              \
		.pid = n, .environ = ENV(text), .known_rank = NO_RANK                                                  \
	}

static struct rankenv e;

static const struct rankenv_finding *of_kind(enum rankenv_kind k)
{
	for (size_t i = 0; i < e.n_findings; i++)
		if (e.finding[i].kind == k)
			return &e.finding[i];
	return NULL;
}

static void ranks_that_agree_are_no_finding(void **state)
{
	(void)state;
	struct rankenv_process p[] = {
		PROCESS(10, "A=1\0RANK=0\0WORLD_SIZE=2\0MASTER_ADDR=localhost\0MASTER_PORT=1\0NCCL_DEBUG=warn"),
		PROCESS(11, "RANK=1\0WORLD_SIZE=2\0MASTER_ADDR=localhost\0MASTER_PORT=1\0NCCL_DEBUG=INFO\0NCCL_IB_"
			    "TIMEOUT=22"
			    "\0NCCL_IB_HCA=mlx5_1"),
	};
	rankenv_compare(p, 2, &e);
	assert_int_equal(e.n_ranked, 2);
	assert_int_equal(e.world_size, 2);
	assert_string_equal(e.nccl_debug, "INFO");
	assert_string_equal(e.ib_timeout, "22");
	assert_false(e.multi_node);
	/* NCCL_IB_TIMEOUT on one of two is one; the adapter near to a rank is its own */
	assert_int_equal(e.n_findings, 1);
	assert_int_equal(e.finding[0].kind, RANKENV_NCCL_DIFFERS);
	assert_false(rankenv_contradicts(&e));
}

static void a_rank_that_is_missing_or_doubled_is_named(void **state)
{
	(void)state;
	struct rankenv_process p[] = {
		PROCESS(10, "RANK=0\0WORLD_SIZE=4\0MASTER_ADDR=127.0.0.1"),
		PROCESS(11, "RANK=1\0WORLD_SIZE=4\0MASTER_ADDR=127.0.0.1"),
		PROCESS(12, "RANK=1\0WORLD_SIZE=4\0MASTER_ADDR=127.0.0.1"),
		PROCESS(13, "RANK=\0WORLD_SIZE=4\0MASTER_ADDR=127.0.0.1"),
	};
	char line[300];
	rankenv_compare(p, 4, &e);
	const struct rankenv_finding *twice = of_kind(RANKENV_RANK_TWICE), *missing = of_kind(RANKENV_RANK_MISSING);
	assert_non_null(twice);
	assert_int_equal(twice->n_ranks, 1);
	assert_int_equal(twice->ranks[0], 1);
	assert_int_equal(twice->n_pids, 2);
	assert_int_equal(twice->pids[1], 12);
	assert_non_null(missing);
	assert_int_equal(missing->pids[0], 13);
	assert_non_null(strstr(missing->text, "empty"));
	rankenv_line(twice, line, sizeof(line));
	assert_string_equal(line, "rank_twice RANK ranks=1 pids=11,12: 1 is given to more than one process");
	/* all four meet at a loopback address, so ranks 2 and 3 would have to be here */
	const struct rankenv_finding *absent = of_kind(RANKENV_NOT_STARTED);
	assert_non_null(absent);
	assert_int_equal(absent->n_ranks, 2);
	assert_int_equal(absent->ranks[0], 2);
	assert_true(rankenv_contradicts(&e));
}

static void disagreement_names_the_smaller_part(void **state)
{
	(void)state;
	struct rankenv_process p[] = {
		PROCESS(10, "RANK=0\0WORLD_SIZE=8\0MASTER_ADDR=n1\0MASTER_PORT=29500\0NCCL_ALGO=Ring"),
		PROCESS(11, "RANK=1\0WORLD_SIZE=8\0MASTER_ADDR=n1\0MASTER_PORT=29501\0NCCL_ALGO=Ring"),
		PROCESS(12, "RANK=2\0WORLD_SIZE=4\0MASTER_ADDR=n1\0MASTER_PORT=29500\0NCCL_ALGO=Tree"),
		PROCESS(13, "RANK=9\0WORLD_SIZE=8\0MASTER_PORT=29500\0NCCL_ALGO=Ring"),
	};
	rankenv_compare(p, 4, &e);
	const struct rankenv_finding *f = of_kind(RANKENV_WORLD_DIFFERS);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_string_equal(f->text, "8 on 0 1 9; 4 on 2");
	f = of_kind(RANKENV_MASTER_DIFFERS);
	assert_non_null(f);
	assert_string_equal(f->variable, "MASTER_PORT");
	assert_int_equal(f->ranks[0], 1);
	f = of_kind(RANKENV_MASTER_MISSING);
	assert_non_null(f);
	assert_string_equal(f->variable, "MASTER_ADDR");
	assert_int_equal(f->ranks[0], 9);
	f = of_kind(RANKENV_RANK_RANGE);
	assert_non_null(f);
	assert_int_equal(f->ranks[0], 9);
	f = of_kind(RANKENV_NCCL_DIFFERS);
	assert_non_null(f);
	assert_string_equal(f->variable, "NCCL_ALGO");
	assert_int_equal(f->ranks[0], 2);
	assert_null(of_kind(RANKENV_NOT_STARTED)); /* the others may be on another machine */
}

static void two_halves_accuse_nobody(void **state)
{
	(void)state;
	struct rankenv_process p[] = {PROCESS(10, "RANK=0\0WORLD_SIZE=2\0MASTER_PORT=1"),
				      PROCESS(11, "RANK=1\0WORLD_SIZE=2\0MASTER_PORT=2")};
	rankenv_compare(p, 2, &e);
	const struct rankenv_finding *f = of_kind(RANKENV_MASTER_DIFFERS);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 0);
}

static void names_of_one_machine_are_the_same_place(void **state)
{
	(void)state;
	struct rankenv_process p[] = {PROCESS(10, "RANK=0\0WORLD_SIZE=2\0MASTER_ADDR=localhost"),
				      PROCESS(11, "RANK=1\0WORLD_SIZE=2\0MASTER_ADDR=127.0.0.1")};
	rankenv_compare(p, 2, &e);
	assert_int_equal(e.n_findings, 0);
}

static void ranks_of_this_node_are_expected_by_what_the_launcher_says(void **state)
{
	(void)state;
	struct rankenv_process p[] = {
		PROCESS(10, "RANK=4\0LOCAL_RANK=0\0WORLD_SIZE=8\0LOCAL_WORLD_SIZE=4\0MASTER_ADDR=n1"),
		PROCESS(11, "RANK=5\0LOCAL_RANK=1\0WORLD_SIZE=8\0LOCAL_WORLD_SIZE=4\0MASTER_ADDR=n1"),
		PROCESS(12, "RANK=7\0LOCAL_RANK=3\0WORLD_SIZE=8\0LOCAL_WORLD_SIZE=4\0MASTER_ADDR=n1"),
		{.pid = 0, .known_rank = 6},
	};
	rankenv_compare(p, 3, &e);
	assert_true(e.multi_node);
	assert_non_null(of_kind(RANKENV_NOT_STARTED));
	assert_int_equal(of_kind(RANKENV_NOT_STARTED)->n_ranks, 1);
	assert_int_equal(of_kind(RANKENV_NOT_STARTED)->ranks[0], 6);
	rankenv_compare(p, 4, &e); /* it was there and has ended */
	assert_null(of_kind(RANKENV_NOT_STARTED));
	p[3].known_rank = NO_RANK; /* somebody who could not be looked at */
	rankenv_compare(p, 4, &e);
	assert_int_equal(e.n_unreadable, 1);
	assert_null(of_kind(RANKENV_NOT_STARTED));
}

static void other_launchers_number_ranks_their_way(void **state)
{
	(void)state;
	struct rankenv_process p[] = {
		PROCESS(10, "OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_SIZE=2\0SLURM_PROCID=0\0SLURM_NTASKS=1"),
		PROCESS(11, "OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_SIZE=2\0SLURM_PROCID=0\0SLURM_NTASKS=1"),
	};
	rankenv_compare(p, 2, &e);
	assert_int_equal(e.world_size, 2);
	assert_string_equal(of_kind(RANKENV_RANK_TWICE)->variable, "OMPI_COMM_WORLD_RANK");
	struct rankenv_process alone[] = {PROCESS(10, "HOME=/root\0PATH=/bin")};
	rankenv_compare(alone, 1, &e);
	assert_int_equal(e.n_findings, 0);
	rankenv_compare(NULL, 0, &e);
	assert_int_equal(e.n_findings, 0);
}

struct lines {
	size_t n, unset, debug;
	char first[300];
};

static void line_keep(void *data, const char *line)
{
	struct lines *l = data;
	if (l->n++ == 0)
		TEXT_COPY(l->first, line);
	l->unset += strcmp(line, "NCCL_DEBUG unset") == 0;
	l->debug += strncmp(line, "NCCL_DEBUG=", 11) == 0;
	assert_null(strstr(line, "SECRET"));
}

/* multiprocessing: all have their parent's variables. Lightning: rank 0 is the parent and has none of them. */
static void ranks_that_number_themselves_lack_nothing(void **state)
{
	(void)state;
	struct rankenv_process spawned[] = {
		PROCESS(10, "WORLD_SIZE=2\0MASTER_ADDR=n1\0MASTER_PORT=1"),
		PROCESS(11, "WORLD_SIZE=2\0MASTER_ADDR=n1\0MASTER_PORT=1"),
	};
	rankenv_compare(spawned, 2, &e);
	assert_non_null(of_kind(RANKENV_RANK_MISSING));
	struct rankenv_process lightning[] = {
		PROCESS(10, "HOME=/h"),
		PROCESS(11, "LOCAL_RANK=1\0NODE_RANK=0\0WORLD_SIZE=2\0MASTER_ADDR=n1\0MASTER_PORT=1"),
	};
	for (int32_t i = 0; i < 2; i++) {
		spawned[i].known_rank = lightning[i].known_rank = i;
		spawned[i].numbered = lightning[i].numbered = true;
	}
	rankenv_compare(spawned, 2, &e);
	assert_int_equal(e.n_findings, 0);
	rankenv_compare(lightning, 2, &e);
	assert_int_equal(e.n_findings, 0);
	lightning[0].environ = (struct span)ENV("MASTER_ADDR=n2\0MASTER_PORT=1");
	rankenv_compare(lightning, 2, &e);
	assert_non_null(of_kind(RANKENV_MASTER_DIFFERS));
}

static void lines_are_findings_then_settings(void **state)
{
	(void)state;
	struct lines l = {0};
	struct rankenv_process p[] = {
		PROCESS(10, "RANK=0\0WORLD_SIZE=2\0NCCL_DEBUG=INFO\0SECRET=x\0AWS_SECRET_ACCESS_KEY=y"),
		PROCESS(11, "RANK=0\0WORLD_SIZE=2\0NCCL_DEBUG=INFO\0TORCH_FR_BUFFER_SIZE=2000"),
	};
	rankenv_compare(p, 2, &e);
	rankenv_lines(p, 2, &e, line_keep, &l);
	assert_true(strncmp(l.first, "rank_twice RANK", 15) == 0);
	assert_int_equal(l.debug, 1);
	assert_int_equal(l.unset, 0);
	struct rankenv_process q[] = {PROCESS(10, "RANK=0\0WORLD_SIZE=2")};
	memset(&l, 0, sizeof(l));
	rankenv_compare(q, 1, &e);
	rankenv_lines(q, 1, &e, line_keep, &l);
	assert_int_equal(l.unset, 1);
	struct rankenv_process none[] = {{.pid = 4, .known_rank = NO_RANK}};
	memset(&l, 0, sizeof(l));
	rankenv_compare(none, 1, &e);
	rankenv_lines(none, 1, &e, line_keep, &l);
	assert_int_equal(l.n, 0); /* nothing was seen, so nothing is unset */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_that_agree_are_no_finding),
		cmocka_unit_test(a_rank_that_is_missing_or_doubled_is_named),
		cmocka_unit_test(disagreement_names_the_smaller_part),
		cmocka_unit_test(two_halves_accuse_nobody),
		cmocka_unit_test(names_of_one_machine_are_the_same_place),
		cmocka_unit_test(ranks_of_this_node_are_expected_by_what_the_launcher_says),
		cmocka_unit_test(other_launchers_number_ranks_their_way),
		cmocka_unit_test(ranks_that_number_themselves_lack_nothing),
		cmocka_unit_test(lines_are_findings_then_settings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
