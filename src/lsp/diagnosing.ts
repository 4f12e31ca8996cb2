import {
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type PublishDiagnosticsParams,
} from 'vscode-languageserver/node';
import type { CheckClient } from './check_client.ts';
import type { Settings } from './settings.ts';
import type { WireFinding } from './messages.ts';
import { isOurs, nameOfUri, uriOfName } from './open_file.ts';

/** A text as its editor has it. */
export interface OpenText {
  readonly uri: string;
  readonly version: number;
  readonly getText: () => string;
}

interface Diagnosed {
  readonly uri: string;
  /** Whether it was once seen to be one of our files: then it stays one while its keys are half-typed. */
  isOurs: boolean;
  timer: NodeJS.Timeout | null;
  /** The newest text; an older one is not checked any more. */
  text: OpenText;
  isChecking: boolean;
  findings: readonly WireFinding[];
}

interface Host {
  readonly checks: CheckClient;
  /** Tells the text of an open file to all who check; null when it is closed. */
  readonly setText: (name: string, text: string | null) => void;
  readonly settings: () => Settings;
  readonly publish: (params: PublishDiagnosticsParams) => void;
  readonly log: (message: string) => void;
}

/** Checks open texts when their editor pauses, and publishes what is found. */
export class Diagnosing {
  readonly #host: Host;
  readonly #open = new Map<string, Diagnosed>();
  /** The files that each open text has findings about. */
  readonly #published = new Map<string, ReadonlySet<string>>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes a new text and checks it after a pause, with the others that name it. */
  changed(text: OpenText): void {
    const { uri } = text;
    const name = nameOfUri(uri);
    const content = text.getText();
    const own = this.#open.get(uri) ?? {
      uri,
      isOurs: false,
      timer: null,
      text,
      isChecking: false,
      findings: [],
    };
    this.#open.set(uri, own);
    own.text = text;
    own.isOurs ||= isOurs(name, content);
    this.#host.setText(name, content);
    if (!own.isOurs) return;
    const base = name.slice(name.lastIndexOf('/') + 1);
    this.#schedule(own);
    for (const other of this.#open.values())
      if (other !== own && other.isOurs && other.text.getText().includes(base)) this.#schedule(other);
  }

  closed(uri: string): void {
    const own = this.#open.get(uri);
    if (own === undefined) return;
    if (own.timer !== null) clearTimeout(own.timer);
    this.#open.delete(uri);
    this.#host.setText(nameOfUri(uri), null);
    this.#publish(uri, []);
  }

  /** Checks all open texts again: settings or files on disk have changed. */
  all(): void {
    for (const own of this.#open.values()) if (own.isOurs) this.#schedule(own);
  }

  /** The findings of the last check of a text; they may be about an earlier version of it. */
  findingsOf(uri: string): readonly WireFinding[] {
    return this.#open.get(uri)?.findings ?? [];
  }

  isOurs(uri: string): boolean {
    return this.#open.get(uri)?.isOurs ?? false;
  }

  #schedule(own: Diagnosed): void {
    if (own.timer !== null) clearTimeout(own.timer);
    own.timer = setTimeout(() => {
      own.timer = null;
      void this.#check(own);
    }, this.#host.settings().delayMs);
  }

  async #check(own: Diagnosed): Promise<void> {
    // The check that runs looks for a newer text when it is done.
    if (own.isChecking) return;
    own.isChecking = true;
    const { checks, settings, log } = this.#host;
    const { text } = own;
    const isNewest = (): boolean => own.text === text && this.#open.get(own.uri) === own;
    try {
      const name = nameOfUri(own.uri);
      const using = settings();
      const found = await checks.ask('check', name, using, {});
      if (isNewest()) this.#found(own, found);
      if (isNewest() && using.exact && !found.some(({ severity }) => severity === 'error')) {
        const exact = await checks.ask('exact', name, using, {});
        if (isNewest()) this.#found(own, [...found, ...exact]);
      }
    } catch (error) {
      log(`cannot check ${own.uri}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      own.isChecking = false;
      if (!isNewest() && own.timer === null && this.#open.get(own.uri) === own) this.#schedule(own);
    }
  }

  #found(own: Diagnosed, findings: readonly WireFinding[]): void {
    own.findings = findings;
    this.#publish(own.uri, findings);
  }

  /** Publishes the findings of one text about all files, with those of other texts about the same files. */
  #publish(owner: string, findings: readonly WireFinding[]): void {
    const own = nameOfUri(owner);
    const about = new Set([owner, ...findings.map(({ file }) => (file === own ? owner : uriOfName(file)))]);
    const before = this.#published.get(owner) ?? [];
    if (this.#open.has(owner)) this.#published.set(owner, about);
    else this.#published.delete(owner);
    for (const uri of new Set([...about, ...before])) {
      const version = this.#open.get(uri)?.text.version;
      const diagnostics = this.#about(uri);
      this.#host.publish({ uri, diagnostics, ...(version !== undefined && { version }) });
    }
  }

  #about(uri: string): Diagnostic[] {
    const name = nameOfUri(uri);
    const known = new Set<string>();
    return Array.from(this.#open.values()).flatMap(({ uri: owner, findings }) =>
      findings.flatMap((finding): readonly Diagnostic[] => {
        if (owner === uri ? finding.file !== name : uriOfName(finding.file) !== uri) return [];
        const id = JSON.stringify([finding.code, finding.range, finding.message]);
        // Two texts may say the same of a file that both name.
        const isKnown = owner !== uri && known.has(id);
        known.add(id);
        return isKnown ? [] : [diagnosticOf(finding)];
      }),
    );
  }
}

/** Codes of what has no effect: editors show it faded. */
const WITHOUT_EFFECT = /^analysis\.(?:dead_|unreachable|no_effect|redundant)/;

function diagnosticOf({ range, severity, code, message }: WireFinding): Diagnostic {
  return {
    range,
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    source: 'edgeproof',
    message,
    ...(WITHOUT_EFFECT.test(code) && { tags: [DiagnosticTag.Unnecessary] }),
  };
}
