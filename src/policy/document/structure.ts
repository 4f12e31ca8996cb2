import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../diagnostics/message_text.ts';
import { type Phase, LEGACY_PHASES, PHASES } from '../../filters/phase.ts';
import { type Entries, isEntries } from './config.ts';
import { removeLine, renameKey } from './repairs.ts';
import { listed } from './message_text.ts';
import { type RawRule, type Reading, readRules } from './rule_structure.ts';
import type { Steps } from '../../config_file/steps.ts';

export interface Structure {
  readonly enabled: boolean;
  readonly rules: readonly RawRule[];
}

/** Finds the phases and rules of a document and reports errors of their form. */
export function* structureOf(reading: Reading): Steps<Structure | null> {
  const { policy, report } = reading;
  const { value } = policy;
  if (!isEntries(value)) {
    report(2236, '', `a policy is a map of phases, not ${shown(value)}`, {
      hint: 'such as on_http_request:',
    });
    return null;
  }
  const rules: RawRule[] = [];
  const seen = new Map<Phase, string>();
  let enabled = true;
  for (const [key, given] of Object.entries(value)) {
    const pointer = pointerTo('', key);
    if (key === 'enabled') {
      enabled = readEnabled(reading, value, given, pointer);
      continue;
    }
    const phase = phaseOf(reading, value, key, pointer);
    if (phase === undefined) continue;
    const first = seen.get(phase);
    if (first !== undefined) {
      report(2236, pointer, `${quoted(key)} and ${quoted(first)} are the same phase`, { at: 'key' });
    }
    seen.set(phase, key);
    checkEndpoint(reading, phase, pointer);
    for (const rule of yield* readRules(reading, phase, given, pointer)) rules.push(rule);
  }
  const isEmpty = Object.entries(value).every(([key, given]) => key === 'enabled' || isNothing(given));
  if (rules.length === 0 && isEmpty) {
    report('policy.empty', '', 'the policy has no rules and no effect');
  }
  return { enabled, rules };
}

function isNothing(given: unknown): boolean {
  return given === null || (Array.isArray(given) && given.length === 0);
}

function readEnabled({ policy, report }: Reading, value: Entries, given: unknown, pointer: string): boolean {
  if (typeof given !== 'boolean') {
    if (typeof given !== 'symbol') {
      report(2236, pointer, `'enabled' has to be true or false, not ${shown(given)}`);
    }
    return true;
  }
  const message = "'enabled' inside a policy is deprecated";
  const alone = Object.keys(value).length === 1;
  const fix = given && !alone ? removeLine(policy, pointer, "remove 'enabled'") : undefined;
  const hint = given
    ? 'remove it: a policy is enabled by default'
    : 'disable the policy where it is used instead';
  report('policy.legacy_enabled', pointer, message, { at: 'key', hint, fix });
  return given;
}

/** Keys of the files and resources that contain a policy. */
const AROUND =
  /^(?:apiVersion|kind|metadata|spec|version|agent|endpoints|tunnels|traffic_?policy|policy|inline)$/i;

function phaseOf(
  { policy, report }: Reading,
  value: Entries,
  key: string,
  pointer: string,
): Phase | undefined {
  if ((PHASES as readonly string[]).includes(key)) return key as Phase;
  const legacy = Object.hasOwn(LEGACY_PHASES, key) ? LEGACY_PHASES[key] : undefined;
  if (legacy !== undefined) {
    const fix = Object.hasOwn(value, legacy) ? undefined : renameKey(policy, pointer, legacy, true);
    report('policy.legacy_name', pointer, `${quoted(key)} is now called '${legacy}'`, {
      at: 'key',
      hint: `write ${legacy}`,
      fix,
    });
    return legacy;
  }
  const meant = suggest(key, PHASES);
  report(2236, pointer, `${quoted(key)} is not a phase of a policy`, {
    at: 'key',
    hint: didYouMean(meant) ?? hintOnKey(key),
    notes: [`phases: ${listed(PHASES)}`],
    fix: meant === undefined ? undefined : renameKey(policy, pointer, meant, false),
  });
  return undefined;
}

/** Says what a key belongs to that policies do not have. */
function hintOnKey(key: string): string | undefined {
  if (['expressions', 'actions', 'name', 'type', 'config'].includes(key))
    return 'rules are a list below a phase';
  if (['edges', 'backends'].includes(key))
    return 'an edge file is not a policy: the part below `traffic_policy` is one';
  return AROUND.test(key) ? 'a policy file has only the part that begins with the phases' : undefined;
}

/** Whether the endpoint of the policy has this phase. */
function checkEndpoint({ setting, report }: Reading, phase: Phase, pointer: string): void {
  const { attachedTo } = setting;
  if (attachedTo === 'https_edge' && phase === 'on_tcp_connect') {
    const message = 'HTTPS edges have no phase on_tcp_connect';
    report(2248, pointer, message, {
      at: 'key',
      hint: 'move its rules to on_http_request, or use a TLS or TCP edge',
    });
  } else if (attachedTo === 'internal_endpoint' && phase === 'on_tcp_connect') {
    const message = 'internal HTTP endpoints have no phase on_tcp_connect';
    report(2262, pointer, message, { at: 'key', hint: 'move its rules to on_http_request' });
  } else if ((attachedTo === 'tcp_edge' || attachedTo === 'tls_edge') && phase !== 'on_tcp_connect') {
    const protocol = attachedTo === 'tcp_edge' ? 'TCP' : 'TLS';
    report(2230, pointer, `a ${protocol} edge has no phase ${phase}: it does not parse HTTP`, {
      at: 'key',
      hint: 'only on_tcp_connect runs there',
    });
  }
}
