#include <string.h>

#include "judge/hang/hang_advice.h"

#define UNSEEN "hang_unknown without stacks"

/* Advice for each cause, most useful first. Advice that needs a number is written where the number is known. */
static const struct {
	const char *id;
	const char *advice[4];
} rows[] = {
	{"dead_rank",
	 {"end the job: the others wait for a process that is no more (--on-hang kill or restart; torchrun and `vigil "
	  "run --nproc` end the others by themselves)",
	  "look into that rank's log for why it ended: `vigil why` names its own cause"}},
	{"uneven_last_epoch",
	 {"give every rank the same number of batches: drop_last=True in the DataLoader, or DistributedSampler, which "
	  "pads",
	  "or let ranks that are done go on answering: `with Join([model]):` (torch.distributed.algorithms.join)",
	  "split tensors so that all ranks get as much, and check len(loader) on every rank before the first epoch"}},
	{"rank_not_started",
	 {"start the missing ranks, or set WORLD_SIZE to how many there are",
	  "check that every rank gets its own RANK and the same MASTER_ADDR and MASTER_PORT"}},
	{"rendezvous_mismatch",
	 {"set MASTER_ADDR, MASTER_PORT and WORLD_SIZE alike on all ranks and RANK once each; torchrun and `vigil run "
	  "--nproc N` do so"}},
	{"rendezvous",
	 {"check that MASTER_ADDR:MASTER_PORT is reachable from every node (firewall, wrong interface, name "
	  "resolution)",
	  "set NCCL_DEBUG=INFO (and NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME) to see how far the ranks come"}},
	{"ray_call_awaits",
	 {"look for who should have made the other call (taken from the queue, set the event, released the lock), and "
	  "why that one has ended: `ray list tasks`, `vigil logs`",
	  "give the call a time limit (Queue.put(timeout=…), ray.get(…, timeout=…)) so that it raises instead"}},
	{"store_key_not_set",
	 {"look for the line that sets this key, and for the condition under which a rank comes to it",
	  "what every rank waits for has to be set before any of them waits"}},
	{"store_lost",
	 {"look first at rank 0, which serves the store: why did it end or stop answering?",
	  "end the job and start it from the last checkpoint: a lost store does not come back"}},
	{"rank_stopped",
	 {"let it go on with SIGCONT ('kill -CONT' and its pid, which the evidence has); if nobody stopped it by hand, "
	  "look for what sends SIGSTOP"}},
	{"rank_traced", {"detach the debugger or let it continue; the other ranks time out meanwhile"}},
	{"fork_lock",
	 {"start workers by spawn or forkserver (multiprocessing_context='spawn'), so that they inherit no locks",
	  "or make the lock, its threads and its library's state after the fork, in worker_init_fn"}},
	{"python_fork_lock",
	 {"start workers by spawn or forkserver (multiprocessing_context='spawn', "
	  "multiprocessing.set_start_method('spawn'))",
	  "or fork before the first thread is started, or make the lock anew in the child: "
	  "os.register_at_fork(after_in_child=…)"}},
	{"deadlock",
	 {"break the circle above in one place: take locks in the same order everywhere, or one lock for both; put or "
	  "set what another thread waits for (a queue, an event) before waiting for that thread",
	  "take the second one with a time limit (lock.acquire(timeout=…), pthread_mutex_timedlock) and let go of the "
	  "first where it fails",
	  "ThreadSanitizer (-fsanitize=thread) or valgrind --tool=helgrind names wrong orders before they hang"}},
	{HANG_ADVICE_BY_PIPE,
	 {"look for who should have put or sent what is waited for, and why that never came: a queue or pipe has to be "
	  "given to the process that puts, before it is started",
	  "where another thread of this process should bring it: have it do so before it waits itself",
	  "give the wait a time limit (queue.get(timeout=…), connection.poll(…)) so that it raises instead"}},
	{HANG_ADVICE_OWN_THREADS,
	 {"look at the lines above: one of these threads should have put, set or finished what the others wait for "
	  "before it waited itself (a result, task_done() of a queue's item, the last one at a barrier)",
	  "tasks that wait for tasks of the same pool need a pool of their own, or more workers (max_workers=…)",
	  "give the wait a time limit (result(timeout=…), queue.get(timeout=…), Event.wait(…)) so that it raises "
	  "instead"}},
	{HANG_ADVICE_RESTARTS,
	 {"read the last words of the rank that ends: it fails before it comes to where the others wait",
	  "have what starts it give up after a few times, so that the job fails with that error"}},
	{"child_fails",
	 {"read its last words, or run its command by hand: it fails each time in the same way, before it has done "
	  "what it is started for",
	  "have what starts it give up after a few times, so that the job fails with that error instead of going on "
	  "for ever"}},
	{HANG_ADVICE_ASKS,
	 {"look for what that command asks for, and who should bring it: it may never come",
	  "give the loop a limit of tries or of time (`timeout 300 …`), so that the job fails where no answer comes"}},
	{HANG_ADVICE_OWN_LOCK,
	 {"take it only once: have what is called with the lock held not take it again",
	  "or use a lock that its holder may take again: threading.RLock() instead of threading.Lock(), "
	  "PTHREAD_MUTEX_RECURSIVE for a mutex"}},
	{HANG_ADVICE_LOST_LOCK,
	 {"look for who took this lock and has not released it: the same thread before (each acquire() needs its "
	  "release(); `with lock:` does both), or one that has ended or been stopped by an exception",
	  "where one thread takes it twice on purpose, use threading.RLock(), which its holder may take again",
	  "lock.acquire(timeout=…) says so instead of waiting for ever"}},
	{HANG_ADVICE_APART,
	 {"say when it is made that processes share it: pthread_mutexattr_setpshared() and "
	  "pthread_condattr_setpshared() with PTHREAD_PROCESS_SHARED, sem_init() with 1",
	  "have one process alone make it, before the others use it"}},
	{"wait_circle",
	 {"let one of them send, write or read first: each waits for what only another one of the circle can do",
	  "a process that waits for its child has to read the child's output meanwhile (subprocess.communicate())"}},
	{"orphaned_wait",
	 {"look for who should have put, set or released what is named above, and why it ended or never started",
	  "give the wait a time limit (queue.get(timeout=…), Event.wait(…)) so that it raises instead",
	  "close the ends of pipes and sockets that a process does not use: its own copy keeps a reader waiting"}},
	{"abandoned_wait",
	 {"look for why the process or thread that is named above ended: `vigil why`, its log",
	  "a lock whose holder was killed stays taken: use robust mutexes, or locks that the kernel releases (flock)"}},
	{"process_stopped",
	 {"let it go on with SIGCONT ('kill -CONT' and its pid, which the evidence has); if nobody stopped it by hand, "
	  "look for what sends SIGSTOP"}},
	{"process_frozen", {"thaw its control group (docker unpause, systemctl thaw), or look for who froze it"}},
	{"waits_for_visitor",
	 {"look for who should have connected, opened the file or sent the signal, and where it is now"}},
	{"call_unanswered",
	 {"look at where the server's handler stands, and for who should have put, set or released what it waits for: "
	  "no other thread of the server is at work on that",
	  "give the call a time limit (timeout= of a gRPC call, asyncio.wait_for), and the handler's wait one as well",
	  "a handler that waits for another call needs a free thread for that: "
	  "ThreadPoolExecutor(max_workers=…); a task that has failed is told of only where somebody awaits it"}},
	{"lock_not_released",
	 {"look for a way out of the code that takes this lock which does not release it: an early return, an "
	  "exception, `continue`, a callback that is never called",
	  "have it released whatever happens: `with lock:` (Python), defer mu.Unlock() (Go), try … finally (Java), "
	  "std::lock_guard (C++)"}},
	{"waits_for_input",
	 {"answer at its terminal, or end it: the command line that is named above asks for something",
	  "let it fail instead of asking: ssh -o BatchMode=yes, GIT_TERMINAL_PROMPT=0, DEBIAN_FRONTEND=noninteractive, "
	  "or its standard input from /dev/null in a session of its own (setsid)"}},
	{"terminal_stopped",
	 {"press Ctrl-Q at that terminal (Ctrl-S stops its output), or look why the program that shows it reads no "
	  "more",
	  "let it write to a file: who writes to a terminal stands as long as that takes nothing"}},
	{"ray_actors_wait",
	 {"let the actor return the reference instead of calling ray.get() on it, or make the method async and "
	  "`await` it",
	  "max_concurrency= gives an actor more threads for calls: as many as can wait for each other at a time, and "
	  "one"}},
	{"ray_no_place",
	 {"`ray status` shows what the node has, what of it is used, and what waits for a place"}},
	{"openmp_fork",
	 {"set OMP_NUM_THREADS=1 (or torch.set_num_threads(1), cv2.setNumThreads(0)) in the workers",
	  "or start them by spawn or forkserver: GNU's OpenMP does not survive a fork"}},
	{"gil_held",
	 {"release the interpreter lock around that native call (Py_BEGIN_ALLOW_THREADS, py::gil_scoped_release), or "
	  "call it with a time-out",
	  "as long as it is held no other thread of the process runs Python: watchdogs and heartbeats included"}},
	{"storage_stall",
	 {"look at the storage behind that file: the server's state, the mount (`nfsstat -m`, `lfs check servers`), "
	  "the kernel's log",
	  "mount NFS with a time-out (soft,timeo=600) where an error is better than a wait without end",
	  "a process in state D cannot be ended until the storage answers"}},
	{"loader_worker_dead",
	 {"look for why the worker ended: `vigil why`; memory is the usual reason, then /dev/shm",
	  "give the DataLoader a timeout (timeout=120) so that it raises instead of waiting for ever",
	  "fewer workers (num_workers) need less memory"}},
	{"loader_stuck",
	 {"look at the worker's line above: what it waits for is what the training waits for",
	  "reduce num_workers; try num_workers=0 to see the error itself",
	  "give the DataLoader a timeout (timeout=120) so that it raises instead of waiting for ever"}},
	{"shm_full",
	 {"enlarge /dev/shm (docker run --shm-size=16g; an emptyDir with medium: Memory), or use fewer workers",
	  "torch.multiprocessing.set_sharing_strategy('file_system') uses other files"}},
	{"data_copy_stuck",
	 {"ModelArts: mox.file.set_auth(is_secure=False); for a folder copy_parallel(threads=0, is_processing=False)",
	  "one large file: file_io._LARGE_FILE_METHOD = 1 and file_io._NUMBER_OF_PROCESSES = 1, or "
	  "_LARGE_FILE_TASK_NUM = 1",
	  "check that the object store answers from this node, and copy with a time-out and retries"}},
	{"download_stuck",
	 {"check that the server answers from this node (proxy, DNS), and use a time-out (HF_HUB_DOWNLOAD_TIMEOUT)",
	  "download before the job starts, once, to where all ranks can read it"}},
	{"checkpoint_stuck",
	 {"look at where the checkpoint goes: is the store reachable, is the disk full, is the quota used up?",
	  "save to a local disk and copy from there, or save asynchronously"}},
	{"tensorboard_remote",
	 {"let SummaryWriter write to a local folder (for example /cache/tensorboard) and copy it afterwards: not to "
	  "an object store"}},
	{"sync_batch_norm",
	 {"switch synchronised batch normalisation off: it exchanges data in every layer of every step, over all nodes",
	  "or use a newer PyTorch (1.10 and later are faster at it), or process groups within a node"}},
	{"missing_rank",
	 {"make every rank call the same collectives: look for `if rank == 0:` or a caught exception around the named "
	  "line",
	  "do not raise the time-out first: the others wait for a call that this rank is not in"}},
	{"mismatched_collective",
	 {"make all ranks call the same collectives in the same order: look for a condition that differs between ranks "
	  "before the named lines"}},
	{"collective_order",
	 {"let all ranks call their groups in the same order: a circle of waits cannot be left",
	  "collectives of several groups that overlap on the GPU need one order as well: do them one after the other, "
	  "or on one communicator"}},
	{"collective_threads",
	 {"let one thread of each rank make all collectives of a group, or give the second thread a group of its own: "
	  "dist.new_group(), made by all ranks in the same order",
	  "join the second thread before the next collective of the training, so that both come in one order"}},
	{"p2p_wait",
	 {"look for a send without its receive, or two ranks that both send (or both receive) first; batch_isend_irecv "
	  "avoids the order",
	  "check the stage before the named rank: it did not send, or its data are not ready"}},
	{"steps_of_one",
	 {"look at what the rank that goes on does (vigil stack): if it evaluates, nothing is wrong",
	  "else look for what lets it skip a call that the others make: no_sync(), a continue, a condition on its own "
	  "data"}},
	{"equal_count_stall",
	 {"all ranks are in the same call, so the program is not to blame: look at GPUs (`vigil gpus`), the kernel's "
	  "log (Xid, link errors) and the network between the nodes",
	  "run the job on other nodes, or nccl-tests on these, to tell a bad link or GPU",
	  "set NCCL_DEBUG=WARN and TORCH_FR_BUFFER_SIZE=2000 for the next time"}},
	{"rank_finishing",
	 {"its main program is over, by its end or by an exception, but threads or children keep the process alive: "
	  "make them daemons, or end with os._exit after an error",
	  "look for an exception in that rank's log"}},
	{"one_rank_failed",
	 {"repair what the error says, and start the ranks with a launcher that ends all when one fails (torchrun, "
	  "vigil run --nproc)",
	  "let each rank write into an output of its own (vigil run --nproc, torchrun --redirects 3 or --tee 3): then "
	  "its errors carry its name"}},
	{"rank_sleeps",
	 {"who is named sleeps while others wait for it: is the wait meant, and does what it waits for still "
	  "come?"}},
	{"poll_loop",
	 {"the named rank asks again and again for something that does not come: a file, a port, a peer; give that "
	  "loop an end"}},
	{"lock_wait",
	 {"look at who holds the lock: two threads that wait for each other need one order of locks",
	  "a queue or event that nobody serves any more: has the thread that should do so ended?"}},
	{"waits_for_process", {"look at the process that it waits for, and give the wait a time-out"}},
	{"waits_for_thread",
	 {"look at where the thread stands that is named above: the main thread waits for its end",
	  "give what that thread does a time-out, or the join (thread.join(timeout=…)); a thread whose work may be "
	  "lost "
	  "can be a daemon (daemon=True), which the program's end does not wait for"}},
	{"spin",
	 {"the program runs in a circle: look at the condition of the loop at the named line",
	  "`vigil flame` shows where its time goes"}},
	{"busy_without_steps",
	 {"if this is work, tell vigil of it with --hang-after; `vigil flame` shows what it does"}},
	{"gpu_stuck",
	 {"look at the GPU: `vigil gpus`, the kernel's log for Xid messages; a kernel that never ends can be found "
	  "with CUDA_LAUNCH_BLOCKING=1",
	  "if the GPU does not answer, it needs a reset (nvidia-smi --gpu-reset) or the node a restart"}},
	{"network_wait", {"look at the other end of the connection that is named above, and give it a time-out"}},
	{"hang_unknown",
	 {"look at the stacks above; `vigil stack JOB --native` takes them again",
	  "set NCCL_DEBUG=WARN and TORCH_FR_BUFFER_SIZE=2000 so that more is known next time"}},
	{UNSEEN,
	 {"let vigil read the stacks: as the user of the job, or as root (CAP_SYS_PTRACE); `vigil doctor` says what is "
	  "missing",
	  "set NCCL_DEBUG=WARN and TORCH_FR_BUFFER_SIZE=2000 so that more is known next time"}},
};

void hang_advise_for(struct hang_work *w, const char *id)
{
	if (!w->has_stacks && strcmp(id, "hang_unknown") == 0)
		id = UNSEEN;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t k = 0; strcmp(rows[i].id, id) == 0 && k < ARRAY_SIZE(rows[i].advice) && rows[i].advice[k];
		     k++)
			hang_advise(w, "%s", rows[i].advice[k]);
}
