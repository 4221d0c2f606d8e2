// Numbers and times as people read them. Pure: the time "now" is an argument.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** 3 digits at most: 532 MiB, 1.20 GiB. Unknown is a dash. */
export function bytes(n: number | undefined | null): string {
	if (n == null || !Number.isFinite(n)) return "–";
	let unit = 0;
	let value = Math.abs(n);
	while (value >= 1023.5 && unit < UNITS.length - 1) {
		value /= 1024;
		unit++;
	}
	const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	return `${n < 0 ? "−" : ""}${value.toFixed(digits)} ${UNITS[unit]}`;
}

export function bytesPerS(n: number | undefined | null): string {
	return n == null ? "–" : `${bytes(n)}/s`;
}

export function percent(ratio: number | undefined | null): string {
	if (ratio == null || !Number.isFinite(ratio)) return "–";
	const p = ratio * 100;
	return `${p !== 0 && Math.abs(p) < 9.95 ? p.toFixed(1) : p.toFixed(0)} %`;
}

export function count(n: number | undefined | null): string {
	return n == null
		? "–"
		: Math.round(n)
				.toString()
				.replace(/\B(?=(\d{3})+$)/g, ",");
}

export function decimal(n: number | undefined | null): string {
	if (n == null || !Number.isFinite(n)) return "–";
	const size = Math.abs(n);
	return n === 0
		? "0"
		: size >= 100
			? n.toFixed(0)
			: size >= 10
				? n.toFixed(1)
				: size >= 0.01
					? n.toFixed(2)
					: n.toPrecision(1);
}

const two = (n: number) => String(Math.floor(n)).padStart(2, "0");

/** As the commands say it: 320 ms, 12.4 s, 3 m 05 s, 2 h 13 m, 4 d 02 h. */
export function duration(ms: number | undefined | null): string {
	if (ms == null || !Number.isFinite(ms)) return "–";
	const s = Math.max(0, ms) / 1000;
	if (s > 0 && s < 0.001) return `${(s * 1e6).toFixed(0)} us`;
	if (s < 1) return `${(s * 1000).toFixed(s > 0 && s < 0.01 ? 1 : 0)} ms`;
	if (s < 59.95) return `${s.toFixed(1)} s`;
	const whole = Math.max(60, Math.floor(s));
	if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
	if (whole < 3 * 86400) return `${Math.floor(whole / 3600)} h ${two((whole % 3600) / 60)} m`;
	return `${Math.floor(whole / 86400)} d ${two((whole % 86400) / 3600)} h`;
}

/** A time that goes on: in whole seconds, as it is told each second. */
export const lasting = (ms: number): string =>
	ms < 500 ? "0 s" : duration(Math.max(1000, Math.round(ms / 1000) * 1000)).replace(/\.0 s$/, " s");

export function ago(then: number | undefined | null, now: number): string {
	if (then == null) return "–";
	const ms = now - then;
	return ms < 1500 ? "just now" : `${lasting(ms)} ago`;
}

/** Steps a second and the like, as the commands say it: 0.52/s, 1.9/s, 240/s. */
export function rate(perS: number | undefined | null): string {
	if (perS == null || !Number.isFinite(perS)) return "–";
	return `${perS < 10 ? Number(perS.toPrecision(2)) : perS.toFixed(0)}/s`;
}

/** 03:12:40, and with the day in front when it is another one than today's. */
export function clock(ms: number | undefined | null, now?: number): string {
	if (ms == null) return "–";
	const date = new Date(ms);
	const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
	if (now === undefined || new Date(now).toDateString() === date.toDateString()) return time;
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** "0-2, 5" for [0,1,2,5]. */
export function rankList(ranks: readonly number[]): string {
	const sorted = [...new Set(ranks)].sort((a, b) => a - b);
	const parts: string[] = [];
	for (let i = 0; i < sorted.length;) {
		let j = i;
		while (j + 1 < sorted.length && sorted[j + 1] === sorted[j]! + 1) j++;
		parts.push(j === i ? `${sorted[i]}` : j === i + 1 ? `${sorted[i]}, ${sorted[j]}` : `${sorted[i]}-${sorted[j]}`);
		i = j + 1;
	}
	return parts.join(", ");
}

/** "rank 2", "ranks 1, 3" */
export function ranksText(ranks: readonly number[]): string {
	return ranks.length === 0 ? "no rank" : `${ranks.length === 1 ? "rank" : "ranks"} ${rankList(ranks)}`;
}

/** memory_kill as "memory kill" */
export function words(id: string): string {
	return id.replace(/_/g, " ");
}

/** The sentence on a job tells its steps already. */
export const tellsSteps = (sentence?: string): boolean => /\bsteps? \d/.test(sentence ?? "");

/** Who is behind the others, or else ahead: most ranks are neither. */
export function spread(of: readonly { rank: number; step?: number }[]): string | undefined {
	const sorted = of.filter((s) => s.rank >= 0 && s.step !== undefined).sort((a, b) => a.step! - b.step!);
	const [least, usual, most] = [0, sorted.length >> 1, sorted.length - 1].map((i) => sorted[i]?.step ?? 0) as [number, number, number];
	if (most <= least) return undefined;
	const [at, word] = usual > least ? [least, "behind"] : [most, "ahead"];
	const who = sorted.filter((s) => s.step === at).map((s) => s.rank);
	return `${ranksText(who)} ${who.length > 1 ? "are" : "is"} ${count(Math.abs(usual - at))} ${word}`;
}

/** What is left at this speed; absent when that cannot be told. */
export function timeLeft(step?: number, total?: number, perS?: number): number | undefined {
	if (step == null || total == null || !perS || perS <= 0 || total < step) return undefined;
	return ((total - step) / perS) * 1000;
}

/** The last part of a path, and the line. */
export function place(file?: string, line?: number): string {
	if (!file) return "";
	const base = file.slice(file.lastIndexOf("/") + 1);
	return line ? `${base}:${line}` : base;
}

const ENDED_FOR: Record<string, string> = {
	rank_failed: "ended by vigil, as another rank failed",
	memory: "ended by vigil for memory",
	hang: "ended by vigil, as the job hung",
	stop: "ended, as the run was stopped",
};

/** Why vigil ended a process, in words; "" if it did not. */
export const endedWords = (endedFor: string | undefined, before = ""): string =>
	endedFor !== undefined && endedFor in ENDED_FOR ? `${before}${ENDED_FOR[endedFor]}` : "";
