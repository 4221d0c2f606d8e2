// Curves of ranks over time: steps, GPU, CPU, disk.
import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { bytes, bytesPerS, decimal, duration, percent, rate } from "../format";
import { useThemeTurn } from "../hooks";
import type { Series } from "../types";
import { lastOf } from "./axis";
import { axes, BYTE_STEPS, Draw, marks, type Mark } from "./chart";
import { isDark, seriesColor } from "./palette";
import { Empty } from "./parts";

const VALUE: Record<string, (v: number) => string> = {
	ratio: (v) => percent(v),
	bytes: (v) => bytes(v),
	"bytes/s": (v) => bytesPerS(v),
	"steps/s": (v) => rate(v),
	"1/s": (v) => rate(v),
	s: (v) => duration(v * 1000),
};
const valueOf = (unit: string | undefined) =>
	VALUE[unit ?? ""] ?? ((v: number) => `${decimal(v)}${unit ? ` ${unit}` : ""}`);
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3]];

type Curve = Series["series"][number];

/** Who read or wrote nothing is no curve, nor is what has no rank and did nothing. */
const isCurve = (s: Curve) =>
	s.values.some((v) => v != null && v !== 0) || (s.rank !== undefined && !s.unit?.startsWith("bytes"));

/** They come by their memory; a rank has its place and its colour in all of these charts. What has no rank comes last. */
const byRank = (a: Curve, b: Curve) => (a.rank ?? 1e9) - (b.rank ?? 1e9);

/** "rank 2"; "rank 2 read" where ranks have several curves. */
function namesOf(curves: Curve[]): string[] {
	const varied = new Set(curves.map((s) => s.label)).size > 1;
	const ranked = curves.some((s) => s.rank !== undefined);
	return curves.map(({ rank, label }) => {
		const more = varied && label && !label.startsWith("rank") ? ` ${label}` : "";
		return rank !== undefined ? `rank ${rank}${more}` : more && ranked ? `no rank,${more}` : (label ?? "?");
	});
}

function lastText(curve: Curve): string {
	const last = lastOf(curve.values);
	return last === undefined ? "–" : valueOf(curve.unit)(last);
}

function optionsOf(curves: Curve[], names: string[], plugin: uPlot.Plugin): Omit<uPlot.Options, "width" | "height"> {
	const unit = curves[0]?.unit;
	const lines = curves.map((_, i) => ({
		label: names[i]!,
		stroke: seriesColor(i, isDark()),
		dash: DASHES[Math.floor(i / 8) % 4]!,
		width: 1.5,
		points: { show: false },
	}));
	return {
		legend: { show: false },
		cursor: { drag: { x: false, y: false } },
		scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, (max || 1) * 1.08] } },
		axes: axes(valueOf(unit), 70, unit?.startsWith("bytes") ? BYTE_STEPS : undefined),
		series: [{}, ...lines],
		plugins: [plugin],
	};
}

function Legend({ curves, names, all }: { curves: Curve[]; names: string[]; all: number }) {
	useThemeTurn();
	return (
		<ul class="serieslegend">
			{curves.slice(0, 8).map((s, i) => (
				<li key={i}>
					<i style={{ background: seriesColor(i, isDark()) }} />
					{names[i]} <b>{lastText(s)}</b>
				</li>
			))}
			{all > 8 && <li>and {all - 8} more</li>}
		</ul>
	);
}

interface Props {
	series: Series;
	title: string;
	marks?: Mark[];
	moment?: number | undefined;
	onPick?: ((time: number) => void) | undefined;
}

export function SeriesChart({ series, title, marks: list, moment, onPick }: Props) {
	const busy = useMemo(() => series.series.filter(isCurve).sort(byRank), [series]);
	const curves = busy.slice(0, 40);
	const data = useMemo(
		() => [series.times.map((t) => t / 1000), ...curves.map((s) => s.values)] as uPlot.AlignedData,
		[series],
	);
	if (series.times.length === 0 || series.series.length === 0)
		return <Empty>{series.note ?? "Nothing was measured."}</Empty>;
	if (curves.length === 0) return <Empty>Nothing all the time.</Empty>;
	const names = namesOf(curves);
	const told = curves.slice(0, 4).map((c, i) => `${names[i]} ${lastText(c)}`);
	return (
		<>
			<Draw
				data={data}
				shape={JSON.stringify([names, list, moment])}
				height={150}
				label={`${title}: ${told.join(", ")}`}
				onPick={onPick}
				options={() => optionsOf(curves, names, marks(list ?? [], moment))}
			/>
			<Legend curves={curves} names={names} all={busy.length} />
		</>
	);
}
