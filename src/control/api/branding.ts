/** Names in the API that derive from the service name. */
export interface ServiceNames {
  readonly versionField: string;
  readonly operationField: string;
  readonly errorCode: (number: number) => string;
  /** Whether a client changes the case of keys, even in maps, as the published SDK of the service does. */
  readonly isFoldingClient: (userAgent: string) => boolean;
}

export function serviceNames(service: string): ServiceNames {
  const code = service.toUpperCase().replaceAll('-', '_');
  return {
    versionField: `${service}-version`,
    operationField: `${service}-operation-id`,
    errorCode: (number) => `ERR_${code}_${number}`,
    isFoldingClient: (userAgent) => userAgent.startsWith(`${service}-api-typescript/`),
  };
}
