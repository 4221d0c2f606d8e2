// What a stacked chart draws: each layer's upper edge, largest at the bottom, shared memory once on top. Pure.
import type { MemorySeries } from "../types";

export interface Layer {
	label: string;
	rank?: number;
	values: (number | null)[];
	/** sum of this layer and those below */
	upper: (number | null)[];
	peak: number;
}

const peakOf = (values: readonly (number | null)[]) => values.reduce<number>((max, v) => Math.max(max, v ?? 0), 0);

export function stackMemory(memory: MemorySeries): Layer[] {
	const ranked = memory.series.some((s) => s.rank !== undefined);
	const own = memory.series.map((s) => ({
		label: s.rank !== undefined ? `rank ${s.rank}` : ranked ? (s.name ?? "?") : "all processes",
		...(s.rank !== undefined ? { rank: s.rank } : {}),
		values: s.own,
		peak: peakOf(s.own),
	}));
	own.sort((a, b) => b.peak - a.peak);
	const shared =
		memory.shared && peakOf(memory.shared) > 0
			? [{ label: "shared, once", values: memory.shared, peak: peakOf(memory.shared) }]
			: [];
	let below: (number | null)[] = memory.times.map(() => null);
	return [...own, ...shared].map((layer) => {
		const upper = memory.times.map((_, i) => {
			const mine = layer.values[i];
			return mine == null ? (below[i] ?? null) : mine + (below[i] ?? 0);
		});
		below = upper;
		return { ...layer, upper };
	});
}

/** Whether the limit is near enough to be drawn without flattening everything below it. */
export function limitInView(peak: number, limit: number | undefined): boolean {
	return limit !== undefined && peak > limit / 6;
}
