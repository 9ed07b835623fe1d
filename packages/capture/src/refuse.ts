import type { PlaneRequest } from './plane.ts';

/** Sends an error in the format of providers, so that SDKs show its message. */
export function refuse(
  response: PlaneRequest['response'],
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({
    error: { message: `agentci capture: ${message}`, type: 'agentci_capture' },
  });
  const length = Buffer.byteLength(body);
  // The two kinds of responses overload this method differently.
  (
    response as { writeHead: (status: number, headers: Record<string, string | number>) => unknown }
  ).writeHead(status, {
    'content-type': 'application/json',
    'content-length': length,
    ...headers,
  });
  response.end(body);
}
