import { tracedText } from './delivery.ts';
import { type ExporterOptions, exporterTo } from './exporter.ts';
import type { Explained } from './otlp/signals.ts';
import { type OtlpSettings, otlpTarget } from './senders/otlp.ts';

/** Sends the events of this process to a receiver that the operator names. */
export interface OtlpExporter {
  /** Accepts an event, and how to explain its exchange if it has one; never blocks. */
  readonly take: (event: Parameters<typeof tracedText>[0], explain?: () => Explained) => void;
  /** Makes one more attempt; resolves within about a second. */
  readonly close: () => Promise<void>;
}

/** `say` gets a line when sending fails and when it works again, and one about events that were not sent. */
export function otlpExporter(settings: OtlpSettings, options: Omit<ExporterOptions, 'way'>): OtlpExporter {
  const exporter = exporterTo('otlp', otlpTarget(settings, options), { ...options, way: 'by OTLP' });
  return {
    take: (event, explain) =>
      exporter.take(explain === undefined ? JSON.stringify(event) : tracedText(event, explain)),
    close: exporter.close,
  };
}
