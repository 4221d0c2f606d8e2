// Profiles in speedscope's own form (its file-format-schema.json), for those that the server keeps in another one. Pure.
import type { Frame, Stacks } from "../types";
import type { RawHeap } from "./model";

interface SpeedscopeFrame {
	name: string;
	file?: string;
	line?: number;
}

interface Sampled {
	type: "sampled";
	name: string;
	unit: "bytes" | "none";
	startValue: 0;
	endValue: number;
	/** frames of each sample, the outermost first */
	samples: number[][];
	weights: number[];
}

export interface Speedscope {
	$schema: string;
	exporter: string;
	name: string;
	activeProfileIndex: 0;
	shared: { frames: SpeedscopeFrame[] };
	profiles: Sampled[];
}

const SCHEMA = "https://www.speedscope.app/file-format-schema.json";

class Writer {
	private frames: SpeedscopeFrame[] = [];
	private ids = new Map<string, number>();
	private samples: number[][] = [];
	private weights: number[] = [];

	private frame(f: Frame): number {
		const name = f.name ?? "?";
		const file = f.file ?? f.module;
		const key = `${name}\0${file ?? ""}\0${f.line ?? ""}`;
		let id = this.ids.get(key);
		if (id === undefined) {
			id = this.frames.push({ name, ...(file ? { file } : {}), ...(f.line ? { line: f.line } : {}) }) - 1;
			this.ids.set(key, id);
		}
		return id;
	}

	/** frames: the innermost first */
	add(frames: Frame[], weight: number): void {
		this.samples.push(frames.map((f) => this.frame(f)).reverse());
		this.weights.push(weight);
	}

	done(name: string, unit: Sampled["unit"]): Speedscope {
		const endValue = this.weights.reduce((sum, w) => sum + w, 0);
		const { samples, weights } = this;
		return {
			$schema: SCHEMA,
			exporter: "vigil",
			name,
			activeProfileIndex: 0,
			shared: { frames: this.frames },
			profiles: [{ type: "sampled", name, unit, startValue: 0, endValue, samples, weights }],
		};
	}
}

/** Bytes by who asked for them. */
export function heapSpeedscope(raw: RawHeap, name: string): Speedscope {
	const writer = new Writer();
	for (const s of raw.stacks ?? []) if (s.bytes && s.frames?.length) writer.add(s.frames, s.bytes);
	return writer.done(name, "bytes");
}

/** One instant: each thread weighs one, so that the width of a frame says how many stand in it. */
export function stackSpeedscope(raw: Stacks, name: string): Speedscope {
	const writer = new Writer();
	for (const p of raw.processes) for (const t of p.threads ?? []) if (t.frames?.length) writer.add(t.frames, 1);
	return writer.done(name, "none");
}
