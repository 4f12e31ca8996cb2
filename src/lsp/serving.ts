import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Connection, TextDocuments } from 'vscode-languageserver/node';
import type { CheckClient } from './check_client.ts';
import type { CoverageCounts } from './coverage_counts.ts';
import type { Diagnosing } from './diagnosing.ts';
import type { Project } from './project.ts';
import type { Traffic } from './recorded_traffic.ts';
import type { Settings } from './settings.ts';

/** What the features of a server share. */
export interface Serving {
  readonly connection: Connection;
  readonly documents: TextDocuments<TextDocument>;
  readonly project: Project;
  readonly checks: CheckClient;
  /** The thread that runs cases. */
  readonly runs: CheckClient;
  /** The thread that formats: large texts take long, and findings are not to wait for that. */
  readonly formatter: CheckClient;
  readonly coverage: CoverageCounts;
  readonly diagnosing: Diagnosing;
  readonly settings: () => Settings;
  /** The recorded traffic that the settings name; null without any. */
  readonly traffic: () => Traffic | null;
}
