import { parseArgs } from 'node:util';
import { type Outcome, MIB, told } from './check.ts';
import { clientAborts } from './client_aborts.ts';
import { descriptors } from './descriptors.ts';
import { drain } from './drain.ts';
import { largeBodies } from './large_bodies.ts';
import { http2Aborts } from './http2_aborts.ts';
import { longRun } from './long_run.ts';
import { slowClients } from './slow_clients.ts';
import { upstreamFaults } from './upstream_faults.ts';

/** The numbers of a script, by flag. */
type Numbers = Readonly<Record<string, number>>;

interface Script {
  readonly about: string;
  /** Flags with their defaults. */
  readonly flags: Numbers;
  readonly run: (numbers: Numbers) => Promise<Outcome>;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

// table: scripts
const SCRIPTS: Readonly<Record<string, Script>> = {
  slow_clients: {
    about: 'slow heads and idle connections beside good traffic',
    flags: { slow: 2_000, idle: 5_000, seconds: 5, connections: 32 },
    run: ({ slow = 0, idle = 0, seconds = 0, connections = 0 }) =>
      slowClients({ slow, idle, seconds, connections, timed: true }),
  },
  large_bodies: {
    about: 'large content with one slow side',
    flags: { mib: 1_024 },
    run: ({ mib = 0 }) => largeBodies({ bytes: mib * MIB }),
  },
  upstream_faults: {
    about: 'upstreams that fail',
    flags: { each: 200 },
    run: ({ each = 0 }) => upstreamFaults({ each }),
  },
  client_aborts: {
    about: 'clients that leave at every phase',
    flags: { each: 200 },
    run: ({ each = 0 }) => clientAborts({ each }),
  },
  http2_aborts: {
    about: 'HTTP/2 clients that leave at every phase',
    flags: { each: 200 },
    run: ({ each = 0 }) => http2Aborts({ each }),
  },
  descriptors: {
    about: 'more clients than descriptors',
    flags: { limit: 256, clients: 1_000 },
    run: ({ limit = 0, clients = 0 }) => descriptors({ limit, clients }),
  },
  drain: {
    about: 'SIGTERM under load',
    flags: { connections: 200, seconds: 3 },
    run: ({ connections = 0, seconds = 0 }) => drain({ connections, seconds }),
  },
  long_run: {
    about: 'a share of the peak for a long time',
    flags: { minutes: 20, connections: 32, percent: 70 },
    run: ({ minutes = 0, connections = 0, percent = 0 }) =>
      longRun({ minutes, connections, share: percent / 100, settled: true, say }),
  },
};

function usage(): string {
  const lines = Object.entries(SCRIPTS).map(([name, { about, flags }]) => {
    const shown = Object.entries(flags).map(([flag, value]) => `--${flag} ${value}`);
    return `  node bench/soak/run.ts ${name} ${shown.join(' ')}   ${about}`;
  });
  return `${lines.join('\n')}\n  node bench/soak/run.ts all   each of them with its defaults\n`;
}

async function runOne(script: Script, args: readonly string[]): Promise<boolean> {
  const options = Object.fromEntries(
    Object.keys(script.flags).map((flag) => [flag, { type: 'string' } as const]),
  );
  const { values } = parseArgs({ args: [...args], options });
  const given = Object.entries(values).map(([flag, value]) => [flag, Number(value)]);
  const outcome = await script.run({ ...script.flags, ...(Object.fromEntries(given) as Numbers) });
  process.stdout.write(`${told(outcome)}\n`);
  return outcome.checks.every(({ holds }) => holds);
}

const [name = '', ...args] = process.argv.slice(2);
const chosen =
  name === 'all' ? Object.values(SCRIPTS) : [SCRIPTS[name]].filter((script) => script !== undefined);
if (chosen.length === 0) {
  process.stderr.write(usage());
  process.exitCode = 2;
}
for (const script of chosen) if (!(await runOne(script, args))) process.exitCode = 1;
