// What a browser fetches before the first screen, and what the build leaves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { WEB, built } from "./kit.mjs";

const dist = built();
const files = readFileSync(join(dist, "manifest.txt"), "utf8").trim().split("\n");
const text = (name) => readFileSync(join(dist, name), "utf8");
/** As tools/webassets.py packs it for the server. */
const gz = (name) => execFileSync("zopfli", ["-c", join(dist, name)], { maxBuffer: 1 << 24 }).length;
const BUDGET = 60_000;
/** The name of speedscope's form of profiles, which stands in each; nothing fetches it. */
const FORM_NAME = "https://www.speedscope.app/file-format-schema.json";

/** Scripts that a script imports before it runs. */
const imports = (name) => [...text(name).matchAll(/(?:import|from)\s*"\.\/([^"]+)"/g)].map((m) => m[1]);

function reached(start) {
	const all = new Set(start);
	for (const name of all) if (name.endsWith(".js")) for (const other of imports(name)) all.add(other);
	return [...all];
}

test("the manifest names every file, and nothing else", () => {
	const there = readdirSync(dist, { recursive: true, withFileTypes: true })
		.filter((f) => f.isFile())
		.map((f) => join(relative(dist, f.parentPath ?? f.path), f.name));
	assert.deepEqual([...files].sort(), there.sort());
	for (const name of files.filter((f) => !f.startsWith("speedscope/")))
		assert.match(name, /^(index\.html|manifest\.txt|[\w.]+-[A-Z0-9]{8}\.(js|css|png))$/);
});

test("speedscope is there with its licences, without what nobody asks it for", () => {
	const inside = files.filter((f) => f.startsWith("speedscope/")).map((f) => f.slice("speedscope/".length));
	const kinds = [
		/^index\.html$/,
		/^open-[A-Z0-9]{8}\.js$/,
		/^style-[A-Z0-9]{8}\.css$/,
		/^speedscope-[A-Z0-9]{8}\.js$/,
		/^speedscope-[A-Z0-9]{8}\.css$/,
		/^favicon-32x32-[A-Z0-9]{8}\.png$/,
		/\.woff2$/,
		/^LICENSE\.txt$/,
		/^font-LICENSE\.txt$/,
	];
	for (const kind of kinds) assert.equal(inside.filter((f) => kind.test(f)).length, 1, String(kind));
	assert.equal(inside.length, kinds.length, inside.join(" "));
	assert.match(text("speedscope/LICENSE.txt"), /MIT License/);
	assert.match(text("speedscope/font-LICENSE.txt"), /SIL Open Font License/i);
	const page = text("speedscope/index.html");
	assert.doesNotMatch(page, /<script>|<style|style=|onload=|(src|href)="\/|\{\w+\}/);
	const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1]);
	for (const name of named) assert.ok(inside.includes(name), name);
	const packed = inside.reduce((n, f) => n + gz(`speedscope/${f}`), 0);
	console.log(`speedscope: ${packed} bytes gzipped`);
	assert.ok(packed < 280 * 1024, `${packed} bytes`);
});

test("the first load, with the charts of the first job, fits into 60 KB", () => {
	const html = text("index.html");
	const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1]);
	const charts = files.filter((f) => f.startsWith("uPlot"));
	assert.equal(charts.length, 1);
	const first = reached(["index.html", ...named, ...charts]);
	for (const lazy of ["logs-", "timeline-", "profile-", "processes-", "node-", "incident-", "speedscope/"]) {
		assert.ok(
			files.some((f) => f.startsWith(lazy)),
			`${lazy} is a chunk`,
		);
		assert.ok(!first.some((f) => f.startsWith(lazy)), `${lazy} is not loaded at first`);
	}
	const scripts = first.filter((f) => f.endsWith(".js") && !charts.includes(f));
	assert.equal(scripts.length, 3, `what asks first, the page, and what it shares with others (src/common.ts): ${scripts}`);
	const total = first.reduce((n, f) => n + gz(f), 0);
	console.log(`first load: ${total} bytes gzipped, ${total - gz(charts[0])} without charts`);
	assert.match(html, /rel="icon"[^>]*image\/png/, "a drawing is laid out by the page's own thread, before the first screen");
	assert.ok(total <= BUDGET, `${total} bytes, ${first.map((f) => `${f} ${gz(f)}`).join(", ")}`);
});

test("the page asks nothing of other machines, and nothing of the root of its own", () => {
	// speedscope's links to its own documents are for a person to follow; what it asks for is watched in page.test.mjs.
	for (const name of files.filter((f) => /\.(js|css|html)$/.test(f) && !/^speedscope\/speedscope-/.test(f))) {
		const addresses = [...text(name).matchAll(/https?:\/\/[^"'\s)`]+/g)]
			.map((m) => m[0])
			.filter((a) => !a.startsWith("http://www.w3.org/") && a !== FORM_NAME);
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
