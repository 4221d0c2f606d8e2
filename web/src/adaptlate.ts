// Answers of the server as those pages hold them that are not the first screen (adapt.ts). Pure.
import { processName } from "./ui/stack";
import type { Event, LargeProcess, LogLine, LogMatches, Moment, NodeState, Rank } from "./types";

interface RawMoment extends Omit<Moment, "memory"> {
	memory?:
		| Moment["memory"]
		| {
				ranks?: { rank?: number; own_bytes?: number; rss_bytes?: number }[];
				processes?: (LargeProcess & { own_bytes?: number })[];
				node_used_bytes?: number;
		  };
	processes?: { pid: number; rank?: number; role?: string; state?: string; attempt?: number }[];
	stacks_incident?: string;
}

/** Ranks of a moment out of its processes and its memory, where the server gives those. */
export function moment(raw: RawMoment): Moment {
	const { memory, processes, stacks_incident, ...rest } = raw;
	const rows = (Array.isArray(memory) ? memory : (memory?.ranks ?? [])).filter((r) => (r.own_bytes ?? 0) > 0);
	const own = new Map(rows.map((r) => [r.rank, r.own_bytes]));
	const mains = (processes ?? []).filter((p) => (p.role ?? "main") === "main");
	const withRank = mains.filter((p) => p.rank !== undefined);
	// A job without ranks is the process that ran then.
	const one = mains.filter((p) => p.role === "main" && p.state !== "ended").slice(0, 1);
	const ranks: Rank[] =
		rest.ranks ??
		(withRank.length > 0 ? withRank : one)
			.map((p) => {
				const bytes = own.get(p.rank);
				return {
					rank: p.rank ?? -p.pid,
					pid: p.pid,
					state: p.state ?? "unknown",
					...(p.attempt !== undefined ? { attempt: p.attempt } : {}),
					...(bytes !== undefined ? { own_bytes: bytes } : {}),
				};
			});
	const incident = rest.incident ?? stacks_incident;
	const ranked = rows.some((r) => r.rank !== undefined);
	const large = ranked || Array.isArray(memory) ? [] : (memory?.processes ?? []);
	const largeBytes = large.reduce((sum, p) => sum + (p.own_bytes ?? 0), 0);
	const allName = ranked ? "no rank" : large.length > 0 ? "other processes" : "all processes";
	/** All processes without a rank, without those that are told apart. */
	const without = (r: { own_bytes?: number }) => ({ own_bytes: Math.max(0, (r.own_bytes ?? 0) - largeBytes) });
	return {
		...rest,
		memory: [
			...large.map((p) => ({ name: processName(p), own_bytes: p.own_bytes ?? 0 })),
			...rows
				.map((r) => (r.rank === undefined ? { name: allName, ...r, ...(large.length > 0 ? without(r) : {}) } : r))
				.filter((r) => (r.own_bytes ?? 0) > 0),
		],
		ranks,
		...(incident ? { incident } : {}),
	};
}

interface RawNode extends Omit<NodeState, "node"> {
	levels?: { scope?: string; name?: string; used_bytes?: number; total_bytes?: number; ratio?: number }[];
	processes?: { pid: number; job?: string; name?: string; command?: string; own_bytes?: number }[];
	node?:
		| string
		| {
				name?: string;
				total_bytes?: number;
				available_bytes?: number;
				used_bytes?: number;
				ratio?: number;
				shm_bytes?: number;
		  };
}

/** A process of no job that holds so much of the memory has a row of its own. */
const OUTSIDER = 0.02;

/** "qemu" of "/usr/bin/qemu -m 4096" */
export const programOf = (command = "") => command.split(" ", 1)[0]!.split("/").pop()!.slice(0, 40) || "process";

/** vigil.node/1 as it is; of vigil.memory/1 the components are the jobs, shared memory, large processes of no job, and the rest. */
export function nodeState(raw: RawNode): NodeState {
	const { node, processes = [], levels = [], ...rest } = raw;
	const containers = levels.filter((l) => l.scope === "container" && (l.total_bytes ?? 0) > 0);
	if (node === undefined || typeof node === "string") return { ...rest, ...(node !== undefined ? { node } : {}) };
	const jobs = rest.jobs ?? [];
	const known = [
		...jobs.map((j) => ({ name: `job ${j.name ?? j.job}`, bytes: j.own_bytes ?? 0 })),
		...(node.shm_bytes ? [{ name: "shared memory", bytes: node.shm_bytes }] : []),
		...processes
			.filter((p) => p.job === undefined && (p.own_bytes ?? 0) > (node.total_bytes ?? Infinity) * OUTSIDER)
			.map((p) => ({ name: `${p.name ?? programOf(p.command)}, pid ${p.pid}`, bytes: p.own_bytes! })),
	];
	const others = (node.used_bytes ?? 0) - known.reduce((sum, c) => sum + c.bytes, 0);
	known.sort((a, b) => b.bytes - a.bytes);
	const small = known.splice(10);
	if (small.length > 0)
		known.push({ name: `${small.length} more`, bytes: small.reduce((sum, c) => sum + c.bytes, 0) });
	const components = others > 0 ? [...known, { name: "everything else", bytes: others }] : known;
	return {
		...rest,
		name: node.name ?? "this node",
		memory: { ...node, components },
		containers,
		above_80: rest.above_80 ?? (node.ratio ?? 0) > 0.8,
	};
}

/** Lines that a search found; `next` only where there is more to look through. */
export function logMatches(raw: { matches?: LogLine[]; lines?: LogLine[]; next?: number; more?: boolean }): LogMatches {
	const more = raw.more ?? raw.next !== undefined;
	return { matches: raw.matches ?? raw.lines ?? [], ...(more && raw.next !== undefined ? { next: raw.next } : {}) };
}

/** Where later attempts began, for charts. */
export const attemptMarks = (events: readonly Event[]): { time: number; text: string; calm: true }[] =>
	events
		.filter((e) => e.kind === "attempt_start" && (e.attempt ?? 0) > 0)
		.map((e) => ({ time: e.time_unix_ms, text: `attempt ${e.attempt}`, calm: true }));
