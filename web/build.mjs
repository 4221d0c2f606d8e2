// Builds dist/: hashed scripts and styles, index.html, and manifest.txt, which names every file, one path a line.
// With an argument, into that folder instead.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(root, "dist");

function hashed(name, bytes) {
	const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8).toUpperCase();
	const dot = name.lastIndexOf(".");
	const full = `${name.slice(0, dot)}-${hash}${name.slice(dot)}`;
	writeFileSync(join(out, full), bytes);
	return full;
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const result = await build({
	absWorkingDir: root,
	entryPoints: { page: "src/main.tsx", style: "src/style.css" },
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
}
entry.icon = hashed("icon.svg", readFileSync(join(root, "src/icon.svg")));
// The theme is set before the first paint; a file of its own, because the page allows no script in its text.
entry.theme = hashed("theme.js", readFileSync(join(root, "src/theme-first.js")));

const preload = loadedFirst.map((name) => `<link rel="modulepreload" href="${name}">\n`).join("");
const html = readFileSync(join(root, "src/index.html"), "utf8").replace(
	/\{(\w+)\}/g,
	(_, key) => entry[key] ?? (key === "preload" ? preload : ""),
);
writeFileSync(join(out, "index.html"), html);

const files = [...readdirSync(out), "manifest.txt"].sort();
writeFileSync(join(out, "manifest.txt"), files.join("\n") + "\n");
