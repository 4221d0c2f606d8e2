// A promise that nobody catches.
const manifest = { name: "corpus-v3", parts: [{ id: 0, files: ["a"] }, { id: 1, files: ["b"] }, { id: 2 }] };

async function part(p) {
  await new Promise((r) => setTimeout(r, 300));
  if (!p.files) throw new Error(`part ${p.id} of ${manifest.name} lists no files`);
  return p.files.length;
}

(async () => {
  for (const p of manifest.parts) console.log(`part ${p.id}: ${await part(p)} files`);
})();
