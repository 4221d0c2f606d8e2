"""Reads a heap region (docs/formats/heap.md) with every check that page asks for, for tests and measurements.

Strict where `vigil heap` is lenient: what cannot be, raises Torn.
"""
import bisect
import collections
import mmap
import pathlib
import struct
import subprocess

MAGIC = b"VIGILHP1"
DOMAINS = ("malloc", "mmap", "mmap_python", "object", "mem")
TABLES = ("stack_index", "stacks", "frames", "live_ptr", "live", "codes", "modules", "bytes")
AT_LEAST = (4, 256, 8, 8, 32, 64, 64, 1)
Sum = collections.namedtuple("Sum", "bytes count_256 variance samples")
Live = collections.namedtuple("Live", "ptr size weight born_mono_ns stack tid")
Code = collections.namedtuple("Code", "name file first_line table code_len")
Module = collections.namedtuple("Module", "start end offset inode since until path")


class Torn(Exception):
    """What was read contradicts the format."""


class Stack:
    __slots__ = ("number", "domain", "flags", "native", "python", "live", "total", "peak", "freed", "epoch", "tid")


class Region:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        self.path, self.data = path, data
        if data[:8] != MAGIC:
            raise Torn(f"{path}: no magic")
        version, header_bytes, file_bytes = struct.unpack_from("<IIQ", data, 8)
        if version != 1 or header_bytes < 2080 or file_bytes > len(data) or file_bytes > 16 << 20:
            raise Torn(f"{path}: version {version}, header {header_bytes}, file {file_bytes} of {len(data)}")
        self.table = {}
        for i, (name, least) in enumerate(zip(TABLES, AT_LEAST)):
            at, n, item, used = struct.unpack_from("<QIIQ", data, 24 + 24 * i)
            if at % 8 or at < header_bytes or item < least or at + n * item > file_bytes:
                raise Torn(f"{path}: table {name} at {at}, {n} of {item}")
            self.table[name] = (at, n, item, used)
        (self.pid, self.ppid, self.start_ticks, self.generation, self.origin, self.parent_start_ticks,
         self.begun_unix_ns, self.begun_mono_ns) = struct.unpack_from("<iiQIIQQQ", data, 216)
        self.state, _, self.last_mono_ns, self.rate = struct.unpack_from("<IIQQ", data, 264)
        self.requested, self.samples, self.frees = struct.unpack_from("<QQQ", data, 288)
        self.live, self.total = Sum(*struct.unpack_from("<4q", data, 312)), Sum(*struct.unpack_from("<4q", data, 344))
        self.lost = struct.unpack_from("<8Q", data, 376)
        self.lost_bytes, self.threads = struct.unpack_from("<QQ", data, 440)
        which, *peaks = struct.unpack_from("<7Q", data, 456)
        self.peak_which, self.peak_bytes = which, peaks[which]
        self.highest = struct.unpack_from("<Q", data, 2080)[0] if header_bytes >= 2128 else 0
        self.python_version, self.free_threaded, self.objects = struct.unpack_from("<IBB", data, 512)
        self.python_why, self.module_epoch = struct.unpack_from("<II", data, 520)
        self.comm, self.exe, self.allocator = (self.text(528, 16), self.text(544, 256), self.text(800, 256))
        self.command = data[1056:2080].split(b"\0\0")[0].split(b"\0")
        self.codes = self._codes()
        self.modules = self._modules()
        self.stacks = self._stacks()
        self.lives = self._lives()

    def text(self, at, n):
        return self.data[at:at + n].split(b"\0")[0].decode(errors="replace")

    def rows(self, name, limit=None):
        at, n, item, used = self.table[name]
        return ((i, at + i * item) for i in range(n if limit is None else min(n, limit)))

    def kept(self, at, length):
        base, n, _, _ = self.table["bytes"]
        if at + length > n:
            raise Torn(f"text at {at}, {length} long, of {n}")
        return self.data[base + at:base + at + length]

    def _codes(self):
        found = {}
        for i, at in self.rows("codes"):
            state, line, _, _, _, _, name_at, file_at, table_at, name_len, file_len, table_len, code_len = \
                struct.unpack_from("<IiQQQQIIIHHII", self.data, at)
            if state == 2:
                found[i] = Code(self.kept(name_at, name_len).decode(), self.kept(file_at, file_len).decode(), line,
                                self.kept(table_at, table_len), code_len)
        return found

    def _modules(self):
        found = []
        for _, at in self.rows("modules", self.table["modules"][3]):
            state, since, until, path_at, path_len, _, _, _, start, end, offset, inode = \
                struct.unpack_from("<IIIIIIIIQQQQ", self.data, at)
            if state == 2:
                found.append(Module(start, end, offset, inode, since, until, self.kept(path_at, path_len).decode()))
        return found

    def _stacks(self):
        base, n_frames, _, _ = self.table["frames"]
        found = {}
        for i, at in self.rows("stacks", self.table["stacks"][3]):
            state, frames_at, n_native, n_python, domain, flags = struct.unpack_from("<IIHHBB", self.data, at)
            if state != 2:
                continue
            if frames_at + n_native + n_python > n_frames or n_native > 64 or n_python > 64 or domain >= 8:
                raise Torn(f"stack {i}: frames {frames_at} + {n_native} + {n_python}, domain {domain}")
            s = Stack()
            s.number, s.domain, s.flags = i, DOMAINS[domain] if domain < 5 else str(domain), flags
            words = struct.unpack_from(f"<{n_native + n_python}Q", self.data, base + 8 * frames_at)
            s.native, s.python = words[:n_native], words[n_native:]
            s.epoch, s.tid = struct.unpack_from("<II", self.data, at + 24)
            sums = struct.unpack_from("<16q", self.data, at + 32)
            s.live, s.total = Sum(*sums[:4]), Sum(*sums[4:8])
            s.peak = Sum(*sums[8 + 4 * self.peak_which:12 + 4 * self.peak_which])
            s.freed = struct.unpack_from("<12q", self.data, at + 160)
            if any(ip < 4096 for ip in s.native):
                raise Torn(f"stack {i}: native frame {min(s.native):#x}")
            for word in s.python:
                code = word >> 32 & 0xffffff
                if code != 0xffffff and code not in self.codes:
                    raise Torn(f"stack {i}: code {code} is not there")
            found[i] = s
        return found

    def _lives(self):
        ptr_base, n, _, _ = self.table["live_ptr"]
        base, _, item, _ = self.table["live"]
        found = []
        for i, ptr in enumerate(struct.unpack_from(f"<{n}Q", self.data, ptr_base)):
            if ptr < 4096:
                if ptr > 2:
                    raise Torn(f"slot {i}: {ptr}")
                continue
            size, weight, born, stack, tid = struct.unpack_from("<QQQII", self.data, base + i * item)
            if stack not in self.stacks or weight < size:
                raise Torn(f"live {i}: stack {stack}, size {size}, weight {weight}")
            found.append(Live(ptr, size, weight, born, stack, tid))
        return found

    # --- what tests ask

    def python_frames(self, stack):
        """[(name, file, first line, byte offset, entry)] innermost first."""
        out = []
        for word in stack.python:
            code = self.codes.get(word >> 32 & 0xffffff)
            offset = struct.unpack("<i", struct.pack("<I", word & 0xffffffff))[0]
            out.append((code.name if code else "?", code.file if code else "?", code.first_line if code else 0, offset,
                        bool(word >> 56 & 1)))
        return out

    def native_names(self, stack, symbols):
        return [symbols.name(self.module_of(stack, ip), ip) for ip in stack.native]

    def module_of(self, stack, ip):
        for m in self.modules:
            if m.start <= ip - 1 < m.end and m.since <= stack.epoch < m.until:
                return m
        return None

    def by_native(self, symbols, names, what="total"):
        """{name: Sum} of the stacks whose innermost frame among these names it is."""
        out = {name: [0, 0, 0, 0] for name in names}
        for s in self.stacks.values():
            for name in self.native_names(s, symbols):
                if name in out:
                    out[name] = [a + b for a, b in zip(out[name], getattr(s, what))]
                    break
        return {name: Sum(*v) for name, v in out.items()}

    def by_python(self, names, what="total"):
        out = {name: [0, 0, 0, 0] for name in names}
        for s in self.stacks.values():
            for frame in self.python_frames(s):
                name = frame[0].split(".")[-1]
                if name in out:
                    out[name] = [a + b for a, b in zip(out[name], getattr(s, what))]
                    break
        return {name: Sum(*v) for name, v in out.items()}

    def live_by_stack(self):
        out = collections.Counter()
        for row in self.lives:
            out[row.stack] += row.weight
        return out


class Symbols:
    """Names of functions in files, by nm; for programs whose code lies in the file where it lies in memory."""

    def __init__(self):
        self.files = {}

    def name(self, module, ip):
        if module is None:
            return "?"
        if module.path not in self.files:
            out = subprocess.run(["nm", "-n", "--defined-only", module.path], capture_output=True, text=True).stdout
            rows = [line.split() for line in out.splitlines()]
            self.files[module.path] = [(int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tTwWi"]
        table = self.files[module.path]
        at = bisect.bisect_right(table, (ip - 1 - module.start + module.offset, "\xff")) - 1
        return table[at][1] if at >= 0 else "?"


def poke_rate(path, rate):
    """Switches a running process on (or to another rate), as vigil does."""
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 4096) as m:
        m[280:288] = struct.pack("<Q", rate)


def regions(folder):
    return sorted(pathlib.Path(folder).glob("*.heap"))
