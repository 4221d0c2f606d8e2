// Small pieces that every page uses.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api";
import { clock } from "../format";
import type { Loaded } from "../hooks";
import type { Frame, Shown } from "../types";
import { place } from "../format";

/** Each level has a shape and a word of its own, so that colour only repeats what is there. */
const LEVELS: Record<Shown, { glyph: string; word: string; tone: string }> = {
	well: { glyph: "✓", word: "well", tone: "good" },
	quiet: { glyph: "○", word: "quiet", tone: "calm" },
	suspected: { glyph: "?", word: "suspected", tone: "warn" },
	hung: { glyph: "‖", word: "hung", tone: "bad" },
	slow: { glyph: "≈", word: "slow", tone: "warn" },
	memory: { glyph: "▲", word: "memory", tone: "bad" },
	died: { glyph: "✕", word: "died", tone: "bad" },
	ended: { glyph: "■", word: "ended well", tone: "calm" },
	stopped: { glyph: "■", word: "stopped by its user", tone: "calm" },
	lost: { glyph: "⌀", word: "lost", tone: "warn" },
	unknown: { glyph: "·", word: "unknown", tone: "calm" },
	waiting: { glyph: "↻", word: "waits for its next attempt", tone: "bad" },
	unseen: { glyph: "◌", word: "not seen now", tone: "calm" },
};

export const levelOf = (level: string | undefined) => LEVELS[(level ?? "unknown") as Shown] ?? LEVELS.unknown;

export function Badge({ level, word }: { level?: string; word?: string }) {
	const { glyph, word: usual, tone } = levelOf(level);
	return (
		<span class={`badge ${tone}`}>
			<span aria-hidden="true">{glyph}</span> {word ?? usual}
		</span>
	);
}

const SEVERITIES: Record<string, [string, string]> = {
	info: ["i", "calm"],
	warning: ["!", "warn"],
	error: ["✕", "bad"],
};

export function Severity({ severity }: { severity?: string }) {
	const [glyph, tone] = SEVERITIES[severity ?? "info"] ?? SEVERITIES["info"]!;
	return (
		<span class={`sev ${tone}`} title={severity ?? "info"}>
			<span aria-hidden="true">{glyph}</span>
			<span class="hidden">{severity ?? "info"}</span>
		</span>
	);
}

export function When({ ms, now }: { ms?: number; now?: number }) {
	if (ms == null) return <span>–</span>;
	return (
		<time dateTime={validIso(ms)} title={new Date(ms).toString()}>
			{clock(ms, now)}
		</time>
	);
}

function validIso(ms: number): string {
	const date = new Date(ms);
	return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

export function Empty({ children }: { children: ComponentChildren }) {
	return <p class="empty">{children}</p>;
}

export function Fault({ error, what }: { error: ApiError; what?: string }) {
	return (
		<p class="fault" role="alert">
			<span aria-hidden="true">✕</span> {what ? `${what}: ` : ""}
			{error.message}
		</p>
	);
}

/** Loading, fault or what was loaded; old data stays visible beside a fault. */
export function Show<T>({
	of,
	what,
	children,
}: {
	of: Loaded<T>;
	what: string;
	children: (data: T) => ComponentChildren;
}) {
	if (of.data === undefined && of.error) return <Fault error={of.error} what={what} />;
	if (of.data === undefined) return <Skeleton what={what} />;
	return (
		<>
			{of.error && <Fault error={of.error} what={`${what}, last known`} />}
			{children(of.data)}
		</>
	);
}

export function Skeleton({ what }: { what: string }) {
	return (
		<div class="skeleton" role="status">
			<span class="hidden">{what}: loading</span>
			<i />
			<i />
			<i />
		</div>
	);
}

export function Card({
	title,
	side,
	id,
	children,
	class: extra,
}: {
	title?: ComponentChildren;
	side?: ComponentChildren;
	id?: string;
	class?: string;
	children: ComponentChildren;
}) {
	return (
		<section class={`card ${extra ?? ""}`} id={id} aria-label={typeof title === "string" ? title : undefined}>
			{(title || side) && (
				<header>
					{title && <h2>{title}</h2>}
					{side && <div class="side">{side}</div>}
				</header>
			)}
			{children}
		</section>
	);
}

/** A name and its value, in a grid that folds on a phone. */
export function Facts({ items }: { items: [string, ComponentChildren][] }) {
	const known = items.filter(([, value]) => value !== undefined && value !== null && value !== "–" && value !== "");
	return (
		<dl class="facts">
			{known.map(([name, value]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{value}</dd>
				</div>
			))}
		</dl>
	);
}

export function Bar({ ratio, label, tone }: { ratio: number; label: string; tone?: string }) {
	const width = `${Math.max(0, Math.min(1, Number.isFinite(ratio) ? ratio : 0)) * 100}%`;
	return (
		<div class={`bar ${tone ?? ""}`} role="img" aria-label={label}>
			<i style={{ width }} />
		</div>
	);
}

export function FrameLine({ frame }: { frame: Frame }) {
	return (
		<li class={frame.kind ?? ""}>
			<b>{frame.name ?? "?"}</b>{" "}
			<span title={frame.file}>
				{frame.file ? place(frame.file, frame.line) : frame.module ? `[${frame.module}]` : ""}
			</span>
		</li>
	);
}

export function Frames({ frames, open = 8 }: { frames: Frame[]; open?: number }) {
	const [all, setAll] = useState(false);
	const shown = all ? frames : frames.slice(0, open);
	return (
		<ol class="frames">
			{shown.map((frame, i) => (
				<FrameLine key={i} frame={frame} />
			))}
			{frames.length > shown.length && (
				<li>
					<button type="button" class="plain" onClick={() => setAll(true)}>
						{frames.length - shown.length} more frames
					</button>
				</li>
			)}
		</ol>
	);
}

export interface Choice<T extends string> {
	value: T;
	text: string;
}

export function Segmented<T extends string>({
	label,
	value,
	choices,
	onChange,
}: {
	label: string;
	value: T;
	choices: Choice<T>[];
	onChange: (value: T) => void;
}) {
	return (
		<div class="segmented" role="group" aria-label={label}>
			{choices.map((c) => (
				<button key={c.value} type="button" aria-pressed={c.value === value} onClick={() => onChange(c.value)}>
					{c.text}
				</button>
			))}
		</div>
	);
}
