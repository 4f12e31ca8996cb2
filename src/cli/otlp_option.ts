import { type Command, InvalidArgumentError } from 'commander';
import { callbackPost } from '../clients/callback_post.ts';
import type { EdgeOptions } from '../edgeproof.ts';
import { otlpExporter } from '../events/otlp_exporter.ts';
import type { OtlpSettings } from '../events/senders/otlp.ts';
import { isFieldValue } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { FileError } from '../project_files/load_config.ts';

export interface OtlpVerbOptions {
  readonly otlp?: string;
}

/** Adds the option. */
export function otlpOption(command: Command): Command {
  return command.option(
    '--otlp <url>',
    'send logs of events and traces of decisions to an OTLP/HTTP receiver, such as http://localhost:4318',
    readUrl,
  );
}

function readUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected a URL such as http://localhost:4318.');
}

/** What an edge tells the receiver; empty without the option. */
interface OtlpExport {
  readonly edge: Pick<EdgeOptions, 'tracing' | 'onEvent' | 'onConnection' | 'onHttpConnection'>;
  readonly close: () => Promise<void>;
}

/**
 * Sends to the receiver of the option. Fields with keys, the encoding and the name of the service come from the
 * variables that OpenTelemetry names for them (OpenTelemetry, "Environment Variable Specification"), so that no key
 * is in the list of processes. Throws FileError if a variable is wrong.
 */
export function otlpExport(
  { otlp: url }: OtlpVerbOptions,
  service: string,
  say: (line: string) => void,
): OtlpExport {
  if (url === undefined) return { edge: {}, close: async () => undefined };
  const exporter = otlpExporter(settingsOf(url, service, process.env), {
    nowMs: Date.now,
    random: Math.random,
    say,
    post: callbackPost({ own: [], allowPrivate: true }),
  });
  return {
    edge: {
      tracing: () => true,
      onEvent: exporter.take,
      onConnection: (event) => exporter.take(event),
      onHttpConnection: (event) => exporter.take(event),
    },
    close: exporter.close,
  };
}

const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS';

type Variables = Readonly<Record<string, string | undefined>>;

function settingsOf(url: string, service: string, variables: Variables): OtlpSettings {
  const protocol = variables['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    throw new FileError(`OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not ${protocol}`);
  }
  return {
    url,
    headers: headersOf(variables[HEADERS] ?? ''),
    encoding: protocol === 'http/json' ? 'json' : 'protobuf',
    compression: variables['OTEL_EXPORTER_OTLP_COMPRESSION'] === 'none' ? 'none' : 'gzip',
    signals: ['logs', 'traces'],
    service: variables['OTEL_SERVICE_NAME'] || service,
  };
}

/** `key1=value1,key2=value2`, percent-encoded as in W3C Baggage. */
function headersOf(text: string): Readonly<Record<string, string>> {
  const members = text.split(',').filter((member) => member.trim() !== '');
  return Object.fromEntries(
    members.map((member) => {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(member) ?? [];
      // The text is not shown: it has keys.
      if (name === undefined || value === undefined)
        throw new FileError(`${HEADERS} must be name=value pairs, separated by commas`);
      return [name.toLowerCase(), valueOf(name.toLowerCase(), value.trim())];
    }),
  );
}

/** The value of a field of requests. Throws FileError for what cannot be sent, which would fail at each request. */
function valueOf(name: string, text: string): string {
  if (isFraming(name) || isHopByHop(name))
    throw new FileError(`${HEADERS} must not set ${name}, a field of the connection; leave it out`);
  const decoded = decodedText(text);
  if (decoded === null)
    throw new FileError(
      `the value of ${name} in ${HEADERS} must be percent-encoded: write a literal % as %25`,
    );
  if (!isFieldValue(decoded))
    throw new FileError(
      `the value of ${name} in ${HEADERS} has a line break or another character that HTTP cannot send; remove it`,
    );
  return decoded;
}

/** Null for what is not percent-encoded. */
function decodedText(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
