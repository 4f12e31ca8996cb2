import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { ignoredIn, whyRefused } from './browser_values.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import type { Found } from './finding.ts';
import type { FilterUse } from './setting_findings.ts';

/** Edits of one message by one action or module. */
interface Edits {
  readonly pointer: string;
  readonly added: ReadonlyMap<string, string>;
  /** The expressions of its rule. */
  readonly when: readonly string[];
}

/** Header fields that browsers refuse or never send. */
export function headerFindings(
  config: EdgeConfig,
  policies: readonly ExaminedPolicy[],
  uses: readonly FilterUse[],
): readonly Found[] {
  const hosts = Object.values(config.edges.https).flatMap(({ hostports }) =>
    hostports.map((each) => each.replace(/:\d+$/, '').toLowerCase()),
  );
  const modules = uses.flatMap((use) => {
    const facts = use.face === 'module' ? MODULE_FACTS.get(use.type) : undefined;
    const adds = facts?.adds?.(use.config as never);
    return (['request', 'response'] as const).flatMap((side) =>
      adds?.[side] === undefined ? [] : [{ side, use, edits: editsOf(use.pointer, adds[side], []) }],
    );
  });
  const ofModules = modules.flatMap(({ side, edits }) =>
    side === 'response' ? ofResponse(edits, hosts) : [],
  );
  return [...ofModules, ...policies.flatMap((policy) => ofPolicy(config, policy, hosts, modules))];
}

type ModuleEdits = { readonly side: 'request' | 'response'; readonly use: FilterUse; readonly edits: Edits };

function ofPolicy(
  config: EdgeConfig,
  { place, document }: ExaminedPolicy,
  hosts: readonly string[],
  modules: readonly ModuleEdits[],
): readonly Found[] {
  const found: Found[] = [];
  const route = place.pointer.slice(0, place.pointer.lastIndexOf('/'));
  const beside = modules.filter(
    ({ side, use }) => side === 'response' && use.pointer.startsWith(`${route}/`),
  );
  for (const rule of document.phases.on_http_response) {
    const when = rule.expressions.map(({ text }) => text);
    for (const { type, config: own, pointer } of rule.actions) {
      const added = ACTION_FACTS.get(type)?.adds?.(own as never).response;
      if (added === undefined) continue;
      const edits = editsOf(pointerTo(pointer, 'config'), added, when);
      found.push(...ofResponse(edits, hosts));
      const twin = beside.find((each) => each.edits.added.has(ORIGIN));
      if (twin !== undefined && edits.added.has(ORIGIN))
        found.push({
          code: 'analysis.refused_cors',
          pointer: edits.pointer,
          detail: `\`${twin.use.type}\` adds \`${ORIGIN}\`, too`,
          causes: [twin.use.pointer],
        });
    }
  }
  if ((config.underscore_headers ?? 'drop') === 'drop') found.push(...dropped(document.phases));
  return found;
}

function editsOf(pointer: string, added: Readonly<Record<string, string>>, when: readonly string[]): Edits {
  return {
    pointer,
    added: new Map(Object.entries(added).map(([name, value]) => [name.toLowerCase(), value])),
    when,
  };
}

const ORIGIN = 'access-control-allow-origin';
const CREDENTIALS = 'access-control-allow-credentials';

function ofResponse({ pointer, added, when }: Edits, hosts: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  const refused = whyRefused(added);
  if (refused !== null) found.push({ code: 'analysis.refused_cors', pointer, detail: refused });
  const isRepeated = /\$\{[^}]*["']origin["']/i.test(added.get(ORIGIN) ?? '');
  if (isRepeated && added.get(CREDENTIALS)?.trim() === 'true' && !when.some(comparesOrigin))
    found.push({ code: 'analysis.open_cors', pointer });
  for (const detail of ignoredIn(added))
    found.push({ code: 'analysis.ignored_value', pointer, detail: `\`${detail}\`` });
  const cookie = added.get('set-cookie');
  const why = cookie === undefined ? null : whyDropped(cookie, hosts);
  if (why !== null) found.push({ code: 'analysis.dropped_cookie', pointer, detail: why });
  return found;
}

/** Whether an expression says which origins it is about. */
function comparesOrigin(text: string): boolean {
  return /["']origin["']/i.test(text) && /==| in |matches|startsWith|endsWith|contains/.test(text);
}

/** Why browsers drop a cookie (RFC 6265bis §5.7), as a sentence without its full stop; null if they do not. */
function whyDropped(cookie: string, hosts: readonly string[]): string | null {
  if (cookie.includes('${')) return null;
  const [pair = '', ...rest] = cookie.split(';').map((part) => part.trim());
  const attributes = new Map(
    rest.map((part): [string, string] => {
      const [name = '', value = ''] = part.split('=', 2);
      return [name.trim().toLowerCase(), value.trim().toLowerCase()];
    }),
  );
  const isSecure = attributes.has('secure');
  const name = pair.split('=', 1)[0]!;
  const domain = attributes.get('domain')?.replace(/^\./, '');
  if (attributes.get('samesite') === 'none' && !isSecure) return '`SameSite=None` needs `Secure`';
  if (attributes.has('partitioned') && !isSecure) return '`Partitioned` needs `Secure`';
  if (/^__(?:secure|host)-/i.test(name) && !isSecure) return `\`${name}\` needs \`Secure\``;
  if (/^__host-/i.test(name) && (domain !== undefined || attributes.get('path') !== '/'))
    return `\`${name}\` needs \`Path=/\`, and no \`Domain\``;
  const isForeign = (host: string): boolean => host !== domain && !host.endsWith(`.${domain}`);
  if (domain !== undefined && domain !== '' && hosts.every(isForeign))
    return `no host of this file belongs to \`${domain}\``;
  return null;
}

/** A name with an underscore, where an expression reads a header of the request. */
const UNDERSCORED =
  /(?:ReqHeader\(|req\.headers\[)\s*["']([\w-]*_[\w-]*)["']|["']([\w-]*_[\w-]*)["'] in req\.headers\b/;

function dropped({ on_http_request: rules }: ExaminedPolicy['document']['phases']): readonly Found[] {
  const added = new Set(
    rules
      .flatMap(({ actions }) => actions)
      .flatMap(({ type, config }) =>
        Object.keys(ACTION_FACTS.get(type)?.adds?.(config as never).request ?? {}).map((name) =>
          name.toLowerCase(),
        ),
      ),
  );
  return rules.flatMap(({ expressions }) =>
    expressions.flatMap(({ text, pointer }): readonly Found[] => {
      const match = UNDERSCORED.exec(text);
      const name = match?.[1] ?? match?.[2];
      return name === undefined || added.has(name.toLowerCase())
        ? []
        : [{ code: 'analysis.dropped_header', pointer, detail: `\`${name}\`` }];
    }),
  );
}
