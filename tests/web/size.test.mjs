// What a browser fetches before the first screen, and what the build leaves.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { WEB, built } from "./kit.mjs";

const dist = built();
const files = readFileSync(join(dist, "manifest.txt"), "utf8").trim().split("\n");
const text = (name) => readFileSync(join(dist, name), "utf8");
const gz = (name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;
const BUDGET = 60 * 1024;

/** Scripts that a script imports before it runs. */
const imports = (name) => [...text(name).matchAll(/(?:import|from)\s*"\.\/([^"]+)"/g)].map((m) => m[1]);

function reached(start) {
	const all = new Set(start);
	for (const name of all) if (name.endsWith(".js")) for (const other of imports(name)) all.add(other);
	return [...all];
}

test("the manifest names every file, and nothing else", () => {
	assert.deepEqual([...files].sort(), readdirSync(dist).sort());
	for (const name of files) assert.match(name, /^(index\.html|manifest\.txt|[\w.]+-[A-Z0-9]{8}\.(js|css|svg))$/);
});

test("the first load, with the charts of the first job, fits into 60 KB", () => {
	const html = text("index.html");
	const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1]);
	const charts = files.filter((f) => f.startsWith("uPlot"));
	assert.equal(charts.length, 1);
	const first = reached(["index.html", ...named, ...charts]);
	for (const lazy of ["logs-", "timeline-", "profile-", "processes-", "node-"]) {
		assert.ok(
			files.some((f) => f.startsWith(lazy)),
			`${lazy} is a chunk`,
		);
		assert.ok(!first.some((f) => f.startsWith(lazy)), `${lazy} is not loaded at first`);
	}
	const total = first.reduce((n, f) => n + gz(f), 0);
	console.log(`first load: ${total} bytes gzipped, ${total - gz(charts[0])} without charts`);
	assert.ok(total <= BUDGET, `${total} bytes, ${first.map((f) => `${f} ${gz(f)}`).join(", ")}`);
});

test("the page asks nothing of other machines, and nothing of the root of its own", () => {
	for (const name of files.filter((f) => /\.(js|css|html)$/.test(f))) {
		const addresses = [...text(name).matchAll(/https?:\/\/[^"'\s)`]+/g)]
			.map((m) => m[0])
			.filter((a) => !a.startsWith("http://www.w3.org/"));
		assert.deepEqual(addresses, [], name);
		assert.doesNotMatch(text(name), /["'`]\/api\//, name);
	}
	assert.doesNotMatch(text("index.html"), /(src|href)="\//);
	assert.doesNotMatch(text("index.html"), /<script>|style=|onload=/);
});

test("the lock file names versions, and no machine they came from", () => {
	const lock = JSON.parse(readFileSync(join(WEB, "package-lock.json"), "utf8"));
	for (const [name, info] of Object.entries(lock.packages)) assert.equal(info.resolved, undefined, name);
	const { dependencies, devDependencies } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
	for (const version of Object.values({ ...dependencies, ...devDependencies }))
		assert.match(version, /^\d+\.\d+\.\d+$/);
});

test("no text becomes markup by itself", () => {
	const walk = (dir) =>
		readdirSync(dir, { withFileTypes: true }).flatMap((f) =>
			f.isDirectory() ? walk(join(dir, f.name)) : [join(dir, f.name)],
		);
	for (const file of walk(join(WEB, "src")).filter((f) => /\.tsx?$/.test(f))) {
		assert.doesNotMatch(
			readFileSync(file, "utf8"),
			/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
			file,
		);
	}
});
