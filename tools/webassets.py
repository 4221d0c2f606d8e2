#!/usr/bin/python3
"""Make the C file that holds the page's files, packed by gzip: src/agent/web/webassets.h says what is in it.

    webassets.py --web DIR --openapi FILE --depfile FILE OUTPUT

The files are those that DIR/dist/manifest.txt lists, one path a line. Where there is no such list, because the page was
not built (npm ci && npm run build in DIR), they are those of DIR/minimal.
"""
import argparse
import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MIME = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png",
        ".ico": "image/x-icon", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".map": "application/json",
        ".wasm": "application/wasm", ".webmanifest": "application/manifest+json"}
# A name with a hash of what the file holds, as bundlers make them: app-3F2A9C01.js, app.3f2a9c01.js
HASHED = re.compile(r"[.-]([0-9A-Z]{8}|[0-9a-f]{8,})\.\w+$")


def listed(web):
    """(folder, paths in it, whether it is the built page)"""
    manifest = web / "dist/manifest.txt"
    if manifest.exists():
        paths = [line.strip() for line in manifest.read_text().splitlines() if line.strip()]
        return web / "dist", paths, True
    folder = web / "minimal"
    return folder, sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()), False


def packed(data, zopfli):
    """By zopfli, which any browser unpacks and which takes 3 % less, where the machine has it."""
    if zopfli is None:
        return gzip.compress(data, 9, mtime=0)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return subprocess.run([zopfli, "-c", file.name], check=True, stdout=subprocess.PIPE).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=pathlib.Path, required=True)
    parser.add_argument("--openapi", type=pathlib.Path, required=True)
    parser.add_argument("--depfile", type=pathlib.Path, required=True)
    parser.add_argument("output", type=pathlib.Path)
    a = parser.parse_args()
    folder, paths, full = listed(a.web)
    files = [(path, folder / path) for path in paths if path != "manifest.txt"]
    if "index.html" not in paths:
        sys.exit(f"webassets.py: {folder} has no index.html")
    files.append(("openapi.json", a.openapi))
    zopfli = shutil.which("zopfli")
    lines, rows = ['#include "agent/web/webassets.h"', ""], []
    for n, (path, file) in enumerate(files):
        if not path.isascii() or not re.fullmatch(r"[\w./-]+", path) or ".." in path:
            sys.exit(f"webassets.py: '{path}' in the manifest: letters, digits, '.', '_', '-' and '/' are expected")
        data = file.read_bytes()
        small = packed(data, zopfli)
        mime = MIME.get(file.suffix, "application/octet-stream")
        tag = hashlib.sha256(data).hexdigest()[:32]
        lines.append(f"static const uint8_t file_{n}[] = {{")
        lines += [",".join(map(str, small[i:i + 32])) + "," for i in range(0, len(small), 32)]
        lines.append("};")
        hashed = "true" if HASHED.search(path) and path != "index.html" else "false"
        rows.append(f'\t{{"{path}", "{mime}", "\\"{tag}\\"", {hashed}, {len(data)}, {len(small)}, file_{n}}},')
    lines += ["", "const struct webasset webassets[] = {", *rows, "};", f"const size_t webassets_n = {len(rows)};",
              f"const bool webassets_full = {'true' if full else 'false'};", ""]
    a.output.write_text("\n".join(lines))
    inputs = [file for _, file in files] + ([a.web / "dist/manifest.txt"] if full else [])
    a.depfile.write_text(f"{a.output}: {' '.join(map(str, inputs))}\n")


if __name__ == "__main__":
    main()
