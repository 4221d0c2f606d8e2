#!/usr/bin/python3
"""Tables from the JSON lines of the programs in this folder.

summary.py race|release|watchcost|falsekill|startcost FILE...
"""
import json
import statistics
import sys
from collections import defaultdict


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("{"):
                    yield json.loads(line)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * q))] if values else None


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(head, rows):
    widths = [max(len(str(r[i])) for r in [head] + rows) for i in range(len(head))]
    for n, row in enumerate([head] + rows):
        print("| " + " | ".join(str(c).ljust(w) for c, w in zip(row, widths)) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")


def race_row(key, trials, reference):
    # Delay to the last death: for a fork bomb the first eater that dies proves nothing.
    delays = [t["cross_to_last_death_ms"] for t in trials if "cross_to_last_death_ms" in t]
    median = statistics.median(delays) if delays else None
    ratio = median / reference if median and reference else None
    kills = sum(1 for t in trials if t["kernel_kills"])
    late = sum(1 for t in trials if t["timed_out"])
    restarts = max(t.get("guard_restarts", 0) for t in trials)
    return [*key, f"{sum(t['won'] for t in trials)}/{len(trials)}", kills, late, number(median), number(quantile(delays, 0.9)),
            number(max(delays, default=None)), number(ratio, 2),
            number(statistics.median(t["min_available_mib"] for t in trials), 0), restarts]


def race(lines):
    cells, absent = defaultdict(list), {}
    for line in lines:
        if "not_measured" in line:
            absent[line["guard"]] = line["not_measured"]
        else:
            cells[line["guard"], line["mode"], line["limit_mib"], line["huge"]].append(line)
    reference = {}
    for (guard, *rest), trials in cells.items():
        delays = [t["cross_to_last_death_ms"] for t in trials if "cross_to_last_death_ms" in t]
        if guard == "run" and delays:
            reference[tuple(rest)] = statistics.median(delays)
    head = ["guard", "mode", "MiB", "THP", "won", "kernel kills", "not ended", "delay p50 ms", "p90", "max", "times vigil run's",
            "lowest free MiB", "guard restarts"]
    rows = [race_row(key, trials, reference.get(key[1:])) for key, trials in cells.items()]
    rows += [[guard, "", "", "", "not measured: " + why] + [""] * (len(head) - 5) for guard, why in absent.items()]
    print_table(head, rows)
    totals = defaultdict(list)
    for (guard, *_), trials in cells.items():
        totals[guard] += trials
    for guard, trials in totals.items():
        won = sum(t["won"] for t in trials)
        print(f"{guard}: {won} of {len(trials)} won ({100 * won / len(trials):.1f} %)")


def release(lines):
    ways = defaultdict(list)
    for line in lines:
        if "not_measured" in line:
            print(f"{line['way']}: not measured: {line['not_measured']}")
        else:
            ways[line["way"]].append(line["cross_to_free_ms"])
    plain = statistics.median(ways["kill"]) if ways.get("kill") else None
    rows = []
    for way, times in ways.items():
        median = statistics.median(times)
        rows.append([way, len(times), number(median), number(min(times)), number(max(times)),
                     number(plain / median if plain else None, 1)])
    print_table(["way", "rounds", "free after p50 ms", "min", "max", "times faster than kill"], rows)


def watchcost(lines):
    rows = []
    for t in lines:
        if "not_measured" in t:
            rows.append([t["guard"], t["idlers"], "not measured: " + t["not_measured"]] + [""] * 4)
        else:
            rows.append([t["guard"], t["idlers"], number(t["cpu_ms_per_minute"]), t["switches_per_minute"], t["rss_kib"], t["anon_kib"],
                         t["processes"]])
    print_table(["guard", "idlers", "CPU ms a minute", "switches a minute", "RSS KiB", "anonymous KiB", "processes"], rows)


def falsekill(lines):
    rows = []
    for t in lines:
        if "not_measured" in t:
            rows.append([t["guard"], "", "not measured: " + t["not_measured"], ""])
        else:
            rows.append([t["guard"], t["way"], t["rounds"] - t["not_measured_rounds"], t["false_kills"]])
    print_table(["guard", "job", "rounds", "false kills"], rows)


def startcost(lines):
    for t in lines:
        if "not_measured" in t:
            print("vigil run: not measured: " + t["not_measured"])
        else:
            print(f"vigil run -- true adds {t['added_p50_ms']:.1f} ms (p50; p90 {t['added_p90_ms']:.1f} ms) to the "
                  f"{t['plain_p50_ms']:.1f} ms of true, {t['rounds']} pairs")


TABLES = {f.__name__: f for f in (race, release, watchcost, falsekill, startcost)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in TABLES:
        sys.exit(__doc__)
    TABLES[sys.argv[1]](read(sys.argv[2:]))
