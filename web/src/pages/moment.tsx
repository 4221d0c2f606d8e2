// Any moment of a job: memory, ranks, events and kept stacks as they were then.
import "../common";
import { moment as momentOf } from "../adaptlate";
import { jobPath } from "../api";
import { ago, bytes, clock, lasting, ranksText } from "../format";
import { useLoad, useNow } from "../hooks";
import { link } from "../route";
import type { Job, Moment, Rank } from "../types";
import { Bar, Card, Empty, Show, When } from "../ui/parts";
import { RankGrid } from "../ui/rankgrid";
import { EventList } from "./events";
import { running } from "../health";

/** The job stood then, whether or not it was told already. */
function MomentHang({ moment, time }: { moment: Moment; time: number }) {
	const hang = moment.hang;
	if (!hang) return null;
	const ranks = hang.culprit_ranks ?? [];
	return (
		<p class="fault" role="status">
			<span aria-hidden="true">✕</span> The job stood still, for {lasting(time - hang.since_unix_ms)} by then
			{ranks.length > 0 && `, held up by ${ranksText(ranks)}`}. {hang.text}{" "}
			<a href={link(["incident", hang.incident])}>The report</a>
		</p>
	);
}

function MomentMemory({ moment }: { moment: Moment }) {
	const rows = [...(moment.memory ?? [])].sort((a, b) => (b.own_bytes ?? 0) - (a.own_bytes ?? 0)).slice(0, 40);
	const most = rows[0]?.own_bytes ?? 0;
	if (rows.length === 0) return <Empty>No memory was measured near this moment.</Empty>;
	return (
		<table class="plain-table">
			<thead>
				<tr>
					<th>worker</th>
					<th class="num">own</th>
					<th>
						<span class="hidden">share</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{rows.map((r, i) => {
					const name = r.rank !== undefined ? `rank ${r.rank}` : (r.name ?? "?");
					return (
						<tr key={i}>
							<td>{name}</td>
							<td class="num">{bytes(r.own_bytes)}</td>
							<td class="wide">
								<Bar
									ratio={most ? (r.own_bytes ?? 0) / most : 0}
									label={`${name}: ${bytes(r.own_bytes)}`}
								/>
							</td>
						</tr>
					);
				})}
			</tbody>
		</table>
	);
}

export default function MomentView({ job, time }: { job: Job; time: number }) {
	const load = useLoad<Moment>(jobPath(job.id, "at"), { time: Math.round(time) }, momentOf);
	const now = useNow(10_000);
	const isGone = (rank: Rank) =>
		rank.state !== "ended" && (!running(job) || (rank.attempt !== undefined && rank.attempt < (job.attempt ?? 0)));
	return (
		<Show of={load} what="This moment">
			{(m) => (
				<>
					<h1>
						{job.name} at {clock(time, now)}
					</h1>
					<p class="notice" role="status">
						<span aria-hidden="true">◷</span> This is {clock(time, now)}, {ago(time, now)}.{" "}
						<a href={link(["job", job.id])}>Back to {running(job) ? "now" : "the end"}</a>
					</p>
					<MomentHang moment={m} time={time} />
					<Card title={(m.ranks ?? []).some((r) => r.rank < 0) ? "Process at that moment" : "Ranks at that moment"}>
						<RankGrid ranks={m.ranks ?? []} job={job.id} gone={isGone} />
					</Card>
					<Card title="Memory at that moment">
						<MomentMemory moment={m} />
					</Card>
					<Card title="Events around it">
						{(m.events ?? []).length === 0 ? (
							<Empty>Nothing happened within five minutes.</Empty>
						) : (
							<EventList events={m.events!} now={now} job={job.id} />
						)}
					</Card>
					<Card title="Stacks that were kept nearest">
						{m.incident ? (
							<p>
								<a href={link(["incident", m.incident])}>Report {m.incident}</a>
								{m.incident_unix_ms !== undefined && (
									<>
										{" "}
										of <When ms={m.incident_unix_ms} now={now} />
									</>
								)}
							</p>
						) : (
							<Empty>No stacks were kept near this moment.</Empty>
						)}
					</Card>
				</>
			)}
		</Show>
	);
}
