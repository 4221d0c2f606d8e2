// How news of the stream are joined with what was read before: no gap, no duplicate. Pure.
import type { Event, LargeProcess, MemorySeries, Rank } from "./types";

/** Both lists grow by seq; the result does, too, and has each seq once. At most `keep` of the newest stay. */
export function mergeEvents(have: readonly Event[], news: readonly Event[], keep = 5000): Event[] {
	if (news.length === 0) return have as Event[];
	const bySeq = new Map<number, Event>();
	for (const event of have) bySeq.set(event.seq, event);
	for (const event of news) if (Number.isFinite(event.seq)) bySeq.set(event.seq, event);
	const all = [...bySeq.values()].sort((a, b) => a.seq - b.seq);
	return all.length > keep ? all.slice(all.length - keep) : all;
}

/**
 * Ranks that changed replace those of the same number; fields that a delta leaves out are kept, unless it is of another process:
 * that of the next attempt. `total`: so many ranks there are; who is not among as many news has left.
 */
export function mergeRanks(have: readonly Rank[], news: readonly Rank[], total?: number): Rank[] {
	const old = new Map(have.map((r) => [r.rank, r]));
	const byRank = news.length === total ? new Map<number, Rank>() : new Map(old);
	for (const rank of news) {
		const was = old.get(rank.rank);
		const same = rank.pid === undefined || rank.pid === was?.pid;
		if (Number.isFinite(rank.rank)) byRank.set(rank.rank, same ? { ...was, ...rank } : rank);
	}
	return [...byRank.values()].sort((a, b) => a.rank - b.rank);
}

export interface MemoryPoint {
	time_unix_ms: number;
	own: { rank?: number; name?: string; own_bytes: number }[];
	processes?: (LargeProcess & { own_bytes: number })[];
	shared_bytes?: number;
	used_bytes?: number;
}

const keyOf = (s: { rank?: number; name?: string }) => (s.rank !== undefined ? `r${s.rank}` : `n${s.name ?? ""}`);

type Processes = NonNullable<MemorySeries["processes"]>;
/** Large processes that come and go leave the picture once no point has them, or when there are more than these. */
const PROCESSES_KEPT = 64;

function appendProcesses(have: Processes, point: MemoryPoint, before: number, cut: number): Processes {
	const idOf = (p: LargeProcess) => `${p.pid}.${p.start_ticks}`;
	const news = new Map((point.processes ?? []).map((p) => [idOf(p), p]));
	const old = have.map((p) => {
		const now = news.get(idOf(p));
		news.delete(idOf(p));
		return { ...p, own: [...p.own.slice(cut), now?.own_bytes ?? null] };
	});
	const fresh = [...news.values()].map(({ own_bytes, ...who }) => ({
		...who,
		own: [...new Array<null>(before - cut).fill(null), own_bytes],
	}));
	return [...old, ...fresh].filter((p) => p.own.some((v) => v !== null)).slice(-PROCESSES_KEPT);
}

/** A point that is not newer than the last one is dropped; the oldest leave when there are more than `keep`. */
export function appendPoint(have: MemorySeries, point: MemoryPoint, keep = 1200): MemorySeries {
	const last = have.times[have.times.length - 1];
	if (!Number.isFinite(point.time_unix_ms) || (last !== undefined && point.time_unix_ms <= last)) return have;
	const cut = Math.max(0, have.times.length + 1 - keep);
	const add = <T>(list: readonly T[] | undefined, value: T) => [...(list ?? []).slice(cut), value];
	const news = new Map(point.own.map((o) => [keyOf(o), o]));
	const series = have.series.map((s) => {
		const value = news.get(keyOf(s))?.own_bytes ?? null;
		news.delete(keyOf(s));
		return { ...s, own: add(s.own, value) };
	});
	for (const fresh of news.values()) {
		const before: (number | null)[] = new Array(have.times.length - cut).fill(null);
		series.push({
			...(fresh.rank !== undefined ? { rank: fresh.rank } : { name: fresh.name ?? "" }),
			own: [...before, fresh.own_bytes],
		});
	}
	return {
		...have,
		times: add(have.times, point.time_unix_ms),
		series,
		...(have.processes || point.processes
			? { processes: appendProcesses(have.processes ?? [], point, have.times.length, cut) }
			: {}),
		shared: add(have.shared, point.shared_bytes ?? null),
		used: add(have.used, point.used_bytes ?? null),
	};
}
