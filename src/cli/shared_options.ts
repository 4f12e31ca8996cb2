import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { WhenUnavailable } from '../engine/shared_question.ts';
import { FileError } from '../project_files/load_config.ts';
import type { SharedState } from '../shared_state/port.ts';
import { loginsOf } from './development_logins.ts';
import { readSessionKeys } from './environment_secrets.ts';

export interface SharedVerbOptions {
  readonly shared?: string;
  readonly sharedUnavailable: WhenUnavailable;
}

/** Adds the options. */
export function sharedOptions(command: Command): Command {
  return command
    .option(
      '--shared <url>',
      'share limits, logins in progress and logouts with other nodes, such as redis://localhost:6379',
      readUrl,
    )
    .addOption(
      new Option(
        '--shared-unavailable <policy>',
        'what rate limits do while the shared state cannot be asked: count locally, deny, or allow',
      )
        .choices(['local', 'deny', 'allow'])
        .default('local'),
    );
}

function readUrl(text: string): string {
  if (/^rediss?:\/\/[^/]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected a URL such as redis://localhost:6379 or rediss://host/0.');
}

/** The state of `--shared`, connected; null without the option. Throws SharedStateError. */
export async function sharedState(
  { shared: url, sharedUnavailable: whenUnavailable }: SharedVerbOptions,
  say: (line: string) => void,
): Promise<SharedState | null> {
  if (url === undefined) return null;
  const { redisState } = await import('../shared_state/redis.ts');
  return redisState({ url: withPassword(url, process.env), whenUnavailable, say });
}

/** A password from the environment is not in the list of processes. */
function withPassword(text: string, { EDGEPROOF_SHARED_PASSWORD: password = '' }: NodeJS.ProcessEnv): string {
  const url = new URL(text);
  if (password !== '') url.password = encodeURIComponent(password);
  return url.href;
}

/** Refuses login gates whose sessions other nodes could not open. */
export function refuseOwnKeys({ shared }: SharedVerbOptions, config: EdgeConfig): void {
  if (shared === undefined || readSessionKeys(process.env) !== null) return;
  const [login] = loginsOf(config);
  if (login === undefined) return;
  throw new FileError(
    `--shared with the login of ${login.place} needs EDGEPROOF_SESSION_KEYS, equal on all nodes: otherwise none opens the sessions of another`,
  );
}
