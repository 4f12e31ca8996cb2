import { deciderHere } from '../../src/inspector/decide/decider.ts';
import { keepSecrets } from '../../src/edge/secrets.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { checkPolicyEdge, policyFile } from '../../src/project_files/policy_edge.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';
import type { RecordedExchange } from '../../src/replay/recording.ts';

const REQUESTS = 500;
const RULES = 20;
const DRAFTS = 41;

/** Processor time of a draft for 500 requests when the code is warm, the median of 41 drafts; with the explanation of one, too. */
export async function draftMs(explains: boolean): Promise<number> {
  const news = (await recorded()).map((record, at) => [at + 1, JSON.stringify(record)] as const);
  const decider = deciderHere({
    load: ({ policy = policyWith('/admin') }) => checkPolicyEdge(policyFile('policy.yaml', policy)),
    circumstances: () =>
      Promise.resolve({ secrets: keepSecrets({ get: () => undefined }), adoptHosts: 'any' }),
    clockMs: () => performance.now(),
  });
  const newest = news.map(([seq]) => seq);
  const times: number[] = [];
  for (let draft = 0; draft < DRAFTS; draft++) {
    const before = process.cpuUsage();
    const isFirst = draft === 0;
    const texts = { policy: policyWith(`/admin${draft}`) };
    const { counts } = await decider.draft({
      texts,
      active: isFirst ? {} : null,
      newest,
      one: REQUESTS,
      explains,
      news: isFirst ? news : [],
    });
    if (counts.looked !== REQUESTS || counts.changed === 0) throw new Error('the draft changes nothing');
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return times.toSorted((one, other) => one - other)[DRAFTS >> 1]!;
}

function policyWith(path: string): string {
  const rules = Array.from(
    { length: RULES },
    (_, at) => `  - name: rule ${at}
    expressions: ["req.method == 'POST' && req.url.path.startsWith('/area/${at}') && !('x-key' in req.headers)"]
    actions: [{ type: deny, config: { status_code: 401 } }]
`,
  );
  return `on_http_request:
  - name: admin
    expressions: ["req.url.path.startsWith('${path}')"]
    actions: [{ type: deny, config: { status_code: 403 } }]
${rules.join('')}`;
}

/** Requests through sockets, a tenth of them below /admin. */
async function recorded(): Promise<readonly RecordedExchange[]> {
  const records: RecordedExchange[] = [];
  const edge = createEdge(
    {
      backends: { app: { http_response: { status_code: 200, body: 'fine' } } },
      edges: {
        https: {
          main: {
            hostports: ['app.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
          },
        },
      },
    },
    { adoptHosts: 'any', recordingSink: recordingSink((record) => records.push(record), 65_536) },
  );
  const listening = await edge.listen();
  for (let at = 0; at < REQUESTS; at++) {
    const path = at % 10 === 9 ? `/admin/${at}` : `/items/${at}?page=2`;
    await (await fetch(listening.url + path, { headers: { cookie: 'session=abc' } })).arrayBuffer();
  }
  await listening.close(0);
  return records;
}
