#!/usr/bin/python3
"""Files made into C arrays, so that the program needs none of them beside it.

    embed.py OUT.c HEADER NAME=FILE...

For each NAME: `const char NAME[]` (NUL-terminated), `const size_t NAME_len`, and `NAME_sha256`, the base64 hash that a
content security policy allows the text by. HEADER declares them.
"""
import base64
import hashlib
import pathlib
import sys


def c_lines(data):
    for line in data.splitlines(keepends=True):
        text = "".join(chr(b) if 0x20 <= b < 0x7f and chr(b) not in '"\\?' else f"\\{b:03o}" for b in line)
        yield f'\t"{text}"'


def main():
    out, header, *pairs = sys.argv[1:]
    parts = [f'#include "{header}"\n']
    for pair in pairs:
        name, path = pair.split("=", 1)
        data = pathlib.Path(path).read_bytes()
        if b"</script" in data.lower() or b"</style" in data.lower() or b"]]>" in data:
            sys.exit(f"embed.py: {path} would end the element that it is put into")
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        parts.append(f"const char {name}[] =\n" + "\n".join(c_lines(data)) + ";\n"
                     f"const size_t {name}_len = sizeof({name}) - 1;\n"
                     f'const char {name}_sha256[] = "{digest}";\n')
    pathlib.Path(out).write_text("\n".join(parts))


if __name__ == "__main__":
    main()
