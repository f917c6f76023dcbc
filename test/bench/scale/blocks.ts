/** Loaded before a function (`--import`): tells by message for how long at most nothing else could run, in milliseconds of its CPU. */
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

let [longest, before] = [0, cpuMs()];
// At most once in a turn of the event loop, so that what is between two of these was no longer than this.
setInterval(() => {
  const now = cpuMs();
  [longest, before] = [Math.max(longest, now - before), now];
}, 5).unref();

process.on('message', () => {
  process.send?.(longest);
  longest = 0;
});

// It ends with the bench, however that ends.
process.on('disconnect', () => process.exit());
