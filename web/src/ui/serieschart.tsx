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

const inBytes = (s: Curve) => s.unit?.startsWith("bytes") ?? false;
/** What is told as 0. */
const isNone = (s: Curve, v: number | null) => v == null || (inBytes(s) ? Math.abs(v) < 0.5 : v === 0);

/** Who read or wrote nothing is no curve, nor is what has no rank and did nothing. */
const isCurve = (s: Curve) => !s.values.every((v) => isNone(s, v)) || (s.rank !== undefined && !inBytes(s));

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

/** A rank has one colour in all charts of a page; of several curves of it, as of read and written, the dashes differ. */
function looksOf(curves: Curve[]): { color: string; dash: number[] }[] {
	const labels = [...new Set(curves.filter((s) => s.rank !== undefined).map((s) => s.label))];
	const several = curves.some((s, i) => i > 0 && s.rank !== undefined && s.rank === curves[i - 1]!.rank);
	const kinds = several ? labels.length : 1;
	return curves.map((s, i) => {
		const at = s.rank ?? i;
		const round = Math.floor(at / 8) * kinds + (several ? Math.max(0, labels.indexOf(s.label)) : 0);
		return { color: seriesColor(at, isDark()), dash: DASHES[round % 4]! };
	});
}

function lastText(curve: Curve): string {
	const last = lastOf(curve.values);
	return last === undefined ? "–" : valueOf(curve.unit)(last);
}

function optionsOf(curves: Curve[], names: string[], plugin: uPlot.Plugin): Omit<uPlot.Options, "width" | "height"> {
	const unit = curves[0]?.unit;
	const lines = looksOf(curves).map(({ color, dash }, i) => ({
		label: names[i]!,
		stroke: color,
		dash,
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
	const looks = looksOf(curves);
	return (
		<ul class="serieslegend">
			{curves.slice(0, 8).map((s, i) => (
				<li key={i}>
					<i class={looks[i]!.dash.length > 0 ? "dashed" : ""} style={{ color: looks[i]!.color }} />
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
	if (curves.length === 0) {
		const seen = series.series.some((s) => s.values.some((v) => v !== null));
		return <Empty>{seen ? "Nothing all the time." : "Nothing was measured."}</Empty>;
	}
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
