// The part of a log that is held: lines by their byte offsets, grown at both ends, cut when it gets too long. Pure.
import type { LogLine, LogPart } from "../types";

export interface LogWindow {
	lines: LogLine[];
	/** offset of the first byte that is held */
	from: number;
	/** offset after the last byte that is held */
	to: number;
	size: number;
}

export const MOST_LINES = 20_000;

export function windowOf(part: LogPart): LogWindow {
	return {
		lines: part.lines,
		from: part.lines[0]?.at ?? part.offset,
		to: part.next,
		size: Math.max(part.size, part.next),
	};
}

/** A part that begins where the window ends. Lines that are there already are not added twice. */
export function append(window: LogWindow, part: LogPart): LogWindow {
	// A last line without its end is told again: the new telling holds.
	let ended = window.lines.length;
	while (ended > 0 && window.lines[ended - 1]!.at >= window.to) ended--;
	const last = window.lines[ended - 1]?.at ?? -1;
	const fresh = part.lines.filter((l) => l.at >= window.to && l.at > last);
	if (fresh.length === 0 && ended === window.lines.length && part.size === window.size) return window;
	const lines = [...window.lines.slice(0, ended), ...fresh];
	const cut = Math.max(0, lines.length - MOST_LINES);
	const kept = cut ? lines.slice(cut) : lines;
	return {
		lines: kept,
		from: cut ? (kept[0]?.at ?? window.from) : window.from,
		to: Math.max(window.to, part.next),
		size: Math.max(window.size, part.size),
	};
}

/** A part that ends where the window begins, or overlaps it. */
export function prepend(window: LogWindow, part: LogPart): LogWindow {
	const fresh = part.lines.filter((l) => l.at < window.from);
	const lines = [...fresh, ...window.lines];
	const kept = lines.length > MOST_LINES ? lines.slice(0, MOST_LINES) : lines;
	return {
		lines: kept,
		from: fresh[0]?.at ?? Math.min(window.from, part.offset),
		to: kept.length < lines.length ? lines[MOST_LINES]!.at : window.to,
		size: Math.max(window.size, part.size),
	};
}

/** A file that got shorter was begun anew: what is held is of the old one. */
export function begunAnew(window: LogWindow, part: LogPart): boolean {
	return part.size < window.to;
}

/** Which lines of a list of `count` are in view, with some around them. */
export function inView(top: number, height: number, lineHeight: number, count: number, around = 20): [number, number] {
	const first = Math.max(0, Math.floor(top / lineHeight) - around);
	return [Math.min(first, Math.max(0, count - 1)), Math.min(count, Math.ceil((top + height) / lineHeight) + around)];
}

/** Terminal colours and cursor moves are no text. A line that a progress bar wrote over and over shows its last state. */
export function plainLine(text: string): string {
	const clean = text.replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "").replace(/\r+$/, "");
	const last = clean.lastIndexOf("\r");
	return (last < 0 ? clean : clean.slice(last + 1))
		.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "␦")
		.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "␦");
}
