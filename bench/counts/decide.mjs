// Decides as many requests as the first argument says, from the built package: for counting what that takes.
import { createEdge } from '../../dist/lib/index.cjs';
import { EDGE, REQUEST } from './edge.mjs';

const [count, allocations] = process.argv.slice(2);
let nowMs = Date.UTC(2026, 0, 1);
const edge = createEdge(EDGE, { clock: () => nowMs++, random: () => 0.5 });
let statuses = 0;
for (let turn = 0; turn < Number(count); turn++)
  statuses += edge.decide(REQUEST).event.object.http.response.status_code;

if (allocations === 'allocations') {
  const TURNS = 200;
  const grown = () => {
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (let turn = 0; turn < TURNS; turn++)
      statuses += edge.decide(REQUEST).event.object.http.response.status_code;
    return (process.memoryUsage().heapUsed - before) / TURNS;
  };
  const found = Array.from({ length: 15 }, grown).sort((one, other) => one - other);
  process.stdout.write(String(Math.round(found[7])));
}
if (statuses === 0) throw new Error('nothing was decided');
