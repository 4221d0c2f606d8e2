#include "model/hang/activity.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

/* Several frames of a stack may match a row: the strongest row wins, and among equals the innermost frame's. */
enum strength {
	OUTER, /* a coarse outline, used only when nothing better matches */
	WAIT, /* a plain wait whose purpose is unknown */
	PURPOSE, /* the wait that such a plain one is part of */
	WORK, /* names the purpose of the work or wait */
	DEVICE, /* waits for the device, whatever the purpose */
	RANKS, /* waits for other ranks, whatever the purpose */
	RANKS_WHOLE, /* the call of several messages, or collectives, that such a wait is part of */
	HELD, /* stopped in a debugger */
};

struct row {
	enum activity kind;
	enum strength strength;
	const char *name; /* function, without its class; a '*' at the end makes it a prefix; NULL: any */
	const char *file; /* part of the file's path or, for native frames, of the module; NULL: any */
	const char *op; /* text shown for it; NULL: the function's name */
};

/*
 * Python frames. Files are named as they are installed in site-packages or the standard library. A new row needs the
 * function's name without its class, and a part of the path that no file of a user contains.
 */
static const struct row python_rows[] = {
	/* debuggers */
	{ACTIVITY_DEBUGGER, HELD, "interaction", "pdb.py", "pdb"},
	{ACTIVITY_DEBUGGER, HELD, "cmdloop", "cmd.py", "pdb"},
	{ACTIVITY_DEBUGGER, HELD, "*", "debugpy/", "debugpy"},
	{ACTIVITY_DEBUGGER, HELD, "*", "pydevd", "pydevd"},
	{ACTIVITY_DEBUGGER, HELD, "wait_for_client", NULL, "debugpy"},
	/* other ranks */
	{ACTIVITY_P2P, RANKS, "send", "torch/distributed/", NULL},
	{ACTIVITY_P2P, RANKS, "recv", "torch/distributed/", NULL},
	{ACTIVITY_P2P, RANKS, "isend", "torch/distributed/", NULL},
	{ACTIVITY_P2P, RANKS, "irecv", "torch/distributed/", NULL},
	{ACTIVITY_P2P, RANKS, "batch_isend_irecv", "torch/distributed/", NULL},
	{ACTIVITY_P2P, RANKS, "*", "pipelining/schedules.py", "pipeline schedule"},
	{ACTIVITY_P2P, RANKS, "*", "pipeline_parallel/p2p_communication.py", "pipeline p2p"},
	/* calls of several collectives: which one of these a rank is in tells nothing of the call that it has made */
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "all_gather_object", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "gather_object", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "broadcast_object_list", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "scatter_object_list", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "all_reduce*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "all_gather*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "_all_gather*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "all_to_all*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "reduce_scatter*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "reduce", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "broadcast*", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "gather", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "scatter", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "barrier", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "monitored_barrier", "torch/distributed/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "_broadcast_coalesced", "torch/distributed/", "broadcast of buffers"},
	{ACTIVITY_COLLECTIVE, RANKS, "_sync_module_states", "torch/distributed/", "broadcast of parameters"},
	{ACTIVITY_COLLECTIVE, RANKS, "_verify_param_shape_across_processes", "torch/distributed/", "parameter check"},
	{ACTIVITY_COLLECTIVE, RANKS, "allreduce*", "horovod/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "synchronize", "horovod/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "wait_for_everyone", "accelerate/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "gather", "accelerate/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "sync_global_devices", "jax/", NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "*", "deepspeed/comm/", NULL},
	{ACTIVITY_STORE, RANKS, "init_process_group", "torch/distributed/", NULL},
	{ACTIVITY_STORE, RANKS, "_new_process_group_helper", "torch/distributed/", "new_group"},
	{ACTIVITY_STORE, RANKS, "new_group", "torch/distributed/", NULL},
	{ACTIVITY_STORE, RANKS, "_store_based_barrier", "torch/distributed/", "store barrier"},
	{ACTIVITY_STORE, RANKS, "_create_c10d_store", "torch/distributed/", "TCPStore"},
	{ACTIVITY_STORE, RANKS, "*_rendezvous_handler", "torch/distributed/", "rendezvous"},
	{ACTIVITY_STORE, RANKS, "next_rendezvous", "torch/distributed/", "rendezvous"},
	{ACTIVITY_STORE, RANKS, "initialize", "jax/_src/distributed.py", "jax.distributed.initialize"},
	{ACTIVITY_SYNC_BN, OUTER, "*", "torch/nn/modules/_functions.py", "SyncBatchNorm"},
	/* data */
	{ACTIVITY_LOADER_WAIT, WORK, "_try_get_data", "utils/data/dataloader.py", "the data loader"},
	{ACTIVITY_LOADER_WAIT, WORK, "_get_data", "utils/data/dataloader.py", "the data loader"},
	{ACTIVITY_LOADER_WAIT, WORK, "_next_data", "utils/data/dataloader.py", "the data loader"},
	{ACTIVITY_LOADER_WAIT, WORK, "_shutdown_workers", "utils/data/dataloader.py",
	 "the data loader's workers to end"},
	{ACTIVITY_LOADER_WORK, OUTER, "_worker_loop", "utils/data/_utils/worker.py", "a data loader's worker"},
	{ACTIVITY_LOADER_WORK, OUTER, "fetch", "utils/data/_utils/fetch.py", "a data loader's worker"},
	/* remote storage: stands before the rows of the calls it uses, because the first match counts */
	{ACTIVITY_DATA_COPY, WORK, "copy_parallel", NULL, "copy_parallel"},
	{ACTIVITY_DATA_COPY, WORK, "*", "moxing/framework/file", "moxing"},
	{ACTIVITY_DATA_COPY, WORK, "*", "obs/client.py", "object storage"},
	{ACTIVITY_DATA_COPY, WORK, "*", "s3transfer/", "S3 transfer"},
	{ACTIVITY_DATA_COPY, WORK, "copytree", "shutil.py", "copytree"},
	{ACTIVITY_DATA_COPY, WORK, "copyfile*", "shutil.py", "copyfile"},
	{ACTIVITY_REMOTE_WRITER, WORK, "*", "tensorboard/summary/writer/event_file_writer", "TensorBoard's writer"},
	{ACTIVITY_REMOTE_WRITER, WORK, "*", "tensorboard/summary/writer/record_writer", "TensorBoard's writer"},
	{ACTIVITY_REMOTE_WRITER, WORK, "*", "utils/tensorboard/writer.py", "TensorBoard's writer"},
	{ACTIVITY_REMOTE_WRITER, WORK, "*", "tensorboardX/", "TensorBoard's writer"},
	/* work that may take long without a step */
	{ACTIVITY_CHECKPOINT, WORK, "save", "torch/serialization.py", "torch.save"},
	{ACTIVITY_CHECKPOINT, WORK, "_save", "torch/serialization.py", "torch.save"},
	{ACTIVITY_CHECKPOINT, WORK, "load", "torch/serialization.py", "torch.load"},
	{ACTIVITY_CHECKPOINT, WORK, "*", "torch/distributed/checkpoint/", "dcp"},
	{ACTIVITY_CHECKPOINT, WORK, "save_file*", "safetensors/", "safetensors"},
	{ACTIVITY_CHECKPOINT, WORK, "save_checkpoint", NULL, "save_checkpoint"},
	{ACTIVITY_CHECKPOINT, WORK, "_save_checkpoint", NULL, "save_checkpoint"},
	{ACTIVITY_CHECKPOINT, WORK, "save_pretrained", NULL, "save_pretrained"},
	{ACTIVITY_CHECKPOINT, WORK, "save_state", NULL, "save_state"},
	{ACTIVITY_CHECKPOINT, WORK, "load_checkpoint", NULL, "load_checkpoint"},
	{ACTIVITY_CHECKPOINT, WORK, "*", "orbax/checkpoint", "orbax"},
	{ACTIVITY_DOWNLOAD, WORK, "snapshot_download", NULL, "snapshot_download"},
	{ACTIVITY_DOWNLOAD, WORK, "hf_hub_download", NULL, "hf_hub_download"},
	{ACTIVITY_DOWNLOAD, WORK, "http_get", "huggingface_hub/", "download"},
	{ACTIVITY_DOWNLOAD, WORK, "download_and_prepare", "datasets/", "datasets"},
	{ACTIVITY_DOWNLOAD, WORK, "_prepare_split*", "datasets/", "datasets"},
	{ACTIVITY_DOWNLOAD, WORK, "map", "datasets/", "datasets.map"},
	{ACTIVITY_DOWNLOAD, WORK, "_map_single", "datasets/", "datasets.map"},
	{ACTIVITY_DOWNLOAD, WORK, "download_url*", NULL, "download"},
	{ACTIVITY_DOWNLOAD, WORK, "urlretrieve", "urllib/", "download"},
	{ACTIVITY_DOWNLOAD, WORK, "urlopen", "urllib/", "download"},
	{ACTIVITY_DOWNLOAD, WORK, "request", "requests/", "download"},
	{ACTIVITY_DOWNLOAD, WORK, "stream", "urllib3/response.py", "download"},
	{ACTIVITY_DOWNLOAD, WORK, "read", "http/client.py", "download"},
	{ACTIVITY_COMPILE, WORK, "*", "torch/_inductor/", "torch.compile"},
	{ACTIVITY_COMPILE, WORK, "*", "torch/_dynamo/convert_frame.py", "torch.compile"},
	{ACTIVITY_COMPILE, WORK, "compile", "triton/", "Triton"},
	{ACTIVITY_COMPILE, WORK, "*", "triton/compiler/", "Triton"},
	{ACTIVITY_COMPILE, WORK, "*", "triton/runtime/autotuner.py", "Triton's autotuner"},
	{ACTIVITY_COMPILE, WORK, "*", "torch/utils/cpp_extension.py", "a C++ extension"},
	{ACTIVITY_COMPILE, WORK, "backend_compile*", "jax/_src/", "XLA"},
	{ACTIVITY_COMPILE, WORK, "compile_or_get_cached", "jax/_src/", "XLA"},
	{ACTIVITY_COMPILE, WORK, "*", "numba/core/compiler", "numba"},
	{ACTIVITY_COMPILE, WORK, "capture_*", "torch/cuda/graphs.py", "CUDA graph capture"},
	{ACTIVITY_COMPILE, WORK, "__enter__", "torch/cuda/graphs.py", "CUDA graph capture"},
	{ACTIVITY_COMPILE, WORK, "__exit__", "torch/cuda/graphs.py", "CUDA graph capture"},
	{ACTIVITY_COMPILE, WORK, "make_graphed_callables", "torch/cuda/graphs.py", "CUDA graph capture"},
	{ACTIVITY_UPLOAD, WORK, "finish", "wandb/", "wandb.finish"},
	{ACTIVITY_UPLOAD, WORK, "_atexit_cleanup", "wandb/", "wandb.finish"},
	{ACTIVITY_UPLOAD, WORK, "upload*", NULL, "an upload"},
	{ACTIVITY_UPLOAD, WORK, "push_to_hub", NULL, "push_to_hub"},
	{ACTIVITY_UPLOAD, WORK, "_await_output_upload", NULL, "an upload"},
	{ACTIVITY_IMPORT, OUTER, "_find_and_load*", "<frozen importlib", "import"},
	{ACTIVITY_IMPORT, OUTER, "_call_with_frames_removed", "<frozen importlib", "import"},
	/* outlines */
	{ACTIVITY_EVALUATE, OUTER, "evaluate", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "evaluation*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "eval_*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "_eval*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "validate*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "validation*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "run_eval*", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "test_step", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "generate", "transformers/", NULL},
	{ACTIVITY_EVALUATE, OUTER, "*", "loops/evaluation_loop.py", "evaluation"},
	{ACTIVITY_OPTIMIZER, OUTER, "step", "torch/optim/", "optimizer.step"},
	{ACTIVITY_BACKWARD, OUTER, "backward", "torch/", "backward"},
	{ACTIVITY_BACKWARD, OUTER, "_engine_run_backward", "torch/", "backward"},
	/* exit */
	{ACTIVITY_EXIT, RANKS, "destroy_process_group", "torch/distributed/", NULL},
	{ACTIVITY_EXIT, WORK, "_python_exit", "concurrent/futures/", "the interpreter's end"},
	{ACTIVITY_EXIT, WORK, "_shutdown", "threading.py", "the interpreter's end (threads still run)"},
	{ACTIVITY_EXIT, WORK, "_exit_function", "multiprocessing/util.py",
	 "the interpreter's end (children still run)"},
	/* waits */
	{ACTIVITY_INPUT, WAIT, "input", NULL, "input"},
	{ACTIVITY_JOIN, WAIT, "join", "threading.py", "a thread's end"},
	{ACTIVITY_JOIN, WAIT, "join", "multiprocessing/", "a process's end"},
	{ACTIVITY_JOIN, WAIT, "wait", "subprocess.py", "a process's end"},
	{ACTIVITY_JOIN, WAIT, "communicate", "subprocess.py", "a process's end"},
	{ACTIVITY_JOIN, WAIT, "result", "concurrent/futures/", "a future"},
	{ACTIVITY_LOCK, WAIT, "wait", "threading.py", "a lock"},
	{ACTIVITY_LOCK, WAIT, "acquire", NULL, "a lock"},
	{ACTIVITY_LOCK, PURPOSE, "get", "multiprocessing/queues.py", "a queue"},
	{ACTIVITY_LOCK, PURPOSE, "get", "queue.py", "a queue"},
	{ACTIVITY_LOCK, PURPOSE, "put", "queue.py", "a queue"},
	{ACTIVITY_LOCK, WAIT, "__enter__", "multiprocessing/synchronize.py", "a lock"},
	{ACTIVITY_LOCK, WAIT, "*", "multiprocessing/connection.py", "a pipe"},
};

/* Native frames: the whole demangled name is searched. */
static const struct row native_rows[] = {
	{ACTIVITY_COLLECTIVE, RANKS, "ncclAllReduce", NULL, "all_reduce"},
	{ACTIVITY_COLLECTIVE, RANKS, "ncclAllGather", NULL, "all_gather"},
	{ACTIVITY_COLLECTIVE, RANKS, "ncclReduceScatter", NULL, "reduce_scatter"},
	{ACTIVITY_COLLECTIVE, RANKS, "ncclBroadcast", NULL, "broadcast"},
	{ACTIVITY_COLLECTIVE, RANKS, "ncclGroupEnd", NULL, "an NCCL group"},
	{ACTIVITY_STORE, RANKS, "ncclCommInit", NULL, "ncclCommInitRank"},
	{ACTIVITY_STORE, RANKS, "bootstrapInit", "libnccl", "NCCL's bootstrap"},
	{ACTIVITY_P2P, RANKS, "ncclSend", NULL, "send"},
	{ACTIVITY_P2P, RANKS, "ncclRecv", NULL, "recv"},
	{ACTIVITY_COLLECTIVE, RANKS, "gloo::allreduce", NULL, "all_reduce"},
	{ACTIVITY_COLLECTIVE, RANKS, "gloo::barrier", NULL, "barrier"},
	{ACTIVITY_COLLECTIVE, RANKS, "gloo::broadcast", NULL, "broadcast"},
	{ACTIVITY_COLLECTIVE, RANKS, "gloo::allgather", NULL, "all_gather"},
	{ACTIVITY_COLLECTIVE, RANKS, "ProcessGroupGloo::AsyncWork::wait", NULL, "a gloo collective"},
	{ACTIVITY_P2P, RANKS, "ProcessGroupGloo::SendWork::wait", NULL, "send"},
	{ACTIVITY_P2P, RANKS, "ProcessGroupGloo::RecvWork::wait", NULL, "recv"},
	{ACTIVITY_COLLECTIVE, RANKS, "c10d::Reducer::", NULL, "the all_reduce of gradients"},
	{ACTIVITY_COLLECTIVE, RANKS, "ProcessGroupNCCL::WorkNCCL::", NULL, "an NCCL collective"},
	{ACTIVITY_STORE, RANKS, "c10d::TCPStore::", NULL, "TCPStore"},
	{ACTIVITY_STORE, RANKS, "c10d::FileStore::", NULL, "FileStore"},
	{ACTIVITY_STORE, RANKS, "c10d::PrefixStore::", NULL, "TCPStore"},
	{ACTIVITY_STORE, RANKS, "tsl::CoordinationServiceAgent::", NULL, "the coordination service"},
	{ACTIVITY_STORE, RANKS, "tsl::CoordinationServiceAgentImpl::", NULL, "the coordination service"},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Allreduce", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Barrier", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Bcast", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Allgather", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Alltoall", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Reduce", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Gather", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Scatter", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Scan", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Exscan", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Neighbor_", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Win_fence", NULL, NULL},
	{ACTIVITY_COLLECTIVE, RANKS, "MPI_Comm_", NULL, NULL},
	{ACTIVITY_STORE, RANKS, "MPI_Init", NULL, NULL},
	{ACTIVITY_EXIT, RANKS, "MPI_Finalize", NULL, NULL},
	/* mpi4py makes these of objects by messages of its own */
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "Comm.allreduce", "MPI.", "MPI_Allreduce"},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "Comm.reduce", "MPI.", "MPI_Reduce"},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "Intracomm.scan", "MPI.", "MPI_Scan"},
	{ACTIVITY_COLLECTIVE, RANKS_WHOLE, "Intracomm.exscan", "MPI.", "MPI_Exscan"},
	{ACTIVITY_P2P, RANKS, "MPI_Recv", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Send", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Wait", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Probe", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Mprobe", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Iprobe", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Improbe", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Mrecv", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Sendrecv", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Ssend", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Test", NULL, NULL},
	{ACTIVITY_P2P, RANKS, "MPI_Win_", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cudaStreamSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cudaDeviceSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cudaEventSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cuStreamSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cuCtxSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "cudaMemcpy", NULL, "cudaMemcpy"},
	{ACTIVITY_GPU_SYNC, DEVICE, "hipStreamSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "hipDeviceSynchronize", NULL, NULL},
	{ACTIVITY_GPU_SYNC, DEVICE, "aclrtSynchronize", NULL, NULL},
	{ACTIVITY_OPENMP, DEVICE, NULL, "libgomp", "an OpenMP team"},
	{ACTIVITY_OPENMP, DEVICE, NULL, "libiomp", "an OpenMP team"},
	{ACTIVITY_OPENMP, DEVICE, NULL, "libomp.so", "an OpenMP team"},
	{ACTIVITY_COMPILE, WORK, NULL, "libnvrtc", "NVRTC"},
	{ACTIVITY_COMPILE, WORK, NULL, "libnvptxcompiler", "ptxas"},
	{ACTIVITY_COMPILE, WORK, "llvm::PassManager", NULL, "LLVM"},
	/* outlines: compared with the function's bare name, because many names contain these words */
	{ACTIVITY_EVALUATE, OUTER, "evaluate", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "evaluation", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "validate", NULL, NULL},
	{ACTIVITY_EVALUATE, OUTER, "validation", NULL, NULL},
	{ACTIVITY_CHECKPOINT, OUTER, "save_checkpoint", NULL, NULL},
	{ACTIVITY_CHECKPOINT, OUTER, "write_checkpoint", NULL, NULL},
	{ACTIVITY_CHECKPOINT, OUTER, "load_checkpoint", NULL, NULL},
};

bool activity_waits_for_ranks(enum activity a)
{
	return a == ACTIVITY_COLLECTIVE || a == ACTIVITY_P2P || a == ACTIVITY_STORE || a == ACTIVITY_SYNC_BN;
}

/* The name without its class or enclosing function: "_next_data" of "DataLoader._next_data". */
static const char *bare(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot && dot[1] ? dot + 1 : name;
}

static bool name_fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);
	if (pattern[0] == '*')
		return strstr(name, pattern + 1) != NULL;
	return pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0 : strcmp(name, pattern) == 0;
}

static bool ends_with_file(const char *file, const char *piece)
{
	const char *at = strstr(file, piece);
	/* A match must begin a path component: "queue.py" does not match "myqueue.py". */
	while (at && at > file && at[-1] != '/' && piece[0] != '/' && piece[0] != '<')
		at = strstr(at + 1, piece);
	return at != NULL;
}

static bool python_fits(const struct row *r, const struct dump_frame *f)
{
	return name_fits(r->name, bare(f->name)) && (!r->file || (f->file && ends_with_file(f->file, r->file)));
}

/* "evaluate" of "Trainer::evaluate(Batch const&)". Names of templates and operators are cut short and match no row. */
static struct span native_bare(const char *name)
{
	struct span s = {name, strcspn(name, "(<")};
	for (size_t i = s.len; i-- > 0;)
		if (s.p[i] == ':')
			return (struct span){s.p + i + 1, s.len - i - 1};
	return s;
}

static bool native_fits(const struct row *r, const struct dump_frame *f)
{
	if (r->strength == OUTER)
		return span_eq(native_bare(f->name), r->name);
	return (!r->name || strstr(f->name, r->name)) && (!r->file || (f->module && strstr(f->module, r->file)));
}

static const struct row *activity_row_of(const struct dump_frame *f)
{
	if (f->kind == FRAME_PYTHON) {
		for (size_t i = 0; i < ARRAY_SIZE(python_rows); i++)
			if (python_fits(&python_rows[i], f))
				return &python_rows[i];
	} else if (f->kind == FRAME_NATIVE) {
		for (size_t i = 0; i < ARRAY_SIZE(native_rows); i++)
			if (native_fits(&native_rows[i], f))
				return &native_rows[i];
	}
	return NULL;
}

bool activity_is_user(const struct dump_frame *f)
{
	static const char *const libraries[] = {
		"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3", "/lib/pypy", ".zip/",
	};
	if (f->kind != FRAME_PYTHON || !f->file || !*f->file || f->file[0] == '<')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (strstr(f->file, libraries[i]))
			return false;
	return true;
}

static void also(const struct row *r, struct activity_found *ret)
{
	ret->also_sync_bn |= r->kind == ACTIVITY_SYNC_BN;
	ret->also_checkpoint |= r->kind == ACTIVITY_CHECKPOINT;
	ret->also_evaluate |= r->kind == ACTIVITY_EVALUATE;
	ret->also_compile |= r->kind == ACTIVITY_COMPILE;
	ret->also_loader |= r->kind == ACTIVITY_LOADER_WORK;
}

/* A select or poll without descriptors is a sleep; time.sleep does this up to Python 3.10. */
static bool sleeps(const struct dump_thread *t)
{
	if (t->wait.kind == WAIT_SLEEP)
		return true;
	if (t->wait.kind != WAIT_POLL || !t->wait.has_syscall)
		return false;
	if (strcmp(t->syscall, "select") == 0 || strcmp(t->syscall, "pselect6") == 0)
		return t->wait.arg[0] == 0;
	return (strcmp(t->syscall, "poll") == 0 || strcmp(t->syscall, "ppoll") == 0) && t->wait.arg[1] == 0;
}

/* Takes the activity from the system call when no frame names it. */
static void by_wait(const struct dump_thread *t, struct activity_found *ret)
{
	if (sleeps(t)) {
		ret->kind = ACTIVITY_SLEEP;
		ret->op = t->has_python ? "time.sleep" : "a sleep";
		return;
	}
	switch (t->wait.kind) {
	case WAIT_LOCK:
		ret->kind = ACTIVITY_LOCK;
		ret->op = "a lock";
		return;
	case WAIT_TTY:
		if (strncmp(t->syscall, "write", strlen("write")) == 0)
			return;
		ret->kind = ACTIVITY_INPUT;
		ret->op = "a terminal's input";
		return;
	case WAIT_CHILD:
		ret->kind = ACTIVITY_JOIN;
		ret->op = "a process's end";
		return;
	case WAIT_GPU:
		ret->kind = ACTIVITY_GPU_SYNC;
		ret->op = "the GPU's driver";
		return;
	default:
		return;
	}
}

void activity_of(const struct dump_thread *t, struct activity_found *ret)
{
	const struct row *best = NULL;
	*ret = (struct activity_found){.kind = ACTIVITY_UNKNOWN, .op = ""};
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (!ret->user && activity_is_user(f))
			ret->user = f;
		const struct row *r = activity_row_of(f);
		if (!r)
			continue;
		also(r, ret);
		if (best && best->strength >= r->strength)
			continue;
		best = r;
		ret->frame = f;
	}
	/* A sleep describes the present better than a row that is only an outline or a plain wait. */
	if (!best || (best->strength <= WAIT && sleeps(t)))
		by_wait(t, ret);
	if (ret->kind == ACTIVITY_UNKNOWN && best) {
		ret->kind = best->kind;
		ret->op = best->op ? best->op : ret->frame->kind == FRAME_PYTHON ? bare(ret->frame->name) : best->name;
	}
}

void activity_text(const struct activity_found *f, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	buf_add(&b, f->op);
	if (f->user) {
		buf_printf(&b, "%s%s:%d", b.len ? " at " : "at ", frame_file_short(f->user->file), f->user->line);
		if (f->user->name[0] && f->user->name[0] != '<')
			buf_printf(&b, " in %s", f->user->name);
	} else if (f->frame && f->frame->kind == FRAME_PYTHON && f->frame->file) {
		buf_printf(&b, " at %s:%d", frame_file_short(f->frame->file), f->frame->line);
	}
}
