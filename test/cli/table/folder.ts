import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderWith } from '../../folder.ts';
import { hasProgram } from '../../peers.ts';
import { MAIN } from '../main_file.ts';

/** What the examples of the help need, besides the files of `init`. */
const FURTHER = {
  'load.scenario.yaml': `edge: edge.yaml
upstreams: { app: 200 }
simulation:
  duration: 2s
  arrivals: [{ request: GET /, rate: 5 }]
cases: [{ name: one, request: GET /healthz, expect: { status: 200 } }]
`,
  'shop.property.yaml': `properties:
  - name: health does not need the app
    where: req.url.path == '/healthz'
    never: { end: forwarded, backend: app }
`,
  'access.log': '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET /healthz HTTP/1.1" 200 3 "-" "curl/8"\n',
  'payload.json': '{}\n',
  'a_folder.yaml/kept.txt': '',
  'utf16.yaml': Buffer.from('\uFEFFedges: {}\n', 'utf16le'),
  'binary.yaml': Uint8Array.from([0x1f, 0x8b, 0, 0, 1, 2, 3]),
  'latin1.yaml': Uint8Array.from([0x61, 0x3a, 0x20, 0xe9, 0x0a]),
};

/** Whether examples can name a file of a branch. */
export const hasGit = hasProgram('git', ['--version'], 'examples that name a file of a branch');

/** Commits need a name. */
const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@test.test'];

/** A folder as `init` makes it, in which every example of the help works; those with a branch need git. */
export function exampleFolder(): string {
  const folder = folderWith(FURTHER);
  execFileSync(process.execPath, [MAIN, 'init', '--yes'], { cwd: folder });
  const edge = join(folder, 'edge.yaml');
  const text = readFileSync(edge, 'utf8');
  // The configuration in production, and on the main branch, lets every client reach /admin.
  const older = text.replace('          ip_restriction: { ip_policy_ids: [office] }\n', '');
  writeFileSync(join(folder, 'production.yaml'), older);
  writeFileSync(edge, older);
  const commands = ['init -q -b main', 'add edge.yaml policy.yml', 'commit -qm first'];
  for (const args of hasGit ? commands : [])
    execFileSync('git', [...IDENTITY, ...args.split(' ')], { cwd: folder });
  writeFileSync(edge, text);
  return folder;
}

/** The words of a command line, as a shell reads them. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    ([, one, two, bare]) => one ?? two ?? bare!,
  );
}
