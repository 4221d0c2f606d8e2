// Charts; uPlot itself is fetched when the first one is shown.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { bytes, clock } from "../format";
import { cssColor, useThemeTurn, useWidth } from "../hooks";
import type { MemorySeries } from "../types";
import { TIME_STEPS, timeTicks } from "./axis";
import { isDark, seriesColor } from "./palette";
import { Empty } from "./parts";
import { countedTwice, limitInView, stackMemory, type Layer } from "./stack";

type Plot = typeof uPlot;
let plotLoad: Promise<Plot> | undefined;
const loadPlot = () => (plotLoad ??= import("uplot").then((m) => m.default));

export interface Mark {
	time: number;
	text: string;
	/** nothing that went wrong */
	calm?: boolean;
}

/** Steps between marks of an axis of bytes: 256 MiB, not 286.1. */
export const BYTE_STEPS = Array.from({ length: 46 }, (_, i) => 2 ** i);

export function axes(value: (v: number) => string, space: number, incrs?: number[]): uPlot.Axis[] {
	const common = {
		stroke: cssColor("dim"),
		grid: { stroke: cssColor("line"), width: 1 },
		ticks: { show: false },
		font: "11px system-ui, sans-serif",
	};
	return [
		{
			...common,
			space: 70,
			size: 26,
			incrs: TIME_STEPS,
			values: (_u: uPlot, ticks: number[]) => timeTicks(ticks),
		},
		{
			...common,
			size: space,
			values: (_u: uPlot, ticks: number[]) => ticks.map(value),
			...(incrs ? { incrs } : {}),
		},
	];
}

/** The moment that is looked at, and incidents, as lines over the chart; the name of the line above which vigil acts. */
export function marks(list: Mark[], moment: number | undefined, acts?: number): uPlot.Plugin {
	/** Where names stand already: one that would lie over another is left out. */
	let taken: [number, number][] = [];
	const line = (u: uPlot, time: number, dash: number[], color: string, text: string, below = 42) => {
		const x = Math.round(u.valToPos(time / 1000, "x", true));
		if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
		u.ctx.save();
		u.ctx.strokeStyle = u.ctx.fillStyle = color;
		u.ctx.setLineDash(dash);
		u.ctx.lineWidth = Math.max(1, devicePixelRatio);
		u.ctx.beginPath();
		u.ctx.moveTo(x, u.bbox.top);
		u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
		u.ctx.stroke();
		u.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
		u.ctx.textAlign = x > u.bbox.left + u.bbox.width / 2 ? "right" : "left";
		const wide = u.ctx.measureText(text).width + 8;
		const from = u.ctx.textAlign === "right" ? x - wide : x;
		// Below the lines of a limit, which stand near the top.
		if (below > 42 || taken.every(([a, b]) => from >= b || from + wide <= a)) {
			u.ctx.fillText(text, x + (u.ctx.textAlign === "right" ? -4 : 4), u.bbox.top + below * devicePixelRatio);
			taken.push([from, from + wide]);
		}
		u.ctx.restore();
	};
	return {
		hooks: {
			draw: (u) => {
				taken = [];
				if (acts) {
					u.ctx.fillStyle = cssColor("warn");
					u.ctx.textAlign = "left";
					const text = `vigil acts at ${bytes(acts)}`;
					u.ctx.fillText(text, u.bbox.left + 4, u.valToPos(acts, "y", true) + 14 * devicePixelRatio);
					taken.push([0, u.bbox.left + u.ctx.measureText(text).width + 8]);
				}
				for (const mark of [...list].sort((a, b) => b.time - a.time)) line(u, mark.time, [4, 4], cssColor(mark.calm ? "dim" : "bad"), mark.text);
				if (moment !== undefined) line(u, moment, [], cssColor("ink"), clock(moment), 58);
			},
		},
	};
}

interface DrawProps {
	data: uPlot.AlignedData;
	options: (plot: Plot) => Omit<uPlot.Options, "width" | "height">;
	height: number;
	label: string;
	/** what `options` depends on besides colours */
	shape: string;
	onPick?: ((time: number) => void) | undefined;
}

export function Draw({ data, options, height, label, shape, onPick }: DrawProps) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const box = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | undefined>(undefined);
	const latest = useRef(data);
	latest.current = data;
	const [lib, setLib] = useState<Plot>();
	const turn = useThemeTurn();
	const pick = useRef(onPick);
	pick.current = onPick;
	useEffect(() => {
		loadPlot().then(
			(l) => setLib(() => l),
			() => {},
		);
	}, []);
	useEffect(() => {
		if (!lib || !box.current || width === 0) return;
		const made = new lib({ ...options(lib), width, height }, latest.current, box.current);
		made.over.addEventListener("click", () => {
			const at = made.cursor.left;
			if (at !== undefined && at >= 0) pick.current?.(made.posToVal(at, "x") * 1000);
		});
		plot.current = made;
		return () => {
			made.destroy();
			plot.current = undefined;
		};
	}, [lib, width > 0, turn, shape, height]);
	useEffect(() => {
		if (width > 0) plot.current?.setSize({ width, height });
	}, [width]);
	useEffect(() => plot.current?.setData(data), [data]);
	return (
		<div class="chart" ref={ref} style={{ minHeight: `${height}px` }}>
			<div ref={box} role="img" aria-label={label} />
		</div>
	);
}

function hatch(color: string): CanvasPattern | string {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const ctx = tile.getContext("2d")!;
	ctx.fillStyle = color;
	ctx.globalAlpha = 0.45;
	ctx.fillRect(0, 0, 8, 8);
	ctx.globalAlpha = 1;
	ctx.strokeStyle = color;
	ctx.lineWidth = 2;
	ctx.beginPath();
	for (const off of [-8, 0, 8]) {
		ctx.moveTo(off - 1, 9);
		ctx.lineTo(off + 9, -1);
	}
	ctx.stroke();
	return ctx.createPattern(tile, "repeat") ?? color;
}

/** Where a layer is thickest, not too near to an end, where curves rise and fall. */
function thickest(layer: Layer): number {
	const n = layer.values.length;
	let best = Math.floor(n / 2);
	for (let i = Math.floor(n * 0.12); i < n * 0.88; i++)
		if ((layer.values[i] ?? 0) > (layer.values[best] ?? 0) * 1.02) best = i;
	return best;
}

/** Names of the thickest layers, written into them. */
function layerNames(layers: Layer[]): uPlot.Plugin {
	return {
		hooks: {
			draw: (u) => {
				u.ctx.save();
				u.ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
				u.ctx.fillStyle = cssColor("ink");
				u.ctx.textAlign = "center";
				for (let i = 0; i < layers.length; i++) {
					const at = thickest(layers[i]!);
					const top = u.valToPos(layers[i]!.upper[at] ?? 0, "y", true);
					const bottom = u.valToPos((layers[i]!.upper[at] ?? 0) - (layers[i]!.values[at] ?? 0), "y", true);
					if (bottom - top < 14 * devicePixelRatio) continue;
					const half = u.ctx.measureText(layers[i]!.label).width / 2 + 4 * devicePixelRatio;
					const x = u.valToPos(u.data[0][at] ?? 0, "x", true);
					const inside = Math.max(u.bbox.left + half, Math.min(u.bbox.left + u.bbox.width - half, x));
					u.ctx.fillText(layers[i]!.label, inside, (top + bottom) / 2 + 4 * devicePixelRatio);
				}
				u.ctx.restore();
			},
		},
	};
}

export interface MemoryProps {
	memory: MemorySeries;
	culprits?: number[];
	marks?: Mark[];
	moment?: number | undefined;
	onPick?: ((time: number) => void) | undefined;
	height?: number;
}

function memoryOptions(
	layers: Layer[],
	limit: number | undefined,
	props: MemoryProps,
): Omit<uPlot.Options, "width" | "height"> {
	const acts = limit && props.memory.threshold_bytes;
	const dark = isDark();
	const n = layers.length;
	// Drawn from the top layer down, so that each covers the ones above it down to zero.
	const series: uPlot.Series[] = layers
		.map((layer, i) => {
			const shared = layer.rank === undefined && layer.pid === undefined;
			const color = shared ? cssColor("dim") : seriesColor(layer.rank ?? i, dark);
			const culprit = layer.rank !== undefined && (props.culprits ?? []).includes(layer.rank);
			return {
				label: layer.label,
				stroke: color,
				width: culprit ? 2 : 1,
				fill: culprit ? () => hatch(color) as string : `${color.length === 7 ? color : "#777777"}73`,
				points: { show: false },
			};
		})
		.reverse();
	if (limit !== undefined)
		series.push(
			{ stroke: cssColor("bad"), width: 2, dash: [8, 5], points: { show: false } },
			{ stroke: cssColor("warn"), width: 2, dash: [2, 4], points: { show: false } },
		);
	return {
		legend: { show: false },
		cursor: { points: { show: false }, drag: { x: false, y: false } },
		scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, (max || 1) * 1.12] } },
		axes: axes((v) => bytes(v), 62, BYTE_STEPS),
		series: [{}, ...series],
		bands: Array.from({ length: Math.max(0, n - 1) }, (_, i) => ({ series: [i + 1, i + 2] as [number, number] })),
		plugins: [layerNames(layers), marks(props.marks ?? [], props.moment, acts)],
	};
}

export function MemoryChart(props: MemoryProps) {
	const { memory } = props;
	const layers = useMemo(() => stackMemory(memory), [memory]);
	const peak = layers.length ? layers[layers.length - 1]!.upper.reduce<number>((m, v) => Math.max(m, v ?? 0), 0) : 0;
	const limit = limitInView(peak, memory.limit_bytes) ? memory.limit_bytes : undefined;
	const acts = limit && memory.threshold_bytes;
	const data = useMemo(() => {
		const columns = [...layers].reverse().map((l) => l.upper);
		// So near to the limit that they would be one line it is drawn a little below.
		if (limit) for (const level of [limit, acts ? Math.min(acts, limit * 0.97) : null]) columns.push(memory.times.map(() => level));
		return [memory.times.map((t) => t / 1000), ...columns] as uPlot.AlignedData;
	}, [layers, limit]);
	if (memory.times.length === 0) return <Empty>No memory was measured yet.</Empty>;
	const twice = useMemo(() => countedTwice(memory, layers), [memory, layers]);
	const byProcess = layers.some((l) => l.pid !== undefined);
	const shape = JSON.stringify([layers.map((l) => l.label), limit, props.marks, props.moment, props.culprits]);
	const label = `Memory of the ${byProcess ? "processes" : "workers"}, stacked, ${bytes(peak)} at the most${memory.limit_bytes ? `, limit ${bytes(memory.limit_bytes)}` : ""}`;
	return (
		<>
			<Draw
				data={data}
				shape={shape}
				height={props.height ?? 220}
				label={label}
				onPick={props.onPick}
				options={() => memoryOptions(layers, limit, props)}
			/>
			<p class="meta">
				Own memory of each {byProcess ? "large process" : "worker"}, and shared memory once.{" "}
				{twice !== undefined &&
					`Pages shared since a fork count in each: ${bytes(twice)} too much. `}
				{memory.limit_bytes === undefined ? (
					"No limit is known."
				) : limit !== undefined ? (
					`The dashed line is the limit, ${bytes(limit)}${acts ? `; vigil acts at ${bytes(acts)}` : ""}.`
				) : (
					<>The limit, {bytes(memory.limit_bytes)}, is far above.</>
				)}
			</p>
		</>
	);
}
