// The first thing one sees of a job: is it well, who holds it up, what to do, and the picture that proves it.
import type { ComponentChildren } from "preact";
import { ago, clock, lasting, rankList } from "../format";
import { useNow } from "../hooks";
import { link } from "../route";
import type { Health, Job } from "../types";
import { levelOf } from "../ui/parts";
import { level, running, sentenceAt } from "../health";

const WORSE = ["suspected", "hung", "slow", "memory", "died", "lost", "unseen"];

function Culprits({ job, ranks, title }: { job: string; ranks: number[]; title: string }) {
	if (ranks.length === 0) return null;
	return (
		<p class="culprits">
			<span>{title}</span>
			{ranks.slice(0, 6).map((r) => (
				<a key={r} class="chip" href={link(["job", job, "logs"], { rank: r })}>
					⚑ rank {r}
				</a>
			))}
			{ranks.length > 6 && <span>and {rankList(ranks.slice(6))}</span>}
		</p>
	);
}

function Advice({ advice }: { advice: string[] }) {
	if (advice.length === 0) return null;
	return (
		<div class="advice">
			<h2>What to do</h2>
			<ol>
				{advice.slice(0, 6).map((a, i) => (
					<li key={i}>{a}</li>
				))}
			</ol>
		</div>
	);
}

function Evidence({ evidence }: { evidence: string[] }) {
	if (evidence.length === 0) return null;
	return (
		<details class="evidence">
			<summary>How vigil knows</summary>
			<ul>
				{evidence.map((e, i) => (
					<li key={i}>{e}</li>
				))}
			</ul>
		</details>
	);
}

export function Verdict({ job, picture }: { job: Job; picture: ComponentChildren }) {
	const now = useNow(1000);
	const health: Health = job.health ?? {
		level: "unknown",
		sentence: `It cannot be told how it is: ${job.state}.`,
	};
	const { glyph, word, tone } = levelOf(level({ ...job, health }));
	const going = running(job);
	const culprit = health.culprit_ranks?.[0];
	return (
		<section class={`verdict ${tone}`} aria-label="Verdict">
			<p class="level">
				<span aria-hidden="true">{glyph}</span> {word}
				{health.next_unix_ms! > now && <small> in {lasting(health.next_unix_ms! - now)}</small>}
				{health.since_unix_ms !== undefined && (
					<small>
						{" "}
						· {going ? `since ${clock(health.since_unix_ms, now)}` : ago(health.since_unix_ms, now)}
					</small>
				)}
			</p>
			<h1>{sentenceAt(health, now)}</h1>
			<Culprits
				job={job.id}
				ranks={WORSE.includes(health.level) ? (health.culprit_ranks ?? []) : []}
				title={!going ? "Culprit" : health.nobody_waits ? "Slower than the others" : "Held up by"}
			/>
			{health.why && <p class="why">{health.why}</p>}
			<Advice advice={health.advice ?? []} />
			{picture && <div class="proof">{picture}</div>}
			<Evidence evidence={health.evidence ?? []} />
			{health.incident && (
				<p class="actions">
					<a class="button main" href={link(["incident", health.incident])}>
						The whole report
					</a>
					<a class="button" href={link(["job", job.id, "logs"], culprit === undefined ? {} : { rank: culprit })}>
						Log{culprit === undefined ? "" : ` of rank ${culprit}`}
					</a>
				</p>
			)}
		</section>
	);
}
