// Loaded before an entry point in TypeScript, which a Node.js before 24 answers with a stack trace: says instead what is missing.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `expected Node 24 or later, found ${process.version}; run npm ci, which brings one to most machines, or install it`,
  );
  process.exit(1);
}
