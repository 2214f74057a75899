import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { seconds } from './duration.js';
import type { Exchange, Wire } from './exchange.js';
import { onAbort } from './on-abort.js';
import { givenUp, type Route } from './routes.js';
import { type StallWatch, watchStall } from './stall-watch.js';
import { cancelled, interrupted, unreachableError } from './transport-error.js';

/**
 * Keeps time over one request of node:http, and listens to its signal. `fail` is told why it cannot go on, once; the request is
 * destroyed then, and a connection that is still being made for it too.
 */
export function watchRequest(request: ClientRequest, exchange: Exchange, route: Route, wire: Wire, fail: (error: Error) => void): StallWatch {
  const { connect, stall } = wire.timeouts;
  let isExpecting = true;
  let watch: StallWatch | undefined;
  const giveUp = (error: Error) => {
    stop();
    fail(error);
    request.emit(givenUp);
    request.destroy(error);
  };
  let timer: NodeJS.Timeout | undefined;
  const startTimer = () => {
    timer ??= setTimeout(() => giveUp(noConnection(exchange, route, connect)), connect);
  };
  const endAbort = onAbort(exchange.signal, () => exchange.signal !== undefined && giveUp(cancelled(exchange.signal)));
  const stop = () => {
    endAbort();
    clearTimeout(timer);
    watch?.stop();
  };
  const onConnected = (socket: Socket) => {
    clearTimeout(timer);
    watch = watchStall(socket, stall, () => giveUp(interrupted(exchange, `no byte came or went for ${seconds(stall)}`)));
    if (isExpecting) watch.expect();
  };
  // Waiting for one of the sockets of an agent is no fault of the network; a proxy is asked before there is a socket.
  if (route.proxy !== undefined) startTimer();
  request.once('socket', (socket) => {
    const event = exchange.url.protocol === 'https:' ? 'secureConnect' : 'connect';
    if (request.reusedSocket || (event === 'connect' && !socket.connecting)) return onConnected(socket);
    startTimer();
    socket.once(event, () => onConnected(socket));
  });
  return {
    expect: () => {
      isExpecting = true;
      watch?.expect();
    },
    rest: () => {
      isExpecting = false;
      watch?.rest();
    },
    stop,
  };
}

function noConnection(exchange: Exchange, { proxy }: Route, ms: number): Error {
  const through = proxy === undefined ? '' : ` through the proxy "${proxy.host}"`;
  return unreachableError(exchange, `no connection${through} within ${seconds(ms)}`, 'Check the network, and HTTPS_PROXY and NO_PROXY');
}
