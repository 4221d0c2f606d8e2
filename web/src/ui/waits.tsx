// The picture of who waits for whom, and the same in words.
import { clock } from "../format";
import { useWidth } from "../hooks";
import type { Waits } from "../types";
import { layoutWaits, waitNodes, type Box } from "./waitlayout";
import { Empty } from "./parts";

const fit = (text: string, width: number, perChar: number) => {
	const most = Math.max(4, Math.floor(width / perChar));
	return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

function BoxMark({ box, culprits }: { box: Box; culprits: number[] }) {
	const { node, x, y, w, h } = box;
	const culprit = node.ranks.some((r) => culprits.includes(r)) || (culprits.length === 0 && node.end);
	return (
		<g class={`waitbox ${culprit ? "culprit" : ""}`}>
			<title>{`${node.label}: ${node.why}`}</title>
			<rect x={x + 1} y={y + 1} width={Math.max(1, w - 2)} height={h - 2} rx="6" />
			<text class="label" x={x + 10} y={y + 20}>
				{fit(`${culprit ? "⚑ " : ""}${node.label}`, w - 18, 7.6)}
			</text>
			<text class="why" x={x + 10} y={y + 37}>
				{fit(node.why, w - 18, 6)}
			</text>
		</g>
	);
}

interface Props {
	waits: Waits;
	culprits: number[];
	/** the same in words stands beside it already */
	told?: boolean;
	/** it is a look of the past */
	then?: boolean;
}

export function WaitGraph({ waits, culprits, told = false, then = false }: Props) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const nodes = waitNodes(waits);
	if (nodes.length === 0) return then ? null : <Empty>Nobody waits for another rank at this moment.</Empty>;
	const said =
		waits.ends.length > 0 ? waits.ends.map((e) => e.way ?? e.text) : nodes.map((n) => `${n.label}: ${n.why}`);
	const picture = layoutWaits(nodes, Math.max(200, width));
	return (
		<div class="waits" ref={ref}>
			{width > 0 && (
				<svg
					width={picture.width}
					height={picture.height}
					role="img"
					aria-label={`Who waits for whom: ${said.join("; ")}`}>
					<defs>
						<marker
							id="tip"
							viewBox="0 0 8 8"
							refX="7"
							refY="4"
							markerWidth="7"
							markerHeight="7"
							orient="auto">
							<path d="M0 0 8 4 0 8z" />
						</marker>
					</defs>
					{picture.arrows.map((a) => (
						<path
							key={a.key}
							class={`arrow ${a.back ? "back" : ""}`}
							marker-end="url(#tip)"
							d={`M${a.x1} ${a.y1} C${a.x1} ${(a.y1 + a.y2) / 2} ${a.x2} ${(a.y1 + a.y2) / 2} ${a.x2} ${a.y2}`}
						/>
					))}
					{picture.boxes.map((b) => (
						<BoxMark key={b.node.key} box={b} culprits={culprits} />
					))}
				</svg>
			)}
			{then && <p class="meta">As it stood at {clock(waits.captured_unix_ms)}.</p>}
			{picture.left_out > 0 && <p class="meta">{picture.left_out} more groups have no room in the picture.</p>}
			{!told && (
				<ul class="ways">
					{waits.ends.slice(0, 6).map((e, i) => (
						<li key={i}>
							{e.way ?? `${e.who ?? ""} ${e.text}`}
							{e.dead ? " — it can never run again, by proof" : ""}
						</li>
					))}
				</ul>
			)}
		</div>
	);
}
