import { packageVersion } from './cli/version.ts';
import type { EdgeOptions } from './edge_options.ts';
import { secretProvider } from './edge/secrets.ts';
import type { WatchedEdge } from './inspector/server/traffic_watch.ts';
import { inspectorWithPages } from './inspector/with_pages.ts';
import { type InspectorListenOptions, ListenError, type ListenOptions } from './listen_options.ts';
import type { Listening } from './listening.ts';
import type { Watching } from './reporting.ts';

/** The edge, and what observes its traffic. */
export interface Inspected {
  readonly watching: Watching;
  readonly watched: WatchedEdge;
  readonly options: EdgeOptions;
}

/** Opens listeners with an inspector, which ends with them; throws ListenError if either cannot be opened. */
export async function listenInspected(
  { inspector: given, strictPort = false, tls }: ListenOptions,
  { watching, watched, options }: Inspected,
  open: () => Promise<Listening>,
): Promise<Listening> {
  if (watching.watch !== null) throw new ListenError('the traffic of this edge is observed already');
  const asked: InspectorListenOptions = typeof given === 'object' ? given : {};
  const { clock, adoptHosts, geoipDatabases, passUnsimulated, secrets = {} } = options;
  const inspector = inspectorWithPages(
    {
      ...asked,
      strictPort: strictPort && asked.port !== undefined,
      verb: 'library',
      version: packageVersion(),
      ...(clock !== undefined && { nowMs: clock }),
    },
    {
      secrets: secretProvider(secrets),
      ...(adoptHosts !== undefined && { adoptHosts }),
      ...(geoipDatabases !== undefined && { geoipDatabases }),
      ...(passUnsimulated !== undefined && { passUnsimulated }),
    },
  );
  const { watch } = inspector;
  watch.attach(watched);
  watching.watch = watch;
  const end = async (): Promise<void> => {
    if (watching.watch === watch) watching.watch = null;
    await inspector.close();
  };
  try {
    const listening = await open();
    const { url, host, port, tlsPort } = listening;
    inspector.serves(url, { host, port, tlsPort, tlsNeedsProxyHeader: tls?.proxyProtocol === true });
    const opened = await inspector.listen();
    if ('problem' in opened) {
      await listening.close(0);
      throw new ListenError(opened.problem);
    }
    return {
      ...listening,
      get tlsPort() {
        return listening.tlsPort;
      },
      inspectorUrl: opened.openUrl,
      close: async (deadlineMs) => {
        await inspector.close();
        const closed = await listening.close(deadlineMs);
        await end();
        return closed;
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}
