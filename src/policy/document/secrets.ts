import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { type Call, type Node, childrenOf } from '../../cel/ast.ts';
import type { Found } from './expressions.ts';
import type { Findings } from './findings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';
import { replaceWithin } from './repairs.ts';
import { listed } from './message_text.ts';

/** Reports unknown secrets: reading one is an error that stops the request. */
export function checkSecrets(
  policy: PolicyText,
  findings: Findings,
  secrets: Readonly<Record<string, readonly string[]>>,
  pointer: string,
  text: string,
  found: readonly Found[],
): void {
  for (const { root, start } of found) {
    visitLookUps(root, ([vault, name]) => {
      const told = sayOf(vault, name, secrets);
      if (told === undefined) return;
      const { span } = told.of;
      const inText = { start: span.start + start, end: span.end + start };
      const place = mapIn(policy, pointer, text)?.spanOf(inText);
      const fix = told.meant === undefined ? undefined : `'${told.meant}'`;
      findings.report('policy.unknown_secret', pointer, told.message, {
        hint: told.hint,
        span: place,
        fix:
          fix === undefined
            ? undefined
            : replaceWithin(policy, pointer, text, inText, {
                message: `write ${fix}`,
                text: fix,
                safe: false,
              }),
      });
    });
  }
}

interface Told {
  readonly message: string;
  readonly hint: string | undefined;
  /** The name that was probably meant. */
  readonly meant: string | undefined;
  /** The unknown part: the vault, or the name in it. */
  readonly of: Node;
}

function sayOf(
  vault: Node,
  name: Node,
  secrets: Readonly<Record<string, readonly string[]>>,
): Told | undefined {
  const vaultName = textOf(vault);
  if (vaultName === undefined) return undefined;
  if (!Object.hasOwn(secrets, vaultName)) {
    const vaults = Object.keys(secrets);
    const meant = suggest(vaultName, vaults);
    const hint = didYouMean(meant) ?? namesOf('vaults', vaults);
    return {
      message: `unknown vault ${quoted(vaultName)}, so reading it is an error`,
      hint,
      meant,
      of: vault,
    };
  }
  const names = secrets[vaultName]!;
  const secretName = textOf(name);
  if (secretName === undefined || names.includes(secretName)) return undefined;
  const message = `the vault ${quoted(vaultName)} has no secret ${quoted(secretName)}, so reading it is an error`;
  const meant = suggest(secretName, names);
  return { message, hint: didYouMean(meant) ?? namesOf('secrets in it', names), meant, of: name };
}

function namesOf(what: string, names: readonly string[]): string {
  return names.length === 0 ? `there are no ${what}` : `${what}: ${listed(names)}`;
}

/** The string of a literal; undefined for a value that is only known at run time. */
function textOf(node: Node): string | undefined {
  return node.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
}

function visitLookUps(node: Node, visit: (args: readonly [Node, Node]) => void): void {
  if (node.kind === 'call' && isLookUp(node)) visit(node.args as readonly [Node, Node]);
  for (const child of childrenOf(node)) visitLookUps(child, visit);
}

function isLookUp({ name, target, args }: Call): boolean {
  if (args.length !== 2) return false;
  if (target === undefined) return name === 'secrets.get';
  return name === 'get' && target.kind === 'name' && target.name === 'secrets';
}
