#include "model/jobs/role.h"

#include <string.h>

static const char *const role_names[ROLE_MAX] = {
	[ROLE_OTHER] = "other",		  [ROLE_MAIN] = "main",
	[ROLE_LOADER] = "loader",	  [ROLE_WORKER] = "worker",
	[ROLE_COMPILER] = "compiler",	  [ROLE_LAUNCHER] = "launcher",
	[ROLE_RAY_WORKER] = "ray_worker", [ROLE_RAY_SYSTEM] = "ray_system",
	[ROLE_HELPER] = "helper",	  [ROLE_SHELL] = "shell",
};

const char *role_name(enum role r)
{
	return r < ROLE_MAX ? role_names[r] : "other";
}

bool role_name_serves(const char *name)
{
	return strcmp(name, role_names[ROLE_LOADER]) == 0 || strcmp(name, role_names[ROLE_WORKER]) == 0;
}

/*
 * How one launcher numbers processes. The first family whose rank variable is set gives all three numbers, so
 * families are never mixed: under srun a torchrun rank also has SLURM_PROCID, which numbers something else.
 */
struct rank_family {
	const char *rank, *local, *world;
};
static const struct rank_family families[] = {
	{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMIX_RANK", "", ""},
	{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},
	{"HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE"},
	{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
};
#define FAMILIES ARRAY_SIZE(families)

/* Larger than any real job; keeps implausible values out of tables indexed by rank. */
#define RANK_LIMIT 10000000

struct rank_values {
	struct span value[FAMILIES][3];
	struct span node; /* NODE_RANK */
};

static bool environ_name_is(struct span entry, const char *name, struct span *ret_value)
{
	size_t n = strlen(name);
	if (n == 0 || entry.len <= n || entry.p[n] != '=' || memcmp(entry.p, name, n) != 0)
		return false;
	*ret_value = (struct span){entry.p + n + 1, entry.len - n - 1};
	return true;
}

static void environ_entry(struct span entry, struct rank_values *v)
{
	/* Most variables begin with none of these letters; skip them quickly. */
	if (entry.len < 6 || !memchr("RLWOPMHSN", entry.p[0], 9))
		return;
	if (entry.p[0] == 'N') {
		struct span node;
		if (environ_name_is(entry, "NODE_RANK", &node) && !v->node.p)
			v->node = node;
		return;
	}
	for (size_t f = 0; f < FAMILIES; f++) {
		const char *const names[] = {families[f].rank, families[f].local, families[f].world};
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			struct span value;
			/* If a name occurs twice, getenv() returns the first. */
			if (environ_name_is(entry, names[k], &value) && !v->value[f][k].p)
				v->value[f][k] = value;
		}
	}
}

static int32_t rank_number(struct span s, int32_t fallback)
{
	uint64_t v;
	if (!s.p || span_u64(s, &v) != 0 || v >= RANK_LIMIT)
		return fallback;
	return (int32_t)v;
}

/*
 * Lightning sets only LOCAL_RANK and WORLD_SIZE for the ranks that it starts. On the first machine the local rank is
 * the rank; on the others the number of ranks before this machine is unknown.
 */
static void rank_by_local(const struct rank_values *v, struct role_numbers *ret)
{
	int32_t local = rank_number(v->value[0][1], NO_RANK), world = rank_number(v->value[0][2], 0);
	if (local == NO_RANK || local >= world || rank_number(v->node, 0) != 0)
		return;
	ret->rank = ret->local_rank = local;
	ret->world_size = world;
	ret->own_number = true;
}

struct role_numbers role_numbers_of(struct span block)
{
	struct role_numbers ret = {.known = block.len > 0, .rank = NO_RANK, .local_rank = NO_RANK};
	struct rank_values v = {0};
	while (block.len > 0) {
		const char *end = memchr(block.p, '\0', block.len);
		size_t n = end ? (size_t)(end - block.p) : block.len;
		environ_entry((struct span){block.p, n}, &v);
		n += end ? 1 : 0;
		block.p += n;
		block.len -= n;
	}
	for (size_t f = 0; f < FAMILIES; f++) {
		int32_t rank = rank_number(v.value[f][0], NO_RANK);
		if (rank == NO_RANK)
			continue;
		ret.rank = rank;
		ret.local_rank = rank_number(v.value[f][1], NO_RANK);
		ret.world_size = rank_number(v.value[f][2], 0);
		if (ret.world_size <= rank)
			ret.world_size = 0; /* contradicts the rank */
		return ret;
	}
	rank_by_local(&v, &ret);
	return ret;
}

static bool in_list(struct span s, const char *const *list)
{
	for (; *list; list++)
		if (span_eq(s, *list))
			return true;
	return false;
}

static struct span base_name(struct span path)
{
	for (size_t i = path.len; i-- > 0;)
		if (path.p[i] == '/')
			return (struct span){path.p + i + 1, path.len - i - 1};
	return path;
}

/* Word n of the command, without its folder. */
static struct span command_word(struct span command, size_t n)
{
	struct span word = {"", 0};
	for (size_t i = 0; i <= n; i++)
		if (!span_word(&command, &word))
			return (struct span){"", 0};
	return base_name(word);
}

static bool is_python(const struct role_input *in)
{
	struct span program = command_word(in->command, 0);
	return span_starts(program, "python") || span_starts(program, "pypy") || span_starts(in->comm, "python") ||
	       span_eq(in->comm, "pt_main_thread");
}

/*
 * True if a module runs as "-m NAME" or as a script of that name. Only the first words count: later words are the
 * arguments of the program.
 */
static bool runs_module(struct span command, const char *const *modules)
{
	struct span word;
	for (size_t i = 0; i < 8 && span_word(&command, &word); i++)
		if (in_list(word, modules) || (i < 3 && in_list(base_name(word), modules)))
			return true;
	return false;
}

static bool same_command_as_parent(const struct role_input *in)
{
	return in->parent && in->command.len > 0 && in->command.len == in->parent_command.len &&
	       memcmp(in->command.p, in->parent_command.p, in->command.len) == 0;
}

static const char *const launchers[] = {
	"torchrun",	      "accelerate", "deepspeed",  "horovodrun", "mpirun", "mpiexec",
	"mpiexec.hydra",      "orterun",    "prterun",	  "prted",	"orted",  "hydra_pmi_proxy",
	"hydra_bstrap_proxy", "srun",	    "slurmstepd", "composer",	"vigil",  NULL,
};
static const char *const launcher_modules[] = {
	"torchrun",
	"torch.distributed.run",
	"torch.distributed.launch",
	"torch.distributed.elastic",
	"accelerate",
	"accelerate.commands.launch",
	"accelerate.commands.accelerate_cli",
	"deepspeed",
	"deepspeed.launcher.launch",
	"deepspeed.launcher.runner",
	"horovod.runner.launch",
	"composer",
	"paddle.distributed.launch",
	NULL,
};
static const char *const shells[] = {
	"sh",	   "bash",	"dash",	       "zsh",	    "ksh",   "mksh", "fish",	"tcsh",	  "csh",     "busybox",
	"timeout", "nohup",	"time",	       "env",	    "sudo",  "su",   "runuser", "setsid", "setpriv", "unshare",
	"tini",	   "dumb-init", "docker-init", "catatonit", "xargs", "make", "script",	"flock",  "strace",  NULL,
};
static const char *const compilers[] = {
	"cc1",	     "cc1plus",
	"cc",	     "c++",
	"gcc",	     "g++",
	"clang",     "clang++",
	"as",	     "ld",
	"ld.lld",    "lld",
	"collect2",  "nvcc",
	"cicc",	     "ptxas",
	"fatbinary", "nvlink",
	"cudafe++",  "ninja",
	"hipcc",     "triton-llvm-opt",
	NULL,
};
static const char *const ray_daemons[] = {"raylet", "gcs_server", "plasma_store", "plasma_store_server", NULL};
/* Ray's agents have titles like those of tasks; the name of a task may begin with the same word. */
static const char *const ray_agents[] = {"ray::DashboardAgent", "ray::RuntimeEnvAgent", NULL};
static const char *const ray_scripts[] = {
	"/ray/dashboard/",
	"/ray/_private/log_monitor.py",
	"/ray/autoscaler/_private/monitor.py",
	"/ray/_private/runtime_env/agent/",
	"ray.util.client.server",
	NULL,
};
/* Programs that are never the main program of a job, even right below a shell ("train.py | tee log"). */
static const char *const utilities[] = {
	"tee", "cat", "grep", "sed",	    "awk",   "gawk", "mawk", "head", "tail", "less", "sleep", "sort",
	"tr",  "cut", "ts",   "nvidia-smi", "rsync", "tar",  "gzip", "zstd", "ps",   "top",  "watch", NULL,
};

bool role_is_ray_system(struct span comm)
{
	const size_t kept = 15; /* bytes of a name */
	for (const char *const *a = ray_agents; comm.len == kept && *a; a++)
		if (memcmp(comm.p, *a, kept) == 0)
			return true;
	return in_list(comm, ray_daemons);
}

static bool ray_role(const struct role_input *in, enum role *ret)
{
	if (span_starts(in->command, "ray::") || span_starts(in->comm, "ray::")) {
		*ret = in_list(command_word(in->command, 0), ray_agents) ? ROLE_RAY_SYSTEM : ROLE_RAY_WORKER;
		return true;
	}
	/* the dashboard's parts put their titles in front of the command line of their fork server */
	if (span_starts(in->command, "ray-dashboard-") && span_starts(in->comm, "ray-dashboard-")) {
		*ret = ROLE_RAY_SYSTEM;
		return true;
	}
	if (in_list(in->comm, ray_daemons) || in_list(command_word(in->command, 0), ray_daemons)) {
		*ret = ROLE_RAY_SYSTEM;
		return true;
	}
	if (!is_python(in))
		return false;
	if (span_has(in->command, "/ray/_private/workers/")) {
		*ret = ROLE_RAY_WORKER;
		return true;
	}
	for (const char *const *s = ray_scripts; *s; s++)
		if (span_has(in->command, *s)) {
			*ret = ROLE_RAY_SYSTEM;
			return true;
		}
	return false;
}

/* Recognises what CPython's multiprocessing and torch put on the command line or in the process name. */
static bool python_role(const struct role_input *in, enum role *ret)
{
	if (span_eq(in->comm, "pt_data_worker"))
		*ret = ROLE_LOADER;
	else if (span_eq(in->comm, "pt_elastic"))
		*ret = ROLE_LAUNCHER;
	else if (span_has(in->command, "torch/_inductor/compile_worker"))
		*ret = ROLE_COMPILER;
	else if (span_has(in->command, "multiprocessing.resource_tracker") ||
		 span_has(in->command, "multiprocessing.semaphore_tracker"))
		*ret = ROLE_HELPER;
	else if (span_has(in->command, "from multiprocessing.forkserver import"))
		/* The fork server forks workers, which keep its command line. */
		*ret = span_has(in->parent_command, "from multiprocessing.forkserver import") ? ROLE_WORKER
											      : ROLE_HELPER;
	else if (span_has(in->command, "from multiprocessing.spawn import"))
		*ret = ROLE_WORKER;
	else if (span_has(in->command, "joblib.externals.loky.backend"))
		*ret = span_has(in->command, "resource_tracker") ? ROLE_HELPER : ROLE_WORKER;
	else
		return false;
	return true;
}

static bool named_role(const struct role_input *in, enum role *ret)
{
	struct span program = command_word(in->command, 0);
	if (in_list(in->comm, launchers) || in_list(program, launchers) || span_starts(in->command, "slurmstepd:"))
		*ret = ROLE_LAUNCHER;
	else if (is_python(in) && runs_module(in->command, launcher_modules))
		*ret = ROLE_LAUNCHER;
	else if (in_list(program, shells) || (program.len == 0 && in_list(in->comm, shells)))
		*ret = ROLE_SHELL;
	else if (in_list(program, compilers))
		*ret = ROLE_COMPILER;
	else
		return false;
	return true;
}

/* What Ray gives its daemons when it starts them, whatever else. */
static const char *const daemon_arguments[] = {
	"--raylet_socket_name=", "--store_socket_name=", "--gcs_server_port=", "--config_list=", "--log_dir=", NULL,
};

static bool has_any(struct span s, const char *const *list)
{
	for (; *list; list++)
		if (span_has(s, *list))
			return true;
	return false;
}

enum role_proof role_proof_of(struct span comm, struct span command, const struct role_program *program)
{
	const struct role_input in = {.comm = comm, .command = command};
	struct span file = base_name(program->path);
	enum role ray;
	if (program->path.len == 0)
		return ROLE_UNPROVEN;
	if (in_list(file, ray_daemons)) {
		if (!span_has(program->path, "/ray/") || !has_any(command, daemon_arguments))
			return ROLE_UNPROVEN;
		if (program->of_root || program->of_ours)
			return ROLE_PROVEN;
		return program->of_user ? ROLE_LIKELY : ROLE_UNPROVEN;
	}
	if (program->of_root && (in_list(file, launchers) || in_list(file, shells)))
		return ROLE_PROVEN;
	if (!span_starts(file, "python") && !span_starts(file, "pypy"))
		return ROLE_UNPROVEN;
	bool daemon = in_list(comm, ray_daemons) || in_list(command_word(command, 0), ray_daemons);
	bool script = runs_module(command, launcher_modules) || (!daemon && ray_role(&in, &ray));
	return script ? ROLE_LIKELY : ROLE_UNPROVEN;
}

/*
 * True for a rank that its parent started with the same command line. A mere fork would have the environment, and so
 * the rank, of the parent.
 */
static bool started_as_rank(const struct role_input *in, const struct role_info *info)
{
	return in->parent && in->parent->role == ROLE_MAIN && info->rank != NO_RANK && info->rank != in->parent->rank;
}

/* A child with the command line of its parent is a fork that does part of its work. */
static enum role forked_role(enum role parent)
{
	switch (parent) {
	case ROLE_MAIN:
	case ROLE_LOADER:
	case ROLE_WORKER:
	case ROLE_RAY_WORKER:
		return ROLE_WORKER;
	case ROLE_OTHER:
		return ROLE_MAIN;
	case ROLE_SHELL: /* a subshell starts programs as its parent does */
		return ROLE_SHELL;
	default:
		return parent == ROLE_COMPILER ? ROLE_COMPILER : ROLE_HELPER;
	}
}

/* The role of a program whose name is not recognised depends on its parent. */
static enum role placed_role(const struct role_input *in, const struct role_info *info)
{
	struct span program = command_word(in->command, 0);
	if (in->parent && (in_list(program, utilities) || in_list(in->comm, utilities)))
		return ROLE_HELPER;
	if (!in->parent)
		return ROLE_MAIN;
	switch (in->parent->role) {
	case ROLE_SHELL:
	case ROLE_LAUNCHER:
	case ROLE_OTHER:
		return ROLE_MAIN;
	case ROLE_MAIN:
		/* A script that starts ranks itself gives each its own number. */
		return info->rank != NO_RANK && info->rank != in->parent->rank ? ROLE_MAIN : ROLE_HELPER;
	case ROLE_COMPILER:
		return ROLE_COMPILER;
	default:
		return ROLE_HELPER;
	}
}

/* True for "[name]" and for no command line: a kernel thread, a zombie, or a process that hides its arguments. */
static bool has_no_command(const struct role_input *in)
{
	return in->command.len == 0 || (in->command.p[0] == '[' && in->command.p[in->command.len - 1] == ']');
}

static enum role decide(const struct role_input *in, const struct role_info *info)
{
	enum role role;
	if (has_no_command(in) && !in->numbers.known)
		return ROLE_OTHER;
	if (ray_role(in, &role)) {
		/* A fork of a Ray worker keeps its title. */
		if (role == ROLE_RAY_WORKER && same_command_as_parent(in) && in->parent->role == ROLE_RAY_WORKER)
			return ROLE_WORKER;
		return role;
	}
	if (python_role(in, &role))
		return role;
	if (same_command_as_parent(in) && !started_as_rank(in, info))
		return forked_role(in->parent->role);
	if (named_role(in, &role))
		return role;
	return placed_role(in, info);
}

/* The value of a word like "--rank=3", or of the next word after "--rank". */
static bool option_value(struct span word, struct span rest, const char *name, uint64_t *ret)
{
	const size_t len = strlen(name);
	struct span value;
	if (!span_starts(word, name))
		return false;
	if (word.len > len)
		return word.p[len] == '=' && span_u64((struct span){word.p + len + 1, word.len - len - 1}, ret) == 0;
	return span_word(&rest, &value) && span_u64(value, ret) == 0;
}

/* The number of a rank among the arguments of a program. */
static bool option_of(struct span command, int32_t *ret)
{
	static const char *const names[] = {"--rank",	     "--global_rank", "--global-rank", "--local_rank",
					    "--local-rank", "--proc_id",     "--proc-id"};
	const uint64_t limit = 100000;
	struct span word;
	uint64_t v;
	while (span_word(&command, &word))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (option_value(word, command, names[i], &v) && v < limit) {
				*ret = (int32_t)v;
				return true;
			}
	return false;
}

void role_of(const struct role_input *in, struct role_info *ret)
{
	struct role_info info = {.rank = NO_RANK, .local_rank = NO_RANK, .role = ROLE_OTHER};
	if (in->numbers.known) {
		info.rank = in->numbers.rank;
		info.local_rank = in->numbers.local_rank;
		info.world_size = in->numbers.world_size;
		info.own_number = in->numbers.own_number;
	} else if (in->parent) {
		info.rank = in->parent->rank;
		info.local_rank = in->parent->local_rank;
		info.world_size = in->parent->world_size;
		info.own_number = in->parent->own_number;
	}
	info.role = decide(in, &info);
	info.proof = in->proof;
	info.forked = same_command_as_parent(in) && !started_as_rank(in, &info);
	info.has_option = !same_command_as_parent(in) && option_of(in->command, &info.option);
	if (info.role == ROLE_LAUNCHER) {
		info.rank = NO_RANK;
		info.local_rank = NO_RANK;
	}
	*ret = info;
}
