import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy whose connections can go silent without closing, as with a router that dropped its state.
 */
export interface SilentProxy {
  readonly port: number;
  /** Silences current and new connections for this time. Later ones work. */
  readonly silence: (ms: number) => void;
  readonly close: () => void;
}

export async function startSilentProxy(to: number): Promise<SilentProxy> {
  let round = 0;
  let isSilent = false;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    const own = isSilent ? -1 : round;
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (data) => own === round && other.write(data));
      from.on('close', () => {
        open.delete(from);
        if (own === round || from === client) other.destroy();
      });
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    silence: (ms) => {
      round++;
      isSilent = true;
      setTimeout(() => {
        isSilent = false;
      }, ms);
    },
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
