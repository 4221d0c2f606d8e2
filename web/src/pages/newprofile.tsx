// The buttons that start a profile.
import { useState } from "preact/hooks";
import { ApiError, send } from "../api";
import { link } from "../route";
import type { Me, Profile } from "../types";
import { Fault, Segmented } from "../ui/parts";

type Kind = Profile["kind"];

const KINDS: { value: Kind; text: string }[] = [
	{ value: "stack", text: "Stack" },
	{ value: "flame", text: "Flame graph" },
	{ value: "heap", text: "Heap" },
	{ value: "calls", text: "Calls" },
];
const WHAT: Record<Kind, string> = {
	stack: "Where every thread stands at this moment. Nothing is changed.",
	flame: "Where time goes: every thread is looked at 100 times a second. Nothing is changed in the program.",
	heap: "Who asks for memory. Where it grows can be watched in any process; what lives, leaks or was there at the peak is known of jobs that were started with vigil run --heap.",
	calls: "Which functions take the time while it is watched, and who calls them.",
};

const HEAPS = [
	["growth", "where it grows"],
	["live", "what lives"],
	["peak", "the peak"],
	["leaks", "what leaks"],
] as const;

const NOT_ALLOWED = "Your role is viewer: profiles that are kept can be seen, new ones need the role operator.";

export interface Target {
	job: string;
	rank?: number;
	pid?: number;
}

function Check({ label, value, onChange }: { label: string; value: boolean; onChange: (on: boolean) => void }) {
	return (
		<label class="check">
			<input type="checkbox" checked={value} onChange={(e) => onChange(e.currentTarget.checked)} /> {label}
		</label>
	);
}

interface Wish {
	kind: Kind;
	seconds: number;
	native: boolean;
	idle: boolean;
	gil: boolean;
	what: string;
}

/** What the server is asked for: options that a kind has not are left out. */
function wanted(wish: Wish, target: Target): Record<string, unknown> {
	const { kind, seconds, native, idle, gil, what } = wish;
	const stacks = kind === "flame" || kind === "stack";
	return {
		kind,
		...target,
		...(kind !== "stack" ? { seconds } : {}),
		...(stacks ? { native } : {}),
		...(kind === "flame" ? { idle, gil } : {}),
		...(kind === "heap" ? { what } : {}),
	};
}

function Seconds({ value, onChange }: { value: number; onChange: (seconds: number) => void }) {
	const onInput = (e: { currentTarget: HTMLInputElement }) => onChange(Number(e.currentTarget.value));
	return (
		<label class="pick">
			for <input type="number" min={1} max={600} step={1} required value={value} onInput={onInput} /> seconds
		</label>
	);
}

function HeapWhat({ value, onChange }: { value: string; onChange: (what: string) => void }) {
	return (
		<label class="pick">
			show{" "}
			<select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
				{HEAPS.map(([name, text]) => (
					<option key={name} value={name}>
						{text}
					</option>
				))}
			</select>
		</label>
	);
}

function Options({ wish, set }: { wish: Wish; set: (change: Partial<Wish>) => void }) {
	const { kind } = wish;
	const flame = kind === "flame";
	return (
		<>
			{kind !== "stack" && <Seconds value={wish.seconds} onChange={(seconds) => set({ seconds })} />}
			{kind === "heap" && <HeapWhat value={wish.what} onChange={(what) => set({ what })} />}
			{(flame || kind === "stack") && (
				<Check label="native frames too" value={wish.native} onChange={(native) => set({ native })} />
			)}
			{flame && <Check label="threads that wait, too" value={wish.idle} onChange={(idle) => set({ idle })} />}
			{flame && <Check label="only who holds the GIL" value={wish.gil} onChange={(gil) => set({ gil })} />}
		</>
	);
}

const FIRST: Wish = { kind: "flame", seconds: 5, native: false, idle: false, gil: false, what: "growth" };

export function NewProfile({ target, me }: { target: Target; me: Me | undefined }) {
	const [wish, setWish] = useState(FIRST);
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState<ApiError>();
	const set = (change: Partial<Wish>) => setWish((old) => ({ ...old, ...change }));
	const start = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		setError(undefined);
		try {
			const made = await send<Profile>("POST", "profiles", wanted(wish, target));
			location.hash = link(["profile", made!.id], wish.kind === "flame" && wish.idle ? { idle: "1" } : {});
		} catch (fault) {
			setError(fault as ApiError);
			setBusy(false);
		}
	};
	if (me?.role === "viewer") return <p class="meta">{NOT_ALLOWED}</p>;
	return (
		<form class="newprofile" onSubmit={(e) => void start(e)}>
			<Segmented label="Kind of profile" value={wish.kind} choices={KINDS} onChange={(kind) => set({ kind })} />
			<p class="meta">{WHAT[wish.kind]}</p>
			<div class="tools">
				<Options wish={wish} set={set} />
				<button type="submit" class="main" disabled={busy}>
					{busy ? "Starting…" : "Start"}
				</button>
			</div>
			{error && <Fault error={error} />}
		</form>
	);
}
