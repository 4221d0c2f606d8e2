// The way to any moment of a job.
import { useEffect, useState } from "preact/hooks";
import { clock } from "../format";
import { useSeenNow } from "../hooks";
import { link } from "../route";
import type { Job } from "../types";
import { level, running } from "../health";

export const goTo = (job: string, time: number | undefined) =>
	location.replace(time === undefined ? link(["job", job]) : link(["job", job, "at", Math.round(time)]));

/** The slider. The address changes when it comes to rest, so that it can be sent to somebody. */
export function Scrubber({ job, moment }: { job: Job; moment: number | undefined }) {
	const now = useSeenNow(2000);
	const from = job.started_unix_ms ?? now;
	const to = Math.max(from + 1000, running(job) ? now : (job.ended_unix_ms ?? now));
	// Whole steps back from the end: a browser puts the handle on a step, and the end has to be one, of a short job too.
	const step = to - from < 60_000 ? 100 : 1000;
	const [value, setValue] = useState<number>();
	const at = value ?? moment ?? to;
	useEffect(() => setValue(undefined), [moment]);
	return (
		<div class="scrub">
			<label for="moment">Moment</label>
			<input
				id="moment"
				type="range"
				min={to - Math.ceil((to - from) / step) * step}
				max={to}
				step={step}
				value={at}
				aria-valuetext={clock(at, now)}
				onInput={(e) => setValue(Number(e.currentTarget.value))}
				onChange={(e) => goTo(job.id, Math.max(from, Number(e.currentTarget.value)))}
			/>
			<output for="moment">
				{value === undefined && moment === undefined ? (level(job) === "unseen" ? clock(at, now) : running(job) ? "now" : "its end") : clock(at, now)}
			</output>
			<button type="button" disabled={moment === undefined} onClick={() => goTo(job.id, undefined)}>
				{running(job) ? "Now" : "End"}
			</button>
		</div>
	);
}
