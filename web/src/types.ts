// What the server answers (docs/json.md and the API). Every field may be absent: absent means unknown.

export type Level = "well" | "quiet" | "suspected" | "hung" | "slow" | "memory" | "died" | "ended" | "lost" | "unknown" | "unseen";
/** What the page shows; a job that its user stopped has not died. */
export type Shown = Level | "stopped" | "waiting";

export interface Health {
	job?: string;
	level: Level;
	/** of one that died: its user stopped it */
	stopped?: boolean;
	/** of one that is slow: its ranks go at paces of their own, the culprits hold nobody up */
	nobody_waits?: boolean;
	sentence: string;
	why?: string;
	culprit_ranks?: number[];
	advice?: string[];
	incident?: string;
	since_unix_ms?: number;
	/** of one that waits: when its next attempt begins */
	next_unix_ms?: number;
	evidence?: string[];
}

export interface Step {
	rank: number;
	step: number;
	total?: number;
	per_s?: number;
}

export interface IncidentBrief {
	id: string;
	job?: string;
	kind: string;
	time_unix_ms: number;
	attempt?: number;
	summary: string;
	cause?: { text?: string; confidence?: string };
}

export interface Job {
	id: string;
	name: string;
	state: string;
	command?: string;
	cwd?: string;
	node?: string;
	user?: string;
	pid?: number;
	nproc?: number;
	attempt?: number;
	max_retries?: number;
	started_unix_ms?: number;
	ended_unix_ms?: number;
	exit_status?: number;
	peak_bytes?: number;
	limit_bytes?: number;
	last_incident?: string;
	steps?: Step[];
	health?: Health;
}

export interface Rank {
	rank: number;
	/** of a moment: the attempt that it was of */
	attempt?: number;
	pid?: number;
	node?: string;
	state?: string;
	own_bytes?: number;
	rss_bytes?: number;
	shared_bytes?: number;
	/** the memory is that of its main process alone */
	main_only?: boolean;
	cpu_ratio?: number;
	gpu?: { index: number; busy_ratio?: number; memory_bytes?: number; memory_total_bytes?: number; used_ratio?: number }[];
	read_bytes_per_s?: number;
	write_bytes_per_s?: number;
	step?: number;
	total?: number;
	per_s?: number;
	exit_code?: number;
	signal?: number;
	/** why vigil ended it, or "stop" */
	ended_for?: string;
	culprit?: boolean;
}

export interface Process {
	pid: number;
	ppid?: number;
	start_ticks?: number;
	rank?: number;
	role?: string;
	name?: string;
	command?: string;
	attempt?: number;
	own_bytes?: number;
	rss_bytes?: number;
	shared_bytes?: number;
	swap_bytes?: number;
	peak_own_bytes?: number;
	started_unix_ms?: number;
	ended_unix_ms?: number;
	exit_code?: number;
	signal?: number;
	/** why vigil ended it, or "stop" */
	ended_for?: string;
	running?: boolean;
	step?: number;
	steps_total?: number;
	/** Ray's own names of a worker, and its number in a run of Ray Train. */
	ray?: { worker_id?: string; job_id?: string; train_rank?: number; train_run?: string };
}

/** A large process of a job without ranks. */
export interface LargeProcess {
	pid: number;
	start_ticks?: number;
	name?: string;
	role?: string;
}

export interface MemorySeries {
	times: number[];
	series: { rank?: number; name?: string; own: (number | null)[] }[];
	/** parts of what processes without a rank have */
	processes?: (LargeProcess & { own: (number | null)[] })[];
	shared?: (number | null)[];
	/** what the job's group has; less than the own bytes together where forks share pages */
	job_bytes?: (number | null)[];
	used?: (number | null)[];
	limit_bytes?: number;
	threshold_bytes?: number;
}

export interface Series {
	times: number[];
	series: { rank?: number; label?: string; unit?: string; values: (number | null)[] }[];
	/** why nothing is there */
	note?: string;
}

export interface Event {
	seq: number;
	time_unix_ms: number;
	job?: string;
	attempt?: number;
	kind: string;
	text: string;
	severity?: "info" | "warning" | "error";
	incident?: string;
}

export interface Frame {
	name?: string;
	file?: string;
	line?: number;
	kind?: string;
	module?: string;
}

export interface StackThread {
	tid?: number;
	name?: string;
	main?: boolean;
	state?: string;
	holds_gil?: boolean;
	waits_for_gil?: boolean;
	waiting_on?: string;
	waits_for?: { text?: string; to?: { to: Arrow["to"] }[] };
	frames?: Frame[];
	note?: string;
}

export interface Stacks {
	captured_unix_ms?: number;
	processes: {
		pid: number;
		rank?: number;
		role?: string;
		name?: string;
		note?: string;
		state?: string;
		threads?: StackThread[];
	}[];
}

export interface WaitEnd {
	kind: string;
	text: string;
	who?: string;
	pid?: number;
	ranks?: number[];
	followers?: number;
	quality?: string;
	dead?: boolean;
	way?: string;
}

export interface Arrow {
	to: { pid?: number; tid?: number; rank?: number; name?: string; text?: string };
	kind?: string;
	text?: string;
	quality?: string;
}

export interface Waits {
	captured_unix_ms?: number;
	complete?: boolean;
	ends: WaitEnd[];
	processes: {
		pid: number;
		rank?: number;
		main?: boolean;
		name?: string;
		threads?: {
			tid: number;
			main?: boolean;
			does?: string;
			waiting_on?: string;
			end?: string;
			dead?: boolean;
			arrows?: Arrow[];
		}[];
	}[];
}

export interface StackGroup {
	ranks: string;
	count?: number;
	activity?: string;
	unchanged?: boolean;
	frames?: string[];
}

export interface IncidentStack {
	rank?: number;
	pid?: number;
	role?: string;
	/** of a hang: the graph that the verdict had */
	waits_for?: { text?: string; to?: Arrow[] };
	tid?: number;
	thread?: string;
	waiting_on?: string;
	frames?: Frame[];
}

export interface MemoryHolder {
	pid?: number;
	rank?: number;
	role?: string;
	name?: string;
	own_bytes?: number;
	rss_bytes?: number;
	shared_bytes?: number;
	command?: string;
}

export interface Incident {
	id: string;
	job: string;
	attempt?: number;
	kind: string;
	time_unix_ms: number;
	node?: string;
	summary: string;
	cause?: { id?: string; confidence?: string; text?: string; advice?: string[] };
	culprit_ranks?: number[];
	victim?: MemoryHolder & { exit_code?: number; signal?: number };
	killer?: string;
	killer_text?: string;
	memory?: {
		used_bytes?: number;
		total_bytes?: number;
		ratio?: number;
		threshold_ratio?: number;
		scope?: string;
		level?: string;
		growth_bytes_per_s?: number;
		time_to_limit_ms?: number;
	};
	policy?: { name?: string; reason?: string; next?: string };
	retry?: { attempt?: number; max?: number; next?: string; delay_ms?: number; reason?: string };
	top?: MemoryHolder[];
	candidates?: { name?: string; pid?: number; rank?: number; own_bytes?: number; chosen?: boolean; why?: string }[];
	history?: { age_ms: number; used_bytes?: number; job_bytes?: number }[];
	growers?: {
		pid?: number;
		rank?: number;
		name?: string;
		own_bytes?: number;
		grown_bytes?: number;
		over_ms?: number;
		growth_bytes_per_s?: number;
	}[];
	stacks?: IncidentStack[];
	hang?: { resolved?: boolean; resolved_unix_ms?: number; standstill_ms?: number; groups?: StackGroup[] };
	evidence?: { kind?: string; text?: string; source?: string; time_unix_ms?: number }[];
}

export interface LogFile {
	id: string;
	rank?: number;
	stream?: string;
	attempt?: number;
	bytes?: number;
}

export interface LogLine {
	at: number;
	text: string;
}

export interface LogPart {
	offset: number;
	next: number;
	size: number;
	lines: LogLine[];
}

export interface LogMatches {
	matches: LogLine[];
	next?: number;
}

export interface Profile {
	id: string;
	kind: "stack" | "flame" | "heap" | "calls";
	state: "running" | "done" | "failed" | "cancelled";
	progress?: number;
	started_unix_ms?: number;
	job?: string;
	rank?: number;
	pid?: number;
	bytes?: number;
	/** from its begin to its end */
	lasted_s?: number;
	error?: string;
	formats?: string[];
}

export interface Moment {
	time_unix_ms?: number;
	memory?: { rank?: number; name?: string; own_bytes?: number; rss_bytes?: number; shared_bytes?: number }[];
	shared_bytes?: number;
	used_bytes?: number;
	limit_bytes?: number;
	ranks?: Rank[];
	events?: Event[];
	incident?: string;
	incident_unix_ms?: number;
	hang?: { incident: string; since_unix_ms: number; until_unix_ms?: number; text?: string; culprit_ranks?: number[] };
}

export interface NodeState {
	name?: string;
	node?: string;
	head?: boolean;
	head_of?: string;
	above_80?: boolean;
	/** control groups with a limit that the server runs in, a container's among them */
	containers?: { name?: string; used_bytes?: number; total_bytes?: number; ratio?: number }[];
	memory?: {
		total_bytes?: number;
		available_bytes?: number;
		used_bytes?: number;
		ratio?: number;
		components?: { name: string; bytes: number }[];
	};
	gpus?: {
		index?: number;
		name?: string;
		vendor?: string;
		busy_ratio?: number;
		memory_used_bytes?: number;
		memory_total_bytes?: number;
		temperature_c?: number;
		lost?: boolean;
		processes?: { job?: string; rank?: number; pid?: number; memory_bytes?: number }[];
	}[];
	pressure?: { kind?: string; some_ratio?: number; full_ratio?: number }[];
	jobs?: { job: string; name?: string; own_bytes?: number; shared_bytes?: number; processes?: number }[];
}

export interface Me {
	role: "viewer" | "operator" | "admin";
	user?: string;
	version?: string;
	node?: string;
	now_unix_ms?: number;
}

export interface Finding {
	id: string;
	severity?: string;
	text: string;
	evidence?: string[];
	advice?: string[];
}
