import { type Command, InvalidArgumentError } from 'commander';

/** The option of every verb that reads a configuration or speaks to the management API. */
export interface ServiceOptions {
  readonly serviceName?: string;
}

/** The name where neither the command line nor a file has one. */
export const USUAL_SERVICE = 'service';

/** Adds the option. */
export function serviceNameOption(command: Command): Command {
  return command.option(
    '--service-name <name>',
    `name of the service in headers and codes; default: \`service_name\` of the edge file, or ${USUAL_SERVICE}`,
    readServiceName,
  );
}

function readServiceName(text: string): string {
  if (/^[a-z][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a lower-case letter, then lower-case letters, digits and dashes.');
}
