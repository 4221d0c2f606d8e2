"""Counts calls with CPython's own cProfile engine, in a program that does not know of it.

Loaded by the sitecustomize.py beside it when VIGIL_CALLS_DIR is set; that folder receives, for each process,

    rank-R.pid-P.start-T.prof    what cProfile's dump_stats writes
    rank-R.pid-P.start-T.json    who the process was, on one line
    rank-R.pid-P.start-T.begun   the same until there is a profile: what is left of one that was killed before

The profile is written when the process ends (also by os._exit) or becomes another program, and again and again while
it runs, so that a process that is killed loses little. Nothing here prints, raises into the program, installs a signal handler
or leaves a trace in sys.path; what this file itself did is taken out of the numbers.

The writer is a thread that produces no profiling events, since one stack is kept for all threads from CPython 3.12 on:
it spends its life inside a profile function, where the interpreter sends none. It ends before each fork: a forked
child must not inherit a lock it holds, and os.fork() warns of threads it sees.
"""
import atexit
import marshal
import os
import sys
import time
from _thread import allocate_lock as _allocate_lock, get_ident as _get_ident, start_new_thread as _start_new_thread

import _lsprof
import _signal

try:
    from _thread import get_native_id as _get_native_id
except ImportError:
    _get_native_id = None

# Workers may live shortly: a pool that is left ends its own by a signal.
FIRST_WAITS_S = 0.05, 0.1, 0.2
LEAST_WAIT_S = 0.5
MOST_WAIT_S = 60.0
# Writing costs at most this share of the time.
SHARE = 0.01
NEW = sys.version_info >= (3, 12)  # cProfile is one tool of sys.monitoring, for all threads
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")

_Profiler = _lsprof.Profiler
_exit = os._exit
_execv, _execve = os.execv, os.execve
_mine = __file__


def _json_text(text):
    out = []
    for c in text:
        n = ord(c)
        if n > 0xffff:
            n -= 0x10000
            out.append("\\u%04x\\u%04x" % (0xd800 + (n >> 10), 0xdc00 + (n & 0x3ff)))
        elif c in '"\\' or not 0x20 <= n < 0x7f:
            out.append("\\u%04x" % (0xfffd if 0xd800 <= n < 0xe000 else n))
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def _json(pairs):
    done = []
    for key, value in pairs:
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, list):
            value = "[" + ", ".join(_json_text(str(v)) for v in value) + "]"
        elif not isinstance(value, int):
            value = _json_text(str(value))
        done.append(_json_text(key) + ": " + str(value))
    return "{" + ", ".join(done) + "}\n"


def _label(code):
    if isinstance(code, str):
        return "~", 0, code
    return code.co_filename, code.co_firstlineno, code.co_name


def _is_mine(code):
    return not isinstance(code, str) and code.co_filename == _mine


def _add(stats, entries):
    """What a profiler has counted, in the form of a .prof file, added to stats; without what this file did."""
    mine = {}  # id of a built-in or function: what of its numbers this file caused
    for e in entries:
        if _is_mine(e.code):
            for sub in e.calls or ():
                was = mine.get(id(sub.code), (0, 0, 0.0, 0.0))
                mine[id(sub.code)] = (was[0] + sub.callcount, was[1] + sub.reccallcount, was[2] + sub.inlinetime,
                                      was[3] + sub.totaltime)
    callers = {}
    for e in entries:
        if _is_mine(e.code):
            continue
        nc, rc, tt, ct = e.callcount, e.reccallcount, e.inlinetime, e.totaltime
        less = mine.get(id(e.code))
        if less:
            nc, rc, tt, ct = nc - less[0], rc - less[1], max(tt - less[2], 0.0), max(ct - less[3], 0.0)
        if nc <= 0:
            continue
        was = stats.setdefault(_label(e.code), [0, 0, 0.0, 0.0, {}])
        was[0] += nc - rc
        was[1] += nc
        was[2] += tt
        was[3] += ct
        callers[id(e.code)] = was[4]
    for e in entries:
        if _is_mine(e.code):
            continue
        label = _label(e.code)
        for sub in e.calls or ():
            known = callers.get(id(sub.code))
            if known is None or not sub.callcount:
                continue
            was = known.get(label, (0, 0, 0.0, 0.0))
            known[label] = (was[0] + sub.callcount, was[1] + sub.callcount - sub.reccallcount, was[2] + sub.inlinetime,
                            was[3] + sub.totaltime)


def _merge(stats, more):
    for key, (cc, nc, tt, ct, callers) in more.items():
        was = stats.setdefault(key, [0, 0, 0.0, 0.0, {}])
        was[0] += cc
        was[1] += nc
        was[2] += tt
        was[3] += ct
        for caller, numbers in callers.items():
            old = was[4].get(caller, (0, 0, 0.0, 0.0))
            was[4][caller] = tuple(a + b for a, b in zip(old, numbers))


class _State:
    """Of this process; a forked child begins with a new one."""

    def __init__(self, role):
        self.role = role
        self.start_ms = int(time.time() * 1000)
        self.folder = os.environ.get("VIGIL_CALLS_DIR", "")
        self.pid = os.getpid()
        self.stem = None
        self.begun = None    # the file that says so
        self.profiler = None
        self.thread = 0      # that was enabled in
        self.enabled = self.finished = self.mixed = False
        self.threads = []    # (ident, profiler), up to 3.11
        self.ended = {}      # of threads that have ended
        self.aside = ""      # why not, or no longer
        self.busy = _allocate_lock()
        self.stop = None     # held while the writer shall go on
        self.gone = None     # released by the writer as it ends
        self.writer_id = 0
        self.forking = 0


_state = None


def _rank():
    for name in RANKS:
        text = os.environ.get(name, "")
        if text.isdigit() and len(text) < 10:
            return text
    return "none"


def _who(s, complete):
    pairs = [("pid", s.pid), ("ppid", os.getppid()), ("role", s.role), ("python", "%d.%d.%d" % sys.version_info[:3]),
             ("argv", list(getattr(sys, "orig_argv", None) or [sys.executable or ""] + list(getattr(sys, "argv", [])))[:64]),
             ("started_unix_ms", s.start_ms), ("complete", complete)]
    rank = _rank()
    if rank != "none":
        pairs.append(("rank", int(rank)))
    process = sys.modules.get("multiprocessing.process")
    if process is not None and getattr(process, "parent_process", lambda: None)() is not None:
        pairs.append(("process", process.current_process().name))
    if s.mixed:
        pairs.append(("threads_mixed", True))
    if s.aside:
        pairs.append(("aside", s.aside))
    return _json(pairs)


def _put(path, data):
    """All of it or nothing: a reader, and a full disk, leave the old file as it was."""
    fresh = path + ".new"
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest):]
        finally:
            os.close(fd)
        os.rename(fresh, path)
    except OSError:
        try:
            os.unlink(fresh)
        except OSError:
            pass
        return False
    return True


def _entries(s):
    """What the profilers hold now. While the engine walks its tree no finalizer of the program may run, which up to
    3.11 any new object could bring about."""
    gc = sys.modules.get("gc")
    if gc is None:
        import gc
    off = not NEW and gc.isenabled()
    if off:
        gc.disable()
    try:
        held = [(0, s.profiler.getstats())] if s.profiler is not None else []
        return held + [(ident, profiler.getstats()) for ident, profiler in s.threads]
    finally:
        if off:
            gc.enable()


def _stats(s):
    """Everything counted so far."""
    stats = {}
    threads = list(s.threads)
    alive = sys._current_frames() if threads else ()
    ended = [t for t in threads if t[0] not in alive]
    for ident, entries in _entries(s):
        _add(stats if not ident or ident in alive else s.ended, entries)
    for one in ended:
        s.threads.remove(one)
    _merge(stats, s.ended)
    return {key: tuple(value) for key, value in stats.items()}


def _saw_threads(s, stats):
    for file, _, name in stats:
        if name == "_bootstrap_inner" and file.endswith("threading.py"):
            return True
    return len(sys._current_frames()) > (2 if s.stop is not None else 1)


def _announce(s):
    """Before anything is counted. The rank may be another one later: a worker sets it itself."""
    s.begun = os.path.join(s.folder, "rank-%s.pid-%d.start-%d.begun" % (_rank(), s.pid, s.start_ms))
    if not _put(s.begun, _who(s, False).encode()):
        s.begun = None


def _announced(s):
    path, s.begun = s.begun, None
    if path is not None:
        try:
            os.unlink(path)
        except OSError:
            pass


def _write(s, complete, wait=False):
    if not s.busy.acquire(complete or wait, 5 if complete or wait else -1):
        return  # the other thread that writes has the same numbers
    try:
        stats = _stats(s)
        if not stats and not s.aside:
            if complete:
                _announced(s)
            return  # forked, and gone at once
        if NEW and not s.mixed:
            s.mixed = _saw_threads(s, stats)
        if s.stem is None:
            s.stem = os.path.join(s.folder, "rank-%s.pid-%d.start-%d" % (_rank(), s.pid, s.start_ms))
        if stats and not _put(s.stem + ".prof", marshal.dumps(stats)):
            return
        if _put(s.stem + ".json", _who(s, complete).encode()):
            _announced(s)
    finally:
        s.busy.release()


def _write_quietly(s, complete, wait=False):
    try:
        _write(s, complete, wait)
    except Exception:
        pass


# The writer


def _writer(s, stop):
    """Write until the lock can be had, which is the sign to end."""
    first = list(FIRST_WAITS_S)
    wait = first.pop(0)
    while not stop.acquire(True, wait):
        began = time.thread_time()
        _write_quietly(s, False)
        least = first.pop(0) if first else LEAST_WAIT_S
        wait = min(max((time.thread_time() - began) / SHARE, least), MOST_WAIT_S)


def _trigger():
    pass


def _thread(s, stop, ready, gone):
    """Inside a profile function no events are made, so this thread spends its life in one."""
    def live(frame, event, arg):
        if frame.f_code is not _trigger.__code__:
            return
        sys.setprofile(None)
        s.writer_id = _thread_id()
        _thread_name("vigil-calls")
        ready.release()
        _writer(s, stop)
    try:
        sys.setprofile(live)
        _trigger()
    except Exception:
        pass
    gone.release()


def _thread_id():
    return _get_native_id() if _get_native_id is not None else 0


def _thread_name(name):
    """So that whoever looks at the threads knows whose this one is."""
    try:
        fd = os.open("/proc/thread-self/comm", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, name.encode())
        finally:
            os.close(fd)
    except OSError:
        pass


def _writer_start(s):
    if s.stop is not None:
        return
    stop, ready, gone = _allocate_lock(), _allocate_lock(), _allocate_lock()
    for lock in (stop, ready, gone):
        lock.acquire()
    # a signal that went to the writer would not wake the program from what it waits in
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    try:
        _start_new_thread(_thread, (s, stop, ready, gone))
    except Exception:  # no more threads, or none allowed here: then it is written at the end only
        return
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    s.stop, s.gone = stop, gone
    ready.acquire(True, 2)


def _writer_stop(s):
    if s.stop is None:
        return
    stop, s.stop = s.stop, None
    stop.release()
    s.gone.acquire(True, 5)
    # it has still to return, and the kernel to forget it: os.fork() asks the kernel
    task = "/proc/self/task/%d" % s.writer_id
    for _ in range(500):
        if not s.writer_id or not os.path.exists(task):
            break
        time.sleep(0.0002)


# From 3.12 on all threads' events go onto one stack. While the writer's thread begins or ends, its few events must
# not: then nobody listens. Order matters, since switching one off is itself a call that begins and returns: what began
# unheard must return unheard. Both happen in one frame, for the same reason.
if NEW:
    _e = sys.monitoring.events
    OFF = _e.CALL, _e.C_RETURN, _e.C_RAISE, _e.PY_START, _e.PY_RESUME, _e.PY_THROW, _e.PY_RETURN, _e.PY_YIELD, _e.PY_UNWIND
    ON = *OFF[3:], _e.C_RAISE, _e.CALL, _e.C_RETURN
    _listen = sys.monitoring.register_callback
else:
    OFF = ON = ()


# Beginning and ending


def _thread_profile(frame, event, arg):
    """Up to 3.11 each thread has a profiler of its own; called at a new thread's first event."""
    try:
        profiler = _Profiler()
        _state.threads.append((_get_ident(), profiler))
        profiler.enable()
    except Exception:
        sys.setprofile(None)


def _enable(s):
    if not NEW:
        import threading
        threading.setprofile(_thread_profile)
    profiler = _Profiler()
    s.thread = _get_ident()
    try:
        profiler.enable()
    except ValueError as e:
        s.aside = "another tool counts in this process already (%s)" % e
        return
    s.profiler = profiler
    s.enabled = True


def _disable(s):
    if not s.enabled:
        return
    if not NEW and s.thread == _get_ident() and sys.getprofile() is not s.profiler:
        s.enabled = False
        s.aside = s.aside or "another profiler took cProfile's place, what followed is not counted"
        return
    s.enabled = False
    s.profiler.disable()


def _finish():
    s = _state
    if s is None or s.finished:
        return
    s.finished = True
    try:
        _disable(s)
        _writer_stop(s)
    except Exception:
        pass
    _write_quietly(s, True)


def _step_aside(why):
    s = _state
    if s is None or not s.enabled:
        return
    s.aside = why
    try:
        _disable(s)
        _writer_stop(s)
        _write_quietly(s, False)
    except Exception:
        pass


class _Theirs(_Profiler):
    """What the program gets for cProfile's engine: when it counts itself, we do not."""

    def enable(self, *args, **kwargs):
        _step_aside("the program uses cProfile itself, what followed is not counted")
        return super().enable(*args, **kwargs)


_Theirs.__name__ = _Theirs.__qualname__ = "Profiler"
_Theirs.__module__ = _Profiler.__module__


def _exit_after(*args, **kwargs):
    if args or kwargs:
        _finish()
    _exit(*args, **kwargs)


def _execv_after(*args, **kwargs):
    s = _state
    if s is not None and s.enabled:
        _write_quietly(s, False, True)
    return _execv(*args, **kwargs)


def _execve_after(*args, **kwargs):
    s = _state
    if s is not None and s.enabled:
        _write_quietly(s, False, True)
    return _execve(*args, **kwargs)


def _pass_for(ours, theirs):
    ours.__name__ = ours.__qualname__ = theirs.__name__
    ours.__doc__ = theirs.__doc__
    ours.__module__ = theirs.__module__


for _ours, _their in ((_exit_after, _exit), (_execv_after, _execv), (_execve_after, _execve)):
    _pass_for(_ours, _their)


def _before_fork():
    try:
        s = _state
        s.forking += 1
        if s.stop is None:
            return
        heard = {}
        for e in OFF if s.enabled else ():
            heard[e] = _listen(2, e, None)
        try:
            _writer_stop(s)
        finally:
            for e in ON if s.enabled else ():
                _listen(2, e, heard[e])
    except Exception:
        pass


def _restart_later(s, code):
    """From 3.12 on os.fork() looks for other threads after the hooks have run: start ours with the forking function's
    next line."""
    m = sys.monitoring
    tool = next((i for i in (4, 3) if m.get_tool(i) is None), None)
    if tool is None:
        return
    events = m.events.LINE | m.events.PY_RETURN

    def next_line(*_):
        m.set_local_events(tool, code, 0)
        m.free_tool_id(tool)
        if s is not _state or s.forking or s.finished or not s.enabled:
            return
        heard = {}
        for e in OFF:
            heard[e] = _listen(2, e, None)
        try:
            _writer_start(s)
        finally:
            for e in ON:
                _listen(2, e, heard[e])

    m.use_tool_id(tool, "vigil")
    m.register_callback(tool, m.events.LINE, next_line)
    m.register_callback(tool, m.events.PY_RETURN, next_line)
    m.set_local_events(tool, code, events)


def _after_fork_in_parent():
    try:
        s = _state
        s.forking -= 1
        if s.forking or s.finished or not (s.enabled or s.threads):
            return
        if NEW:
            _restart_later(s, sys._getframe(1).f_code)
        else:
            _writer_start(s)
    except Exception:
        pass


def _becomes_another(code):
    """subprocess forks with these hooks where it has a preexec_fn; what it starts was never a worker."""
    return code.co_name == "_execute_child" and code.co_filename.endswith("subprocess.py")


def _after_fork_in_child():
    global _state
    try:
        old = _state
        if old.enabled:
            if NEW or sys.getprofile() is old.profiler:
                old.profiler.disable()
            elif sys.getprofile() in [p for _, p in old.threads]:
                sys.getprofile().disable()
        _state = s = _State("fork")
        s.parent = old  # its tables are the parent's memory: freeing them would copy it
        s.aside = old.aside
        if not old.aside and not old.finished:
            if not _becomes_another(sys._getframe(1).f_code):
                _announce(s)
            _writer_start(s)
            _enable(s)
    except Exception:
        pass


def begin():
    """As late as sitecustomize can: what follows is the rest of `site` and then the program."""
    global _state
    try:
        _state = s = _State("main")
        if not s.folder:
            return
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                            after_in_child=_after_fork_in_child)
        atexit.register(_finish)
        os._exit = _exit_after
        os.execv, os.execve = _execv_after, _execve_after
        if sys.version_info < (3, 15) and not getattr(sys, "_is_gil_enabled", lambda: True)():
            s.aside = "cProfile of this free-threaded CPython cannot be used beside threads; 3.15 and later can"
            _write_quietly(s, False)
            return
        _lsprof.Profiler = _Theirs
        if NEW:
            _watch_tools()
        _announce(s)
        _writer_start(s)
        _enable(s)
    except Exception:
        pass


def _watch_tools():
    real = sys.monitoring.use_tool_id

    def use_tool_id(tool_id, name, /):
        if tool_id == 2:
            _step_aside("the program uses sys.monitoring as a profiler itself, what followed is not counted")
        return real(tool_id, name)

    sys.monitoring.use_tool_id = use_tool_id
