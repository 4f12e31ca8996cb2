import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Editor } from '../test/lsp/client.ts';
import { emptyProcess } from './floors.ts';
import { type BenchSection, figure, quantile, render, sized } from './measure.ts';

const RULES = 1_000;
const KEYSTROKES = sized(300, 10);
/** Faster than people type: every answer has a new text, and the checker never rests. */
const PAUSE_MS = 40;
/** The server frees memory when nothing happens for a while. */
const REST_MS = 6_000;
const GOAL_MS = 30;
const GOAL_MIB = 150;

const rule = (at: number): string => `              - name: rule ${at}
                expressions: ["req.url.path.startsWith('/x${at}/') && req.headers['x-a'][0] == 'b${at}'"]
                actions: [{ type: deny, config: { status_code: 403 } }]
`;
const HEAD = `backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
`;
const TEXT = HEAD + Array.from({ length: RULES }, (_, at) => rule(at)).join('');
const TYPED = " || req.method == 'GET' && req.url.query.contains('a')";

/** What an editor asks after a keystroke. */
const ASKED = {
  completion: (position: object) => ({ position, context: { triggerKind: 1 } }),
  hover: (position: object) => ({ position }),
  definition: (position: object) => ({ position }),
  documentSymbol: () => ({}),
  foldingRange: () => ({}),
  codeLens: () => ({}),
  signatureHelp: (position: object) => ({ position }),
  documentHighlight: (position: object) => ({ position }),
  'semanticTokens/full': () => ({}),
  'semanticTokens/range': ({ line }: { readonly line: number }) => ({
    range: { start: { line: line - 30, character: 0 }, end: { line: line + 30, character: 0 } },
  }),
} as const;

export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  const editor = await new Editor(folder).start({ exact: false });
  try {
    await editor.show('edge.yaml', TEXT);
    await editor.findings('edge.yaml');
    const rows = [];
    for (const method of Object.keys(ASKED) as (keyof typeof ASKED)[]) {
      const took = await afterKeystrokes(editor, method);
      rows.push({ method, p50: quantile(took, 0.5), p95: quantile(took, 0.95) });
    }
    await editor.findings('edge.yaml');
    const [peak] = memoryMib(editor.child.pid!);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const [, mib] = memoryMib(editor.child.pid!);
    const worst = Math.max(...rows.map(({ p95 }) => p95));
    return {
      title: `Language server, a document of ${RULES} rules`,
      between:
        'reading the changed part of the text, and what the question asks of it; memory: the program, and the text with its tree',
      rows: [
        ...rows.flatMap(({ method, p50, p95 }) => [
          figure(`${method} after a keystroke, median`, p50, 'ms'),
          figure(`${method} after a keystroke, p95`, p95, 'ms'),
        ]),
        figure('memory of the server with its thread, at rest', mib, 'MiB', emptyProcess().memory),
        figure('the most before that', peak, 'MiB', emptyProcess().memory),
      ],
      notes: [
        `p95 ≤ ${GOAL_MS} ms after a keystroke: ${worst <= GOAL_MS ? 'met' : 'not met'}`,
        `≤ ${GOAL_MIB} MiB at rest: ${mib <= GOAL_MIB ? 'met' : 'not met'}`,
        `${KEYSTROKES} keystrokes of one letter each, one every ${PAUSE_MS} ms; from the keystroke to the answer, over the protocol`,
        'a thread checks the text meanwhile; memory is the resident set of the process',
      ],
    };
  } finally {
    await editor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Types letters at the end of the expression in the middle, and asks after each. */
async function afterKeystrokes(editor: Editor, method: keyof typeof ASKED): Promise<number[]> {
  await editor.show('edge.yaml', TEXT);
  const line = HEAD.split('\n').length - 1 + (RULES >> 1) * 3 + 1;
  let character = TEXT.split('\n')[line]!.length - 2;
  const took: number[] = [];
  for (let at = 0; at < KEYSTROKES; at++) {
    const position = { line, character };
    const began = performance.now();
    await editor.edit('edge.yaml', { start: position, end: position }, TYPED[at % TYPED.length]!);
    character++;
    await editor.ask(`textDocument/${method}`, 'edge.yaml', ASKED[method]({ line, character } as never));
    took.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return took;
}

/** The largest resident set of a process so far, and that of now. */
function memoryMib(pid: number): readonly [most: number, now: number] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1_024;
  return [of('VmHWM'), of('VmRSS')];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
