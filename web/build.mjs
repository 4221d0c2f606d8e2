// Builds dist/: hashed scripts and styles, index.html, and manifest.txt, which names every file, one path a line.
// With an argument, into that folder instead.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(root, "dist");

function hashed(name, bytes, to = out) {
	const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8).toUpperCase();
	const dot = name.lastIndexOf(".");
	const full = `${name.slice(0, dot)}-${hash}${name.slice(dot)}`;
	writeFileSync(join(to, full), bytes);
	return full;
}

const filled = (file, values) => readFileSync(join(root, file), "utf8").replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const result = await build({
	absWorkingDir: root,
	entryPoints: { page: "src/main.tsx", style: "src/style.css", late: "src/late.css" },
	bundle: true,
	splitting: true,
	format: "esm",
	target: "es2021",
	minify: true,
	legalComments: "none",
	jsx: "automatic",
	jsxImportSource: "preact",
	entryNames: "[name]-[hash]",
	chunkNames: "[name]-[hash]",
	outdir: out,
	metafile: true,
	logLevel: "warning",
});

const entry = {};
const loadedFirst = [];
for (const [path, info] of Object.entries(result.metafile.outputs)) {
	const name = basename(path);
	if (info.entryPoint === "src/main.tsx") {
		entry.script = name;
		loadedFirst.push(...info.imports.filter((i) => i.kind === "import-statement").map((i) => basename(i.path)));
	}
	if (info.entryPoint === "src/style.css") entry.style = name;
	if (info.entryPoint === "src/late.css") entry.late = name;
}
entry.icon = hashed("icon.png", readFileSync(join(root, "src/icon.png")));
const first = await build({
	absWorkingDir: root,
	entryPoints: ["src/first.ts"],
	bundle: true,
	format: "iife",
	target: "es2021",
	minify: true,
	legalComments: "none",
	write: false,
	logLevel: "warning",
});
entry.first = hashed("first.js", first.outputFiles[0].contents);

const preload = loadedFirst.map((name) => `<link rel="modulepreload" href="${name}">\n`).join("");
writeFileSync(join(out, "index.html"), filled("src/index.html", { ...entry, preload }));

// speedscope as its authors built it, and what hands it a profile. Its example and its reader of Java's recordings stay away.
async function speedscope() {
	const to = join(out, "speedscope");
	const from = join(root, "node_modules/speedscope");
	if (!existsSync(from)) throw new Error("speedscope is not there; run: npm ci");
	mkdirSync(to);
	const theirs = readdirSync(join(from, "dist/release"));
	const taken = (pattern) => {
		const found = theirs.filter((name) => pattern.test(name));
		if (found.length !== 1) throw new Error(`speedscope: one file like ${pattern} expected, found "${found}"`);
		copyFileSync(join(from, "dist/release", found[0]), join(to, found[0]));
		return found[0];
	};
	const made = await build({
		absWorkingDir: root,
		entryPoints: { open: "src/speedscope/open.ts", style: "src/speedscope/open.css" },
		bundle: true,
		format: "iife",
		target: "es2021",
		minify: true,
		legalComments: "none",
		outdir: to,
		write: false,
		logLevel: "warning",
	});
	const own = Object.fromEntries(made.outputFiles.map((f) => [extname(f.path), hashed(basename(f.path), f.contents, to)]));
	taken(/\.woff2$/);
	const page = {
		script: own[".js"],
		style: own[".css"],
		theirScript: taken(/^speedscope-\w+\.js$/),
		theirStyle: taken(/^speedscope-\w+\.css$/),
		icon: taken(/^favicon-32x32-\w+\.png$/),
	};
	writeFileSync(join(to, "index.html"), filled("src/speedscope/index.html", page));
	copyFileSync(join(from, "LICENSE"), join(to, "LICENSE.txt"));
	copyFileSync(join(from, "dist/release/source-code-pro.LICENSE.md"), join(to, "font-LICENSE.txt"));
}
await speedscope();

const within = (folder) => readdirSync(join(out, folder)).map((name) => `${folder}/${name}`);
const own = readdirSync(out).filter((name) => name !== "speedscope");
const files = [...own, ...within("speedscope"), "manifest.txt"].sort();
writeFileSync(join(out, "manifest.txt"), files.join("\n") + "\n");
