import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasErrors } from '../../../src/diagnostics/diagnostic.ts';
import type { Diagnostic, Source, Span } from '../../../src/diagnostics/diagnostic.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import { compileTemplateTree } from '../../../src/policy/env/template_tree.ts';
import type { PolicyContext } from '../../../src/filters/action.ts';
import { DOCUMENT_CODES } from '../../../src/policy/codes/document_codes.ts';
import { compilePolicy } from '../../../src/policy/compile.ts';
import { checkAttachedPolicy, checkPolicy, checkPolicyValue } from '../../../src/policy/document/check.ts';
import type { CheckedPolicy } from '../../../src/policy/document/check.ts';
import { fixSource } from '../../../src/policy/document/fixes.ts';
import { formatPolicy } from '../../../src/policy/document/format.ts';
import type { PolicyDocument } from '../../../src/policy/document/document.ts';
import { runs, seeded } from '../../random.ts';
import { mutateText, mutateValue, pick } from './mutate.ts';

const branding = brandingOf('service');
const setting = { branding };
const fixtures = new URL('../../../fixtures/policies/', import.meta.url);
const LONGEST = 700;
const texts = [
  ...DOCUMENT_CODES.flatMap(({ bad, good }) => [bad, good]),
  ...readdirSync(fixtures, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8').split('\n----------\n')[0]!),
].filter((text) => text.length < LONGEST);
const values = texts.flatMap((text) => {
  try {
    return [parse(text) as unknown];
  } catch {
    return [];
  }
});

const TEXTS = runs(35_000);
const VALUES = runs(66_000);

const context: PolicyContext = {
  branding,
  surroundings: () => {
    throw new Error('nothing runs here');
  },
  ipPolicy: () => [],
  refusal: (status) => ({ status, headers: [], body: '' }),
  isInternal: () => true,
  isInternalAddress: () => true,
  allowPrivateFetch: false,
  passUnsimulated: false,
  trace: 'decided',
};

/** What the checker accepts compiles, in every expression and every template. */
function compiles(document: PolicyDocument): string | null {
  const compiled = compilePolicy(document, context);
  for (const phase of [compiled.connect, compiled.request, compiled.response]) {
    for (const rule of phase?.rules ?? []) {
      const broken = rule.conditions.find(({ program }) => program === null);
      if (broken !== undefined) return `condition ${broken.text}`;
    }
  }
  for (const phase of ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const) {
    for (const { type, config } of document.phases[phase].flatMap(({ actions }) => actions)) {
      if (type !== 'log' && type !== 'set-vars') continue;
      if (compileTemplateTree(config, scopeFor(phase)).evaluate === undefined) return `data of ${type}`;
    }
  }
  return null;
}

function outside({ start, end }: Span, length: number): boolean {
  return !(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= length);
}

/** What is wrong with a result of the checker; null if nothing is. */
function complaint(checked: CheckedPolicy, file: Source | null): string | null {
  const { document, diagnostics } = checked;
  if ((document === null) !== hasErrors(diagnostics)) return 'a document and errors at once, or neither';
  for (const { span, fix, message, code, pointer } of diagnostics) {
    if (file !== null && (span === undefined || outside(span, file.text.length)))
      return `${code} at ${pointer}: ${message}`;
    if (fix !== undefined && outside(fix.span, file?.text.length ?? 0)) return `fix of ${code} at ${pointer}`;
    if (message === '' || /undefined|\[object/.test(message.replace(/'.*'/, '')))
      return `${code} says ${message}`;
  }
  return document === null ? null : compiles(document);
}

function attempt(look: () => string | null): string | null {
  try {
    return look();
  } catch (error) {
    return `threw ${String((error as Error).stack)}`;
  }
}

it('never throws, never points outside, never accepts what does not compile: texts', () => {
  const random = seeded(4);
  let valid = 0;
  let fixed = 0;
  for (let count = 0; count < TEXTS; count++) {
    const text = mutateText(random, pick(random, texts), texts);
    const file = { name: 'policy.yaml', text };
    const found = attempt(() => {
      const checked = checkPolicy(file, setting);
      if (checked.document !== null) valid++;
      if (count % 50 === 0) return complaint(checked, file) ?? carried(text) ?? repaired(file);
      if (checked.diagnostics.some(({ fix }) => fix?.safe === true)) fixed++;
      return complaint(checked, file);
    });
    expect(found === null ? '' : `${found}\n${JSON.stringify(text)}`).toBe('');
  }
  expect(valid).toBeGreaterThan(TEXTS / 50);
  expect(fixed).toBeGreaterThan(TEXTS / 700);
});

/** The same in a string of a file: every position is inside the string. */
function carried(text: string): string | null {
  const written = JSON.stringify(text);
  const file = { name: 'edge.json', text: `{"value": ${written}}` };
  const span = { start: 10, end: 10 + written.length };
  const checked = checkAttachedPolicy({ pointer: '/value', text, inFile: { file, span } }, setting);
  const strayed = checked.diagnostics.find((one) => one.span!.start < span.start || one.span!.end > span.end);
  return strayed === undefined ? complaint(checked, file) : `${strayed.message} strays`;
}

function diagnosticsOf(source: Source): readonly Diagnostic[] {
  return checkPolicy(source, setting).diagnostics;
}

/** Fixes make nothing worse and are complete; formatting is stable. */
function repaired(file: Source): string | null {
  const { text } = fixSource(file, diagnosticsOf);
  const again = fixSource({ name: file.name, text }, diagnosticsOf);
  if (again.text !== text) return 'repairing twice changes more';
  const formatted = formatPolicy(file.text);
  if ('message' in formatted) return null;
  const twice = formatPolicy(formatted.text);
  return 'text' in twice && twice.text === formatted.text ? null : 'formatting twice changes more';
}

it('never throws, never accepts what does not compile: values', () => {
  const random = seeded(5);
  let valid = 0;
  for (let count = 0; count < VALUES; count++) {
    const value = mutateValue(random, pick(random, values), values);
    const found = attempt(() => {
      const checked = checkPolicyValue(value, setting);
      if (checked.document !== null) valid++;
      return complaint(checked, null);
    });
    expect(
      found === null
        ? ''
        : `${found}\n${JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item))}`,
    ).toBe('');
  }
  expect(valid).toBeGreaterThan(VALUES / 50);
});
