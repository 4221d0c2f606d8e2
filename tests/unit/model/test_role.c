#include "testing.h"

#include "model/jobs/role.h"

#define COMPILE_WORKER                                                                                                 \
	"/usr/bin/python3 /v/site-packages/torch/_inductor/compile_worker/__main__.py --kind=fork --workers=32 "       \
	"--parent=9"
#define FORKSERVER "/usr/bin/python3 -c from multiprocessing.forkserver import main; main(3, 4, ['x'], **{})"
#define SPAWN                                                                                                          \
	"/usr/bin/python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=6) "                  \
	"--multiprocessing-fork"
#define TRACKER "/usr/bin/python3 -c from multiprocessing.resource_tracker import main;main(5)"

struct row {
	const char *comm, *command, *environ; /* environ: blanks stand for NUL */
	const char *parent_command; /* NULL: the root */
	enum role parent_role;
	int32_t parent_rank;
	enum role role;
	int32_t rank, local_rank, world_size;
};

static const struct row rows[] = {
	/* plain programs */
	{"python3", "python3 train.py", "HOME=/h", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"train", "./train --fast", "", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"bash", "bash -c python3 train.py | tee log", "A=1", NULL, 0, 0, ROLE_SHELL, -1, -1, 0},
	{"python3", "python3 train.py", "A=1", "bash -c x", ROLE_SHELL, -1, ROLE_MAIN, -1, -1, 0},
	{"tee", "tee log", "A=1", "bash -c x", ROLE_SHELL, -1, ROLE_HELPER, -1, -1, 0},
	/* a subshell: ( … ), { … } | … or a function in the background */
	{"bash", "bash job.sh", "A=1", "bash job.sh", ROLE_SHELL, -1, ROLE_SHELL, -1, -1, 0},
	{"timeout", "timeout 20 python3 train.py", "A=1", NULL, 0, 0, ROLE_SHELL, -1, -1, 0},
	{"sleep", "sleep 60", "A=1", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	/* ranks */
	{"python3", "python3 train.py", "RANK=3 LOCAL_RANK=1 WORLD_SIZE=8", "torchrun train.py", ROLE_LAUNCHER, -1,
	 ROLE_MAIN, 3, 1, 8},
	{"python3", "python3 train.py", "SLURM_PROCID=5 SLURM_LOCALID=1 SLURM_NTASKS=16", NULL, 0, 0, ROLE_MAIN, 5, 1,
	 16},
	{"python3", "python3 t.py", "SLURM_PROCID=1 RANK=9 LOCAL_RANK=1 WORLD_SIZE=16", NULL, 0, 0, ROLE_MAIN, 9, 1,
	 16},
	{"a.out", "./a.out", "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0",
	 "mpirun a.out", ROLE_LAUNCHER, -1, ROLE_MAIN, 2, 0, 4},
	{"a.out", "./a.out", "PMI_RANK=1 PMI_SIZE=2", "hydra_pmi_proxy --x", ROLE_LAUNCHER, -1, ROLE_MAIN, 1, -1, 2},
	{"python3", "python3 t.py", "RANK=x SLURM_PROCID=7", NULL, 0, 0, ROLE_MAIN, 7, -1, 0},
	{"python3", "python3 t.py", "RANK=99999999999999999999", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"python3", "python3 t.py", "RANK=-1 WORLD_SIZE=2", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"python3", "python3 t.py", "RANK=8 WORLD_SIZE=8", NULL, 0, 0, ROLE_MAIN, 8, -1, 0},
	{"python3", "python3 t.py", "RANK=1 RANK=2", NULL, 0, 0, ROLE_MAIN, 1, -1, 0},
	{"python3", "python3 t.py", "RANKS=4 MYRANK=3 RANK", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	/* Lightning's own: local numbers, which are all there are on the first machine */
	{"python3", "python3 t.py", "LOCAL_RANK=2 NODE_RANK=0 WORLD_SIZE=4", "python3 t.py", ROLE_MAIN, -1, ROLE_MAIN,
	 2, 2, 4},
	{"python3", "python3 t.py", "LOCAL_RANK=2 WORLD_SIZE=4", "python3 t.py", ROLE_MAIN, -1, ROLE_MAIN, 2, 2, 4},
	{"python3", "python3 t.py", "LOCAL_RANK=2 NODE_RANK=1 WORLD_SIZE=8", "python3 t.py", ROLE_MAIN, -1, ROLE_WORKER,
	 -1, -1, 0},
	{"python3", "python3 t.py", "LOCAL_RANK=4 WORLD_SIZE=4", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"python3", "python3 t.py", "LOCAL_RANK=1", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	/* launchers */
	{"torchrun", "/usr/bin/python3 /usr/bin/torchrun --nproc 2 train.py", "SLURM_PROCID=1", NULL, 0, 0,
	 ROLE_LAUNCHER, -1, -1, 0},
	{"python3", "python3 -m torch.distributed.run --nproc_per_node=2 t.py", "A=1", NULL, 0, 0, ROLE_LAUNCHER, -1,
	 -1, 0},
	{"pt_elastic", "/v/bin/python /v/bin/torchrun t.py", "A=1", NULL, 0, 0, ROLE_LAUNCHER, -1, -1, 0},
	{"python3", "python3 -u -m torch.distributed.launch t.py", "A=1", NULL, 0, 0, ROLE_LAUNCHER, -1, -1, 0},
	{"python3", "/v/bin/python3 /v/bin/accelerate launch t.py", "A=1", NULL, 0, 0, ROLE_LAUNCHER, -1, -1, 0},
	{"mpirun", "mpirun -n 4 ./a.out", "A=1", NULL, 0, 0, ROLE_LAUNCHER, -1, -1, 0},
	{"slurmstepd", "slurmstepd: [123.0]", "", NULL, 0, 0, ROLE_LAUNCHER, -1, -1, 0},
	/* a program with such a word among its own arguments is not a launcher */
	{"python3", "python3 train.py --model big --lr 1 --x 2 --tool torchrun", "A=1", NULL, 0, 0, ROLE_MAIN, -1, -1,
	 0},
	/* workers of a rank */
	{"python3", "python3 train.py", "RANK=3 LOCAL_RANK=1 WORLD_SIZE=8", "python3 train.py", ROLE_MAIN, 3,
	 ROLE_WORKER, 3, 1, 8},
	/* a program that starts itself again for each rank; a fork keeps the environment of its parent */
	{"python3", "python3 train.py", "RANK=1 WORLD_SIZE=4", "python3 train.py", ROLE_MAIN, -1, ROLE_MAIN, 1, -1, 4},
	{"python3", "python3 train.py", "RANK=1 WORLD_SIZE=4", "python3 train.py", ROLE_MAIN, 0, ROLE_MAIN, 1, -1, 4},
	{"python3", "python3 train.py", "A=1", "python3 train.py", ROLE_MAIN, -1, ROLE_WORKER, -1, -1, 0},
	{"mpirun", "mpirun -n 4 ./a.out", "SLURM_PROCID=1", "mpirun -n 4 ./a.out", ROLE_LAUNCHER, -1, ROLE_HELPER, 1,
	 -1, 0},
	{"pt_data_worker", "python3 train.py", "RANK=3", NULL, 0, 0, ROLE_LOADER, 3, -1, 0},
	{"python3", "python3 train.py", "", "python3 train.py", ROLE_WORKER, 2, ROLE_WORKER, 2, -1, 0},
	{"python3", SPAWN, "RANK=0", "python3 train.py", ROLE_MAIN, 0, ROLE_WORKER, 0, -1, 0},
	{"python3", FORKSERVER, "RANK=0", "python3 train.py", ROLE_MAIN, 0, ROLE_HELPER, 0, -1, 0},
	{"python3", FORKSERVER, "RANK=0", FORKSERVER, ROLE_HELPER, 0, ROLE_WORKER, 0, -1, 0},
	{"python3", TRACKER, "RANK=0", "python3 train.py", ROLE_MAIN, 0, ROLE_HELPER, 0, -1, 0},
	{"python3", COMPILE_WORKER, "RANK=0", "python3 train.py", ROLE_MAIN, 0, ROLE_COMPILER, 0, -1, 0},
	{"python3", COMPILE_WORKER, "RANK=0", COMPILE_WORKER, ROLE_COMPILER, 0, ROLE_COMPILER, 0, -1, 0},
	{"cc1plus", "/usr/libexec/gcc/cc1plus -O2 x.cpp", "RANK=0", "g++ x.cpp", ROLE_COMPILER, 0, ROLE_COMPILER, 0, -1,
	 0},
	{"ptxas", "ptxas -o x", "RANK=0", COMPILE_WORKER, ROLE_COMPILER, 0, ROLE_COMPILER, 0, -1, 0},
	{"git", "git rev-parse HEAD", "RANK=0", "python3 train.py", ROLE_MAIN, 0, ROLE_HELPER, 0, -1, 0},
	{"nvidia-smi", "nvidia-smi -q", "A=1", "python3 train.py", ROLE_MAIN, -1, ROLE_HELPER, -1, -1, 0},
	/* a script that starts its own ranks */
	{"python3", "python3 worker.py", "RANK=1", "python3 start.py", ROLE_MAIN, -1, ROLE_MAIN, 1, -1, 0},
	{"python3", "python3 tool.py", "RANK=1", "python3 train.py", ROLE_MAIN, 1, ROLE_HELPER, 1, -1, 0},
	/* Ray */
	{"ray::train", "ray::train()", "A=1", "raylet --x", ROLE_RAY_SYSTEM, -1, ROLE_RAY_WORKER, -1, -1, 0},
	{"ray::IDLE", "ray::IDLE", "A=1", "raylet --x", ROLE_RAY_SYSTEM, -1, ROLE_RAY_WORKER, -1, -1, 0},
	{"ray::train", "ray::train()", "A=1", "ray::train()", ROLE_RAY_WORKER, -1, ROLE_WORKER, -1, -1, 0},
	{"python", "python /v/ray/_private/workers/default_worker.py --node", "A=1", "raylet --x", ROLE_RAY_SYSTEM, -1,
	 ROLE_RAY_WORKER, -1, -1, 0},
	{"raylet", "/v/ray/core/src/ray/raylet/raylet --port=0", "A=1", NULL, 0, 0, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"gcs_server", "/v/ray/core/src/ray/gcs/gcs_server --p", "A=1", NULL, 0, 0, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"python", "python -u /v/ray/dashboard/dashboard.py --host", "A=1", NULL, 0, 0, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"ray::Dashboard", "ray::DashboardAgent", "A=1", "raylet", ROLE_RAY_SYSTEM, -1, ROLE_RAY_SYSTEM, -1, -1, 0},
	/* Ray 2.60 */
	{"ray::DashboardS", "ray::DashboardStats.go", "A=1", "raylet", ROLE_RAY_SYSTEM, -1, ROLE_RAY_WORKER, -1, -1, 0},
	{"ray::RuntimeEnv", "ray::RuntimeEnvAgent", "A=1", "raylet", ROLE_RAY_SYSTEM, -1, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"ray::Act.go", "ray::Act.go", "A=1", "raylet --x", ROLE_RAY_SYSTEM, -1, ROLE_RAY_WORKER, -1, -1, 0},
	{"ray::Act", "ray::Act", "A=1", "raylet --x", ROLE_RAY_SYSTEM, -1, ROLE_RAY_WORKER, -1, -1, 0},
	{"ray-dashboard-D", "ray-dashboard-DataHead-0 (" FORKSERVER ")", "A=1", FORKSERVER, ROLE_HELPER, -1,
	 ROLE_RAY_SYSTEM, -1, -1, 0},
	{"python", "python ray-dashboard-x.py", "A=1", NULL, 0, 0, ROLE_MAIN, -1, -1, 0},
	{"python", "/v/bin/python -u /v/ray/autoscaler/_private/monitor.py --logs-dir=/t", "A=1", "python t.py",
	 ROLE_MAIN, -1, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"python", "/v/bin/python -u /v/ray/_private/log_monitor.py --session-dir=/t", "A=1", "python t.py", ROLE_MAIN,
	 -1, ROLE_RAY_SYSTEM, -1, -1, 0},
	{"python", "/v/bin/python /v/ray/dashboard/dashboard.py --host=::1", "A=1", "python t.py", ROLE_MAIN, -1,
	 ROLE_RAY_SYSTEM, -1, -1, 0},
	/* nothing to go by */
	{"kthreadd", "[kthreadd]", "", NULL, 0, 0, ROLE_OTHER, -1, -1, 0},
	{"python3", "", "", "python3 t.py", ROLE_MAIN, 4, ROLE_OTHER, 4, -1, 0},
};

static struct role_info judge_row(const struct row *r)
{
	char block[512];
	size_t n = strlen(r->environ);
	assert_true(n < sizeof(block));
	for (size_t i = 0; i < n; i++)
		block[i] = r->environ[i] == ' ' ? '\0' : r->environ[i];
	struct role_info parent = {.rank = r->parent_rank, .local_rank = NO_RANK, .role = r->parent_role};
	struct role_input in = {
		.comm = span_of(r->comm),
		.command = span_of(r->command),
		.numbers = role_numbers_of((struct span){block, n}),
		.parent = r->parent_command ? &parent : NULL,
		.parent_command = span_of(r->parent_command ? r->parent_command : ""),
	};
	struct role_info got;
	role_of(&in, &got);
	return got;
}

static void each_process_is_recognised_from_what_it_shows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct role_info got = judge_row(&rows[i]);
		if (got.role != rows[i].role || got.rank != rows[i].rank || got.local_rank != rows[i].local_rank ||
		    got.world_size != rows[i].world_size)
			fail_msg("row %zu (%s): got %s rank %d local %d of %d, expected %s rank %d local %d of %d", i,
				 rows[i].command, role_name(got.role), got.rank, got.local_rank, got.world_size,
				 role_name(rows[i].role), rows[i].rank, rows[i].local_rank, rows[i].world_size);
	}
}

static void ray_s_own_programs_are_known_by_what_the_kernel_keeps_of_their_names(void **state)
{
	(void)state;
	assert_true(role_is_ray_system(SPAN("raylet")));
	assert_true(role_is_ray_system(SPAN("gcs_server")));
	assert_true(role_is_ray_system(SPAN("ray::DashboardA")));
	assert_true(role_is_ray_system(SPAN("ray::RuntimeEnv")));
	assert_false(role_is_ray_system(SPAN("ray::DashboardB")));
	assert_false(role_is_ray_system(SPAN("ray::Dashboard")));
	assert_false(role_is_ray_system(SPAN("python3")));
	assert_false(role_is_ray_system(SPAN("")));
}

struct proof_row {
	const char *comm, *command, *path;
	bool of_root, of_user;
	enum role_proof proof;
	bool of_ours;
};

static const struct proof_row proofs[] = {
	{"raylet", "/v/ray/core/src/ray/raylet/raylet --raylet_socket_name=/tmp/ray/s/raylet",
	 "/v/ray/core/src/ray/raylet/raylet", false, true, ROLE_PROVEN, true},
	/* the user's own, seen by another user's vigil: anybody can make a folder "ray" */
	{"raylet", "/home/u/ray/raylet hog.py --log_dir=/x", "/home/u/ray/raylet", false, true, ROLE_LIKELY, false},
	{"gcs_server", "/v/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/ray/s/logs",
	 "/v/ray/core/src/ray/gcs/gcs_server", true, false, ROLE_PROVEN},
	/* of somebody else, without what Ray gives it, elsewhere, a program of another name, unknown */
	{"raylet", "/v/ray/raylet --raylet_socket_name=/x", "/v/ray/raylet", false, false, ROLE_UNPROVEN},
	{"raylet", "/v/ray/raylet", "/v/ray/raylet", false, true, ROLE_UNPROVEN},
	{"raylet", "raylet --raylet_socket_name=/x", "/home/u/raylet", false, true, ROLE_UNPROVEN},
	{"raylet", "raylet --raylet_socket_name=/x", "/usr/bin/python3.11", true, false, ROLE_UNPROVEN},
	{"raylet", "python hog.py", "/usr/bin/python3.11", true, false, ROLE_UNPROVEN},
	{"raylet", "raylet --raylet_socket_name=/x", "", false, false, ROLE_UNPROVEN},
	{"bash", "bash -c x", "/usr/bin/bash", true, false, ROLE_PROVEN},
	{"sh", "sh -c x", "/usr/bin/dash", true, false, ROLE_PROVEN},
	{"bash", "bash -c x", "/home/u/bash", false, true, ROLE_UNPROVEN},
	{"bash", "bash -c x", "/home/u/hog", false, true, ROLE_UNPROVEN},
	{"torchrun", "python hog.py", "/usr/bin/python3.11", true, false, ROLE_UNPROVEN},
	{"torchrun", "/v/bin/python /v/bin/torchrun t.py", "/usr/bin/python3.11", true, false, ROLE_LIKELY},
	{"python", "/v/bin/python -u /v/ray/dashboard/dashboard.py", "/v/bin/python3.11", false, true, ROLE_LIKELY},
};

static void a_name_is_proven_by_the_program_file_and_its_owner(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(proofs); i++) {
		const struct proof_row *r = &proofs[i];
		struct role_program p = {span_of(r->path), r->of_root, r->of_user, r->of_ours};
		if (role_proof_of(span_of(r->comm), span_of(r->command), &p) != r->proof)
			fail_msg("row %zu (%s as %s)", i, r->path, r->command);
	}
}

static void each_role_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int r = 0; r < ROLE_MAX; r++)
		for (int other = 0; other < r; other++)
			assert_string_not_equal(role_name((enum role)r), role_name((enum role)other));
	assert_string_equal(role_name(ROLE_MAX), "other");
}

static void the_number_of_a_rank_as_an_option(void **state)
{
	(void)state;
	static const struct {
		const char *command;
		int32_t number; /* -1: none */
	} is[] = {
		{"python3 train.py --rank 3 --world 4", 3},  {"python3 train.py --local-rank=0", 0},
		{"./train --global_rank 12", 12},	     {"python3 train.py --rank", -1},
		{"python3 train.py --rank x", -1},	     {"python3 train.py --rank=", -1},
		{"python3 train.py --rank_file 3", -1},	     {"python3 train.py --rank -1", -1},
		{"python3 train.py --rank 99999999999", -1}, {"python3 train.py --ranks 3", -1},
		{"python3 train.py --rank=3x", -1},	     {"", -1},
	};
	const struct role_info parent = {.rank = NO_RANK, .local_rank = NO_RANK, .role = ROLE_MAIN};
	struct role_info who;
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct role_input in = {.comm = span_of("python3"),
					.command = span_of(is[i].command),
					.parent = &parent,
					.parent_comm = span_of("python3"),
					.parent_command = span_of("python3 launch.py")};
		role_of(&in, &who);
		assert_int_equal(who.has_option, is[i].number >= 0);
		assert_int_equal(who.has_option ? who.option : -1, is[i].number);
		assert_int_equal(who.rank, NO_RANK);
		in.parent_command = in.command; /* a fork has the option of its parent, which is none of its own */
		role_of(&in, &who);
		assert_false(who.has_option);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_a_rank_as_an_option),
		cmocka_unit_test(each_process_is_recognised_from_what_it_shows),
		cmocka_unit_test(ray_s_own_programs_are_known_by_what_the_kernel_keeps_of_their_names),
		cmocka_unit_test(a_name_is_proven_by_the_program_file_and_its_owner),
		cmocka_unit_test(each_role_has_a_name_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
