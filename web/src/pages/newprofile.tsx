// The buttons that start a profile.
import { useState } from "preact/hooks";
import { ApiError, send } from "../api";
import { link } from "../route";
import type { Me, Profile } from "../types";
import { Fault, Segmented } from "../ui/parts";

type Kind = Profile["kind"];

const KINDS: { value: Kind; text: string }[] = [
	{ value: "stack", text: "Stack" }, { value: "flame", text: "Flame graph" }, { value: "heap", text: "Heap" }, { value: "calls", text: "Calls" },
];
const WHAT: Record<Kind, string> = {
	stack: "Where every thread stands at this moment. Nothing is changed.",
	flame: "Where time goes: every thread is looked at 100 times a second. Nothing is changed in the program.",
	heap: "Who asks for memory. Where it grows can be watched in any process; what lives, leaks or was there at the peak is known of jobs that were started with vigil run --heap.",
	calls: "Which functions take the time while it is watched, and who calls them.",
};

const HEAPS = [["growth", "where it grows"], ["live", "what lives"], ["peak", "the peak"], ["leaks", "what leaks"]] as const;

export interface Target {
	job: string;
	rank?: number;
	pid?: number;
}

function Check({ label, value, onChange }: { label: string; value: boolean; onChange: (on: boolean) => void }) {
	return <label class="check"><input type="checkbox" checked={value} onChange={(e) => onChange(e.currentTarget.checked)} /> {label}</label>;
}

export function NewProfile({ target, me }: { target: Target; me: Me | undefined }) {
	const [kind, setKind] = useState<Kind>("flame");
	const [seconds, setSeconds] = useState(5);
	const [options, setOptions] = useState({ native: false, idle: false, gil: false });
	const [what, setWhat] = useState("growth");
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState<ApiError>();
	const timed = kind !== "stack";
	const set = (change: Partial<typeof options>) => setOptions({ ...options, ...change });
	const start = async () => {
		setBusy(true);
		setError(undefined);
		try {
			const wish = { kind, ...target, ...(timed ? { seconds } : {}), ...(kind === "flame" || kind === "stack" ? { native: options.native } : {}), ...(kind === "flame" ? { idle: options.idle, gil: options.gil } : {}), ...(kind === "heap" ? { what } : {}) };
			const made = await send<Profile>("POST", "profiles", wish);
			location.hash = link(["profile", made!.id]);
		} catch (e) {
			setError(e as ApiError);
			setBusy(false);
		}
	};
	if (me?.role === "viewer") return <p class="meta">Your role is viewer: profiles that are kept can be seen, new ones need the role operator.</p>;
	return (
		<form class="newprofile" onSubmit={(e) => { e.preventDefault(); void start(); }}>
			<Segmented label="Kind of profile" value={kind} choices={KINDS} onChange={setKind} />
			<p class="meta">{WHAT[kind]}</p>
			<div class="tools">
				{timed && <label class="pick">for <input type="number" min={1} max={600} step={1} required value={seconds} onInput={(e) => setSeconds(Number(e.currentTarget.value))} /> seconds</label>}
				{kind === "heap" && (
					<label class="pick">show <select value={what} onChange={(e) => setWhat(e.currentTarget.value)}>{HEAPS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select></label>
				)}
				{(kind === "flame" || kind === "stack") && <Check label="native frames too" value={options.native} onChange={(native) => set({ native })} />}
				{kind === "flame" && <Check label="threads that wait, too" value={options.idle} onChange={(idle) => set({ idle })} />}
				{kind === "flame" && <Check label="only who holds the GIL" value={options.gil} onChange={(gil) => set({ gil })} />}
				<button type="submit" class="main" disabled={busy}>{busy ? "Starting…" : "Start"}</button>
			</div>
			{error && <Fault error={error} />}
		</form>
	);
}
