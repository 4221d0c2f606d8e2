// The processes of a job, and one of them with the buttons that look into it.
import "../common";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, jobPath, send } from "../api";
import { ago, bytes, clock, count, duration, endedWords } from "../format";
import { useEvery, useLoad, useNews, useNow } from "../hooks";
import { live } from "../live";
import { running } from "../health";
import { link, type Route } from "../route";
import type { Event, Me, Process } from "../types";
import { Card, Empty, Facts, Fault, Show } from "../ui/parts";
import { useJob } from "./jobframe";
import { NewProfile } from "./newprofile";

const stateText = (p: Process) =>
	p.running
		? "alive"
		: p.signal
			? `ended by signal ${p.signal}${endedWords(p.ended_for, ": ")}`
			: p.exit_code !== undefined
				? `ended, status ${p.exit_code}`
				: "ended";

/** "after 2.1 s" */
const livedText = (p: Process) =>
	p.running || !p.started_unix_ms || !p.ended_unix_ms || p.ended_unix_ms < p.started_unix_ms
		? ""
		: ` after ${duration(p.ended_unix_ms - p.started_unix_ms)}`;

/** Of one that has ended the most that is known of it. */
const ownText = (p: Process) =>
	p.rss_bytes === undefined && p.peak_own_bytes ? `up to ${bytes(p.peak_own_bytes)}` : bytes(p.own_bytes);

/** With its run where only that tells whose rank it is. */
const rankText = (p: Process) =>
	p.rank ?? (p.ray?.train_rank === undefined ? "–" : `${p.ray.train_rank} of ${p.ray.train_run ?? "a run"}`);

function Table({ processes, job }: { processes: Process[]; job: string }) {
	const sorted = [...processes].sort(
		(a, b) =>
			Number(b.running ?? false) - Number(a.running ?? false) ||
			(a.rank ?? 1e9) - (b.rank ?? 1e9) ||
			a.pid - b.pid,
	);
	const [all, setAll] = useState(false);
	const shown = all ? sorted : sorted.slice(0, 100);
	return (
		<>
			<div class="scroll">
				<table class="plain-table">
					<thead>
						<tr>
							<th>rank</th>
							<th>process</th>
							<th class="roomy">role</th>
							<th class="num">own</th>
							<th class="num">shared</th>
							<th>state</th>
						</tr>
					</thead>
					<tbody>
						{shown.map((p) => (
							<tr key={`${p.pid}.${p.started_unix_ms}`}>
								<td>{rankText(p)}</td>
								<td>
									<a href={link(["job", job, "process", p.pid])} title={p.command}>
										{p.name ?? "?"} {p.pid}
									</a>
								</td>
								<td class="roomy">{p.role}</td>
								<td class="num">{ownText(p)}</td>
								<td class="num">{bytes(p.shared_bytes)}</td>
								<td>
									{p.running ? "" : "■ "}
									{stateText(p)}
									{livedText(p)}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			{sorted.length > shown.length && (
				<button type="button" onClick={() => setAll(true)}>
					All {count(sorted.length)}
				</button>
			)}
		</>
	);
}

type Signal = "TERM" | "KILL";

interface EndProps {
	job: string;
	process: Process;
	onSent: (signal: Signal) => void;
}

function End({ job, process, onSent }: EndProps) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [signal, setSignal] = useState<Signal>("TERM");
	// Who was asked about: the number may be another process's by the time of the answer.
	const [meant, setMeant] = useState(process);
	const [error, setError] = useState<ApiError>();
	const ask = (s: Signal) => {
		setSignal(s);
		setMeant(process);
		setError(undefined);
		dialog.current?.showModal();
	};
	const go = async () => {
		dialog.current?.close();
		try {
			await send("POST", jobPath(job, "signal"), {
				pid: meant.pid,
				signal,
				start_ticks: meant.start_ticks,
			});
			onSent(signal);
		} catch (e) {
			setError(e as ApiError);
		}
	};
	return (
		<Card title="End this process">
			<p class="actions">
				<button type="button" onClick={() => ask("TERM")}>
					Ask it to end (SIGTERM)
				</button>{" "}
				<button type="button" onClick={() => ask("KILL")}>
					End it at once (SIGKILL)
				</button>
			</p>
			{error && <Fault error={error} />}
			<dialog ref={dialog} aria-label="End this process?">
				<h2>
					Send SIG{signal} to process {meant.pid}
					{meant.rank !== undefined ? ` (rank ${meant.rank})` : ""}?
				</h2>
				<p>{meant.rank !== undefined ? `The other ranks of ${job}` : `Job ${job}`} will probably fail without it, and vigil does not start the job again.</p>
				<p class="actions">
					<button type="button" onClick={() => dialog.current?.close()}>
						Leave it alone
					</button>{" "}
					<button type="button" class="main" onClick={() => void go()}>
						Send SIG{signal}
					</button>
				</p>
			</dialog>
		</Card>
	);
}

/** How soon it is looked whether a process that was told to end has ended, and how soon otherwise. */
const [TOLD_MS, ALIVE_MS] = [1000, 10_000];

interface OneProps {
	process: Process;
	me: Me | undefined;
	job: string;
	again: () => void;
}

function One({ process: p, me, job, again }: OneProps) {
	const now = useNow(5000);
	const [sent, setSent] = useState<{ signal: Signal; at: number }>();
	const begins = p.started_unix_ms;
	// An event of the job tells it as well, for whoever looks later.
	const signals = useLoad<{ events: Event[] }>(jobPath(job, "events"), { kind: "signal", order: "desc", limit: 200 });
	useNews((kind, event: Event) => {
		if (kind === "event" && event.kind === "signal" && event.job === job) signals.reload();
	}, () => {});
	const told = signals.data?.events.find((e) => e.text.includes(`pid ${p.pid})`) && e.time_unix_ms >= (begins ?? 0));
	useEvery(sent ? TOLD_MS : ALIVE_MS, p.running ?? false, again);
	return (
		<>
			<h1>
				{p.name ?? "process"} {p.pid}
				{p.rank !== undefined ? `, rank ${p.rank}` : ""}
			</h1>
			<Card title="What it is">
				<Facts
					items={[
						["state", stateText(p) + livedText(p)],
						["role", p.role],
						["run of Ray Train", p.ray?.train_run && `${p.ray.train_run}, rank ${p.ray.train_rank}`],
						["worker of Ray", p.ray?.worker_id],
						["own memory", bytes(p.own_bytes)],
						["shared", bytes(p.shared_bytes)],
						["resident", bytes(p.rss_bytes)],
						["swapped", p.swap_bytes ? bytes(p.swap_bytes) : undefined],
						["most own", p.peak_own_bytes === undefined ? undefined : bytes(p.peak_own_bytes)],
						["parent", p.ppid],
						["began", begins === undefined ? undefined : p.running ? ago(begins, now) : clock(begins, now)],
						["ended", p.running || !p.ended_unix_ms ? undefined : clock(p.ended_unix_ms, now)],
						[
							"step",
							p.step === undefined
								? undefined
								: `${count(p.step)}${p.steps_total ? ` of ${count(p.steps_total)}` : ""}`,
						],
					]}
				/>
				<p>
					<code>{p.command}</code>
				</p>
				{(sent || told) && (
					<p role="status">
						{told ? `${told.text}, at ` : `SIG${sent?.signal} was sent at `}
						{clock(told?.time_unix_ms ?? sent?.at, now)}.{p.running ? " It has not ended yet." : ""}
					</p>
				)}
				{p.rank !== undefined && (
					<p class="actions">
						<a class="button" href={link(["job", job, "logs"], { rank: p.rank })}>
							Log of rank {p.rank}
						</a>
					</p>
				)}
			</Card>
			{p.running ? (
				<Card title="Look into it">
					<NewProfile target={{ job, pid: p.pid }} me={me} />
				</Card>
			) : (
				<Empty>It has ended: what was kept of it is in the job's reports and profiles.</Empty>
			)}
			{p.running && me?.role === "admin" && (
				<End job={job} process={p} onSent={(signal) => setSent({ signal, at: live.now() })} />
			)}
		</>
	);
}

export default function Processes({ route, me }: { route: Route; me?: Me }) {
	const { job } = useJob();
	const load = useLoad<{ processes: Process[]; left_out?: number }>(jobPath(job.id, "processes"), { all: 1 });
	useNews(() => {}, (first) => first || load.reload());
	const open = running(job);
	const was = useRef(open);
	useEffect(() => {
		if (was.current !== open) load.reload();
		was.current = open;
	}, [open]);
	if (route.page === "process") {
		return (
			<Show of={load} what="Process">
				{({ processes }) => {
					const those = processes.filter((p) => String(p.pid) === route.id);
					const found = those.find((p) => p.running) ?? those[0];
					const key = `${found?.pid}.${found?.start_ticks}`;
					return found ? (
						<One key={key} process={found} me={me} job={job.id} again={load.reload} />
					) : (
						<Empty>
							The job has no process {route.id}.{" "}
							<a href={link(["job", job.id, "processes"])}>All its processes</a>
						</Empty>
					);
				}}
			</Show>
		);
	}
	return (
		<Card
			title="Processes"
			side={
				<button type="button" onClick={load.reload}>
					Read again
				</button>
			}>
			<Show of={load} what="Processes">
				{({ processes, left_out }) =>
					processes.length === 0 ? (
						<Empty>No processes are known.</Empty>
					) : (
						<>
							{!running(job) && (
								<p class="meta">The job has ended: these are the processes that vigil saw of it.</p>
							)}
							<Table processes={processes} job={job.id} />
							{left_out !== undefined && (
								<p class="meta">{count(left_out)} more, which lived shorter, are not listed.</p>
							)}
						</>
					)
				}
			</Show>
		</Card>
	);
}
