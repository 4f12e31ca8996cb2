import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';
import { refuseAlone, refuseBeside } from './option_conflicts.ts';

/** What may stand together on the command line of `explain`. */

interface Named {
  readonly scenario?: string;
  readonly case?: string;
  readonly connect?: string;
}

/** Throws FileError for options that what is explained does not read. */
export function refuseWithoutEffect(command: Command, { scenario, connect }: Named): void {
  const ofRequest = ['--header', '--upstream-status'] as const;
  const ofConnection = ['--sni', '--client-cert'] as const;
  if (scenario !== undefined)
    refuseBeside(command, '--scenario', [
      '--edge',
      '--ip',
      '--agent',
      '--event',
      ...ofRequest,
      ...ofConnection,
    ]);
  else if (connect !== undefined) refuseBeside(command, '--connect', ['--why-not', ...ofRequest]);
  else refuseAlone(command, ofConnection, { only: 'connections', add: '--connect HOST:PORT' });
}

/** Arguments after the URL are refused here, because one of them is mostly the edge file. */
export function refuseExcess(command: Command): void {
  const [method, url, extra] = command.args;
  if (extra !== undefined) throw new FileError(unexpected(extra, `${method} ${url}`));
}

function unexpected(extra: string, request: string): string {
  return /\.(?:ya?ml|json|[cm]?[jt]s)$/.test(extra)
    ? `-e names the edge file; write 'edgeproof explain ${request} -e ${extra}'`
    : `'${extra}' is not expected after the URL; quote a URL with spaces`;
}

export function isUrl(text: string | undefined): text is string {
  return text !== undefined && /^https?:\/\//i.test(text);
}

/** Throws FileError when the command line names more than one of a request, a connection and a case. */
export function refuseTogether(url: string | undefined, { scenario, connect, case: name }: Named): void {
  const named = [url && 'a request', connect && '--connect', scenario && '--scenario'].filter(Boolean);
  if (named.length > 1)
    throw new FileError(`${named.slice(0, 2).join(' and ')} exclude each other: leave one out`);
  if (name !== undefined && scenario === undefined)
    throw new FileError('--case names a case of a scenario file: name the file with --scenario');
}

/** Throws FileError when the command line names neither a request nor a connection. */
export function refuseUnnamed(method: string | undefined, url: string | undefined, { connect }: Named): void {
  if (isUrl(method) && url !== undefined) {
    const isSwapped = /^[a-z]+$/i.test(url);
    throw new FileError(
      isSwapped
        ? `the method is before the URL; write 'edgeproof explain ${url} ${method}'`
        : unexpected(url, method),
    );
  }
  if (url?.startsWith('/') === true)
    throw new FileError(`'${url}' has no host; write https://HOST${url} with a host of the edge`);
  if (method !== undefined && url !== undefined && /^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)/.test(url))
    throw new FileError(`'${url}' has no scheme; write https://${url}`);
  if (connect === undefined && (method === undefined || url === undefined))
    throw new FileError('name a request: a method and a URL, or --connect, or --scenario with --case');
  if (method !== undefined && /[./]/.test(method))
    throw new FileError(
      `'${method}' is not a method; -e names the edge file: edgeproof explain -e edge.yaml GET https://shop.test/`,
    );
}
