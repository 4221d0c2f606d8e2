// Answers of the server as the page holds them. What the server leaves out is worked out here, once; what pages that are fetched
// later use, in adaptlate.ts. Pure.
import type { MemoryPoint } from "./merge";
import type { Incident, Job, LargeProcess, MemorySeries, Rank, StackGroup, Waits } from "./types";

interface Lane {
	rank?: number;
	name?: string;
	own?: number;
	own_bytes?: number;
}

interface RawPoint {
	time_unix_ms: number;
	processes?: (LargeProcess & { own?: number })[];
	series?: Lane[];
	own?: Lane[];
	shared?: number;
	shared_bytes?: number;
	used?: number;
	used_bytes?: number;
}

export function memoryPoint(raw: RawPoint): MemoryPoint {
	const shared = raw.shared ?? raw.shared_bytes;
	const used = raw.used ?? raw.used_bytes;
	return {
		time_unix_ms: raw.time_unix_ms,
		own: (raw.series ?? raw.own ?? [])
			.map(({ own, own_bytes, ...who }) => ({ ...who, own_bytes: own ?? own_bytes ?? 0 }))
			.filter((o) => o.rank !== undefined || o.own_bytes > 0),
		...(raw.processes ? { processes: raw.processes.map(({ own, ...who }) => ({ ...who, own_bytes: own ?? 0 })) } : {}),
		...(shared !== undefined ? { shared_bytes: shared } : {}),
		...(used !== undefined ? { used_bytes: used } : {}),
	};
}

/** A lane that never held anything is none. */
export function memorySeries(raw: MemorySeries): MemorySeries {
	return {
		...raw,
		times: raw.times ?? [],
		series: (raw.series ?? []).filter((s) => s.own.some((v) => (v ?? 0) > 0)),
	};
}

/** A row without a rank is told apart by its process. */
export const ranksOf = (rows: readonly Partial<Rank>[]): Rank[] =>
	rows.filter((r) => r.rank !== undefined || r.pid !== undefined).map((r) => ({ ...r, rank: r.rank ?? -r.pid! }));

export interface RawRanks {
	ranks: Partial<Rank>[];
	grid?: { ranks: [number, number][]; states: string; culprits: number[] };
	total?: number;
}

const LETTERS: Record<string, string> = {
	R: "working",
	S: "running",
	D: "waiting",
	T: "stopped",
	e: "ended",
	x: "failed",
	v: "told",
};

/** `brief`: of each rank only its state is known yet. */
export interface Ranks {
	ranks: Rank[];
	total?: number;
	brief: boolean;
}

export function ranksFrom({ ranks, grid, total }: RawRanks): Ranks {
	const rest = total !== undefined ? { total } : {};
	if (!grid) return { ranks: ranksOf(ranks), brief: false, ...rest };
	const culprits = new Set(grid.culprits);
	const list: Rank[] = [];
	for (const [first, last] of grid.ranks)
		for (let rank = first; rank <= last && list.length < grid.states.length; rank++)
			list.push({
				rank,
				state: LETTERS[grid.states[list.length]!] ?? "unknown",
				...(culprits.has(rank) ? { culprit: true } : {}),
			});
	return { ranks: list, brief: true, ...rest };
}

/** What the report of a hang has kept: the same look that the verdict is of. */
export interface Kept {
	waits: Waits;
	groups: StackGroup[];
}

/** Main threads of the ranks' main processes, and whom they waited for. */
export function keptOf({ time_unix_ms, stacks = [], hang }: Incident): Kept {
	const processes = stacks
		.filter((s) => s.role === "main" && s.tid === s.pid)
		.map(({ rank, pid, thread, waiting_on, waits_for: to }) => ({
			pid: pid!,
			main: true,
			...(rank !== undefined ? { rank } : {}),
			...(thread ? { name: thread } : {}),
			threads: [
				{
					tid: pid!,
					main: true,
					does: to ? "waits" : waiting_on ? "sleeps" : "runs",
					waiting_on: to?.text ?? waiting_on ?? "",
					arrows: to?.to ?? [],
				},
			],
		}));
	return { waits: { captured_unix_ms: time_unix_ms, ends: [], processes }, groups: hang?.groups ?? [] };
}

const DOES: Record<string, string> = { waits: "waiting", sleeps: "waiting", runs: "working" };

/** What ranks do was looked at: that is closer than that their processes run. Ranks that stay as they are stay the same objects. */
export function withWaits(ranks: Rank[], waits: Waits | undefined): Rank[] {
	if (!waits) return ranks;
	const does = new Map(
		waits.processes
			.filter((p) => p.main)
			.map((p) => [p.pid, (p.threads?.find((t) => t.main) ?? p.threads?.[0])?.does]),
	);
	return ranks.map((r) => {
		const state = r.state === "running" || r.state === "unknown" ? DOES[does.get(r.pid ?? -1) ?? ""] : undefined;
		return state === undefined ? r : { ...r, state };
	});
}

/** The next attempt has begun: what is known of the last one's steps is of no use. */
export const withAttempt = (job: Job, { kind, attempt = 0 }: { kind?: string; attempt?: number }): Job =>
	kind === "attempt_start" && attempt > (job.attempt ?? 0) ? { ...job, attempt, state: "running", steps: [] } : job;

/** A job's state comes with its health. */
export function withHealth(job: Job, health: Job["health"] & { state?: string }): Job {
	return { ...job, health, ...(health.state !== undefined ? { state: health.state } : {}) };
}
