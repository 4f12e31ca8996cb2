import type { Command } from 'commander';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { EdgeOptions, Listening } from '../edgeproof.ts';
import { geoipDatabasesOf } from './geoip_databases.ts';
import type { Hello } from '../inspector/wire.ts';
import { movedLine } from './api_port.ts';
import type { DraftFiles } from './draft_thread.ts';
import { environmentSecrets } from './environment_secrets.ts';
import { OutputError } from './failure.ts';
import { readPort } from './option_values.ts';
import { packageVersion } from './version.ts';
import type { LastReading } from './watch.ts';

const PORT = 4040;

/** The options of the inspector. */
export interface InspectorVerbOptions {
  /** A port, true for the default one, false for no inspector. */
  readonly inspector?: number | boolean;
  readonly redact?: readonly string[];
  readonly strictPort?: boolean;
  readonly acceptProxyProtocol?: boolean;
}

/** Adds `--inspector` to a verb; where it is on by default, `--no-inspector`, too. */
export function inspectorOption(command: Command, isDefault: boolean): Command {
  const default_ = isDefault ? 'on by default' : 'off by default';
  command.option(
    '--inspector [port]',
    `show traffic on a page of this machine, ${default_}; port ${PORT}, or the next free one`,
    readPort,
  );
  return isDefault ? command.option('--no-inspector', 'start no inspector') : command;
}

/** An inspector that a verb runs beside its edge. */
export interface VerbInspector {
  readonly edge: Pick<EdgeOptions, 'trafficWatch'>;
  /** Opens its port and returns the lines for the ready screen; throws OutputError if the options ask for it. */
  readonly listen: (listening: Listening) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

interface Setting {
  readonly verb: Hello['verb'];
  /** Whether there is one without the option. */
  readonly isDefault: boolean;
  readonly files: () => readonly string[];
  readonly allows?: (address: string) => Promise<boolean>;
  /** What the edge decides with, besides its configuration: the inspector decides again with the same. */
  readonly deciding: DecidingOptions;
  /** How drafts of its files are read, if it has files. */
  readonly drafts?: DraftFiles;
}

/** What an edge decides with, besides its configuration. */
export type DecidingOptions = Pick<EdgeOptions, 'adoptHosts' | 'geoipDatabases' | 'passUnsimulated'>;

/** The inspector that the options ask for; null without one. */
export async function verbInspector(
  options: InspectorVerbOptions,
  { verb, isDefault, files, allows, deciding, drafts }: Setting,
): Promise<VerbInspector | null> {
  const { redact, strictPort = false, acceptProxyProtocol = false } = options;
  const asked = options.inspector ?? isDefault;
  if (asked === false) return null;
  const { inspectorWithPages } = await import('../inspector/with_pages.ts');
  const port = asked === true ? PORT : asked;
  const inspector = inspectorWithPages(
    {
      port,
      strictPort: strictPort && asked !== true,
      verb,
      version: packageVersion(),
      files: { names: files },
      errorPages: verb !== 'serve',
      ...(redact !== undefined && { redact }),
      ...(allows !== undefined && { allows }),
    },
    {
      secrets: environmentSecrets(process.env),
      ...deciding,
      ...(drafts !== undefined && {
        decider: async () => (await import('./draft_thread.ts')).draftThread({ drafts, ...deciding }),
      }),
    },
  );
  return {
    edge: { trafficWatch: inspector.watch },
    listen: async (listening) => {
      const { url, host, tlsPort } = listening;
      inspector.serves(url, {
        host,
        port: listening.port,
        tlsPort,
        tlsNeedsProxyHeader: acceptProxyProtocol,
      });
      const opened = await inspector.listen();
      if (!('problem' in opened))
        return [
          `➜  inspector                ${opened.openUrl}`,
          ...(asked === true ? [] : movedLine('inspector port', port, opened.port)),
        ];
      if (options.inspector !== undefined) throw new OutputError(opened.problem);
      return [`no inspector: ${opened.problem}`];
    },
    close: inspector.close,
  };
}

/** The inspector of a verb that serves files; those of the configuration are those of its last reading. */
export function inspectorOf(
  { file, ...source }: Pick<Setting, 'verb' | 'drafts'> & { readonly file: string | null },
  options: InspectorVerbOptions,
  lastReading: () => LastReading,
  deciding: DecidingOptions,
): Promise<VerbInspector | null> {
  const files = (): readonly string[] => [...(file === null ? [] : [file]), ...lastReading().files];
  const { verb, drafts } = source;
  return verbInspector(options, { verb, isDefault: true, files, deciding, ...(drafts && { drafts }) });
}

/** What the edge of a file decides with: its address databases are those of its first reading. */
export async function decidingOf(
  config: EdgeConfig,
  { file, adoptHosts }: { readonly file: string | null } & Pick<EdgeOptions, 'adoptHosts'>,
  { passUnsimulated }: { readonly passUnsimulated?: boolean },
): Promise<DecidingOptions> {
  const geoipDatabases = file === null ? [] : await geoipDatabasesOf(config, file);
  return { ...(adoptHosts && { adoptHosts }), geoipDatabases, passUnsimulated: passUnsimulated === true };
}
