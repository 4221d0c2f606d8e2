// What a stacked chart draws: each layer's upper edge, ranks in their order, of processes the largest at the bottom, shared memory
// once on top. Pure.
import type { LargeProcess, MemorySeries } from "../types";

export interface Layer {
	label: string;
	rank?: number;
	/** one process, of a job without ranks */
	pid?: number;
	values: (number | null)[];
	/** sum of this layer and those below */
	upper: (number | null)[];
	peak: number;
}

const peakOf = (values: readonly (number | null)[]) => values.reduce<number>((max, v) => Math.max(max, v ?? 0), 0);

/** Layers for so many processes; the others are one. */
const PROCESSES_SHOWN = 12;

/** "worker python3 4211" */
export const processName = (p: LargeProcess) => [p.role, p.name ?? (p.role ? "" : "process"), p.pid].filter(Boolean).join(" ");

/** What all processes without a rank have, divided into the large ones and the rest. */
function byProcess(memory: MemorySeries, all: readonly (number | null)[]): Omit<Layer, "upper">[] {
	const large = (memory.processes ?? [])
		.map((p) => ({ label: processName(p), pid: p.pid, values: p.own, peak: peakOf(p.own) }))
		.sort((a, b) => b.peak - a.peak)
		.slice(0, PROCESSES_SHOWN);
	if (large.length === 0) return [{ label: "all processes", values: [...all], peak: peakOf(all) }];
	const rest = all.map((v, i) =>
		v === null ? null : Math.max(0, large.reduce((left, l) => left - (l.values[i] ?? 0), v)),
	);
	return peakOf(rest) > 0 ? [...large, { label: "other processes", values: rest, peak: peakOf(rest) }] : large;
}

export function stackMemory(memory: MemorySeries): Layer[] {
	const ranked = memory.series.some((s) => s.rank !== undefined);
	const own: Omit<Layer, "upper">[] = memory.series.flatMap((s) =>
		!ranked
			? byProcess(memory, s.own)
			: {
					label: s.rank !== undefined ? `rank ${s.rank}` : (s.name ?? "?"),
					...(s.rank !== undefined ? { rank: s.rank } : {}),
					values: s.own,
					peak: peakOf(s.own),
				},
	);
	own.sort((a, b) => (a.rank ?? 1e9) - (b.rank ?? 1e9) || b.peak - a.peak);
	const shared =
		memory.shared && peakOf(memory.shared) > 0
			? [{ label: "shared, once", values: memory.shared, peak: peakOf(memory.shared) }]
			: [];
	// Nobody held anything, as between two attempts: that is no slope, and no band of what the group has left.
	const held = memory.times.map((_, i) => memory.series.some((s) => (s.own[i] ?? 0) > 0));
	const layers = [...own, ...shared];
	// Who is not there yet, or not any more, is no gap for those above.
	let below: (number | null)[] = memory.times.map((_, i) => (layers.some((l) => l.values[i] != null) ? 0 : null));
	return layers.map((layer) => {
		const upper = memory.times.map((_, i) => {
			const under = below[i] ?? null;
			return !held[i] || under === null ? null : under + (layer.values[i] ?? 0);
		});
		below = upper;
		return { ...layer, upper };
	});
}

/** Less is what the group's counter lags behind. */
const TWICE_LEAST = 16 * 2 ** 20;

/** By how much the own bytes of all processes pass what the job has, at half of the points; undefined: by little. */
export function countedTwice(memory: MemorySeries, layers: readonly Layer[]): number | undefined {
	const top = layers[layers.length - 1]?.upper ?? [];
	const over = top
		.flatMap((v, i) => (memory.job_bytes?.[i] && v != null ? v - memory.job_bytes[i]! : []))
		.sort((a, b) => a - b);
	const middle = over[over.length >> 1] ?? 0;
	return middle > Math.max(TWICE_LEAST, 0.05 * peakOf(top)) ? middle : undefined;
}

/** Whether the limit is near enough to be drawn without flattening everything below it. */
export function limitInView(peak: number, limit: number | undefined): boolean {
	return limit !== undefined && peak > limit / 6;
}
