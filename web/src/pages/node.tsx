// The machine: its memory by component, its GPUs, pressure, the jobs on it, and what vigil's doctor finds.
import "../common";
import { nodeState } from "../adaptlate";
import { bytes, count, percent } from "../format";
import { useEvery, useLoad, useNews, useThemeTurn } from "../hooks";
import { link } from "../route";
import type { Finding, NodeState } from "../types";
import { Bar, Card, Empty, Facts, Show } from "../ui/parts";
import { seriesColor, isDark } from "../ui/palette";

function Components({ node }: { node: NodeState }) {
	useThemeTurn();
	const memory = node.memory ?? {};
	const total = memory.total_bytes ?? 0;
	const list = [...(memory.components ?? [])].sort((a, b) => b.bytes - a.bytes);
	if (total <= 0) return <Empty>The size of the memory is not known.</Empty>;
	return (
		<>
			<div class="stackbar" role="img" aria-label={list.map((c) => `${c.name} ${bytes(c.bytes)}`).join(", ")}>
				{list.map((c, i) => (
					<i
						key={c.name}
						style={{ width: `${(c.bytes / total) * 100}%`, background: seriesColor(i, isDark()) }}
					/>
				))}
				<b title="80 %" />
			</div>
			<ul class="rows components">
				{list.map((c, i) => (
					<li key={c.name}>
						<i style={{ background: seriesColor(i, isDark()) }} aria-hidden="true" />
						<span>{c.name}</span>
						<b>{bytes(c.bytes)}</b>
						<small>{percent(c.bytes / total)}</small>
					</li>
				))}
			</ul>
		</>
	);
}

type Gpu = NonNullable<NodeState["gpus"]>[number];

function GpuRow({ gpu }: { gpu: Gpu }) {
	const used =
		gpu.memory_total_bytes && gpu.memory_used_bytes !== undefined
			? gpu.memory_used_bytes / gpu.memory_total_bytes
			: undefined;
	return (
		<li class="gpu">
			<p>
				<b>GPU {gpu.index}</b> {gpu.name}{" "}
				{used !== undefined && used > 0.8 && (
					<span class="badge warn">
						<span aria-hidden="true">▲</span> above 80 % of its memory
					</span>
				)}{" "}
				{gpu.lost && (
					<span class="badge bad">
						<span aria-hidden="true">✕</span> lost
					</span>
				)}
			</p>
			{gpu.busy_ratio !== undefined && (
				<div class="labelled">
					<span>busy {percent(gpu.busy_ratio)}</span>
					<Bar ratio={gpu.busy_ratio} label={`busy ${percent(gpu.busy_ratio)}`} />
				</div>
			)}
			{used !== undefined && (
				<div class="labelled">
					<span>
						{bytes(gpu.memory_used_bytes)} of {bytes(gpu.memory_total_bytes)}
					</span>
					<Bar ratio={used} tone={used > 0.95 ? "warn" : ""} label={`memory ${percent(used)}`} />
				</div>
			)}
			<p class="meta">
				{gpu.temperature_c !== undefined ? `${gpu.temperature_c} °C` : ""}{" "}
				{gpu.processes?.map((p) =>
					p.job ? (
						<a key={p.pid} href={link(["job", p.job])}>
							{p.job}
							{p.rank !== undefined ? `, rank ${p.rank}` : ""}
						</a>
					) : (
						`pid ${p.pid}`
					),
				)}
			</p>
		</li>
	);
}

function Doctor() {
	const load = useLoad<{ findings: Finding[] }>("doctor");
	return (
		<Card title="What vigil found out about this machine">
			<Show of={load} what="Findings">
				{({ findings }) =>
					findings.length === 0 ? (
						<Empty>Nothing stands in vigil's way here.</Empty>
					) : (
						<ul class="rows findings">
							{findings.map((f) => (
								<li key={f.id}>
									<p>
										<b>{f.severity ?? "note"}</b> {f.text}
									</p>
									{(f.advice ?? []).map((a, i) => (
										<p key={i} class="meta">
											→ {a}
										</p>
									))}
								</li>
							))}
						</ul>
					)
				}
			</Show>
		</Card>
	);
}

function Marks({ node }: { node: NodeState }) {
	const full = (node.containers ?? []).filter((c) => (c.ratio ?? 0) > 0.8);
	const above = node.above_80 ?? (node.memory?.ratio !== undefined && node.memory.ratio > 0.8);
	return (
		<p class="legend">
			{node.head && (
				<span class="badge calm">
					<span aria-hidden="true">◆</span> head node{node.head_of ? ` of ${node.head_of}` : ""}
				</span>
			)}
			{above && (
				<span class="badge warn">
					<span aria-hidden="true">▲</span> above 80 % of memory
				</span>
			)}
			{full.map((c) => (
				<span key={c.name} class="badge warn">
					<span aria-hidden="true">▲</span> container {c.name} above 80 % of its memory
				</span>
			))}
			{!above && full.length === 0 && (
				<span class="badge good">
					<span aria-hidden="true">✓</span> memory below 80 %
				</span>
			)}
		</p>
	);
}

export default function NodePage() {
	const load = useLoad<NodeState>("node", {}, nodeState);
	useNews(() => {}, (first) => first || load.reload());
	useEvery(5000, true, load.reload);
	return (
		<Show of={load} what="Node">
			{(node) => (
				<>
					<h1>{node.name ?? node.node ?? "This node"}</h1>
					<Marks node={node} />
					<Card
						title="Memory"
						side={
							<small>
								{bytes(node.memory?.used_bytes)} of {bytes(node.memory?.total_bytes)} (
								{percent(node.memory?.ratio)})
							</small>
						}>
						<Components node={node} />
						{(node.containers ?? []).map((c) => (
							<div key={c.name} class="labelled">
								<span>
									container {c.name}: {bytes(c.used_bytes)} of {bytes(c.total_bytes)} ({percent(c.ratio)})
								</span>
								<Bar
									ratio={c.ratio ?? 0}
									tone={(c.ratio ?? 0) > 0.8 ? "warn" : ""}
									label={`container ${c.name}: ${percent(c.ratio)} of its memory`}
								/>
							</div>
						))}
					</Card>
					{(node.gpus ?? []).length > 0 && (
						<Card title="GPUs">
							<ul class="gpus">
								{node.gpus!.map((g) => (
									<GpuRow key={g.index} gpu={g} />
								))}
							</ul>
						</Card>
					)}
					{(node.pressure ?? []).length > 0 && (
						<Card title="Pressure" side={<small>share of time that work waited</small>}>
							<Facts
								items={node.pressure!.map(
									(p) =>
										[
											p.kind ?? "?",
											p.full_ratio === undefined
												? `some ${percent(p.some_ratio)}`
												: `some ${percent(p.some_ratio)}, all ${percent(p.full_ratio)}`,
										] as [string, string],
								)}
							/>
						</Card>
					)}
					<Card title="Jobs on it">
						{(node.jobs ?? []).length === 0 ? (
							<Empty>No job runs here.</Empty>
						) : (
							<ul class="rows components">
								{node.jobs!.map((j) => (
									<li key={j.job}>
										<span>
											<a href={link(["job", j.job])}>{j.name ?? j.job}</a>
										</span>
										<b>{bytes(j.own_bytes)}</b>
										<small>
											{count(j.processes)} {j.processes === 1 ? "process" : "processes"}
										</small>
									</li>
								))}
							</ul>
						)}
					</Card>
					<Doctor />
				</>
			)}
		</Show>
	);
}
