// What stands below the first screen of a job: stacks, memory, charts, attempts, and what it is.
import "../common";
import { useMemo, useState } from "preact/hooks";
import type { Kept } from "../adapt";
import { attemptMarks } from "../adaptlate";
import { jobPath } from "../api";
import { level, running, stands as standsStill, turns } from "../health";
import { useEvery, useLoad, useNews, useNow, type Loaded } from "../hooks";
import type { Event, IncidentBrief, Job, Me, MemorySeries, Series, Stacks, Waits } from "../types";
import { MemoryChart, type Mark } from "../ui/chart";
import { Card, Empty, Show } from "../ui/parts";
import { ReportFiles } from "../ui/reportfiles";
import { SeriesChart } from "../ui/serieschart";
import { GroupedStacks, groupsOfReport, groupStacks } from "../ui/stacks";
import { WaitGraph } from "../ui/waits";
import type { useEvents } from "./events";
import { Attempts, Details, Happenings } from "./jobparts";

const CHARTS: [string, string][] = [
	["step", "Steps a second"],
	["gpu", "GPU"],
	["cpu", "CPU"],
	["io", "Disk"],
];

function Charts({
	job,
	moment,
	marks,
	onPick,
}: {
	job: Job;
	moment: number | undefined;
	marks: Mark[];
	onPick: (t: number) => void;
}) {
	return (
		<div class="charts">
			{CHARTS.map(([what, title]) => (
				<OneChart
					key={what}
					job={job}
					what={what}
					title={title}
					moment={moment}
					marks={marks}
					onPick={onPick}
				/>
			))}
		</div>
	);
}

function OneChart({
	job,
	what,
	title,
	moment,
	marks,
	onPick,
}: {
	job: Job;
	what: string;
	title: string;
	moment: number | undefined;
	marks: Mark[];
	onPick: (t: number) => void;
}) {
	const load = useLoad<Series>(jobPath(job.id, "series"), { what, points: 300 });
	useEvery(10_000, running(job), load.reload);
	useNews(
		(kind, event: Event) => {
			if (kind === "event" && turns(event)) load.reload();
		},
		() => {},
	);
	return (
		<Card title={title}>
			<Show of={load} what={title}>
				{(s) => <SeriesChart series={s} title={title} marks={marks} moment={moment} onPick={onPick} />}
			</Show>
		</Card>
	);
}

/** The stacks that the report of a hang has kept, until others were read. */
function KeptStacks({ job, kept }: { job: Job; kept: Kept }) {
	return <GroupedStacks groups={groupsOfReport(kept.groups, job.health?.culprit_ranks)} />;
}

function Standing({ job, waits, kept }: { job: Job; waits: Loaded<Waits>; kept: Kept | undefined }) {
	const [asked, setAsked] = useState(false);
	const stands = standsStill(job);
	const stacks = useLoad<Stacks>(running(job) && (stands || asked) ? jobPath(job.id, "stacks") : undefined);
	// Of a job that does not stand still nobody else asks for it.
	const look = useLoad<Waits>(asked && !stands && running(job) ? jobPath(job.id, "waits") : undefined);
	const culprits = job.health?.culprit_ranks ?? [];
	const groups = useMemo(
		() => (stacks.data ? groupStacks(stacks.data, culprits) : []),
		[stacks.data, culprits.join()],
	);
	if (!running(job))
		return kept && kept.groups.length > 0 ? (
			<Card title="What the ranks did when it hung" id="stacks">
				<KeptStacks job={job} kept={kept} />
			</Card>
		) : null;
	if (level(job) === "unseen") return null;
	return (
		<Card
			title="What the ranks do now"
			id="stacks"
			side={
				<button
					type="button"
					onClick={() => {
						setAsked(true);
						stacks.reload();
						(stands ? waits : look).reload();
					}}>
					{stacks.data ? "Look again" : "Look now"}
				</button>
			}>
			{kept && kept.groups.length > 0 && !stacks.data && !asked ? (
				<KeptStacks job={job} kept={kept} />
			) : stands || asked ? (
				<Show of={stacks} what="Stacks">
					{() => <GroupedStacks groups={groups} />}
				</Show>
			) : (
				<Empty>Looking reads the stack of every rank; it takes a moment and changes nothing.</Empty>
			)}
			{asked && !stands && (
				<Show of={look} what="Who waits for whom">
					{(w) => <WaitGraph waits={w} culprits={[]} />}
				</Show>
			)}
		</Card>
	);
}

export interface JobRestProps {
	job: Job;
	me: Me | undefined;
	moment: number | undefined;
	marks: Mark[];
	memory: Loaded<MemorySeries>;
	waits: Loaded<Waits>;
	kept: Kept | undefined;
	incidents: Loaded<{ incidents: IncidentBrief[] }>;
	events: ReturnType<typeof useEvents>;
	onPick: (time: number) => void;
}

export default function JobRest(props: JobRestProps) {
	const { job, me, moment, marks, memory, waits, kept, incidents, events, onPick } = props;
	const now = useNow(10_000);
	const culprits = job.health?.culprit_ranks ?? [];
	const all = useMemo(() => [...marks, ...attemptMarks(events.all)], [marks, events.all]);
	return (
		<>
			{moment === undefined && <Standing job={job} waits={waits} kept={kept} />}
			<Card title="Memory of the workers" id="memory" side={<small class="hint">click for that moment</small>}>
				<Show of={memory} what="Memory">
					{(m) => <MemoryChart memory={m} culprits={culprits} marks={all} moment={moment} onPick={onPick} />}
				</Show>
			</Card>
			<Charts job={job} moment={moment} marks={all} onPick={onPick} />
			<Card title="Attempts">
				<Show of={incidents} what="Attempts">
					{(i) => (
						<>
							<Attempts job={job} events={events.all} incidents={i.incidents} now={now} />
							{job.health?.incident && (
								<p class="actions">
									<ReportFiles id={job.health.incident} />
								</p>
							)}
						</>
					)}
				</Show>
			</Card>
			<Happenings job={job} list={events} />
			<Details job={job} me={me} />
		</>
	);
}
