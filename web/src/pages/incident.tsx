// One report: what happened, why, what to do, and everything that proves it.
import "../common";
import type { ComponentChildren } from "preact";
import { keptOf } from "../adapt";
import { programOf } from "../adaptlate";
import { incidentPath } from "../api";
import { bytes, bytesPerS, duration, percent, words } from "../format";
import { useLoad, useNow } from "../hooks";
import { link, type Route } from "../route";
import type { Incident, IncidentStack, MemoryHolder } from "../types";
import { Bar, Card, Facts, Frames, Show, When } from "../ui/parts";
import { ReportFiles } from "../ui/reportfiles";
import { GroupedStacks, groupsOfReport } from "../ui/stacks";
import { WaitGraph } from "../ui/waits";

const who = (h: {
	rank?: number | undefined;
	name?: string | undefined;
	role?: string | undefined;
	pid?: number | undefined;
}) =>
	[
		h.rank !== undefined ? `rank ${h.rank}` : "",
		h.role && h.role !== "main" ? h.role : "",
		h.name ?? "",
		h.pid !== undefined ? `pid ${h.pid}` : "",
	]
		.filter(Boolean)
		.join(", ");

function Holders({ holders, victim }: { holders: MemoryHolder[]; victim: number | undefined }) {
	const most = holders.reduce((m, h) => Math.max(m, h.own_bytes ?? 0), 0);
	return (
		<div class="scroll">
			<table class="plain-table">
				<thead>
					<tr>
						<th>who</th>
						<th class="num">own</th>
						<th class="num">shared</th>
						<th>
							<span class="hidden">share</span>
						</th>
					</tr>
				</thead>
				<tbody>
					{holders.map((h, i) => (
						<tr key={i} class={h.pid === victim ? "chosen" : ""}>
							<td title={h.command}>
								{h.pid === victim ? "✕ " : ""}
								{who({ ...h, name: h.name ?? (h.command ? programOf(h.command) : undefined) })}
							</td>
							<td class="num">{bytes(h.own_bytes)}</td>
							<td class="num">{bytes(h.shared_bytes)}</td>
							<td class="wide">
								<Bar
									ratio={most ? (h.own_bytes ?? 0) / most : 0}
									label={`${who(h)}: ${bytes(h.own_bytes)}`}
								/>
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

function MemoryPart({ incident }: { incident: Incident }) {
	const { memory, top, growers } = incident;
	if (!top?.length && memory?.threshold_ratio === undefined) return null;
	return (
		<Card title="Memory at that moment">
			{memory?.ratio !== undefined && (
				<>
					<Bar
						ratio={memory.ratio}
						tone={memory.ratio > 0.9 ? "bad" : ""}
						label={`${percent(memory.ratio)} of ${memory.level ?? memory.scope ?? "memory"} in use`}
					/>
					<p>
						{bytes(memory.used_bytes)} of {bytes(memory.total_bytes)} in use ({percent(memory.ratio)})
						{memory.level ? `: ${memory.level}` : ""}.
					</p>
				</>
			)}
			<Facts
				items={[
					["threshold", percent(memory?.threshold_ratio)],
					[
						"growth",
						memory?.growth_bytes_per_s === undefined ? undefined : bytesPerS(memory.growth_bytes_per_s),
					],
					["full in", memory?.time_to_limit_ms === undefined ? undefined : duration(memory.time_to_limit_ms)],
					["chosen because", incident.policy?.reason],
					["next would be", incident.policy?.next],
				]}
			/>
			{growers && growers.length > 0 && <p class="meta">Who grew most before:</p>}
			{growers && growers.length > 0 && (
				<ul>
					{growers.slice(0, 5).map((g, i) => (
						<li key={i}>
							{who(g)} grew by {bytes(g.grown_bytes)} in {duration(g.over_ms)}, to {bytes(g.own_bytes)}
						</li>
					))}
				</ul>
			)}
			{top && top.length > 0 && <Holders holders={top} victim={incident.victim?.pid} />}
		</Card>
	);
}

function StackList({ stacks }: { stacks: IncidentStack[] }) {
	return (
		<Card title="Stacks" side={<small>{stacks.length}</small>}>
			<ul class="groups">
				{stacks.slice(0, 200).map((s, i) => (
					<li key={i}>
						<details open={stacks.length === 1}>
							<summary>
								<b>{who(s)}</b>{" "}
								<span>
									{s.thread}
									{s.tid !== undefined && s.tid !== s.pid ? ` · thread ${s.tid}` : ""}
									{s.waiting_on ? ` · ${s.waiting_on}` : ""}
								</span>
							</summary>
							<Frames frames={s.frames ?? []} open={20} />
						</details>
					</li>
				))}
				{stacks.length > 200 && (
					<li class="meta">and {stacks.length - 200} more; the report of `vigil why` has them all</li>
				)}
			</ul>
		</Card>
	);
}

function EvidencePart({ incident }: { incident: Incident }) {
	const list = incident.evidence ?? [];
	if (list.length === 0) return null;
	return (
		<Card title="Evidence">
			<ul class="evidencelist">
				{list.map((e, i) => (
					<li key={i}>
						<small>
							{words(e.kind ?? "")}
							{e.source ? ` · ${e.source}` : ""}
						</small>
						<span>{e.text}</span>
					</li>
				))}
			</ul>
		</Card>
	);
}

/** Causes of an end that its user asked for, as model/incident has them. */
const ASKED = ["asked_to_stop", "asked_from_page", "interrupted", "terminal_interrupt"];
const MILD: Record<string, string> = { clean_exit: "calm", straggler: "warn", slowdown: "warn" };

function Cause({ incident }: { incident: Incident }) {
	const { text, confidence, advice } = incident.cause ?? {};
	return (
		<>
			{text && (
				<p>
					{text}
					{confidence && <small class="conf"> (confidence: {confidence})</small>}
				</p>
			)}
			{advice && advice.length > 0 && (
				<div class="advice">
					<h2>What to do</h2>
					<ol>
						{advice.map((a, i) => (
							<li key={i}>{a}</li>
						))}
					</ol>
				</div>
			)}
		</>
	);
}

function Ways({ incident }: { incident: Incident }) {
	const culprit = incident.culprit_ranks?.[0] ?? incident.victim?.rank;
	return (
		<p class="actions">
			{culprit !== undefined && (
				<a class="button" href={link(["job", incident.job, "logs"], { rank: culprit })}>
					Log of rank {culprit}
				</a>
			)}
			<a class="button" href={link(["job", incident.job, "at", incident.time_unix_ms])}>
				The job at that moment
			</a>
			<ReportFiles id={incident.id} />
		</p>
	);
}

function Head({ incident }: { incident: Incident }) {
	const now = useNow(60_000);
	const asked = incident.kind === "killed_by" && ASKED.includes(incident.cause?.id ?? "");
	const tone = asked ? "calm" : (MILD[incident.kind] ?? "bad");
	return (
		<section class={`verdict ${tone}`} aria-label="Report">
			<p class="level">
				{asked ? "stopped on request" : words(incident.kind)}{" "}
				<small>
					· <When ms={incident.time_unix_ms} now={now} />
					{incident.node ? ` on ${incident.node}` : ""}
					{incident.attempt ? ` · attempt ${incident.attempt}` : ""}
				</small>
			</p>
			<h1>{incident.summary}</h1>
			<Cause incident={incident} />
			<Ways incident={incident} />
		</section>
	);
}

function factsOf(incident: Incident): [string, ComponentChildren][] {
	const { victim, hang, retry } = incident;
	const after = retry?.delay_ms ? ` after ${duration(retry.delay_ms)}` : "";
	return [
		["victim", victim && who(victim)],
		["its memory", bytes(victim?.own_bytes)],
		["ended by", incident.killer === "none" ? undefined : (incident.killer_text ?? incident.killer)],
		["exit status", victim?.exit_code],
		["signal", victim?.signal],
		["then", retry?.next === "retry" ? `started again${after}` : retry?.reason],
		["stood still for", hang?.standstill_ms === undefined ? undefined : duration(hang.standstill_ms)],
		["resolved", hang?.resolved === undefined ? undefined : hang.resolved ? "yes, by itself" : "no"],
	];
}

function Report({ incident }: { incident: Incident }) {
	const { waits, groups } = keptOf(incident);
	return (
		<>
			<p class="crumb">
				<a href="#/">Jobs</a> <span aria-hidden="true">›</span>{" "}
				<a href={link(["job", incident.job])}>{incident.job}</a> <span aria-hidden="true">›</span> report
			</p>
			<Head incident={incident} />
			<Card title="Who and how">
				<Facts items={factsOf(incident)} />
			</Card>
			<MemoryPart incident={incident} />
			{waits.processes.some((p) => p.threads?.some((t) => t.arrows?.length)) && (
				<Card title="Who waited for whom">
					<WaitGraph waits={waits} culprits={incident.culprit_ranks ?? []} told then />
				</Card>
			)}
			{groups.length > 0 && (
				<Card title="Ranks by stack">
					<GroupedStacks groups={groupsOfReport(groups, incident.culprit_ranks)} />
				</Card>
			)}
			<EvidencePart incident={incident} />
			{incident.stacks && incident.stacks.length > 0 && <StackList stacks={incident.stacks} />}
		</>
	);
}

export default function IncidentPage({ route }: { route: Route }) {
	const load = useLoad<Incident>(incidentPath(route.id!));
	return (
		<Show of={load} what="Report">
			{(incident) => <Report incident={incident} />}
		</Show>
	);
}
