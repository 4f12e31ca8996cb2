import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../diagnostics/message_text.ts';
import { ACTION_FACTS, LEGACY_TYPES } from '../../filters/table.ts';
import type { ActionFacts } from '../../filters/facts.ts';
import type { Phase } from '../../filters/phase.ts';
import type { Checking, EngineText } from './checking.ts';
import { type Entries, readValue } from './config.ts';
import type { PolicySetting } from './setting.ts';
import type { Code, Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import { asWanted, renameKey, rewordValue, underConfig } from './repairs.ts';
import { configShape } from './shape.ts';
import { listed } from './message_text.ts';

/** An action that was checked except for its expressions. */
export interface ReadAction {
  readonly facts: ActionFacts<never>;
  readonly config: Entries;
  readonly pointer: string;
  readonly texts: readonly EngineText[];
}

interface Reading {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly report: Report;
  readonly renamed: Map<string, string>;
}

const TYPES = [...ACTION_FACTS.keys()];
const ACTION_KEYS = ['type', 'config'];

/** Reads one action of a rule; undefined if its type is unknown. */
export function readAction(
  reading: Reading,
  phase: Phase,
  value: Entries,
  pointer: string,
): ReadAction | undefined {
  const { report } = reading;
  const facts = factsOf(reading, phase, value, pointer);
  if (facts === undefined) return undefined;
  for (const key of Object.keys(value)) {
    if (!ACTION_KEYS.includes(key)) reportUnknownKey(reading, facts, key, pointerTo(pointer, key));
  }
  checkPhase(reading, facts, phase, pointer);
  const { policy, setting, renamed } = reading;
  const checking: Checking = { policy, setting, report, type: facts.type, phase, texts: [], renamed };
  const at = pointerTo(pointer, 'config');
  const shape = configShape(facts.type);
  const config = readValue(checking, shape, value['config'] ?? {}, at) as Entries | undefined;
  if (config !== undefined) checkConfig(checking, facts, config, at);
  if ((facts.runs ?? 'now') !== 'now') {
    const message = `'${facts.type}' is checked but not executed by this version: requests that reach it get a 501`;
    report('policy.not_simulated', pointerTo(pointer, 'type'), message);
  }
  return { facts, config: config ?? {}, pointer, texts: checking.texts };
}

/** Checks what the filter checks besides its schema. Pointers are translated to the names in the document. */
function checkConfig(checking: Checking, facts: ActionFacts<never>, config: Entries, pointer: string): void {
  const { policy, phase, renamed, setting } = checking;
  const placeOf = (below: string): string => renamed.get(pointer + below) ?? pointer + below;
  facts.check?.(
    config as never,
    (code, below, message, { fix, ...more } = {}) => {
      const at = placeOf(below);
      checking.report(code as Code, at, message, { ...more, fix: fix && asWanted(policy, at, fix, more) });
    },
    {
      phase,
      isWritten: (below) => policy.keySpanOf(placeOf(below)) !== undefined,
      service: setting.branding.service,
      // Read by the checks that need them: a check is shared by settings that are equal in what it has read.
      get internalHosts() {
        return setting.internalHosts;
      },
      get internalAddresses() {
        return setting.internalAddresses;
      },
      get hosts() {
        return setting.hosts;
      },
      get strict() {
        return setting.strict;
      },
    },
  );
}

function factsOf(
  { policy, report }: Reading,
  phase: Phase,
  value: Entries,
  pointer: string,
): ActionFacts<never> | undefined {
  const at = pointerTo(pointer, 'type');
  const type = value['type'];
  if (typeof type === 'symbol') return undefined;
  if (typeof type !== 'string') {
    const named = Object.keys(value).find((key) => ACTION_FACTS.has(key));
    report(2201, type === undefined ? pointer : at, `an action needs a type, not ${shown(type)}`, {
      hint: named === undefined ? undefined : `write type: ${named} and put its fields under config`,
    });
    return undefined;
  }
  const known = ACTION_FACTS.get(type);
  if (known !== undefined) return known;
  const today = LEGACY_TYPES.get(type);
  if (today !== undefined) {
    const fix = rewordValue(policy, at, today, true);
    report('policy.legacy_name', at, `the type ${quoted(type)} is now called '${today}'`, {
      hint: `write ${today}`,
      fix,
    });
    return ACTION_FACTS.get(today);
  }
  const dashed = type.toLowerCase().replaceAll('_', '-');
  const meant = ACTION_FACTS.has(dashed)
    ? dashed
    : (MEANT.get(dashed) ?? LEGACY_TYPES.get(dashed) ?? suggest(dashed, TYPES));
  report(2201, at, `unknown action ${quoted(type)}`, {
    hint: didYouMean(meant),
    notes: [`actions of ${phase}: ${listed(typesOf(phase))}`],
    fix: meant === undefined ? undefined : rewordValue(policy, at, meant, false),
  });
  return undefined;
}

/** Types by the names that people try instead. */
const MEANT: ReadonlyMap<string, string> = new Map(
  Array.from(ACTION_FACTS.values()).flatMap(({ type, alsoCalled = [] }) =>
    alsoCalled.map((name) => [name, type] as const),
  ),
);

function typesOf(phase: Phase): string[] {
  return [...ACTION_FACTS.values()].filter(({ phases }) => phases.includes(phase)).map(({ type }) => type);
}

function reportUnknownKey(
  { policy, report }: Reading,
  facts: ActionFacts<never>,
  key: string,
  pointer: string,
): void {
  const isField = Object.hasOwn(configShape(facts.type).properties ?? {}, key);
  const meant = isField ? undefined : suggest(key, ACTION_KEYS);
  report(2203, pointer, `unknown key ${quoted(key)} in an action`, {
    at: 'key',
    hint: isField ? `it belongs under config: config: { ${key}: … }` : didYouMean(meant),
    notes: ['keys of an action: type, config'],
    fix: isField
      ? underConfig(policy, pointer)
      : meant === undefined
        ? undefined
        : renameKey(policy, pointer, meant, false),
  });
}

function checkPhase(
  { report, setting, policy }: Reading,
  facts: ActionFacts<never>,
  phase: Phase,
  pointer: string,
): void {
  const at = pointerTo(pointer, 'type');
  if (!facts.phases.includes(phase)) {
    const { twin } = facts;
    const isTwin = twin !== undefined && ACTION_FACTS.get(twin)!.phases.includes(phase);
    report(2202, at, `'${facts.type}' does not run in ${phase}`, {
      hint: isTwin ? `did you mean '${twin}'?` : `it runs in ${facts.phases.join(' and ')}`,
      notes: [`actions of ${phase}: ${listed(typesOf(phase))}`],
      fix: isTwin ? rewordValue(policy, at, twin, false) : undefined,
    });
  } else if (facts.needsTls === true && setting.attachedTo === 'tcp_edge') {
    report(2205, at, `'${facts.type}' needs TLS, which a TCP edge does not use`, {
      hint: 'use a TLS edge',
    });
  }
}
