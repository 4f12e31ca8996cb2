import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { parseAddress } from '../../net/address.ts';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';

/** Principals and options of OpenSSH certificates (PROTOCOL.certkeys): what sshd(8) would not accept is refused. */

interface OptionProblem {
  /** Below the field. */
  readonly pointer: string;
  readonly message: string;
}

/** OpenSSH refuses certificates with more (SSHKEY_CERT_MAX_PRINCIPALS in sshkey.h). */
const MAX_PRINCIPALS = 256;
const MAX_OPTIONS = 64;
const TEXT_BYTES = 4096;

export function principalProblem(principals: readonly string[]): OptionProblem | null {
  if (principals.length > MAX_PRINCIPALS)
    return { pointer: '', message: `A certificate has at most ${MAX_PRINCIPALS} principals.` };
  const index = principals.findIndex((each) => each === '' || !isPlainText(each));
  const message = 'A principal must be a text without control characters that is not empty.';
  return index < 0 ? null : { pointer: pointerTo('', index), message };
}

/** Checks of the values of critical options, by their names. */
const CRITICAL: Readonly<Record<string, (value: string) => string | null>> = {
  'force-command': (value) => (value.trim() === '' ? 'must be a command' : null),
  'source-address': (value) => {
    const wrong = value
      .split(',')
      .find((each) => parseAddress(each) === null && isCidrProblem(parseCidr(each)));
    return wrong === undefined ? null : `has '${wrong}', which is neither an address nor a range`;
  },
};

/** Extensions of OpenSSH; they have no value. */
const FLAGS: ReadonlySet<string> = new Set([
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
]);

/** Options of others have the domain of their author in their name; servers refuse critical ones they do not know. */
const OF_OTHERS = /^[^@]+@[^@]+$/;

export function criticalOptionProblem(options: Readonly<Record<string, string>>): OptionProblem | null {
  return problemOf(options, (name, value) => {
    if (Object.hasOwn(CRITICAL, name)) return CRITICAL[name]!(value);
    const known = Object.keys(CRITICAL).join(', ');
    return OF_OTHERS.test(name)
      ? null
      : `is unknown; known are ${known}, and names that end in @ and a domain`;
  });
}

export function extensionProblem(extensions: Readonly<Record<string, string>>): OptionProblem | null {
  return problemOf(extensions, (name, value) =>
    FLAGS.has(name) && value !== '' ? 'must have an empty value' : null,
  );
}

function problemOf(
  options: Readonly<Record<string, string>>,
  check: (name: string, value: string) => string | null,
): OptionProblem | null {
  const entries = Object.entries(options);
  if (entries.length > MAX_OPTIONS)
    return { pointer: '', message: `There are at most ${MAX_OPTIONS} options.` };
  for (const [name, value] of entries) {
    const isPlain = name !== '' && isPlainText(name) && isPlainText(value);
    const problem = isPlain ? check(name, value) : `must be a text of at most ${TEXT_BYTES} bytes`;
    if (problem !== null)
      return { pointer: pointerTo('', name), message: `The option '${name.slice(0, 80)}' ${problem}.` };
  }
  return null;
}

function isPlainText(text: string): boolean {
  return Buffer.byteLength(text) <= TEXT_BYTES && !/\p{Cc}/u.test(text);
}
